#!/usr/bin/python3
"""Tests that an answer states the question, its own certainty, and notes. Tests that a refusal has at most five
lines."""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

try:
    import h5py
except ImportError:
    h5py = None

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("SLUICE_PROGRAM", str(ROOT / "build/release/sluice"))
ENVIRONMENT = {**os.environ, "SLUICE_ROOT": str(ROOT), "LC_ALL": "C.UTF-8", "COLUMNS": "1000"}

LLAMA = """\
format: sluice-scenario/1
question: How fast does Llama 2 7B decode behind 2047 tokens?
model: {file: llama2_7b, tokens: 1, cached: 2047}
platform: rx7900xtx_pcie4
workload: {mode: inference, dtype: float16}
stages: {cut: single_tensor}
policy: resident
"""
TRAINED = """\
format: sluice-scenario/1
question: Does recomputing all make room?
model: gpt2
platform: k20
workload: {mode: training, batch: 1, optimizer: adam, backward: per_layer}
stages: {cut: explicit, after: [positions, sum2.1, sum2.2, sum2.3, sum2.4, sum2.5, sum2.6, sum2.7, sum2.8,
  sum2.9, sum2.10, sum2.11, sum2.12]}
policy: resident
fates: {strategy: recompute_all}
"""
# Three layers. The weights of a and b stay. Each has 160 kB of weights, as many bytes of gradients, and twice as many of
# the optimizer's state. The device has 1 MB.
STAYING = """\
format: sluice-scenario/1
model:
  definition:
    format: sluice-model/1
    name: three
    layers:
      - {type: input, name: x, shape: [200]}
      - {type: dense, name: a, features: 200, bias: false}
      - {type: dense, name: b, features: 200, bias: false}
      - {type: dense, name: c, features: 200, bias: false}
platform:
  format: sluice-platform/1
  name: small
  devices: {gpu: {rate: {float32: 10GFLOP/s}, memory: {capacity: 1MB}}}
  memories: {host: {capacity: unlimited}}
  links: {host: {joins: [host, gpu], bandwidth: 200MB/s}}
workload: {batch: 2, mode: training, optimizer: adam}
stages: per_layer
policy: {name: streamed, resident: [a, b]}
"""
# A scenario with a card, and a disk behind the host. The rate of 1 GFLOP/s and the bandwidth of the disk have sources.
# The bandwidth of the host's link is assumed.
DISK = """\
format: sluice-scenario/1
question: What is the disk for?
model:
  definition:
    format: sluice-model/1
    name: one
    layers: [{type: input, name: x, shape: [1000]}, {type: dense, name: y, features: 1000, bias: false}]
platform:
  format: sluice-platform/1
  name: with_disk
  source: worked out in the test
  assumed: [links.host.bandwidth]
  devices: {gpu: {rate: {float32: 1GFLOP/s}, efficiency: 50%, memory: {capacity: 1GB}, busy: 100W}}
  memories: {host: {capacity: 1GB}, nvme: {capacity: 8TB}}
  links:
    host: {joins: [host, gpu], bandwidth: 1GB/s}
    disk: {joins: [host, nvme], bandwidth: 1GB/s}
policy: {name: resident, overlap: false}
"""
# A scenario with a card that has room for most weights of VGG-16, but not for all weights. A step has few images.
STREAMED = """\
format: sluice-scenario/1
model: vgg16
platform: {file: rx7900xtx_pcie4, devices: {gpu: {memory: {capacity: 400MB}}}}
workload: {batches_per_step: 8}
policy: streamed
cost: peak
"""
CONVOLUTIONS = """\
format: sluice-scenario/1
model:
  definition:
    format: sluice-model/1
    name: conv4
    layers:
      - {type: input, name: x, shape: [8, 16, 16]}
      - {type: conv2d, name: c1, channels: 32, kernel: 3, padding: 1}
      - {type: relu, name: r1}
      - {type: conv2d, name: c2, channels: 32, kernel: 3, padding: 1}
      - {type: relu, name: r2}
platform: ipu_pair_gc200
workload: {mode: inference, dtype: float16, batch: 8, batches_per_step: 4}
stages: {cut: per_layer}
policy: {name: phased, in_flight: 1}
"""
# A graph in the form of PipeDream's profiler, with two linear layers that were measured for 4 samples.
PROFILE = """\
node1 -- Input -- forward_compute_time=0.000, backward_compute_time=0.000, activation_size=1600.0, parameter_size=0.000
node2 -- Linear(in_features=100, out_features=50, bias=True) -- forward_compute_time=1.000, backward_compute_time=2.000, activation_size=800.0, parameter_size=20200.000
node3 -- Linear(in_features=50, out_features=10, bias=True) -- forward_compute_time=1.000, backward_compute_time=2.000, activation_size=160.0, parameter_size=2040.000
\tnode1 -- node2
\tnode2 -- node3
"""


class Answers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_sluice(self, text, *words, code=0):
        path = self.folder / "scenario.yaml"
        path.write_text(text)
        done = subprocess.run([PROGRAM, "run", str(path), *words], capture_output=True, text=True,
                              env=ENVIRONMENT, cwd=self.folder, timeout=300)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def answer(self, text, *words):
        return json.loads(self.run_sluice(text, *words, "--json").stdout)

    def notes(self, text, *words):
        return {note["name"]: note["text"] for note in self.answer(text, *words)["notes"]}

    def profile(self, batch):
        """Imports PROFILE as if it had been measured for `batch` samples. Returns a scenario with this model."""
        (self.folder / "net.graph.txt").write_text(PROFILE)
        path = self.folder / f"batch{batch}.yaml"
        done = subprocess.run([PROGRAM, "import", "net.graph.txt", f"batch={batch}", "-o", str(path), "--force"],
                              capture_output=True, text=True, env=ENVIRONMENT, cwd=self.folder, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        return f"format: sluice-scenario/1\nmodel: {{file: {path.name}}}\nplatform: k40\npolicy: resident\n"

    # --- what was asked ---------------------------------------------------------------------------

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

    # --- the certainty of an answer ------------------------------------------------------------------------

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

    # --- a refusal --------------------------------------------------------------------------------

    def test_a_refusal_is_five_lines_with_the_largest_batch(self):
        for policy in ("resident", "streamed"):
            words = ("workload.batch=32", f"policy.name={policy}")
            done = self.run_sluice(LLAMA, *words, code=4)
            lines = done.stderr.strip().splitlines()
            self.assertLessEqual(len(lines), 5, done.stderr)
            refused = json.loads(self.run_sluice(LLAMA, *words, "--json", code=4).stdout)
            why = refused["infeasible"]
            self.assertEqual(refused["status"], "infeasible")
            self.assertEqual(why["culprit"], "kv_cache")
            # The batch has 32 samples. For each sample, each of the 32 blocks has 2 caches of 2047 tokens x 4096
            # elements, with 2 bytes per element. All caches of one sample have 1.0732 GB.
            self.assertEqual(why["by_class"]["kv_cache"], 32 * 32 * 2 * 2047 * 4096 * 2)
            largest = why["largest_batch"]
            self.assertIn(f"the largest batch that fits: {largest}\n", done.stderr)
            self.assertIn("kv_cache 34.34 GB", done.stderr)
            self.run_sluice(LLAMA, f"workload.batch={largest}", f"policy.name={policy}")
            self.run_sluice(LLAMA, f"workload.batch={largest + 1}", f"policy.name={policy}", code=4)
            self.assertEqual(why["changes"][0], f"workload.batch={largest}")

    def test_a_refusal_for_activations_names_what_saves_some(self):
        done = self.run_sluice(TRAINED, "workload.batch=2", code=4)
        self.assertLessEqual(len(done.stderr.strip().splitlines()), 5, done.stderr)
        self.assertIn("the largest batch that fits: 1\n", done.stderr)
        self.assertIn("fates.strategy=checkpoint", done.stderr)
        self.run_sluice(TRAINED, "workload.batch=2", "fates.strategy=checkpoint")

    def test_a_refusal_of_optimal_fates_names_the_memory_and_the_largest_batch(self):
        words = ("workload.batch=16", "fates.strategy=optimal")
        done = self.run_sluice(TRAINED, *words, code=4)
        self.assertIn("\n  needed in gpu: ", done.stderr)
        largest = json.loads(self.run_sluice(TRAINED, *words, "--json", code=4).stdout)["infeasible"]["largest_batch"]
        self.assertIn(f"the largest batch that fits: {largest}\n", done.stderr)
        self.run_sluice(TRAINED, f"workload.batch={largest}", "fates.strategy=optimal")
        self.run_sluice(TRAINED, f"workload.batch={largest + 1}", "fates.strategy=optimal", code=4)

    def test_a_refusal_of_given_weights_that_stay_says_that_sluice_can_choose_them(self):
        done = self.run_sluice(STAYING, code=4)
        # Each of the two layers has 160 kB of weights, 160 kB of gradients, and 320 kB of state: 1.28 MB of 1 MB.
        self.assertIn("weights, gradients and optimizer state take 1.28 MB of the 1 MB of gpu", done.stderr)
        self.assertIn("optimizer 640 kB, weight 320 kB, gradient 320 kB", done.stderr)
        self.assertIn("not even one sample fits if nothing else is changed", done.stderr)
        self.assertIn("policy.resident=auto", done.stderr)
        # The activations need bytes, too. So 1.28 MB are not enough, but the named number of bytes is.
        enough = float(re.search(r"at least ([\d.]+) MB of memory in gpu", done.stderr)[1])
        self.run_sluice(STAYING, f"platform.devices.gpu.memory.capacity={enough}MB")
        self.run_sluice(STAYING, "platform.devices.gpu.memory.capacity=1.281MB", code=4)
        self.run_sluice(STAYING, "policy.resident=auto")

    def test_a_refusal_names_enough_bytes_for_equal_devices(self):
        pair = ("policy={name: data_parallel, replica: resident}", "platform.devices.gpu.count=2", "workload.batch=2",
                "workload.micro_batch=1", "platform.links.pair={joins: [gpu0, gpu1], bandwidth: 1GB/s}")
        done = self.run_sluice(STAYING, *pair, code=4)
        said = re.search(r"at least ([\d.]+) MB of memory in gpu0 and in each other device with equally much", done.stderr)
        enough = float(said[1])
        self.run_sluice(STAYING, *pair, f"platform.devices.gpu.memory.capacity={enough}MB")
        self.run_sluice(STAYING, *pair, f"platform.devices.gpu.memory.capacity={0.97 * enough}MB", code=4)

    def test_a_refusal_for_one_memory_of_two_says_that_its_number_may_be_too_little(self):
        # With more memory on the device, host memory is too small.
        done = subprocess.run([PROGRAM, "run", "alexnet_x200_training", "model.scale=1", "workload.batch=256",
                               "workload.micro_batch=256", "stages=per_layer", "fates=offload_all",
                               "platform.memories.host.capacity=600MB",
                               "platform.devices.gpu.memory.capacity=1100MB"], capture_output=True, text=True,
                              env=ENVIRONMENT, timeout=300)
        self.assertEqual(done.returncode, 4)
        self.assertRegex(done.stderr, r"more memory in gpu: [\d.]+ GB is what the first shortage needs, and may be too ")

    def test_a_plan_that_is_too_long_lacks_no_memory(self):
        done = subprocess.run([PROGRAM, "run", "alexnet_x200", "stages=per_layer", "policy.in_flight=1",
                               "workload.batches_per_step=900000", "workload.steps=2"], capture_output=True, text=True,
                              env=ENVIRONMENT, timeout=300)
        self.assertEqual(done.returncode, 4)
        self.assertEqual(done.stderr.count("\n"), 1)
        for said in ("more than 4000000 actions", "the limit of Sluice", "more workload.steps"):
            self.assertIn(said, done.stderr)

    # --- notes ------------------------------------------------------------------------------------

    def test_a_note_on_recompute_all_that_saves_nothing_names_what_does(self):
        told = self.notes(TRAINED)["recomputed_for_nothing"]
        metrics = self.answer(TRAINED)["metrics"]
        self.assertIn(f"'recompute_all' adds {100 * metrics['recompute_overhead']:.4g} %", told)
        kept = self.answer(TRAINED, "fates.strategy=keep_all")
        self.assertEqual(metrics["peak_bytes"]["gpu"], kept["metrics"]["peak_bytes"]["gpu"])
        self.assertNotIn("recomputed_for_nothing", [note["name"] for note in kept["notes"]])
        for strategy in ("selective", "sqrt", "checkpoint"):
            self.assertIn(f"fates.strategy={strategy} (", told)
            other = self.answer(TRAINED, f"fates.strategy={strategy}")["metrics"]["peak_bytes"]["gpu"]
            self.assertLess(other, metrics["peak_bytes"]["gpu"])

    def test_a_note_names_an_unused_memory(self):
        told = self.notes(DISK)["unused_memory"]
        self.assertIn("'nvme' (8 TB)", told)
        self.assertIn("'host'", told)
        self.assertNotIn("unused_memory", self.notes(LLAMA))

    def test_a_note_says_that_idle_watts_have_no_source(self):
        # The run takes 8.008 ms. The device computes for 4 ms and is idle for 4.008 ms.
        told = self.notes(DISK)["no_idle_watts"]
        self.assertIn("0 W for gpu", told)
        self.assertIn(f"{100 * 4.008 / 8.008:.4g} %", told)
        self.assertNotIn("no_idle_watts", self.notes(DISK, "platform.devices.gpu.idle=30W"))

    def test_a_note_names_an_idle_device(self):
        told = self.notes(CONVOLUTIONS)["idle_device"]
        self.assertTrue(told.startswith("ipu1 computes for 0."), told)
        self.assertIn("stages={cut: balanced", told)
        self.assertNotIn("idle_device", self.notes(CONVOLUTIONS, "stages={cut: explicit, after: [r1]}"))

    def test_a_note_says_when_many_steps_would_take_another_plan(self):
        told = self.notes(STREAMED)["more_steps"]
        one = self.answer(STREAMED)["metrics"]["step_s"]
        many = self.answer(STREAMED, "workload.steps=8")
        self.assertIn("for the one step asked", told)
        self.assertIn(f"instead of {1e3 * one:.4g} ms", told)
        figure = float(re.search(r"takes at most ([0-9.]+) ms per step", told)[1]) * 1e-3
        self.assertLess(figure, 0.99 * one)
        # With an open cut and 8 steps, a step takes at most the time in the note `more_steps`. With the cut that was
        # chosen for one step, a step takes exactly this time.
        self.assertLessEqual(many["metrics"]["step_s"], figure * 1.001)
        self.assertNotIn("more_steps", [note["name"] for note in many["notes"]])
        cut = re.match(r"cut: by_weight, groups: [0-9]+", self.answer(STREAMED)["plan"]["facts"]["chosen"])[0]
        same = self.answer(STREAMED, "workload.steps=8", f"stages={{{cut}}}")["metrics"]["step_s"]
        self.assertAlmostEqual(same, figure, delta=1e-3 * figure)
        roomy = self.notes(STREAMED, "policy=resident", "platform.devices.gpu.memory.capacity=1GB")
        self.assertNotIn("more_steps", roomy)

    def test_a_note_says_when_the_batch_of_a_profile_is_off_by_a_factor(self):
        self.assertNotIn("measured_batch", self.notes(self.profile(4)))
        for batch in (1, 2):
            told = self.notes(self.profile(batch))["measured_batch"]
            self.assertIn(f"for 4 samples, not for the {batch} ", told)


if __name__ == "__main__":
    unittest.main()
