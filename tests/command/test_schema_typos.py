#!/usr/bin/python3
"""Tests that the schema agrees with `sluice run`. The schema must mark mistakes, and must accept valid variants. There
are cases about the keys of a replicated policy, figures of the platform in a scenario, and devices with several
memories."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import jsonschema
    import yaml
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("SLUICE_PROGRAM", str(ROOT / "build/release/sluice"))

# The settings of a scenario that runs. A case replaces some of the settings.
SETTINGS = {"model": "alexnet", "platform": "{file: rx7900xtx_pair}", "workload": "{batch: 2, batches_per_step: 2}",
            "policy": "{name: data_parallel, replica: streamed, prefetch: 1}"}


def changed(**settings):
    return settings


def text_of(case):
    """Returns the scenario with the settings of a case."""
    settings = {**SETTINGS, **case}
    return "format: sluice-scenario/1\n" + "".join(f"{key}: {value}\n" for key, value in settings.items())


def links(text):
    return changed(platform=f"{{file: rx7900xtx_pair, links: {text}}}")


def gpu(text):
    return changed(platform=f"{{file: rx7900xtx_pair, devices: {{gpu: {text}}}}}")


REFUSED = [
    changed(policy="{name: data_parallel, replica: streamd}"),
    changed(policy="{name: data_parallel, replica: streamd, foo: 3}"),
    changed(policy="{name: data_parallel, replica: streamed, foo: 3}"),
    changed(policy="{name: data_parallel, replica: data_parallel}"),
    changed(policy="{name: data_parallel, replica: sharded}"),
    changed(policy="{name: data_parallel}"),
    changed(policy="data_parallel"),
    changed(policy="{replica: streamed}"),
    changed(policy="{name: streamed, replica: resident}"),
    changed(policy="{name: data_parallel, replica: resident, prefetch: 1}"),
    changed(policy="{name: data_parallel, replica: streamed, prefetch: -1}"),
    changed(policy="{name: data_parallel, replica: streamed, transfers: in_trun}"),
    changed(policy="{name: data_parallel, replica: streamed, all_reduce: overlaped}"),
    changed(policy="{name: data_parallel, replica: streamed, devices: gpu0}"),
    links("{host: {bandwith: 1GB/s}}"),
    links("{host: {bandwidth: 1GBps}}"),
    links("{host: {sharing: shraed}}"),
    links("{host: {down: {bandwith: 1GB/s}}}"),
    changed(platform="{file: rx7900xtx_pair, linkz: {}}"),
    changed(platform="{file: rx7900xtx_pair, format: sluice-model/1}"),
    changed(platform="{file: 3}"),
    changed(platform="{fiel: rx7900xtx_pair}"),
    changed(platform="{devices: {gpu: {memory: {capacity: 1GB}}}}"),
    gpu("{cuont: 1}"),
    gpu("{efficiency: 1.5}"),
    gpu("{memory: {name: ddr, capacity: 24GB}}"),
    gpu("{memory: [{capacity: 24GB}, {capacity: 64GB}]}"),
    gpu("{memory: [{name: hbm, capacity: 24GB}, {name: ddr, capacity: 64GB}]}"),
    gpu("{memory: [{capacity: 24GB}, {name: ddr}]}"),
    gpu("{memory: []}"),
    changed(stages="by_memroy"),
    changed(stages="{cut: by_layers}"),
    changed(stages="{cut: balanced}"),
    changed(stages="balanced"),
]

ACCEPTED = [
    changed(),
    changed(policy="{name: data_parallel, replica: resident}"),
    changed(policy="{name: data_parallel, replica: streamed, devices: [gpu0, gpu1], transfers: in_turn}"),
    changed(policy="streamed", platform="k40"),
    links("{host: {bandwidth: 1GB/s}}"),
    links("{host: {down: {bandwidth: 1GB/s}}}"),
    changed(platform="{file: rx7900xtx_pair, format: sluice-platform/1, name: mine}"),
    gpu("{efficiency: 0.5, memory: {capacity: 12GB}}"),
    gpu("{memory: [{capacity: 24GB, bandwidth: 960GB/s}, {name: ddr, capacity: 64GB, bandwidth: 90GB/s}]}"),
    gpu("{memory: [{capacity: 24GB, bandwidth: 960GB/s}, host]}"),
]


class Typos(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        done = subprocess.run([PROGRAM, "schema", "scenario"], check=True, capture_output=True, text=True)
        cls.validator = jsonschema.Draft7Validator(json.loads(done.stdout))

    def answer(self, case):
        """Returns the exit code of `sluice run`, its message, and the messages of the schema."""
        text = text_of(case)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "typo.yaml")
            path.write_text(text)
            done = subprocess.run([PROGRAM, "run", str(path)], capture_output=True, text=True,
                                  env={**os.environ, "SLUICE_ROOT": str(ROOT)})
        marked = [error.message for error in self.validator.iter_errors(yaml.safe_load(text))]
        return done.returncode, done.stderr, marked

    def test_what_run_refuses_is_marked(self):
        for case in REFUSED:
            with self.subTest(case=case):
                code, message, marked = self.answer(case)
                self.assertEqual(code, 3, message)
                self.assertNotEqual(marked, [], message)

    def test_what_run_accepts_is_not_marked(self):
        for case in ACCEPTED:
            with self.subTest(case=case):
                code, message, marked = self.answer(case)
                self.assertEqual((code, marked), (0, []), message)

    def test_a_further_memory_of_a_platform_file_needs_a_name(self):
        done = subprocess.run([PROGRAM, "schema", "platform"], check=True, capture_output=True, text=True)
        validator = jsonschema.Draft7Validator(json.loads(done.stdout))
        device = {"rate": {"float32": "1TFLOP/s"}, "memory": [{"capacity": "1GB"}, {"name": "ddr", "capacity": "2GB"}]}
        document = {"format": "sluice-platform/1", "name": "two", "devices": {"gpu": device}}
        self.assertEqual(list(validator.iter_errors(document)), [])
        del device["memory"][1]["name"]
        self.assertNotEqual(list(validator.iter_errors(document)), [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
