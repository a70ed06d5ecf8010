"""Predicts the times of kernels from the memories of their operands: bandwidths are fitted to half of the nodes and
tested on the other half.

The script reads ../shared/data/placement/mnist256_kernel_times_dram_pmem.csv (darchr/ml-tools, MIT). The file has the
kernels of a training step with batch 256, each with its operands in DRAM or PMEM. The predicted time of a kernel is its
time with all operands in DRAM, plus the bytes of each operand in PMEM divided by a bandwidth. There is one bandwidth to
read and one bandwidth to write, and reading is free up to a number of bytes that the caches hold. These three numbers
are fitted.

    python3 placement.py [FOLDER]      prints the figures of placement.md
"""

import csv
import math
import random
import statistics
import sys
from pathlib import Path

# The sizes of the network are inferred from 294912 and 10240 bytes (Kernel timing by memory pool). They are 28 x 28
# images, 2 x 2 convolutions to 16 and 8 channels, a 2 x 2 pool after each convolution, 10 classes, batch 256, float32.
BATCH = 256 * 4
IMAGE = 28 * 28 * BATCH
CONV1, POOL1 = 27 * 27 * 16 * BATCH, 13 * 13 * 16 * BATCH
CONV2, POOL2 = 12 * 12 * 8 * BATCH, 6 * 6 * 8 * BATCH
CLASSES = 10 * BATCH
FILTER1, FILTER2, DENSE = 2 * 2 * 16 * 4, 2 * 2 * 16 * 8 * 4, 288 * 10 * 4
SMALL = 64

# The operands of a node are inferred from its operator and its time. A max-pool stores one index per output, which is
# assumed to take one byte.
OPERANDS = {
    "ReluBackprop_2611": ([CONV1, CONV1], [CONV1]),
    "ReluBackprop_2573": ([CONV2, CONV2], [CONV2]),
    "MaxPoolWithIndices_3270": ([CONV1], [POOL1, POOL1 // 4]),
    "MaxPoolWithIndices_3262": ([CONV2], [POOL2, POOL2 // 4]),
    "MaxPoolWithIndicesBackprop_3273": ([CONV1, POOL1, POOL1 // 4], [CONV1]),
    "ConvolutionBias_3277": ([IMAGE, FILTER1, SMALL], [CONV1]),
    "ConvolutionBackpropData_3287": ([FILTER2, CONV2], [POOL1]),
    "ConvolutionBiasBackpropFiltersBias_3248": ([IMAGE, CONV1], [FILTER1, SMALL]),
    "ConvolutionBiasBackpropFiltersBias_3242": ([POOL1, CONV2], [FILTER2, SMALL]),
    "MatmulBias_3281": ([POOL2, DENSE, CLASSES], [CLASSES]),
    "MatmulBias_3240": ([POOL2, CLASSES], [DENSE]),
    "ConvertLayout_3284": ([POOL2], [POOL2]),
    "ConvertLayout_3292": ([FILTER2], [FILTER2]),
    "ConvertLayout_3288": ([FILTER2], [FILTER2]),
    "ConvertLayout_3278": ([FILTER2], [FILTER2]),
    "ConvertLayout_3274": ([FILTER1], [FILTER1]),
    "Broadcast_2547": ([CLASSES], [CLASSES]),
    "Sum_2556": ([CLASSES], [SMALL]),
}
ELEMENTWISE = {"Divide_2540", "Subtract_2549", "Multiply_2548", "Multiply_2537"}

RESOLUTION = 0.1  # microseconds; shorter times are left out, because the timer cannot measure them
SMALL_SHARE = 0.01  # share of a node's bytes; the memory of a smaller operand is assumed to have no effect


def operands(node, inputs, outputs):
    if node in OPERANDS:
        return OPERANDS[node]
    size = CLASSES if node in ELEMENTWISE else SMALL
    return [size] * inputs, [size] * outputs


def read(folder, column="mean_us_single"):
    """Returns, for each node, its time in DRAM. For each placement of the node, also returns the bytes that are read
    and written in PMEM, and the time."""
    nodes = {}
    with open(Path(folder) / "mnist256_kernel_times_dram_pmem.csv", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            pools = [[p.strip() for p in row[k].split(",")] for k in ("input_placement", "output_placement")]
            sizes = operands(row["node"], *map(len, pools))
            slow = [[size for size, pool in zip(s, p) if pool == "PMEM"] for s, p in zip(sizes, pools)]
            nodes.setdefault(row["node"], []).append((slow[0], slow[1], float(row[column])))
    kernels = {}
    for node, rows in nodes.items():
        dram = next((t for r, w, t in rows if not r and not w), 0)
        if dram >= RESOLUTION:
            kernels[node] = (dram, [row for row in rows if row[0] or row[1]])
    return kernels


def repeated(folder, column):
    """Returns groups of repeated measurements of a kernel. The rows of a group are from one node, and differ only in
    the memories of small operands."""
    groups = {}
    with open(Path(folder) / "mnist256_kernel_times_dram_pmem.csv", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            pools = [[p.strip() for p in row[k].split(",")] for k in ("input_placement", "output_placement")]
            sizes = [size for part in operands(row["node"], *map(len, pools)) for size in part]
            large = tuple((o, pool) for o, (size, pool) in enumerate(zip(sizes, pools[0] + pools[1]))
                          if size >= SMALL_SHARE * sum(sizes))
            if float(row[column]) >= RESOLUTION:
                groups.setdefault((row["node"], large), []).append(float(row[column]))
    return [times for times in groups.values() if len(times) > 1]


def effect_of(folder, column="mean_us_single"):
    """Returns the relative difference above which two times differ by more than the error of the measurement. Only 5 %
    of repeated measurements are expected to differ by more (1.96 standard deviations of a difference of two
    logarithms)."""
    squares = freedom = 0
    for times in repeated(folder, column):
        logs = [math.log(t) for t in times]
        mean = statistics.mean(logs)
        squares += sum((x - mean) ** 2 for x in logs)
        freedom += len(logs) - 1
    return math.exp(1.96 * math.sqrt(2 * squares / freedom)) - 1


def predicted(dram, reads, writes, fit):
    """Returns the predicted time in us. A bandwidth in MB/s is the same number in bytes/us."""
    read_rate, write_rate, cached = fit
    return dram + sum(max(0, r - cached) for r in reads) / read_rate + sum(writes) / write_rate


def by_ratio(p, t):
    return abs(math.log(p / t))


def by_time(p, t):
    return abs(p - t)


def fit_on(kernels, nodes, miss=by_ratio):
    """Returns the two bandwidths and the number of bytes that are read for free. A search that halves its steps finds
    these three numbers, such that the sum of the errors is least."""
    rows = [(kernels[n][0], *row) for n in nodes for row in kernels[n][1]]

    def error(logs):
        fit = [math.exp(x) for x in logs]
        return sum(miss(predicted(d, r, w, fit), t) for d, r, w, t in rows)

    at, step = [math.log(20e3), math.log(8e3), math.log(2e6)], 1.5
    least = error(at)
    while step > 1e-3:
        tries = [[x + s * step * (i == j) for j, x in enumerate(at)] for i in range(3) for s in (-1, 1)]
        best = min(tries, key=error)
        if error(best) < least:
            at, least = best, error(best)
        else:
            step /= 2
    return [math.exp(x) for x in at]


def sign(ratio, effect):
    return (ratio > 1 + effect) - (ratio < 1 / (1 + effect))


def judge(kernels, nodes, fit, effect):
    """Returns three numbers for the placements of these nodes. The first number is the median error. The second number
    is a share of the placements with an effect: the share for which the sign of the effect is predicted correctly. The
    third number is the share of all placements that are correctly called slower, faster, or equally fast."""
    errors, signs, classes = [], [], []
    for n in nodes:
        dram, rows = kernels[n]
        for reads, writes, t in rows:
            p = predicted(dram, reads, writes, fit)
            errors.append(abs(p / t - 1))
            classes.append(sign(p / dram, effect) == sign(t / dram, effect))
            if sign(t / dram, effect):
                signs.append((p > dram) == (t > dram))
    return statistics.median(errors), sum(signs) / max(1, len(signs)), sum(classes) / len(classes)


def wrong_signs(kernels, fits, effect):
    """Returns for each node how often the sign of an effect was predicted wrongly, and how often an effect was
    judged."""
    wrong, judged = {}, {}
    for held, fit in fits:
        for n in held:
            dram, rows = kernels[n]
            for reads, writes, t in rows:
                if sign(t / dram, effect):
                    judged[n] = judged.get(n, 0) + 1
                    wrong[n] = wrong.get(n, 0) + ((predicted(dram, reads, writes, fit) > dram) != (t > dram))
    return wrong, judged


def splits(kernels, count, seed=1):
    dice = random.Random(seed)
    for _ in range(count):
        nodes = list(kernels)
        dice.shuffle(nodes)
        half = len(nodes) // 2
        yield nodes[:half], nodes[half:]


def output_over_input(kernels, count=200):
    """Returns two predictions for node 3287 from each split that does not use this node for the fit. The predictions
    are the microseconds that its output in PMEM adds, and the microseconds that both of its inputs in PMEM add."""
    node, found = "ConvolutionBackpropData_3287", []
    for train, held in splits(kernels, count):
        if node in held:
            fit = fit_on(kernels, train)
            (filter_, delta), (out,) = OPERANDS[node]
            dram = kernels[node][0]
            found.append((predicted(dram, [], [out], fit) - dram, predicted(dram, [filter_, delta], [], fit) - dram))
    return found


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else "../shared/data/placement"
    for column in ("mean_us_single", "mean_us_simultaneous"):
        kernels, noise = read(folder, column), effect_of(folder, column)
        fits = [(held, fit_on(kernels, train)) for train, held in splits(kernels, 100)]
        print(f"{column}: {len(kernels)} nodes, {sum(len(k[1]) for k in kernels.values())} placements, 100 splits")
        print(f"  two times count as different from {noise:.1%} on, by {len(repeated(folder, column))} groups of rows "
              f"that repeat a measurement")
        for effect in (noise, 0.2, 0.1, 0.05):
            results = [judge(kernels, held, fit, effect) for held, fit in fits]
            errors, signs, classes = (sorted(r[i] for r in results) for i in range(3))
            print(f"  sign, of effects above {effect:.1%}: median {signs[50]:.1%}, least {signs[0]:.1%}, "
                  f"at least 90 % in {sum(x >= 0.9 for x in signs)} splits; slower, faster or neither, of all: "
                  f"median {classes[50]:.1%}, least {classes[0]:.1%}")
        wrong, judged = wrong_signs(kernels, fits, 0.1)
        print(f"  wrong signs of effects above 10 %: {sum(wrong.values())} of {sum(judged.values())}, most of all",
              ", ".join(f"{n} {wrong[n]} of {judged[n]}" for n in sorted(wrong, key=wrong.get)[:-7:-1]))
        print(f"  median error: median {errors[50]:.1%}, greatest {errors[-1]:.1%}, "
              f"at most 20 % in {sum(e <= 0.2 for e in errors)} splits")
        read_rate, write_rate, cached = (statistics.median(fit[i] for _, fit in fits) for i in range(3))
        print(f"  fitted (median): read {read_rate / 1e3:.1f} GB/s, write {write_rate / 1e3:.1f} GB/s, "
              f"read free up to {cached / 1e6:.2f} MB")
        read_rate, write_rate, cached = fit_on(kernels, list(kernels), by_time)
        print(f"  of all nodes, by the least error in microseconds: read {read_rate / 1e3:.1f} GB/s, write "
              f"{write_rate / 1e3:.2f} GB/s, read free up to {cached / 1e6:.2f} MB")
        found = output_over_input(kernels, 100)
        print(f"  node 3287, held out {len(found)} times: output in PMEM adds {statistics.median(f[0] for f in found):.0f}"
              f" us, both inputs {statistics.median(f[1] for f in found):.0f} us; the output adds more than the inputs "
              f"in {sum(f[0] > f[1] for f in found)} of these times")


if __name__ == "__main__":
    main()
