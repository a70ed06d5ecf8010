#!/usr/bin/python3
"""Tests which documents may be given by name, and where the program looks for them. Also tests which files are never
overwritten."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("SLUICE_PROGRAM", str(ROOT / "build/release/sluice"))
ENVIRONMENT = {**os.environ, "SLUICE_ROOT": str(ROOT), "LC_ALL": "C.UTF-8"}

SCENARIO = """\
format: sluice-scenario/1
model: cnn_mnist
platform: gtx980
policy: resident
cost: peak
"""
MODEL = """\
format: sluice-model/1
name: mine
layers:
  - {type: input, name: x, shape: [8]}
  - {type: dense, name: full, features: 8}
"""

GRAPH = """\
node1 -- Input -- forward_compute_time=9.0, backward_compute_time=0.0, activation_size=64.0, parameter_size=0.0
node2 -- ReLU() -- forward_compute_time=1.5, backward_compute_time=2.5, activation_size=64.0, parameter_size=0.0
\tnode1 -- node2
"""


class Words(unittest.TestCase):
    """A case whose tests run in a folder outside of the repository."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name, "deep", "down")
        self.folder.mkdir(parents=True)
        self.write("s.yaml", SCENARIO)

    def write(self, name, text):
        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / name).write_text(text)

    def run_here(self, *words):
        return subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True,
                              cwd=self.folder, env=ENVIRONMENT, timeout=120)

    def resolved(self, *words):
        done = self.run_here("run", *words, "--resolve", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def fails(self, code, *words):
        done = self.run_here(*words)
        self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)
        return done.stderr


class Names(Words):
    def test_a_scenario_in_any_folder_can_name_what_comes_with_sluice(self):
        document = self.resolved("s.yaml")
        self.assertEqual(document["model"]["definition"]["name"], "cnn_mnist")
        self.assertEqual(document["platform"]["name"], "gtx980")
        self.assertEqual(document["policy"], {"name": "resident"})
        self.assertEqual(document["cost"], {"model": "peak"})
        self.assertEqual(self.run_here("run", "s.yaml").returncode, 0)

    def test_a_word_means_the_same_as_the_mapping(self):
        self.write("long.yaml", SCENARIO.replace("cnn_mnist", "{file: cnn_mnist}")
                   .replace("gtx980", "{file: gtx980}").replace("resident", "{name: resident}")
                   .replace("peak", "{model: peak}"))
        short, long = (json.loads(self.run_here("run", name, "--json").stdout)["metrics"]
                       for name in ("s.yaml", "long.yaml"))
        self.assertEqual(short, long)

    def test_words_in_overrides(self):
        document = self.resolved("s.yaml", "model=lstm_ptb", "platform=k40", "policy=streamed",
                                 "policy.prefetch=0", "cost=roofline", "stages=per_layer",
                                 "fates=keep_all", "platform.links.host.bandwidth=7GB/s")
        self.assertEqual(document["model"]["definition"]["name"], "lstm_ptb")
        self.assertEqual(document["platform"]["name"], "k40")
        self.assertEqual(document["platform"]["links"]["host"]["bandwidth"], "7GB/s")
        self.assertEqual(document["policy"], {"name": "streamed", "prefetch": 0})
        self.assertEqual(document["cost"], {"model": "roofline"})
        self.assertEqual(document["stages"], {"cut": "per_layer"})
        self.assertEqual(document["fates"], {"strategy": "keep_all"})

    def test_a_file_in_the_users_own_folder(self):
        self.write("mine.yaml", MODEL)
        self.assertEqual(self.resolved("s.yaml", "model=mine.yaml")["model"]["definition"]["name"], "mine")
        self.write("own.yaml", SCENARIO.replace("cnn_mnist", "mine.yaml"))
        self.assertEqual(self.resolved("own.yaml")["model"]["definition"]["name"], "mine")
        self.write("gtx980", MODEL)  # A file is used instead of a bundled platform that has the name of the file.
        self.assertIn("'sluice-model/1' for 'format'", self.fails(3, "run", "s.yaml"))

    def test_a_typed_path_is_looked_for_in_the_working_folder_too(self):
        self.write("card/mine.yaml", "format: sluice-platform/1\nfile: base.yaml\nname: mine\n")
        self.write("card/base.yaml", (ROOT / "platforms/gtx980.yaml").read_text())
        document = self.resolved(ROOT / "scenarios/alexnet_resident.yaml", "platform=card/mine.yaml")
        self.assertEqual(document["platform"]["name"], "mine")

    def test_a_document_may_not_name_files_outside_its_root(self):
        self.write("out.yaml", SCENARIO.replace("cnn_mnist", "../../../m.yaml"))
        text = self.fails(3, "run", "out.yaml")
        self.assertIn(f"leads out of '{self.folder.parent.resolve()}'", text)
        self.assertIn("put an empty file .sluice-root into a folder that holds both", text)

    def test_a_missing_name_gets_suggestions(self):
        for words, says in (
                (["s.yaml", "model=cnn_mnits"], "did you mean 'cnn_mnist'"),
                (["s.yaml", "model=gtx980"], "it is a platform: in a scenario, write `platform: gtx980`"),
                (["s"], "did you mean 's.yaml'"),
                (["llama2_7b"], "it is a model: `sluice model llama2_7b` lists the model's layers"),
                (["gtx980"], "it is a platform"),
                ([ROOT / "models/gpt2.yaml"], "it is a model: `sluice model FILE` lists the model's layers")):
            with self.subTest(words=words):
                self.assertIn(says, self.fails(3, "run", *words))
        self.write("mine.yaml", MODEL)
        self.assertIn("write 'mine.yaml'", self.fails(3, "run", "s.yaml", "model.file=mine"))


class Files(Words):
    """The option -o replaces a file only if the file has the format that the command writes."""

    def test_only_a_trace_is_replaced_by_a_trace(self):
        self.write("thesis.tex", "years of work")
        self.assertIn("'thesis.tex' for '--output' is not a trace: give another name, or --force",
                      self.fails(2, "run", "s.yaml", "-o", "thesis.tex"))
        self.assertEqual((self.folder / "thesis.tex").read_text(), "years of work")
        for words in (["t.h5"], ["t.h5"], ["thesis.tex", "--force"]):
            self.assertEqual(self.run_here("run", "s.yaml", "-o", *words).returncode, 0)
        self.assertEqual(self.run_here("show", "thesis.tex").returncode, 0)

    def test_only_a_plan_is_replaced_by_a_plan(self):
        self.write("thesis.tex", "years of work")
        self.assertIn("is not a plan", self.fails(2, "plan", "s.yaml", "-o", "thesis.tex"))
        self.assertIn("is not a table", self.fails(2, "plan", "s.yaml", "--csv", "-o", "thesis.tex"))
        for words in (["p.plan"], ["p.plan"], ["t.csv", "--csv"], ["t.csv", "--csv"],
                      ["thesis.tex", "--force"]):
            self.assertEqual(self.run_here("plan", "s.yaml", "-o", *words).returncode, 0)
        self.assertIn("is not a plan", self.fails(2, "plan", "s.yaml", "-o", "t.csv"))

    def test_an_imported_model_replaces_no_file(self):
        self.write("g.graph.txt", GRAPH)
        self.write("mine.yaml", MODEL)
        text = self.fails(2, "import", "g.graph.txt", "batch=2", "-o", "mine.yaml")
        self.assertIn("'mine.yaml' for '--output' is there already", text)
        self.assertEqual((self.folder / "mine.yaml").read_text(), MODEL)
        done = self.run_here("import", "g.graph.txt", "batch=2", "-o", "mine.yaml", "--force")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_an_export_replaces_no_document(self):
        self.assertEqual(self.run_here("run", "s.yaml", "-o", "t.h5").returncode, 0)
        text = self.fails(2, "export", "t.h5", "--to", "csv", "-o", "s.yaml")
        self.assertIn("'s.yaml' for '--output' is a trace, a store or a document of Sluice", text)
        for document in ('{"format": "sluice-model/1"}', '{"layers": [], "format" : "sluice-model/1"}'):
            (self.folder / "m.json").write_text(document)
            text = self.fails(2, "export", "t.h5", "--to", "csv", "-o", "m.json")
            self.assertIn("'m.json' for '--output' is a trace, a store or a document of Sluice", text)
            self.assertEqual((self.folder / "m.json").read_text(), document)
        for _ in range(2):
            self.assertEqual(self.run_here("export", "t.h5", "--to", "csv", "-o", "t.csv").returncode, 0)

    def test_an_input_is_never_replaced(self):
        self.assertIn("is an input of this run", self.fails(2, "run", "s.yaml", "-o", "s.yaml", "--force"))


class Hints(Words):
    def test_the_version_by_each_of_its_names(self):
        texts = {self.run_here(word).stdout for word in ("-V", "--version", "version")}
        self.assertEqual(len(texts), 1)
        self.assertRegex(texts.pop(), r"^sluice \S+ \(")
        self.assertIn("did you mean '--version'", self.fails(2, "--vers"))

    def test_switches_are_understood_in_plain_words(self):
        for on, off in (("yes", "no"), ("on", "off"), ("true", "false"), ("Yes", "OFF")):
            taken = [json.loads(self.run_here("run", "s.yaml", "policy=streamed", "stages=per_layer",
                                              f"policy.overlap={word}", "workload.steps=4", "--json")
                                .stdout)["metrics"]["makespan_s"] for word in (on, off)]
            self.assertLess(taken[0], taken[1])


if __name__ == "__main__":
    if not pathlib.Path(PROGRAM).exists():
        print(f"skipped: there is no {PROGRAM}; SLUICE_PROGRAM names the program")
        sys.exit(77)
    unittest.main(verbosity=2)
