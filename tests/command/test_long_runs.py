"""Tests long runs. Memory must not grow with the number of steps. Traces must be complete, and the traces of two equal
runs must have equal contents."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

PROGRAM = os.environ.get("SLUICE_PROGRAM")
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# A scenario with one transfer per layer. While a layer is computed, the weights of the next layer are loaded.
CHOICES = ["policy.in_flight=1", "policy.prefetch=1", "policy.buffers=2", "policy.pieces=whole"]
SCENARIO = os.path.join(ROOT, "scenarios", "matmul_chain_streamed_ipu.yaml")


def run(steps, trace):
    """Runs one batch per step, and returns the peak of memory (bytes) and the answer."""
    arguments = [PROGRAM, "run", SCENARIO, "workload.batches_per_step=1", f"workload.steps={steps}",
                 *CHOICES, "-o", trace, "--json"]
    child = subprocess.Popen(arguments, stdout=subprocess.PIPE)
    answer = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    child.stdout.close()
    assert child.returncode == 0, child.returncode
    return usage.ru_maxrss * 1024, json.loads(answer)


class LongRuns(unittest.TestCase):
    def test_memory_does_not_grow_with_steps_and_the_trace_holds_every_span(self):
        with tempfile.TemporaryDirectory() as folder:
            few, _ = run(1000, os.path.join(folder, "few.h5"))
            many, answer = run(100_000, os.path.join(folder, "many.h5"))
            self.assertLess(many - few, 20e6, f"{few} and {many} bytes")
            self.assertEqual(answer["metrics"]["samples"], 32 * 100_000)
            try:
                import h5py
            except ImportError:
                self.skipTest("h5py, which reads the trace back, is not installed")
            with h5py.File(os.path.join(folder, "many.h5")) as trace:
                # A step has 8 spans: 3 loads of weights, an input, 3 computations and an answer. The early loads of the
                # first step are in the prologue. The early loads of the last step are dropped.
                self.assertEqual(len(trace["spans/start"]), 8 * 100_000)

    def test_two_runs_have_the_same_content(self):
        with tempfile.TemporaryDirectory() as folder:
            hashes = {run(50, os.path.join(folder, name))[1]["trace"]["content_sha256"]
                      for name in ("a.h5", "b.h5")}
            self.assertEqual(len(hashes), 1)


if __name__ == "__main__":
    if not PROGRAM:
        sys.exit(77)
    unittest.main()
