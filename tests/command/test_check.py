#!/usr/bin/python3
"""Tests `sluice check`. It must find and name changes. Accepted changes must become the baseline. An interrupt must
stop all processes."""

import json
import os
import pathlib
import re
import signal
import subprocess
import time
import unittest

from check_case import Check, ENVIRONMENT, PROGRAM, percent_more


class Planted(Check):
    def test_one_percent_more_seconds_in_one_stage_fails_and_names_the_stage(self):
        name = self.plan()
        self.accept(name)
        self.edit(name, r"^(1F\d.*seconds=)(\S+)", lambda m: m[1] + percent_more(m[2], 1))
        text = self.check(1, name)
        self.assertIn("slower: stage 'product.2' computes 1 % longer\n", text)
        self.assertNotIn("'product.1'", text)
        self.assertNotIn("'product.3'", text)
        self.assertIn("sluice check p.plan --baseline golden --update\n", text)
        answer = self.check_json(1, name)["scenarios"][0]
        worse = {(m["metric"], m["key"]) for m in answer["metrics"] if m["verdict"] == "worse"}
        self.assertLessEqual({("makespan_s", None), ("compute_s_by_stage", "product.2")}, worse)
        self.assertEqual(answer["slower"], ["stage 'product.2' computes 1 % longer"])

    def test_a_stage_that_transfers_hide_is_named_too(self):
        name = self.plan(base="matmul_chain_streamed_ipu")
        self.accept(name)
        self.edit(name, r"^(1F\d.*seconds=)(\S+)", lambda m: m[1] + percent_more(m[2], 1))
        self.assertIn("slower: stage 'product.2' computes 1 % longer\n", self.check(1, name))

    def test_one_percent_less_bandwidth_fails_and_names_the_link(self):
        name = self.plan()
        self.accept(name)
        self.edit(name, r"^(link host\.down bandwidth=)([^B]+)",
                  lambda m: m[1] + percent_more(m[2], -1))
        text = self.check(1, name)
        # The link has 0.99 of its bandwidth, and 1 / 0.99 is 1.0101...
        self.assertIn("slower: the bytes over link 'host.down' take 1.01 % longer at full rate\n", text)
        self.assertNotIn("link 'host.up'", text)
        self.assertIn("link host.down: bandwidth 3.2e+10B/s -> 3.168e+10B/s", text)

    def test_two_lines_in_another_order_are_a_changed_plan_but_not_worse(self):
        name = self.plan(base="sharded_ipu_pair")
        self.accept(name)
        lines = (self.folder / name).read_text().splitlines(keepends=True)
        # Looks for two neighbouring actions that can be listed in the other order. Two such actions are on different
        # streams and allocate in different pools. The second action does not wait for the first action.
        for at, (first, second) in enumerate(zip(lines, lines[1:])):
            on = [re.search(r" on=(\S+)", line) for line in (first, second)]
            pools = [set(re.findall(r"@([^,\s]+)", line)) for line in (first, second)]
            waits = re.search(r" waits=(\S+)", second)
            if all(on) and on[0][1] != on[1][1] and not pools[0] & pools[1] and \
                    first.split()[0] not in (waits[1] if waits else "").split(","):
                break
        else:
            self.fail("there are no two neighbouring actions that can be swapped")
        lines[at], lines[at + 1] = second, first
        (self.folder / name).write_text("".join(lines))
        text = self.check(0, name)
        self.assertRegex(text, r"p +changed  \d+ numbers equal, changed plan\n")
        self.assertIn("order: 2 lines have moved", text)
        self.assertNotIn("worse", text)
        self.check(1, name, "--strict")

    def test_a_slower_device_is_worse_and_says_that_the_question_changed(self):
        name = self.scenario("s.json")
        self.accept(name)
        self.scenario("s.json", **{"platform.devices.ipu.rate.float16": "247.5TFLOP/s"})
        answer = self.check_json(1, name)["scenarios"][0]
        self.assertEqual(answer["input"]["keys"], [
            {"key": "platform.devices.ipu.rate.float16", "expected": "250TFLOP/s",
             "got": "247.5TFLOP/s"},
            {"key": "question", "got": None,  # the scenario drops its question in words if a key was changed
             "expected": "Does streaming hide behind compute on an IPU pair?"}])
        self.assertEqual(len(answer["slower"]), 3)

    def test_a_question_in_other_words_is_a_changed_input_but_not_worse(self):
        name = self.scenario("s.json")
        self.accept(name)
        self.scenario("s.json", question="Why?")
        text = self.check(0, name)
        self.assertRegex(text, r"s +changed  \d+ numbers equal, changed input\n")
        self.assertIn("  input: question: Does streaming hide behind compute on an IPU pair? -> Why?",
                      text)
        self.assertNotIn("  plan:", text)

    def test_a_faster_result_is_reported_and_passes(self):
        # The link gets faster. Only one batch is in flight, so the makespan and the bound decrease by the same factor.
        # The ratio of makespan to bound does not change.
        name = self.plan("p.plan", "phased_ipu_pair", "policy.in_flight=1")
        self.accept(name)
        self.edit(name, r"^(link host\.down bandwidth=)([^B]+)",
                  lambda m: m[1] + percent_more(m[2], 5))
        text = self.check(0, name)
        self.assertRegex(text, r"p +better ")
        self.assertIn("sluice check p.plan --baseline golden --update\n", text)


class Baselines(Check):
    def baseline(self, name="s"):
        return json.loads((self.folder / "golden" / f"{name}.json").read_text())

    def test_a_missing_baseline_fails_and_the_suggested_command_writes_it(self):
        name = self.scenario("s.json")
        text = self.check(1, name)
        self.assertIn("there is no baseline 'golden/s.json'", text)
        command = text.splitlines()[-1].split()
        self.assertEqual(command[0], "sluice")
        self.assertEqual(self.sluice(*command[1:]).returncode, 0)
        self.assertIn("equal", self.check(0, name))
        (self.folder / "golden/s.plan").unlink()
        self.assertIn("there is no plan 'golden/s.plan'", self.check(1, name))

    def test_a_baseline_has_sorted_keys_the_question_and_tolerances(self):
        self.accept(self.scenario("s.json"))
        text = (self.folder / "golden/s.json").read_text()
        self.assertTrue(text.endswith("}\n"))
        baseline = json.loads(text)

        def sorted_keys(value):
            if isinstance(value, dict):
                self.assertEqual(list(value), sorted(value))
                for child in value.values():
                    sorted_keys(child)
        sorted_keys(baseline)
        self.assertEqual(baseline["metrics"]["makespan_s"],
                         {**baseline["metrics"]["makespan_s"], "rtol": 1e-9, "atol": 0,
                          "better": "lower", "unit": "s"})
        self.assertIn("phases:", baseline["input"]["text"])
        self.assertEqual(len(baseline["input"]["sha256"]), 64)

    def test_tolerances_that_were_set_count_and_outlive_an_update(self):
        name = self.plan("s.plan")
        self.accept(name)
        self.edit(name, r"^(1F\d.*seconds=)(\S+)", lambda m: m[1] + percent_more(m[2], 1))
        self.check(1, name)
        loose = re.sub(r'"rtol": 1e-09', '"rtol": 0.05', (self.folder / "golden/s.json").read_text())
        (self.folder / "golden/s.json").write_text(loose)
        self.assertIn("changed plan", self.check(0, name))
        before = self.baseline()["metrics"]["makespan_s"]
        self.check(0, name, "--update")
        self.assertEqual(self.baseline()["metrics"]["makespan_s"], before)  # --update keeps the equal value
        self.edit(name, r"^(1F\d.*seconds=)(\S+)", lambda m: m[1] + percent_more(m[2], 900))
        self.check(1, name)
        self.check(0, name, "--update")
        after = self.baseline()["metrics"]["compute_s_by_stage"]["by"]["product.2"]
        self.assertEqual(after["rtol"], 0.05)
        self.assertGreater(after["value"], 5 * 0.0021)

    def test_an_update_of_equal_results_changes_no_file(self):
        name = self.scenario("s.json")
        self.accept(name)
        files = [self.folder / "golden" / file for file in ("s.json", "s.plan")]
        before = [(file.read_bytes(), file.stat().st_mtime_ns) for file in files]
        self.assertIn("equal", self.check(0, name, "--update"))
        self.assertEqual(before, [(file.read_bytes(), file.stat().st_mtime_ns) for file in files])
        self.assertEqual(sorted(os.listdir(self.folder / "golden")), ["s.json", "s.plan"])

    def test_a_broken_baseline_is_exit_3_with_its_position_and_is_not_overwritten(self):
        good, bad = self.scenario("good.json"), self.scenario("bad.json")
        self.accept(good, bad)
        path = self.folder / "golden/bad.json"
        path.write_text(path.read_text().replace('"better": "lower"', '"better": "faster"', 1))
        line = [i for i, text in enumerate(path.read_text().splitlines(), 1) if "faster" in text][0]
        for words in ([], ["--update"]):
            done = self.sluice("check", bad, good, "--baseline", "golden", *words)
            self.assertEqual(done.returncode, 3)
            self.assertRegex(done.stderr, rf"(?m)^golden/bad\.json:{line}:\d+: error: ")
            self.assertIn("'faster'", done.stderr)
            self.assertRegex(done.stdout, r"good +equal ")
        self.assertIn("faster", path.read_text())
        path.write_text(path.read_text()[:1000])
        done = self.sluice("check", bad, "--baseline", "golden")
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stderr, r"(?m)^golden/bad\.json:\d+:\d+: error: this is not JSON")
        (self.folder / "golden/good.plan").write_text("what?\n")
        done = self.sluice("check", good, "--baseline", "golden")
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stderr, r"(?m)^golden/good\.plan:1:1: error: ")

    def test_a_baseline_may_expect_that_a_scenario_does_not_fit(self):
        tight = {"platform.devices.gpu.memory.capacity": "100MB"}
        name = self.scenario("s.json", "alexnet_resident", **tight)
        self.check(0, name, "--update")
        self.assertEqual(self.baseline()["outcome"], "infeasible")
        self.assertIn("100000000 B", self.baseline()["message"])
        self.assertIn("infeasible, as expected", self.check(0, name, "--strict"))
        self.scenario("s.json", "alexnet_resident")
        self.assertRegex(self.check(0, name), r"s +better   changed outcome")
        self.check(0, name, "--update")
        self.scenario("s.json", "alexnet_resident", **tight)
        self.assertRegex(self.check(1, name), r"s +worse    changed outcome")

    def test_a_long_plan_is_kept_by_its_sums(self):
        self.accept("alexnet_x200")
        text = (self.folder / "golden/alexnet_x200.plan").read_text()
        self.assertTrue(text.startswith("format: sluice-plan-digest/1\n"))
        self.assertLess(len(text), 4096)
        name = self.plan("alexnet_x200.plan", "alexnet_x200")
        self.edit(name, r"^(1F\d.*seconds=)(\S+)", lambda m: m[1] + percent_more(m[2], 1))
        text = self.check(1, name)
        self.assertIn("slower: stage 'full6a' computes 1 % longer", text)
        self.assertRegex(text, r"compute full6a: seconds 0\.0309\d+ -> 0\.0312\d+")


NEVER_REPEATS = """\
format: sluice-plan/1
name "two streams that never repeat, so that no period is left out"
iterations 1000000000
pool gpu capacity=100B
stream one kind=compute device=gpu
stream two kind=compute device=gpu
body:
a on=one kind=forward samples=1 samples_done=1 seconds=1
b on=two kind=forward seconds=0.7
"""


class Signals(Check):
    def test_an_interrupt_kills_the_children_and_writes_nothing(self):
        names = [f"{c}.plan" for c in "abc"]
        for name in names:
            (self.folder / name).write_text(NEVER_REPEATS)
        process = subprocess.Popen([PROGRAM, "check", *names, "--baseline", "golden", "--update",
                                    "-j", "3"], cwd=self.folder, env=ENVIRONMENT,
                                   start_new_session=True, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)

        def members():
            """Returns the ids of all running processes in the session of `process`."""
            found = []
            for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
                try:
                    words = stat.read_text().rpartition(")")[2].split()
                except OSError:
                    continue
                if int(words[3]) == process.pid and words[0] != "Z":
                    found.append(int(stat.parent.name))
            return found

        until = time.monotonic() + 60
        while len(members()) < 4 and time.monotonic() < until:
            time.sleep(0.05)
        self.assertEqual(len(members()), 4)
        os.kill(process.pid, signal.SIGINT)  # only the parent gets the signal
        out, error = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 130)
        self.assertEqual(out, "")
        self.assertEqual(error, "sluice: interrupted\n")
        self.assertEqual(members(), [])
        self.assertFalse((self.folder / "golden").exists())


if __name__ == "__main__":
    unittest.main()
