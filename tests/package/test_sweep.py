#!/usr/bin/python3
"""Sweeps from Python: the same numbers whoever computes them, rows for what is refused, pictures."""

import functools
import logging
import multiprocessing
import os
import tempfile
import unittest
import warnings
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

from sluice_package import need, sluice

need("numpy", "pandas", "matplotlib", "xarray")

from sluice import _workers  # noqa: E402

GRID = {"workload.batch": [1, 4, 16], "platform.links.host.bandwidth": ["4GB/s", "16GB/s"]}
FATAL = "workload.batch=7"


def scenario():
    return sluice.load("alexnet_resident", {"workload.steps": 2, "policy.buffers": 2,
                                            "stages": {"cut": "whole"}})


class Deadly:
    """Variants of a scenario that end their process at one point."""

    def __init__(self, variants):
        self._variants = variants

    def ask(self, overrides):
        if FATAL in overrides:
            os._exit(11)
        return self._variants.ask(overrides)


def be_deadly():
    real = _workers._variants
    _workers._variants = lambda text, path: Deadly(real(text, path))


def deadly_pool(count):
    return ProcessPoolExecutor(count, mp_context=multiprocessing.get_context("spawn"),
                               initializer=be_deadly)


class Sweep(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def test_a_row_is_what_run_says(self):
        frame = scenario().sweep(GRID, verify=1).frame
        self.assertEqual(list(frame["workload.batch"]), [1, 1, 4, 4, 16, 16])
        self.assertTrue(frame["verified"].all())
        for _, row in frame.iterrows():
            changed = scenario().with_({key: row[key] for key in GRID})
            metrics = changed.run(executor="replay").metrics
            self.assertEqual(row["makespan_s"], metrics["makespan_s"])
            self.assertEqual(row["peak_bytes[gpu]"], metrics["peak_bytes"]["gpu"])
        self.assertEqual(frame.attrs["units"]["makespan_s"], "s")

    def test_whoever_works_the_table_is_the_same(self):
        expected = scenario().sweep(GRID, verify=0).frame
        with ThreadPoolExecutor(2) as threads:
            for workers in (1, 2, threads):
                found = scenario().sweep(GRID, workers=workers, verify=0).frame
                self.assertTrue(expected.equals(found), workers)

    def test_dask(self):
        try:
            from distributed import Client, LocalCluster
        except ImportError:
            self.skipTest("python3-distributed is not installed")
        warnings.simplefilter("ignore", DeprecationWarning)
        logging.disable(logging.CRITICAL)  # that a worker died is what is tested
        self.addCleanup(logging.disable, logging.NOTSET)
        expected = scenario().sweep(GRID, verify=0).frame
        with LocalCluster(n_workers=2, threads_per_worker=1, host="127.0.0.1",
                          dashboard_address=None) as cluster, Client(cluster) as client:
            found = scenario().sweep(GRID, workers=client.get_executor(), verify=0).frame
            self.assertTrue(expected.equals(found))
            client.run(be_deadly)  # not of the worker that takes the place of the one that dies
            frame = scenario().sweep({"workload.batch": [7, *range(100, 200)]},
                                     workers=client.get_executor(), verify=0).frame
        self.assertTrue((frame["status"] == "complete").all())

    def assert_only_the_deadly_point_failed(self, frame):
        failed = frame[frame["status"] == "failed"]
        self.assertEqual(list(failed["workload.batch"]), [7])
        self.assertIn("did not answer", failed["reason"].iloc[0])
        self.assertEqual((frame["status"] == "complete").sum(), len(frame) - 1)

    def test_a_point_that_ends_its_process_is_a_row(self):
        usual, _workers._pool = _workers._pool, deadly_pool
        self.addCleanup(functools.partial(setattr, _workers, "_pool", usual))
        frame = scenario().sweep({"workload.batch": list(range(1, 41))}, workers=2, verify=0).frame
        self.assert_only_the_deadly_point_failed(frame)

    def test_an_executor_that_broke_leaves_rows(self):
        with deadly_pool(1) as pool, self.assertRaisesRegex(sluice.InputError, "did not answer"):
            scenario().sweep({"workload.batch": [7, 8]}, workers=pool, verify=0,
                             store=self.folder / "s.db")
        again = scenario().sweep({"workload.batch": [7, 8]}, verify=0, retry_failed=True,
                                 store=self.folder / "s.db").frame
        self.assertEqual(list(again["status"]), ["complete", "complete"])

    def test_a_store_is_shared_with_the_command_line(self):
        store = self.folder / "study.db"
        first = scenario().sweep(GRID, store=store).frame
        asked = []
        second = scenario().sweep(GRID, store=store, workers=1,
                                  progress=lambda done, total: asked.append(done)).frame
        self.assertEqual(asked, [])
        self.assertTrue(first.equals(second))
        program = os.environ.get("SLUICE_PROGRAM")
        if program:
            import subprocess
            words = [f"{key}={','.join(map(str, values))}" for key, values in GRID.items()]
            done = subprocess.run(
                [program, "sweep", "alexnet_resident", "workload.steps=2", "policy.buffers=2",
                 "stages={cut: whole}", *words, "--store", store, "--verify", "0"],
                capture_output=True, text=True)
            self.assertIn("6 points taken from the store", done.stdout, done.stderr)

    def test_what_does_not_fit_is_a_row_and_drawn(self):
        import matplotlib
        matplotlib.use("Agg")
        sweep = scenario().sweep({"workload.batch": [1, 64, 100000],
                                  "platform.devices.gpu.memory.capacity": ["1GB", "12GB"]}, verify=0)
        frame = sweep.frame
        self.assertEqual(list(frame["status"][frame["workload.batch"] == 100000]), ["infeasible"] * 2)
        self.assertIn("infeasible", sweep.refusals())
        key = "platform.devices.gpu.memory.capacity"
        curve = sweep.plot.curve("workload.batch", "throughput_samples_per_s", by=key, log="x")
        self.assertEqual(len(curve.get_legend().get_texts()), 2)
        crosses = [line for line in curve.lines if line.get_marker() == "x"]
        self.assertEqual(sum(len(line.get_xdata()) for line in crosses),
                         (frame["status"] != "complete").sum())
        heat = sweep.plot.heatmap("workload.batch", key, "throughput_samples_per_s")
        self.assertEqual(len([p for p in heat.patches if p.get_hatch()]),
                         (frame["status"] != "complete").sum())

    def test_best_pareto_and_xarray(self):
        sweep = scenario().sweep(GRID, verify=0)
        frame = sweep.frame
        self.assertEqual(sweep.best("throughput_samples_per_s").name,
                         frame["throughput_samples_per_s"].idxmax())
        self.assertEqual(sweep.best("makespan_s").name, frame["makespan_s"].idxmin())
        front = sweep.pareto("makespan_s", "throughput_samples_per_s")
        for i in frame.index:
            beaten = ((frame["makespan_s"] <= frame["makespan_s"][i])
                      & (frame["throughput_samples_per_s"] > frame["throughput_samples_per_s"][i]))
            self.assertEqual(i in front.index, not beaten.any())
        data = sweep.to_xarray()
        self.assertEqual(data["makespan_s"].dims, tuple(GRID))
        self.assertEqual(float(data["makespan_s"].sel({"workload.batch": 4,
                                                       "platform.links.host.bandwidth": "16GB/s"})),
                         frame["makespan_s"][3])
        self.assertEqual(list(data["platform.links.host.bandwidth"].values), ["4GB/s", "16GB/s"])

    def test_zip_and_points(self):
        zipped = scenario().sweep({"workload.batch": [1, 4], "policy.overlap": [True, False]},
                                  over="zip", verify=0).frame
        listed = scenario().sweep([{"workload.batch": 1, "policy.overlap": True},
                                   {"workload.batch": 4, "policy.overlap": False}],
                                  over="points", verify=0).frame
        self.assertEqual(len(zipped), 2)
        self.assertTrue(zipped.equals(listed))

    def test_errors_say_what_to_do(self):
        for changes, over, says in (({"workload.batch": 4}, "grid", "are not a list"),
                                    ({"workload.batch": "1,2"}, "grid", "are not a list"),
                                    ([1, 2], "grid", "mapping of keys to lists"),
                                    ({"workload.batch": [1]}, "gird", "expected 'grid'"),
                                    ([{"a": 1}, {"b": 2}], "points", "the same keys"),
                                    ({"a": [1], "b": [1, 2]}, "zip", "'a' has 1 and 'b' has 2")):
            with self.assertRaisesRegex(sluice.UsageError, says):
                scenario().sweep(changes, over=over)
        with self.assertRaisesRegex(sluice.InputError, "did you mean 'batch'"):
            scenario().sweep({"workload.bach": [1, 2]})
        with self.assertRaisesRegex(sluice.UsageError, "neither better nor worse"):
            scenario().sweep(GRID, verify=0).best("flop")
        sweep = scenario().sweep(GRID, verify=0)
        with self.assertRaisesRegex(sluice.UsageError, "neither a key nor a metric"):
            sweep.plot.curve("batch", "makespan_s")
        with self.assertRaises(sluice.InputError):
            (self.folder / "text.db").write_text("x" * 5000)
            scenario().sweep(GRID, store=self.folder / "text.db")


if __name__ == "__main__":
    unittest.main()
