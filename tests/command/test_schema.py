#!/usr/bin/python3
"""The committed schemas are those that the program prints, and what is in the zoos validates."""

import json
import os
import pathlib
import subprocess
import sys
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


def merged(base, over):
    if not (isinstance(base, dict) and isinstance(over, dict)):
        return over
    result = dict(base)
    for key, value in over.items():
        result[key] = merged(base[key], value) if key in base else value
    return result


def load(path):
    """A document with the base that its `file:` names laid under it, as the reader does."""
    document = yaml.safe_load(path.read_text())
    if "file" not in document:
        return document
    base = load(path.parent / document.pop("file"))
    return merged(base, document)


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

    def test_words_alone_validate_where_they_are_known(self):
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
