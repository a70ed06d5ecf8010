#!/usr/bin/python3
"""Tests that a Jupyter kernel survives interrupts at any moment."""

import os
import pathlib
import queue
import random
import signal
import sys
import tempfile
import time
import unittest

from sluice_package import need

need("jupyter_client", "ipykernel", "nbclient", "pandas")
from jupyter_client.manager import start_new_kernel  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "analysis/notebooks"))
from execute import use_this_python  # noqa: E402

BEGUN = "the code has begun"
# STACKS is replaced by the name of a file.
BEGIN = """
import faulthandler, os, signal
import sluice
stacks = open(STACKS, "w")
faulthandler.register(signal.SIGUSR1, file=stacks, all_threads=False)
from sluice._helper import helper
small = sluice.load("phased_ipu_pair", {"workload.steps": 1, "workload.batches_per_step": 3})
long = sluice.load("alexnet_resident", {"workload.steps": 300_000, "workload.batches_per_step": 4})
"""
WORK = """
while True:  # the runs are short, so that an interrupt may come anywhere within a run or between two runs
    small.run()
    small.with_({"workload.steps": 2}).run().spans
"""
CHECK = """
answer = small.run()
assert answer.status == "complete" and len(answer.spans) > 0
print(os.getpid(), helper.pid)
"""


class Kernel(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        use_this_python(self.folder.name)
        self.manager, self.client = start_new_kernel(kernel_name="sluice", startup_timeout=120)
        self.stacks = pathlib.Path(self.folder.name, "stacks")
        self.interrupted_again = 0
        self.assertEqual(self.run_cell(BEGIN.replace("STACKS", repr(str(self.stacks))))[0], "ok")

    def tearDown(self):
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)
        self.folder.cleanup()

    def run_cell(self, code, interrupt_after=None):
        """Runs `code` in the kernel. Returns the status, the name of the exception, and what was printed."""
        if interrupt_after is None:
            message = self.client.execute(code, stop_on_error=False)
            content = self.reply_to(message, timeout=120)
        else:
            message = self.client.execute(f"print({BEGUN!r}, flush=True)\n{code}", stop_on_error=False)
            self.wait_for_begin(message)
            time.sleep(interrupt_after)
            content = self.interrupt(message)
        printed = []
        for kind, said in self.said_about(message):
            if kind == "stream":
                printed.append(said["text"])
            if kind == "status" and said["execution_state"] == "idle":
                break
        return content["status"], content.get("ename"), "".join(printed) or "\n".join(content.get("traceback", []))

    def interrupt(self, message):
        """Interrupts the kernel and returns its reply. Like a user, interrupts it again when nothing happens: Python
        discards an exception that a finalizer raises, so an interrupt within a finalizer has no effect."""
        self.manager.interrupt_kernel()
        try:
            return self.reply_to(message, timeout=20)
        except queue.Empty:
            self.interrupted_again += 1
            print("an interrupt had no effect; " + self.where_the_kernel_is(), file=sys.stderr)
        self.manager.interrupt_kernel()
        return self.reply_to(message, timeout=120)

    def reply_to(self, message, timeout):
        deadline = time.monotonic() + timeout
        try:
            while True:
                reply = self.client.get_shell_msg(timeout=max(0, deadline - time.monotonic()))
                if reply["parent_header"].get("msg_id") == message:
                    return reply["content"]
        except queue.Empty as empty:
            raise queue.Empty(self.where_the_kernel_is()) from empty

    def where_the_kernel_is(self):
        self.manager.signal_kernel(signal.SIGUSR1)
        time.sleep(1)
        return f"the main thread of the kernel:\n{self.stacks.read_text()}"

    def said_about(self, message):
        """Yields the kind and the content of each thing that the kernel says about this message."""
        while True:
            said = self.client.get_iopub_msg(timeout=120)
            if said["parent_header"].get("msg_id") == message:
                yield said["msg_type"], said["content"]

    def wait_for_begin(self, message):
        """Waits until the code itself runs. Before that, the kernel ignores an interrupt and sends no reply."""
        for kind, said in self.said_about(message):
            if kind == "stream" and BEGUN in said["text"]:
                return

    def test_twenty_interrupts_at_random_moments_leave_the_kernel_usable(self):
        moments = random.Random(4)
        for number in range(20):
            code = "long.run()" if number % 4 == 3 else WORK
            status, name, _ = self.run_cell(code, interrupt_after=moments.uniform(0.02, 0.5))
            self.assertEqual((status, name), ("error", "KeyboardInterrupt"), number)
            status, name, printed = self.run_cell(CHECK)
            self.assertEqual(status, "ok", f"{name}: {printed}")
        self.assertLessEqual(self.interrupted_again, 1)
        kernel, helper = map(int, printed.split())
        deadline = time.monotonic() + 5
        while children(helper) and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertEqual(children(helper), [])  # the helper has no child process any more
        self.assertEqual(children(kernel), [helper])


def children(pid):
    found = []
    for task in os.listdir(f"/proc/{pid}/task"):
        found += map(int, pathlib.Path(f"/proc/{pid}/task/{task}/children").read_text().split())
    return sorted(found)


if __name__ == "__main__":
    unittest.main()
