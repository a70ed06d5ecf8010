#!/usr/bin/python3
"""Tests that a Jupyter kernel survives interrupts at any moment."""

import os
import pathlib
import random
import sys
import tempfile
import time
import unittest

from sluice_package import need

need("jupyter_client", "ipykernel", "nbclient", "pandas")
from jupyter_client.manager import start_new_kernel  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "analysis/notebooks"))
from execute import use_this_python  # noqa: E402

BEGIN = """
import sluice, os
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
        self.assertEqual(self.run_cell(BEGIN)[0], "ok")

    def tearDown(self):
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)
        self.folder.cleanup()

    def run_cell(self, code, interrupt_after=None):
        """Runs `code` in the kernel. Returns the status, the name of the exception, and what was printed."""
        printed = []
        message = self.client.execute(code, stop_on_error=False)
        if interrupt_after is not None:
            self.wait_for_busy(message)
            time.sleep(interrupt_after)
            self.manager.interrupt_kernel()
        reply = self.client.get_shell_msg(timeout=120)
        while reply["parent_header"].get("msg_id") != message:
            reply = self.client.get_shell_msg(timeout=120)
        while True:
            said = self.client.get_iopub_msg(timeout=120)
            if said["parent_header"].get("msg_id") != message:
                continue
            if said["msg_type"] == "stream":
                printed.append(said["content"]["text"])
            if said["msg_type"] == "status" and said["content"]["execution_state"] == "idle":
                break
        content = reply["content"]
        return content["status"], content.get("ename"), "".join(printed) or "\n".join(content.get("traceback", []))

    def wait_for_busy(self, message):
        while True:
            said = self.client.get_iopub_msg(timeout=120)
            if said["parent_header"].get("msg_id") == message and said["msg_type"] == "execute_input":
                return

    def test_twenty_interrupts_at_random_moments_leave_the_kernel_usable(self):
        moments = random.Random(4)
        for number in range(20):
            code = "long.run()" if number % 4 == 3 else WORK
            status, name, _ = self.run_cell(code, interrupt_after=moments.uniform(0.02, 0.5))
            self.assertEqual((status, name), ("error", "KeyboardInterrupt"), number)
            status, name, printed = self.run_cell(CHECK)
            self.assertEqual(status, "ok", f"{name}: {printed}")
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
