#!/usr/bin/python3
"""Networks of the zoo: their published counts, and that each runs with all its FLOP and bytes."""

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

# Parameters and GMACs (10^9 multiply-accumulates an image, as printed): torchvision 0.14.1, the meta
# data num_params and _ops of the weights IMAGENET1K_V1 in torchvision/models/*.py. _ops counts
# convolutions and matrix products alone, as `macs` does: no operator differs.
TORCHVISION = {
    "alexnet_torchvision": (61_100_840, "0.714"),
    "densenet121": (7_978_856, "2.834"),
    "densenet161": (28_681_000, "7.728"),
    "densenet201": (20_013_928, "4.291"),
    "mobilenet_v2": (3_504_872, "0.301"),
    "resnet18": (11_689_512, "1.814"),
    "resnet50": (25_557_032, "4.089"),
    "resnet101": (44_549_160, "7.801"),
    "resnet152": (60_192_808, "11.514"),
    "resnext50_32x4d": (25_028_904, "4.23"),
    "squeezenet1_0": (1_248_424, "0.819"),
    "vgg16": (138_357_544, "15.47"),
    "vgg19": (143_667_240, "19.632"),
    "wide_resnet50_2": (68_883_240, "11.398"),
}

# Counted by hand in tests/unit/test_model.cpp.
ELSEWHERE = {"alexnet", "cnn_mnist", "matmul_chain"}

SCENARIO = """
format: sluice-scenario/1
question: Does it run?
model: {{file: ../models/{model}.yaml}}
platform: {{file: ../platforms/k40.yaml}}
workload: {{mode: inference, dtype: float32, batch: 2, batches_per_step: 3, steps: 2}}
{keys}
"""
SAMPLES = 2 * 3 * 2


def sluice(*words):
    done = subprocess.run([PROGRAM, *map(str, words), "--json"], capture_output=True, text=True,
                          timeout=300)
    if done.returncode:
        raise AssertionError(f"{words}: exit code {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout)


def totals(model):
    return sluice("model", ROOT / "models" / f"{model}.yaml")["totals"]


class Counts(unittest.TestCase):
    def test_every_model_of_the_zoo_is_counted(self):
        zoo = {path.stem for path in (ROOT / "models").glob("*.yaml")}
        self.assertEqual(zoo, TORCHVISION.keys() | ELSEWHERE)

    def test_parameters_and_multiply_accumulates_are_torchvisions(self):
        for model, (parameters, gmacs) in TORCHVISION.items():
            with self.subTest(model=model):
                counted = totals(model)
                self.assertEqual(counted["parameters"], parameters)
                digits = len(gmacs.split(".")[1])
                self.assertEqual(f"{counted['macs'] / 1e9:.{digits}f}", gmacs)


class Runs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for zoo in ("models", "platforms"):  # a scenario's files lie beside its folder
            shutil.copytree(ROOT / zoo, self.folder / zoo)
        (self.folder / "scenarios").mkdir()

    def run_model(self, model, keys):
        path = self.folder / "scenarios" / f"{model}.yaml"
        path.write_text(SCENARIO.format(model=model, keys=keys))
        return sluice("run", path)

    def check_sums(self, model, result, passes=1):
        counted, metrics = totals(model), result["metrics"]
        stages = result["stages"]
        self.assertEqual(metrics["samples"], SAMPLES)
        self.assertEqual(metrics["flop"], SAMPLES * counted["flop"])
        self.assertEqual(sum(stage["flop"] for stage in stages), counted["flop"])
        self.assertEqual(sum(stage["macs"] for stage in stages), counted["macs"])
        self.assertEqual(sum(stage["weight_bytes"] for stage in stages), 4 * counted["parameters"])
        moved = metrics["transferred_bytes_by_class"]
        self.assertEqual(moved["weight"], passes * 4 * counted["parameters"])
        self.assertEqual(moved["input"], SAMPLES * stages[0]["input_bytes"])
        self.assertEqual(moved["output"], SAMPLES * stages[-1]["output_bytes"])

    def test_each_runs_resident_and_its_bytes_and_flop_add_up(self):
        for model in TORCHVISION:
            with self.subTest(model=model):
                result = self.run_model(model, "policy: {name: resident}\ncost: {model: roofline}")
                self.check_sums(model, result)

    def test_residual_and_dense_networks_run_streamed_with_cuts_through_their_blocks(self):
        for model, count in (("resnet50", 7), ("densenet121", 11), ("squeezenet1_0", 5)):
            with self.subTest(model=model):
                result = self.run_model(
                    model, f"stages: {{cut: balanced, count: {count}}}\npolicy: {{name: streamed}}")
                self.assertEqual(len(result["stages"]), count)
                # The weights pass over the link once a step: three micro-batches are in flight.
                self.check_sums(model, result, passes=2)


if __name__ == "__main__":
    unittest.main(verbosity=2)
