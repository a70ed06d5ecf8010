#!/usr/bin/python3
"""Tests that ./dev new makes one file and one line in the catalog for each kind. The file must compile without changes.

The test works on a copy of the sources, and compiles only the new file and the catalog. It does not build the whole
program.
"""

import ast
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMPILER = ["c++", "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Wno-missing-field-initializers",
            "-Werror"]


def kinds():
    """Returns the kinds that ./dev new knows, which are the keys of the table KINDS in cmake/new.py."""
    for node in ast.parse((ROOT / "cmake/new.py").read_text()).body:
        if isinstance(node, ast.Assign) and node.targets[0].id == "KINDS":
            return [key.value for key in node.value.keys]
    raise AssertionError("cmake/new.py has no table KINDS")


class New(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.copy = pathlib.Path(self.folder.name)
        for name in ("sim", "cmake"):
            shutil.copytree(ROOT / name, self.copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "dev", self.copy / "dev")

    def tearDown(self):
        self.folder.cleanup()

    def new(self, *words):
        return subprocess.run([self.copy / "dev", "new", *words], capture_output=True, text=True)

    def sources(self):
        return {path.relative_to(self.copy): path.read_text()
                for path in (self.copy / "sim").rglob("*") if path.is_file()}

    def added(self, kind):
        """Returns the new file and the catalog, and checks that no other file has changed."""
        before = self.sources()
        done = self.new(kind, f"fresh_{kind}_s")
        self.assertEqual(done.returncode, 0, done.stderr)
        after = self.sources()
        made = [path for path in after if path not in before]
        changed = [path for path in before if after[path] != before[path]]
        self.assertEqual((len(made), len(changed)), (1, 1), (kind, made, changed))
        self.assertEqual(changed[0].name, "catalog.cpp")
        old, new = before[changed[0]].splitlines(), after[changed[0]].splitlines()
        lines = [line for line in new if line not in old]
        self.assertEqual(len(new), len(old) + 1)
        if example := re.search(r'\.example = ".*(?:policy=|fates=|cost=|stages=|type: |--to )(\w+)', after[made[0]]):
            self.assertEqual(example[1], f"fresh_{kind}_s")
        self.assertRegex(lines[0], rf"^ +SLUICE_ENTRY\(\w+, fresh_{kind}_s_\w+\),$")
        return [made[0], changed[0]]

    def test_each_kind_is_one_file_that_compiles_and_one_line(self):
        self.assertGreaterEqual(len(kinds()), 10)
        files = set()
        for kind in kinds():
            files.update(self.added(kind))
        clang_format = shutil.which("clang-format")
        if clang_format:
            subprocess.run([clang_format, f"--style=file:{ROOT / '.clang-format'}", "--dry-run",
                            "-Werror", *sorted(files)], cwd=self.copy, check=True)

        def compiled(path):
            return subprocess.run([*COMPILER, "-I", self.copy / "sim", self.copy / path],
                                  capture_output=True, text=True)

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for path, done in zip(files, pool.map(compiled, files)):
                self.assertEqual(done.returncode, 0, f"{path}\n{done.stderr}")

    def test_an_impossible_request_is_refused_and_changes_nothing(self):
        before = self.sources()
        for words, message in ((("layer", "relu"), "exists already"), (("layer", "Bad"), "not a name"),
                               (("thing", "x"), "unknown kind 'thing'"), (("layer",), "usage")):
            done = self.new(*words)
            self.assertEqual(done.returncode, 1)
            self.assertIn(message, done.stderr)
        self.assertEqual(self.sources(), before)


if __name__ == "__main__":
    unittest.main()
