#!/usr/bin/python3
"""Tests that text for people fits into 80 columns. Also tests that a shell completes commands."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("SLUICE_PROGRAM", str(ROOT / "build/release/sluice"))
ENVIRONMENT = {**os.environ, "SLUICE_ROOT": str(ROOT), "LC_ALL": "C.UTF-8", "COLUMNS": "80"}
KINDS = ["policies", "layers", "costs", "cuts", "fates", "optimizers", "metrics", "models", "platforms",
         "scenarios", "fits"]
FOUR = """\
format: sluice-scenario/1
question: Does the link of a switch keep up with four cards that train a small network on their shares?
model: cnn_mnist
platform: four_v100_switch
workload: {mode: training, batch: 128, micro_batch: 32, steps: 3}
policy: {name: data_parallel, replica: resident}
"""


def sluice(*words, cwd=ROOT, **variables):
    return subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, cwd=cwd,
                          env={**ENVIRONMENT, **variables}, timeout=300)


def too_wide(text, columns=80):
    """Returns the lines that are too long. Leaves out a line with only a long path or word, which cannot be broken."""
    return [line for line in text.splitlines() if len(line) > columns and len(line.split()) > 2]


class Page(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "four.yaml").write_text(FOUR)

    def fits_in(self, *words, code=0):
        done = sluice(*words, cwd=self.folder)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(too_wide(done.stdout), [], words)
        return done.stdout

    def test_help(self):
        self.fits_in("help")
        commands = sluice("completion", "words", "").stdout.split()
        self.assertLessEqual({"run", "fits", "new", "completion"}, set(commands))
        for command in commands:
            if command == "version":
                continue
            self.fits_in("help", command)
            wide = sluice("help", command, COLUMNS="200")  # Text does not use the whole width of a wide terminal.
            self.assertEqual(too_wide(wide.stdout), [])

    def test_lists(self):
        self.fits_in("list")
        for kind in KINDS:
            self.fits_in("list", kind)
            self.fits_in("list", kind, "-v")

    def test_answers(self):
        for name in ("alexnet_resident", "phased_ipu_pair", "data_parallel_ipu_pair", "four.yaml"):
            self.fits_in("run", name)

    def test_tables(self):
        for words in (["alexnet"], ["resnet50", "--platform", "a100_pcie"], ["gpt2", "blocks=2"],
                      ["gpt2", "blocks=2", "--platform", "a100_pcie", "--dtype", "float16"],
                      ["alexnet", "--columns", "all", "--platform", "k40"]):
            self.fits_in("model", *words)
        self.fits_in("fits", "cnn_mnist", "--platform", "gtx980,k40,k20", "--optimizer", "adam")
        self.fits_in("fits", "alexnet", "--platform", "gtx980", "--mode", "inference")
        self.fits_in("plan", "alexnet_resident", "--check")

    def test_traces_and_checks(self):
        self.assertEqual(sluice("run", "four.yaml", "-o", "t.h5", cwd=self.folder).returncode, 0)
        for columns in ("60", "80", "200"):
            done = sluice("show", "t.h5", cwd=self.folder, COLUMNS=columns)
            self.assertEqual(too_wide(done.stdout, int(columns)), [])
        self.fits_in("check", "four.yaml", "--baseline", "base", code=1)
        self.fits_in("check", "four.yaml", "--baseline", "base", "--update")
        self.fits_in("check", "four.yaml", "--baseline", "base")
        (self.folder / "four.yaml").write_text(FOUR.replace("resident}", "resident, all_reduce: after}"))
        self.fits_in("check", "four.yaml", "--baseline", "base", code=1)
        self.fits_in("check", "--compare", "resident", "streamed", ROOT / "scenarios/alexnet_resident.yaml")

    def test_lines_are_not_broken_for_a_script(self):
        done = sluice("list", "metrics", COLUMNS="")
        self.assertEqual(len(done.stdout.splitlines()), len(done.stdout.strip().splitlines()))
        self.assertTrue(too_wide(done.stdout))

    def test_equal_devices_are_one_row(self):
        # The link is so fast that no card waits for another card.
        words = ["run", "four.yaml", "platform.links.host.bandwidth=1TB/s"]
        answer = sluice(*words, "-o", "t.h5", cwd=self.folder).stdout
        self.assertRegex(answer, r"\n +slot\.gpu0\.\.gpu3\.down: .* each in ")
        self.assertRegex(answer, r"peak memory +gpu0\.\.gpu3: ")
        self.assertNotIn("gpu2", answer)
        shown = sluice("show", "t.h5", cwd=self.folder).stdout
        self.assertRegex(shown, r"\n  gpu0\.\.gpu3\.compute ")
        self.assertRegex(shown, r"\n  gpu0\.\.gpu3 +│")
        # With `transfers: in_turn`, the cards wait for each other and differ in their times. `sluice show` draws the
        # cards in separate rows, but the answer of `sluice run` has one row for all cards.
        answer = sluice("run", "four.yaml", "policy.transfers=in_turn", "-o", "u.h5", cwd=self.folder).stdout
        self.assertRegex(answer, r"peak memory +gpu0\.\.gpu3: ")
        self.assertRegex(answer, r"each in [0-9.]+ [mu]s to [0-9.]+ [mu]s")
        self.assertRegex(sluice("show", "u.h5", cwd=self.folder).stdout, r"\n  gpu2\.compute ")


class New(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def runs(self, *words, **options):
        done = subprocess.run([PROGRAM, *words], capture_output=True, text=True, cwd=self.folder,
                              env=ENVIRONMENT, timeout=300, **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def test_a_new_scenario_runs_without_changes(self):
        for kind in ("scenario", "model", "platform"):
            done = self.runs("new", kind, f"{kind}.yaml")
            self.assertIn(f"wrote '{kind}.yaml'; next: sluice ", done.stderr)
            text = (self.folder / f"{kind}.yaml").read_text()
            self.assertGreater(text.count("#"), 5, "the new document has comments")
            self.assertEqual(self.runs("new", kind).stdout, text)
            self.runs(*done.stderr.split("next: sluice ")[1].split())
        self.runs("run", "scenario.yaml", "model=model.yaml", "platform=platform.yaml")

    def test_nothing_is_replaced_silently(self):
        (self.folder / "mine.yaml").write_text("years of work")
        done = subprocess.run([PROGRAM, "new", "model", "mine.yaml"], capture_output=True, text=True,
                              cwd=self.folder, env=ENVIRONMENT)
        self.assertEqual(done.returncode, 2)
        self.assertIn("'mine.yaml' for '--output' is there already", done.stderr)
        self.runs("new", "model", "mine.yaml", "--force")

    def test_a_scenario_or_a_plan_comes_from_standard_input(self):
        scenario = self.runs("new", "scenario").stdout
        (self.folder / "s.yaml").write_text(scenario)
        answer = self.runs("run", "s.yaml").stdout
        for name in ("-", "/dev/stdin"):
            self.assertEqual(self.runs("run", name, input=scenario).stdout, answer)
        other = self.runs("run", "-", "workload.steps=5", input=scenario).stdout
        self.assertNotEqual(other, answer)
        plan = self.runs("plan", "-", input=scenario).stdout
        self.assertIn("It fits.", self.runs("run", "-", input=plan).stdout)
        done = subprocess.run([PROGRAM, "run", "-"], input="policy: resident\n", capture_output=True,
                              text=True, cwd=self.folder, env=ENVIRONMENT)
        self.assertEqual(done.returncode, 3)
        self.assertIn("<stdin>:1:1: error: the key 'format' is missing", done.stderr)


class Completion(unittest.TestCase):
    """Runs the completion script in bash."""

    def completed(self, line):
        script = f"""
            export PATH="{pathlib.Path(PROGRAM).parent}:$PATH"
            eval "$(sluice completion bash)"
            compopt() {{ :; }}
            COMP_LINE=$1 COMP_POINT=${{#1}}
            _sluice
            printf '%s\\n' "${{COMPREPLY[@]}}"
        """
        done = subprocess.run(["bash", "--norc", "-c", script, "bash", line], capture_output=True, text=True,
                              cwd=ROOT, env=ENVIRONMENT, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return set(done.stdout.split())

    def test_commands_options_and_their_values(self):
        self.assertEqual(self.completed("sluice sc"), {"schema"})
        self.assertLessEqual({"run", "fits", "help", "completion"}, self.completed("sluice "))
        self.assertEqual(self.completed("sluice run alexnet_resident --js"), {"--json"})
        self.assertEqual(self.completed("sluice run --executor re"), {"replay"})
        self.assertEqual(self.completed("sluice export t.h5 --to per"), {"perfetto"})
        self.assertEqual(self.completed("sluice help exp"), {"export"})
        self.assertEqual(self.completed("sluice list opt"), {"optimizers"})
        self.assertEqual(self.completed("sluice new sce"), {"scenario"})

    def test_names_of_the_zoo(self):
        self.assertEqual(self.completed("sluice run alexnet_resi"), {"alexnet_resident"})
        self.assertLessEqual({"gpt2", "gpt2_xl"}, self.completed("sluice fits gpt2"))
        self.assertLessEqual({"a100_pcie", "a100_sxm4"}, self.completed("sluice fits gpt2 --platform a100"))
        self.assertEqual(self.completed("sluice fits gpt2 --platform k40,gtx"), {"k40,gtx980"})

    def test_keys_and_values_of_overrides(self):
        self.assertEqual(self.completed("sluice run alexnet_resident platform.links.host.band"),
                         {"platform.links.host.bandwidth="})
        self.assertEqual(self.completed("sluice run alexnet_resident policy.over"), {"policy.overlap="})
        # Bash keeps the text before the '='. So the program offers only the text after the '='.
        self.assertEqual(self.completed("sluice run alexnet_resident workload.dtype=bfl"), {"bfloat16"})
        self.assertEqual(self.completed("sluice run alexnet_resident platform=h100_s"), {"h100_sxm5"})
        self.assertEqual(self.completed("sluice run alexnet_resident policy=str"), {"streamed"})
        self.assertEqual(self.completed("sluice model gpt2 tok"), {"tokens="})
        self.assertIn("workload.", "".join(self.completed("sluice fits gpt2 workload.")))

    def test_files_where_files_may_stand(self):
        self.assertIn("scenarios/alexnet_resident.yaml", self.completed("sluice run scenarios/alexnet_res"))
        self.assertEqual(self.completed("sluice nothing "), set())


if __name__ == "__main__":
    if not pathlib.Path(PROGRAM).exists():
        print(f"skipped: there is no {PROGRAM}; SLUICE_PROGRAM names the program")
        sys.exit(77)
    unittest.main(verbosity=2)
