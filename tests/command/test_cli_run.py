#!/usr/bin/python3
"""Tests the form and the values of the answers of the commands `run` and `plan`."""

import csv
import io
import json

from cli_case import Cli, SMALL, main, sluice, without_question


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
        # The run has one stage. All weights and the first input are loaded. Then 20 batches are computed. Then the last
        # answer is saved. All other transfers overlap with computation.
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

    def test_both_compares_up_to_100000_actions_to_the_bit(self):
        """The makespan must be equal, to the last bit, to a sum in which 0.1 s is added 1000 times. A replay that
        leaves out periods would multiply 0.1 s by a number instead. The product has other last bits than the sum."""
        plan = self.folder / "loop.plan"
        plan.write_text("""format: sluice-plan/2
iterations 1000
stream c kind=compute device=gpu
body:
0F0 on=c seconds=0.1 samples=1 samples_done=1
""")
        end = 0.0
        for _ in range(1000):
            end += 0.1
        self.assertNotEqual(end, 100.0)
        metrics = self.answers_json("run", plan, "--executor", "both")["metrics"]
        self.assertEqual(metrics["makespan_s"], end)

    def test_the_iterations_of_a_plan_file_are_its_steps(self):
        """Samples of the prologue and of the epilogue belong to no step. An iteration takes 10 ms."""
        plan = self.folder / "warm.plan"
        for prologue, epilogue in ((5, 0), (0, 3), (5, 3)):
            lines = ["format: sluice-plan/2", "iterations 10", "stream c kind=compute device=gpu"]
            for section, samples in (("prologue", prologue), ("body", 1), ("epilogue", epilogue)):
                lines.append(section + ":")
                if samples:
                    lines.append(f"0F0 on=c seconds=0.01 samples={samples} samples_done={samples}")
            plan.write_text("\n".join(lines) + "\n")
            answer = self.answers("run", plan)
            self.assertIn(f"{10 + prologue + epilogue} samples in 10 steps", answer)
            self.assertIn("step              10 ms in the steady state: 100 samples/s", answer)
        self.assertIn(" in 3 steps", self.answers("run", "phased_ipu_pair", "workload.steps=3"))

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
        # The step has two passes. Each pass waits 0.699 s for the weights of full6 (20.97 GB at 30 GB/s), and 0.557 s
        # for the weights of full7 and full8 (16.70 GB). The first pass also waits 0.108 s for the weights of the
        # convolutions (3.0 GB) and for two inputs. Some of these weights stay on the device. The second pass waits
        # 0.019 s for the others. The sum of all waits is 2.638 s, and the run computes for 5.965 s.
        said = ["stages={cut: by_memory}", "fates={strategy: keep_all}", "policy.prefetch=1",
                "policy.buffers=2", "policy.pieces=whole"]
        result = self.answers_json("run", "alexnet_x200", *said, "policy.in_flight=590")
        self.assertEqual(f"{result['metrics']['makespan_s']:.3f}", "8.603")
        self.assertNotIn("chosen", result["plan"]["facts"])
        self.fails(4, "run", "alexnet_x200", *said, "policy.in_flight=591", says="in flight that fits: 590")

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

    def test_the_answer_counts_a_last_step_after_the_iterations(self):
        # With three phases on two devices, an iteration is two steps. Of three or five steps, the last is in the epilogue.
        for steps in (1, 2, 3, 4, 5):
            text = self.answers("run", "phased_ipu_pair", "policy.weights_per=step", "workload.batches_per_step=1",
                                f"workload.steps={steps}")
            self.assertIn(f" {32 * steps} samples in {steps} step", text)

    def test_every_scenario_of_the_zoo_answers(self):
        for entry in json.loads(self.answers("list", "scenarios", "--json")):
            with self.subTest(scenario=entry["name"]):
                text = self.answers("run", entry["file"], "--executor", "both")
                self.assertTrue(text.startswith(entry["summary"].strip()), text)
                self.assertRegex(text, r"\nexecuted by +SimGrid, and by the replay, which agrees\n")
                for row in ("step", "first step", "makespan", "what binds", "question", "peak memory"):
                    self.assertIn(f"\n{row} ", text)

    def same_numbers(self, got, expected):
        """Checks that two numbers agree to 1e-12 of the larger number. A difference of 1e-15 is always allowed, because
        a number may be a small difference of two large numbers."""
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
        # The run has several equal periods. The replay adds up the numbers of one period, and multiplies the sums by
        # the number of periods. So its metrics may differ from SimGrid's by rounding.
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


if __name__ == "__main__":
    main()
