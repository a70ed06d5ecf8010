#!/usr/bin/python3
"""Tests the page on iteration times of Megatron-LM. The page must have the numbers that its script prints. Predictions
for runs that were not used for a fit must be within 12 % of the measured times."""

import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "analysis/validation"))
import iteration_times  # noqa: E402


class IterationTimes(unittest.TestCase):
    def test_the_page_has_the_tables_of_its_script(self):
        page = (ROOT / "analysis/validation/iteration_times.md").read_text()
        for line in iteration_times.page():
            self.assertIn(line, page)

    def test_times_that_were_not_fitted_are_within_12_percent(self):
        _, seen, unseen = iteration_times.results()
        self.assertEqual(len(seen), 23)  # two runs of the 22B model and 21 of the 3.6B model
        self.assertEqual([name for name, *_ in unseen], [
            "Korthikanti 530B, full", "Korthikanti 530B, selective", "SC21 1.7B", "SC21 3.6B", "SC21 7.5B"])
        for name, measured, predicted in unseen:
            with self.subTest(name):
                self.assertLessEqual(abs(predicted / measured - 1), 0.12)

    def test_sc21_seconds_by_hand(self):
        # There are B = 512 samples, L = 24 blocks, s = 2048 tokens, h = 2304 features and v = 51200 words.
        # A step has 96 B L s h^2 (1 + s / (6 h) + v / (16 L h)) FLOP. On 32 GPUs with 137 TFLOP/s each, the step takes
        # 96 x 512 x 24 x 2048 x 2304^2 x (1 + 2048 / 13824 + 51200 / (16 x 24 x 2304)) / (32 x 137e12) = 3.528 s
        rows = {name: seconds for name, _, seconds in iteration_times.sc21()}
        self.assertAlmostEqual(rows["SC21 1.7B"], 3.528, 3)


if __name__ == "__main__":
    if not iteration_times.DATA.is_dir():
        print(f"skipped: there is no {iteration_times.DATA}")
        sys.exit(77)
    unittest.main(verbosity=2)
