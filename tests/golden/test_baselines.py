#!/usr/bin/python3
"""Tests that the zoo's scenarios have the numbers in tests/golden, in any order of the scenarios, and also if several
scenarios run at the same time.

The numbers hold to 1e-9 in every build: `ctest --preset release` and `ctest --preset dev` compare an
optimised and a debug build with the same files. To accept a change:

    sluice check scenarios/*.yaml --baseline tests/golden --update
"""

import json
import os
import pathlib
import random
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("SLUICE_PROGRAM", str(ROOT / "build/release/sluice"))
ENVIRONMENT = {**os.environ, "SLUICE_ROOT": str(ROOT), "LC_ALL": "C.UTF-8"}
SCENARIOS = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "scenarios").glob("*.yaml"))


def check(*words):
    return subprocess.run([PROGRAM, "check", *words, "--baseline", "tests/golden"],
                          capture_output=True, text=True, cwd=ROOT, env=ENVIRONMENT, timeout=500)


class Baselines(unittest.TestCase):
    def test_every_scenario_is_equal_one_at_a_time_and_eight_at_once(self):
        first, second = check(*SCENARIOS, "--jobs", "1"), check(*SCENARIOS, "--jobs", "8")
        self.assertEqual(first.returncode, 0, first.stdout + first.stderr)
        self.assertEqual(first.stdout, second.stdout)
        self.assertEqual(second.returncode, 0, second.stdout + second.stderr)
        lines = first.stdout.splitlines()
        for line in lines[:-1]:
            self.assertIn("  equal  ", line, first.stdout)
        self.assertEqual(lines[-1], f"{len(SCENARIOS)} scenarios: {len(SCENARIOS)} equal")

    def test_the_order_changes_nothing_but_the_order(self):
        shuffled = SCENARIOS[:]
        random.Random(4).shuffle(shuffled)
        self.assertNotEqual(shuffled, SCENARIOS)
        answers = []
        for scenarios in (SCENARIOS, shuffled):
            done = check(*scenarios, "--format", "json", "-v", "--strict")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            answers.append(json.loads(done.stdout)["scenarios"])
        self.assertEqual([one["path"] for one in answers[1]], shuffled)
        self.assertEqual(sorted(answers[0], key=lambda one: one["path"]),
                         sorted(answers[1], key=lambda one: one["path"]))

    def test_no_baseline_is_left_of_a_scenario_that_is_gone(self):
        names = {pathlib.Path(path).stem for path in SCENARIOS}
        folder = pathlib.Path(__file__).parent
        for path in [*folder.glob("*.json"), *folder.glob("*.plan")]:
            self.assertIn(path.stem, names)


if __name__ == "__main__":
    unittest.main()
