#!/usr/bin/python3
"""Tests the strategy `sqrt`, which divides a model into the segments of Chen et al. (2016). VGG-19 is trained at 2
GFLOP/s, with one layer per stage, and with a convolution and its ReLU as one stage. A hand calculation with the same
segments must give the seconds of the run."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("SLUICE_PROGRAM", str(ROOT / "build/release/sluice"))
MODEL = ROOT.parent / "shared/data/models/onnx/light_vgg19.onnx"

# The 46 layers n0 ... n45 are divided into round(sqrt(46)) = 7 segments. Segment i begins at layer i * 46 // 7. The
# layers of the last segment do not run again. In the other segments, a layer runs again if a backward pass reads its
# result. The backward pass of a convolution or a dense layer reads the input of the layer. The backward pass of a ReLU
# reads the output of the ReLU. The backward pass of a pool reads the indices that the pool keeps.
#
# The output of a segment's last layer is kept. So a convolution, a dense layer or a ReLU at the end of a segment does
# not run again. A convolution just before such a ReLU does not run again, either. A pool at the end of a segment runs
# again, because its indices are not kept.
SEGMENTS = [(0, 5), (6, 12), (13, 18), (19, 25), (26, 31), (32, 38), (39, 45)]
AGAIN = [range(0, 5), range(6, 12), range(13, 19), range(19, 25), range(26, 30), range(32, 38)]
# For the number of each convolution: its input channels, its output channels, and the side of its square output.
CONVOLUTIONS = {
    0: (3, 64, 224), 2: (64, 64, 224), 5: (64, 128, 112), 7: (128, 128, 112), 10: (128, 256, 56), 12: (256, 256, 56),
    14: (256, 256, 56), 16: (256, 256, 56), 19: (256, 512, 28), 21: (512, 512, 28), 23: (512, 512, 28),
    25: (512, 512, 28), 28: (512, 512, 14), 30: (512, 512, 14), 32: (512, 512, 14), 34: (512, 512, 14)}

# 24 stages, given by their last layers: each convolution with its ReLU, each of the 5 pools, and the 3 dense layers with
# the layers around them. They are divided into round(sqrt(24)) = 5 segments.
LAST_LAYERS = [1, 3, 4, 6, 8, 9, 11, 13, 15, 17, 18, 20, 22, 24, 26, 27, 29, 31, 33, 35, 36, 40, 43, 45]
COARSE_SEGMENTS = [(1, 4), (5, 9), (10, 14), (15, 19), (20, 24)]  # the first and the last stage, counted from 1

SCENARIO = """format: sluice-scenario/1
model: {file: light_vgg19.onnx}
platform:
  format: sluice-platform/1
  name: one
  devices: {gpu: {rate: {float32: 2GFLOP/s}, memory: {capacity: unlimited}}}
  memories: {host: {capacity: unlimited}}
  links: {host: {joins: [host, gpu], bandwidth: 1e15B/s, duplex: full}}
workload: {mode: training, dtype: float32, batch: 1, optimizer: none}
cost: {model: peak}
stages: {cut: per_layer}
policy: {name: resident, overlap: false}
fates: {strategy: sqrt}
"""


def macs(convolution):
    inputs, outputs, size = convolution
    return 9 * inputs * outputs * size * size


def asked(*words):
    done = subprocess.run([PROGRAM, *words, "--json"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


class SqrtOnVgg19(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir=ROOT)
        self.addCleanup(folder.cleanup)
        path = pathlib.Path(folder.name)
        shutil.copy(MODEL, path)
        self.scenario = path / "vgg19.yaml"
        self.scenario.write_text(SCENARIO)
        layers = {row["layer"]: row for row in asked("model", path / MODEL.name)["layers"]}
        self.rows = [layers[f"n{i}"] for i in range(46)]
        self.forward = [row["flop"] / 2e9 for row in self.rows]
        # By default, a backward pass takes twice the seconds of the forward pass.
        loads = (layers["n45"]["total_parameters"] + 3 * 224 * 224) * 4 / 1e15
        self.without_recomputation = 3 * sum(self.forward) + loads

    def seconds(self, *words):
        return asked("run", self.scenario, "--executor", "replay", *words)["metrics"]["makespan_s"]

    def test_sqrt_costs_the_sum_of_its_segments_by_hand(self):
        seconds = self.seconds()
        self.assertEqual([(i * 46 // 7, (i + 1) * 46 // 7 - 1) for i in range(7)], SEGMENTS)
        for number, convolution in CONVOLUTIONS.items():
            self.assertEqual(self.rows[number]["macs"], macs(convolution))
        for again, (first, last) in zip(AGAIN, SEGMENTS):
            self.assertTrue(first == again.start and again.stop <= last + 1)
        again = sum(self.forward[i] for numbers in AGAIN for i in numbers)
        self.assertAlmostEqual(seconds / (self.without_recomputation + again), 1, delta=1e-9)
        # At 2 GFLOP/s, 1e9 multiply-accumulates take 1 s. So the convolutions that run again take 14.42 s.
        self.assertAlmostEqual(sum(macs(CONVOLUTIONS[i]) for numbers in AGAIN for i in numbers
                                   if i in CONVOLUTIONS) / 1e9, 14.4217, delta=1e-3)
        # Chen et al. count as if every layer of these segments ran again.
        everything = sum(self.forward[i] for first, last in SEGMENTS[:-1] for i in range(first, last + 1))
        self.assertLess(again, everything)
        self.assertLess(seconds, 73.39)

    def test_with_24_stages_all_stages_of_a_segment_but_its_last_run_again(self):
        self.assertEqual([(i * 24 // 5 + 1, (i + 1) * 24 // 5) for i in range(5)], COARSE_SEGMENTS)
        after = ", ".join(f"n{last}" for last in LAST_LAYERS[:-1])
        seconds = self.seconds(f"stages={{cut: explicit, after: [{after}]}}")
        first_layers = [0] + [last + 1 for last in LAST_LAYERS[:-1]]
        stages = [sum(self.forward[first:last + 1]) for first, last in zip(first_layers, LAST_LAYERS)]
        # Each segment ends with a convolution and its ReLU, whose output is kept. The last segment does not run again.
        again = sum(sum(stages[first - 1:last - 1]) for first, last in COARSE_SEGMENTS[:-1])
        self.assertAlmostEqual(seconds / (self.without_recomputation + again), 1, delta=1e-9)
        self.assertLessEqual(seconds, 73.2)


if __name__ == "__main__":
    if not MODEL.is_file():
        print(f"skipped: there is no {MODEL}")
        sys.exit(77)
    unittest.main()
