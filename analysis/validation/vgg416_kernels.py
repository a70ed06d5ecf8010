"""Explains two slowdowns of Vgg416. AutoTM measured them with static placements: 3.17 with 1.4 % of the bytes in DRAM,
and 1.39 with 3.7 %. With all bytes in DRAM, the slowdown is 1.

The kernels of a training step were measured in DRAM and PMEM (../shared/data/placement, darchr/ml-tools, MIT). Measured
kernels are called nodes. Each kernel of Vgg416 has the operator of a node, but larger tensors. There are two ways to
compute the time that such a kernel takes in PMEM from the times of its node:
  bytes  the kernel's time in DRAM
         + (node in PMEM - node in DRAM) x (bytes of the kernel's tensor / bytes of the node's tensor)
  ratio  (node in PMEM / node in DRAM) x the kernel's time in DRAM
The script tries both ways for each operator. Two points of AutoTM's curve show which way holds.

    python3 vgg416_kernels.py [FOLDER]                  prints the figures of placement.md
    python3 vgg416_kernels.py [FOLDER] --profile FILE   writes the kernels as a profile for `sluice placement`
"""

import csv
import itertools
import math
import statistics
import sys
from pathlib import Path

BATCH, TOTAL = 160, 336_817_867_588  # images per step; bytes of all tensors, from the notebook of AutoTM's authors
ALL_DRAM = 341.6 / 1.10              # seconds of cached mode divided by its slowdown, from the same notebook
RATE = 3.7e12 * 0.5707               # FLOP/s from platforms/optane_server.yaml and vgg416_optane.yaml
DRAM_READ, DRAM_WRITE = 107.3e9, 78.6e9  # byte/s of the memory `dram` of the same platform
# Groups of convolutions. Each group has: output channels, extent of the images, number of convolutions, input channels.
GROUPS = [(64, 224, 82, 3), (128, 112, 82, 64), (256, 56, 83, 128), (512, 28, 83, 256), (512, 14, 83, 512)]
DENSE = [(25088, 4096), (4096, 4096), (4096, 1000)]

# Each operator has four entries. The first is the measured node. The second is the bytes of the node's largest tensor.
# The way "bytes" divides the node's additional time in PMEM by these bytes. They are the bytes for batch 256, as in
# kernel_times.py. The third is the placement with all of the node's operands in DRAM. The fourth has two placements
# with the activations in PMEM: with the gradients in DRAM, and with the gradients in PMEM.
NODES = {
    "convolution": ("ConvolutionBias_3277", 27 * 27 * 16 * 1024, ("DRAM, DRAM, DRAM", "DRAM"),
                    {"DRAM": ("PMEM, DRAM, DRAM", "PMEM"), "PMEM": ("PMEM, DRAM, DRAM", "PMEM")}),
    "relu backward": ("ReluBackprop_2611", 27 * 27 * 16 * 1024, ("DRAM, DRAM", "DRAM"),
                      {"DRAM": ("PMEM, DRAM", "DRAM"), "PMEM": ("PMEM, PMEM", "PMEM")}),
    "gradient of the input": ("ConvolutionBackpropData_3287", 13 * 13 * 16 * 1024, ("DRAM, DRAM", "DRAM"),
                              {"DRAM": ("DRAM, DRAM", "DRAM"), "PMEM": ("DRAM, PMEM", "PMEM")}),
    # The input of this node is an image, and AutoTM never puts an image into PMEM. So the node's input stays in DRAM.
    "gradient of the weights": ("ConvolutionBiasBackpropFiltersBias_3248", 27 * 27 * 16 * 1024,
                                ("DRAM, DRAM", "DRAM, DRAM"),
                                {"DRAM": ("DRAM, DRAM", "DRAM, DRAM"), "PMEM": ("DRAM, PMEM", "DRAM, DRAM")}),
}
# Two measured points. At the first point, 1.4 % of the bytes of all tensors fit into DRAM, at the second point 3.7 %.
# Each point has the memory of the gradients. The activations are in PMEM at both points. Even at 3.7 %, only three of
# the largest tensors fit into DRAM. Static placements keep the gradients in DRAM at 3.7 %, because gradients are needed
# only for a short time.
POINTS = {0.014: "PMEM", 0.037: "DRAM"}


def read(folder, column="mean_us_single"):
    """Returns the microseconds of each node and placement."""
    with open(Path(folder) / "mnist256_kernel_times_dram_pmem.csv", encoding="utf-8") as file:
        return {(row["node"], row["input_placement"], row["output_placement"]): float(row[column])
                for row in csv.DictReader(file)}


def autotm(folder):
    """Returns AutoTM's measured slowdown for each formulation (static, synchronous, asynchronous) and share of DRAM."""
    with open(Path(folder) / "autotm_slowdown_vs_dram_fraction.csv", encoding="utf-8") as file:
        return {(row["ilp_formulation"], float(row["dram_fraction"])): float(row["runtime_over_all_dram"])
                for row in csv.DictReader(file) if row["kind"] == "measured"}


def weight_bytes():
    convolutions = sum(width * (cin if n == 0 else width) * 9 + width
                       for width, _, times, cin in GROUPS for n in range(times))
    return 4 * (convolutions + sum(a * b + b for a, b in DENSE))


def fixed_bytes(batch=BATCH):
    """Returns the bytes that AutoTM always keeps in DRAM: images, weights, and the results of a training step. The
    results have as many bytes as the weights."""
    return 2 * weight_bytes() + 4 * batch * 3 * 224 * 224


def output_bytes():
    return sum(4 * BATCH * width * size * size * times for width, size, times, _ in GROUPS)


def seconds_in_dram():
    """Returns the seconds of all kernels of each operator with all tensors in DRAM."""
    flop = sum(2 * BATCH * size * size * width * (cin if n == 0 else width) * 9
               for width, size, times, cin in GROUPS for n in range(times))
    first = 2 * BATCH * 224 * 224 * 64 * 3 * 9  # images have no gradient
    return {"convolution": flop / RATE, "gradient of the input": (flop - first) / RATE,
            "gradient of the weights": flop / RATE,
            "relu backward": output_bytes() * (2 / DRAM_READ + 1 / DRAM_WRITE)}


def extra_seconds(times, operator, gradients, rule):
    """Returns the seconds that PMEM adds to all kernels of an operator. `gradients` is the memory of the gradients."""
    node, size, dram, placements = NODES[operator]
    before, after = times[(node, *dram)], times[(node, *placements[gradients])]
    if rule == "ratio":
        return seconds_in_dram()[operator] * (after / before - 1)
    return (after - before) / 1e6 * output_bytes() / size


def slowdowns(times, rules):
    """Returns the slowdown at each of the two POINTS. `rules` says for each operator how its time in PMEM is computed:
    the way "bytes" or the way "ratio" (see the top of this file)."""
    return {share: 1 + sum(extra_seconds(times, operator, gradients, rules[operator]) for operator in NODES) / ALL_DRAM
            for share, gradients in POINTS.items()}


def all_rules():
    """There are two ways to compute an operator's time in PMEM: "bytes" and "ratio" (see the top of this file). Yields
    all combinations of ways, one way per operator. Relu only reads and writes, so its time is always computed the way
    "bytes"."""
    free = [operator for operator in NODES if operator != "relu backward"]
    for chosen in itertools.product(("bytes", "ratio"), repeat=len(free)):
        yield {"relu backward": "bytes", **dict(zip(free, chosen))}


NOISE = 0.0885      # standard deviation of the logarithm of a measured time (placement.md)
READ, WRITE, FREE = 21.0e9, 6.8e9, 4.4e6  # rates of PMEM (byte/s), and the bytes read for free (placement.md)
COPY_OUT, COPY_IN = 12e9, 29e9            # byte/s of AutoTM's synchronous copies out of DRAM and into DRAM


def left_out(times):
    """Returns the figures of the section "The points from 0.037 on" of placement.md, for a run with 3.7 % of the bytes
    in DRAM. Some figures are parts of the slowdown that slowdowns(times, BEST) gives. The others are effects that it
    does not count, such as the reads of activations by convolutions. The figures are shares of the time with all
    tensors in DRAM, except the two factors."""
    share = {operator: extra_seconds(times, operator, "DRAM", "bytes") / ALL_DRAM for operator in NODES}
    noise = 0.0
    for operator in ("convolution", "relu backward"):
        node, size, dram, placements = NODES[operator]
        both = math.hypot(times[(node, *dram)], times[(node, *placements["DRAM"])])
        noise = math.hypot(noise, NOISE * both / 1e6 * output_bytes() / size / ALL_DRAM)
    node = "ConvolutionBiasBackpropFiltersBias_3242"
    pools = [(gradient, made) for gradient in ("DRAM", "PMEM")
             for made in ("DRAM, DRAM", "DRAM, PMEM", "PMEM, DRAM", "PMEM, PMEM")]
    ratio = statistics.geometric_mean(
        times[(node, f"PMEM, {gradient}", made)] / times[(node, f"DRAM, {gradient}", made)] for gradient, made in pools)
    node = NODES["convolution"][0]
    forward = statistics.geometric_mean(
        times[(node, f"PMEM, {weights}, DRAM", made)] / times[(node, f"DRAM, {weights}, DRAM", made)]
        for weights in ("DRAM", "PMEM") for made in ("DRAM", "PMEM"))
    images = 4 * BATCH * 3 * 224 * 224
    inputs = sum(4 * BATCH * (cin if n == 0 else width) * size * size
                 for width, size, count, cin in GROUPS for n in range(count)) - images
    size = NODES["relu backward"][1]
    return {
        "writes of convolutions in PMEM": share["convolution"],
        "reads of relu's backward passes in PMEM": share["relu backward"],
        "uncertainty of the measured nodes": noise,
        "factor of node 3242 with its input in PMEM": ratio,
        "reads for gradients of weights, by that factor":
            (ratio - 1) * seconds_in_dram()["gradient of the weights"] / ALL_DRAM,
        "reads for gradients of weights, by the rate of reading": inputs / READ / ALL_DRAM,
        "factor of node 3277 with its input in PMEM": forward,
        "reads of convolutions, by that factor": (forward - 1) * seconds_in_dram()["convolution"] / ALL_DRAM,
        "reads of convolutions, by the rate of reading": inputs / READ / ALL_DRAM,
        "reads without the free bytes of caches": share["relu backward"] * (size / (size - FREE) - 1),
        "writes at the common rate of the nodes": output_bytes() / WRITE / ALL_DRAM - share["convolution"],
        "moves out of DRAM": output_bytes() / COPY_OUT / ALL_DRAM,
        "moves into DRAM": output_bytes() / COPY_IN / ALL_DRAM,
    }


def worst(found, measured):
    return max(abs(found[share] / measured["static", share] - 1) for share in POINTS)


BEST = {"convolution": "bytes", "relu backward": "bytes", "gradient of the input": "ratio",
        "gradient of the weights": "ratio"}


def rows(times):
    """Yields a row for each convolution and each relu of Vgg416 in each placement. The ways in BEST give the
    seconds."""
    def seconds(operator, placed, flop, size):
        node, node_bytes, dram, _ = NODES[operator]
        before, after = times[(node, *dram)], times[(node, *placed)]
        base = flop / RATE if flop else size * (2 / DRAM_READ + 1 / DRAM_WRITE)
        return base * after / before if BEST[operator] == "ratio" else base + (after - before) / 1e6 * size / node_bytes

    pools = ("DRAM", "PMEM")
    for width, extent, _, cin in GROUPS:
        size, shape = 4 * BATCH * width * extent * extent, f"{BATCH}x{extent}x{extent}x{width}"
        for channels in dict.fromkeys((cin, width)):
            flop = 2 * BATCH * extent * extent * width * channels * 9
            config = f"conv2d bias=true channels={width} dilation=1 groups=1 kernel=3 padding=1 sparsity=0 stride=1"
            start = ("conv2d", config, f"{BATCH}x{extent}x{extent}x{channels}", shape)
            for x, weights, y in itertools.product(pools, repeat=3):
                yield (*start, "forward", f"{x};{weights}", y, flop / RATE)
            for x, weights, gradient, made in itertools.product(pools, repeat=4):
                total = seconds("gradient of the weights", (f"DRAM, {gradient}", "DRAM, DRAM"), flop, size)
                if channels != 3:
                    total += seconds("gradient of the input", (f"DRAM, {gradient}", made), flop, size)
                for summed in pools:
                    if channels != 3:
                        yield (*start, "backward", f"{x};{weights};{gradient}", f"{made};{summed}", total)
                    elif made == "DRAM":
                        yield (*start, "backward", f"{x};{weights};{gradient}", summed, total)
        start = ("relu", "relu", shape, shape)
        # Relu is part of the convolution before it. Only the output of relu is written to memory.
        for x, y in itertools.product(pools, repeat=2):
            placed = ("PMEM, DRAM, DRAM", "PMEM") if y == "PMEM" else NODES["convolution"][2]
            node, node_bytes, dram, _ = NODES["convolution"]
            extra = (times[(node, *placed)] - times[(node, *dram)]) / 1e6 * size / node_bytes
            yield (*start, "forward", x, y, size * (1 / DRAM_READ + 1 / DRAM_WRITE) + extra)
        for y, gradient, made in itertools.product(pools, repeat=3):
            yield (*start, "backward", f"{y};{gradient}", made,
                   seconds("relu backward", (f"{y}, {gradient}", made), 0, size))


def write_profile(file, times):
    file.write("# format: sluice-profile/1\n# name: kernels of Vgg416 by memory, computed from measured kernels of "
               "MNIST\n")
    out = csv.writer(file)
    out.writerow(["operator", "config", "inputs", "outputs", "pass", "input_pools", "output_pools", "seconds_median",
                  "batch", "dtype", "processed"])
    for row in rows(times):
        out.writerow([*row, BATCH, "float32", "yes"])


def main():
    words = [word for word in sys.argv[1:] if word != "--profile"]
    to = words.pop() if "--profile" in sys.argv else None
    folder = words[0] if words else "../shared/data/placement"
    if to:
        with open(to, "w", encoding="utf-8", newline="") as file:
            write_profile(file, read(folder))
        return
    measured = autotm(folder)
    print(f"always in DRAM: {fixed_bytes() / 1e9:.3f} GB, {fixed_bytes() / TOTAL:.4f} of all")
    print("measured:", ", ".join(f"{share}: {measured['static', share]}" for share in POINTS))
    for column in ("mean_us_single", "mean_us_simultaneous"):
        times = read(folder, column)
        print(column)
        for rules in all_rules():
            found = slowdowns(times, rules)
            text = ", ".join(f"{name}: {rule}" for name, rule in rules.items() if name != "relu backward")
            print(f"  {found[0.014]:.2f}  {found[0.037]:.2f}  at most {worst(found, measured):4.0%} off  {text}")
        print("  seconds that the gradients add if they are in PMEM, too:")
        for operator in NODES:
            one = [extra_seconds(times, operator, memory, BEST[operator]) for memory in ("PMEM", "DRAM")]
            print(f"    {one[0] - one[1]:6.1f} s  {operator}")
        print("  at 0.037, as shares of the time in DRAM:")
        for name, figure in left_out(times).items():
            print(f"    {figure:6.3f}  {name}")


if __name__ == "__main__":
    main()
