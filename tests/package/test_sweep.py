#!/usr/bin/python3
"""Tests that sweeps from Python give the same numbers with any executor, have rows for refused points, and make
pictures."""

import importlib.util
import logging
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
import warnings
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

from sluice_package import need, sluice
from sweep_on_mpi import GRID, scenario

need("numpy", "pandas", "matplotlib", "xarray")

from sluice import _apart, _workers  # noqa: E402

FATAL = "workload.batch=7"


# The program of a child process that dies when it is asked to run the point FATAL of the sweep.
DEADLY = f"""
import os, types
from sluice import _apart, _sluice
class Deadly:
    def __init__(self, variants):
        self._variants = variants
    def ask(self, overrides):
        if {FATAL!r} in overrides:
            os._exit(11)
        return self._variants.ask(overrides)
_apart._sluice = types.SimpleNamespace(Variants=lambda text, path: Deadly(_sluice.Variants(text, path)))
_apart.serve()
"""


def be_deadly(program=DEADLY):
    """Makes this process run the points of a sweep in a child process that executes `program`."""
    _apart.PROGRAM = program


def break_down(*arguments):
    os._exit(11)


def pool(count, initializer=be_deadly):
    return ProcessPoolExecutor(count, mp_context=multiprocessing.get_context("spawn"),
                               initializer=initializer)


def break_pool():
    _workers._asker.ask = break_down


class Forgetful(Executor):
    """A stand-in for the executor of a Dask client. It can name its workers. It never answers the first `forgets`
    requests."""

    def __init__(self, workers, forgets):
        self._client, self._workers, self._forgets = self, workers, forgets

    def submit(self, function, *arguments):
        future = Future()
        if self._forgets > 0:
            self._forgets -= 1
        else:
            future.set_result(function(*arguments))
        return future

    def scheduler_info(self):
        return {"workers": self._workers}

    def processing(self):
        return {"one": ()}


class Sweep(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def test_a_row_of_a_sweep_equals_the_answer_of_run(self):
        frame = scenario().sweep(GRID, verify=1).frame
        self.assertEqual(list(frame["workload.batch"]), [1, 1, 4, 4, 16, 16])
        self.assertTrue(frame["verified"].all())
        for _, row in frame.iterrows():
            changed = scenario().with_({key: row[key] for key in GRID})
            metrics = changed.run(executor="replay").metrics
            # A run executes every action, but a sweep leaves out repeated periods. So the last bits of the two results
            # may differ.
            self.assertAlmostEqual(row["makespan_s"], metrics["makespan_s"], delta=1e-12 * metrics["makespan_s"])
            self.assertEqual(row["peak_bytes[gpu]"], metrics["peak_bytes"]["gpu"])
        self.assertEqual(frame.attrs["units"]["makespan_s"], "s")

    def test_the_table_is_the_same_with_every_executor(self):
        expected = scenario().sweep(GRID, verify=0).frame
        with ThreadPoolExecutor(2) as threads:
            for workers in (1, 2, threads):
                found = scenario().sweep(GRID, workers=workers, verify=0).frame
                self.assertTrue(expected.equals(found), workers)

    def test_a_sweep_runs_on_a_dask_cluster(self):
        try:
            from distributed import Client, LocalCluster
        except ImportError:
            self.skipTest("python3-distributed is not installed")
        warnings.simplefilter("ignore", DeprecationWarning)
        logging.disable(logging.CRITICAL)  # the worker dies on purpose
        self.addCleanup(logging.disable, logging.NOTSET)
        expected = scenario().sweep(GRID, verify=0).frame
        with LocalCluster(n_workers=2, threads_per_worker=1, host="127.0.0.1",
                          dashboard_address=None) as cluster, Client(cluster) as client:
            client.run(be_deadly)
            frame = scenario().sweep({"workload.batch": [7, *range(100, 140)]},
                                     workers=client.get_executor(), verify=0).frame
            self.assert_only_the_deadly_point_failed(frame)
            client.run(be_deadly, _apart.PROGRAM)
            found = scenario().sweep(GRID, workers=client.get_executor(), verify=0).frame
            self.assertTrue(expected.equals(found))
            killed = []

            def kill(done, total):  # a worker dies in the middle of the sweep
                if done > 40 and not killed:
                    killed.append(next(iter(cluster.workers.values())).pid)
                    os.kill(killed[0], signal.SIGKILL)
            many = {"workload.batch": list(range(8, 300))}
            frame = scenario().sweep(many, workers=client.get_executor(), verify=0, progress=kill).frame
        self.assertEqual(len(killed), 1)
        self.assertTrue(scenario().sweep(many, verify=0).frame.equals(frame))

    def test_a_sweep_runs_on_the_ranks_of_an_mpi_job(self):
        if importlib.util.find_spec("mpi4py") is None or shutil.which("mpiexec") is None:
            self.skipTest("python3-mpi4py and openmpi-bin are not installed")
        script = Path(__file__).with_name("sweep_on_mpi.py")
        table = self.folder / "mpi.csv"
        done = subprocess.run(["mpiexec", "--allow-run-as-root", "--oversubscribe", "-n", "3", sys.executable,
                               "-m", "mpi4py.futures", script, table], capture_output=True, text=True,
                              timeout=300, env={**os.environ, "OMPI_MCA_btl_vader_single_copy_mechanism": "none"})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(table.read_text(), scenario().sweep(GRID, verify=0).frame.to_csv())

    def assert_only_the_deadly_point_failed(self, frame):
        failed = frame[frame["status"] == "failed"]
        self.assertEqual(list(failed["workload.batch"]), [7])
        self.assertIn("the process that was asked ended with exit code 11", failed["reason"].iloc[0])
        self.assertEqual((frame["status"] == "complete").sum(), len(frame) - 1)

    def test_a_point_that_ends_its_process_is_a_row(self):
        self.addCleanup(be_deadly, _apart.PROGRAM)
        be_deadly()
        batches = {"workload.batch": list(range(1, 41))}
        with ThreadPoolExecutor(2) as threads, pool(2) as processes:
            for workers in (2, threads, processes):
                self.assert_only_the_deadly_point_failed(
                    scenario().sweep(batches, workers=workers, verify=0).frame)

    def test_a_point_that_does_not_fit_has_its_numbers_whoever_runs_it(self):
        capacities = {"platform.devices.gpu.memory.capacity": ["100GB", "1MB"]}
        with ThreadPoolExecutor(2) as threads, pool(2, None) as processes:
            for workers in (1, 2, threads, processes):
                fits, refused = scenario().sweep(capacities, workers=workers, verify=0).infeasible
                self.assertIsNone(fits)
                self.assertEqual((refused.pool, refused.available_bytes), ("gpu", 1_000_000))
                self.assertGreater(refused.needed_bytes, 1_000_000)
                self.assertEqual(sum(refused.by_class.values()), refused.needed_bytes)

    def test_points_that_end_their_process_are_rows_and_all_others_finish(self):
        self.addCleanup(be_deadly, _apart.PROGRAM)
        be_deadly(DEADLY.replace(f"{FATAL!r} in overrides", "overrides[0].endswith('37')"))
        frame = scenario().sweep({"workload.batch": list(range(1, 301))}, workers=2, verify=0).frame
        failed = frame[frame["status"] == "failed"]
        self.assertEqual(list(failed["workload.batch"]), [37, 137, 237])
        self.assertTrue(failed["reason"].str.contains("ended with exit code 11").all())
        self.assertEqual((frame["status"] != "failed").sum(), 297)

    def test_points_on_a_broken_executor_become_rows(self):
        with pool(1, break_pool) as broken, self.assertRaisesRegex(sluice.InputError, "did not answer"):
            scenario().sweep({"workload.batch": [7, 8]}, workers=broken, verify=0,
                             store=self.folder / "s.db")
        again = scenario().sweep({"workload.batch": [7, 8]}, verify=0, retry_failed=True,
                                 store=self.folder / "s.db").frame
        self.assertEqual(list(again["status"]), ["complete", "complete"])

    def test_work_that_a_cluster_lost_is_requested_again_and_a_cluster_without_workers_is_given_up(self):
        for name, value in (("_BETWEEN_LOOKS_S", 0.05), ("_IDLE_S", 0.2), ("_WITHOUT_WORKERS_S", 0.2)):
            self.addCleanup(setattr, _workers, name, getattr(_workers, name))
            setattr(_workers, name, value)
        expected = scenario().sweep(GRID, verify=0).frame
        found = scenario().sweep(GRID, workers=Forgetful({"one": {}}, 3), verify=0).frame
        self.assertTrue(expected.equals(found))

        class Gone(Forgetful):
            def submit(self, function, *arguments):
                future = super().submit(function, *arguments)
                self._workers, self._forgets = {}, 1000  # all workers are gone after the first answer
                return future
        frame = scenario().sweep(GRID, workers=Gone({"one": {}}, 0), verify=0).frame
        self.assertEqual(list(frame["status"]), ["complete"] + ["failed"] * 5)
        self.assertIn("start some, and sweep again", frame["reason"][1])

    def test_a_worker_with_another_build_gives_no_numbers(self):
        class Foreign(Executor):
            def submit(self, function, text, path, batch, attempt, library):
                future = Future()
                try:
                    future.set_result(function(text, path, batch, attempt, "another" + library))
                except sluice.InputError as error:
                    future.set_exception(error)
                return future

        with self.assertRaisesRegex(sluice.InputError, "another build of Sluice"):
            scenario().sweep(GRID, workers=Foreign(), verify=0)

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
            words = [f"{key}={','.join(map(str, values))}" for key, values in GRID.items()]
            done = subprocess.run(
                [program, "sweep", "alexnet_resident", "workload.steps=2", "policy.buffers=2",
                 "stages={cut: whole}", *words, "--store", store, "--verify", "0"],
                capture_output=True, text=True)
            self.assertIn("6 points taken from the store", done.stdout, done.stderr)

    def test_an_infeasible_point_is_a_row_and_is_drawn(self):
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

    def test_a_sweep_gives_its_best_row_its_pareto_front_and_a_dataset(self):
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

    def test_points_with_equal_values_make_no_dataset(self):
        with self.assertRaisesRegex(sluice.UsageError, "points have the values workload.batch=4, and a Dataset has"):
            scenario().sweep({"workload.batch": [4, 1, 4]}, verify=0).to_xarray()

    def test_a_sweep_in_which_everything_is_refused_is_drawn(self):
        import matplotlib
        matplotlib.use("Agg")
        sweep = scenario().sweep({"workload.batch": [100000, 200000],
                                  "platform.devices.gpu.memory.capacity": ["1GB", "2GB"]}, verify=0)
        self.assertEqual(list(sweep.frame["status"]), ["infeasible"] * 4)
        key = "platform.devices.gpu.memory.capacity"
        curve = sweep.plot.curve("workload.batch", "makespan_s", by=key, unit="ms")
        self.assertEqual(sum(len(line.get_xdata()) for line in curve.lines if line.get_marker() == "x"), 4)
        low, high = curve.get_xlim()
        self.assertTrue(low <= 100000 and 200000 <= high, (low, high))
        curve.figure.canvas.draw()
        heat = sweep.plot.heatmap("workload.batch", key, "makespan_s")
        self.assertEqual(len([patch for patch in heat.patches if patch.get_hatch()]), 4)
        heat.figure.canvas.draw()
        with self.assertRaisesRegex(sluice.InputError, "did you mean 'makespan_s'"):
            sweep.plot.curve("workload.batch", "makespan")
        with self.assertRaisesRegex(sluice.Infeasible, "no point has 'makespan_s'"):
            sweep.best("makespan_s")

    def test_all_points_of_a_sweep_may_run_with_simgrid(self):
        expected = scenario().sweep(GRID, verify=0).frame
        store = self.folder / "study.db"
        scenario().sweep({"workload.batch": [1], **{k: v for k, v in GRID.items() if k != "workload.batch"}},
                         verify=1, store=store)
        told = []
        values = {**GRID, "workload.batch": [*GRID["workload.batch"], 1000000]}
        found = scenario().sweep(values, executor="simgrid", store=store, workers=2,
                                 progress=lambda done, total: told.append((done, total))).frame
        self.assertEqual(told[-1], (8, 8))
        self.assertEqual(len(told), 6, "an earlier sweep verified two of the points")
        self.assertEqual(list(found["status"]), ["complete"] * 6 + ["infeasible"] * 2)
        for i in range(6):
            self.assertAlmostEqual(found["makespan_s"][i] / expected["makespan_s"][i], 1, delta=1e-9)
        again = scenario().sweep(values, executor="simgrid", store=store, progress=lambda *_: self.fail()).frame
        self.assertTrue(found.equals(again))
        with ThreadPoolExecutor(1) as threads, self.assertRaisesRegex(sluice.UsageError, "takes a number of processes"):
            scenario().sweep(GRID, executor="simgrid", workers=threads)
        with self.assertRaisesRegex(sluice.UsageError, "expected 'replay' or 'simgrid'"):
            scenario().sweep(GRID, executor="both")

    def test_a_sweep_over_zip_equals_a_sweep_over_a_list_of_points(self):
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
        with self.assertRaisesRegex(sluice.UsageError, "a number of processes or an executor"):
            scenario().sweep({"workload.batch": [1, 2]}, workers="4")
        with self.assertRaisesRegex(sluice.UsageError, "a number of processes or an executor"):
            scenario().sweep({"workload.batch": [1, 2]}, workers=True)
        with self.assertRaisesRegex(sluice.UsageError, "retry_failed needs store="):
            scenario().sweep({"workload.batch": [1, 2]}, retry_failed=True)
        with self.assertRaisesRegex(sluice.UsageError, "retry_failed needs store="):
            sluice.minimise(scenario(), "makespan_s", {"workload.batch": (1, 4)}, retry_failed=True)
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
