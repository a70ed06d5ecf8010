#!/usr/bin/python3
"""Tests that the two plans in docs/words.md run as they are drawn there. Also tests that docs/formats.md names every
format."""

import csv
import io
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("SLUICE_PROGRAM", str(ROOT / "build/release/sluice"))
PAGE = (ROOT / "docs/words.md").read_text()
PLANS = re.findall(r"```text\n(format: sluice-plan.*?)```", PAGE, re.S)


def spans(plan):
    """Runs a plan with SimGrid and with the replay, which must agree. Returns {(action, iteration): (start, end) in
    ms}."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "words.plan"
        path.write_text(plan)

        def run(*words):
            return subprocess.run([PROGRAM, *words], cwd=folder, capture_output=True, text=True, check=True).stdout

        run("run", "words.plan", "--executor", "both")
        run("run", "words.plan", "-o", "words.h5")
        rows = csv.DictReader(io.StringIO(run("export", "words.h5", "--to", "csv")))
        return {(row["action"], int(row["iteration"])): (1e3 * float(row["start_s"]), 1e3 * float(row["end_s"]))
                for row in rows}


class Words(unittest.TestCase):
    def check(self, plan, expected):
        found = spans(plan)
        self.assertEqual(set(found), set(expected))
        for key, times in expected.items():
            for one, other in zip(found[key], times):
                self.assertAlmostEqual(one, other, places=9, msg=str(key))

    def test_iteration_distance_and_ahead(self):
        self.check(PLANS[0], {("first", 0): (0, 1), ("next", 0): (1, 2), ("next", 1): (3, 4),
                              ("use", 0): (1, 3), ("use", 1): (3, 5), ("use", 2): (5, 7)})
        # In the drawing, a stream's name and the blanks behind it take 15 characters. Then each millisecond takes 7
        # characters.
        streams = re.search(r"gpu\.host\.down  (.*)\ngpu\.compute    (.*)\n", PAGE)
        drawn = {}
        for line in streams.groups():
            for name in re.finditer(r"\|\s*([a-z]+)(\d?)\s*(?=\|)", line):
                drawn[name[1], int(name[2] or 0)] = (name.start() / 7, name.end() / 7)
        for key, times in {("first", 0): (0, 1), ("next", 0): (1, 2), ("next", 1): (3, 4),
                           ("use", 0): (1, 3), ("use", 1): (3, 5), ("use", 2): (5, 7)}.items():
            self.assertEqual(drawn[key], times, key)

    def test_reservation(self):
        self.check(PLANS[1], {("a", 0): (5, 8), ("b", 0): (0, 20), ("c", 0): (8, 9)})


class Formats(unittest.TestCase):
    def test_the_page_has_every_format_that_the_program_names(self):
        page = (ROOT / "docs/formats.md").read_text()
        for path in sorted((ROOT / "sim").rglob("*.[ch]pp")):
            for name in re.findall(r"sluice-[a-z]+(?:-[a-z]+)*/[0-9]+", path.read_text()):
                with self.subTest(path=path.name, name=name):
                    kind, version = name.split("/")
                    self.assertTrue(name in page or kind == "sluice-plan" and version == "1", name)


if __name__ == "__main__":
    unittest.main()
