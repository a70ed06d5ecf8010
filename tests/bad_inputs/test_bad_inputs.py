#!/usr/bin/python3
"""Tests that every bad input ends with its exit code. The message must name the fault and its position."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import cases
import command_cases
import documents
import import_cases
import mistake_cases
import plan_cases
import profile_cases

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("SLUICE_PROGRAM", str(ROOT / "build/release/sluice"))
ENVIRONMENT = {**os.environ, "SLUICE_ROOT": str(ROOT)}
CASES = cases.CASES + plan_cases.CASES + command_cases.CASES + import_cases.CASES + mistake_cases.CASES \
    + profile_cases.CASES


def write(folder, case):
    for name, text in documents.FILES.items():
        (folder / name).write_text(text)
    (folder / ".sluice-root").touch()
    (folder / "folder.yaml").mkdir()
    (folder / "link.yaml").symlink_to("/etc/hostname")
    os.mkfifo(folder / "pipe.yaml")
    if case.edit:
        old, new = case.edit
        text = documents.FILES[case.file]
        assert old in text, f"{case.name}: '{old}' is not in {case.file}"
        (folder / case.file).write_text(text.replace(old, new, 1))
    elif isinstance(case.content, bytes):
        (folder / case.file).write_bytes(case.content)
    elif case.content is not None:
        (folder / case.file).write_text(case.content)


def run(case):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name) / "inputs"
        folder.mkdir()
        write(folder, case)
        done = subprocess.run([PROGRAM, *case.run], cwd=folder, env=ENVIRONMENT,
                              capture_output=True, timeout=60)
        return done.returncode, done.stdout, done.stderr.decode()


class BadInputs(unittest.TestCase):
    def check(self, case):
        code, output, message = run(case)
        self.assertEqual((code, output), (case.code, b""), message)
        for text in case.says:
            self.assertIn(text, message)
        if not case.at:
            self.assertTrue(message.startswith("sluice: "), message)
            return
        self.assertTrue(message.startswith(case.at), message)
        self.assertIn(": error: ", message.splitlines()[0])
        if ":" in case.at:
            self.assertRegex(message, r"^[^\n]+:\d+:\d+: error: ")
            if not isinstance(case.content, bytes):  # The message must not show the content of a file that is not text.
                self.assertRegex(message, r"\n +\^\n", "there is no caret")

    def test_the_inputs_are_correct_before_they_are_changed(self):
        for words in (["run", "scenario.yaml"], ["run", "small.plan"], ["run", "second.plan"],
                      ["model", "table.json"],
                      ["model", "small.graph.txt", "batch=2"]):
            code, _, message = run(cases.Case("right", 0, "", [], run=words))
            self.assertEqual(code, 0, message)
            self.assertNotIn("error", message)  # An importer may print notes before the message.

    def test_former_mistakes_are_understood(self):
        fancy = import_cases.onnx(import_cases.node("FancyAct", ["x"], ["y"], domain="com.example"))
        words = "format: sluice-scenario/1\nmodel: gpt2\nplatform: a100_pcie\npolicy: resident\ncost: roofline\n"
        for content, file, line in (
                (fancy, "m.onnx", ["model", "m.onnx", "as_zero=FancyAct", "shapes={y: [1, 4]}"]),
                (fancy, "m.onnx", ["model", "m.onnx", "as_zero=[com.example.FancyAct]", "shapes={y: [1, 4]}"]),
                (fancy, "m.onnx", ["import", "m.onnx", "--as-zero", "FancyAct", "shapes={y: [1, 4]}"]),
                (words, "scenario.yaml", ["run", "scenario.yaml", "--resolve"]),
                (None, "", ["run", "scenario.yaml", "policy.overlap=off"]),
                (None, "", ["run", "scenario.yaml", "policy.overlap=yes"]),
                (None, "", ["run", "scenario.yaml", "policy=resident", "platform=k40"]),
                (None, "", ["list"]), (None, "", ["-V"]), (None, "", ["version"]),
                (None, "", ["completion", "bash"])):
            with self.subTest(line=line):
                code, _, message = run(cases.Case("right", 0, "", [], file, content=content, run=line))
                self.assertEqual(code, 0, message)

    def test_there_are_sixty_and_no_name_occurs_twice(self):
        names = [case.name for case in CASES]
        self.assertGreaterEqual(len(names), 60)
        self.assertEqual(len(names), len(set(names)))


def add(number, case):
    def test(self):
        self.check(case)
    setattr(BadInputs, f"test_{number:03}_" + "_".join(case.name.split()), test)


for number, case in enumerate(CASES, 1):
    add(number, case)

if __name__ == "__main__":
    if not pathlib.Path(PROGRAM).exists():
        print(f"skipped: there is no {PROGRAM}; SLUICE_PROGRAM names the program")
        sys.exit(77)
    if sys.argv[1:] == ["--print"]:
        for case in CASES:
            code, _, message = run(case)
            print(f"--- {case.name}: {code}\n{message}")
    else:
        unittest.main(verbosity=2)
