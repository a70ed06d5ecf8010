#!/usr/bin/python3
"""Tests the reports of `sluice check`: as a table, as JSON, as JUnit's XML and as notes for GitHub. Also tests the
comparison of two policies."""

import json
import unittest
import xml.etree.ElementTree as xml

from check_case import Check, percent_more


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
        # The elements, each with its attributes, that the schema of Jenkins' reports allows (junit-10.xsd of the xUnit
        # plugin).
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
            self.assertIn("'report.xml' for '--junit' is not a report in JUnit's XML: give another name, or --force",
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


if __name__ == "__main__":
    unittest.main()
