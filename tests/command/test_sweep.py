#!/usr/bin/python3
"""Tests `sluice sweep`: its tables, its exit codes, sweeps in parts, and that a killed sweep continues from its store.
With SLUICE_CAMPAIGN=N, the tests try N times as many kills and points."""

import csv
import io
import json
import os
import pathlib
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("SLUICE_PROGRAM", str(ROOT / "build/release/sluice"))
ENVIRONMENT = {**os.environ, "SLUICE_ROOT": str(ROOT), "LC_ALL": "C.UTF-8"}

QUICK = ["alexnet_resident", "workload.steps=2", "policy.buffers=2", "stages={cut: whole}"]
MANY = [*QUICK, "platform.links.host.bandwidth=4GB/s..64GB/s:1500"]
TIMES = int(os.environ.get("SLUICE_CAMPAIGN", "1"))
# Mounts a disk of $0 bytes at the folder $1. Only this process and its children see the disk. All words after $2 are a
# command, which runs on the disk. At the end, the files on the disk are copied to $2.
SMALL_DISK = """mount -t tmpfs -o size=$0 disk "$1" && cd "$1" || exit 99
kept=$2; shift 2; "$@"; code=$?; cp -r . "$kept"; exit $code"""


def sluice(*words):
    return subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, cwd=ROOT,
                          env=ENVIRONMENT, timeout=300)


class Sweep(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def answers(self, *words, code=0):
        done = sluice("sweep", *words)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout

    def rows(self, *words, code=0):
        return list(csv.DictReader(io.StringIO(self.answers(*words, "--csv", code=code))))

    def test_no_row_with_more_memory_takes_longer(self):
        # The capacities are 24.0, 24.2, 24.4, ... and 48.0 GB.
        rows = self.rows("alexnet_x200", "platform.devices.gpu.memory.capacity=24GB..48GB:121")
        seconds = [float(row["makespan_s"]) for row in rows]
        self.assertEqual(len(seconds), 121)
        for less, more in zip(seconds, seconds[1:]):
            self.assertLessEqual(more, less * (1 + 1e-9))
        self.assertLess(seconds[-1], seconds[0])

    def test_a_row_equals_the_answer_of_run(self):
        rows = self.rows(*QUICK, "workload.batch=1,8", "platform.links.host.bandwidth=8GB/s,16GB/s")
        self.assertEqual([row["workload.batch"] for row in rows], ["1", "1", "8", "8"])
        done = sluice("run", *QUICK, "workload.batch=8", "platform.links.host.bandwidth=16GB/s",
                      "--json")
        metrics = json.loads(done.stdout)["metrics"]
        for name in ("makespan_s", "exposed_transfer_s", "energy_j"):
            self.assertAlmostEqual(float(rows[3][name]), metrics[name],
                                   delta=1e-9 * metrics["makespan_s"])
        self.assertEqual(float(rows[3]["peak_bytes[gpu]"]), metrics["peak_bytes"]["gpu"])

    def test_the_table_names_the_best_and_where_transfers_hide(self):
        text = self.answers(*QUICK, "workload.batch=1..64*4", "--metrics",
                            "throughput_samples_per_s,makespan_s")
        self.assertRegex(text, r"(?m)^best +2045 sample/s")
        self.assertIn("at workload.batch=64", text)
        self.assertIn("hidden from workload.batch=", text)
        self.assertIn("1 point repeated by SimGrid with equal results", text)
        self.assertLessEqual(max(map(len, text.splitlines())), 120)

    def test_json(self):
        answer = json.loads(self.answers(*QUICK, "workload.batch=1,1000000", "--json"))
        self.assertEqual(answer["format"], "sluice-sweep/1")
        self.assertEqual(answer["axes"], {"workload.batch": ["1", "1000000"]})
        self.assertEqual(answer["units"]["makespan_s"], "s")
        first, second = answer["points"]
        self.assertEqual(first["status"], "complete")
        self.assertGreater(first["metrics"]["makespan_s"], 0)
        self.assertEqual(second["status"], "infeasible")
        self.assertEqual(second["infeasible"]["pool"], "gpu")
        self.assertGreater(second["infeasible"]["needed_bytes"], 12e9)
        self.assertEqual(sum(second["infeasible"]["by_class"].values()), second["infeasible"]["needed_bytes"])
        # With SimGrid, each point runs in a process of its own, and its refusal has the same numbers.
        words = (*QUICK, "workload.batch=1,1000000", "--executor", "simgrid", "--jobs", "2", "--json")
        self.assertEqual(json.loads(self.answers(*words))["points"][1]["infeasible"], second["infeasible"])

    def test_exit_codes(self):
        rows = self.rows(*QUICK, "workload.batch=1,x", code=1)
        self.assertEqual([row["status"] for row in rows], ["complete", "failed"])
        self.assertIn("workload.batch=x:1:16: error:", rows[1]["reason"])
        done = sluice("sweep", *QUICK, "workload.bach=1,2")
        self.assertEqual(done.returncode, 3)
        self.assertIn("did you mean 'batch'?", done.stderr)
        for words, says in ((["workload.batch=1..8*1"], "not a factor greater than 1"),
                            (["workload.batch=1,2", "--metrics", "makespan"], "is not a metric"),
                            (["workload.batch=1,2", "--verify", "2"], "a share from 0 to 1"),
                            (["workload.batch=1,2", "--verify", "nan"], "a share from 0 to 1"),
                            (["workload.batch=1,2", "workload.batch=3"], "'workload.batch' is given twice"),
                            (["workload.batch=1,2", "--metrics", "bound_by"], "is a word and not a number"),
                            (["workload.batch=1,2", "--retry-failed"], "needs '--store FILE'"),
                            (["workload.batch=1,2", "--shard", "3/2"], "expected K/N"),
                            (["--merge"], "needs '--store FILE'")):
            done = sluice("sweep", QUICK[0], *words)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(says, done.stderr)

    def test_killed_at_any_moment_the_same_command_continues(self):
        expected = self.answers(*MANY, "--verify", "0", "--csv")
        dice, store, kept = random.Random(7), self.folder / "study.db", 0
        command = [PROGRAM, "sweep", *MANY, "--verify", "0", "--csv", "--store", str(store)]
        for _ in range(5 * TIMES):
            process = subprocess.Popen(command, cwd=ROOT, env=ENVIRONMENT, text=True,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(dice.uniform(0.05, 0.8))
            process.send_signal(signal.SIGKILL)
            process.wait()
            if store.exists():
                with sqlite3.connect(store) as database:
                    try:
                        [[now]] = database.execute("SELECT COUNT(*) FROM points")
                    except sqlite3.OperationalError:  # the store of a program that was killed before it made the tables
                        now = 0
                self.assertGreaterEqual(now, kept)
                kept = now
        self.assertEqual(self.answers(*MANY, "--verify", "0", "--csv", "--store", store), expected)
        self.assertRegex(self.answers(*MANY, "--verify", "0", "--store", store),
                         "executed +0 points ran, 1 500 points taken from the store")

    def points_in(self, store):
        with sqlite3.connect(store) as database:
            return database.execute("SELECT COUNT(*) FROM points").fetchone()[0]

    def test_a_full_disk_loses_nothing_that_was_committed(self):
        expected = self.answers(*MANY, "--verify", "0", "--csv")
        words = [PROGRAM, "sweep", *MANY, "--verify", "0", "--csv", "--store"]
        store = self.folder / "limited.db"
        most = 300_000  # bytes; all points need 1.2 MB

        def goes_on(store, done):
            self.assertEqual(done.returncode, 5, done.stderr)
            self.assertRegex(done.stderr, "cannot use the store .*(full|disk I/O error)")
            self.assertLess(self.points_in(store), 1500)
            self.assertEqual(self.answers(*MANY, "--verify", "0", "--csv", "--store", store), expected)

        goes_on(store, subprocess.run([*words, store], cwd=ROOT, env=ENVIRONMENT, capture_output=True, text=True,
                                      preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))))
        disk, kept = self.folder / "disk", self.folder / "kept"
        disk.mkdir()
        kept.mkdir()
        mount = ["unshare", "--map-root-user", "--mount", "sh", "-c", SMALL_DISK, str(most), disk, kept]
        if shutil.which("unshare") is None or subprocess.run([*mount, "true"], capture_output=True).returncode != 0:
            self.skipTest("no disk can be mounted here; the limit of a file's size was tested")
        done = subprocess.run([*mount, *words, "small.db"], env=ENVIRONMENT, capture_output=True, text=True)
        goes_on(kept / "small.db", done)

    def test_a_sweep_of_many_points_needs_little_memory_and_disk(self):
        count, store = 2000 * TIMES, self.folder / "study.db"  # SLUICE_CAMPAIGN=50 gives 100 000 points
        words = [*QUICK, f"platform.links.host.bandwidth=4GB/s..64GB/s:{count}", "--verify", "0"]
        with subprocess.Popen([PROGRAM, "sweep", *words, "--store", str(store)], cwd=ROOT, env=ENVIRONMENT,
                              stdout=subprocess.DEVNULL) as process:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0)
        self.assertEqual(self.points_in(store), count)
        self.assertLess(usage.ru_maxrss * 1024, 100e6 + 2000 * count)  # 300 MB for 100 000 points
        self.assertLess(store.stat().st_size, 500e3 + 995 * count)  # 100 MB for 100 000 points

    def test_columns_may_be_single_numbers_of_a_metric(self):
        axes = [*QUICK, "workload.batch=1,8"]
        text = self.answers(*axes, "--metrics", "peak_bytes.gpu,makespan_s")
        self.assertRegex(text, r"batch +peak_bytes\[gpu\] +makespan_s")
        self.assertRegex(text, r"(?m)^best .*\(peak_bytes\[gpu\]\) at workload.batch=1$")
        text = self.answers(*axes, "--metrics", "peak_bytes")
        self.assertRegex(text, r"batch +peak_bytes\[gpu\] +peak_bytes\[host\]")
        text = self.answers(*axes, "--metrics", "flop,peak_bytes.gpx")
        self.assertRegex(text, r"(?m)^best +not known, because neither a small nor a large 'flop' is better")
        self.assertRegex(text, r"(?m)^absent +no point has the number 'peak_bytes\[gpx\]'; there are: peak_bytes\[gpu\]")

    def test_parts_merged_and_jobs_give_the_same_table(self):
        axes = ["workload.batch=1..8", "platform.links.host.bandwidth=4GB/s,8GB/s,16GB/s"]
        expected = self.answers(*QUICK, *axes, "--csv", "--jobs", 1)
        parts = [self.folder / f"{k}.db" for k in range(1, 5)]
        for k, part in enumerate(parts, 1):
            self.answers(*QUICK, *axes, "--shard", f"{k}/4", "--store", part)
        merged = self.folder / "all.db"
        done = sluice("sweep", "--merge", parts[0], self.folder / "absent.db", "--store", merged)
        self.assertEqual(done.returncode, 5)
        self.assertIn("there is no store", done.stderr)
        self.assertFalse(merged.exists())
        self.assertIn("24 points in all", self.answers("--merge", *parts, "--store", merged))
        self.assertEqual(self.answers(*QUICK, *axes, "--csv", "--store", merged), expected)
        self.assertEqual(self.answers(*QUICK, *axes, "--csv", "--jobs", 2), expected)
        rows = [row.split(",") for row in expected.splitlines()]
        simulated = [row.split(",") for row in
                     self.answers(*QUICK, *axes, "--csv", "--executor", "simgrid").splitlines()]
        place = rows[0].index("makespan_s")
        for one, other in zip(rows[1:], simulated[1:]):
            self.assertAlmostEqual(float(one[place]) / float(other[place]), 1, delta=1e-9)

    def test_two_sweeps_share_a_store(self):
        store = self.folder / "study.db"
        command = [PROGRAM, "sweep", *MANY, "--verify", "0", "--csv", "--store", str(store)]
        both = [subprocess.Popen(command, cwd=ROOT, env=ENVIRONMENT, stdout=subprocess.PIPE)
                for _ in range(2)]
        tables = [process.communicate(timeout=120)[0] for process in both]
        self.assertEqual([process.returncode for process in both], [0, 0])
        self.assertEqual(tables[0], tables[1])

    def test_a_store_that_cannot_be_written_is_an_error(self):
        done = sluice("sweep", *QUICK, "workload.batch=1,2", "--store", "/dev/full")
        self.assertIn(done.returncode, (3, 5))
        self.assertIn("/dev/full", done.stderr)
        text = self.folder / "text.db"
        text.write_text("x" * 5000)
        done = sluice("sweep", *QUICK, "workload.batch=1,2", "--store", text)
        self.assertEqual(done.returncode, 3)
        self.assertIn("is not a store of sweeps", done.stderr)
        self.assertEqual(text.read_text(), "x" * 5000)

    def test_interrupted_it_ends_within_a_second_and_keeps_what_it_has(self):
        store = self.folder / "study.db"
        words = [*QUICK, "platform.links.host.bandwidth=4GB/s..64GB/s:100000"]
        process = subprocess.Popen([PROGRAM, "sweep", *words, "--store", str(store)], cwd=ROOT,
                                   env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(1.5)
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 130)
        self.assertEqual(errors.decode().strip(), "sluice: interrupted")
        self.assertLess(time.monotonic() - began, 10)  # the command takes a second on a machine that is not busy
        self.assertGreater(self.points_in(store), 0)

    def test_every_policy_agrees_with_simgrid_at_every_point(self):
        for scenario, *changes in (["alexnet_resident"], ["alexnet_resident", "policy={name: basic}"],
                                   ["alexnet_x200_as_written"], ["alexnet_x200_training_as_written"],
                                   ["phased_ipu_pair"], ["sharded_ipu_pair"], ["data_parallel_ipu_pair"]):
            count = 4 * TIMES  # SLUICE_CAMPAIGN=11 gives 308 points in all
            text = self.answers(scenario, *changes, f"platform.links.host.bandwidth=4GB/s..64GB/s:{count}",
                                "--verify", "100%")
            self.assertIn(f"{count} points repeated by SimGrid with equal results", text, scenario)


if __name__ == "__main__":
    unittest.main()
