#!/usr/bin/python3
"""Tests analysis/measure/cpu_models.py. The script measures all operators of a model. The seconds that it simulates for
the model must be the sum of the measured seconds. No test asserts a measured time."""

import csv
import statistics
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from sluice_package import need

need("numpy", "pandas", "torch", "torchvision")

SCRIPT = Path(__file__).resolve().parents[2] / "analysis/measure/cpu_models.py"


class CpuModels(unittest.TestCase):
    def test_a_whole_model_is_simulated_from_the_rows_of_its_operators(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [sys.executable, SCRIPT, folder, "--models", "squeezenet1_1", "--caches", "hot", "--batch", "1",
                 "--budget", "0.001", "--rounds", "1"], capture_output=True, text=True, timeout=300)
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(Path(folder) / "squeezenet1_1.csv", newline="") as file:
                head, rows = [], []
                for line in file:
                    (head if line.startswith("#") else rows).append(line)
            again = subprocess.run([sys.executable, SCRIPT, folder, "--models", "squeezenet1_1", "--caches", "hot",
                                    "--batch", "1", "--report"], capture_output=True, text=True, timeout=300)
        self.assertEqual(again.stdout, done.stdout)
        self.assertIn('"memory": "kept"', "".join(head))
        leaves = [row for row in csv.DictReader(rows) if row["level"] in ("", "leaf")]
        self.assertNotIn("flatten", [row["operator"] for row in leaves])  # a function that computes nothing
        self.assertEqual(sum(int(row["occurrences"]) for row in leaves if row["operator"] == "conv2d"), 26)
        by_hand = sum(int(row["occurrences"]) * statistics.median(map(float, row["seconds_samples"].split(";")))
                      for row in leaves)
        cells = done.stdout.splitlines()[2].split(" | ")
        self.assertEqual(cells[:3], ["| squeezenet1_1", "hot", str(len(leaves))])
        self.assertEqual(cells[6], f"{1e3 * by_hand:.1f}")

    def test_without_a_gpu_nothing_is_measured_on_cuda(self):
        import torch
        if torch.cuda.is_available():
            self.skipTest("a GPU is here")
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, SCRIPT, folder, "--device", "cuda"], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (1, "there is no GPU, so nothing was measured\n"))
            self.assertEqual(list(Path(folder).iterdir()), [])


if __name__ == "__main__":
    unittest.main()
