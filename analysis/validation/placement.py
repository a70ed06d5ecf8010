"""Predicts the times of kernels from the memories of their operands. The model is fitted to half of the nodes, and
tested on the other half.

The script reads ../shared/data/placement/mnist256_kernel_times_dram_pmem.csv (darchr/ml-tools, MIT). The file has the
kernels of a training step with batch 256. Their operands are in DRAM or PMEM. The prediction begins with the kernel's
time with all operands in DRAM. For each operand in PMEM, it adds the operand's bytes divided by a bandwidth. The model
has three numbers: the bandwidth to read, the bandwidth to write, and the bytes of each read that caches hold. Cached
bytes take 1 % of the time that they would take without caches (CACHED_SHARE).

    python3 placement.py [FOLDER]      prints the figures of placement.md
"""

import csv
import itertools
import math
import random
import statistics
import sys
from pathlib import Path

# 'Kernel timing by memory pool' gives two sizes, 294912 and 10240 bytes. These sizes fit this network: 28 x 28 images,
# 2 x 2 convolutions to 16 and 8 channels, a 2 x 2 pool after each convolution, 10 classes, batch 256, float32.
BATCH = 256 * 4
IMAGE = 28 * 28 * BATCH
CONV1, POOL1 = 27 * 27 * 16 * BATCH, 13 * 13 * 16 * BATCH
CONV2, POOL2 = 12 * 12 * 8 * BATCH, 6 * 6 * 8 * BATCH
CLASSES = 10 * BATCH
FILTER1, FILTER2, DENSE = 2 * 2 * 16 * 4, 2 * 2 * 16 * 8 * 4, 288 * 10 * 4
SMALL = 64

# The operands of a node are inferred from its operator and its time. A max-pool stores one index per output. An index
# is assumed to have one byte.
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
# The share of their time that bytes in caches take. It was chosen after the results with free cached bytes were known:
# with free bytes, the model often predicts an effect of exactly 0, which has no sign.
CACHED_SHARE = 0.01
NO_EFFECT = 1e-12  # a predicted logarithm of a ratio that is not above this number has no sign
SMALL_SHARE = 0.01  # share of a node's bytes; the memory of a smaller operand is assumed to have no effect


def operands(node, inputs, outputs):
    if node in OPERANDS:
        return OPERANDS[node]
    size = CLASSES if node in ELEMENTWISE else SMALL
    return [size] * inputs, [size] * outputs


class Row:
    """A measured row of the table. The operands are the inputs and then the outputs."""

    def __init__(self, row, column):
        pools = [[p.strip() for p in row[k].split(",")] for k in ("input_placement", "output_placement")]
        reads, writes = operands(row["node"], *map(len, pools))
        self.node, self.time = row["node"], float(row[column])
        self.sizes, self.inputs = reads + writes, len(reads)
        self.slow = tuple(pool == "PMEM" for pool in pools[0] + pools[1])

    def is_large(self, o):
        return self.sizes[o] >= SMALL_SHARE * sum(self.sizes)

    def large_in_slow(self):
        return tuple(slow and self.is_large(o) for o, slow in enumerate(self.slow))

    def bytes_in(self, slow):
        """`slow` says which operands are in PMEM. Returns two lists of sizes: of the operands in PMEM that the node
        reads, and of the operands in PMEM that it writes."""
        chosen = [[self.sizes[o] for o in range(len(slow)) if slow[o] and (o < self.inputs) == reads]
                  for reads in (True, False)]
        return chosen[0], chosen[1]


def rows_of(folder, column="mean_us_single"):
    """Returns the rows of each node. Nodes that are too short for the timer are left out."""
    nodes = {}
    with open(Path(folder) / "mnist256_kernel_times_dram_pmem.csv", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            nodes.setdefault(row["node"], []).append(Row(row, column))
    return {n: rows for n, rows in nodes.items()
            if next((row.time for row in rows if not any(row.slow)), 0) >= RESOLUTION}


def read(folder, column="mean_us_single"):
    """Returns for each node its time in DRAM, and its placements. A placement is the sizes of the operands that are
    read from PMEM, the sizes of those that are written to PMEM, and the time."""
    return {n: (next(row.time for row in rows if not any(row.slow)),
                [(*row.bytes_in(row.slow), row.time) for row in rows if any(row.slow)])
            for n, rows in rows_of(folder, column).items()}


def groups_of(rows):
    """Returns the rows of a node in groups. The rows of a group differ only in the memories of small operands, so they
    repeat one measurement. The key of a group says which large operands are in PMEM."""
    groups = {}
    for row in rows:
        groups.setdefault(row.large_in_slow(), []).append(row)
    return groups


def repeated(folder, column):
    """Rows of a node that differ only in the memories of small operands repeat one measurement. Returns the times of
    each group of two or more such rows."""
    groups = [[row.time for row in group if row.time >= RESOLUTION]
              for rows in rows_of(folder, column).values() for group in groups_of(rows).values()]
    return [times for times in groups if len(times) > 1]


def mean_time(rows):
    return math.exp(statistics.mean(math.log(row.time) for row in rows))


def averaged(folder, column="mean_us_single"):
    """Returns the time in DRAM and the placements of each node, in the form in which read() returns them. But rows that
    repeat the same measurement are replaced by one row. The time of this row is the geometric mean of their times. Also
    returns numbers of rows for each node: the number with all large operands in DRAM, and the number for each other
    placement."""
    kernels, counts = {}, {}
    for n, rows in rows_of(folder, column).items():
        groups = groups_of(rows)
        base = groups.pop(tuple([False] * len(rows[0].sizes)))
        kernels[n] = (mean_time(base), [(*group[0].bytes_in(slow), mean_time(group)) for slow, group in groups.items()])
        counts[n] = (len(base), [len(group) for group in groups.values()])
    return kernels, counts


def deviation(folder, column="mean_us_single"):
    """Returns the standard deviation of the logarithms of times that repeat a measurement."""
    squares = freedom = 0
    for times in repeated(folder, column):
        logs = [math.log(t) for t in times]
        mean = statistics.mean(logs)
        squares += sum((x - mean) ** 2 for x in logs)
        freedom += len(logs) - 1
    return math.sqrt(squares / freedom)


def significant(deviation_, rows=1, others=1):
    """Compares a mean of `rows` rows with a mean of `others` rows. If all rows repeat one measurement, the means differ
    only by chance. Returns the relative difference that chance exceeds in only 5 % of cases. At this difference, the
    logarithms of the two means differ by 1.96 standard deviations."""
    return math.exp(1.96 * deviation_ * math.sqrt(1 / rows + 1 / others)) - 1


def effect_of(folder, column="mean_us_single"):
    """Returns significant() for a comparison of two rows, each with the time of a single measurement."""
    return significant(deviation(folder, column))


def predicted(dram, reads, writes, fit, share=CACHED_SHARE):
    """Returns the predicted time in us. A bandwidth in MB/s is the same number in bytes/us. `share` is the share of
    their time that cached bytes take."""
    read_rate, write_rate, cached = fit
    read = sum(max(0, r - cached) + share * min(r, cached) for r in reads)
    return dram + read / read_rate + sum(writes) / write_rate


def by_ratio(p, t):
    return abs(math.log(p / t))


def by_time(p, t):
    return abs(p - t)


def fit_on(kernels, nodes, miss=by_ratio, caches=True, share=CACHED_SHARE):
    """Returns the fit to the times of `nodes`: the bandwidth of reads, the bandwidth of writes, and the bytes of each
    read that are in a cache. Without `caches`, no bytes are in a cache, and the fit has only two numbers. A search
    finds the least sum of errors. It halves its steps again and again."""
    rows = [(kernels[n][0], *row) for n in nodes for row in kernels[n][1]]

    def fit_at(logs):
        return [math.exp(x) for x in logs] + [0.0] * (not caches)

    def error(logs):
        fit = fit_at(logs)
        return sum(miss(predicted(d, r, w, fit, share), t) for d, r, w, t in rows)

    at, step = [math.log(20e3), math.log(8e3), math.log(2e6)][:3 if caches else 2], 1.5
    least = error(at)
    while step > 1e-3:
        tries = [[x + s * step * (i == j) for j, x in enumerate(at)] for i in range(len(at)) for s in (-1, 1)]
        best = min(tries, key=error)
        if error(best) < least:
            at, least = best, error(best)
        else:
            step /= 2
    return fit_at(at)


def sign(ratio, effect):
    return (ratio > 1 + effect) - (ratio < 1 / (1 + effect))


def judge(kernels, nodes, fit, effect):
    """Returns two numbers for the placements of these nodes. The first is the median error. The second is the share of
    right answers: slower, faster, or equally fast."""
    errors, classes = [], []
    for n in nodes:
        dram, rows = kernels[n]
        for reads, writes, t in rows:
            p = predicted(dram, reads, writes, fit)
            errors.append(abs(p / t - 1))
            classes.append(sign(p / dram, effect) == sign(t / dram, effect))
    return statistics.median(errors), sum(classes) / len(classes)


class Effect:
    """A measured effect: `ratio` is the time of a node with operands in PMEM, divided by its time with these operands
    in DRAM. `significant` is the smallest relative difference that is not an error of the measurement. `change` returns
    the predicted logarithm of the ratio."""

    def __init__(self, ratio, significant_, change):
        self.ratio, self.significant, self.change = ratio, significant_, change


def change_of(dram, reads, writes):
    """Returns a function whose argument is a fit. The function predicts the logarithm of a ratio: the time with these
    operands in PMEM, divided by the time with all operands in DRAM."""
    return lambda fit: math.log(predicted(dram, reads, writes, fit) / dram)


def effects_of_placements(kernels, deviation_, counts=None):
    """Returns for each node a list of effects, one for each placement that has operands in PMEM. The ratio of an effect
    is the time with this placement, divided by the time with all large operands in DRAM. `counts` says from how many
    measurements each of these times was averaged, as the second result of averaged(). Without `counts`, each time was
    measured once."""
    effects = {}
    for n, (dram, rows) in kernels.items():
        base, repeats = counts[n] if counts else (1, [1] * len(rows))
        effects[n] = [Effect(t / dram, significant(deviation_, base, count), change_of(dram, reads, writes))
                      for (reads, writes, t), count in zip(rows, repeats)]
    return effects


def right_signs(effects, nodes, fit, effect=None):
    """Returns a list for each node: for each effect above `effect`, whether its sign is predicted correctly. A
    predicted effect of 0 has no sign, so it counts as wrong. Without `effect`, the list is about the significant
    effects."""
    return {n: [e.change(fit) > NO_EFFECT if e.ratio > 1 else e.change(fit) < -NO_EFFECT for e in effects.get(n, [])
                if sign(e.ratio, e.significant if effect is None else effect)]
            for n in nodes}


def shares_of_right_signs(effects, fits, effect=None):
    """`fits` has an element for each split: the nodes that are left out, and the fit to the other nodes. Returns for
    each split the share of judged effects whose sign the fit predicts correctly. The shares ascend. A split without
    effects above `effect` is left out."""
    shares = []
    for held, fit in fits:
        signs = [right for rights in right_signs(effects, held, fit, effect).values() for right in rights]
        if signs:
            shares.append(sum(signs) / len(signs))
    return sorted(shares)


def wrong_signs(effects, fits, effect):
    """Returns two counts for each node, over all splits. The first counts the effects above `effect` whose sign the fit
    does not predict correctly. The second counts all effects above `effect`."""
    wrong, judged = {}, {}
    for held, fit in fits:
        for n, rights in right_signs(effects, held, fit, effect).items():
            if rights:
                judged[n] = judged.get(n, 0) + len(rights)
                wrong[n] = wrong.get(n, 0) + len(rights) - sum(rights)
    return wrong, judged


def splits(kernels, count, seed=1):
    dice = random.Random(seed)
    for _ in range(count):
        nodes = list(kernels)
        dice.shuffle(nodes)
        half = len(nodes) // 2
        yield nodes[:half], nodes[half:]


def fits_of(kernels, count, caches=True):
    """Returns for each split the nodes that are left out, and the fit to the other nodes."""
    return [(held, fit_on(kernels, train, caches=caches)) for train, held in splits(kernels, count)]


def repeats_that_agree(folder, column, effect):
    """Measures how far the data can decide a sign at all. A node whose row with all large operands in DRAM is repeated
    has several measurements of the effect of a placement that is repeated, too. Two such measurements are compared that
    have no row in common. Returns the share of these pairs whose signs agree, of the pairs whose first effect is above
    `effect`. All pairs of one placement together count once."""
    agree = count = 0
    for rows in rows_of(folder, column).values():
        groups = groups_of(rows)
        base = groups.pop(tuple([False] * len(rows[0].sizes)))
        for group in groups.values():
            pairs = [(slow.time / fast.time, other_slow.time / other_fast.time)
                     for fast, other_fast in itertools.permutations(base, 2)
                     for slow, other_slow in itertools.permutations(group, 2)]
            for first, second in pairs:
                if sign(first, effect):
                    count += 1 / len(pairs)
                    agree += ((first > 1) == (second > 1)) / len(pairs)
    return agree / count


def known_truth(folder, column, effect, trials=400):
    """Returns the share of signs that somebody would predict correctly who knows the true effects. Single rows are
    drawn again: the averaged effect of a placement counts as true, and each row has an error with the standard
    deviation of repeated rows. The result counts drawn effects above `effect`. An effect that is truly 0 counts as half
    right."""
    spread, dice = deviation(folder, column), random.Random(5)
    truth = []
    for rows in rows_of(folder, column).values():
        groups = groups_of(rows)
        fast = tuple([False] * len(rows[0].sizes))
        truth.append([(0.0, len(groups[fast]) - 1)] +
                     [(math.log(mean_time(group) / mean_time(groups[fast])), len(group))
                      for slow, group in groups.items() if slow != fast])
    right = count = 0
    for _ in range(trials):
        for effects in truth:
            base = dice.gauss(0, spread)
            for true, repeats in effects:
                for _ in range(repeats):
                    drawn = true + dice.gauss(0, spread) - base
                    if abs(drawn) > math.log(1 + effect):
                        count += 1
                        right += 0.5 if true == 0 else (drawn > 0) == (true > 0)
    return right / count


def share_of_slower(effects, effect):
    """Returns the share of the effects above `effect` that make a kernel slower: how often "always slower" is right."""
    slower = [e.ratio > 1 for of_node in effects.values() for e in of_node if sign(e.ratio, effect)]
    return sum(slower) / len(slower)


def output_over_input(kernels, count=200):
    """Returns two predictions for node 3287 from each split whose fit does not use this node: how many microseconds
    more than with all operands in DRAM the node takes with its output in PMEM, and with both of its inputs in PMEM."""
    node, found = "ConvolutionBackpropData_3287", []
    for train, held in splits(kernels, count):
        if node in held:
            fit = fit_on(kernels, train)
            (filter_, delta), (out,) = OPERANDS[node]
            dram = kernels[node][0]
            found.append((predicted(dram, [], [out], fit) - dram, predicted(dram, [filter_, delta], [], fit) - dram))
    return found


def print_signs(name, effects, fits):
    print(f"  {name}: {sum(map(len, effects.values()))} effects of {len(effects)} nodes")
    for effect in (None, 0.2, 0.1, 0.05):
        shares = shares_of_right_signs(effects, fits, effect)
        wrong, judged = wrong_signs(effects, fits, effect)
        print(f"    sign, of {'significant effects' if effect is None else f'effects above {effect:.0%}'}: "
              f"median {statistics.median(shares):.1%}, least {shares[0]:.1%}, at least 90 % in "
              f"{sum(x >= 0.9 for x in shares)} of {len(shares)} splits; {sum(wrong.values())} of "
              f"{sum(judged.values())} wrong, most of all",
              ", ".join(f"{n} {wrong[n]} of {judged[n]}" for n in sorted(wrong, key=wrong.get)[:-7:-1] if wrong[n]))


def print_errors(kernels, fits, noise):
    results = [judge(kernels, held, fit, noise) for held, fit in fits]
    errors, classes = (sorted(r[i] for r in results) for i in range(2))
    print(f"  median error: median {statistics.median(errors):.1%}, greatest {errors[-1]:.1%}, "
          f"at most 20 % in {sum(e <= 0.2 for e in errors)} splits; slower, faster or neither, of all: "
          f"median {statistics.median(classes):.1%}")
    read_rate, write_rate, cached = (statistics.median(fit[i] for _, fit in fits) for i in range(3))
    print(f"  fitted (median): read {read_rate / 1e3:.1f} GB/s, write {write_rate / 1e3:.1f} GB/s, "
          f"cached up to {cached / 1e6:.2f} MB")


def print_limits(folder, column, effects):
    for effect in (0.0, 0.05, 0.1, 0.2):
        print(f"  above {effect:.0%}: two repeats agree in {repeats_that_agree(folder, column, effect):.1%}; with the "
              f"truth known {known_truth(folder, column, effect):.1%}; \"always slower\" is right in "
              f"{share_of_slower(effects, effect):.1%} of averaged effects")


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else "../shared/data/placement"
    for column in ("mean_us_single", "mean_us_simultaneous"):
        kernels, spread = read(folder, column), deviation(folder, column)
        fits = fits_of(kernels, 100)
        print(f"{column}: {len(kernels)} nodes, {sum(len(k[1]) for k in kernels.values())} placements, 100 splits")
        print(f"  two times count as different from {significant(spread):.1%} on, by {len(repeated(folder, column))} "
              f"groups of rows that repeat a measurement")
        print_errors(kernels, fits, significant(spread))
        print_signs("each row", effects_of_placements(kernels, spread), fits)
        means, counts = averaged(folder, column)
        fits_of_means = fits_of(means, 100)
        print("  with the averages of repeated rows:")
        print_errors(means, fits_of_means, significant(spread))
        averages = effects_of_placements(means, spread, counts)
        print_signs("averaged rows", averages, fits_of_means)
        for name, of in (("each row", kernels), ("averaged rows", means)):
            fits_of_two = fits_of(of, 100, caches=False)
            print(f"  with two numbers, no caches, {name}:")
            print_errors(of, fits_of_two, significant(spread))
            print_signs(name, effects_of_placements(of, spread, counts if of is means else None), fits_of_two)
        print_limits(folder, column, averages)
        read_rate, write_rate, cached = fit_on(kernels, list(kernels), by_time, share=0)
        print(f"  of all nodes, by the least error in microseconds, cached bytes free: read {read_rate / 1e3:.1f} GB/s, "
              f"write {write_rate / 1e3:.2f} GB/s, cached up to {cached / 1e6:.2f} MB")
        found = output_over_input(kernels, 100)
        print(f"  node 3287, held out {len(found)} times: output in PMEM adds {statistics.median(f[0] for f in found):.0f}"
              f" us, both inputs {statistics.median(f[1] for f in found):.0f} us; the output adds more than the inputs "
              f"in {sum(f[0] > f[1] for f in found)} of these times")


if __name__ == "__main__":
    main()
