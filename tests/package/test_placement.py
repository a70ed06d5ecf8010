#!/usr/bin/python3
"""Tests curves of placement from Python. A curve has the numbers of `sluice placement`, gives a table, pictures and
plans, and refuses wrong arguments."""

import contextlib
import csv
import io
import json
import math
import os
import pathlib
import subprocess
import tempfile
import typing
import unittest

from sluice_package import need, sluice

need("numpy", "pandas", "matplotlib")
import matplotlib  # noqa: E402

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402

ROOFLINE = {"cost.model": "roofline"}
SCENARIO = sluice.load("alexnet_x200", ROOFLINE)
CURVE = SCENARIO.placement(fast=[0.4, "80%", 1.0], nodes=0)


class Numbers(unittest.TestCase):
    def test_the_numbers_of_a_curve_equal_those_of_the_command(self):
        program = os.environ.get("SLUICE_PROGRAM")
        if not program:
            self.skipTest("SLUICE_PROGRAM does not name the program")
        words = [program, "placement", "alexnet_x200", "cost.model=roofline", "--nodes", "0"]
        said = json.loads(subprocess.run([*words, "--json", "--top", "1000"], capture_output=True, text=True).stdout)
        curve = SCENARIO.placement(nodes=0)
        self.assertEqual((curve.scenario, curve.cost_model, curve.device, curve.fast, curve.slow),
                         tuple(said[key] for key in ("scenario", "cost_model", "device", "fast", "slow")))
        self.assertEqual((curve.fast_capacity_bytes, curve.needed_bytes, curve.all_fast_s),
                         tuple(said[key] for key in ("fast_capacity_bytes", "needed_bytes", "all_fast_s")))
        table = curve.frame
        self.assertEqual(len(table), len(said["results"]))
        for row, result in zip(table.to_dict("records"), said["results"]):
            for key in set(row) - {"oracle_s", "refused"}:
                told = result.get(key)
                self.assertTrue(row[key] == told or (told is None and math.isnan(row[key])), (key, row[key], told))
            self.assertEqual(row["refused"], result.get("refused", ""))
        tensors = curve.tensors()
        self.assertEqual(tensors.attrs["fast_bytes"], said["worth"]["fast_bytes"])
        self.assertEqual(tensors.reset_index().to_dict("records"), said["worth"]["tensors"])

    def test_csv_has_the_columns_of_the_frame_and_those_of_autotm(self):
        program = os.environ.get("SLUICE_PROGRAM")
        if not program:
            self.skipTest("SLUICE_PROGRAM does not name the program")
        done = subprocess.run([program, "placement", "alexnet_x200", "cost.model=roofline", "--fast", "40%",
                               "--nodes", "0", "--csv"], capture_output=True, text=True)
        rows = list(csv.DictReader(io.StringIO(done.stdout)))
        self.assertEqual(list(rows[0]), list(CURVE.frame.columns))
        for column in ("predicted_s", "simulated_s", "moves_to_fast", "moves_to_slow", "bytes_to_fast", "bytes_to_slow",
                       "oracle_s"):
            self.assertTrue(all(row[column] for row in rows if row["way"] in ("static", "synchronous", "asynchronous")))

    def test_the_slowdown_is_a_time_over_that_of_all_fast_and_falls_with_memory_and_freedom(self):
        table = CURVE.frame
        seconds = table["simulated_s"].fillna(table["predicted_s"])
        self.assertTrue(np.allclose(table["slowdown"].dropna(), (seconds / CURVE.all_fast_s).dropna(), rtol=1e-12))
        searched = table.pivot(index="fast_bytes", columns="way", values="slowdown")
        for less, more in (("static", "synchronous"), ("synchronous", "asynchronous")):
            self.assertTrue((searched[more] <= searched[less]).all())
        for way in ("static", "synchronous", "asynchronous"):
            self.assertTrue((np.diff(searched[way]) <= 0).all())
        self.assertEqual(searched.loc[CURVE.needed_bytes, "all_fast"], 1)

    def test_worth_is_the_change_of_time_when_a_tensor_changes_its_memory(self):
        tensors = CURVE.tensors(0.8)
        full8 = tensors.loc["weights of full8"]
        self.assertEqual((full8["memory"], full8["class"]), ("gpu", "weight"))
        # `worth_s` is the seconds that the run would lose if the tensor were in host memory. Then the layer full8 would
        # read the tensor over PCIe 4.0 instead of from the card's memory. So the worth is a little less than the
        # seconds of a copy over PCIe 4.0.
        self.assertEqual(full8["bytes"], 200 * 1 * 4096 * 1000 * 4)
        link = SCENARIO.platform.bandwidth("host", "gpu")
        self.assertLess(full8["worth_s"], full8["bytes"] / link)
        self.assertGreater(full8["worth_s"], 0.9 * full8["bytes"] / link)
        self.assertTrue((tensors["worth_s"].diff().dropna() <= 0).all())


class Sizes(unittest.TestCase):
    def test_a_share_is_that_of_the_command_with_all_its_digits(self):
        for share, text in ((0.29, "29%"), (1e-7, "0.00001%"), (np.float32(0.5), "50%"), (1, "100%")):
            one, other = (SCENARIO.placement(fast, "all_slow").frame for fast in (share, text))
            self.assertEqual(one["fast_bytes"].tolist(), other["fast_bytes"].tolist(), text)
        many = SCENARIO.placement(np.array([0.1, 0.2]), ["all_slow"]).frame
        self.assertEqual(many["fast_share"].round(9).tolist(), [0.1, 0.2])
        both = SCENARIO.placement(["1:8", "10%..20%:5", "16GB"], ["all_slow"]).frame
        self.assertEqual(both["fast_share"].round(3).tolist(), [0.1, 0.111, 0.15, 0.2, 0.389])

    def test_without_sizes_the_commands_defaults_and_the_devices_own_size_are_used(self):
        table = SCENARIO.placement(ways="all_slow").frame
        self.assertEqual(len(table), 11)
        self.assertIn(24_000_000_000, table["fast_bytes"].tolist())


class Table(unittest.TestCase):
    def test_columns_have_types_and_units_and_the_table_is_fresh(self):
        table = CURVE.frame
        self.assertEqual(str(table["fast_bytes"].dtype), "int64")
        self.assertTrue(all(table[column].dtype == float for column in table.columns[2:-1]))
        units = table.attrs["units"]
        self.assertEqual((units["predicted_s"], units["bytes_to_fast"], units["fast_bytes"], units["gap"],
                          units["moves_to_fast"]), ("s", "byte", "byte", "1", "1"))
        self.assertEqual(set(units) | {"way", "refused"}, set(table.columns))
        table["slowdown"] = 0
        table.attrs["units"].clear()
        self.assertGreater(CURVE.frame["slowdown"].max(), 1)
        self.assertEqual(CURVE.frame.attrs["units"]["gap"], "1")

    def test_a_refused_placement_is_a_row_with_its_reason(self):
        row = CURVE.frame.iloc[0]
        self.assertEqual(row["way"], "all_fast")
        self.assertTrue(math.isnan(row["slowdown"]))
        self.assertIn("the largest tensors are weights of full6", row["refused"])
        self.assertEqual(repr(CURVE), "PlacementCurve of alexnet_x200: 21 results, 2 refused; 41.11 GB needed in gpu (fast) "
                                      "and host (slow) of gpu")


class Plans(unittest.TestCase):
    def test_a_plan_takes_the_time_of_the_table_with_both_executors_and_within_the_memory(self):
        table = CURVE.frame.set_index(["way", "fast_bytes"])
        for way in ("static", "synchronous", "asynchronous"):
            for share in (0.4, 0.8, 1.0):
                plan = CURVE.plan(way, share)
                run = plan.run(executor="both")
                row = table.loc[way, round(share * CURVE.needed_bytes)]
                self.assertAlmostEqual(run.metrics.makespan_s, row["simulated_s"], delta=1e-9 * row["simulated_s"])
                self.assertLessEqual(run.metrics.peak_bytes["gpu"], row.name[1])
                moves = plan.actions[plan.actions["kind"] == "move"]
                self.assertEqual(len(moves), row["moves_to_fast"] + row["moves_to_slow"])

    def test_the_cache_and_refused_ways_have_no_plan(self):
        with self.assertRaisesRegex(sluice.UsageError, "'cached' has no plan"):
            CURVE.plan("cached", 0.4)
        with self.assertRaisesRegex(sluice.UsageError, "'all_fast' has no plan at this size of fast memory: .*exceeds memory 'gpu'"):
            CURVE.plan("all_fast", 0.4)
        with self.assertRaisesRegex(sluice.UsageError, "'cached' has no placement"):
            CURVE.tensors(0.4, "cached")


class Pictures(unittest.TestCase):
    def tearDown(self):
        plt.close("all")

    def test_the_curve_has_a_line_for_each_way_and_a_cross_for_each_refusal(self):
        ax = CURVE.plot.slowdown()
        table = CURVE.frame
        lines = {line.get_label(): line for line in ax.lines}
        for way, rows in table.groupby("way"):
            fits = rows["slowdown"].notna()
            x, y = lines[way.replace("_", " ")].get_data()
            self.assertEqual(list(x), list(100 * rows["fast_share"][fits]))
            self.assertEqual(list(y), list(rows["slowdown"][fits]))
        crosses = [line for line in ax.lines if line.get_marker() == "x"]
        self.assertEqual(sum(len(line.get_xdata()) for line in crosses), 2)
        said = [text.get_text() for text in ax.get_legend().get_texts()]
        self.assertEqual(said[-2:], ["refused (2)", "the device's 24 GB"])
        self.assertEqual(ax.get_xlabel(), "of the tensors' bytes that fit into gpu (%)")

    def test_a_picture_of_some_ways_keeps_the_colours_and_a_logarithmic_axis_shows_the_sizes(self):
        everything = {line.get_label(): line.get_color() for line in CURVE.plot.slowdown().lines}
        ax = CURVE.plot.slowdown(ways=["static", "cached"], log=True, title="")
        some = {line.get_label(): line.get_color() for line in ax.lines if not line.get_label().startswith("_")}
        self.assertEqual({label: everything[label] for label in ("static", "cached")},
                         {label: some[label] for label in ("static", "cached")})
        self.assertEqual(list(ax.get_xticks()), [40.0, 80.0])
        self.assertEqual(ax.get_title("left"), "")

    def test_the_bars_show_the_seconds_that_tensors_are_worth(self):
        ax = CURVE.plot.tensors(fast=0.4, top=5)
        table = CURVE.tensors(0.4).head(5)
        self.assertEqual(sorted(bar.get_width() for bars in ax.containers for bar in bars), sorted(table["worth_s"]))
        self.assertEqual([tick.get_text().split("  ")[0] for tick in ax.get_yticklabels()], list(table.index))
        self.assertIn("(ms)", ax.get_xlabel())
        self.assertIn("(s)", CURVE.plot.tensors(unit="s").get_xlabel())


class Errors(unittest.TestCase):
    def test_errors_say_what_was_allowed(self):
        for error, arguments, says in (
                (sluice.UsageError, {"fast": 1.5}, "1.5 for 'fast': a number is a share of what is needed, from 0 to 1"),
                (sluice.UsageError, {"fast": float("nan")}, "nan for 'fast': a number is a share"),
                (sluice.UsageError, {"fast": []}, "an empty list for 'fast'"),
                (sluice.UsageError, {"fast": " "}, "an empty text for 'fast'"),
                (sluice.UsageError, {"fast": "50"}, "'50' for 'fast' is not a size of fast memory"),
                (sluice.UsageError, {"fast": "150%"}, "'150%' for 'fast' is more than what is needed"),
                (sluice.InputError, {"fast": {"x": 1}}, "for 'fast': expected a text, a number"),
                (sluice.InputError, {"ways": "statik"}, r"did you mean 'static'\?"),
                (sluice.UsageError, {"ways": []}, "an empty list for 'ways'"),
                (sluice.InputError, {"device": "gpu7"}, r"no device 'gpu7' \(did you mean 'gpu'\?\); it has gpu"),
                (sluice.UsageError, {"in_place": "20GB/s"}, "'20GB/s' for 'in_place': expected two rates above 0"),
                (sluice.UsageError, {"in_place": " "}, "an empty text for 'in_place'"),
                (sluice.UsageError, {"in_place": (20e9,)}, "'20000000000.0B/s' for 'in_place': expected two rates"),
                (sluice.UsageError, {"in_place": (20e9, 0)}, "for 'in_place': expected two rates above 0"),
                (sluice.UsageError, {"in_place": ()}, "for 'in_place': expected two rates above 0"),
                (sluice.InputError, {"in_place": 20e9}, "for 'in_place'"),
                (sluice.InputError, {"nodes": -1}, "-1 for 'nodes': expected an integer from 0 to 1000000000")):
            with self.subTest(**arguments), self.assertRaisesRegex(error, says):
                SCENARIO.placement(**arguments)
        with self.assertRaisesRegex(sluice.InputError, "'peak' does not count the bandwidths of memories"):
            sluice.load("alexnet_x200").placement()
        with self.assertRaisesRegex(sluice.UsageError, "0.5 for 'fast' is not one of the sizes of this curve: 40%, 80%, 100%"):
            CURVE.tensors(0.5)
        with self.assertRaisesRegex(sluice.UsageError, "'x' for 'way' is not a way of this curve; there are: all_fast"):
            CURVE.plan("x")
        with self.assertRaisesRegex(sluice.UsageError, "'x' for 'ways' is not a way of this curve"):
            CURVE.plot.slowdown(ways="x")
        with self.assertRaisesRegex(sluice.Error, "0 for 'top'"):
            CURVE.plot.tensors(top=0)

    def test_rates_of_in_place_may_be_a_text_or_numbers(self):
        peak = sluice.load("alexnet_resident", {"cost": "peak"})
        said, counted = (peak.placement("50%", ["all_slow", "static"], in_place=rates)
                         for rates in ("20GB/s:4.4GB/s", (20e9, 4.4e9)))
        self.assertEqual(said.in_place, (20e9, 4.4e9))
        self.assertEqual(counted.in_place, (20e9, 4.4e9))
        self.assertIsNone(CURVE.in_place)
        self.assertEqual(list(said.frame["slowdown"]), list(counted.frame["slowdown"]))
        # With all tensors in slow memory, a run takes longer than with all tensors in fast memory. If the rates of slow
        # memory are twice as high, this additional time is half as long.
        twice = peak.placement("50%", "all_slow", in_place=(40e9, 8.8e9))
        self.assertAlmostEqual((said.frame["slowdown"][0] - 1) / 2, twice.frame["slowdown"][0] - 1)

    def test_progress_is_reported_and_its_exception_ends_the_search(self):
        told = []
        SCENARIO.placement("10%..50%", ["all_slow", "static"], progress=lambda done, total: told.append((done, total)))
        self.assertEqual(told, [(done, 10) for done in range(11)])

        def stop(done, total):
            raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            SCENARIO.placement("10%..50%", progress=stop)

    def test_the_program_has_the_same_names_of_ways(self):
        self.assertEqual(list(dict.fromkeys(CURVE.frame["way"])), list(typing.get_args(sluice.words.Way)))


class Picture(unittest.TestCase):
    def test_the_command_draws_the_curve_into_a_file(self):
        from sluice import placement_picture
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "curve.png"
            words = ["alexnet_resident", "cost.model=roofline", "workload.batch=2", "--fast", "50%,100%", "--ways",
                     "static,first_touch", "-o", str(path)]
            self.assertEqual(placement_picture.main(words), 0)
            height, width, _ = plt.imread(path).shape
            self.assertGreater(width, height)
            axes = plt.gca()
            self.assertEqual({line.get_label() for line in axes.get_lines() if not line.get_label().startswith("_")},
                             {"static", "first touch"})
            plt.close("all")

    def test_an_error_is_reported_with_its_exit_code_and_without_a_picture(self):
        from sluice import placement_picture
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "curve.png"
            with contextlib.redirect_stderr(io.StringIO()) as said:
                code = placement_picture.main(["alexnet_residen", "-o", str(path)])
            self.assertEqual(code, 3)
            self.assertIn("alexnet_resident", said.getvalue())
            self.assertFalse(path.exists())


if __name__ == "__main__":
    unittest.main()
