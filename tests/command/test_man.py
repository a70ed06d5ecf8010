#!/usr/bin/python3
"""Tests the man pages of the program and of each command. The test needs help2man, which makes the pages."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("SLUICE_PROGRAM", str(ROOT / "build/release/sluice"))
ENVIRONMENT = {**os.environ, "SLUICE_ROOT": str(ROOT), "LC_ALL": "C.UTF-8"}


class Man(unittest.TestCase):
    def test_each_command_has_a_page_with_its_synopsis_and_options(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["bash", ROOT / "cmake/man_pages.sh", PROGRAM, folder], check=True, env=ENVIRONMENT)
            pages = {page.stem: page.read_text() for page in pathlib.Path(folder).glob("*.1")}
        help_text = subprocess.run([PROGRAM, "help"], capture_output=True, text=True, env=ENVIRONMENT).stdout
        for command in ("run", "fits", "sweep", "search", "list", "new", "completion"):
            self.assertIn(f"\n  {command} ", help_text)
            page = pages[f"sluice-{command}"]
            for part in (f".TH SLUICE-{command.upper()} ", f"\nsluice-{command} \\- ", "\n.SH SYNOPSIS\n",
                         "\n.SH OPTIONS\n", "\n.SH EXAMPLES\n", "Exit codes:"):
                self.assertIn(part, page, command)
        self.assertIn("\n.SH SYNOPSIS\n", pages["sluice"])
        self.assertGreater(len(pages), 12)


if __name__ == "__main__":
    if not shutil.which("help2man") or not pathlib.Path(PROGRAM).exists():
        print("skipped: there is no help2man, or no program")
        sys.exit(77)
    unittest.main(verbosity=2)
