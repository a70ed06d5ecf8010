#!/usr/bin/python3
"""The command line: exit codes, standard output and error, the shape of --json, and signals."""

import csv
import io
import itertools
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("SLUICE_PROGRAM", str(ROOT / "build/release/sluice"))
ENVIRONMENT = {**os.environ, "SLUICE_ROOT": str(ROOT), "LC_ALL": "C.UTF-8", "COLUMNS": ""}

SMALL = ["alexnet_resident", "workload.steps=2"]


def sluice(*words, **options):
    return subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, cwd=ROOT,
                          env=options.pop("env", ENVIRONMENT), timeout=300, **options)


def start(*words):
    return subprocess.Popen([PROGRAM, *map(str, words)], cwd=ROOT, env=ENVIRONMENT, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


class Cli(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def fails(self, code, *words, says=()):
        """Checks the exit code, the words of the message, and that nothing is on stdout."""
        done = sluice(*words)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(done.stdout, "")
        for text in [says] if isinstance(says, str) else says:
            self.assertIn(text, done.stderr)
        return done.stderr

    def answers(self, *words):
        done = sluice(*words)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        return done.stdout

    def answers_json(self, *words):
        return json.loads(self.answers(*words, "--json"))


def without_question(metrics):
    """Returns the metrics of a scenario's plan that is run by itself, without the scenario."""
    return {**metrics, "question_bound_s": None, "question_ratio": None}


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
        files = text[text.index("their keys:"):text.index("\nOptions:")]
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


class Run(Cli):
    def test_the_shape_of_the_result(self):
        result = self.answers_json("run", *SMALL)
        self.assertEqual(list(result), ["format", "scenario", "question", "asked", "inputs", "status", "certainty",
                                        "notes", "plan", "stages",
                                        "pools", "metrics", "units", "operators", "executor", "trace"])
        self.assertEqual(result["format"], "sluice-result/1")
        self.assertEqual(result["scenario"], "alexnet_resident")
        self.assertEqual(result["status"], "complete")
        self.assertIsNone(result["trace"])
        names = [m["name"] for m in json.loads(self.answers("list", "metrics", "--json"))]
        self.assertEqual(list(result["metrics"]), names)
        self.assertEqual(list(result["units"]), names)
        self.assertEqual(result["units"]["makespan_s"], "s")
        self.assertEqual(result["metrics"]["samples"], 2 * 10 * 32)

    def test_the_result_is_the_same_each_time(self):
        self.assertEqual(self.answers("run", *SMALL, "--json"), self.answers("run", *SMALL, "--json"))

    def test_numbers_have_full_precision(self):
        # With one stage, the run takes all weights, the first input, 20 batches and the last answer, because nothing
        # else is waited for.
        result = self.answers_json("run", *SMALL)
        stage = result["stages"][0]
        link, rate = 10.53e9, 4.291e12
        expected = (stage["weight_bytes"] / link + 32 * stage["input_bytes"] / link +
                    20 * 32 * stage["flop"] / rate + 32 * stage["output_bytes"] / link)
        self.assertAlmostEqual(result["metrics"]["makespan_s"] / expected, 1, delta=1e-9)

    def test_a_refusal_is_an_object_on_stdout(self):
        done = sluice("run", "alexnet_x200", "policy={name: resident}", "stages={cut: whole}", "--json")
        self.assertEqual(done.returncode, 4)
        answer = json.loads(done.stdout)
        self.assertEqual((answer["format"], answer["scenario"], answer["status"]),
                         ("sluice-result/1", "alexnet_x200", "infeasible"))
        told = answer["infeasible"]
        self.assertEqual((told["pool"], told["available_bytes"]), ("gpu", 24_000_000_000))
        self.assertEqual(sum(told["by_class"].values()), told["needed_bytes"])
        self.assertGreater(told["needed_bytes"], told["available_bytes"])
        self.assertIn(told["message"].splitlines()[0].rstrip(":"), done.stderr)
        for waiter in told["waiters"]:
            self.assertTrue(waiter["awaits"] or (waiter["pool"] and waiter["tensors"]), waiter)

    def test_a_blocked_plan_is_reported_in_the_same_way_and_leaves_no_trace(self):
        plan, trace = self.folder / "blocks.plan", self.folder / "t.h5"
        plan.write_text("""format: sluice-plan/2
pool gpu capacity=50B owner=gpu
stream c kind=compute device=gpu
tensor first class=activation bytes=40
tensor second class=activation bytes=40
prologue:
0F0 on=c seconds=1 allocates=first@gpu
0F1 on=c seconds=1 allocates=second@gpu uses=first@gpu
""")
        messages = set()
        for executor in ("auto", "simgrid", "replay", "both"):
            for output in ([], ["-o", trace]):
                done = sluice("run", plan, "--executor", executor, *output)
                self.assertEqual(done.returncode, 4, done.stderr)
                messages.add(done.stderr)
                self.assertEqual([path.name for path in self.folder.iterdir()], ["blocks.plan"])
        self.assertEqual(len(messages), 1, messages)
        self.assertIn("0F1", done.stderr)

    def test_how_much_was_measured(self):
        self.assertIsNone(self.answers_json("run", "alexnet_resident")["metrics"]["measured_share"])

    def test_the_facts_of_a_policy_are_numbers(self):
        facts = self.answers_json("run", "alexnet_x200_as_written")["plan"]["facts"]
        self.assertEqual(facts["in_flight"], 900)
        self.assertEqual(facts["passes_per_step"], 1)
        self.assertEqual(facts["weight_passes"], {"0": 1, "1": 1})

    def test_a_fact_about_a_stage_is_one_key_even_if_its_name_has_dots(self):
        facts = self.answers_json("run", "matmul_chain_streamed_ipu", "workload.mode=training",
                                  "policy={name: resident}", "stages={cut: per_layer}",
                                  "fates={strategy: optimal}")["plan"]["facts"]
        for number in (1, 2, 3):
            stage = f"{number} product.{number}"
            self.assertEqual(facts["fate_of_stage"][stage], "keep")
            self.assertEqual(facts["made_by_stage_bytes"][stage], 4_000_000)

    def test_stages_of_partial_layers_name_the_parts(self):
        result = self.answers_json("run", "alexnet_x200_training",
                                   "stages={cut: by_memory, split: true, share: 20%}",
                                   "fates={strategy: keep_all}", "workload.batch=1")
        ends = [(stage["first_layer"], stage["last_layer"]) for stage in result["stages"]]
        self.assertEqual(ends[0], ("image", "relu3"))
        self.assertIn(("full6a", "full6a"), ends)
        self.assertEqual(ends[-1], ("full8b", "full8b"))
        self.assertEqual(result["plan"]["facts"]["fate_of_stage"][f"1..{len(ends)}"], "keep")

    def test_the_estimate_of_alexnet_on_one_card(self):
        metrics = self.answers_json("run", "alexnet_x200_as_written")["metrics"]
        by_class = metrics["transfer_s_by_class"]
        self.assertEqual(f"{metrics['compute_s']:.3f}", "515.829")
        self.assertEqual(f"{by_class['weight']:.4f}", "1.2564")
        self.assertEqual(f"{by_class['input']:.4f}", "3.6127")
        self.assertEqual(f"{100 * metrics['compute_utilisation']:.2f}", "99.06")
        total = metrics["compute_s"] + by_class["weight"] + by_class["input"]
        self.assertAlmostEqual(metrics["makespan_s"] / total, 1, delta=1e-9)

    def test_given_choices_are_followed_and_one_more_than_fits_exits_4(self):
        # Each of two passes waits for 20.97 GB of full6 and for 16.70 GB of full7 and full8 at 30 GB/s, 0.699 + 0.557
        # s. The first pass also waits for 3.0 GB of the convolutions and two inputs, 0.108 s. The second pass waits for
        # the part of these convolutions that did not stay, 0.019 s. Together these are 2.638 s, in addition to 5.965 s
        # of computing.
        said = ["stages={cut: by_memory}", "fates={strategy: keep_all}", "policy.prefetch=1",
                "policy.buffers=2", "policy.pieces=whole"]
        result = self.answers_json("run", "alexnet_x200", *said, "policy.in_flight=590")
        self.assertEqual(f"{result['metrics']['makespan_s']:.3f}", "8.603")
        self.assertNotIn("chosen", result["plan"]["facts"])
        self.fails(4, "run", "alexnet_x200", *said, "policy.in_flight=591", says="fit in flight: 590")

    def test_open_choices_are_made_by_seconds_and_the_answer_says_from_how_many(self):
        result = self.answers_json("run", "alexnet_x200")
        facts, makespan = result["plan"]["facts"], result["metrics"]["makespan_s"]
        self.assertEqual(f"{makespan:.3f}", "6.569")
        self.assertAlmostEqual(facts["chosen_s"] / makespan, 1, delta=1e-9)
        self.assertGreaterEqual(facts["runner_up_s"], makespan)
        self.assertGreater(facts["chosen_from"], facts["simulated"])
        self.assertRegex(facts["chosen"], r"^cut: by_weight, groups: 8, .*in_flight: 900, buffers: 3, .*keep_all")
        text = self.answers("run", "alexnet_x200")
        self.assertIn(f"the fastest of {facts['chosen_from']} candidates", text)
        self.assertIn(f"\nrunner-up         {float(facts['runner_up_s']):.3f} s: ", text)
        cut = ["stages={cut: by_weight, groups: 8}", "fates={strategy: keep_all}"]
        again = self.answers_json("run", "alexnet_x200", *cut, "policy.in_flight=900", "policy.buffers=3")
        self.assertAlmostEqual(again["metrics"]["makespan_s"] / makespan, 1, delta=1e-9)

    def test_every_scenario_of_the_zoo_answers(self):
        for entry in json.loads(self.answers("list", "scenarios", "--json")):
            with self.subTest(scenario=entry["name"]):
                text = self.answers("run", entry["file"], "--executor", "both")
                self.assertTrue(text.startswith(entry["summary"].strip()), text)
                self.assertRegex(text, r"\nexecuted by +SimGrid, and by the replay, which agrees\n")
                for row in ("step", "first step", "makespan", "what binds", "question", "peak memory"):
                    self.assertIn(f"\n{row} ", text)

    def same_numbers(self, got, expected):
        """Checks that numbers agree to 1e-12 of the larger; differences of such numbers, to 1e-15 (s)."""
        self.assertEqual(type(got), type(expected))
        if isinstance(got, dict):
            self.assertEqual(got.keys(), expected.keys())
            for key in got:
                self.same_numbers(got[key], expected[key])
        elif isinstance(got, float):
            self.assertAlmostEqual(got, expected, delta=max(1e-15, 1e-12 * max(abs(got), abs(expected))))
        else:
            self.assertEqual(got, expected)

    def test_the_executor_is_chosen_and_reported(self):
        answers = {name: self.answers_json("run", *SMALL, "--executor", name)
                   for name in ("auto", "simgrid", "replay", "both")}
        self.assertEqual([answer["executor"] for answer in answers.values()],
                         ["simgrid", "simgrid", "replay", "both"])
        # They are equal up to rounding: the replay multiplies the sums of a period that repeats, and does not add each
        # execution.
        for answer in answers.values():
            self.same_numbers(answer["metrics"], answers["simgrid"]["metrics"])
        self.fails(2, "run", *SMALL, "--executor", "repaly", says="simgrid, replay, both")

    def test_an_overflow_is_reported(self):
        text = self.answers("run", "alexnet_x200_as_written")
        self.assertIn("It does not fit (capacity is not enforced here): gpu by", text)
        self.assertIn("\nIt fits.\n", self.answers("run", *SMALL))

    def test_a_saved_plan_gives_the_same_metrics(self):
        plan = self.folder / "p.plan"
        self.assertEqual(self.answers("plan", "alexnet_x200", "-o", plan), "")
        self.assertEqual(plan.read_text(), self.answers("plan", "alexnet_x200"))
        self.assertEqual(plan.read_text(), self.answers("plan", plan))
        of_plan = self.answers_json("run", plan)
        of_scenario = self.answers_json("run", "alexnet_x200")
        self.assertGreater(of_scenario["metrics"]["question_bound_s"], 0)
        self.assertEqual(of_plan["metrics"], without_question(of_scenario["metrics"]))
        self.assertEqual(of_plan["plan"], of_scenario["plan"])
        self.assertIsNone(of_plan["scenario"])
        self.fails(2, "run", plan, "policy.overlap=false", says="a plan takes no KEY=VALUE")
        self.fails(2, "run", plan, "--resolve", says="is a plan")

    def test_resolve_prints_where_values_are_from_and_reads_back(self):
        text = self.answers("run", *SMALL, "--resolve")
        self.assertRegex(text, r"\n  steps: 2  # workload\.steps=2\n")
        self.assertRegex(text, r'capacity: "12GB"  # .*k40\.yaml:\d+\n')
        path = self.folder / "resolved.yaml"
        path.write_text(text)
        self.assertEqual(self.answers_json("run", path)["metrics"],
                         self.answers_json("run", *SMALL)["metrics"])
        document = json.loads(self.answers("run", *SMALL, "--resolve", "--json"))
        self.assertEqual(document["workload"]["steps"], 2)

    def test_there_is_no_progress_bar_and_no_colour_without_a_terminal(self):
        self.assertNotIn("\x1b", self.answers("run", "alexnet_x200"))


class Plan(Cli):
    def test_check_reports_that_a_plan_fits(self):
        self.assertIn("it fits and ends", self.answers("plan", *SMALL, "--check"))
        self.fails(2, "plan", *SMALL, "--check", "--csv", says="--check")

    def test_csv_has_one_row_per_action(self):
        rows = list(csv.DictReader(io.StringIO(self.answers("plan", *SMALL, "--csv"))))
        actions = self.answers_json("run", *SMALL)["plan"]["actions"]
        self.assertEqual(len(rows), actions)
        self.assertEqual({row["section"] for row in rows}, {"prologue", "body"})


class Model(Cli):
    """The numbers of 'AlexNet on one card', to the digits that it shows."""
    TABLE = ["model", "models/alexnet_data_island.json", "--platform",
             "platforms/rx7900xtx_as_written.yaml"]

    def test_as_it_is(self):
        whole = self.answers_json(*self.TABLE)["platform"]
        self.assertEqual(whole["parameter_bytes"], 188_459_392)
        self.assertEqual(f"{whole['load_ms']:.5f}", "6.28198")
        self.assertEqual(f"{whole['fill_ms']:.0f}", "800")
        self.assertEqual(f"{whole['copies_that_fit']:.2f}", "127.35")
        self.assertEqual(f"{whole['state_ms']:.6f}", "0.196929")
        self.assertEqual(f"{whole['load_and_state_ms']:.5f}", "6.47891")
        self.assertEqual(f"{whole['load_and_input_ms']:.5f}", "6.30205")
        self.assertEqual(f"{whole['inferences_per_load']:.3f}", "2.192")

    def test_the_text_shows_the_same_digits(self):
        text = self.answers(*self.TABLE)
        for number in ("6.28198 ms (188 459 392 B)", " 800 ms", " 127.35\n", " 0.196929 ms",
                       " 6.47891 ms", " 6.30205 ms", " 2.192\n"):
            self.assertIn(number, text)
        text = self.answers(*self.TABLE, "scale=200")
        for number in (" 573.144 ms", " 1256.396 ms", " 699.777 ", " 0.109227 ", " 917\n"):
            self.assertIn(number, text)

    def test_two_hundred_times_as_large(self):
        table = self.answers_json(*self.TABLE, "scale=200")
        self.assertEqual(f"{table['platform']['flop_ms']:.3f}", "573.144")
        self.assertEqual(f"{table['platform']['load_ms']:.3f}", "1256.396")
        row = table["layers"][15]
        self.assertEqual(row["step"], 16)
        self.assertEqual(f"{row['total_parameters_ms']:.3f}", "699.777")
        self.assertEqual(f"{row['state_ms']:.6f}", "0.109227")
        self.assertEqual(row["copies_that_fit"], 917)

    def test_other_link_rate_and_scale_against_arithmetic(self):
        """Bandwidth x 0.7, rate x 1.3, scale 50, computed here from the document's own rows."""
        path = self.folder / "platform.yaml"
        base = (ROOT / "platforms" / "rx7900xtx_pcie4.yaml").read_text()
        path.write_text(base.replace("bandwidth: 30GB/s", "bandwidth: 21GB/s")
                        .replace("float32: 61TFLOP/s", "float32: 79.3TFLOP/s"))
        document = json.loads((ROOT / "models" / "alexnet_data_island.json").read_text())
        rows = document["data"][1:]
        table = self.answers_json("model", "alexnet_data_island", "scale=50", "--platform", path)
        for row, (_, _, state, total_state, parameters, flop) in zip(table["layers"], rows):
            expected = {
                "state_ms": 1e3 * 50 * 4 * state / 21e9,
                "total_state_ms": 1e3 * 50 * 4 * total_state / 21e9,
                "total_parameters_ms": 1e3 * 50 * 4 * parameters / 21e9,
                "total_flop_ms": 1e3 * 50 * flop / 79.3e12,
            }
            for key, value in expected.items():
                self.assertAlmostEqual(row[key], value, delta=1e-12 * max(1, value))
            self.assertEqual(row["copies_that_fit"],
                             (24 * 10**9 - 200 * parameters) // (200 * state))

    def test_memory_and_computation_of_networks_and_what_training_keeps_of_it(self):
        table = self.answers_json("model", "cnn_mnist")
        column = lambda key: [row[key] for row in table["layers"]]
        self.assertEqual(column("parameters"), [0, 320, 9248, 0, 802_944, 1290])
        self.assertEqual(column("state"), [784, 25_088, 25_088, 6272, 128, 10])
        self.assertEqual(column("receptive_field"), [[1, 1], [3, 3], [5, 5], [6, 6], None, None])
        self.assertEqual(column("jump"), [[1, 1], [1, 1], [1, 1], [2, 2], None, None])
        # Inputs of the products, and 8 bytes for the place of each maximum.
        self.assertEqual(column("kept_bytes"),
                         [0, 4 * 784, 4 * 25_088, 8 * 6272, 4 * 6272, 4 * 128])
        # Each gradient of a product takes as much work as the product. The image needs no gradient.
        macs = column("macs")
        self.assertEqual(macs, [0, 784 * 32 * 9, 784 * 32 * 9 * 32, 0, 6272 * 128, 1280])
        self.assertEqual(column("flop"), [0, 2 * macs[1] + 25_088, 2 * macs[2] + 25_088,
                                          4 * 6272, 2 * macs[4] + 128, 2 * macs[5] + 10])
        self.assertEqual(column("backward_flop"), [0, 2 * macs[1] + 25_088, 4 * macs[2] + 25_088,
                                                   6272, 4 * macs[4] + 128, 4 * macs[5] + 10])
        # conv2 reads its input and weights and writes its output; backward it reads both again and
        # the output's gradient, and writes the gradients of both.
        self.assertEqual(column("read_bytes")[2], 4 * (25_088 + 9248))
        self.assertEqual(column("written_bytes")[2], 4 * 25_088)
        self.assertEqual(column("backward_read_bytes")[2], 4 * (25_088 + 9248 + 25_088))
        self.assertEqual(column("backward_written_bytes")[2], 4 * (25_088 + 9248))
        self.assertEqual(column("backward_written_bytes")[1], 4 * 320)
        self.assertEqual(table["totals"]["parameters"], 813_802)
        self.assertEqual(table["totals"]["macs"], 8_255_232)
        self.assertIsNone(table["platform"])
        text = self.answers("model", "cnn_mnist")
        for words in ("813 802 (3 255 208 B, 3.1044 MiB as float32)", " 8 255 232\n"):
            self.assertIn(words, text)

    TOTALS = ["state", "parameters", "kept_bytes", "macs", "flop", "backward_flop", "read_bytes",
              "written_bytes"]

    def test_totals_are_running_sums_of_the_rows(self):
        for model in ("resnet18", "unet", "gpt2", "densenet121"):
            table = self.answers_json("model", model, "--platform", "rx7900xtx_pcie4")
            for key in self.TOTALS:
                sums = list(itertools.accumulate(row[key] for row in table["layers"]))
                self.assertEqual(sums[-1], table["totals"][key])
                self.assertEqual(sums, [row["total_" + key] for row in table["layers"]])
            for key in ("backward_read_bytes", "backward_written_bytes"):
                self.assertEqual(sum(row[key] for row in table["layers"]), table["totals"][key])
            for key in ("forward_ms", "backward_ms"):
                self.assertAlmostEqual(sum(row[key] for row in table["layers"]),
                                       table["platform"][key], delta=1e-9)

    def test_a_dtype_makes_elements_bytes_but_not_masks(self):
        half, single = (self.answers_json("model", "megatron_22b", "blocks=1", "--dtype", dtype)
                        for dtype in ("float16", "float32"))
        self.assertEqual((half["dtype"], single["dtype"]), ("float16", "float32"))
        rows = {row["layer"]: row for row in half["layers"]}
        # The block from norm1 to sum2 keeps s h (34 + 5 a s / h) bytes (Korthikanti et al. 2022).
        block = rows["sum2.1"]["total_kept_bytes"] - rows["dropout"]["total_kept_bytes"]
        self.assertEqual(block, 2048 * 6144 * 34 + 5 * 64 * 2048 ** 2)
        masks = 64 * 2048 ** 2 + 3 * 2048 * 6144
        self.assertEqual(single["totals"]["kept_bytes"],
                         2 * half["totals"]["kept_bytes"] - masks)

    def test_milliseconds_by_a_cost_model(self):
        arguments = ["model", "resnet18", "--platform", "rx7900xtx_pcie4"]
        table = self.answers_json(*arguments)  # the default of a card whose memory bandwidth is known
        self.assertEqual(table["platform"]["cost"], "roofline")
        rate, bandwidth = 0.7 * 61e12, 0.7 * 960e9  # the platform's shares of the card's peaks
        for row in table["layers"]:
            forward = max(row["flop"] / rate, (row["read_bytes"] + row["written_bytes"]) / bandwidth)
            backward = max(row["backward_flop"] / rate,
                           (row["backward_read_bytes"] + row["backward_written_bytes"]) / bandwidth)
            self.assertAlmostEqual(row["forward_ms"], 1e3 * forward, delta=1e-12)
            self.assertAlmostEqual(row["backward_ms"], 1e3 * backward, delta=1e-12)
        peak = self.answers_json(*arguments, "--cost", "peak")
        self.assertEqual([row["forward_ms"] for row in peak["layers"]],
                         [row["flop_ms"] for row in peak["layers"]])

    def test_every_form_has_the_requested_columns(self):
        arguments = ["model", "cnn_mnist", "--columns", "layer,receptive_field,total_flop"]
        lines = self.answers(*arguments).splitlines()
        self.assertEqual(lines[0].split(), ["layer", "field", "total", "FLOP"])
        self.assertEqual(lines[4].split(), ["pool", "6", "14", "977", "536"])
        rows = list(csv.reader(io.StringIO(self.answers(*arguments, "--csv"))))
        self.assertEqual(rows[0], ["layer", "field", "total FLOP"])
        self.assertEqual(rows[4], ["pool", "6x6", "14977536"])
        self.assertEqual(rows[5][1], "")
        island = json.loads(self.answers(*arguments, "--data-island"))
        self.assertEqual(island["data"][4], ["pool", "6x6", 14977536])
        self.assertIsNone(island["data"][5][1])
        whole = self.answers("model", "cnn_mnist", "--columns", "all", "--platform", "k40", "--csv")
        table = self.answers_json("model", "cnn_mnist", "--platform", "k40")
        self.assertEqual(len(whole.splitlines()[0].split(",")), len(table["layers"][0]))

    def test_the_data_island_is_a_model_that_is_read_again(self):
        path = self.folder / "resnet.json"
        path.write_text(self.answers("model", "resnet18", "--data-island"))
        once, again = self.answers_json("model", "resnet18"), self.answers_json("model", path)
        for key in ("state", "parameters", "flop"):
            self.assertEqual(again["totals"][key], once["totals"][key])
        self.assertEqual([row["type"] for row in again["layers"]],
                         [row["type"] for row in once["layers"]])

    def test_the_table_of_every_model_of_the_zoo_fits_into_120_columns(self):
        for path in (ROOT / "models").glob("*.yaml"):
            for more in ([], ["--platform", "rx7900xtx_pcie4"]):
                lines = self.answers("model", path, *more).splitlines()[2:]
                self.assertLessEqual(max(map(len, lines)), 120, path)
        # Columns that do not fit are named.
        wide = self.answers("model", "gpt2", "width=6144000", "blocks=1").splitlines()
        self.assertLessEqual(max(map(len, wide[2:])), 120)
        self.assertIn("Left out to fit, see --columns: backward_flop", "\n".join(wide))

    def test_csv_holds_the_table(self):
        rows = list(csv.DictReader(io.StringIO(self.answers(*self.TABLE, "--csv"))))
        self.assertEqual(len(rows), 19)
        self.assertEqual(rows[15]["layer"], "16-ReLu")
        self.assertEqual(rows[15]["total parameters"], "26241632")
        self.assertEqual(rows[15]["MACs"], "")  # a stage table does not have these columns

    def test_device_and_dtype(self):
        whole = self.answers_json("model", "matmul_chain", "--platform", "ipu_pair_gc200",
                                  "--device", "ipu1", "--dtype", "float16")["platform"]
        self.assertEqual((whole["device"], whole["dtype"]), ("ipu1", "float16"))
        self.fails(3, "model", "matmul_chain", "--platform", "k40", "--dtype", "int8",
                   says=["no rate for int8", "float32"])
        self.fails(3, "model", "matmul_chain", "--platform", "k40", "--device", "gpu7",
                   says=["no device 'gpu7'"])


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
        # Each figure is listed under the key that an override would use.
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


class Signals(Cli):
    """Interrupts a run that takes minutes. It uses the engine, because the replay would skip its steady state."""
    LONG = ["run", "alexnet_resident", "workload.steps=50000000", "--executor", "simgrid"]

    def interrupt(self, number, trace):
        process = start(*self.LONG, "-o", trace)
        part = pathlib.Path(f"{trace}.part")
        for _ in range(600):
            if part.exists() and part.stat().st_size > 100_000:
                break
            self.assertIsNone(process.poll(), "it ended by itself")
            time.sleep(0.1)
        sent = time.monotonic()
        process.send_signal(number)
        output, message = process.communicate(timeout=60)
        return process.returncode, output, message, time.monotonic() - sent

    def test_ctrl_c_leaves_an_aborted_trace_within_two_seconds(self):
        trace = self.folder / "t.h5"
        code, output, message, seconds = self.interrupt(signal.SIGINT, trace)
        self.assertEqual((code, output, message), (130, "", "sluice: interrupted\n"))
        self.assertLess(seconds, 2)
        self.assertFalse(pathlib.Path(f"{trace}.part").exists())
        text = self.answers("show", trace)
        self.assertIn("aborted: the run did not reach its end", text)
        self.check_with_h5py(trace)

    def test_ctrl_c_at_any_moment_says_one_line(self):
        # Four cards whose transfers share a switch, so that some transfers are always running.
        scenario = self.folder / "four.yaml"
        scenario.write_text("format: sluice-scenario/1\nmodel: cnn_mnist\n"
                            "platform: {file: four_v100_switch, links: {host: {bandwidth: 1GB/s}}}\n"
                            "workload: {mode: training, batch: 128, micro_batch: 32, steps: 1000000}\n"
                            "policy: {name: data_parallel, replica: resident}\n"
                            "stages: per_layer\nfates: offload_all\n")
        moments = random.Random(11)
        for number in range(10):
            trace = self.folder / f"{number}.h5"
            process = start("run", scenario, "--executor", "simgrid", "-o", trace)
            part = pathlib.Path(f"{trace}.part")
            while not part.exists() or part.stat().st_size == 0:
                self.assertIsNone(process.poll(), "it ended by itself")
                time.sleep(0.02)
            time.sleep(moments.uniform(0, 0.5))
            process.send_signal(signal.SIGINT)
            output, message = process.communicate(timeout=60)
            self.assertEqual((process.returncode, output, message), (130, "", "sluice: interrupted\n"))

    def check_with_h5py(self, trace):
        try:
            import h5py
        except ImportError:
            return
        with h5py.File(trace) as file:
            status = file.attrs["status"]
            self.assertEqual(status.decode() if isinstance(status, bytes) else status, "aborted")
            self.assertGreater(len(file["spans/start"]), 0)

    def test_sigterm_does_the_same(self):
        trace = self.folder / "t.h5"
        code, _, _, seconds = self.interrupt(signal.SIGTERM, trace)
        self.assertEqual(code, 143)
        self.assertLess(seconds, 2)
        self.assertIn("aborted", self.answers("show", trace))


if __name__ == "__main__":
    if not pathlib.Path(PROGRAM).exists():
        print(f"skipped: there is no {PROGRAM}; SLUICE_PROGRAM names the program")
        sys.exit(77)
    unittest.main(verbosity=2)
