#!/usr/bin/python3
"""Tests that an answer states the question and its own certainty, and that its trace keeps both."""

import json
import subprocess
import unittest

try:
    import h5py
except ImportError:
    h5py = None

from answer_case import DISK, ENVIRONMENT, LLAMA, PROGRAM, ROOT, TRAINED, AnswerCase


class Answers(AnswerCase):
    def test_one_line_says_what_was_asked(self):
        said = ("llama2_7b (tokens=1, cached=2047) on rx7900xtx_pcie4, inference in float16, batch 1, policy "
                "resident, cost roofline at 70 % of 122.8 TFLOP/s and 70 % of 960 GB/s")
        self.assertIn(said + "\n", self.run_sluice(LLAMA).stdout)
        asked = self.answer(LLAMA)["asked"]
        self.assertEqual(asked["text"], said)
        self.assertEqual((asked["model"], asked["platform"], asked["batch"], asked["cost"]),
                         ("llama2_7b", "rx7900xtx_pcie4", 1, "roofline"))
        self.assertEqual((asked["compute_efficiency"], asked["memory_efficiency"]), (0.7, 0.7))

    def test_json_holds_all_inputs(self):
        inputs = self.answer(LLAMA, "workload.batch=2")["inputs"]
        self.assertEqual(inputs["workload"]["batch"], 2)
        self.assertEqual(inputs["platform"]["links"]["host"]["bandwidth"], "30GB/s")
        self.assertEqual(inputs["policy"]["name"] if isinstance(inputs["policy"], dict) else inputs["policy"],
                         "resident")
        again = self.folder / "again.json"
        again.write_text(json.dumps(inputs))
        done = subprocess.run([PROGRAM, "run", str(again), "--json"], capture_output=True, text=True,
                              env=ENVIRONMENT, timeout=300)
        self.assertEqual(json.loads(done.stdout)["metrics"],
                         self.answer(LLAMA, "workload.batch=2")["metrics"], done.stderr)

    def test_the_question_in_words_is_not_repeated_if_it_was_changed(self):
        question = "How fast does Llama 2 7B decode behind 2047 tokens?"
        self.assertEqual(self.answer(LLAMA)["question"], question)
        self.assertTrue(self.run_sluice(LLAMA).stdout.startswith(question))
        self.assertIsNone(self.answer(LLAMA, "model.cached=10")["question"])
        changed = self.run_sluice(LLAMA, "model.cached=10").stdout
        self.assertNotIn("2047", changed)
        self.assertTrue(changed.startswith("llama2_7b (tokens=1, cached=10) on"), changed[:100])
        self.assertEqual(self.answer(LLAMA, "model.cached=10", "question=And now?")["question"], "And now?")

    def test_sourced_and_assumed_shares_are_shares_of_the_seconds_of_work(self):
        # The rate of the device has a source. With it, 2e6 FLOP at half of 1 GFLOP/s take 4 ms. The bandwidth of 1 GB/s
        # is assumed. With it, weights of 4 MB, an input of 4 kB and an answer of 4 kB take 4.008 ms.
        certainty = self.answer(DISK)["certainty"]
        self.assertAlmostEqual(certainty["sourced"], 4 / 8.008, delta=1e-9)
        self.assertAlmostEqual(certainty["assumed"], 4.008 / 8.008, delta=1e-9)
        self.assertEqual(certainty["measured"], 0)
        self.assertEqual(certainty["figures"], ["links.host.bandwidth"])
        # An override has no source. So the overridden rate and all seconds of computation count as assumed.
        both = self.answer(DISK, "platform.devices.gpu.rate.float32=2GFLOP/s")["certainty"]
        self.assertAlmostEqual(both["assumed"], 1, delta=1e-12)
        self.assertEqual(both["figures"], ["devices.gpu.rate.float32", "links.host.bandwidth"])
        # Without an `efficiency`, all seconds of computation count as assumed.
        all_of_it = self.answer(DISK.replace("efficiency: 50%, ", ""))["certainty"]
        self.assertAlmostEqual(all_of_it["assumed"], 1, delta=1e-12)
        self.assertEqual(all_of_it["figures"], ["cost.model=peak", "links.host.bandwidth"])
        # Without a source, all figures of the platform count as assumed.
        none = self.answer(DISK.replace("  source: worked out in the test\n", ""))["certainty"]
        self.assertAlmostEqual(none["assumed"], 1, delta=1e-12)
        self.assertIn("0 % measured, 49.95 % on sourced figures, 50.05 % on assumed ones (links.host.bandwidth)",
                      self.run_sluice(DISK).stdout)

    def test_only_the_figure_that_gives_a_links_rate_counts(self):
        # Copies are pageable. Loads use links.host.down.bandwidth, because `pageable` gives no rate for loads. They
        # take 4.004 MB / 2 GB/s = 2.002 ms. The answer uses links.host.pageable.up.bandwidth, and takes 4 kB /
        # 500 MB/s = 0.008 ms. With the 4 ms of computation, the work takes 6.01 ms. No copy uses the link's bandwidth.
        link = ("joins: [host, gpu], bandwidth: 1GB/s, copies: pageable, down: {bandwidth: 2GB/s}, "
                "pageable: {up: {bandwidth: 500MB/s}}")
        text = DISK.replace("joins: [host, gpu], bandwidth: 1GB/s", link)
        unused = self.answer(text)["certainty"]
        self.assertEqual((unused["assumed"], unused["figures"]), (0, []))
        loads = self.answer(text, "platform.assumed=[links.host.down.bandwidth]")["certainty"]
        self.assertAlmostEqual(loads["assumed"], 2.002 / 6.01, delta=1e-9)
        self.assertEqual(loads["figures"], ["links.host.down.bandwidth"])
        # A share is a share of the link's bandwidth, so both figures count.
        share = text.replace("down: {bandwidth: 2GB/s}", "down: {share: 200%}")
        both = self.answer(share, "platform.assumed=[links.host.bandwidth, links.host.down.share]")["certainty"]
        self.assertEqual(both["figures"], ["links.host.bandwidth", "links.host.down.share"])

    def test_bundled_platforms_say_what_they_assume(self):
        for path in sorted((ROOT / "platforms").glob("*.yaml")):
            text = path.read_text()
            self.assertIn("\nassumed: [", text, path.name)
            if "compute: 0.7" in text:
                self.assertIn(".roofline", text, path.name)
        done = self.run_sluice(DISK, "platform.assumed=[links.hots]", code=3)
        self.assertIn("'links.hots' is not a figure of this platform", done.stderr)

    def test_measured_seconds_are_measured(self):
        text = self.profile(4) + "workload: {batch: 4}\ncost: {model: measured}\n"
        certainty = self.answer(text)["certainty"]
        self.assertGreater(certainty["measured"], 0.9)

    def test_operators_priced_by_the_roofline_instead_depend_on_its_figures(self):
        scenario = "format: sluice-scenario/1\nmodel: alexnet\npolicy: resident\n"
        words = ("cost.model=fitted", "cost.unfitted=roofline", "platform=v100_pcie")
        said = json.loads(self.run_sluice(scenario, *words, "--json").stdout)
        note = next(note["text"] for note in said["notes"] if note["name"] == "fitted_share")
        self.assertIn("The roofline model prices conv2d", note)
        by_roofline = 1 - float(note.split(" %")[0]) / 100
        self.assertGreater(by_roofline, 0.05)
        computing = said["metrics"]["compute_s"]
        all_work = computing + sum(said["metrics"]["transfer_s_by_link"].values())
        certainty = said["certainty"]
        self.assertAlmostEqual(certainty["assumed"], by_roofline * computing / all_work, delta=1e-4)
        self.assertEqual(certainty["figures"], ["devices.gpu.roofline"])

    def test_a_fit_on_the_command_line_is_found_in_the_working_folder(self):
        text = "format: sluice-scenario/1\nmodel: alexnet\nplatform: v100_pcie\npolicy: resident\n"
        words = ("cost.model=fitted", "cost.unfitted=roofline")
        (self.folder / "here").mkdir()
        (self.folder / "here" / "mine.yaml").write_text((ROOT / "fits/v100_pcie.yaml").read_text())
        mine = self.answer(text, *words, "cost.file=here/mine.yaml")
        self.assertEqual(mine["certainty"], self.answer(text, *words)["certainty"])

    def test_copies_of_pageable_memory_use_their_own_rates(self):
        scenario = "format: sluice-scenario/1\nmodel: alexnet\nplatform: a100_pcie\npolicy: resident\n"
        pinned = self.answer(scenario)["certainty"]
        self.assertNotIn("links.host.pageable", pinned["figures"])
        pageable = self.answer(scenario, "platform.links.host.copies=pageable")["certainty"]
        self.assertIn("links.host.pageable", pageable["figures"])
        self.assertGreater(pageable["assumed"], pinned["assumed"])
        changed = self.answer(scenario, "platform.links.host.up={share: 50%}")["certainty"]
        self.assertIn("links.host.up.share", changed["figures"])

    @unittest.skipUnless(h5py, "there is no h5py")
    def test_a_trace_keeps_the_answer_and_its_content_does_not_depend_on_it(self):
        for text in (LLAMA, TRAINED):
            told = json.loads(self.run_sluice(text, "-o", "t.h5", "--json").stdout)
            with h5py.File(self.folder / "t.h5") as trace:
                kept = json.loads(trace["provenance"].attrs["answer"])
                self.assertEqual(trace.attrs["content_sha256"], told["trace"]["content_sha256"])
            self.assertEqual(kept, {key: told[key] for key in ("asked", "certainty", "notes")})
        self.assertIn("recomputed_for_nothing", [note["name"] for note in kept["notes"]])


if __name__ == "__main__":
    unittest.main()
