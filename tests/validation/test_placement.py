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

import kernel_times  # noqa: E402
import placement  # noqa: E402


class Fit(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.kernels, cls.deviation = kernel_times.read(DATA), kernel_times.deviation(DATA)
        cls.means, cls.counts = kernel_times.averaged(DATA)
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
        groups = kernel_times.repeated(DATA, "mean_us_single")
        self.assertEqual(sum(len(times) - 1 for times in groups), 28)
        self.assertAlmostEqual(placement.effect_of(DATA), 0.278, places=3)

    def test_rows_that_differ_only_in_small_operands_become_their_geometric_mean(self):
        node = "ConvolutionBiasBackpropFiltersBias_3242"  # two large inputs and two small outputs
        rows = kernel_times.rows_of(DATA)[node]
        times = [row.time for row in rows if not row.slow[0] and not row.slow[1]]
        self.assertEqual((len(times), self.counts[node]), (4, (4, [4, 4, 4])))
        self.assertAlmostEqual(self.means[node][0], statistics.geometric_mean(times))
        self.assertEqual(sum(len(placements) for _, placements in self.means.values()), 107)

    def test_the_threshold_of_averaged_rows_follows_from_their_number(self):
        # A mean of 4 rows is compared with a single row. All 5 rows may repeat the same measurement. Then the
        # difference between the mean and the single row is larger than 1.96 times its standard deviation in only one of
        # twenty cases.
        self.assertAlmostEqual(kernel_times.significant(0.0885, 4, 1), math.exp(1.96 * 0.0885 * math.sqrt(1.25)) - 1)

    def test_vgg416_is_priced_with_the_fitted_rates(self):
        read, write, _ = placement.fit_on(self.kernels, list(self.kernels), placement.by_time, share=0)
        self.assertAlmostEqual(read / 1e3, 24, delta=0.5)
        self.assertAlmostEqual(write / 1e3, 4.43, delta=0.01)

    def test_the_median_error_of_nodes_left_out_is_at_most_20_percent(self):
        self.assertLessEqual(self.median_error(self.kernels, self.fits), 0.20)
        self.assertLessEqual(self.median_error(self.means, self.fits_of_means), 0.20)

    def test_the_sign_is_right_in_90_percent_of_the_effects_above_5_percent_of_averaged_rows(self):
        for effect in (0.05, 0.1, 0.2):
            self.assertGreaterEqual(self.share_of_right_signs(self.averages, self.fits_of_means, effect), 0.90)
            wrong, judged = placement.wrong_signs(self.averages, self.fits_of_means, effect)
            self.assertGreaterEqual(1 - sum(wrong.values()) / sum(judged.values()), 0.90)

    def test_two_bandwidths_without_caches_have_equally_many_right_signs(self):
        fits = placement.fits_of(self.means, 100, caches=False)
        self.assertTrue(all(cached == 0 for _, (_, _, cached) in fits))
        self.assertAlmostEqual(self.median_error(self.means, fits), 0.209, places=3)
        self.assertGreaterEqual(self.share_of_right_signs(self.averages, fits, 0.05), 0.90)

    def test_a_predicted_effect_of_zero_has_no_sign(self):
        # Without caches or bandwidths, nothing is predicted for an effect with a ratio of 1.5 or 1 / 1.5.
        nothing = placement.change_of(100.0, [], [])
        effects = {"node": [placement.Effect(ratio, 0.1, nothing) for ratio in (1.5, 1 / 1.5)]}
        self.assertEqual(placement.right_signs(effects, ["node"], (1.0, 1.0, 0.0), 0.1), {"node": [False, False]})

    def test_cached_bytes_take_a_hundredth_of_their_time(self):
        # Of 3000 bytes, 1000 are cached. At 10 bytes/us, 2000 bytes take 200 us, and the cached bytes 1 us.
        self.assertAlmostEqual(placement.predicted(50.0, [3000], [], (10.0, 1.0, 1000.0)), 50 + 200 + 1)

    def test_the_repeats_of_single_rows_do_not_agree_in_90_percent_of_effects_above_5_percent(self):
        column = "mean_us_single"
        self.assertAlmostEqual(placement.repeats_that_agree(DATA, column, 0.05), 0.825, places=3)
        self.assertLess(placement.known_truth(DATA, column, 0.05), 0.90)
        self.assertGreater(placement.known_truth(DATA, column, 0.2), 0.95)

    def test_all_averaged_effects_above_10_percent_make_a_kernel_slower(self):
        self.assertEqual(placement.share_of_slower(self.averages, 0.1), 1)
        self.assertAlmostEqual(placement.share_of_slower(self.averages, 0.05), 0.939, places=3)

    def test_most_wrong_signs_above_10_percent_of_single_rows_belong_to_one_node(self):
        wrong, judged = placement.wrong_signs(self.rows, self.fits, 0.1)
        node = "ConvolutionBiasBackpropFiltersBias_3242"
        self.assertGreater(wrong[node], 0.5 * sum(wrong.values()))
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
