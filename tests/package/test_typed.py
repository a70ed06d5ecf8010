#!/usr/bin/python3
"""Tests that mypy --strict accepts a user's script, and finds the mistakes that the test puts into it."""

import os
import pathlib
import subprocess
import sys
import tempfile
import typing
import unittest

from sluice_package import sluice

SCRIPT = pathlib.Path(__file__).with_name("user_script.py")
#: Packages that have no types of their own in Debian, and whose source mypy would read for a minute.
OTHERS = ("pandas", "numpy", "xarray", "matplotlib", "torch", "tqdm", "optuna", "distributed")
# Each entry has a part of the script, the text that replaces this part, and mypy's message about the new text.
MISTAKES = [('over="grid"', 'over="gird"', 'expected "Literal[\'grid\', \'zip\', \'points\']"'),
            ('executor="replay"', 'executor="SimGrid"', "Literal['auto', 'simgrid', 'replay', 'both']"),
            ('mode="training"', 'mode="train"', "Literal['inference', 'training']"),
            ('optimizer="adam"', 'optimizer="adamw"', "'adam'"),
            ('"float32"))', '"fp32"))', "'float32'"), ('"weight", stage', '"weights", stage', "'weight'"),
            ('enter("body")', 'enter("loop")', "'prologue', 'body', 'epilogue'"),
            ('to="chrome"', 'to="chrom"', "'perfetto'"), ('"integer", "inputs', '"int", "inputs', "'integer'"),
            ("-> sluice.Plan:\n    builder", "-> int:\n    builder", "[type-var]"),
            ("scenario.plan()", "scenario.plam()", "no attribute"),
            ("refusal.pool", "refusal.memory", "no attribute"),
            ('ways="all_slow"', 'ways="all_slov"', "'all_slow'"), ("points=4", 'points="4"', 'expected "int"')]


def mypy(text):
    with tempfile.TemporaryDirectory() as folder:
        script = pathlib.Path(folder, "script.py")
        script.write_text(text)
        settings = pathlib.Path(folder, "mypy.ini")
        settings.write_text("[mypy]\nstrict = True\n[mypy-sluice.*]\nfollow_imports = silent\n" + "".join(
            f"[mypy-{name}.*]\nfollow_imports = skip\nignore_missing_imports = True\n" for name in OTHERS))
        environment = {**os.environ, "MYPYPATH": str(pathlib.Path(sluice.__file__).parents[1])}
        done = subprocess.run([sys.executable, "-m", "mypy", "--config-file", str(settings),
                               "--cache-dir", f"{folder}/cache", str(script)], capture_output=True, text=True, env=environment)
    return done.stdout + done.stderr


class Script(unittest.TestCase):
    def test_the_script_has_about_a_hundred_lines_passes_mypy_and_runs(self):
        self.assertGreaterEqual(len(SCRIPT.read_text().splitlines()), 100)
        self.assertIn("Success: no issues", mypy(SCRIPT.read_text()))
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, "-B", SCRIPT, folder], check=True, capture_output=True)

    def test_mypy_finds_mistakes_in_the_script(self):
        text = SCRIPT.read_text()
        for right, wrong, _ in MISTAKES:
            self.assertEqual(text.count(right), 1, right)
            text = text.replace(right, wrong)
        said = mypy(text)
        for _, wrong, words in MISTAKES:
            with self.subTest(wrong=wrong):
                first = text[:text.index(wrong)].count("\n") + 1
                lines = [line for line in said.splitlines()
                         if any(f"script.py:{number}:" in line for number in range(first - 3, first + 2))]
                self.assertIn(words, "\n".join(lines), said)


class Words(unittest.TestCase):
    def test_the_lists_of_words_equal_the_catalogs(self):
        words, native = sluice.words, sluice._sluice
        self.assertEqual(set(typing.get_args(words.Computation)) | set(typing.get_args(words.Movement)),
                         set(native.kind_colours()))
        self.assertEqual(set(typing.get_args(words.Optimizer)), {"", *sluice._listing("optimizers").index})
        platform = sluice.platform("k40")
        for name in typing.get_args(words.DtypeName):
            try:
                platform.flop_per_s("gpu", name)
            except sluice.InputError as error:
                self.assertNotIn("unknown", str(error))
        with self.assertRaises(sluice.InputError) as refused:
            platform.flop_per_s("gpu", "x")
        for name in typing.get_args(words.DtypeName):
            self.assertIn(name, str(refused.exception))
        builder = sluice.PlanBuilder(platform, "x")
        for number, name in enumerate(typing.get_args(words.TensorClass)):
            builder.tensor(f"t{number}", name, 1)
        for name in typing.get_args(words.Section):
            builder.enter(name)
        for what, call in ((words.TensorClass, lambda: builder.tensor("t", "x", 1)),
                           (words.Collective, lambda: builder.collective("c", "x", ["gpu"])),
                           (words.Executor, lambda: sluice.load("alexnet_resident").run(executor="x")),
                           (words.ParameterType, lambda: sluice.policy(name="x", summary="", parameters=[
                               sluice.parameter("p", "x", "")])(lambda *_: None))):
            with self.assertRaises(sluice.Error) as refused:
                call()
            known = str(refused.exception).split("known: ")[-1].split("expected ")[-1]
            for name in typing.get_args(what):
                self.assertIn(name, known)


if __name__ == "__main__":
    unittest.main()
