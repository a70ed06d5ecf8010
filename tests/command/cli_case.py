"""Helpers for the tests of the command line. The helpers start the program, and check its exit code and its output."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("SLUICE_PROGRAM", str(ROOT / "build/release/sluice"))
ENVIRONMENT = {**os.environ, "SLUICE_ROOT": str(ROOT), "LC_ALL": "C.UTF-8", "COLUMNS": ""}

SMALL = ["alexnet_resident", "workload.steps=2"]


def sluice(*words, **options):
    return subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, cwd=ROOT,
                          env=options.pop("env", ENVIRONMENT), timeout=300, **options)


def start(*words):
    return subprocess.Popen([PROGRAM, *map(str, words)], cwd=ROOT, env=ENVIRONMENT, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


class Cli(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def fails(self, code, *words, says=()):
        """Checks the exit code and the words of the message, and checks that standard output is empty."""
        done = sluice(*words)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(done.stdout, "")
        for text in [says] if isinstance(says, str) else says:
            self.assertIn(text, done.stderr)
        return done.stderr

    def answers(self, *words):
        done = sluice(*words)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        return done.stdout

    def answers_json(self, *words):
        return json.loads(self.answers(*words, "--json"))


def without_question(metrics):
    """Returns the metrics with None for the bound of the question. A run of a plan has no scenario, so it lacks this
    bound."""
    return {**metrics, "question_bound_s": None, "question_ratio": None}


def main():
    """Runs the tests of the started script. If the program is not built, skips the tests."""
    if not pathlib.Path(PROGRAM).exists():
        print(f"skipped: there is no {PROGRAM}; SLUICE_PROGRAM names the program")
        sys.exit(77)
    unittest.main(verbosity=2)
