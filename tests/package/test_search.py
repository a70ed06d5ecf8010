#!/usr/bin/python3
"""Tests that searches from Python agree with a formula, with a sweep, and with the command line."""

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from sluice_package import need, sluice

need("numpy", "pandas")

LINK = "platform.links.host.bandwidth"


def scenario():
    return sluice.load("alexnet_resident", {"workload.steps": 2, "policy.buffers": 2,
                                            "stages": {"cut": "whole"}})


class Search(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def test_a_search_and_a_sweep_find_the_same_best_batch_below_a_limit(self):
        found = sluice.maximise(scenario(), "throughput_samples_per_s", {"workload.batch": range(1, 65)},
                                subject_to="peak_bytes.gpu <= 400MB")
        frame = scenario().sweep({"workload.batch": list(range(1, 65))}, verify=0).frame
        fits = frame[frame["peak_bytes[gpu]"] <= 400e6]
        self.assertTrue(0 < len(fits) < len(frame))
        best = fits.loc[fits["throughput_samples_per_s"].idxmax()]
        self.assertEqual(found.changes, {"workload.batch": best["workload.batch"]})
        self.assertEqual(found.number, best["throughput_samples_per_s"])
        self.assertEqual(found.best["makespan_s"], best["makespan_s"])
        self.assertTrue(found.best["verified"])
        self.assertTrue(found.exhaustive)
        [share] = found.limits.values()
        self.assertAlmostEqual(share, 1 - best["peak_bytes[gpu]"] / 400e6)
        # A run executes every action, but a sweep leaves out repeated periods. So the last bits of the two results may
        # differ.
        makespan = found.scenario.run(executor="replay").metrics.makespan_s
        self.assertAlmostEqual(makespan, best["makespan_s"], delta=1e-12 * makespan)
        self.assertIn("all combinations", repr(found))

    def test_the_least_bandwidth_for_a_time_is_at_the_limit(self):
        found = sluice.minimise(scenario(), LINK, {LINK: ("1GB/s", "64GB/s")}, ["makespan_s<=350ms"])
        self.assertLess(found.limits["makespan_s<=350ms"], 1e-5)
        self.assertEqual(f"{found.number:.7g}GB/s", found.changes[LINK])
        slower = scenario().with_({LINK: f"{0.9999 * found.number}GB/s"}).run(executor="replay")
        self.assertGreater(slower.metrics.makespan_s, 350e-3)

    def test_lists_keep_the_values_that_were_given(self):
        found = sluice.minimise(scenario(), "makespan_s", {"policy.overlap": [True, False], "workload.batch": [4, 1]},
                                verify=False)
        self.assertEqual(found.changes, {"policy.overlap": True, "workload.batch": 1})
        self.assertEqual(len(found.points), 4)

    def test_a_search_with_failures_proves_nothing(self):
        found = sluice.minimise(scenario(), "makespan_s", {"workload.batch": [1, "x"]}, verify=False)
        self.assertFalse(found.exhaustive)
        self.assertIn("all combinations but the one that failed", repr(found))

    def test_the_command_line_and_python_share_a_store(self):
        store = self.folder / "study.db"
        over = {"workload.batch": (1, 4000), LINK: ("1GB/s", "64GB/s")}
        found = sluice.maximise(scenario(), "throughput_samples_per_s", over, "peak_bytes.gpu<=2GB",
                                points=60, store=store, verify=False)
        again = sluice.maximise(scenario(), "throughput_samples_per_s", over, "peak_bytes.gpu<=2GB",
                                points=60, store=store, verify=False)
        self.assertEqual(again._result.from_store, len(found.points))
        self.assertTrue(found.points.frame.equals(again.points.frame))
        program = os.environ.get("SLUICE_PROGRAM")
        if program:
            done = subprocess.run(
                [program, "search", "alexnet_resident", "workload.steps=2", "policy.buffers=2",
                 "stages={cut: whole}", "--maximise", "throughput_samples_per_s", "workload.batch=1..4000",
                 f"{LINK}=1GB/s..64GB/s", "--subject-to", "peak_bytes.gpu<=2GB", "--points", "60",
                 "--no-verify", "--json"], capture_output=True, text=True)
            answer = json.loads(done.stdout)
            self.assertEqual(answer["found"]["number"], found.number)
            self.assertEqual(len(answer["points"]), len(found.points))

    def test_a_search_by_optuna_finds_nearly_the_best_point(self):
        need_optuna = __import__("importlib").util.find_spec("optuna")
        if need_optuna is None:
            self.skipTest("python3-optuna is not installed")
        over = {"workload.batch": range(1, 513), "policy.overlap": [True, False]}
        whole = sluice.maximise(scenario(), "throughput_samples_per_s", over, "peak_bytes.gpu<=1GB",
                                points=2000)
        self.assertTrue(whole.exhaustive)
        runs = [sluice.maximise(scenario(), "throughput_samples_per_s", over, "peak_bytes.gpu<=1GB",
                                points=60, by="optuna", seed=3, store=self.folder / "o.db") for _ in range(2)]
        self.assertTrue(runs[0].points.frame["workload.batch"].equals(runs[1].points.frame["workload.batch"]))
        self.assertEqual(runs[1]._result.from_store, len(runs[0].points))
        self.assertLessEqual(len(runs[0].points), 60)
        self.assertLessEqual(runs[0].best["peak_bytes[gpu]"], 1e9)
        self.assertLessEqual(runs[0].number, whole.number)
        self.assertGreater(runs[0].number, 0.97 * whole.number)

    def test_errors_say_what_to_do(self):
        for metric, over, limits, says in (
                ("makespan", {"workload.batch": [1]}, (), "did you mean 'makespan_s'"),
                ("makespan_s", {}, (), "no key is varied"),
                ("makespan_s", [("workload.batch", 1)], (), "a mapping of keys"),
                ("makespan_s", {"workload.batch": 4}, (), "are not a list"),
                ("makespan_s", {"workload.batch": (1, 2, 3)}, (), "give a tuple .lo, hi."),
                ("makespan_s", {"workload.batch": []}, (), "no value is given for 'workload.batch'"),
                ("makespan_s", {"workload.batch": range(5, 5)}, (), "no value is given for 'workload.batch'"),
                ("makespan_s", {"workload.dtype": ("float16", "float32")}, (), "not numbers"),
                ("makespan_s", {"workload.batch": (1, 300)}, "makespan_s", "is not a limit"),
                ("makespan_s", {"workload.batch": [1, 2]}, "peak_bytes.gpus<=1GB", "did you mean 'peak_bytes.gpu'")):
            with self.assertRaisesRegex(sluice.UsageError, says):
                sluice.minimise(scenario(), metric, over, limits)
        with self.assertRaisesRegex(sluice.UsageError, "expected 'nlopt' or 'optuna'"):
            sluice.minimise(scenario(), "makespan_s", {"workload.batch": [1]}, by="luck")
        with self.assertRaisesRegex(sluice.InputError, "no such"):
            sluice.minimise("no such", "makespan_s", {"workload.batch": [1]})
        with self.assertRaisesRegex(sluice.InputError, "did you mean 'batch'"):
            sluice.minimise(scenario(), "makespan_s", {"workload.bach": (1, 300)})
        nothing = sluice.minimise(scenario(), "makespan_s", {"workload.batch": [1, 2]}, "makespan_s<=1us")
        self.assertIn("nothing that keeps makespan_s<=1us", repr(nothing))
        with self.assertRaisesRegex(sluice.Infeasible, "no point keeps all limits"):
            nothing.changes


if __name__ == "__main__":
    unittest.main()
