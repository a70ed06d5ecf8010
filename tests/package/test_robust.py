#!/usr/bin/python3
"""Tests that a process which uses the package has no leaks, and survives threads, kills, forks and interrupts."""

import _thread
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
import unittest
import warnings
from concurrent.futures import ThreadPoolExecutor

from sluice_package import need, sluice

need("numpy", "pandas")
from sluice._helper import helper  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
SMALL = {"workload.batches_per_step": 3, "workload.steps": 2}


def small():
    return sluice.load(ROOT / "scenarios/phased_ipu_pair.yaml", SMALL)


def long_run():
    """Returns a scenario whose run takes some seconds, because it has very many steps. The body of its plan is
    short."""
    return sluice.load(ROOT / "scenarios/alexnet_resident.yaml",
                       {"workload.steps": 300_000, "workload.batches_per_step": 4})


def rss_mb():
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def open_files():
    return len(os.listdir("/proc/self/fd"))


def descendants(pid):
    """Returns {pid: state} of all descendants of `pid`, including zombies."""
    parents = {}
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            state, parent = entry.joinpath("stat").read_text().rsplit(")", 1)[1].split()[:2]
        except (FileNotFoundError, ProcessLookupError):
            continue
        parents[int(entry.name)] = (int(parent), state)
    found, grown = {}, True
    while grown:
        grown = False
        for child, (parent, state) in parents.items():
            if child not in found and (parent == pid or parent in found):
                found[child] = state
                grown = True
    return found


def settles(condition, seconds=10):
    """Returns whether the condition becomes true within the given seconds."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.02)
    return condition()


def idle():
    """Returns whether the helper is the only child process, and no child is a zombie."""
    below = descendants(os.getpid())
    return set(below) == {helper.pid} and "Z" not in below.values()


class Survives(unittest.TestCase):
    def setUp(self):
        small().run()
        self.assertTrue(settles(idle), descendants(os.getpid()))

    def test_a_thousand_runs_leave_nothing_behind(self):
        scenario, spans = small(), len(small().run().spans)
        for number in range(1000):
            self.assertEqual(len(scenario.run().spans), spans)
            if number == 49:
                memory, files = rss_mb(), open_files()
        self.assertLess(rss_mb() - memory, 10)
        self.assertEqual(open_files(), files)
        self.assertTrue(settles(idle), descendants(os.getpid()))
        # The helper has the descriptors 0, 1 and 2, and a descriptor for its signals.
        self.assertEqual(len(os.listdir(f"/proc/{helper.pid}/fd")), 4)

    def test_failures_leave_nothing_behind_either(self):
        wrong = small().with_({"platform.devices.ipu.memory.capacity": "1kB"})
        for number in range(100):
            with self.assertRaises(sluice.Infeasible):
                wrong.plan().run()
            if number == 9:
                memory, files = rss_mb(), open_files()
        self.assertLess(rss_mb() - memory, 10)
        self.assertEqual(open_files(), files)
        self.assertTrue(settles(idle))

    def test_eight_threads_with_fifty_runs_each_agree(self):
        scenario, expected = small(), dict(small().run().metrics)

        def fifty(_):
            return [dict(scenario.run().metrics) == expected for _ in range(50)]

        with ThreadPoolExecutor(8) as threads:
            answers = [same for answer in threads.map(fifty, range(8)) for same in answer]
        self.assertEqual(answers, [True] * 400)
        self.assertTrue(settles(idle))

    def test_the_first_runs_of_many_threads_share_one_helper(self):
        script = ("import sluice, threading, os\n"
                  "s = sluice.load('phased_ipu_pair', {'workload.steps': 1})\n"
                  "threads = [threading.Thread(target=s.run) for _ in range(8)]\n"
                  "[t.start() for t in threads]; [t.join() for t in threads]\n"
                  "print(open(f'/proc/{os.getpid()}/task/{os.getpid()}/children').read().split())\n")
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(eval(done.stdout)), 1)

    def test_a_helper_that_is_killed_in_the_middle_of_a_run_is_replaced(self):
        first = helper.pid
        killer = threading.Timer(0.3, os.kill, (first, signal.SIGKILL))
        killer.start()
        with self.assertRaisesRegex(sluice.HelperDied, "SIGKILL.*the next run has a new one"):
            long_run().run()
        killer.join()
        self.assertTrue(settles(lambda: not descendants(os.getpid())))  # the run ended together with the helper
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            small().run()
        self.assertEqual([one.category for one in said], [sluice.HelperRestarted])
        self.assertIn("SIGKILL", str(said[0].message))
        self.assertNotEqual(helper.pid, first)

    def test_the_death_of_one_run_is_an_exception_and_no_other_run_notices(self):
        with ThreadPoolExecutor(2) as threads:
            doomed = threads.submit(lambda: long_run().run())
            self.assertTrue(settles(lambda: len(descendants(os.getpid())) == 2))
            child = next(pid for pid in descendants(os.getpid()) if pid != helper.pid)
            other = threads.submit(lambda: small().run())
            os.kill(child, signal.SIGSEGV)
            with self.assertRaisesRegex(sluice.InternalError, "died.*SIGSEGV"):
                doomed.result()
            self.assertEqual(other.result().status, "complete")
        self.assertTrue(settles(idle))

    def test_ctrl_c_is_a_keyboard_interrupt_and_leaves_nothing_running(self):
        for delay in (0.05, 0.2, 0.5):
            timer = threading.Timer(delay, _thread.interrupt_main)
            timer.start()
            with self.assertRaises(KeyboardInterrupt):
                long_run().run()
            timer.join()
            self.assertTrue(settles(idle, 3), descendants(os.getpid()))
        self.assertEqual(small().run().status, "complete")

    def test_the_waiting_thread_notices_a_signal_that_another_thread_got(self):
        timer = threading.Timer(0.3, lambda: signal.pthread_kill(
            threading.get_ident(), signal.SIGINT))
        timer.start()
        with self.assertRaises(KeyboardInterrupt):
            long_run().run()
        timer.join()
        self.assertTrue(settles(idle, 3))

    def test_a_forked_process_has_a_helper_of_its_own(self):
        scenario = small()
        child = os.fork()
        if child == 0:
            try:
                mine = scenario.run().status == "complete" and helper.pid != parent_helper(os.getppid())
                os._exit(0 if mine else 1)
            except BaseException:
                os._exit(2)
        _, status = os.waitpid(child, 0)
        self.assertEqual(os.waitstatus_to_exitcode(status), 0)
        self.assertEqual(scenario.run().status, "complete")
        self.assertTrue(settles(idle))

    def test_the_helper_ends_with_its_parent_however_the_parent_ends(self):
        script = ("import sluice, os, sys, threading\n"
                  "sluice.load('phased_ipu_pair', {'workload.steps': 1}).run()\n"
                  "long = sluice.load('alexnet_resident', {'workload.steps': 300_000})\n"
                  "from sluice._helper import helper\n"
                  "print(helper.pid, flush=True)\n"
                  "threading.Thread(target=long.run, daemon=True).start()\n"
                  "sys.stdin.read()\n")
        process = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, text=True)
        with process:
            pid = int(process.stdout.readline())
            below = descendants(process.pid)
            self.assertIn(pid, below)
            process.kill()
        self.assertTrue(settles(lambda: not any(pathlib.Path(f"/proc/{one}").exists()
                                                for one in below)))

    def test_the_process_loads_neither_engine_nor_hdf5(self):
        script = ("import sluice\n"
                  "sluice.load('phased_ipu_pair', {'workload.steps': 1}).run().metrics\n"
                  "print(open('/proc/self/maps').read())\n")
        maps = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout
        self.assertIn("_sluice", maps)
        self.assertNotIn("libsimgrid", maps)
        self.assertNotIn("libhdf5", maps)


def parent_helper(pid):
    """`pid` is the process number of the parent of this process. Returns the process number of the parent's helper."""
    return next(child for child in descendants(pid) if child != os.getpid())


if __name__ == "__main__":
    unittest.main()
