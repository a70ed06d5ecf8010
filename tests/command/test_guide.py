#!/usr/bin/python3
"""Runs the commands of docs/guide.md in order, in an empty folder outside the repository with only `sluice` on the
path. Below the commands, the page shows a text, and the commands must print this text. With --write, the test replaces
these texts of the page by the texts that the commands print now."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("SLUICE_PROGRAM", ROOT / "build/release/sluice")).resolve()
GUIDE = ROOT / "docs/guide.md"

# A block of commands, and the block of their output, if there is one.
BLOCK = re.compile(r"```sh\n(?P<commands>.*?)```\n(?:```text\n(?P<output>.*?)```\n)?", re.S)


def in_an_empty_folder(use):
    """Calls use(run). run(commands) runs the commands and returns the text that they print."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as path:
        assert not pathlib.Path(folder).is_relative_to(ROOT)
        (pathlib.Path(path) / "sluice").symlink_to(PROGRAM)
        environment = {"PATH": f"{path}:/usr/bin:/bin", "HOME": folder, "LC_ALL": "C.UTF-8"}

        def run(commands):
            done = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", commands], cwd=folder, env=environment,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
            if done.returncode != 0:
                raise AssertionError(f"exit {done.returncode}\n{commands}\n{done.stdout}")
            return done.stdout

        return use(run)


def rewritten(text):
    """Returns the guide with the text that its commands print now."""
    def block(run, match):
        commands = match["commands"]
        output = run(commands)
        return f"```sh\n{commands}```\n" + (f"```text\n{output}```\n" if output else "")

    return in_an_empty_folder(lambda run: BLOCK.sub(lambda match: block(run, match), text))


class Guide(unittest.TestCase):
    maxDiff = None

    def test_its_commands_print_what_it_says(self):
        text = GUIDE.read_text()
        self.assertGreaterEqual(len(BLOCK.findall(text)), 10)
        for number, (said, printed) in enumerate(zip(*map(BLOCK.finditer, (text, rewritten(text)))), 1):
            with self.subTest(block=number):
                self.assertEqual(said["output"], printed["output"], said["commands"])

    def test_it_has_five_studies_and_each_ends_with_a_finding(self):
        studies = re.split(r"^## ", GUIDE.read_text(), flags=re.M)[1:]
        self.assertEqual(len(studies), 5)
        for study in studies:
            self.assertIn("```sh\n", study)
            self.assertIn("\n**Finding.** ", study)

    def test_a_finding_has_only_numbers_from_the_output_above_it(self):
        for study in re.split(r"^## ", GUIDE.read_text(), flags=re.M)[1:]:
            shown, finding = study.split("**Finding.**")
            for number in re.findall(r"\d[\d.]*\d|\d", finding):
                with self.subTest(study=study.splitlines()[0]):
                    self.assertRegex(shown, rf"(?<![\d.]){re.escape(number)}")


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        GUIDE.write_text(rewritten(GUIDE.read_text()))
    else:
        unittest.main(verbosity=2)
