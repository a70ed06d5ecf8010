#!/usr/bin/python3
"""Tests a prediction of kernel times: bandwidths of memories are fitted to half of the nodes of a training step, and
predict the times of the other half in PMEM.

The test reads ../shared/data/placement, and is skipped if that folder does not exist."""

import pathlib
import statistics
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared" / "data" / "placement"
sys.path.insert(0, str(ROOT / "analysis" / "validation"))
sys.dont_write_bytecode = True

import placement  # noqa: E402


class Fit(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.kernels = placement.read(DATA)
        cls.effect = placement.effect_of(DATA)
        cls.fits = [(held, placement.fit_on(cls.kernels, train))
                    for train, held in placement.splits(cls.kernels, 30)]
        cls.judged = [placement.judge(cls.kernels, held, fit, cls.effect) for held, fit in cls.fits]

    def test_the_table_has_the_nodes_that_the_timer_can_see(self):
        self.assertEqual((len(self.kernels), sum(len(rows) for _, rows in self.kernels.values())), (27, 135))

    def test_the_threshold_of_an_effect_follows_from_repeated_rows(self):
        groups = placement.repeated(DATA, "mean_us_single")
        self.assertEqual(sum(len(times) - 1 for times in groups), 28)
        self.assertAlmostEqual(self.effect, 0.278, places=3)

    def test_vgg416_is_priced_with_the_fitted_rates(self):
        read, write, _ = placement.fit_on(self.kernels, list(self.kernels), placement.by_time)
        self.assertAlmostEqual(read / 1e3, 24, delta=0.5)
        self.assertAlmostEqual(write / 1e3, 4.43, delta=0.01)

    def test_the_median_error_of_nodes_left_out_is_at_most_20_percent(self):
        self.assertLessEqual(statistics.median(error for error, _, _ in self.judged), 0.20)

    def test_the_sign_is_right_in_90_percent_of_the_placements_with_an_effect(self):
        self.assertGreaterEqual(statistics.median(sign for _, sign, _ in self.judged), 0.90)

    def test_half_of_the_wrong_signs_above_10_percent_belong_to_one_node(self):
        wrong, judged = placement.wrong_signs(self.kernels, self.fits, 0.1)
        node = "ConvolutionBiasBackpropFiltersBias_3242"
        self.assertGreater(wrong[node], 0.45 * sum(wrong.values()))
        others = 1 - (sum(wrong.values()) - wrong[node]) / (sum(judged.values()) - judged[node])
        self.assertGreaterEqual(others, 0.90)

    def test_the_memory_of_the_output_has_the_largest_effect_on_a_node_that_was_left_out(self):
        found = placement.output_over_input(self.kernels, 30)
        self.assertGreater(len(found), 5)
        for output, inputs in found:
            self.assertGreater(output, 3 * inputs)


if __name__ == "__main__":
    if not DATA.is_dir():
        print("skipped: there is no", DATA)
        sys.exit(77)
    unittest.main()
