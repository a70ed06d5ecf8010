#!/usr/bin/python3
"""Tests the cost model `fitted`. The page analysis/validation/fitted.md must give the errors of the bundled fits, and
no error may be larger than the aim that the page states. For products, the program must give the same seconds as a
second implementation of the formula."""

import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("SLUICE_PROGRAM", str(ROOT / "build/release/sluice"))
OPERATORS = ROOT.parent / "shared/data/operators"
sys.path.insert(0, str(ROOT / "analysis/validation"))
import fitted  # noqa: E402
from fit_form import Form  # noqa: E402


class Fits(unittest.TestCase):
    def test_the_page_has_the_errors_of_the_fits(self):
        page = (ROOT / "analysis/validation/fitted.md").read_text()
        for line in [*fitted.cards_table(), *fitted.unseen_table(), *fitted.products_table()]:
            self.assertIn(line, page)

    def test_half_of_the_products_in_bfloat16_are_within_6_percent_and_nine_of_ten_within_18_percent(self):
        for fit in fitted.PRODUCTS:
            error = fitted.errors(fit)["linear"]
            self.assertLessEqual(error["median"], 0.06)
            self.assertLessEqual(error["ninety"], 0.18)

    def test_operators_in_float32_are_within_12_percent_on_each_card(self):
        for card in fitted.CARDS:
            for of, error in fitted.errors(card).items():
                with self.subTest(card=card, of=of):
                    self.assertLessEqual(error["median"], 0.12)

    def test_each_card_that_was_not_fitted_is_within_25_percent(self):
        for of, by_card in fitted.unseen().items():
            self.assertEqual(len(by_card), 1 + len(fitted.CARDS))
            for card, error in by_card.items():
                with self.subTest(card=card, of=of):
                    self.assertLessEqual(error["median"], 0.25)


@unittest.skipUnless(OPERATORS.is_dir(), f"there is no {OPERATORS}")
class Fitting(unittest.TestCase):
    """Tests that the program makes the bundled fits from the tables of measurements. A bundled fit has the
    relative errors of its predictions. An older version of the program may have computed these errors. So the tests
    make each fit again. The table of the A30 has no licence, so its fit is not bundled."""

    CARDS = {"v100_pcie": "Tesla V100-PCIE-32GB", "p100_pcie": "Tesla P100-PCIE-16GB", "t4": "Tesla T4",
             "a100_pcie": "NVIDIA A100-PCIE-40GB", "a100_80gb_pcie": "NVIDIA A100 80GB PCIe"}

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.page = " ".join((ROOT / "analysis/validation/fitted.md").read_text().split())

    def fit(self, tables, *words):
        done = subprocess.run([PROGRAM, "profile", "fit", *(OPERATORS / table for table in tables), *words, "--json"],
                              capture_output=True, text=True, timeout=600)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["classes"]

    def all_cards(self):
        return [word for platform, name in self.CARDS.items() for word in ("--on", f"{name}={platform}")]

    def compare(self, made, bundled):
        """Compares the errors of the fits in `made` with the error of each class in `bundled`."""
        self.assertEqual({each["class"] for each in made}, set(bundled))
        for each in made:
            for key in ("median", "ninety"):
                with self.subTest(of=each["class"], key=key):
                    self.assertAlmostEqual(each["error"][key], bundled[each["class"]][key], 5)

    def test_fits_of_single_cards_are_what_their_tables_give(self):
        tables = [f"neusight_{table}.csv" for table in ("linear", "bmm", "elem", "softmax", "ln")]
        for card, name in self.CARDS.items():
            with self.subTest(card=card):
                self.compare(self.fit(tables, "--where", f"device={name}", "--on", card), fitted.errors(card))

    def test_fits_of_products_are_what_their_tables_give(self):
        for fit, table in (("a100_80gb_sxm4", "gemm_a100_sxm_bf16.csv"), ("h100_sxm5", "gemm_h100_sxm_bf16.csv")):
            with self.subTest(fit=fit):
                self.compare(self.fit([table], "--on", fit), fitted.errors(fit))

    def test_a_fit_of_all_cards_is_what_their_tables_give(self):
        made = self.fit([f"neusight_{table}.csv" for table in ("bmm", "elem", "softmax", "ln")], *self.all_cards(),
                        "--form-only", "--splits", "1")
        errors = fitted.errors("gpus_float32")
        self.compare(made, {each["class"]: errors[each["class"]] for each in made})
        unseen = fitted.unseen()
        for each in made:
            for card, error in each["device_errors"].items():
                self.assertAlmostEqual(error["median"], unseen[each["class"]][card]["median"], 5)
        [products] = [each for each in made if each["class"] == "bmm"]
        # In the table other.csv, the names n and k are exchanged, so the depth and the columns are exchanged.
        text = (OPERATORS / "neusight_bmm.csv").read_text()
        self.assertIn(",m,n,k,", text)
        (self.folder / "other.csv").write_text(text.replace(",m,n,k,", ",m,k,n,", 1))
        [other] = self.fit([self.folder / "other.csv"], *self.all_cards(), "--form-only", "--splits", "1")
        self.assertIn(f"With `n` as the depth, the median error is {100 * products['error']['median']:.1f} %", self.page)
        self.assertIn(f"are exchanged, the median error is {100 * other['error']['median']:.1f} %", self.page)

    def test_grids_of_thread_blocks_say_which_size_is_the_depth(self):
        rows = []
        for table in ("linear", "bmm"):
            with open(OPERATORS / f"neusight_{table}.csv", newline="") as file:
                rows += csv.DictReader(file)
        of_k, of_n, only_k, only_n = fitted.whole_tiles(rows)
        self.assertIn(f"The {len(rows):,} grids of thread blocks in these tables", self.page)
        self.assertIn(f"{100 * of_k / len(rows):.0f} % of the grids fit a result of m rows and k columns. "
                      f"{100 * of_n / len(rows):.0f} % of the grids fit a result of m rows and n columns.", self.page)
        self.assertIn(f"{only_k:,} grids fit only m x k, and {only_n} grids fit only m x n.", self.page)

    def a30(self, rate):
        path = self.folder / "a30.json"
        path.write_text(json.dumps({"format": "sluice-platform/1", "name": "a30", "devices": {"gpu": {
            "rate": {"float32": rate}, "memory": {"capacity": "24GB", "bandwidth": "933GB/s"},
            "units": 56, "cache": "24MB", "busy": "165W"}}}))
        return path

    def test_modules_that_drop_nothing_would_spoil_their_class(self):
        lines = (OPERATORS / "operators_inference_a30.csv").read_text().splitlines()
        drops = [line for line in lines if "StochasticDepth(" in line]
        self.assertEqual(sum("(p=0.0," in line and line.startswith("A30,") for line in drops), 2)
        (self.folder / "drops.csv").write_text("\n".join([lines[0], *drops, ""]).replace("(p=0.0,", "(p=1e-9,"))
        [made] = self.fit([self.folder / "drops.csv"], "--where", "device=A30", "--on", self.a30("82TFLOP/s"))
        self.assertIn(f"the class would have an error of {100 * made['energy_error']['median']:.0f} % for energy with "
                      "tensor cores", self.page)

    def test_operators_of_an_a30_in_time_and_energy(self):
        made = [self.fit(["operators_inference_a30.csv"], "--where", f"device={device}", "--on", self.a30(rate))
                for device, rate in (("A30", "82TFLOP/s"), ("A30_no_tc", "10.3TFLOP/s"))]
        page = self.page
        for line in fitted.a30_table(*made):
            self.assertIn(line, page)
        for each in made[0] + made[1]:
            with self.subTest(of=each["class"]):
                self.assertLessEqual(each["error"]["median"], 0.15)
                self.assertLessEqual(each["energy_error"]["median"], 0.20)


class Prices(unittest.TestCase):
    """Compares the seconds of single products. The program and analysis/validation/fit_form.py must agree to 1 %."""

    def seconds(self, layer, shape, platform, dtype, batch):
        document = {
            "format": "sluice-scenario/1", "question": "How long does one product take?",
            "model": {"definition": {"format": "sluice-model/1", "name": "one", "layers": [
                {"type": "input", "name": "x", "shape": shape}, layer]}},
            "platform": {"file": f"../platforms/{platform}.yaml"}, "cost": {"model": "fitted"},
            "workload": {"mode": "inference", "dtype": dtype, "batch": batch},
            "policy": {"name": "resident"}, "stages": {"cut": "whole"}}
        with tempfile.TemporaryDirectory(dir=ROOT) as folder:
            path = pathlib.Path(folder) / "scenario.json"
            path.write_text(json.dumps(document))
            done = subprocess.run([PROGRAM, "run", path, "--json"], capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 0, done.stderr)
            return json.loads(done.stdout)["metrics"]["compute_s"]

    def test_the_program_and_the_second_implementation_agree(self):
        for platform, dtype, size in (("a100_80gb_sxm4", "bfloat16", 2), ("h100_sxm5", "bfloat16", 2)):
            form = Form(platform, "linear", dtype)
            for batch, rows, columns, depth in ((1, 1, 4096, 4096), (3, 128, 1000, 512), (8, 2048, 5120, 1280),
                                                (1, 77, 333, 65), (1, 16, 64, 16384)):
                with self.subTest(platform=platform, rows=batch * rows, columns=columns, depth=depth):
                    layer = {"type": "matmul", "name": "y", "features": columns, "bias": False}
                    ours = self.seconds(layer, [rows, depth], platform, dtype, batch)
                    # The data sheet of the fit and the data sheet of the platform differ in the fourth digit. Also, the
                    # correction comes from the 8 measured kernels whose sizes are most similar to those of the product.
                    # If two measured kernels are equally similar, the program and fit_form.py may use different ones.
                    self.assertLess(abs(ours / form.product(1, batch * rows, columns, depth, size) - 1), 1e-2)


if __name__ == "__main__":
    unittest.main(verbosity=2)
