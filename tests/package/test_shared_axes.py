#!/usr/bin/python3
"""Tests that pictures side by side can be compared: they have common axes, one unit, and one meaning per colour. Also
tests the widths, fonts and colours that papers need."""

import itertools
import pickle
import unittest

from sluice_package import need, sluice

need("numpy", "pandas", "matplotlib")
import matplotlib  # noqa: E402

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402

from sluice import _colours, timeline  # noqa: E402

KEY = "platform.links.host.bandwidth"
TRAINING = sluice.Scenario.from_dict({
    "model": "vgg16", "platform": "gtx980", "policy": "resident",
    "workload": {"mode": "training", "batch": 20, "optimizer": "adam"}})
FATES = ("sqrt", "optimal", "recompute_all", "offload_all", "selective")
# Some of these runs take less than 1 s, and some take longer. In a picture of one run alone, the axis is in ms if the
# run takes less than 1 s, and otherwise in s.
RUNS = {fate: TRAINING.with_({"fates.strategy": fate, "workload.batch": 26 if fate == "sqrt" else 20}).run()
        for fate in FATES}
SHORT = sluice.load("phased_ipu_pair", {"workload.batches_per_step": 3, "workload.steps": 2}).run()
LONG = sluice.load("alexnet_x200").run()


def right_end(ax):
    """Returns how far the areas in the picture of a memory reach to the right, as a time on the axis."""
    return max(path.vertices[:, 0].max() for area in ax.collections for path in area.get_paths())


def written(axis):
    """Returns (position, number) of each visible tick. The number is in the unit that the label of the axis names."""
    axis.axes.figure.canvas.draw()
    low, high = sorted(axis.get_view_interval())
    return [(place, float(text.get_text())) for place, text in zip(axis.get_ticklocs(), axis.get_ticklabels())
            if low <= place <= high]


class SharedAxes(unittest.TestCase):
    def tearDown(self):
        plt.close("all")

    def test_five_panels_of_different_length_share_one_axis_in_seconds(self):
        seconds = {fate: result.metrics.makespan_s for fate, result in RUNS.items()}
        self.assertTrue(min(seconds.values()) < 1 < max(seconds.values()), seconds)
        for order in (FATES, FATES[::-1]):
            figure, axes = plt.subplots(5, sharex=True)
            for ax, fate in zip(axes, order):
                RUNS[fate].plot.memory(ax=ax)
                self.assertAlmostEqual(right_end(ax), seconds[fate], 9)
            for ax in axes:
                self.assertEqual(ax.get_xlim(), (0, max(seconds.values())))
            self.assertEqual([ax.get_xlabel() for ax in axes], ["", "", "", "", "time (s)"])
            for place, number in written(axes[-1].xaxis):
                self.assertAlmostEqual(place, number, 9)
            plt.close(figure)

    def test_each_picture_grows_shared_limits_and_shrinks_none(self):
        for draw in ("timeline", "memory", "utilisation"):
            for first, last in ((SHORT, LONG), (LONG, SHORT)):
                _, axes = plt.subplots(1, 2, sharex=True, sharey=draw == "memory")
                getattr(first.plot, draw)(ax=axes[0])
                getattr(last.plot, draw)(ax=axes[1])
                self.assertEqual(axes[0].get_xlim(), (0, LONG.metrics.makespan_s))
                self.assertEqual([ax.get_xlabel() for ax in axes], ["time (s)", "time (s)"])
        self.assertGreater(LONG.plot.memory().get_ylim()[1], 23e9)
        for order in ((SHORT, LONG), (LONG, SHORT)):
            _, axes = plt.subplots(2, sharex=True, sharey=True)
            for ax, result in zip(axes, order):
                result.plot.memory(ax=ax)
            self.assertGreater(axes[0].get_ylim()[1], 24e9)
            self.assertTrue(all(ax.get_ylabel().endswith("(GB)") for ax in axes))
        ax = plt.subplots()[1]
        ax.set_xlim(0, 60)  # the caller's limits are kept
        self.assertEqual(LONG.plot.timeline(ax=ax).get_xlim(), (0, 60))
        ax = plt.subplots()[1]
        ax.plot([0, 10], [0, 1])
        self.assertLessEqual(ax.get_xlim()[0], 0)
        self.assertGreaterEqual(LONG.plot.utilisation(ax=ax).get_xlim()[1], 10)

    def test_rooflines_and_curves_side_by_side_show_all_of_both(self):
        training = sluice.load("alexnet_x200_training").run()
        limits = [result.plot.roofline().get_xlim() for result in (LONG, training)]
        _, axes = plt.subplots(1, 2, sharex=True, sharey=True)
        for ax, result in zip(axes, (LONG, training)):
            result.plot.roofline(ax=ax)
        self.assertEqual(axes[0].get_xlim(), (min(low for low, _ in limits), max(high for _, high in limits)))
        sweeps = [sluice.load("phased_ipu_pair", {"workload.batches_per_step": count})
                  .sweep({KEY: ["16GB/s", "64GB/s"]}) for count in (20, 2)]
        _, axes = plt.subplots(1, 2, sharey=True)
        for ax, sweep in zip(axes, sweeps):
            sweep.plot.curve(KEY, "step_s", ax=ax)
        self.assertGreater(axes[0].get_ylim()[1], sweeps[0].frame["step_s"].max())
        self.assertEqual(axes[0].get_ylim()[0], 0)

    def test_the_unit_follows_the_axis_and_the_ticks_are_true(self):
        ax = LONG.plot.timeline()
        self.assertEqual(ax.get_xlabel(), "time (s)")
        ax.set_xlim(5.2, 5.201)
        self.assertEqual(ax.get_xlabel(), "time (ms)")
        ticks = written(ax.xaxis)
        self.assertEqual(len({number for _, number in ticks}), len(ticks))
        for place, number in ticks:
            self.assertAlmostEqual(1e3 * place, number, 6)
        ax.set_xlabel("mine")
        ax.set_xlim(0, 6)
        self.assertEqual(ax.get_xlabel(), "mine")
        pickle.loads(pickle.dumps(ax.figure))

    def test_a_requested_unit_is_used(self):
        for unit, factor in (("ms", 1e3), ("us", 1e6), ("µs", 1e6), ("ns", 1e9), ("s", 1)):
            for draw in ("timeline", "memory", "utilisation"):
                figure = getattr(LONG.plot, draw)(unit=unit).figure
                ax = figure.axes[-1]
                self.assertEqual(ax.get_xlabel(), f"time ({unit.replace('us', 'µs')})")
                for place, number in written(ax.xaxis):
                    self.assertAlmostEqual(place * factor / number if number else 1, 1, 6)
                plt.close(figure)
        ax = LONG.plot.memory(bytes_unit="MB")
        self.assertEqual(ax.get_ylabel(), "in gpu (MB)")
        self.assertEqual(written(ax.yaxis)[1], (5e9, 5000))
        ax = LONG.plot.roofline(unit="GFLOP/s")
        self.assertEqual(ax.get_ylabel(), "GFLOP/s")
        ax.figure.canvas.draw()
        for place, text in zip(ax.get_yticks(), ax.get_yticklabels()):
            self.assertAlmostEqual(place / 1e9 / float(text.get_text()), 1, 6)
        sweep = sluice.load("phased_ipu_pair", {"workload.batches_per_step": 2}).sweep({KEY: ["16GB/s", "64GB/s"]})
        ax = sweep.plot.curve(KEY, "step_s", unit="ms")
        self.assertEqual(ax.get_ylabel(), "step_s (ms)")
        self.assertTrue(np.allclose(ax.lines[0].get_ydata(), 1e3 * sweep.frame["step_s"]))
        for draw in (lambda: LONG.plot.timeline(unit="min"), lambda: LONG.plot.memory(bytes_unit="GiB"),
                     lambda: LONG.plot.roofline(unit="FLOP"),
                     lambda: sweep.plot.curve(KEY, "step_s", unit="GB"),
                     lambda: sweep.plot.curve(KEY, "compute_utilisation", unit="ms")):
            self.assertRaisesRegex(sluice.UsageError, "unit=", draw)


class ForAPaper(unittest.TestCase):
    def setUp(self):
        sweep = sluice.load("phased_ipu_pair", {"workload.batches_per_step": 2}).sweep(
            {KEY: ["16GB/s", "64GB/s"], "workload.steps": [1, 2]})
        self.draws = [LONG.plot.timeline, LONG.plot.memory, LONG.plot.utilisation, LONG.plot.roofline,
                      lambda **look: sweep.plot.curve(KEY, "step_s", by="workload.steps", **look),
                      lambda **look: sweep.plot.heatmap(KEY, "workload.steps", "step_s", **look)]

    def tearDown(self):
        plt.close("all")

    def test_title_legend_and_figsize_are_honoured_by_every_picture(self):
        for number, draw in enumerate(self.draws):
            ax = draw(title="", legend=False, figsize=(4.5, 3.25))
            self.assertEqual(ax.get_title(loc="left"), "", number)
            self.assertIsNone(ax.get_legend(), number)
            self.assertEqual(tuple(ax.figure.get_size_inches()), (4.5, 3.25))
            self.assertEqual(draw(title="Mine").get_title(loc="left"), "Mine")
            with self.assertRaisesRegex(sluice.UsageError, "figsize"):
                draw(ax=plt.subplots()[1], figsize=(1, 1))
            plt.close("all")
        for draw in self.draws[:2] + self.draws[3:5]:
            self.assertEqual(draw(legend="lower right").get_legend()._loc, 4)

    def test_streams_can_be_chosen(self):
        ax = LONG.plot.timeline(streams=["gpu.host.down", "gpu.compute"])
        self.assertEqual([text.get_text() for text in ax.get_yticklabels()], ["gpu.host.down", "gpu.compute"])
        self.assertEqual([text.get_text() for text in ax.get_legend().get_texts()][:2], ["forward", "load"])
        self.assertEqual(len(LONG.plot.utilisation(streams="gpu.compute").figure.axes), 1)
        with self.assertRaisesRegex(sluice.InputError, "did you mean 'gpu.compute'"):
            LONG.plot.timeline(streams=["gpu.compote"])
        with self.assertRaisesRegex(sluice.InputError, "'streams' is empty"):
            LONG.plot.timeline(streams=[])

    def test_the_legend_names_what_is_seen_from_the_top_of_the_stack_down(self):
        ax = RUNS["sqrt"].plot.memory()
        named = [text.get_text() for text in ax.get_legend().get_texts()]
        self.assertEqual(named, ["activation", "gradient", "optimizer", "weight"])
        drawn = {area.get_label(): max(path.vertices[:, 1].max() for path in area.get_paths())
                 for area in ax.collections}
        heights = [drawn[name] for name in named]
        self.assertEqual(heights, sorted(heights, reverse=True))
        self.assertIn("output", drawn)  # a class with 0.08 MB is too thin to be seen
        peak = RUNS["sqrt"].memory
        self.assertLess(peak[peak["class"] == "output"]["delta"].max(), ax.get_ylim()[1] / 200)

    def test_pages_have_the_width_of_their_columns_and_no_title_by_default(self):
        for columns, width in ((1, 3.33), (2, 7.0)):
            with sluice.paper(columns=columns):
                for draw in self.draws:
                    ax = draw()
                    self.assertAlmostEqual(ax.figure.get_size_inches()[0], width)
                    self.assertEqual(ax.get_title(loc="left"), "")
                self.assertEqual(self.draws[0](title="Mine").get_title(loc="left"), "Mine")
                self.assertEqual(plt.rcParams["pdf.fonttype"], 42)
                self.assertAlmostEqual(plt.figure().get_size_inches()[0], width)
                ax = RUNS["sqrt"].plot.memory()
                ax.figure.canvas.draw()
                legend = ax.get_legend().get_window_extent()
                self.assertTrue(legend.x1 <= ax.figure.bbox.x1 and legend.y1 <= ax.figure.bbox.y1)
                self.assertFalse(legend.overlaps(ax.get_window_extent()))
            plt.close("all")
        self.assertIn("Timeline", LONG.plot.timeline().get_title(loc="left"))
        self.assertNotEqual(plt.rcParams["pdf.fonttype"], 42)
        for wrong in ({"columns": 3}, {"width": 0}, {"width": float("nan")}):
            with self.assertRaises(sluice.UsageError), sluice.paper(**wrong):
                pass
        for wrong in (0, 3, 1.5, "1", None, True):
            with self.assertRaisesRegex(sluice.UsageError, "^columns=.*width="), sluice.paper(columns=wrong):
                pass

    def test_a_wrong_unit_is_reported_with_its_argument(self):
        for argument, draw in (("bytes_unit", RUNS["sqrt"].plot.memory), ("unit", RUNS["sqrt"].plot.memory),
                               ("unit", RUNS["sqrt"].plot.timeline), ("unit", RUNS["sqrt"].plot.roofline)):
            with self.assertRaisesRegex(sluice.UsageError, f"^{argument}='furlong': expected one of"):
                draw(**{argument: "furlong"})

    def test_the_error_for_an_unknown_picture_lists_the_known_pictures(self):
        runs = sluice.compare({"a": LONG, "b": SHORT})
        for plots in (LONG.plot, runs.plot):
            with self.assertRaisesRegex(AttributeError, "'timelin' .did you mean 'timeline'.*memory"):
                plots.timelin()
            self.assertFalse(hasattr(plots, "_repr_png_"))

    def test_numbers_are_only_in_bars_that_have_room(self):
        ax = SHORT.plot.timeline()
        ax.figure.canvas.draw()
        renderer = ax.figure.canvas.get_renderer()
        fits = [text for text in ax.texts if text.has_room(renderer)]
        self.assertTrue(fits)
        ax.set_xlim(0, 20 * SHORT.metrics.makespan_s)
        ax.figure.canvas.draw()
        self.assertLess(len([text for text in ax.texts if text.has_room(renderer)]), len(fits))


def lab(colour):
    """Returns the coordinates of an sRGB colour in CIE L*a*b* (D65)."""
    rgb = np.array(matplotlib.colors.to_rgb(colour))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]) @ linear
    f = np.cbrt(xyz / [0.9505, 1.0, 1.089])
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def contrast(one, other):
    """Returns the contrast ratio of the two colours, as WCAG 2.1 defines it."""
    light, dark = sorted((_colours._luminance(one), _colours._luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


class Colours(unittest.TestCase):
    def tearDown(self):
        plt.close("all")

    def test_a_colour_has_one_meaning_on_a_page(self):
        for style in ("default", "dark_background"):
            with plt.style.context(style):
                ax = plt.subplots()[1]
                compared = {f"line {number}": _colours.compared(number, ax) for number in range(8)}
                for colour in compared.values():
                    self.assertGreater(contrast(colour, _colours.ground(ax)), 2.5, (style, colour))
            families = [_colours.KINDS, _colours.CLASSES, compared]
            for one, other in itertools.combinations(families, 2):
                for (name, colour), (other_name, other_colour) in itertools.product(one.items(), other.items()):
                    self.assertGreater(np.linalg.norm(lab(colour) - lab(other_colour)), 15, (name, other_name))
            for family in (_colours.CLASSES, compared):
                for one, other in itertools.combinations(family.values(), 2):
                    self.assertGreater(np.linalg.norm(lab(one) - lab(other)), 15, (one, other))

    def test_a_legend_has_each_colour_once(self):
        ax = plt.subplots()[1]
        said = timeline.handles(ax, set(_colours.KINDS), True, True)
        colours = [matplotlib.colors.to_hex(one.get_facecolor()) for one in said[:-1]]
        self.assertEqual(len(colours), len(set(colours)))
        self.assertEqual(said[1].get_label(), "backward,\nbackward input")  # two kinds share the colour of this entry
        self.assertEqual({name for one in said[:-2] for name in one.get_label().split(",\n")},
                         {kind.replace("_", " ") for kind in _colours.KINDS})
        self.assertEqual({_colours.KINDS[kind] for kind in ("all_reduce", "all_gather", "all_to_all")}
                         & {_colours.KINDS[kind] for kind in ("send", "backward_weight", "move")}, set())

    def test_the_page_of_a_timeline_and_a_memory_repeats_no_colour(self):
        _, (top, bottom) = plt.subplots(2, sharex=True)
        RUNS["sqrt"].plot.timeline(ax=top)
        RUNS["sqrt"].plot.memory(ax=bottom)
        handles = [handle for ax in (top, bottom) for handle in ax.get_legend().legendHandles
                   if hasattr(handle, "get_facecolor")]
        colours = [matplotlib.colors.to_hex(handle.get_facecolor()) for handle in handles]
        self.assertEqual(len(colours), len(set(colours)), colours)

    def test_pictures_are_readable_with_dark_styles(self):
        for style in ("dark_background", "default"):
            with plt.style.context(style):
                for draw in (RUNS["sqrt"].plot.timeline, RUNS["sqrt"].plot.memory, LONG.plot.utilisation,
                             LONG.plot.roofline, lambda: LONG.plot.utilisation(ax=plt.subplots()[1])):
                    ax = draw()
                    ground = _colours.ground(ax)
                    texts = [*(text for text in ax.texts if not hasattr(text, "bar")),
                             *(ax.get_legend().get_texts() if ax.get_legend() else [])]
                    for text in texts:
                        self.assertGreater(contrast(text.get_color(), ground), 7, (style, text))
                    for line in ax.lines:
                        self.assertGreater(contrast(line.get_color(), ground), 3, (style, line))
                    for handle in ax.get_legend().legendHandles if ax.get_legend() else []:
                        if isinstance(handle, matplotlib.patches.Patch):
                            self.assertGreater(contrast(handle.get_facecolor(), ground), 1.14, (style, handle))
                    plt.close("all")


if __name__ == "__main__":
    unittest.main()
