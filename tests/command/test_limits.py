#!/usr/bin/python3
"""Tests that the program refuses documents and scenarios that are too large. The program must refuse them before they
fill the memory of this computer."""

import json
import os
import pathlib
import resource
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("SLUICE_PROGRAM", str(ROOT / "build/release/sluice"))
ENVIRONMENT = {**os.environ, "SLUICE_ROOT": str(ROOT), "LC_ALL": "C.UTF-8", "COLUMNS": ""}
GIGABYTE = 1 << 30


def sluice(*words, cwd=None):
    """Runs the program with a limit of three gigabytes of address space, as `ulimit -v` sets it."""
    return subprocess.run([PROGRAM, *map(str, words)], env=ENVIRONMENT, capture_output=True, timeout=300, cwd=cwd,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (3 * GIGABYTE, 3 * GIGABYTE)))


def chain(layers):
    return {"format": "sluice-model/1", "name": "chain",
            "layers": [{"type": "input", "name": "image", "shape": [8]}] +
                      [{"type": "dense", "name": f"dense{i}", "features": 8} for i in range(layers)]}


def scenario(mode, batch, policy):
    return json.dumps({
        "format": "sluice-scenario/1", "model": "chain.json", "platform": "k40",
        "workload": {"mode": mode, "dtype": "float32", "batch": batch, "micro_batch": 1},
        "stages": {"cut": "per_layer"}, "policy": policy, "cost": {"model": "peak"}})


class Limits(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_chain(self, layers, mode, batch, policy):
        (self.folder / "chain.json").write_text(json.dumps(chain(layers)))
        (self.folder / "asked.json").write_text(scenario(mode, batch, policy))
        return sluice("run", "asked.json", cwd=self.folder)

    def test_a_step_of_too_many_actions_is_refused_before_it_is_made(self):
        for policy, layers, batch in (("resident", 20_000, 400), ("streamed", 4_000, 1_000), ("phased", 4_000, 1_000)):
            with self.subTest(policy):
                done = self.run_chain(layers, "training", batch, {"name": policy})
                self.assertEqual(done.returncode, 4, done.stderr)
                self.assertIn(b"the plan would list more than 4000000 actions", done.stderr)

    def test_a_round_of_few_actions_may_repeat_often(self):
        done = self.run_chain(4_000, "inference", 2_000, {"name": "resident"})
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_cut_that_is_too_long_does_not_hide_another_one(self):
        (self.folder / "chain.json").write_text(json.dumps(chain(60)))
        asked = json.loads(scenario("training", 40_000, {"name": "resident"}))
        del asked["stages"]
        asked["fates"] = {"strategy": "keep_all"}
        asked["workload"]["steps"] = 2  # so that the plan lists a whole batch
        (self.folder / "asked.json").write_text(json.dumps(asked))
        done = sluice("run", "asked.json", cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"cut: whole", done.stdout)

    def test_yaml_of_too_many_values_is_refused(self):
        (self.folder / "long.yaml").write_text(
            "format: sluice-model/1\nlayers:\n  - {type: input, name: x, shape: [" + "1," * 15_000_000 + "1]}\n")
        done = sluice("model", self.folder / "long.yaml")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn(b"long.yaml: error: 15000010 keys and values of YAML", done.stderr)
        self.assertIn(b"Write the document as JSON", done.stderr)

    def test_groups_of_too_many_devices_are_refused(self):
        (self.folder / "many.yaml").write_text("""\
format: sluice-platform/1
memories: {host: {capacity: 1TB}}
groups:
  node:
    count: 1000
    devices:
      gpu: {count: 100, rate: {float32: 1TFLOP/s}, memory: {capacity: 1GB}}
links: {up: {joins: [host, node_gpu], bandwidth: 1GB/s}}
""")
        done = sluice("run", ROOT / "scenarios/alexnet_resident.yaml", f"platform={self.folder / 'many.yaml'}")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn(b"many.yaml:5:", done.stderr)
        self.assertIn(b"with '1000' for 'count', the platform would have 100000 devices", done.stderr)


if __name__ == "__main__":
    unittest.main()
