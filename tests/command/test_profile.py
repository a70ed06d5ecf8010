#!/usr/bin/python3
"""Tests the subcommands of `sluice profile` in the order in which a user needs them. The test plans a profile, fills in
times, runs a scenario with the seconds of this profile, and compares the profile with the whole model."""

import csv
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("SLUICE_PROGRAM", str(ROOT / "build/release/sluice"))
ENVIRONMENT = {**os.environ, "SLUICE_ROOT": str(ROOT), "LC_ALL": "C.UTF-8"}

SCENARIO = """format: sluice-scenario/1
model: cnn_mnist
platform: k40
workload: {mode: inference, batch: 4}
stages: whole
policy: resident
cost: {model: measured, profile: measured.csv}
"""


class FromPlanToAnswer(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "s.yaml").write_text(SCENARIO)
        self.sluice("profile", "plan", "cnn_mnist", "--batch", "4", "-o", "todo.csv")

    def sluice(self, *words, code=0):
        done = subprocess.run([PROGRAM, *words], capture_output=True, text=True, cwd=self.folder, env=ENVIRONMENT)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout

    def measure(self, milliseconds):
        lines = (self.folder / "todo.csv").read_text().splitlines()
        rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
        with open(self.folder / "measured.csv", "w") as file:
            file.write("# format: sluice-profile/1\n")
            out = csv.DictWriter(file, [*rows[0], "seconds_median"], lineterminator="\n")
            out.writeheader()
            for row, time in zip(rows, milliseconds):
                out.writerow({**row, "processed": "yes", "seconds_median": time / 1e3})

    def test_a_run_takes_the_measured_seconds_and_the_whole_model_is_covered(self):
        self.measure([1, 2, 3, 4, 5])
        answer = json.loads(self.sluice("run", "s.yaml", "--json"))
        self.assertAlmostEqual(answer["metrics"]["compute_s"], 0.015, delta=1e-12)
        self.assertEqual(answer["metrics"]["measured_share"], 1)
        cover = json.loads(self.sluice("profile", "cover", "cnn_mnist", "measured.csv", "--whole", "20ms", "--json"))
        self.assertAlmostEqual(cover["share_s"], 0.75, delta=1e-12)
        self.sluice("profile", "cover", "cnn_mnist", "measured.csv", "--whole", "20ms", "--target", "90%", code=1)
        left = json.loads(self.sluice("profile", "plan", "cnn_mnist", "--batch", "4", "--done", "measured.csv", "--json"))
        self.assertEqual((left["wanted"], left["done"], left["left"]), (5, 5, 0))

    def test_interpolated_seconds_do_not_count_as_assumed(self):
        self.measure([1, 2, 3, 4, 5])
        rows = (self.folder / "measured.csv").read_text()
        self.sluice("profile", "plan", "cnn_mnist", "--batch", "16", "-o", "todo.csv", "--force")
        self.measure([2, 4, 6, 8, 10])
        (self.folder / "small.csv").write_text(rows)
        self.sluice("profile", "merge", "small.csv", "measured.csv", "-o", "both.csv")
        answer = json.loads(self.sluice("run", "s.yaml", "workload.batch=8", "cost.profile=both.csv",
                                        "cost.interpolate=batch", "--json"))
        self.assertNotIn("cost.model=peak", json.dumps(answer["certainty"]))
        self.assertFalse(answer["metrics"]["measured_share"])
        self.assertGreater(answer["certainty"]["sourced"], 0.99)
        computation = answer["certainty"]["computation"]
        self.assertEqual((computation["interpolated"], computation["measured"]), (1, 0))
        # The error of the interpolation is not known. Sluice can estimate it only from a profile with a measured batch
        # between two other measured batches.
        self.assertIsNone(computation["interpolation_error"])
        self.assertIn("100 % of the computation's seconds were interpolated between rows of the profile",
                      " ".join(self.sluice("run", "s.yaml", "workload.batch=8", "cost.profile=both.csv",
                                           "cost.interpolate=batch").split()))

    def write(self, name, *lines):
        (self.folder / name).write_text("\n".join(["# format: sluice-profile/1", *lines, ""]))

    def fails(self, *words, code):
        done = subprocess.run([PROGRAM, *words], capture_output=True, text=True, cwd=self.folder, env=ENVIRONMENT)
        self.assertEqual(done.returncode, code, done.stderr)
        return " ".join(done.stderr.split())

    def test_a_backward_pass_that_was_not_measured_is_refused_or_said_to_be_a_multiple(self):
        self.measure([1, 2, 3, 4, 5])
        training = ("workload.mode=training", "workload.optimizer=none")
        self.assertIn("backward) was not measured", self.fails("run", "s.yaml", *training, code=3))
        answer = json.loads(self.sluice("run", "s.yaml", *training, "workload.backward=2", "--json"))
        computation, certainty = answer["certainty"]["computation"], answer["certainty"]
        self.assertAlmostEqual(computation["multiple"], 30 / 45, delta=1e-12)
        self.assertAlmostEqual(computation["measured"], 15 / 45, delta=1e-12)
        self.assertIn("workload.backward", certainty["figures"])
        # Of 45 ms of computation, 30 ms are assumed and 15 ms are measured. Copies count as assumed. So the quotient of
        # assumed and measured seconds is a little above 30 / 15 = 2.
        self.assertAlmostEqual(certainty["assumed"] / certainty["measured"], 2, delta=0.01)
        self.assertIn("66.67 % of the computation's seconds are backward passes. Their seconds are assumed to be a multiple",
                      " ".join(self.sluice("run", "s.yaml", *training, "workload.backward=2").split()))

    def test_an_answer_names_the_device_of_the_rows(self):
        self.measure([1, 2, 3, 4, 5])
        rows = (self.folder / "measured.csv").read_text()
        said = json.loads(self.sluice("run", "s.yaml", "--json"))
        self.assertEqual(said["certainty"]["computation"]["measured_on"], [""])
        (self.folder / "measured.csv").write_text(rows.replace("profile/1", "profile/1\n# device: Tesla T4", 1))
        said = json.loads(self.sluice("run", "s.yaml", "--json"))
        self.assertEqual(said["certainty"]["computation"]["measured_on"], ["Tesla T4"])
        self.assertIn("were measured on 'Tesla T4'. The seconds of these rows are used unchanged for 'gpu' of k40",
                      " ".join(self.sluice("run", "s.yaml").split()))

    def test_the_errors_of_a_fit_are_numbers_of_the_answer(self):
        said = json.loads(self.sluice("run", "alexnet_resident", "model=bert_base", "platform=v100_pcie", "policy=resident",
                                      "cost.model=fitted", "workload.steps=1", "stages=whole", "--json"))
        computation = said["certainty"]["computation"]
        error, note = computation["fit_error"], next(n["text"] for n in said["notes"] if n["name"] == "fitted_share")
        self.assertIn(f"was off by {100 * error['median']:.4g} % in the median and by at most {100 * error['ninety']:.4g} %",
                      note)
        self.assertAlmostEqual(computation["fitted"] + sum(computation["others"].values()), 1, delta=1e-12)
        self.assertLessEqual(error["share"], computation["fitted"])
        roofline = json.loads(self.sluice("run", "alexnet_resident", "--json"))
        self.assertIsNone(roofline["certainty"]["computation"])

    def test_a_condition_may_contain_a_semicolon_in_quotes(self):
        self.write("p.csv", "operator,input_pools,cache,sizes,seconds_median", "a,DRAM;DRAM,hot,m=1;n=2,1",
                   "b,DRAM;PMEM,hot,m=1;n=3,2", "c,DRAM;DRAM,cold,m=2;n=2,3")

        def left(where):
            said = json.loads(self.sluice("profile", "show", "p.csv", "--where", where, "--json"))
            return sorted(each["operator"] for each in said["classes"])
        self.assertEqual(left('input_pools="DRAM;DRAM"'), ["a", "c"])
        self.assertEqual(left('input_pools="DRAM;DRAM";cache=hot'), ["a"])
        self.assertEqual(left('cache=hot;sizes="m=1;n=3"'), ["b"])
        self.assertEqual(left("level=leaf;occurrences=1"), ["a", "b", "c"])
        self.assertIn("expected COLUMN=VALUE", self.fails("profile", "show", "p.csv", "--where", "cache", code=2))
        # The rows differ in `input_pools`. The message advises the option --where, with a value that works as typed.
        self.write("q.csv", "operator,sizes,input_pools,dtype,seconds_median",
                   "gemm,m=64;n=64;k=64,DRAM;DRAM,float32,1e-5", "gemm,m=64;n=64;k=128,DRAM;PMEM,float32,2e-5")
        refused = self.fails("profile", "fit", "q.csv", "--on", "t4", code=3)
        advice = re.search(r"--where '([^']*)'", refused)[1]
        self.assertEqual(advice, 'input_pools="DRAM;DRAM"')
        self.sluice("profile", "fit", "q.csv", "--on", "t4", "--splits", "0", "--where", advice)

    def test_a_fit_that_is_not_possible_says_all_reasons(self):
        self.write("p.csv", "operator,node,level,seconds_median", "Flatten,a,,1e-6", "Flatten,b,,1e-6", "net,,whole,1")
        self.assertIn("none of the rows can be fitted: 2 of a class that is not fitted: Flatten, 1 of whole models or modules",
                      self.fails("profile", "fit", "p.csv", "--on", "t4", code=3))

    def test_a_profile_of_wholes_shows_them(self):
        self.write("p.csv", "operator,level,model,batch,seconds_median", "net,whole,resnet18,4,0.25")
        text = self.sluice("profile", "show", "p.csv")
        self.assertIn("The profile has no row of a single operator (level: leaf).", text)
        self.assertRegex(text, r"net +whole +resnet18 +4 +250 ms")

    def test_a_cover_without_a_whole_does_not_say_what_is_left(self):
        self.measure([1, 2, 3, 4, 5])
        text = self.sluice("profile", "cover", "cnn_mnist", "measured.csv")
        self.assertIn("each operator was measured; to compare the sum with the target, measure the whole model", text)
        self.assertNotIn("is spent between operators", text)
        self.assertIn("each operator was measured; the rest of the time is spent between operators",
                      self.sluice("profile", "cover", "cnn_mnist", "measured.csv", "--whole", "20ms"))

    def test_a_link_counts_its_copies_in_one_way_and_keeps_the_ends_of_a_platform(self):
        self.write("p.csv", "operator,sizes,input_pools,output_pools,method,seconds_median",
                   *(f"copy,bytes={size},pinned,device,{method},{1e-6 + size / 1e10 + (method == 'single') * 5e-6}"
                     for size in (1000, 1000000, 100000000) for method in ("queued", "single")))
        said = json.loads(self.sluice("profile", "link", "p.csv", "--json"))
        self.assertEqual([each["copies"] for each in said["directions"]], [6])
        self.assertRegex(self.sluice("profile", "link", "p.csv"), r"down +pinned +6 ")
        self.assertIn("with '--platform' the link keeps its ends",
                      self.fails("profile", "link", "p.csv", "--platform", "a100_pcie", "--device", "nope", code=2))

    def test_parts_that_exceed_the_whole_or_have_another_batch_are_reported(self):
        self.measure([1, 2, 3, 4, 5])
        self.assertIn("the parts take longer than the whole", self.sluice("profile", "cover", "cnn_mnist", "measured.csv",
                                                                       "--whole", "14ms"))
        other = self.sluice("profile", "cover", "cnn_mnist", "measured.csv", "--whole", "20ms", "--batch", "8")
        self.assertIn("the profile has 5 operators for 4 samples but not for the requested batch and dtype: choose with --batch", other)
        self.assertIn("5 operators in float32 but not for the requested batch and dtype: choose with --dtype",
                      self.sluice("profile", "cover", "cnn_mnist", "measured.csv", "--dtype", "float16"))

    def test_a_stored_answer_for_another_profile_is_not_reused(self):
        for milliseconds in ([1, 2, 3, 4, 5], [1, 2, 3, 4, 15]):
            self.measure(milliseconds)
            text = self.sluice("sweep", "s.yaml", "workload.batch=4", "--store", "store.db")
            self.assertIn(f"{4 / (sum(milliseconds) / 1e3):.4g}", text)

    def test_the_output_path_of_a_fit_is_checked_before_the_profile(self):
        done = subprocess.run([PROGRAM, "profile", "fit", "no.csv", "--on", "t4", "-o", "nowhere/fit.yaml"],
                              capture_output=True, text=True, cwd=self.folder, env=ENVIRONMENT)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("cannot write 'nowhere/fit.yaml'", done.stderr)

    def test_impossible_shares_columns_and_pools_are_refused(self):
        self.measure([1, 2, 3, 4, 5])
        for words, says in (
                (["compare", "measured.csv", "measured.csv", "--median-within", "3"],
                 "'3' for '--median-within': expected a share from 0 to 1"),
                (["compare", "measured.csv", "measured.csv", "--but", "devices"], "did you mean 'device'"),
                (["plan", "resnet50", "--pools", "DRAM,DRAM"], "expected different names of memories")):
            done = subprocess.run([PROGRAM, "profile", *words], capture_output=True, text=True,
                                  cwd=self.folder, env=ENVIRONMENT)
            self.assertIn(done.returncode, (2, 3), done.stderr)
            self.assertIn(says, done.stderr)

    def test_a_stored_answer_for_another_fit_is_not_reused(self):
        fit = (ROOT / "fits/v100_pcie.yaml").read_text()
        words = ["cost.model=fitted", "cost.unfitted=roofline", "workload.batch=1"]
        platform = f"format: sluice-platform/1\nfile: v100_pcie\ndevices: {{gpu: {{fit: {self.folder}/mine.yaml}}}}\n"
        (self.folder / "p.yaml").write_text(platform)
        for named in (["platform=v100_pcie", f"cost.file={self.folder}/mine.yaml"],
                      ["platform=v100_pcie", "cost.file=mine.yaml", "workload.steps=1"], [f"platform.file={self.folder}/p.yaml"]):
            answers = []
            for launch in (r"\g<0>", "launch: 0.5"):
                changed, times = re.subn(r"launch: [^,}\n]+", launch, fit)
                self.assertGreater(times, 0)
                (self.folder / "mine.yaml").write_text(changed)
                asked = ["sweep", "alexnet_resident", *words, *named]
                stored = self.sluice(*asked, "--store", "fits.db")
                fresh = self.sluice(*asked, "--store", f"{len(named)}{len(answers)}.db")
                answers.append([line for line in stored.splitlines() if "from the store" not in line])
                self.assertEqual(answers[-1], [line for line in fresh.splitlines() if "from the store" not in line])
            self.assertNotEqual(*answers)

    def test_a_verdict_decides_the_exit_code(self):
        self.measure([1, 2, 3, 4, 5])
        (self.folder / "measured.csv").rename(self.folder / "a.csv")
        self.measure([1, 2, 3, 4, 6])
        self.sluice("profile", "compare", "a.csv", "measured.csv", "--agree", "80%")
        self.sluice("profile", "compare", "a.csv", "measured.csv", "--agree", "90%", code=1)


if __name__ == "__main__":
    if not pathlib.Path(PROGRAM).exists():
        print("skipped: there is no program")
        sys.exit(77)
    unittest.main(verbosity=2)
