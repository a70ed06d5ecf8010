#!/usr/bin/python3
"""Tests the explanation of the page analysis/validation/placement.md: why the curve of Vgg416 falls steeply between 1.4
% and 3.7 % of DRAM. The times of the kernels in both memories were measured.

The test reads the folder ../shared/data/placement. If this folder is missing, the test is skipped."""

import csv
import io
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("SLUICE_PROGRAM", str(ROOT / "build/release/sluice"))
DATA = ROOT.parent / "shared" / "data" / "placement"
sys.path.insert(0, str(ROOT / "analysis" / "validation"))
sys.dont_write_bytecode = True

import vgg416_kernels as vgg  # noqa: E402


class Cliff(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.times, cls.measured = vgg.read(DATA), vgg.autotm(DATA)

    def test_at_the_first_point_only_arguments_and_results_are_in_dram(self):
        self.assertAlmostEqual(vgg.fixed_bytes() / vgg.TOTAL, 0.014, places=4)
        # With 1.4 % of DRAM, a run with moves is less than a hundredth faster than a run without moves. With 3.7 % of
        # DRAM, a run without moves takes more than 1.25 times as long as a run with moves and only 3.5 % of DRAM.
        self.assertLess(self.measured["static", 0.014] / self.measured["synchronous", 0.014], 1.01)
        self.assertGreater(self.measured["static", 0.037] / self.measured["synchronous", 0.035], 1.25)

    def test_one_of_all_combinations_is_near_both_points(self):
        found = {tuple(rules.items()): vgg.slowdowns(self.times, rules) for rules in vgg.all_rules()}
        off = {rules: vgg.worst(slowdowns, self.measured) for rules, slowdowns in found.items()}
        self.assertEqual(len(off), 8)
        best = min(off, key=off.get)
        self.assertEqual(dict(best), vgg.BEST)
        self.assertLess(off[best], 0.13)
        self.assertGreater(sorted(off.values())[1], 0.17)
        self.assertAlmostEqual(found[best][0.014], 3.07, places=2)
        self.assertAlmostEqual(found[best][0.037], 1.22, places=2)
        for rules, slowdowns in found.items():
            if dict(rules)["convolution"] == "ratio":
                self.assertGreater(slowdowns[0.037], 2)

    def test_the_gradients_cause_the_steep_fall(self):
        added = {operator: vgg.extra_seconds(self.times, operator, "PMEM", vgg.BEST[operator])
                 - vgg.extra_seconds(self.times, operator, "DRAM", vgg.BEST[operator]) for operator in vgg.NODES}
        for operator, seconds in (("convolution", 0), ("relu backward", 118), ("gradient of the input", 304),
                                  ("gradient of the weights", 151)):
            self.assertAlmostEqual(added[operator], seconds, delta=1, msg=operator)
        cliff = (self.measured["static", 0.014] - self.measured["static", 0.037]) * vgg.ALL_DRAM
        self.assertAlmostEqual(cliff, 552, delta=1)
        self.assertAlmostEqual(sum(added.values()) / cliff, 1, delta=0.05)

    def test_what_the_profile_leaves_out_at_the_second_point(self):
        found = vgg.left_out(self.times)
        for name, share in (("writes of convolutions in PMEM", 0.107),
                            ("reads of relu's backward passes in PMEM", 0.113),
                            ("uncertainty of the measured nodes", 0.017),
                            ("factor of node 3242 with its input in PMEM", 1.073),
                            ("reads for gradients of weights, by that factor", 0.023),
                            ("reads for gradients of weights, by the rate of reading", 0.049),
                            ("factor of node 3277 with its input in PMEM", 1.147),
                            ("reads of convolutions, by that factor", 0.046),
                            ("reads of convolutions, by the rate of reading", 0.049),
                            ("reads without the free bytes of caches", 0.066),
                            ("writes at the common rate of the nodes", 0.046),
                            ("moves out of DRAM", 0.086), ("moves into DRAM", 0.036)):
            self.assertAlmostEqual(found[name], share, places=3, msg=name)
        missing = self.measured["static", 0.037] - 1.216
        explained = found["reads without the free bytes of caches"] + found["writes at the common rate of the nodes"]
        for rule, unexplained in (("by that factor", 0.042), ("by the rate of reading", 0.016)):
            left = missing - explained - found[f"reads for gradients of weights, {rule}"]
            self.assertAlmostEqual(left, unexplained, places=3)
            # The reads of convolutions take time if no computation hides them. If all of them are hidden, the explained
            # slowdown is smaller than the measured slowdown. If none of them are hidden, it is larger.
            self.assertGreater(left, 0)
            self.assertLess(left, found[f"reads of convolutions, {rule}"])

    def test_sluice_has_the_same_steep_fall_with_these_kernels(self):
        with tempfile.TemporaryDirectory() as folder:
            profile = pathlib.Path(folder, "kernels.csv")
            with profile.open("w", encoding="utf-8", newline="") as file:
                vgg.write_profile(file, self.times)
            out = subprocess.run(
                [PROGRAM, "placement", "analysis/validation/vgg416_optane.yaml", "--fast", "1.1%,1.3%,2.3%",
                 f"cost={{model: measured, profile: {profile}, outside: roofline}}", "--ways", "all_slow,static",
                 "--nodes", "0", "--csv"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
        rows = list(csv.DictReader(io.StringIO(out)))
        slowdown = {row["way"]: float(row["slowdown"]) for row in rows}  # of the last share, 2.3 %
        self.assertAlmostEqual(slowdown["all_slow"], 3.069, delta=0.005)
        self.assertAlmostEqual(slowdown["all_slow"] / self.measured["static", 0.014], 1, delta=0.04)
        self.assertAlmostEqual(slowdown["static"], 1.216, delta=0.005)
        # A gradient is computed from another gradient. With less than 4.1 GB of DRAM, the largest gradient and the
        # gradient from which it is computed do not fit together.
        static = [float(row["slowdown"]) for row in rows if row["way"] == "static"]
        self.assertAlmostEqual(static[0], 1.481, delta=0.005)
        self.assertAlmostEqual(static[1], 1.219, delta=0.005)


if __name__ == "__main__":
    if not DATA.is_dir():
        print("skipped: there is no", DATA)
        sys.exit(77)
    unittest.main()
