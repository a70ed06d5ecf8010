#!/usr/bin/python3
"""Measured tables of others, out of `sluice profile`, beside an independent calculation with NumPy."""

import csv
import pathlib
import re
import subprocess
import sys
import unittest

try:
    import numpy
except ImportError:
    numpy = None

import validation
from validation import ENVIRONMENT, PROGRAM, ROOT

OPERATORS = ROOT.parent / "shared/data/operators"


def left_out_errors(rows, rate, bandwidth, element):
    """Of a plane through the logarithms of utilisation at the ten nearest rows, each row left out."""
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


@unittest.skipUnless(OPERATORS.exists() and numpy, "the tables or NumPy are not here")
class Products(unittest.TestCase):
    def check(self, table, platform, rate, bandwidth):
        path = OPERATORS / table
        with open(path) as file:
            rows = numpy.array([[float(cell) for cell in row] for row in list(csv.reader(file))[1:]])
        rows[:, 3] *= 1e-3
        errors = left_out_errors(rows, rate, bandwidth, 2)
        text = subprocess.run([PROGRAM, "profile", "show", path, "--interpolate", platform], capture_output=True,
                              text=True, env=ENVIRONMENT, check=True).stdout
        half, most = map(float, re.search(r"half are within ([0-9.]+) % and 90 % within ([0-9.]+) %", text).groups())
        self.assertAlmostEqual(half, 100 * numpy.median(errors), delta=0.05)
        self.assertAlmostEqual(most, 100 * numpy.percentile(errors, 90), delta=0.3)
        self.assertLess(half, 6)
        self.assertLess(most, 18)

    def test_products_of_the_a100_that_are_left_out_are_estimated(self):
        self.check("gemm_a100_sxm_bf16.csv", "a100_sxm4", 312e12, 1555e9)

    def test_products_of_the_h100_that_are_left_out_are_estimated(self):
        self.check("gemm_h100_sxm_bf16.csv", "h100_sxm5", 989.4e12, 3350e9)


if __name__ == "__main__":
    if not pathlib.Path(validation.PROGRAM).exists():
        print("skipped: the program is not here")
        sys.exit(77)
    unittest.main(verbosity=2)
