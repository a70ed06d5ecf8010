#!/usr/bin/python3
"""Tests the command line: exit codes, standard output and standard error, and the commands `list` and `show`."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import time

from cli_case import Cli, ENVIRONMENT, PROGRAM, ROOT, SMALL, main, sluice, without_question


class Engine(Cli):
    def test_a_program_without_its_engine_says_where_it_looked_and_the_replay_answers(self):
        program = self.folder / "bin" / "sluice"
        program.parent.mkdir()
        shutil.copy(PROGRAM, program)
        ask = lambda *words: subprocess.run(  # noqa: E731
            [program, *words], capture_output=True, text=True, cwd=self.folder, env=ENVIRONMENT, check=False)
        module = pathlib.Path(PROGRAM).with_name("sluice_simgrid.so")
        if not module.exists():
            self.skipTest("the engine is linked into this program")
        done = ask("run", *SMALL)
        self.assertEqual((done.returncode, done.stdout), (5, ""))
        for place in ("bin/sluice_simgrid.so", "lib/sluice/sluice_simgrid.so"):
            self.assertIn(str(self.folder / place), done.stderr)
        self.assertIn("use --executor replay to run without SimGrid", done.stderr)
        self.assertEqual(ask("run", *SMALL, "--executor", "replay").returncode, 0)
        (self.folder / "lib/sluice").mkdir(parents=True)
        installed = self.folder / "lib/sluice" / module.name
        installed.write_bytes(b"no library")
        done = ask("run", *SMALL)
        self.assertEqual(done.returncode, 5)
        self.assertIn(f"cannot load SimGrid's engine: {installed}: ", done.stderr)
        shutil.copy(module, installed)
        self.assertEqual(ask("run", *SMALL).returncode, 0)


class Usage(Cli):
    def test_help_is_on_stdout_and_names_every_command(self):
        commands = ["run", "plan", "model", "import", "fits", "show", "check", "export", "list", "schema"]
        for words in (["help"], ["--help"], ["-h"]):
            text = self.answers(*words)
            for command in commands:
                self.assertIn(f"\n  {command} ", text)
        for command in commands:
            text = self.answers("help", command)
            self.assertEqual(text, self.answers(command, "--help"))
            for part in ("Usage:", "Options:", "Examples:", "Exit codes:"):
                self.assertIn(part, text)

    def test_the_help_of_import_lists_its_files_and_their_keys(self):
        text = self.answers("import", "--help")
        files = text[text.index("of these files:"):text.index("\nOptions:")]
        for ending, key in ((".onnx", "batch"), (".graph.txt", "loading")):
            self.assertRegex(files, rf"\n  {re.escape(ending)} +\w.*\n(    .*\n)*?    {key} +\w")

    def test_version(self):
        self.assertRegex(self.answers("--version"), r"^sluice \d+\.\d+\.\d+ \(.+\), SimGrid 3\.")

    def test_unknown_command_option_and_kind_get_a_suggestion(self):
        self.fails(2, "rnu", says=["unknown command 'rnu'", "did you mean 'run'"])
        self.fails(2, "run", "x", "--jsn", says=["unknown option '--jsn'", "did you mean '--json'"])
        self.fails(2, "list", "polices", says=["'polices'", "did you mean 'policies'"])
        self.fails(2, "help", "modle", says="did you mean 'model'")
        self.fails(2, "schema", "platfrom", says="did you mean 'platform'")

    def test_an_option_is_not_guessed_from_its_beginning(self):
        self.fails(2, "run", *SMALL, "--js", says="unknown option '--js'")

    def test_no_command_is_a_usage_error(self):
        self.fails(2, says="no command is given")

    def test_repeated_missing_and_extra_arguments_are_refused(self):
        self.fails(2, "run", *SMALL, "--json", "--json", says="'--json' is given twice")
        self.fails(2, "run", *SMALL, "-o", "a.h5", "--output", "b.h5", says="'--output' is given twice")
        self.fails(2, "run", *SMALL, "-o", says="--output")
        self.fails(2, "run", says="missing SCENARIO or PLAN")
        self.fails(2, "run", "a.yaml", "b.yaml", says="unexpected 'b.yaml'")
        self.fails(2, "list", "policies", "x=1", says="unexpected 'x=1'")

    def test_values_of_options_are_checked(self):
        for width in ("-5", "abc", "1e2", "99999", "40.5"):
            self.fails(2, "show", "t.h5", f"--width={width}", says=[f"'{width}'", "40 to 1000"])
        self.fails(2, "model", "alexnet", "--platform", "k40", "--dtype", "float33",
                   says=["'float33'", "did you mean 'float32'", "bfloat16"])
        self.fails(2, "model", "alexnet", "--device", "gpu", says="--platform")
        self.fails(2, "model", "alexnet", "--cost", "roofline", says="--platform")
        self.fails(2, "model", "alexnet", "--platform", "k40", "--cost", "roofli",
                   says=["'roofli' for '--cost'", "did you mean 'roofline'", "peak"])
        self.fails(2, "model", "alexnet", "--json", "--csv", says="exclude each other")
        self.fails(2, "model", "alexnet", "--csv", "--data-island", says="exclude each other")
        self.fails(2, "model", "alexnet", "--columns", "layer,mac",
                   says=["'mac' for '--columns'", "did you mean 'macs'", "kept_bytes"])
        self.fails(2, "model", "alexnet", "--columns", "macs,macs", says="given twice")
        self.fails(2, "model", "alexnet", "--columns", ",macs", says="'' for '--columns'")
        self.fails(2, "model", "alexnet", "--columns", "state_ms", says="--platform")
        self.fails(2, "model", "alexnet", "--columns", "macs", "--json", says="has all columns")

    def test_options_may_come_before_or_after_other_arguments(self):
        answers = [self.answers("run", *words) for words in (
            ["--json", "alexnet_resident", "workload.steps=2"],
            ["alexnet_resident", "--json", "workload.steps=2"],
            ["workload.steps=2", "alexnet_resident", "--json"])]
        self.assertEqual(answers[0], answers[1])
        self.assertEqual(answers[0], answers[2])

    def test_a_file_whose_name_has_an_equals_sign_is_named_by_its_path(self):
        path = self.folder / "a=b.plan"
        path.write_text(self.answers("plan", *SMALL))
        self.assertEqual(self.answers_json("run", path)["metrics"],
                         without_question(self.answers_json("run", *SMALL)["metrics"]))


class Errors(Cli):
    def test_missing_files_are_input_output(self):
        self.fails(5, "run", self.folder / "none.yaml", says="No such file")
        self.fails(5, "show", self.folder / "none.h5", says="No such file")

    def test_an_unknown_name_is_invalid_input(self):
        self.fails(3, "model", "alexnett", says=["alexnett", "did you mean 'alexnet'"])

    def test_an_invalid_document_says_where(self):
        path = self.folder / "s.yaml"
        path.write_text("format: sluice-scenario/1\nmodle: {}\n")
        message = self.fails(3, "run", path)
        self.assertTrue(message.startswith(f"{path}:2:1: error: unknown key 'modle'"), message)

    def test_an_invalid_override_says_where(self):
        message = self.fails(3, "run", "alexnet_resident", "policy.overlop=true")
        self.assertTrue(message.startswith("policy.overlop=true:1:"), message)
        self.assertIn("did you mean 'overlap'", message)

    def test_a_scenario_that_does_not_fit_is_infeasible(self):
        stages = "stages={cut: explicit, after: [relu6]}"
        message = self.fails(4, "run", "alexnet_x200", stages, says=["gpu", "more than its 24 GB"])
        self.assertIn("weight ", message)
        self.fails(4, "plan", "alexnet_x200", stages, "--check", says="does not fit")

    def test_an_unwritable_trace_is_found_before_anything_is_simulated(self):
        began = time.monotonic()
        self.fails(5, "run", "alexnet_resident", "workload.steps=100000000", "-o",
                   self.folder / "none" / "t.h5", says="none")
        self.fails(5, "run", "alexnet_resident", "workload.steps=100000000", "-o", self.folder,
                   says="directory")
        self.assertLess(time.monotonic() - began, 60)

    def test_an_input_is_not_overwritten(self):
        plan = self.folder / "p.plan"
        plan.write_text(self.answers("plan", *SMALL))
        before = plan.read_text()
        self.fails(2, "run", plan, "-o", plan, says="is an input of this run")
        self.fails(2, "plan", plan, "-o", plan, says="is an input of this run")
        self.assertEqual(plan.read_text(), before)
        model = ROOT / "models" / "alexnet.yaml"
        before = model.read_text()
        self.fails(2, "run", *SMALL, "-o", "models/../models/alexnet.yaml", says="is an input")
        self.assertEqual(model.read_text(), before)

    def test_a_full_standard_output_is_an_io_error(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run([PROGRAM, "list", "metrics"], stdout=full,
                                  stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)
        self.assertEqual(done.returncode, 5)
        self.assertIn("standard output", done.stderr)

    def test_a_reader_that_closes_the_pipe_is_not_an_error(self):
        reading, writing = os.pipe()
        os.close(reading)
        done = subprocess.run([PROGRAM, "list", "metrics"], stdout=writing, stderr=subprocess.PIPE,
                              text=True, env=ENVIRONMENT)
        os.close(writing)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


class List(Cli):
    KINDS = ["policies", "layers", "costs", "cuts", "fates", "optimizers", "metrics", "models", "platforms", "scenarios", "fits"]

    def test_every_entry_has_a_name_and_a_sentence(self):
        for kind in self.KINDS:
            entries = json.loads(self.answers("list", kind, "--json"))
            self.assertTrue(entries, kind)
            text = self.answers("list", kind)
            for entry in entries:
                self.assertTrue(entry["summary"], entry)
                self.assertIn(entry["name"], text)
            self.assertEqual(len(text.splitlines()), len(entries))

    def test_verbose_shows_parameters_with_their_defaults(self):
        text = self.answers("list", "policies", "-v")
        self.assertIn("    in_flight: integer or auto [auto]\n", text)
        self.assertIn("    source: ", text)

    def test_verbose_shows_parameters_of_models_and_figures_of_platforms_with_their_sources(self):
        models = self.answers("list", "models", "-v")
        gpt2 = models[models.index("\ngpt2 "):]
        self.assertRegex(gpt2, r"\n    source:  Radford")
        self.assertRegex(gpt2, r"\n    tokens +1024 +tokens of a sample, at most")
        self.assertRegex(gpt2, r"\n    cached +0 +earlier tokens .*, at least 0\n")
        platforms = self.answers("list", "platforms", "-v")
        a100 = platforms[platforms.index("\na100_pcie "):]
        self.assertRegex(a100, r"\n    source:  NVIDIA A100 data sheet")
        self.assertRegex(a100, r"\n    devices\.gpu\.memory\.bandwidth +1555GB/s +data sheet\n")
        self.assertRegex(a100, r"\n    links\.host\.bandwidth +24\.8GB/s +forum: measured")
        entries = {entry["name"]: entry for entry in json.loads(self.answers("list", "platforms", "--json"))}
        self.assertIn({"name": "devices.gpu.memory.capacity", "value": "40GB", "note": "data sheet"},
                      entries["a100_pcie"]["figures"])
        # Each figure is listed under the key with which an override changes the figure.
        for figure in entries["a100_pcie"]["figures"]:
            key = f"platform.{figure['name']}={figure['value']}"
            self.answers("run", "alexnet_resident", "platform=a100_pcie", key, "--resolve")

    def test_without_arguments_it_is_an_overview(self):
        text = self.answers("list")
        for kind in self.KINDS:
            count = len(json.loads(self.answers("list", kind, "--json")))
            self.assertRegex(text, rf"(^|\n){kind} +{count}: ")
        self.fails(2, "list", "--json", says="needs a kind to list")

    def test_another_root(self):
        (self.folder / "models").mkdir()
        (self.folder / "models" / "mine.yaml").write_text(
            "format: sluice-model/1\nname: mine\nsummary: Mine.\n")
        env = {**ENVIRONMENT, "SLUICE_ROOT": str(self.folder)}
        self.assertEqual(sluice("list", "models", env=env).stdout, "mine  Mine.\n")
        done = sluice("list", "platforms", env=env)
        self.assertEqual(done.returncode, 5)
        self.assertIn("SLUICE_ROOT", done.stderr)


class Show(Cli):
    def trace(self, *words):
        path = self.folder / "t.h5"
        self.answers("run", *words, "-o", path)
        return path

    def test_the_picture_has_streams_memories_waits_and_metrics(self):
        path = self.trace("alexnet_x200")
        text = self.answers("show", path)
        for part in ("Busy, by stream", "gpu.compute", "gpu.host.down", "Memory, high-water mark",
                     "24 GB", "weight", "Where compute waited", "load on gpu.host.down", "makespan_s"):
            self.assertIn(part, text)
        self.assertIn("complete: ", text)

    def test_the_width_is_kept(self):
        path = self.trace(*SMALL)
        for width in (60, 120):
            lines = self.answers("show", path, "--width", width).splitlines()
            bars = [line for line in lines if "compute " in line and "│" in line]
            self.assertEqual([len(line) for line in bars], [width])

    def test_without_utf8_it_is_ascii(self):
        path = self.trace(*SMALL)
        done = sluice("show", path, env={**ENVIRONMENT, "LC_ALL": "C"})
        self.assertEqual(done.returncode, 0)
        self.assertTrue(done.stdout.isascii())
        self.assertIn("|", done.stdout)

    def test_a_file_that_is_not_a_trace_is_invalid_input(self):
        self.fails(3, "show", ROOT / "scenarios" / "alexnet_x200.yaml", says="not a readable trace")
        path = self.trace(*SMALL)
        path.write_bytes(path.read_bytes()[:5000])
        self.fails(3, "show", path)

    def test_a_result_names_its_trace_and_two_runs_have_one_hash(self):
        hashes = set()
        for name in ("a.h5", "b.h5"):
            path = self.folder / name
            trace = self.answers_json("run", *SMALL, "-o", path)["trace"]
            self.assertEqual(trace["path"], str(path))
            self.assertRegex(trace["content_sha256"], "^[0-9a-f]{64}$")
            hashes.add(trace["content_sha256"])
            self.assertTrue(path.exists())
        self.assertEqual(len(hashes), 1)


if __name__ == "__main__":
    main()
