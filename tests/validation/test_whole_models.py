#!/usr/bin/python3
"""Tests the page analysis/validation/whole_models.md, which is about the whole networks that NeuSight measured. The
page must have the seconds that Sluice gives. All of them must be near the measured seconds."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("SLUICE_PROGRAM", str(ROOT / "build/release/sluice"))
PAGE = ROOT / "analysis/validation/whole_models.md"


def rows():
    """Returns the rows of the page's table. Each row maps the title of a column to the text of a cell."""
    lines = [line.strip("| ").split(" | ") for line in PAGE.read_text().splitlines() if line.startswith("|")]
    return [dict(zip(lines[0], line)) for line in lines[2:]]


def scenario(row):
    model, *parameters = row["model"].split()
    keys = {key: int(value) for key, value in (word.split("=") for word in parameters)}
    document = {
        "format": "sluice-scenario/1", "question": "How long does one step compute?",
        "model": {"file": f"../models/{model}.yaml", "tokens": int(row["tokens"]), **keys},
        "platform": {"file": f"../platforms/{row['platform']}.yaml",
                     "devices": {"gpu": {"memory": {"capacity": "unlimited"}}}},
        "workload": {"mode": row["mode"], "dtype": "float32", "batch": int(row["batch"])},
        "policy": {"name": "resident"}, "stages": {"cut": "whole"}}
    if row["mode"] == "training":
        document["workload"] |= {"optimizer": "none", "backward": "per_layer"}
        document["fates"] = {"strategy": "keep_all"}
    return document


class WholeModels(unittest.TestCase):
    def ratios(self, cost, ms_column, ratio_column, keys):
        """Returns the simulated time of each row divided by its measured time. Also checks that the page has the number
        that Sluice gives for this row."""
        found = []
        with tempfile.TemporaryDirectory(dir=ROOT) as folder:
            path = pathlib.Path(folder) / "scenario.json"
            for row in rows():
                with self.subTest(**row):
                    path.write_text(json.dumps(scenario(row) | keys))
                    done = subprocess.run([PROGRAM, "run", path, "--json", "--executor", "replay"],
                                          capture_output=True, text=True, timeout=120)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    answer = json.loads(done.stdout)
                    self.assertEqual(answer["plan"]["facts"]["cost"], cost)
                    ms = 1e3 * answer["metrics"]["compute_s"]
                    self.assertEqual(f"{ms:.1f}", row[ms_column])
                    ratio = ms / float(row["measured, ms"])
                    self.assertEqual(f"{ratio:.2f}", row[ratio_column])
                    self.assertTrue(0.7 <= ratio <= 1.4, ratio)
                    found.append(ratio)
        self.assertEqual(len(found), 35)
        return found

    def test_each_row_of_the_page_has_sluices_number_which_is_close_to_the_measurement(self):
        ratios = self.ratios("roofline", "roofline, ms", "ratio", {})  # the scenario gets no additional keys
        self.assertEqual(f"{sorted(ratios)[17]:.2f}", "0.97")

    def test_operators_fitted_on_the_card_give_half_of_the_rows_within_10_percent(self):
        ratios = self.ratios("fitted", "fitted, ms", "fitted ratio", {"cost": {"model": "fitted"}})
        errors = sorted(abs(ratio - 1) for ratio in ratios)
        self.assertLessEqual(errors[17], 0.10)
        self.assertEqual((f"{errors[17]:.3f}", f"{errors[31]:.2f}"), ("0.057", "0.16"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
