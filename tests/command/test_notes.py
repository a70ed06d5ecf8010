#!/usr/bin/python3
"""Tests the notes of an answer."""

import re
import unittest

from answer_case import DISK, LLAMA, TRAINED, AnswerCase

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


class Notes(AnswerCase):
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
