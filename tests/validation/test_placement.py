#!/usr/bin/python3
"""Tests a prediction of the times of kernels. The bandwidths of memories are fitted to half of the nodes of a training
step. (A node is one kernel.) These bandwidths then predict the times that the other half of the nodes take in PMEM.

The test reads the folder ../shared/data/placement. If this folder is missing, the test is skipped."""

import math
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
        cls.kernels, cls.deviation = placement.read(DATA), placement.deviation(DATA)
        cls.means, cls.counts = placement.averaged(DATA)
        cls.fits, cls.fits_of_means = placement.fits_of(cls.kernels, 100), placement.fits_of(cls.means, 100)
        cls.rows = placement.effects_of_placements(cls.kernels, cls.deviation)
        cls.averages = placement.effects_of_placements(cls.means, cls.deviation, cls.counts)

    def median_error(self, kernels, fits):
        effect = placement.effect_of(DATA)
        return statistics.median(placement.judge(kernels, held, fit, effect)[0] for held, fit in fits)

    def share_of_right_signs(self, effects, fits, effect=None):
        return statistics.median(placement.shares_of_right_signs(effects, fits, effect))

    def test_the_table_has_the_nodes_that_the_timer_can_see(self):
        self.assertEqual((len(self.kernels), sum(len(rows) for _, rows in self.kernels.values())), (27, 135))

    def test_the_threshold_of_an_effect_follows_from_repeated_rows(self):
        groups = placement.repeated(DATA, "mean_us_single")
        self.assertEqual(sum(len(times) - 1 for times in groups), 28)
        self.assertAlmostEqual(placement.effect_of(DATA), 0.278, places=3)

    def test_rows_that_differ_only_in_small_operands_become_their_geometric_mean(self):
        node = "ConvolutionBiasBackpropFiltersBias_3242"  # two large inputs and two small outputs
        rows = placement.rows_of(DATA)[node]
        times = [row.time for row in rows if not row.slow[0] and not row.slow[1]]
        self.assertEqual((len(times), self.counts[node]), (4, (4, [4, 4, 4])))
        self.assertAlmostEqual(self.means[node][0], statistics.geometric_mean(times))
        self.assertEqual(sum(len(placements) for _, placements in self.means.values()), 107)

    def test_the_threshold_of_averaged_rows_follows_from_their_number(self):
        # A mean of 4 rows is compared with a single row. All 5 rows may repeat the same measurement. Then the
        # difference between the mean and the single row is larger than 1.96 times its standard deviation in only one of
        # twenty cases.
        self.assertAlmostEqual(placement.significant(0.0885, 4, 1), math.exp(1.96 * 0.0885 * math.sqrt(1.25)) - 1)

    def test_the_effect_of_one_operand_compares_rows_that_differ_only_in_this_operand(self):
        pairs_of = placement.one_operand(DATA)["ConvolutionBiasBackpropFiltersBias_3242"]
        self.assertEqual([len(pairs) for pairs in pairs_of], [8, 8])
        for o, pairs in enumerate(pairs_of):
            for fast, slow in pairs:
                self.assertEqual(slow.slow, fast.slow[:o] + (True,) + fast.slow[o + 1:])

    def test_vgg416_is_priced_with_the_fitted_rates(self):
        read, write, _ = placement.fit_on(self.kernels, list(self.kernels), placement.by_time)
        self.assertAlmostEqual(read / 1e3, 24, delta=0.5)
        self.assertAlmostEqual(write / 1e3, 4.43, delta=0.01)

    def test_the_median_error_of_nodes_left_out_is_at_most_20_percent(self):
        self.assertLessEqual(self.median_error(self.kernels, self.fits), 0.20)
        self.assertLessEqual(self.median_error(self.means, self.fits_of_means), 0.20)

    def test_the_sign_is_right_in_90_percent_of_the_significant_effects(self):
        self.assertGreaterEqual(self.share_of_right_signs(self.rows, self.fits), 0.90)
        self.assertGreaterEqual(self.share_of_right_signs(self.averages, self.fits_of_means), 0.90)

    def test_the_sign_is_right_in_90_percent_of_the_effects_above_10_percent_of_averaged_rows(self):
        self.assertGreaterEqual(self.share_of_right_signs(self.averages, self.fits_of_means, 0.1), 0.90)
        wrong, judged = placement.wrong_signs(self.averages, self.fits_of_means, 0.1)
        self.assertGreaterEqual(1 - sum(wrong.values()) / sum(judged.values()), 0.90)

    def test_half_of_the_wrong_signs_above_10_percent_of_single_rows_belong_to_one_node(self):
        wrong, judged = placement.wrong_signs(self.rows, self.fits, 0.1)
        node = "ConvolutionBiasBackpropFiltersBias_3242"
        self.assertGreater(wrong[node], 0.45 * sum(wrong.values()))
        others = 1 - (sum(wrong.values()) - wrong[node]) / (sum(judged.values()) - judged[node])
        self.assertGreaterEqual(others, 0.90)

    def test_wrong_signs_of_single_operands_belong_to_operands_that_the_fit_reads_free(self):
        effects = placement.effects_of_operands(DATA, "mean_us_single", self.kernels, self.deviation)
        wrong, _ = placement.wrong_signs(effects, self.fits, 0.1)
        self.assertEqual({n for n in wrong if wrong[n]},
                         {"MatmulBias_3240", "MaxPoolWithIndicesBackprop_3273", "ConvolutionBias_3277"})
        for held, fit in self.fits:
            for n in held:
                self.assertFalse(any(e.ratio > 1.1 and e.change(fit) < 0 for e in effects.get(n, [])))

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
