"""Helpers for the tests of `sluice check`: a folder with scenarios, plans and their baselines."""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("SLUICE_PROGRAM", str(ROOT / "build/release/sluice"))
ENVIRONMENT = {**os.environ, "SLUICE_ROOT": str(ROOT), "LC_ALL": "C.UTF-8"}


def percent_more(text, percent):
    return repr(float(text) * (1 + percent / 100))


class Check(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def sluice(self, *words):
        return subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True,
                              cwd=self.folder, env=ENVIRONMENT, timeout=300)

    def check(self, code, *words):
        done = self.sluice("check", *words, "--baseline", "golden")
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout

    def check_json(self, code, *words):
        return json.loads(self.check(code, *words, "--format", "json"))

    def scenario(self, name, base="phased_ipu_pair", **changes):
        """Resolves the scenario `base` with changes such as {"policy.overlap": "false"}, and writes the result to the
        file `name`."""
        words = [f"{key}={value}" for key, value in changes.items()]
        done = self.sluice("run", base, *words, "--resolve", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        (self.folder / name).write_text(done.stdout)
        return name

    def plan(self, name="p.plan", base="phased_ipu_pair", *words):
        done = self.sluice("plan", base, *words, "-o", name)
        self.assertEqual(done.returncode, 0, done.stderr)
        return name

    def edit(self, name, pattern, replacement):
        path = self.folder / name
        text, count = re.subn(pattern, replacement, path.read_text(), flags=re.M)
        self.assertGreater(count, 0)
        path.write_text(text)
        return count

    def accept(self, *names):
        self.check(0, *names, "--update")
        self.assertIn("equal", self.check(0, *names, "--strict"))
