#!/usr/bin/python3
"""sluice check: planted changes are found and named, accepted changes become the baseline, and programs that read
reports can parse them."""

import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import unittest
import xml.etree.ElementTree as xml

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("SLUICE_PROGRAM", str(ROOT / "build/release/sluice"))
ENVIRONMENT = {**os.environ, "SLUICE_ROOT": str(ROOT), "LC_ALL": "C.UTF-8"}


def percent_more(text, percent):
    return repr(float(text) * (1 + percent / 100))


class Check(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def sluice(self, *words):
        return subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True,
                              cwd=self.folder, env=ENVIRONMENT, timeout=300)

    def check(self, code, *words):
        done = self.sluice("check", *words, "--baseline", "golden")
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout

    def check_json(self, code, *words):
        return json.loads(self.check(code, *words, "--format", "json"))

    def scenario(self, name, base="phased_ipu_pair", **changes):
        """Writes the resolved scenario, with changes like {"policy.overlap": "false"}, as a separate file."""
        words = [f"{key}={value}" for key, value in changes.items()]
        done = self.sluice("run", base, *words, "--resolve", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        (self.folder / name).write_text(done.stdout)
        return name

    def plan(self, name="p.plan", base="phased_ipu_pair", *words):
        done = self.sluice("plan", base, *words, "-o", name)
        self.assertEqual(done.returncode, 0, done.stderr)
        return name

    def edit(self, name, pattern, replacement):
        path = self.folder / name
        text, count = re.subn(pattern, replacement, path.read_text(), flags=re.M)
        self.assertGreater(count, 0)
        path.write_text(text)
        return count

    def accept(self, *names):
        self.check(0, *names, "--update")
        self.assertIn("equal", self.check(0, *names, "--strict"))


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
        # 1 / 0.99 is 1.0101...
        self.assertIn("slower: link 'host.down' takes 1.01 % longer for its bytes\n", text)
        self.assertNotIn("link 'host.up'", text)
        self.assertIn("link host.down: bandwidth 3.2e+10B/s -> 3.168e+10B/s", text)

    def test_two_lines_in_another_order_are_a_changed_plan_but_not_worse(self):
        name = self.plan(base="sharded_ipu_pair")
        self.accept(name)
        lines = (self.folder / name).read_text().splitlines(keepends=True)
        # Two neighbouring actions of different streams. Neither waits for the other, and they allocate in different
        # pools.
        for at, (first, second) in enumerate(zip(lines, lines[1:])):
            on = [re.search(r" on=(\S+)", line) for line in (first, second)]
            pools = [set(re.findall(r"@([^,\s]+)", line)) for line in (first, second)]
            waits = re.search(r" waits=(\S+)", second)
            if all(on) and on[0][1] != on[1][1] and not pools[0] & pools[1] and \
                    first.split()[0] not in (waits[1] if waits else "").split(","):
                break
        else:
            self.fail("no such neighbours")
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
            {"key": "question", "got": None,  # the question in words is left out if something was changed
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
        # With one batch at a time, the bound falls with the makespan, so that their ratio stays.
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
        self.assertEqual(self.baseline()["metrics"]["makespan_s"], before)  # it was equal, so it stays
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


class Reports(Check):
    def test_the_answer_depends_neither_on_jobs_nor_on_order(self):
        names = [self.scenario(f"{c}.json", **{"workload.steps": i + 1})
                 for i, c in enumerate("abcdef")]
        self.accept(*names)
        self.scenario("d.json", **{"workload.steps": 9})
        texts = {self.check(1, *names, "-j", jobs) for jobs in (1, 2, 8)}
        self.assertEqual(len(texts), 1)
        back = self.check_json(1, *reversed(names))["scenarios"]
        self.assertEqual(list(reversed(back)), self.check_json(1, *names)["scenarios"])

    def planted(self):
        names = [self.scenario("good.json"), self.plan("a&b.plan")]
        self.accept(*names)
        self.edit(names[1], r"^(1F\d.*seconds=)(\S+)", lambda m: m[1] + percent_more(m[2], 1))
        return [*names, self.scenario("new.json"), "none.yaml"]

    def test_junit(self):
        self.check(5, *self.planted(), "--junit", "report.xml")
        root = xml.parse(self.folder / "report.xml").getroot()
        suite = root.find("testsuite")
        for element in (root, suite):
            self.assertEqual([element.get(key) for key in ("tests", "failures", "errors")],
                             ["4", "2", "1"])
        good, worse, missing, error = suite.findall("testcase")
        self.assertEqual([case.get("name") for case in suite], ["good", "a&b", "new", "none"])
        self.assertEqual(len(good), 0)
        self.assertEqual(worse.find("failure").get("type"), "worse")
        self.assertRegex(worse.find("failure").text, r"metric +expected +got +difference +%")
        self.assertIn("1F0 and 1 more: seconds 4.380952380952381e-06 -> ",
                      worse.find("failure").text)
        self.assertEqual(missing.find("failure").get("type"), "missing")
        self.assertIn("none.yaml", error.find("error").text)
        self.assertTrue(worse.find("failure").text.startswith("a&b.plan\n"))
        # Elements and attributes that the schema of Jenkins' reports allows (junit-10.xsd of its xUnit plugin).
        allowed = {"testsuites": {"name", "time", "tests", "failures", "disabled", "errors"},
                   "testsuite": {"name", "tests", "failures", "errors", "time", "disabled",
                                 "skipped", "timestamp", "hostname", "id", "package"},
                   "testcase": {"name", "assertions", "time", "classname", "status"},
                   "failure": {"type", "message"}, "error": {"type", "message"},
                   "system-out": set()}
        for element in root.iter():
            self.assertLessEqual(set(element.keys()), allowed[element.tag], element.tag)

    def test_github_names_line_and_column_of_a_mistake(self):
        name = self.scenario("mistake.yaml")
        (self.folder / name).write_text("format: sluice-scenario/1\nmodle: alexnet\n")
        text = self.check(3, name, "--format", "github")
        self.assertIn("::error file=mistake.yaml,line=2,col=1,title=mistake is error::", text)

    def test_a_report_replaces_only_a_report(self):
        name = self.scenario("good.json")
        self.accept(name)
        report = self.folder / "report.xml"
        for text in ("", '<?xml version="1.0"?>\n<testsuites tests="0">\n</testsuites>\n'):
            report.write_text(text)
            self.check(0, name, "--junit", "report.xml")
            self.assertIn('tests="1"', report.read_text())
        for text in ("somebody's notes\n", '<?xml version="1.0"?>\n<project/>\n'):
            report.write_text(text)
            done = self.sluice("check", name, "--baseline", "golden", "--junit", "report.xml")
            self.assertEqual(done.returncode, 2, done.stdout)
            self.assertIn("'report.xml' for '--junit' is not a report as JUnit's XML: give another name, or --force",
                          done.stderr)
            self.assertEqual(report.read_text(), text)
            self.check(0, name, "--junit", "report.xml", "--force")
            self.assertIn('tests="1"', report.read_text())

    def test_github(self):
        text = self.check(5, *self.planted(), "--format", "github")
        notes = [line for line in text.splitlines() if line.startswith("::")]
        self.assertEqual(len(notes), 3)
        self.assertTrue(notes[0].startswith("::error file=a&b.plan,title=a&b is worse::worse: "))
        self.assertIn("%0A", notes[0])
        self.assertTrue(notes[1].startswith("::error file=new.json,title=new is missing::"))
        self.assertTrue(notes[2].startswith("::error file=none.yaml,title=none is error::"))

    def test_json(self):
        answer = self.check_json(5, *self.planted())
        self.assertEqual(answer["format"], "sluice-check/1")
        self.assertEqual(answer["exit_code"], 5)
        self.assertEqual([one["verdict"] for one in answer["scenarios"]],
                         ["equal", "worse", "missing", "error"])
        self.assertEqual([one["fails"] for one in answer["scenarios"]], [False, True, True, True])
        self.assertEqual(answer["accept"],
                         "sluice check 'a&b.plan' new.json --baseline golden --update")
        makespan = [m for m in answer["scenarios"][1]["metrics"] if m["metric"] == "makespan_s"][0]
        self.assertEqual(makespan["difference"], makespan["got"] - makespan["expected"])
        self.assertAlmostEqual(makespan["percent"],
                               100 * makespan["difference"] / makespan["expected"])

    def test_the_table_has_only_differences_by_default(self):
        name = self.plan()
        self.accept(name)
        self.assertEqual(len(self.check(0, name).splitlines()), 2)
        text = self.check(0, name, "-v")
        self.assertRegex(text, r"  peak_bytes\[ipu0\] +8125000 +8125000 +\+0 +\+0 +1e-09  equal")

    def test_usage(self):
        for words, says in (
                (["phased_ipu_pair"], "missing '--baseline DIR'"),
                (["phased_ipu_pair", "scenarios/phased_ipu_pair.yaml", "--baseline", "x"],
                 "have the same name"),
                (["s", "--baseline", "x", "--update", "--strict"], "exclude each other"),
                (["s", "--baseline", "x", "--jobs", "0"], "from 1 to 1024"),
                (["--compare", "streamed", "resident"], "at least one scenario"),
                (["--compare", "a", "b", "s", "--update"], "exclude each other"),
                (["--compare", "a", "b", "s", "--format", "github"], "text or json")):
            done = self.sluice("check", *words)
            self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
            self.assertIn(says, done.stderr)
        name = self.plan("own.plan")
        done = self.sluice("check", name, "--baseline", ".", "--update")
        self.assertEqual(done.returncode, 2)
        self.assertIn("is the path of its own baseline", done.stderr)
        name = self.scenario("s.json")
        done = self.sluice("check", name, "--baseline", "golden", "--junit", name)
        self.assertEqual(done.returncode, 2)
        self.assertIn("is one of the scenarios", done.stderr)


class Compare(Check):
    def compare(self, code, *words):
        done = self.sluice("check", "--compare", *words, "--format", "json")
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return json.loads(done.stdout)

    def test_two_policies_give_the_same_results_as_each_alone(self):
        answer = self.compare(0, "phased", "{name: sharded}", "phased_ipu_pair")
        row = answer["scenarios"][0]
        alone = {}
        for letter, name in (("a", "phased_ipu_pair"), ("b", "sharded_ipu_pair")):
            alone[letter] = json.loads(self.sluice("run", name, "--json").stdout)["metrics"]
        for metric in row["metrics"]:
            for letter in "ab":
                expected = alone[letter][metric["metric"]]
                if metric["key"] is not None:
                    expected = expected.get(metric["key"])
                self.assertEqual(metric[letter], expected, metric)
            if metric["a"]:
                self.assertEqual(metric["ratio"], metric["b"] / metric["a"])
        self.assertEqual([m["metric"] for m in row["metrics"] if m["key"] is None],
                         ["makespan_s", "throughput_samples_per_s", "compute_utilisation",
                          "transferred_bytes", "energy_j"])
        self.assertEqual(len([m for m in row["metrics"] if m["metric"] == "peak_bytes"]), 3)

    def test_infeasible_on_one_side_is_a_cell(self):
        words = ("streamed", "resident", "alexnet_resident", "alexnet_x200")
        answer = self.compare(0, *words)["scenarios"]
        self.assertEqual([(row["a"]["outcome"], row["b"]["outcome"]) for row in answer],
                         [("complete", "complete"), ("complete", "infeasible")])
        makespan = answer[1]["metrics"][0]
        self.assertGreater(makespan["a"], 0)
        self.assertIsNone(makespan["b"])
        self.assertIsNone(makespan["ratio"])
        done = self.sluice("check", "--compare", *words)
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout, r"alexnet_x200 +makespan_s +6\.569 s +infeasible +-")
        self.assertIn("alexnet_x200, B: out of memory", done.stdout)

    def test_a_parameter_is_compared_as_a_mapping(self):
        row = self.compare(0, "{name: streamed, overlap: true}", "{name: streamed, overlap: false}",
                           "alexnet_resident")["scenarios"][0]
        makespan = row["metrics"][0]
        self.assertEqual(makespan["metric"], "makespan_s")
        self.assertGreater(makespan["ratio"], 1)

    def test_an_unknown_policy_and_a_plan_are_refused(self):
        done = self.sluice("check", "--compare", "streamd", "resident", "alexnet_resident")
        self.assertEqual(done.returncode, 3)
        self.assertIn("did you mean 'streamed'", done.stderr)
        done = self.sluice("check", "--compare", "streamed", "resident", self.plan())
        self.assertEqual(done.returncode, 2)
        self.assertIn("is a plan", done.stderr)


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
            """Returns the processes of its session."""
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
        os.kill(process.pid, signal.SIGINT)  # only the parent
        out, error = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 130)
        self.assertEqual(out, "")
        self.assertEqual(error, "sluice: interrupted\n")
        self.assertEqual(members(), [])
        self.assertFalse((self.folder / "golden").exists())


if __name__ == "__main__":
    unittest.main()
