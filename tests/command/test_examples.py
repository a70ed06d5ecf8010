#!/usr/bin/python3
"""Runs the C++ and the Python version of each program of examples/, also in a folder outside of the repository. The two
versions must print equal texts."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ["SLUICE_PROGRAM"])
COMPILED = PROGRAM.parent / "examples"

# The beginning of the output of each program. Three outputs are derived by hand:
#
# run_scenario: the run has 10 steps of 10 batches of 8 samples.
#
# plan_by_hand: 16 MB at 16 GB/s take 1 ms. After the first load come three computations of 2 ms. The two other loads
# overlap with these computations.
#
# write_policy: at its peak, the policy `reload` holds the weights of the largest stage, and the policy `basic` holds
# all weights. There are 4 bytes per parameter. So AlexNet's weights have 243.9 MB, and the weights of its first dense
# layer have 151.0 MB.
BEGINS = {
    "run_scenario": "800 samples in ",
    "plan_by_hand": "7.000 ms\n",
    "write_policy": "basic ",
    "read_trace": "gpu.host.down busy ",
}


def printed(command, folder):
    done = subprocess.run([str(word) for word in command], cwd=folder, capture_output=True,
                          text=True, timeout=300)
    if done.returncode != 0:
        raise AssertionError(f"{command} ended with {done.returncode}:\n{done.stderr}")
    return done.stdout


class Examples(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def both(self, name):
        compiled = printed([COMPILED / name], self.folder)
        python = printed([sys.executable, ROOT / "examples" / f"{name}.py"], self.folder)
        self.assertEqual(compiled, python)
        self.assertTrue(compiled.startswith(BEGINS[name]), compiled)
        return compiled

    def test_every_example_is_run_here(self):
        names = {path.stem for path in (ROOT / "examples").glob("*.[cp][py]*")}
        self.assertEqual(names, set(BEGINS))

    def test_a_scenario_is_run(self):
        self.both("run_scenario")

    def test_the_readme_shows_the_shortest_example(self):
        text = (ROOT / "examples/run_scenario.py").read_text()
        self.assertIn("```python\n" + text[text.index("import sluice"):] + "```", (ROOT / "README.md").read_text())

    def test_a_plan_is_made_by_hand(self):
        self.both("plan_by_hand")

    def test_a_policy_is_added_and_needs_less_memory(self):
        basic, reload = [line.split() for line in self.both("write_policy").splitlines()]
        self.assertLess(float(basic[1]), float(reload[1]))
        self.assertGreater(float(basic[-2]), float(reload[-2]))

    def test_a_trace_is_read(self):
        printed([PROGRAM, "run", "alexnet_resident", "-o", "trace.h5"], self.folder)
        lines = self.both("read_trace").splitlines()
        self.assertEqual(["gpu.host.down", "gpu.compute", "gpu.host.up"],
                         [line.split()[0] for line in lines])


if __name__ == "__main__":
    unittest.main()
