"""Helpers for the tests of the pages in analysis/validation/. The helpers run the program, read the tables of the pages
and of the document 'AlexNet on one card', and compare the program and the pages with hand calculations."""

import json
import os
import pathlib
import re
import subprocess
import unittest
from fractions import Fraction

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("SLUICE_PROGRAM", str(ROOT / "build/release/sluice"))
ENVIRONMENT = {**os.environ, "SLUICE_ROOT": str(ROOT), "LC_ALL": "C.UTF-8"}
TOLERANCE = 1e-9

TABLE = "models/alexnet_data_island.json"
F32 = 4  # bytes
CAPACITY = 24 * 10**9
SAMPLES = 900
RATE = 61 * 10**9
BANDWIDTH = 30 * 10**9


def sluice(*words):
    done = subprocess.run([PROGRAM, *words, "--json"], capture_output=True, text=True, cwd=ROOT,
                          env=ENVIRONMENT, timeout=300)
    if done.returncode != 0:
        raise AssertionError(f"sluice {' '.join(words)}: exit {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout)


# --- the documents' tables -------------------------------------------------------------------------


def text_of(name):
    return (ROOT / "analysis/validation" / name).read_text()


def rows_of(name, sections=""):
    """Returns {quantity: [document, Sluice, difference]}, where the three values are the texts of cells. Only tables
    below headings that match `sections` are read."""
    rows, wanted = {}, False
    for line in text_of(name).splitlines():
        if line.startswith("#"):
            wanted = re.match(sections, line.lstrip("# ")) is not None
        if not wanted:
            continue
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|") or cells[0] == "quantity" or set(cells[0]) == {"-"}:
            continue
        assert len(cells) == 5 and cells[0] not in rows, line
        rows[cells[0]] = cells[1:4]
    return rows


def number(cell):
    return Fraction(re.match(r"[0-9.]+", cell).group())


def shown(value, like):
    """Returns the value as text, with as many decimals as the cell `like` has."""
    decimals = len(re.match(r"[0-9]+\.?([0-9]*)", like).group(1))
    return f"{float(round(value, decimals)):.{decimals}f}"


UNITS = {"": 1, "ms": Fraction(1, 1000), "s": 1, "%": Fraction(1, 100), "MB": 10**6, "GB": 10**9,
         "B": 1, "MiB": 2**20, "GiB": 2**30, "billion": 10**9}


def unit_of(cell):
    return UNITS[re.sub(r"^[0-9.]+ ?", "", cell)]


class Case(unittest.TestCase):
    def close(self, got, expected, what):
        self.assertLessEqual(abs(float(got) / float(expected) - 1), TOLERANCE,
                             f"{what}: {got}, by hand {float(expected)}")

    def all_close(self, got, expected):
        self.assertEqual(set(got), set(expected))
        for quantity, value in expected.items():
            self.close(got[quantity], value, quantity)

    def check_tables(self, name, expected, sections=""):
        """Checks the tables below headings that match `sections`. Their rows must be the quantities of `expected`.
        Rounded to the digits that the page shows, the expected values must be those of the column Sluice. The column of
        differences must be right, too."""
        rows = rows_of(name, sections)
        self.assertEqual(set(rows), set(expected))
        for quantity, (document, ours, difference) in rows.items():
            with self.subTest(quantity):
                value = Fraction(expected[quantity]) / unit_of(ours)
                self.assertEqual(re.match(r"[0-9.]+", ours).group(), shown(value, ours))
                if document == "-":
                    self.assertEqual(difference, "-")
                    continue
                ratio = number(document) * unit_of(document) / Fraction(expected[quantity]) - 1
                percent = f"{float(100 * ratio):+.2f} %"
                self.assertEqual(difference, "0.00 %" if percent[1:] == "0.00 %" else percent)


class Alexnet:
    """Computes the exact seconds, bytes and counts of the document 'AlexNet on one card' from the rows of its table."""

    def __init__(self, scale=1, rate=RATE, bandwidth=BANDWIDTH):
        data = json.loads((ROOT / TABLE).read_text())["data"]
        steps, _, state, total_state, params, flops = zip(*data[1:])
        assert list(steps) == list(range(1, 20))
        self.state = [s * scale * F32 for s in state]  # bytes of stage i + 1
        self.total_state = [s * scale * F32 for s in total_state]
        self.params = [p * scale * F32 for p in params]
        self.flops = [f * scale for f in flops]
        self.rate, self.bandwidth = Fraction(rate), Fraction(bandwidth)

    def move(self, size):
        return size / self.bandwidth

    def once(self):
        """Computes the numbers of one inference."""
        load, image = self.move(self.params[-1]), self.move(self.state[0])
        state = self.move(self.total_state[-1])
        return {
            "size of the parameters": self.params[-1],
            "load all parameters": load,
            "fill the card": self.move(CAPACITY),
            "copies that fit": Fraction(CAPACITY, self.params[-1]),
            "total state": state,
            "parameters and total state": load + state,
            "load one image": image,
            "parameters and one image": load + image,
            "inferences per load of the parameters": load / (self.flops[-1] / self.rate),
        }

    def large(self):
        """Computes the numbers that the document gives for a model 200 times as large as AlexNet, and for its cuts."""
        return {
            "FLOP time": self.flops[-1] / self.rate,
            "load the model": self.move(self.params[-1]),
            "parameters up to stage 16": self.move(self.params[15]),
            "state at stage 16": self.move(self.state[15]),
            "in flight at stage 16": Fraction((CAPACITY - self.params[15]) // self.state[15]),
        }

    def many(self):
        """Computes the seconds of 900 inferences in which transfers and computations run one after the other."""
        compute = SAMPLES * self.flops[-1] / self.rate
        parameters = self.move(self.params[-1])
        images = SAMPLES * self.move(self.state[0])
        return {
            "compute": compute,
            "load parameters": parameters,
            "load images": images,
            "share of compute": compute / (compute + parameters + images),
        }

    def makespan(self):
        many = self.many()
        return many["compute"] + many["load parameters"] + many["load images"]

    def memory_peak(self):
        """Returns the bytes at the peak: the weights of stages 1 to 16, the state after stage 16 for each sample, and
        the last image."""
        return self.params[15] + SAMPLES * self.state[15] + self.state[0]


def full_depth():
    """Computes numbers of a network of 200 times AlexNet's size, whose convolutions read all input channels. The rate
    is 61 TFLOP/s."""
    # For a convolution: the side of its output, its channels, and the number of inputs of one output. For a dense
    # layer: its outputs and its inputs. Biases are not counted.
    convolutions = [(54, 96, 11 * 11 * 3), (26, 256, 5 * 5 * 96), (12, 384, 3 * 3 * 256),
                    (12, 384, 3 * 3 * 384), (12, 256, 3 * 3 * 384)]
    dense = [(4096, 5 * 5 * 256), (4096, 4096), (1000, 4096)]
    flop = sum(2 * side * side * channels * fan for side, channels, fan in convolutions)
    flop += sum(2 * outputs * inputs for outputs, inputs in dense)
    flop += 279936 + 173056 + 55296 + 55296 + 36864 + 4096 + 4096  # rectifiers
    flop += 9 * (26 * 26 * 96 + 12 * 12 * 256 + 5 * 5 * 256)  # pools of 3 x 3
    up_to_16 = sum(channels * fan for _, channels, fan in convolutions) + 4096 * 5 * 5 * 256
    return {
        "full depth: parameters up to stage 16": Fraction(200 * F32 * up_to_16, BANDWIDTH),
        "full depth: FLOP time": Fraction(200 * flop, 1000 * RATE),
    }
