#!/usr/bin/python3
"""Tests `sluice search`: its answers, its exit codes, scenarios from standard input, and that a killed search continues
from its store."""

import json
import os
import pathlib
import random
import signal
import sqlite3
import subprocess
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("SLUICE_PROGRAM", str(ROOT / "build/release/sluice"))
ENVIRONMENT = {**os.environ, "SLUICE_ROOT": str(ROOT), "LC_ALL": "C.UTF-8"}

QUICK = ["alexnet_resident", "workload.steps=2", "policy.buffers=2", "stages={cut: whole}"]
LINK = "platform.links.host.bandwidth"
FASTEST = [*QUICK, "--maximise", "throughput_samples_per_s", "workload.batch=1..4000",
           "--over", f"{LINK}=1GB/s..64GB/s", "--subject-to", "peak_bytes.gpu<=2GB", "--points", "120"]


def sluice(*words, stdin=None):
    return subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, cwd=ROOT,
                          env=ENVIRONMENT, timeout=300, input=stdin)


class Search(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def said(self, *words, code=0):
        done = sluice("search", *words)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout

    def test_the_answer_says_what_it_found_from_how_many_points_and_how_certain_it_is(self):
        text = self.said(*QUICK, "--maximise", "throughput_samples_per_s", "workload.batch=1..64*2",
                         "--subject-to", "peak_bytes.gpu<=400MB")
        rows = json.loads(sluice("sweep", *QUICK, "workload.batch=1..64*2", "--json").stdout)["points"]
        fit = [row for row in rows if row["metrics"]["peak_bytes[gpu]"] <= 400e6]
        self.assertTrue(0 < len(fit) < len(rows))
        best = max(fit, key=lambda row: row["metrics"]["throughput_samples_per_s"])
        self.assertRegex(text, rf"(?m)^best .* at workload.batch={best['changes']['workload.batch']}$")
        self.assertRegex(text, r"(?m)^limit +peak_bytes.gpu<=400MB: .* % below it$")
        self.assertRegex(text, r"(?m)^beyond ")
        self.assertRegex(text, r"(?m)^asked +7 points; SimGrid repeated the best point and gave an equal result$")
        self.assertRegex(text, r"(?m)^sure +all combinations were run: no point is better than the best point$")

    def test_points_without_the_number_are_left_out_and_counted(self):
        text = self.said(*QUICK, "--minimise", "peak_bytes.ipu0", "platform=k40,ipu_pair_gc200")
        self.assertRegex(text, r"(?m)^best .* at platform=ipu_pair_gc200$")
        self.assertRegex(text, r"(?m)^left out +1 point without peak_bytes.ipu0, the first at platform=k40$")

    def test_json_has_the_goal_what_was_found_and_every_point(self):
        answer = json.loads(self.said(*FASTEST, "--json", "--no-verify"))
        self.assertEqual(answer["format"], "sluice-search/1")
        self.assertEqual(answer["goal"], {"maximise": "throughput_samples_per_s", "unit": "sample/s"})
        found = answer["found"]
        self.assertLessEqual(found["limits"][0]["number"], 2e9)
        self.assertEqual(found["limits"][0]["at"], 2e9)
        point = answer["points"][found["place"]]
        self.assertEqual(point["changes"], found["changes"])
        self.assertEqual(point["metrics"]["throughput_samples_per_s"], found["number"])
        keeping = [row["metrics"]["throughput_samples_per_s"] for row in answer["points"]
                   if row["status"] == "complete" and row["metrics"]["peak_bytes[gpu]"] <= 2e9]
        self.assertEqual(found["number"], max(keeping))
        self.assertLessEqual(len(answer["points"]), 120)
        self.assertFalse(answer["exhaustive"])

    def test_killed_at_any_moment_it_continues_and_asks_no_point_twice(self):
        expected = self.said(*FASTEST, "--csv", "--no-verify")
        dice, store = random.Random(11), self.folder / "study.db"
        command = [PROGRAM, "search", *FASTEST, "--csv", "--no-verify", "--store", str(store)]
        for _ in range(4):
            process = subprocess.Popen(command, cwd=ROOT, env=ENVIRONMENT, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
            time.sleep(dice.uniform(0.05, 0.5))
            process.send_signal(signal.SIGKILL)
            process.wait()
        self.assertEqual(self.said(*FASTEST, "--csv", "--no-verify", "--store", store), expected)
        points = len(expected.splitlines()) - 1
        with sqlite3.connect(store) as database:
            self.assertEqual(database.execute("SELECT COUNT(*) FROM points").fetchall(), [(points,)])
        self.assertIn(f"{points} points of them taken from the store",
                      self.said(*FASTEST, "--no-verify", "--store", store))
        self.assertEqual(self.said(*FASTEST, "--csv", "--no-verify", "--jobs", 1), expected)

    def test_exit_codes(self):
        goal = ["--minimise", "makespan_s"]
        self.assertIn("none: no point keeps all limits", self.said(
            *QUICK, *goal, "workload.batch=1,2", "--subject-to", "makespan_s<=1us", code=4))
        self.assertRegex(self.said(*QUICK, *goal, "workload.batch=1,x", code=1),
                         r"(?m)^sure +all combinations but the one that failed were run: none of them is better than the best point$")
        self.assertFalse(json.loads(self.said(*QUICK, *goal, "workload.batch=1,x", "--json", code=1))["exhaustive"])
        done = sluice("search", *QUICK, *goal, "workload.bach=1..200")
        self.assertEqual(done.returncode, 3)
        self.assertIn("did you mean 'batch'?", done.stderr)
        for words, says in ((["workload.batch=1..8"], "either '--minimise METRIC' or '--maximise"),
                            ([*goal, "--maximise", "step_s", "workload.batch=1..8"], "give either"),
                            (["--minimise", "makespan", "workload.batch=1..8"], "did you mean"),
                            ([*goal], "no key is varied"),
                            ([*goal, "workload.batch=1..8", "--subject-to", "step_s"], "is not a limit"),
                            ([*goal, "workload.batch=1..8", "--subject-to", "step_s<=1GB"], "step_s<=1GB"),
                            ([*goal, "workload.batch=1..8", "--points", "0"], "expected an integer from 1"),
                            ([*goal, "workload.batch=1..8", "--csv", "--json"], "exclude each other"),
                            ([*goal, "workload.batch=1..8", "workload.batch=3"], "is given twice"),
                            ([*goal, "workload.batch=1..9*2", "--retry-failed"], "needs '--store FILE'")):
            done = sluice("search", QUICK[0], *words)
            self.assertEqual(done.returncode, 2, (words, done.stderr))
            self.assertIn(says, done.stderr)

    def test_a_scenario_comes_from_standard_input(self):
        text = sluice("run", "alexnet_resident", "--resolve").stdout
        for command in (["sweep", "-", "workload.batch=1,2", "--csv", "--verify", "0"],
                        ["search", "-", "--minimise", "makespan_s", "workload.batch=1,2", "--csv"]):
            named = [word if word != "-" else "alexnet_resident" for word in command]
            piped, expected = sluice(*command, stdin=text), sluice(*named)
            self.assertEqual(piped.returncode, 0, piped.stderr)
            self.assertEqual(piped.stdout, expected.stdout)
        plan = sluice("plan", "alexnet_resident").stdout
        done = sluice("sweep", "-", "workload.batch=1,2", stdin=plan)
        self.assertEqual(done.returncode, 2)
        self.assertIn("'<stdin>' is a plan, which has no keys to vary", done.stderr)
        done = sluice("sweep", "-", "workload.batch=1,2", stdin="")
        self.assertEqual(done.returncode, 3)
        self.assertIn("<stdin>", done.stderr)

    def test_a_shell_completes_both_commands(self):
        for typed, offered in ((["search", "alexnet_res"], "alexnet_resident"),
                               (["search", "alexnet_resident", "--sub"], "--subject-to"),
                               (["search", "alexnet_resident", "workload.ba"], "workload.batch="),
                               (["search", "alexnet_resident", "--over", "workload.ba"], "workload.batch="),
                               (["search", "alexnet_resident", "--minimise", "makes"], "makespan_s"),
                               (["search", "alexnet_resident", "--subject-to", "peak_by"], "peak_bytes"),
                               (["sweep", "alexnet_resident", "--metrics", "step_s,makes"], "step_s,makespan_s"),
                               (["sweep", "alexnet_res"], "alexnet_resident"),
                               (["sweep", "alexnet_resident", "--retry"], "--retry-failed")):
            words = sluice("completion", "words", *typed).stdout.split("\n")
            self.assertIn(offered, words, typed)


if __name__ == "__main__":
    unittest.main()
