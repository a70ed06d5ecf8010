"""Scenarios, and a class for tests that read the answer of `sluice run`, or its refusal."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("SLUICE_PROGRAM", str(ROOT / "build/release/sluice"))
ENVIRONMENT = {**os.environ, "SLUICE_ROOT": str(ROOT), "LC_ALL": "C.UTF-8", "COLUMNS": "1000"}

LLAMA = """\
format: sluice-scenario/1
question: How fast does Llama 2 7B decode behind 2047 tokens?
model: {file: llama2_7b, tokens: 1, cached: 2047}
platform: rx7900xtx_pcie4
workload: {mode: inference, dtype: float16}
stages: {cut: single_tensor}
policy: resident
"""
TRAINED = """\
format: sluice-scenario/1
question: Does recomputing all make room?
model: gpt2
platform: k20
workload: {mode: training, batch: 1, optimizer: adam, backward: per_layer}
stages: {cut: explicit, after: [positions, sum2.1, sum2.2, sum2.3, sum2.4, sum2.5, sum2.6, sum2.7, sum2.8,
  sum2.9, sum2.10, sum2.11, sum2.12]}
policy: resident
fates: {strategy: recompute_all}
"""
# A scenario with a card, and a disk behind the host. The rate of 1 GFLOP/s and the bandwidth of the disk have sources.
# The bandwidth of the host's link is assumed.
DISK = """\
format: sluice-scenario/1
question: What is the disk for?
model:
  definition:
    format: sluice-model/1
    name: one
    layers: [{type: input, name: x, shape: [1000]}, {type: dense, name: y, features: 1000, bias: false}]
platform:
  format: sluice-platform/1
  name: with_disk
  source: worked out in the test
  assumed: [links.host.bandwidth]
  devices: {gpu: {rate: {float32: 1GFLOP/s}, efficiency: 50%, memory: {capacity: 1GB}, busy: 100W}}
  memories: {host: {capacity: 1GB}, nvme: {capacity: 8TB}}
  links:
    host: {joins: [host, gpu], bandwidth: 1GB/s}
    disk: {joins: [host, nvme], bandwidth: 1GB/s}
policy: {name: resident, overlap: false}
"""
# A graph in the form of PipeDream's profiler, with two linear layers that were measured for 4 samples.
PROFILE = """\
node1 -- Input -- forward_compute_time=0.000, backward_compute_time=0.000, activation_size=1600.0, parameter_size=0.000
node2 -- Linear(in_features=100, out_features=50, bias=True) -- forward_compute_time=1.000, backward_compute_time=2.000, activation_size=800.0, parameter_size=20200.000
node3 -- Linear(in_features=50, out_features=10, bias=True) -- forward_compute_time=1.000, backward_compute_time=2.000, activation_size=160.0, parameter_size=2040.000
\tnode1 -- node2
\tnode2 -- node3
"""


class AnswerCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_sluice(self, text, *words, code=0):
        path = self.folder / "scenario.yaml"
        path.write_text(text)
        done = subprocess.run([PROGRAM, "run", str(path), *words], capture_output=True, text=True,
                              env=ENVIRONMENT, cwd=self.folder, timeout=300)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def answer(self, text, *words):
        return json.loads(self.run_sluice(text, *words, "--json").stdout)

    def notes(self, text, *words):
        return {note["name"]: note["text"] for note in self.answer(text, *words)["notes"]}

    def profile(self, batch):
        """Imports PROFILE as if it had been measured for `batch` samples. Returns a scenario with this model."""
        (self.folder / "net.graph.txt").write_text(PROFILE)
        path = self.folder / f"batch{batch}.yaml"
        done = subprocess.run([PROGRAM, "import", "net.graph.txt", f"batch={batch}", "-o", str(path), "--force"],
                              capture_output=True, text=True, env=ENVIRONMENT, cwd=self.folder, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        return f"format: sluice-scenario/1\nmodel: {{file: {path.name}}}\nplatform: k40\npolicy: resident\n"
