#!/usr/bin/python3
"""Runs the commands of README.md in order, in an empty folder outside the repository. Every page that another page
names must exist."""

import re
import unittest

from test_guide import ROOT, in_an_empty_folder

PAGE = (ROOT / "README.md").read_text()


class Readme(unittest.TestCase):
    def test_every_command_runs(self):
        question = re.search(r"```yaml\n(.*?)```", PAGE, re.S)[1]
        commands = re.findall(r"`(sluice [^`]+)`", PAGE)
        self.assertGreater(len(commands), 10)

        def use(run):
            run(f"cat > question.yaml <<'END'\n{question}END")
            for command in commands:
                with self.subTest(command=command):
                    self.assertTrue(run(command) or "-o" in command)

        in_an_empty_folder(use)

    def test_each_of_the_two_first_commands_has_a_line_of_its_own(self):
        lines = [line for line in PAGE.split("\n## ")[0].split("\n") if line.startswith("    ./dev")]
        self.assertEqual([line.split("#")[0].split() for line in lines],
                         [["./dev", "run", "scenarios/alexnet_x200.yaml"], ["./dev", "test"]])

    def test_every_page_that_a_page_names_exists(self):
        pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md"),
                 *(ROOT / "examples").glob("*.md"), *(ROOT / "analysis").rglob("*.md"), *ROOT.glob("*/FORMAT.md")]
        found = 0
        for page in pages:
            for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
                with self.subTest(page=str(page.relative_to(ROOT)), link=link):
                    self.assertTrue((page.parent / link).exists())
                    found += 1
        self.assertGreater(found, 60)


if __name__ == "__main__":
    unittest.main()
