#!/usr/bin/python3
"""Tests the schemas in the repository. They must be equal to the schemas that the program prints. The bundled documents
must be valid."""

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
KINDS = {"scenario": "scenarios", "platform": "platforms", "model": "models"}


def schema_of(kind):
    done = subprocess.run([PROGRAM, "schema", kind], check=True, capture_output=True, text=True)
    return done.stdout


def documents(kind):
    return sorted((ROOT / KINDS[kind]).glob("*.yaml"))


def load(path):
    """Returns a document as an editor sees it. An editor does not read the other document that the key `file` names."""
    return yaml.safe_load(path.read_text())


# Mistakes that `sluice run` refuses, as (kind, bundled document, old text, mistake that replaces the old text).
TYPOS = [
    ("scenario", "alexnet_x200", "policy:", "polcy:"),
    ("scenario", "alexnet_x200", "name: streamed", "name: steamed"),
    ("scenario", "alexnet_x200", "name: streamed", "name: streamed, in_fligth: 3"),
    ("scenario", "alexnet_x200", "name: streamed", "name: resident, prefetch: 2"),
    ("scenario", "alexnet_x200", "name: streamed", "name: streamed, prefetch: -1"),
    ("scenario", "alexnet_x200", "overlap: true", "overlap: perhaps"),
    ("scenario", "alexnet_x200", "cost: {model: peak}", "cost: {model: roofline, comptue: 0.5}"),
    ("scenario", "alexnet_x200", "cost: {model: peak}", "cost: {model: peek}"),
    ("scenario", "alexnet_x200", "strategy: auto", "strategy: sqroot"),
    ("scenario", "alexnet_x200", "strategy: auto", "strategy: keep_all, every: 2"),
    ("scenario", "alexnet_x200", "cut: auto", "cut: by_memory, stages: 3"),
    ("scenario", "alexnet_x200", "batch: 1,", "batch: 0,"),
    ("scenario", "alexnet_x200", "memory: {", "memory: {reserved: 1GB, "),
    ("scenario", "alexnet_x200", "sluice-scenario/1", "sluice-scenario/9"),
    ("platform", "k40", "memory:", "memroy:"),
    ("platform", "k40", "GB/s", "Gbps"),
    ("platform", "k40", "TFLOP/s", "TFLOP"),
    ("platform", "k40", "sluice-platform/1", "sluice-model/1"),
    ("model", "alexnet", "layers:", "layer:"),
    ("model", "alexnet", "type: conv2d", "type: cnov2d"),
    # The keys of a layer depend on the type of the layer.
    ("model", "alexnet", "channels: 96", "chanels: 96"),
    ("model", "alexnet", "channels: 96, ", ""),
    ("model", "alexnet", "channels: 96", "channels: 0"),
    ("model", "alexnet", "channels: 96", "channels: many"),
    ("model", "alexnet", "kernel: 11", "kernel: [11, wide]"),
    ("model", "alexnet", "kernel: 11", "kernel: {height: 11}"),
    ("model", "alexnet", "padding: 2", "padding: smae"),
    ("model", "alexnet", "bias: false", "bias: maybe"),
    ("model", "alexnet", "name: relu1", "name: relu1, channels: 3"),
    ("model", "alexnet", "features: 4096", "feature: 4096"),
    ("model", "alexnet", "name: pool1", "name: pool1, forward: 3"),
    ("model", "alexnet", "name: pool1", "name: pool1, inputs: relu1"),
    ("model", "alexnet", "shape: [224, 224, 3]", "shape: 224"),
    ("model", "alexnet", "type: relu, name: relu1", "tpye: relu, name: relu1"),
    ("model", "gpt2", "heads: $heads", "head: $heads"),
    ("model", "gpt2", "type: layer_norm, name: norm1", "type: layer_norm, name: norm1, eps: 1"),
    ("model", "gpt2", "rate: $dropout%", "rate: 1.5"),
    ("model", "gpt2", "repeat: $blocks", "repeat: often"),
    ("model", "gpt2", "    layers:", "    name: tower\n    layers:"),
    ("model", "gpt2", "blocks: {default: 12,", "blocks: {defualt: 12,"),
    ("model", "gpt2", "blocks: {default: 12,", "blocks: {default: dozen,"),
    ("model", "resnet50", "type: batch_norm, name: norm1", "type: batch_norm, name: norm1, size: 3"),
    ("model", "resnet50", "kernel: 1, bias: false", "kernle: 1, bias: false"),
    ("model", "resnet50", "parameters: {width: 64}", "parameters: {width: wide}"),
]


class Schema(unittest.TestCase):
    def test_committed_schemas_are_current(self):
        for kind in KINDS:
            committed = (ROOT / "schemas" / f"{kind}.schema.json").read_text()
            self.assertEqual(
                committed, schema_of(kind),
                f"run: sluice schema {kind} > schemas/{kind}.schema.json")

    def test_schemas_are_schemas(self):
        for kind in KINDS:
            jsonschema.Draft7Validator.check_schema(json.loads(schema_of(kind)))

    def test_documents_of_the_zoos_validate(self):
        for kind in KINDS:
            validator = jsonschema.Draft7Validator(json.loads(schema_of(kind)))
            self.assertTrue(documents(kind))
            for path in documents(kind):
                with self.subTest(path=str(path.relative_to(ROOT))):
                    errors = [f"{list(e.path)}: {e.message}" for e in validator.iter_errors(load(path))]
                    self.assertEqual(errors, [])

    def test_a_typo_that_run_refuses_does_not_validate(self):
        self.assertGreaterEqual(len(TYPOS), 20)
        with tempfile.TemporaryDirectory() as folder:
            for kind, name, old, new in TYPOS:
                text = (ROOT / KINDS[kind] / f"{name}.yaml").read_text()
                self.assertIn(old, text)
                path = pathlib.Path(folder, f"{kind}.yaml")
                path.write_text(text.replace(old, new, 1))
                words = ["run", str(path)] if kind == "scenario" else [
                    "run", "phased_ipu_pair", f"{kind}={path}"]
                done = subprocess.run([PROGRAM, *words], capture_output=True, text=True,
                                      env={**os.environ, "SLUICE_ROOT": str(ROOT)})
                validator = jsonschema.Draft7Validator(json.loads(schema_of(kind)))
                with self.subTest(kind=kind, new=new):
                    self.assertEqual(done.returncode, 3, done.stderr)
                    self.assertNotEqual(list(validator.iter_errors(load(path))), [])

    def test_each_document_of_the_zoos_names_its_schema(self):
        for kind in KINDS:
            for path in documents(kind):
                line = f"# yaml-language-server: $schema=../schemas/{kind}.schema.json"
                self.assertEqual(path.read_text().splitlines()[0], line, path.name)

    def test_single_words_validate_where_they_are_known(self):
        validator = jsonschema.Draft7Validator(json.loads(schema_of("scenario")))
        document = {"format": "sluice-scenario/1", "model": "gpt2", "platform": "a100_pcie",
                    "policy": "streamed", "cost": "roofline", "stages": "per_layer", "fates": "sqrt"}
        self.assertEqual(list(validator.iter_errors(document)), [])
        for overlap in (True, "off", "yes"):
            policy = {"name": "streamed", "overlap": overlap}
            self.assertEqual(list(validator.iter_errors({**document, "policy": policy})), [])
        for wrong in ({"policy": "steamed"}, {"cost": 3}, {"model": ""}, {"stages": "per layer"},
                      {"policy": {"name": "streamed", "overlap": "maybe"}}):
            self.assertNotEqual(list(validator.iter_errors({**document, **wrong})), [], wrong)

    def test_a_wrong_key_unit_or_format_does_not_validate(self):
        wrong = {
            "scenario": lambda d: d["policy"].update(nmae="streamed"),
            "platform": lambda d: d["links"]["host"].update(bandwidth="30GHz"),
            "model": lambda d: d.update(format="sluice-platform/1"),
        }
        for kind, spoil in wrong.items():
            validator = jsonschema.Draft7Validator(json.loads(schema_of(kind)))
            document = load(ROOT / KINDS[kind] / {"scenario": "alexnet_x200.yaml",
                                                  "platform": "k40.yaml",
                                                  "model": "alexnet.yaml"}[kind])
            self.assertEqual(list(validator.iter_errors(document)), [])
            spoil(document)
            if kind == "scenario":
                document["polcy"] = {}
            self.assertNotEqual(list(validator.iter_errors(document)), [], kind)


if __name__ == "__main__":
    unittest.main(verbosity=2)
