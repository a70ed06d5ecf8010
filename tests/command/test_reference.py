#!/usr/bin/python3
"""Tests that docs/reference/ agrees with the program. All examples of these pages must run from a folder outside the
repository."""

import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("SLUICE_PROGRAM", str(ROOT / "build/release/sluice"))

# The content of the file that the example of the cost model `measured` reads.
PROFILE = """# format: sluice-profile/1
# device: k40
# defaults: {dtype: float32, pass: forward}
operator,config,inputs,batch,seconds_mean
relu,relu,32x54x54x96,32,0.0003
"""


class Reference(unittest.TestCase):
    def test_the_pages_are_current(self):
        done = subprocess.run([sys.executable, "-B", ROOT / "cmake/reference.py", PROGRAM, ROOT / "docs/reference",
                               "--check"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_every_example_is_a_block_of_code(self):
        """An indented line is a block of code only if the line above is empty."""
        for page in sorted((ROOT / "docs/reference").glob("*.md")):
            lines = re.sub(r"```.*?```", "", page.read_text(), flags=re.S).split("\n")
            examples = [number for number, line in enumerate(lines) if line.startswith("    ")]
            if page.name not in ("commands.md", "exit_codes.md", "scenario.md"):
                self.assertGreater(len(examples), 3, page.name)
            for number in examples:
                with self.subTest(page=page.name, line=lines[number]):
                    self.assertEqual(lines[number - 1], "")

    def test_every_exit_code_of_the_help_has_an_entry(self):
        said = subprocess.run([PROGRAM, "help"], capture_output=True, text=True, check=True).stdout
        codes = re.findall(r"(?<![\w.])\d+(?=,|  )", said.partition("Exit codes:")[2])
        self.assertGreater(len(codes), 7)
        entries = re.findall(r"^## (\d+)$", (ROOT / "docs/reference/exit_codes.md").read_text(), re.M)
        self.assertEqual(sorted(map(int, codes)), sorted(map(int, entries)))

    def test_every_example_runs(self):
        ran = 0
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "mine.csv").write_text(PROFILE)
            for kind in "policies", "costs", "cuts", "fates", "optimizers":
                listed = subprocess.run([PROGRAM, "list", kind, "--json"], capture_output=True, text=True, check=True)
                for entry in json.loads(listed.stdout):
                    with self.subTest(kind=kind, name=entry["name"]):
                        self.assertIn(entry["name"], entry["example"] if kind != "policies" else entry["name"])
                        words = shlex.split(entry["example"])
                        self.assertEqual(words[0], "sluice")
                        done = subprocess.run([PROGRAM, *words[1:]], cwd=folder, capture_output=True, text=True,
                                              timeout=120)
                        self.assertEqual((done.returncode, done.stderr), (0, ""), entry["example"])
                        self.assertIn("It fits.", done.stdout)
                        ran += 1
        self.assertGreater(ran, 20)

    def listed(self, kind):
        return json.loads(subprocess.run([PROGRAM, "list", kind, "--json"], capture_output=True, text=True,
                                         check=True).stdout)

    def test_the_layers_of_every_example_are_counted(self):
        with tempfile.TemporaryDirectory() as folder:
            for entry in self.listed("layers"):
                with self.subTest(name=entry["name"]):
                    measured = "measured_batch: 4\n" if "forward:" in entry["example"] else ""
                    (pathlib.Path(folder) / "example.yaml").write_text(
                        f"format: sluice-model/1\nname: example\n{measured}layers: [{entry['example']}]\n")
                    done = subprocess.run([PROGRAM, "model", "example.yaml", "--json"], cwd=folder,
                                          capture_output=True, text=True, timeout=120)
                    self.assertEqual((done.returncode, done.stderr), (0, ""), entry["example"])
                    types = [layer["type"] for layer in json.loads(done.stdout)["layers"]]
                    self.assertIn(entry["name"], types)

    def test_every_metric_has_a_value_in_its_example(self):
        answers = {}
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "mine.csv").write_text(PROFILE)
            for entry in self.listed("metrics"):
                with self.subTest(name=entry["name"]):
                    example = entry["example"]
                    if example not in answers:
                        done = subprocess.run([PROGRAM, *shlex.split(example)[1:]], cwd=folder, capture_output=True,
                                              text=True, timeout=300)
                        self.assertEqual((done.returncode, done.stderr), (0, ""), example)
                        answers[example] = json.loads(done.stdout)["metrics"]
                    self.assertNotIn(answers[example][entry["name"]], (None, {}))
        self.assertGreater(len(answers), 3)


if __name__ == "__main__":
    unittest.main()
