"""Helpers for the tests of `sluice export`: three traces, and the columns of a trace as h5py reads them."""

import math
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import h5py
except ImportError:
    print("skipped: there is no h5py")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("SLUICE_PROGRAM", str(ROOT / "build/release/sluice"))
ENVIRONMENT = {**os.environ, "SLUICE_ROOT": str(ROOT), "LC_ALL": "C.UTF-8"}
SCHEMA = ROOT / "tests/support/perfetto_subset.proto"
EVIL = '</script>"\n'

# A network on a device whose memory does not hold all weights. So loads wait for memory, and computations wait for
# loads.
SCENARIO = r"""
format: sluice-scenario/1
model:
  definition:
    format: sluice-model/1
    name: harm
    layers:
      - {type: input, name: x, shape: [50, 50]}
      - {type: matmul, name: "</script>\"\n", features: 50}
      - {type: matmul, name: "plain", features: 50}
      - {type: matmul, name: "<!-- & 'ä'", features: 50}
platform:
  format: sluice-platform/1
  name: small
  summary: one device behind one link
  source: made up
  devices: {gpu: {rate: {float32: 1GFLOP/s}, memory: {capacity: 200kB}}}
  memories: {host: {capacity: unlimited}}
  links: {host: {joins: [host, gpu], bandwidth: 1GB/s, latency: 3us, setup: 1us}}
workload: {batch: 4, batches_per_step: 3, steps: 4}
stages: {cut: per_layer}
policy: {name: streamed}
"""


def sluice(*words, text=True):
    return subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=text, cwd=ROOT,
                          env=ENVIRONMENT, timeout=300)


class Columns:
    """A trace as h5py reads it."""

    def __init__(self, path):
        with h5py.File(path) as file:
            self.spans = {name: column[:] for name, column in file["spans"].items()
                          if column.dtype.kind in "fiu" and name != "span"}
            texts = lambda name: list(file["labels/" + name].asstr()[:])
            self.actions, self.streams = texts("actions/name"), texts("streams/name")
            self.devices, self.kinds = texts("streams/device"), texts("kinds/name")
            self.stages, self.pools = texts("stages/name"), texts("pools/name")
            self.memory = {}
            for name in self.pools:
                pool = file["memory/" + name]
                self.memory[name] = list(zip(pool["time"][:], pool["level"][:].tolist()))
            self.summary = {}
            for name, item in file["summary"].items():
                if isinstance(item, h5py.Dataset) and item.dtype.kind == "f":
                    self.summary[name] = float(item[()])
        self.count = len(self.spans["start"])

    def rows(self):
        for i in range(self.count):
            yield {name: column[i].item() for name, column in self.spans.items()}

    def flows(self):
        """Returns the flows that an export of the trace has. A flow is a pair (source, target) of numbers of spans. The
        span `target` waited for the end of the span `source`."""
        return sorted((row["cause"], number) for number, row in enumerate(self.rows())
                      if row["cause"] >= 0)


def nanoseconds(seconds):
    return math.floor(seconds * 1e9 + 0.5)  # This expression rounds halves up, unlike Python's round().


class Export(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        folder = pathlib.Path(cls.folder.name)
        (folder / "harm.yaml").write_text(SCENARIO)
        cls.traces = {}
        for name, words in {"harm": [folder / "harm.yaml"],
                            "phased": ["phased_ipu_pair", "workload.steps=1",
                                       "workload.batches_per_step=20"],
                            "alexnet": ["alexnet_x200"]}.items():
            done = sluice("run", *words, "-o", folder / (name + ".h5"))
            assert done.returncode == 0, done.stderr
            cls.traces[name] = Columns(folder / (name + ".h5"))

    def path(self, name):
        return pathlib.Path(self.folder.name) / name

    def export(self, name, form, *words):
        done = sluice("export", self.path(name + ".h5"), "--to", form, *words, text=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, b"")
        return done.stdout
