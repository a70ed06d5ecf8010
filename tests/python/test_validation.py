#!/usr/bin/python3
"""What analysis/validation/ says: each number by arithmetic that knows nothing of Sluice, in the digits
that stand there, and by Sluice itself."""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest
from fractions import Fraction

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("SLUICE_PROGRAM", str(ROOT / "build/release/sluice"))
ENVIRONMENT = {**os.environ, "SLUICE_ROOT": str(ROOT), "LC_ALL": "C.UTF-8"}
TOLERANCE = 1e-9

TABLE = "models/alexnet_data_island.json"
AS_WRITTEN = "scenarios/alexnet_x200_as_written.yaml"
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


def rows_of(name):
    """quantity -> (document, Sluice, difference), as text, of all tables of a file."""
    rows = {}
    for line in (ROOT / "analysis/validation" / name).read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|") or cells[0] == "quantity" or set(cells[0]) == {"-"}:
            continue
        assert len(cells) == 5 and cells[0] not in rows, line
        rows[cells[0]] = cells[1:4]
    return rows


def number(cell):
    return Fraction(re.match(r"[0-9.]+", cell).group())


def shown(value, like):
    """The value, rounded to as many decimals as the cell has."""
    decimals = len(re.match(r"[0-9]+\.?([0-9]*)", like).group(1))
    return f"{float(round(value, decimals)):.{decimals}f}"


UNITS = {"": 1, "ms": Fraction(1, 1000), "s": 1, "%": Fraction(1, 100), "MB": 10**6, "GB": 10**9,
         "MiB": 2**20}


def unit_of(cell):
    return UNITS[re.sub(r"^[0-9.]+ ?", "", cell)]


# --- seed 000, by hand -----------------------------------------------------------------------------


class Alexnet:
    """Seed 000's arithmetic over the rows of its table; s, bytes and counts, exact."""

    def __init__(self, scale=1, rate=RATE, bandwidth=BANDWIDTH):
        data = json.loads((ROOT / TABLE).read_text())["data"]
        steps, _, state, total_state, params, flops = zip(*data[1:])
        assert list(steps) == list(range(1, 20))
        self.state = [s * scale * F32 for s in state]  # bytes, of stage i + 1
        self.total_state = [s * scale * F32 for s in total_state]
        self.params = [p * scale * F32 for p in params]
        self.flops = [f * scale for f in flops]
        self.rate, self.bandwidth = Fraction(rate), Fraction(bandwidth)

    def move(self, size):
        return size / self.bandwidth

    def once(self):
        """One inference."""
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
        """200 times the model, and where it is cut."""
        return {
            "FLOP time": self.flops[-1] / self.rate,
            "load the model": self.move(self.params[-1]),
            "parameters up to stage 16": self.move(self.params[15]),
            "state at stage 16": self.move(self.state[15]),
            "in flight at stage 16": Fraction((CAPACITY - self.params[15]) // self.state[15]),
        }

    def many(self):
        """900 inferences, everything one after the other."""
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
        """Weights up to stage 16, a state of stage 16 for each, and the last image."""
        return self.params[15] + SAMPLES * self.state[15] + self.state[0]


def full_depth():
    """AlexNet with convolutions that see their input's depth, 200 times, at 61 TFLOP/s."""
    # (outputs, inputs of one output) of each convolution and dense layer; no biases.
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


# --- seed 000, by Sluice ---------------------------------------------------------------------------

MS = 1e-3


def sluice_once(platform, scale=1):
    found = sluice("model", TABLE, f"scale={scale}", "--platform", platform)["platform"]
    return {
        "size of the parameters": found["parameter_bytes"],
        "load all parameters": found["load_ms"] * MS,
        "fill the card": found["fill_ms"] * MS,
        "copies that fit": found["copies_that_fit"],
        "total state": found["state_ms"] * MS,
        "parameters and total state": found["load_and_state_ms"] * MS,
        "load one image": (found["load_and_input_ms"] - found["load_ms"]) * MS,
        "parameters and one image": found["load_and_input_ms"] * MS,
        "inferences per load of the parameters": found["inferences_per_load"],
    }


def sluice_large(platform, scale=200, model=TABLE):
    found = sluice("model", model, f"scale={scale}", "--platform", platform)
    stage_16 = found["layers"][15]
    return {
        "FLOP time": found["platform"]["flop_ms"] * MS,
        "load the model": found["platform"]["load_ms"] * MS,
        "parameters up to stage 16": stage_16["total_parameters_ms"] * MS,
        "state at stage 16": stage_16["state_ms"] * MS,
        "in flight at stage 16": stage_16["copies_that_fit"],
    }


def sluice_many(*overrides):
    metrics = sluice("run", AS_WRITTEN, *overrides)["metrics"]
    return metrics, {
        "compute": metrics["compute_s"],
        "load parameters": metrics["transfer_s_by_class"]["weight"],
        "load images": metrics["transfer_s_by_class"]["input"],
        "share of compute": metrics["compute_s"] / metrics["makespan_s"],
    }


class Case(unittest.TestCase):
    def close(self, got, expected, what):
        self.assertLessEqual(abs(float(got) / float(expected) - 1), TOLERANCE,
                             f"{what}: {got}, by hand {float(expected)}")

    def all_close(self, got, expected):
        self.assertEqual(set(got), set(expected))
        for quantity, value in expected.items():
            self.close(got[quantity], value, quantity)

    def check_tables(self, name, expected):
        """The column Sluice is `expected` in the digits shown, the differences are right, and the
        tables hold all of it and nothing else."""
        rows = rows_of(name)
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


class Seed000(Case):
    def test_the_arithmetic_gives_the_digits_of_the_tables(self):
        hand = {**Alexnet().once(), **Alexnet(200).large(), **Alexnet(200).many(), **full_depth()}
        self.check_tables("seed_000.md", hand)

    def test_sluice_gives_what_the_arithmetic_gives(self):
        self.all_close(sluice_once("rx7900xtx_as_written"), Alexnet().once())
        self.all_close(sluice_large("rx7900xtx_as_written"), Alexnet(200).large())
        metrics, many = sluice_many()
        self.all_close(many, Alexnet(200).many())
        self.close(metrics["makespan_s"], Alexnet(200).makespan(), "makespan")
        self.assertEqual(metrics["peak_bytes"]["gpu"], Alexnet(200).memory_peak())
        self.assertEqual(metrics["overflow_bytes"]["gpu"], Alexnet(200).memory_peak() - CAPACITY)
        self.assertEqual(metrics["overflow_bytes"]["gpu"], 62848000)

    def test_sluice_gives_the_numbers_of_the_card_with_full_depth(self):
        found = sluice_large("rx7900xtx_pcie4", model="models/alexnet.yaml")
        hand = full_depth()
        self.close(found["parameters up to stage 16"],
                   hand["full depth: parameters up to stage 16"], "parameters up to stage 16")
        self.close(found["FLOP time"], hand["full depth: FLOP time"], "FLOP time")

    def test_the_numbers_of_the_text_below_the_tables(self):
        text = (ROOT / "analysis/validation/seed_000.md").read_text()
        large = Alexnet(200)
        self.assertIn(f"makespan of {float(large.makespan()):.3f} s", text)
        self.assertIn(f"is {large.memory_peak() - CAPACITY:,} B beyond the card", text)
        fit = (CAPACITY - large.params[15] - large.state[0]) // large.state[15]
        self.assertIn(f"{fit} states fit, not 917", text)
        self.assertIn("takes 2.86572 us of FLOP", text)
        self.assertEqual(f"{float(Alexnet().flops[-1] / Fraction(61 * 10**12)) * 1e6:.5f}", "2.86572")
        ratio = full_depth()["full depth: FLOP time"] * 1000 / large.large()["FLOP time"]
        self.assertIn(f"{float(ratio):.2f} times the FLOP", text)


class Seed000Elsewhere(Case):
    """The same arithmetic holds with bandwidth x 0.7, rate x 1.3 and scale 50: alone and together."""

    CASES = [
        dict(bandwidth=Fraction(7, 10) * BANDWIDTH),
        dict(rate=Fraction(13, 10) * RATE),
        dict(scale=50),
        dict(scale=50, rate=Fraction(13, 10) * RATE, bandwidth=Fraction(7, 10) * BANDWIDTH),
    ]

    def test_run_with_overrides(self):
        for case in self.CASES:
            overrides = []
            if "bandwidth" in case:
                overrides.append(f"platform.links.host.bandwidth={int(case['bandwidth'])}B/s")
            if "rate" in case:
                overrides.append(f"platform.devices.gpu.rate.float32={int(case['rate'])}FLOP/s")
            overrides.append(f"model.scale={case.get('scale', 200)}")
            hand = Alexnet(**{"scale": 200, **case})
            with self.subTest(overrides):
                metrics, many = sluice_many(*overrides)
                self.all_close(many, hand.many())
                self.close(metrics["makespan_s"], hand.makespan(), "makespan")
                self.assertEqual(metrics["peak_bytes"]["gpu"], hand.memory_peak())

    def test_model_on_another_platform(self):
        for case in self.CASES:
            hand = Alexnet(**{"scale": 200, **case})
            with tempfile.TemporaryDirectory() as folder, self.subTest(case):
                platform = pathlib.Path(folder) / "card.yaml"
                platform.write_text(
                    "format: sluice-platform/1\nname: card\nmemories: {host: {capacity: unlimited}}\n"
                    f"devices: {{gpu: {{rate: {{float32: {int(hand.rate)}FLOP/s}}, "
                    "memory: {capacity: 24GB}}}\n"
                    f"links: {{host: {{joins: [host, gpu], bandwidth: {int(hand.bandwidth)}B/s}}}}\n")
                scale = case.get("scale", 200)
                self.all_close(sluice_once(str(platform), scale), hand.once())
                self.all_close(sluice_large(str(platform), scale), hand.large())


class Seed002(Case):
    # (outputs, inputs of one output beside its bias) of conv1, conv2, full1, full2
    LAYERS = {"conv1": (28 * 28 * 32, 3 * 3 * 1), "conv2": (28 * 28 * 32, 3 * 3 * 32),
              "full1": (128, 14 * 14 * 32), "full2": (10, 128)}
    FILTERS = {"conv1": 32, "conv2": 32, "full1": 128, "full2": 10}

    def by_hand(self):
        parameters = {name: self.FILTERS[name] * (fan + 1) for name, (_, fan) in self.LAYERS.items()}
        total = sum(parameters.values())
        states = {name: outputs for name, (outputs, _) in self.LAYERS.items()}
        return {
            **{f"parameters of {name}": count for name, count in parameters.items()},
            "parameters": total,
            "parameters in f32": total * F32,
            **{f"state of {name}": count for name, count in states.items()},
            "state of pool": 14 * 14 * 32,
            "receptive field of conv1": 3,
            "receptive field of conv2": 3 + (3 - 1),
            "receptive field of pool": 5 + (2 - 1),
            "MACs": sum(outputs * fan for outputs, fan in self.LAYERS.values()),
        }

    def test_the_arithmetic_gives_the_digits_of_the_table(self):
        self.assertEqual(self.by_hand()["parameters"], 813802)
        self.assertEqual(self.by_hand()["MACs"], 8255232)
        self.check_tables("seed_002.md", self.by_hand())

    def test_sluice_gives_what_the_arithmetic_gives(self):
        found = sluice("model", "models/cnn_mnist.yaml", "--platform", "gtx980")
        by_name = {layer["layer"]: layer for layer in found["layers"]}
        got = {f"parameters of {name}": by_name[name]["parameters"] for name in self.LAYERS}
        got.update({f"state of {name}": by_name[name]["state"] for name in [*self.LAYERS, "pool"]})
        got["parameters"] = found["totals"]["parameters"]
        got["parameters in f32"] = found["platform"]["parameter_bytes"]
        got["MACs"] = found["totals"]["macs"]
        for name in ("conv1", "conv2", "pool"):
            height, width = by_name[name]["receptive_field"]
            self.assertEqual(height, width)
            got[f"receptive field of {name}"] = height
        self.assertEqual(got, self.by_hand())


if __name__ == "__main__":
    unittest.main()
