"""Predicts the times of kernels from the memories of their operands. The model is fitted to half of the nodes, and
tested on the other half.

The times are those of kernel_times.py. The prediction begins with the kernel's time with all operands in DRAM. For each
operand in PMEM, it adds the operand's bytes divided by a bandwidth. The model has three numbers: the bandwidth to read,
the bandwidth to write, and the bytes of each read that caches hold. Cached bytes take 1 % of the time that they would
take without caches (CACHED_SHARE).

    python3 placement.py [FOLDER]      prints the figures of placement.md
"""

import itertools
import math
import random
import statistics
import sys

from kernel_times import OPERANDS, averaged, deviation, groups_of, mean_time, read, repeated, rows_of, significant

# The share of their time that bytes in caches take. It was chosen after the results with free cached bytes were known:
# with free bytes, the model often predicts an effect of exactly 0, which has no sign.
CACHED_SHARE = 0.01
NO_EFFECT = 1e-12  # a predicted logarithm of a ratio that is not above this number has no sign


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
