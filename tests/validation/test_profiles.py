#!/usr/bin/python3
"""Tests the output of `sluice profile` for published measurements. It is compared with a calculation that uses NumPy
and no code of Sluice."""

import csv
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy
except ImportError:
    numpy = None

import validation
from validation import ENVIRONMENT, PROGRAM, ROOT

OPERATORS = ROOT.parent / "shared/data/operators"


def left_out_errors(rows, rate, bandwidth, element):
    """Estimates the seconds of each row from the ten rows nearest to it, and returns the errors of these estimates. The
    row itself is not used. The utilisation is estimated with a plane that is fitted to its logarithms at the ten
    rows."""
    m, n, k, seconds = rows.T
    ideal = numpy.maximum(2 * m * n * k / rate, element * (m * k + k * n + m * n) / bandwidth)
    x, y = numpy.log(rows[:, :3]), numpy.log(ideal / seconds)
    errors = []
    for row in range(len(x)):
        squared = ((x - x[row]) ** 2).sum(axis=1)
        squared[row] = numpy.inf
        near = numpy.lexsort((numpy.arange(len(x)), squared))[:10]
        root = numpy.sqrt(1 / squared[near])
        plane = numpy.column_stack([numpy.ones(10), x[near] - x[row]])
        found = numpy.linalg.lstsq(plane * root[:, None], y[near] * root, rcond=1e-6)[0][0]
        errors.append(abs(numpy.exp(y[row] - found) - 1))
    return errors


@unittest.skipUnless(OPERATORS.exists() and numpy, "the tables or NumPy are missing")
class Products(unittest.TestCase):
    def check(self, table, platform, rate, bandwidth):
        path = OPERATORS / table
        with open(path) as file:
            rows = numpy.array([[float(cell) for cell in row] for row in list(csv.reader(file))[1:]])
        rows[:, 3] *= 1e-3
        errors = left_out_errors(rows, rate, bandwidth, 2)
        text = subprocess.run([PROGRAM, "profile", "show", path, "--interpolate", platform], capture_output=True,
                              text=True, env=ENVIRONMENT, check=True).stdout
        half, most = map(
            float, re.search(r"half are estimated within ([0-9.]+) % and 90 % within ([0-9.]+) %", text).groups())
        self.assertAlmostEqual(half, 100 * numpy.median(errors), delta=0.05)
        self.assertAlmostEqual(most, 100 * numpy.percentile(errors, 90), delta=0.3)
        self.assertLess(half, 6)
        self.assertLess(most, 18)

    def test_products_of_the_a100_that_are_left_out_are_estimated(self):
        self.check("gemm_a100_sxm_bf16.csv", "a100_sxm4", 312e12, 1555e9)

    def test_products_of_the_h100_that_are_left_out_are_estimated(self):
        self.check("gemm_h100_sxm_bf16.csv", "h100_sxm5", 989.4e12, 3350e9)


GRAPHS = OPERATORS / "pipedream"
SAMPLES = {"alexnet": 256, "densenet121": 64, "resnet18": 256, "squeezenet1_0": 256, "vgg16": 128}
SCENARIO = """format: sluice-scenario/1
model: {{file: {file}, batch: {samples}}}
platform: v100_pcie
workload: {{mode: training, batch: {samples}, backward: per_layer, optimizer: momentum}}
stages: whole
policy: resident
cost: measured
"""


@unittest.skipUnless(GRAPHS.exists(), "the graphs of PipeDream are missing")
class PipeDream(unittest.TestCase):
    """The graphs of PipeDream give the measured seconds of each node, which is an operator of a network. Tests that a
    step of training computes for the sum of these seconds, plus the seconds of the update of the weights. Only the
    nodes for the loading of data are left out."""

    def test_five_graphs_train_in_their_measured_seconds(self):
        for name, samples in SAMPLES.items():
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                graph = shutil.copy(GRAPHS / f"{name}.graph.txt", folder)
                seconds = 0
                for line in pathlib.Path(graph).read_text().splitlines():
                    node = re.match(r"node\d+ -- (\w+).*forward_compute_time=([0-9.]+), backward_compute_time=([0-9.]+)", line)
                    if node and not node[1].startswith("Input"):
                        seconds += (float(node[2]) + float(node[3])) / 1e3
                scenario = pathlib.Path(folder) / "s.yaml"
                scenario.write_text(SCENARIO.format(file=f"{name}.graph.txt", samples=samples))
                answer = validation.sluice("run", str(scenario))
                sums = answer["operators"]
                measured = answer["metrics"]["measured_share"] * answer["metrics"]["compute_s"]
                self.assertAlmostEqual(measured / seconds, 1, delta=1e-9)
                self.assertAlmostEqual(sums["measured_share_of_time"], answer["metrics"]["measured_share"], delta=1e-9)
                update = sums["layers"][-1]
                self.assertEqual(update["name"], "update")
                self.assertAlmostEqual(measured + update["seconds"], answer["metrics"]["compute_s"], delta=1e-9)


if __name__ == "__main__":
    if not pathlib.Path(validation.PROGRAM).exists():
        print("skipped: there is no program")
        sys.exit(77)
    unittest.main(verbosity=2)
