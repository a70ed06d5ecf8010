#!/usr/bin/python3
"""Tests that pictures of results agree with the numbers of the results."""

import contextlib
import tempfile
import unittest

from sluice_package import need, sluice

need("numpy", "pandas", "matplotlib")
import matplotlib  # noqa: E402

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
from matplotlib.collections import LineCollection  # noqa: E402
from matplotlib.text import Text  # noqa: E402

from sluice import _colours  # noqa: E402

RESULT = sluice.load("alexnet_x200").run()
PHASED = sluice.load("phased_ipu_pair", {"policy.in_flight": 1}).run()
SMALL = sluice.load("phased_ipu_pair", {"workload.batches_per_step": 3, "workload.steps": 2,
                                          "policy.in_flight": 1}).run()


def boxes(ax, row):
    """Returns (left, right, low, high) of each coloured box in a row of a timeline. The bottom of the row has the
    height 0, and its top has the height 1."""
    found = []
    pale = matplotlib.colors.to_hex(_colours.pale(ax))
    for one in ax.collections:
        if isinstance(one, LineCollection) or matplotlib.colors.to_hex(one.get_facecolor()[0]) == pale:
            continue
        for path in one.get_paths():
            (left, low), (right, high) = path.vertices.min(axis=0), path.vertices.max(axis=0)
            if abs((low + high) / 2 - row) < 0.5:
                found.append((left, right, (row + 0.38 - high) / 0.76, (row + 0.38 - low) / 0.76))
    return np.array(sorted(found))


class Pictures(unittest.TestCase):
    def tearDown(self):
        plt.close("all")

    def test_a_timeline_has_one_row_per_stream_with_its_bars(self):
        ax = SMALL.plot.timeline()
        streams = SMALL.spans["stream"].cat.categories
        self.assertEqual([label.get_text() for label in ax.get_yticklabels()],
                         sorted(streams, key=lambda s: (s[:4], "compute" not in s, s)))
        self.assertEqual(ax.get_xlabel(), "time (ms)")
        self.assertEqual(ax.get_xlim(), (0, SMALL.metrics.makespan_s))
        self.assertIn("phased_ipu_pair", ax.get_title(loc="left"))
        self.assertEqual({text.get_text() for text in ax.get_legend().get_texts()},
                         {*SMALL.spans["kind"].unique(), "many actions: height\nis their share of time",
                          "number of the stage"})

    def test_coloured_parts_are_busy_times(self):
        for result in (RESULT, PHASED, SMALL):
            ax = result.plot.timeline()
            for row, label in enumerate(ax.get_yticklabels()):
                left, right, low, high = boxes(ax, row).T
                spans = result.spans[result.spans["stream"] == label.get_text()]
                self.assertAlmostEqual(np.sum((right - left) * (high - low)),
                                       (spans["end"] - spans["start"]).sum(), 9)
                self.assertLessEqual(high.max(), 1 + 1e-9)

    def test_a_strip_of_repeating_work_is_uniform(self):
        # In a run of 129.2 ms, an IPU computes 750 products of 4.381 us each. So the IPU computes for 2.54 % of the
        # time. The timeline divides the run into parts and draws one box for each part. Even if a part is only a
        # hundredth of the run, the IPU computes seven or eight products in each part. So all boxes are about equally
        # high.
        ax = PHASED.plot.timeline()
        rows = [label.get_text() for label in ax.get_yticklabels()]
        left, right, low, high = boxes(ax, rows.index("ipu0.compute")).T
        self.assertTrue(np.allclose(left[1:], right[:-1], rtol=0, atol=1e-12))  # there is no space between the boxes
        self.assertTrue(np.all(low == low[0]))
        self.assertTrue(np.all(np.abs(high / 0.0254 - 1) < 0.2), high)
        self.assertLess(np.ptp(high[1:-1]) / high.mean(), 0.15)

    def test_a_stream_of_two_kinds_shows_both(self):
        result = sluice.load("alexnet_x200_training", {"workload.batch": 30}).run()
        ax = result.plot.timeline()
        colours = {matplotlib.colors.to_hex(one.get_facecolor()[0]).upper() for one in ax.collections
                   if not isinstance(one, LineCollection)}
        self.assertLessEqual({"#0072B2", "#D55E00"}, colours)
        legend = {matplotlib.colors.to_hex(patch.get_facecolor()).upper()
                  for patch in ax.get_legend().get_patches()}
        self.assertLessEqual(colours, legend)

    def test_memory_adds_up_to_the_level_and_shows_the_capacity(self):
        ax = RESULT.plot.memory()
        self.assertEqual(ax.get_ylabel(), "in gpu (GB)")
        top = max(path.vertices[:, 1].max() for area in ax.collections for path in area.get_paths())
        self.assertEqual(top, RESULT.metrics.peak_bytes["gpu"])
        self.assertIn("capacity 24 GB", [text.get_text() for text in ax.texts])
        with self.assertRaisesRegex(sluice.InputError, "gpu, host"):
            RESULT.plot.memory("gup")

    def test_memory_is_scaled_to_its_contents(self):
        ax = PHASED.plot.memory()
        peak = PHASED.metrics.peak_bytes["ipu0"]
        self.assertEqual(ax.get_ylabel(), "in ipu0 (MB)")
        self.assertTrue(peak < ax.get_ylim()[1] < 1.2 * peak)
        self.assertIn("capacity 900 MB", [text.get_text() for text in ax.texts])
        self.assertEqual(len(ax.lines), 0)

    def test_memory_of_many_changes_is_drawn_at_its_highest_in_few_columns(self):
        for result in (RESULT, PHASED):
            for pool, peak in result.metrics.peak_bytes.items():
                ax = result.plot.memory(pool)
                paths = [path.vertices for area in ax.collections for path in area.get_paths()]
                self.assertAlmostEqual(max(path[:, 1].max() for path in paths) / peak, 1, 9)
                self.assertLess(max(len(path) for path in paths), 2000)
                plt.close("all")

    def test_memory_of_an_interval_shows_only_that_interval(self):
        memory = RESULT.memory[RESULT.memory["pool"] == "gpu"]
        for start, end in ((0.5, 4.2), (5.2, 5.21)):
            ax = RESULT.plot.memory(start=start, end=end)
            before = memory["level"][memory["time"] < start].iloc[-1]
            inside = memory["level"][(memory["time"] >= start) & (memory["time"] <= end)]
            top = max(path.vertices[:, 1].max() for area in ax.collections for path in area.get_paths())
            self.assertEqual(top, max(before, inside.max()))
            self.assertEqual(ax.get_xlim(), (start, end))

    def test_an_empty_interval_is_refused(self):
        for plot in (SMALL.plot.timeline, SMALL.plot.memory, SMALL.plot.utilisation):
            for start, end in ((3, 2), (100, None), (-1, 1), (0, float("nan")), (0, float("inf"))):
                with self.assertRaisesRegex(sluice.InputError, f"'{start}' for 'start'.*a start before 0.0"):
                    plot(start=start, end=end)

    def test_utilisation_shows_the_mean_of_each_stream(self):
        figure = RESULT.plot.utilisation().figure
        said = [text.get_text() for ax in figure.axes for text in ax.texts]
        self.assertEqual(said[0], f"{100 * RESULT.metrics.compute_utilisation:.3g} % busy")
        _, ax = plt.subplots()
        self.assertIs(RESULT.plot.utilisation(ax=ax), ax)
        figure = RESULT.plot.utilisation(start=1, end=4).figure
        spans = RESULT.spans[RESULT.spans["stream"] == "gpu.compute"]
        busy = (spans["end"].clip(1, 4) - spans["start"].clip(1, 4)).sum() / 3
        self.assertEqual(figure.axes[0].texts[0].get_text(), f"{100 * busy:.3g} % busy")

    def test_no_stage_is_above_the_roof(self):
        for result in (RESULT, SMALL):
            ax = result.plot.roofline()
            roof_x, roof_y = ax.lines[0].get_data()
            for points in ax.collections:
                for x, y in points.get_offsets():
                    roof = np.exp(np.interp(np.log(x), np.log(roof_x), np.log(roof_y)))
                    self.assertLessEqual(y, roof * 1.001)
            plt.close("all")

    def test_names_in_a_roofline_are_inside_and_do_not_overlap(self):
        for name in ("alexnet_x200_as_written", "alexnet_resident", "megatron_22b", "alexnet_x200_training"):
            result = sluice.load(name).run()
            for columns in (None, 1, 2):
                with sluice.paper(columns) if columns else contextlib.nullcontext():
                    ax = result.plot.roofline()
                ax.figure.canvas.draw()
                renderer = ax.figure.canvas.get_renderer()
                shown = [text for text in ax.texts if text.get_visible()]
                self.assertTrue(shown)
                boxes = [Text.get_window_extent(text, renderer)
                         for text in [*shown, *ax.get_legend().get_texts()]]
                for i, box in enumerate(boxes):
                    self.assertTrue(ax.bbox.x0 <= box.x0 and box.x1 <= ax.bbox.x1, ax.texts)
                    self.assertFalse(any(box.overlaps(other) for other in boxes[:i]), ax.texts)
                for points in ax.collections:
                    for x, y in ax.transData.transform(points.get_offsets()):
                        self.assertFalse(any(box.contains(x, y) for box in boxes[:len(shown)]), name)
                for text in shown:  # a line connects a distant name with its point
                    box = Text.get_window_extent(text, renderer).expanded(1, 1)
                    x, y = ax.transData.transform(text.xy)
                    away = np.hypot(max(box.x0 - x, 0, x - box.x1), max(box.y0 - y, 0, y - box.y1))
                    self.assertTrue(text.arrow_patch.get_visible() or away < 20, text)
                lines = [text.get_text() for text in ax.get_legend().get_texts()]
                self.assertRegex(lines[0], r"GB/s over the link, .*FLOP/s\n\(float(16|32)\) on gpu")
                self.assertEqual(ax.get_xlabel(), "FLOP per byte loaded or received")

    def test_a_plan_alone_has_no_roofline(self):
        with tempfile.NamedTemporaryFile("w", suffix=".plan") as file:
            sluice.load("phased_ipu_pair", {"workload.steps": 1}).plan().save(file.name)
            alone = sluice.load_plan(file.name).run()
        self.assertIn("Timeline", alone.plot.timeline().get_title(loc="left"))
        with self.assertRaisesRegex(sluice.InputError, "plan file"):
            alone.plot.roofline()


class Unseen(unittest.TestCase):
    def test_a_legend_omits_kinds_that_are_too_thin_in_every_strip(self):
        # Each of 5000 iterations has a forward pass of 1 ms and an update. In the first plan, an update takes 1 us. So
        # the bar of the updates is only a thousandth as high as the bar of the forward passes, and cannot be seen. In
        # the second plan, an update takes 100 us.
        for update_s, seen in (1e-6, False), (1e-4, True):
            builder = sluice.PlanBuilder("k40", "thin")
            builder.enter("body")
            builder.compute("gpu", 0, samples=1).takes(1e-3).done(1)
            builder.compute("gpu", 0, kind="update").takes(update_s)
            ax = builder.finish(5000).run().plot.timeline()
            names = [text.get_text() for text in ax.get_legend().get_texts()]
            self.assertIn("forward", names)
            self.assertEqual("update" in names, seen, names)


if __name__ == "__main__":
    unittest.main()
