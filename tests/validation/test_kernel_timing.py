#!/usr/bin/python3
"""Tests the page 'Kernel timing by memory pool'. The page shows how `sluice profile compare` compares two measured
times of each configuration. The configuration was measured once together with others, and once alone. The test computes
the numbers of the page from the same tables, without Sluice."""

import csv
import pathlib
import statistics
import sys
import unittest

import validation
from validation import ROOT

PRINTED = ROOT / "analysis/validation/kernel_timing_printed.csv"
WHOLE = ROOT.parent / "shared/data/placement/mnist256_kernel_times_dram_pmem.csv"
WORST = "ConvolutionBias_3277 (PMEM, PMEM, DRAM) -- (DRAM)"


def printed_pairs():
    """Returns pairs of times in microseconds: the time of a configuration that was measured together with others, and
    its time alone."""
    with open(PRINTED) as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    taken = {}
    for row in rows:
        key = (row["node"], row["input_pools"], row["output_pools"])
        taken.setdefault(key, {})[row["method"]] = 1e6 * float(row["seconds_mean"])
    return [(pair["simultaneous"], pair["single"]) for pair in taken.values()]


def whole_pairs():
    with open(WHOLE) as file:
        return [(float(row["mean_us_simultaneous"]), float(row["mean_us_single"])) for row in csv.DictReader(file)]


def summary(pairs):
    ratios = [a / b for a, b in pairs if a > 1 and b > 1]
    return {"pairs": len(pairs), "without": sum(a > 0 and b > 0 for a, b in pairs), "compared": len(ratios),
            "median": statistics.median(ratios), "agreeing": sum(abs(ratio - 1) <= 0.05 for ratio in ratios),
            "worst": max(ratios)}


class Compare(validation.Case):
    def compared(self, path, *words):
        return validation.sluice("profile", "compare", str(path), "--between", "method=simultaneous,single",
                                 "--least", "1us", *words)

    def check(self, path, pairs, heading, first, second):
        ours, by_hand = self.compared(path), summary(pairs)
        self.assertEqual((ours["pairs"], ours["pairs"] - ours["with_zero"], ours["compared"], ours["agreeing"]),
                         (by_hand["pairs"], by_hand["without"], by_hand["compared"], by_hand["agreeing"]))
        self.close(ours["median_ratio"], by_hand["median"], "median")
        self.close(ours["worst"]["ratio"], by_hand["worst"], "worst")
        self.assertEqual(ours["worst"]["row"], WORST)
        self.assertIsNone(ours["agree"])  # without --agree or --median-within, the command gives no verdict
        self.check_tables("kernel_timing_by_memory_pool.md", {
            first: by_hand["pairs"], **second(by_hand), "above 1 us, compared": by_hand["compared"],
            "median of simultaneous / single": by_hand["median"], "within 5 %": by_hand["agreeing"],
            "worst": by_hand["worst"]}, heading)
        return by_hand

    def test_the_page_has_the_ratios_of_the_printed_pairs(self):
        by_hand = self.check(PRINTED, printed_pairs(), "The printed pairs", "pairs", lambda _: {})
        self.assertEqual((by_hand["pairs"], by_hand["compared"], by_hand["agreeing"]), (33, 27, 13))

    @unittest.skipUnless(WHOLE.exists(), "the whole table does not exist")
    def test_the_page_has_the_ratios_of_the_whole_table(self):
        by_hand = self.check(WHOLE, whole_pairs(), "The whole table", "rows",
                             lambda hand: {"rows without a zero": hand["without"]})
        self.assertEqual((by_hand["pairs"], by_hand["without"], by_hand["compared"], by_hand["agreeing"]),
                         (180, 175, 166, 48))


if __name__ == "__main__":
    if not pathlib.Path(validation.PROGRAM).exists():
        print("skipped: there is no program")
        sys.exit(77)
    unittest.main(verbosity=2)
