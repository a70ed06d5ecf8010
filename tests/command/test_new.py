#!/usr/bin/python3
"""Tests that ./dev new makes one file and one line in the catalog for each kind, and that the new entry works at once.

The test works on a copy of the sources, in which it makes an entry of each kind. It compiles only the new files and the
catalogs, with the compiler flags of the build, but without optimisation. Then it links the program and the tests with
these files in place of the catalogs of the build. The program must list and run each new entry, and the tests of all
entries must pass.
"""

import ast
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["SLUICE_PROGRAM"]).resolve().parent

# For each kind that `sluice list` lists, the name of its list.
LISTS = {"policy": "policies", "layer": "layers", "cost": "costs", "cut": "cuts", "metric": "metrics",
         "fate": "fates", "optimizer": "optimizers"}


def kinds():
    """Returns the kinds that ./dev new knows, which are the keys of the table KINDS in cmake/new.py."""
    for node in ast.parse((ROOT / "cmake/new.py").read_text()).body:
        if isinstance(node, ast.Assign) and node.targets[0].id == "KINDS":
            return [key.value for key in node.value.keys]
    raise AssertionError("cmake/new.py has no table KINDS")


def tests_of_entries():
    """Returns the names of the files with tests that go over all entries of a catalog."""
    return sorted(path.stem for path in (ROOT / "tests").rglob("test_*.cpp")
                  if re.search(r": \w+_catalog\(\)\.entries\(\)\)|: catalog\.entries\(\)\)", path.read_text()))


def name_of(kind):
    return f"fresh_{kind}_s"


class Copy:
    """A copy of the sources in a folder that is deleted in the end."""

    def __init__(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.temporary.name)
        for name in ("sim", "cmake"):
            shutil.copytree(ROOT / name, self.folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "dev", self.folder / "dev")

    def new(self, *words):
        return subprocess.run([self.folder / "dev", "new", *words], capture_output=True, text=True)

    def sources(self):
        return {path.relative_to(self.folder): path.read_text()
                for path in (self.folder / "sim").rglob("*") if path.is_file()}


class Refusals(unittest.TestCase):
    def test_an_impossible_request_is_refused_and_changes_nothing(self):
        copy = Copy()
        self.addCleanup(copy.temporary.cleanup)
        before = copy.sources()
        for words, message in ((("layer", "relu"), "exists already"), (("layer", "Bad"), "not a name"),
                               (("thing", "x"), "unknown kind 'thing'"), (("layer",), "usage")):
            done = copy.new(*words)
            self.assertEqual(done.returncode, 1)
            self.assertIn(message, done.stderr)
        self.assertEqual(copy.sources(), before)


class New(unittest.TestCase):
    """All tests use one copy with an entry of each kind. `changes` has, for each kind, the sources before and after."""

    @classmethod
    def setUpClass(cls):
        cls.copy = Copy()
        cls.addClassCleanup(cls.copy.temporary.cleanup)
        cls.changes = {}
        cls.sources = before = cls.copy.sources()
        for kind in kinds():
            done = cls.copy.new(kind, name_of(kind))
            assert done.returncode == 0, done.stderr
            after = cls.copy.sources()
            cls.changes[kind] = (before, after)
            before = after
        cls.made = sorted(path for path in before if before[path] != cls.sources.get(path))
        if not (BUILD / "build.ninja").exists():
            raise unittest.SkipTest("only a build with Ninja says how the program is linked")
        cls.objects = cls.compiled()
        os.symlink(BUILD / "sluice_simgrid.so", cls.copy.folder / "sluice_simgrid.so")
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            cls.program, cls.tests = pool.map(cls.linked, ("sluice", "sluice_tests"))

    @classmethod
    def compiled(cls):
        """Compiles the new files and the catalogs. Returns the object files. A new file has the flags of the catalog
        of its kind."""
        commands = {entry["file"]: shlex.split(entry["command"])
                    for entry in json.loads((BUILD / "compile_commands.json").read_text())}
        catalog_of = {}
        for before, after in cls.changes.values():
            made, = (path for path in after if path not in before)
            catalog_of[made], = (path for path in before if after[path] != before[path])

        def compiled(path):
            words = commands[str(ROOT / catalog_of.get(path, path))]
            words = words[:words.index("-o")]
            made = cls.copy.folder / ("_".join(path.parts) + ".o")
            done = subprocess.run([*words, "-O0", "-Werror", "-o", made, "-c", cls.copy.folder / path],
                                  capture_output=True, text=True, cwd=BUILD)
            assert done.returncode == 0, f"{path}\n{done.stderr}"
            return str(made)

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            return list(pool.map(compiled, cls.made))

    @classmethod
    def linked(cls, target):
        """Links a program of the build, with the new object files first. The linker takes a file from a library only if
        it needs a symbol of it. So it does not take the catalogs of the build."""
        listed = subprocess.run(["ninja", "-C", BUILD, "-t", "commands", target], capture_output=True, text=True,
                                check=True).stdout
        last = listed.strip().splitlines()[-1]  # further commands may stand before and after the command that links
        words, = (words for words in map(shlex.split, last.split(" && ")) if "-o" in words)
        at = words.index("-o")
        program = cls.copy.folder / f"linked_{target}"
        words[at:at + 2] = ["-o", str(program), *cls.objects]
        done = subprocess.run(words, capture_output=True, text=True, cwd=BUILD)
        assert done.returncode == 0, done.stderr
        return program

    def run_program(self, command):
        """Runs a command of the shell that begins with the word `sluice`. Returns what it prints."""
        done = subprocess.run(command.replace("sluice", str(self.program), 1), shell=True, cwd=self.copy.folder,
                              capture_output=True, text=True, env=os.environ | {"SLUICE_ROOT": str(ROOT)})
        self.assertEqual(done.returncode, 0, f"{command}\n{done.stderr}")
        return done.stdout

    def test_each_kind_is_one_file_and_one_line(self):
        self.assertGreaterEqual(len(kinds()), 10)
        for kind, (before, after) in self.changes.items():
            made = [path for path in after if path not in before]
            changed = [path for path in before if after[path] != before[path]]
            self.assertEqual((len(made), len(changed)), (1, 1), (kind, made, changed))
            self.assertEqual(changed[0].name, "catalog.cpp")
            old, new = before[changed[0]].splitlines(), after[changed[0]].splitlines()
            lines = [line for line in new if line not in old]
            self.assertEqual(len(new), len(old) + 1)
            self.assertRegex(lines[0], rf"^ +SLUICE_ENTRY\(\w+, {name_of(kind)}_\w+\),$")
        clang_format = shutil.which("clang-format")
        if clang_format:
            subprocess.run([clang_format, f"--style=file:{ROOT / '.clang-format'}", "--dry-run",
                            "-Werror", *self.made], cwd=self.copy.folder, check=True)

    def test_the_program_lists_each_entry_and_runs_its_example(self):
        for kind, name in LISTS.items():
            entries = {entry["name"]: entry for entry in json.loads(self.run_program(f"sluice list {name} --json"))}
            example = entries[name_of(kind)]["example"]
            if kind == "metric":
                self.assertIn(name_of(kind), self.run_program(example))
            elif kind == "layer":
                self.assertIn(f"type: {name_of(kind)}", example)
                (self.copy.folder / "layer.yaml").write_text(
                    f"format: sluice-model/1\nname: one\nlayers: [{example}]\n")
                self.run_program("sluice model layer.yaml")
            else:
                self.assertIn(name_of(kind), example)
                self.run_program(example)

    def test_the_new_command_export_and_importer_work(self):
        self.assertEqual(self.run_program(f"sluice {name_of('command')} word"), "word\n")
        self.run_program("sluice run alexnet_resident -o trace.h5")
        self.run_program(f"sluice export trace.h5 --to {name_of('export')} -o exported")
        file = f"net.{name_of('importer')}"
        (self.copy.folder / file).write_text("8\n4\n")
        self.assertIn("features: 4", self.run_program(f"sluice import {file}"))

    def test_the_tests_of_all_entries_pass(self):
        self.assertIn("test_catalogs", tests_of_entries())
        tests = ",".join(f"[#{name}]~[property]" for name in tests_of_entries())
        done = subprocess.run([self.tests, "-#", tests], cwd=ROOT, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout[-4000:])
        self.assertRegex(done.stdout, r"All tests passed \(\d+ assertions in \d+ test cases\)")

    def test_every_kind_is_run_here(self):
        self.assertEqual({*LISTS, "command", "export", "importer"}, set(kinds()))


if __name__ == "__main__":
    unittest.main()
