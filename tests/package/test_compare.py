#!/usr/bin/python3
"""Tests the comparison of runs: their differences, their pictures on common axes, and the common time base."""

import unittest

from sluice_package import need, sluice

need("numpy", "pandas", "matplotlib", "xarray")
import matplotlib  # noqa: E402

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
import xarray  # noqa: E402

KEY = "platform.links.host.bandwidth"
BASE = sluice.load("alexnet_x200")
RUNS = {"slow": BASE.with_({KEY: "8GB/s"}).run(), "fast": BASE.with_({KEY: "121GB/s"}).run()}
BOTH = sluice.compare(RUNS)
SMALL = sluice.load("phased_ipu_pair", {"workload.batches_per_step": 3, "workload.steps": 2}).run()


class Tables(unittest.TestCase):
    def test_the_table_has_all_metrics_of_all_runs(self):
        table = BOTH.frame
        self.assertEqual(list(table.columns), ["slow", "fast", "unit"])
        for name, result in RUNS.items():
            for metric, value, unit in result.metrics.rows():
                self.assertEqual(table.loc[metric, name], value)
                self.assertEqual(table.loc[metric, "unit"], unit or "")
        other = sluice.compare({"a": RUNS["slow"], "b": SMALL}).frame
        self.assertIsNone(other.loc["peak_bytes/gpu", "b"])
        self.assertIsNone(other.loc["peak_bytes/ipu0", "a"])

    def test_differences_are_rows_that_differ_with_the_change(self):
        table = BOTH.differences
        self.assertNotIn("samples", table.index)  # each run has 900 samples
        slow, fast = (result.metrics.makespan_s for result in RUNS.values())
        self.assertEqual(table.loc["makespan_s", "fast: change"], (fast - slow) / slow)
        self.assertTrue(np.isnan(table.loc["bound_by", "fast: change"]))
        self.assertEqual(table.loc["bound_by", "slow"], RUNS["slow"].metrics.bound_by)
        same = sluice.compare({"a": RUNS["slow"], "b": RUNS["slow"]})
        self.assertEqual(len(same.differences), 0)
        self.assertIn("Comparison of 2 runs", repr(BOTH))
        self.assertIn("makespan_s", BOTH._repr_html_())

    def test_an_argument_that_is_not_a_mapping_of_results_is_refused(self):
        for wrong in ({}, [RUNS["slow"]], RUNS["slow"], {"a": BASE}, {"a": None}):
            self.assertRaises(sluice.UsageError, sluice.compare, wrong)
        for wrong, given in (({}, "an empty one"), ([RUNS["slow"]] * 2, "a list"), (RUNS["slow"], "a Result")):
            with self.assertRaisesRegex(sluice.UsageError, "compare takes {'name': result, ….*, and not " + given):
                sluice.compare(wrong)
        for args, named in (((RUNS["slow"], RUNS["fast"]), {}), ((), RUNS)):
            with self.assertRaisesRegex(sluice.UsageError, "compare takes {'name': result, ….*2 arguments"):
                sluice.compare(*args, **named)
        self.assertEqual(sluice.compare(results=RUNS).names, ["slow", "fast"])
        self.assertIs(BOTH["slow"], RUNS["slow"])
        with self.assertRaisesRegex(KeyError, "did you mean 'slow'"):
            BOTH["slo"]


class Panels(unittest.TestCase):
    def tearDown(self):
        plt.close("all")

    def test_panels_have_common_axes_one_unit_and_one_legend(self):
        longest = max(result.metrics.makespan_s for result in RUNS.values())
        for draw in (BOTH.plot.timeline, BOTH.plot.memory, BOTH.plot.utilisation):
            panels = draw()
            self.assertEqual([ax.get_xlim() for ax in panels], 2 * [(0, longest)])
            self.assertEqual([ax.get_xlabel() for ax in panels], ["", "time (s)"])
            self.assertEqual([ax.get_legend() for ax in panels], [None, None])
            self.assertRegex(panels[0].get_title(loc="left"), "slow: 18.* s")
            figure = panels[0].figure
            figure.canvas.draw()
            [legend] = figure.legends
            box = legend.get_window_extent()
            self.assertLessEqual(box.x1, figure.bbox.x1 + 1)
            self.assertGreaterEqual(box.x0, panels[0].get_window_extent().x1)
            self.assertLessEqual(figure.get_tightbbox().x1, figure.get_size_inches()[0] + 0.01)
            self.assertTrue(all(ax.get_window_extent().height > 40 for ax in panels))
            labels = [text.get_text() for text in legend.get_texts()]
            self.assertEqual(len(labels), len(set(labels)))
            self.assertEqual(draw(legend=False)[0].figure.legends, [])
            with sluice.paper():
                self.assertIsNotNone(draw()[0].get_legend())
            self.assertTrue(all(ax.get_legend() is None for ax in draw(legend=False)))
        self.assertEqual(len({ax.get_ylim() for ax in BOTH.plot.memory()}), 1)
        self.assertEqual(BOTH.plot.timeline(unit="ms")[-1].get_xlabel(), "time (ms)")

    def test_a_run_that_has_ended_has_an_empty_panel(self):
        fast = RUNS["fast"].metrics.makespan_s
        panels = BOTH.plot.timeline(start=fast + 1)
        self.assertTrue(panels[0].collections)
        self.assertFalse(panels[1].collections)
        with self.assertRaisesRegex(sluice.InputError, "all of these runs have ended"):
            BOTH.plot.timeline(start=1000)


class OneTimeBase(unittest.TestCase):
    def test_bins_add_up_to_what_the_runs_did(self):
        data = BOTH.to_xarray(bins=100)
        self.assertEqual(dict(data.sizes), {"run": 2, "stream": 3, "pool": 2, "time": 100})
        width = float(data["time"][0])
        for name, result in RUNS.items():
            spans = result.spans
            for stream in data["stream"].values:
                mine = spans[spans["stream"] == stream]
                self.assertAlmostEqual(float(data["utilisation"].sel(run=name, stream=stream).sum()) * width,
                                       (mine["end"] - mine["start"]).sum(), 9)
            for pool, peak in result.metrics.peak_bytes.items():
                self.assertEqual(float(data["level"].sel(run=name, pool=pool).max()), peak)
            ended = data["utilisation"].sel(run=name).isel(stream=0)
            self.assertEqual(int(ended.notnull().sum()), int(np.ceil(result.metrics.makespan_s / width - 1e-9)))
            self.assertEqual(float(data["samples_done"].sel(run=name).max()), result.metrics.samples)

    def test_the_numbers_of_a_bin_equal_a_count_by_hand(self):
        """Compares each bin of a small run with the numbers that the spans and memory events of the run give for this
        bin."""
        times = np.linspace(0, 1.2 * SMALL.metrics.makespan_s, 38)[1:]
        data, spans, memory = SMALL.resampled(times), SMALL.spans, SMALL.memory
        begin = 0.0
        for end in times:
            here = data.sel(time=end)
            if begin >= SMALL.metrics.makespan_s:
                self.assertTrue(np.isnan(here["utilisation"]).all() and np.isnan(here["level"]).all())
            else:
                for stream in data["stream"].values:
                    mine = spans[spans["stream"] == stream]
                    inside = (mine["end"].clip(begin, end) - mine["start"].clip(begin, end)).sum()
                    self.assertAlmostEqual(float(here["utilisation"].sel(stream=stream)), inside / (end - begin), 9)
                for pool in data["pool"].values:
                    mine = memory[memory["pool"] == pool]
                    before = mine["level"][mine["time"] <= begin]
                    levels = [before.iloc[-1] if len(before) else 0,
                              *mine["level"][(mine["time"] > begin) & (mine["time"] < end)]]
                    self.assertEqual(float(here["level"].sel(pool=pool)), max(levels))
            begin = end

    def test_runs_of_different_length_and_streams_can_be_compared(self):
        times = np.linspace(0, 0.01, 11)[1:]
        joined = xarray.concat([SMALL.resampled(times), RUNS["fast"].resampled(times)], dim="run")
        self.assertEqual(joined.sizes["time"], 10)
        self.assertTrue(np.array_equal(joined["time"], times))
        self.assertTrue(np.isnan(joined["utilisation"].sel(stream="gpu.compute").isel(run=0)).all())
        for wrong in ([], [0.0, 1.0], [2.0, 1.0], [float("nan")], [[1.0]]):
            self.assertRaises(sluice.Error, SMALL.resampled, wrong)
        for wrong in (0, 1.5, True, "10"):
            self.assertRaises(sluice.Error, BOTH.to_xarray, wrong)


if __name__ == "__main__":
    unittest.main()
