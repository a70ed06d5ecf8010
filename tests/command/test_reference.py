#!/usr/bin/python3
"""docs/reference/ says what the program says, and every example of it runs, from a folder outside the repository."""

import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("SLUICE_PROGRAM", str(ROOT / "build/release/sluice"))

# What the example of the cost model `measured` names.
PROFILE = """# format: sluice-profile/1
# device: k40
# defaults: {dtype: float32, pass: forward}
operator,config,inputs,batch,seconds_mean
relu,relu,32x96x55x55,32,0.0003
"""


class Reference(unittest.TestCase):
    def test_the_pages_are_current(self):
        done = subprocess.run([sys.executable, "-B", ROOT / "cmake/reference.py", PROGRAM, ROOT / "docs/reference",
                               "--check"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_every_example_runs(self):
        ran = 0
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "mine.csv").write_text(PROFILE)
            for kind in "policies", "costs", "cuts", "fates", "optimizers":
                listed = subprocess.run([PROGRAM, "list", kind, "--json"], capture_output=True, text=True, check=True)
                for entry in json.loads(listed.stdout):
                    if entry["name"] == "auto":
                        continue
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


if __name__ == "__main__":
    unittest.main()
