#!/usr/bin/python3
"""Pictures show what the numbers say."""

import tempfile
import unittest

from sluice_package import need, sluice

need("numpy", "pandas", "matplotlib")
import matplotlib  # noqa: E402

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402

RESULT = sluice.load("alexnet_x200").run()
SMALL = sluice.load("phased_ipu_pair", {"workload.batches_per_step": 3, "workload.steps": 2}).run()


class Pictures(unittest.TestCase):
    def tearDown(self):
        plt.close("all")

    def test_a_timeline_has_a_row_a_stream_with_its_bars(self):
        ax = SMALL.plot.timeline()
        streams = SMALL.spans["stream"].cat.categories
        self.assertEqual([label.get_text() for label in ax.get_yticklabels()],
                         sorted(streams, key=lambda s: (s[:4], "compute" not in s, s)))
        self.assertEqual(ax.get_xlabel(), "time (ms)")
        self.assertAlmostEqual(ax.get_xlim()[1], 1e3 * SMALL.metrics.makespan_s, 9)
        bars = sum(len(bars.get_paths()) for bars in ax.collections)
        dots = len(ax.images)
        self.assertTrue(bars + dots >= 6 and bars <= len(SMALL.spans))
        self.assertIn("phased_ipu_pair", ax.get_title(loc="left"))
        self.assertEqual({text.get_text() for text in ax.get_legend().get_texts()},
                         set(SMALL.spans["kind"].unique()))

    def test_a_strip_is_as_strong_as_its_stream_is_busy(self):
        # 900 inputs of 4 ms each, 590 beside computations of 6.3 ms: the strip's mean is their share.
        ax = RESULT.plot.timeline()
        row = [label.get_text() for label in ax.get_yticklabels()].index("gpu.host.down")
        strip = next(image for image in ax.images if abs(np.mean(image.get_extent()[2:]) - row) < 1e-9)
        spans = RESULT.spans[RESULT.spans["stream"] == "gpu.host.down"]
        seconds = spans["end"] - spans["start"]
        narrow = seconds < 2 * RESULT.metrics.makespan_s / 1500
        shown = strip.get_array()[0, :, 3].mean() * RESULT.metrics.makespan_s
        self.assertAlmostEqual(shown, seconds[narrow].sum(), delta=0.02)

    def test_memory_adds_up_to_the_level_and_shows_the_capacity(self):
        ax = RESULT.plot.memory()
        self.assertEqual(ax.get_ylabel(), "in gpu (GB)")
        top = max(path.vertices[:, 1].max() for area in ax.collections for path in area.get_paths())
        self.assertAlmostEqual(top, RESULT.metrics.peak_bytes["gpu"] / 1e9, 6)
        self.assertIn("capacity 24 GB", [text.get_text() for text in ax.texts])
        with self.assertRaisesRegex(sluice.InputError, "gpu, host"):
            RESULT.plot.memory("gup")

    def test_utilisation_says_the_mean_of_each_stream(self):
        figure = RESULT.plot.utilisation().figure
        said = [text.get_text() for ax in figure.axes for text in ax.texts]
        self.assertEqual(said[0], f"{100 * RESULT.metrics.compute_utilisation:.3g} % busy")
        _, ax = plt.subplots()
        self.assertIs(RESULT.plot.utilisation(ax=ax), ax)

    def test_no_stage_is_above_the_roof(self):
        for result in (RESULT, SMALL):
            ax = result.plot.roofline()
            roof_x, roof_y = ax.lines[0].get_data()
            for points in ax.collections:
                for x, y in points.get_offsets():
                    roof = np.exp(np.interp(np.log(x), np.log(roof_x), np.log(roof_y)))
                    self.assertLessEqual(y, roof * 1.001)
            plt.close("all")

    def test_a_plan_alone_has_no_roofline(self):
        with tempfile.NamedTemporaryFile("w", suffix=".plan") as file:
            sluice.load("phased_ipu_pair", {"workload.steps": 1}).plan().save(file.name)
            alone = sluice.load_plan(file.name).run()
        self.assertIn("Timeline", alone.plot.timeline().get_title(loc="left"))
        with self.assertRaisesRegex(sluice.InputError, "plan alone"):
            alone.plot.roofline()


if __name__ == "__main__":
    unittest.main()
