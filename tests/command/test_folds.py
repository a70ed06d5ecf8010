#!/usr/bin/python3
"""Tests a trace with a fold. A fold is a part of the run that is repeated but stored only once. The test expands the
trace with NumPy, by the description of the format. The result must be the spans that `sluice export` writes."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("SLUICE_PROGRAM", str(ROOT / "build/release/sluice"))
ENVIRONMENT = {**os.environ, "SLUICE_ROOT": str(ROOT), "LC_ALL": "C.UTF-8"}
STEPS = 40_000
SPANS = 30 * STEPS + 1  # each step has 30 loads, computations and saves; the weights are loaded once

try:
    import h5py
    import numpy as np
except ImportError:
    print("skipped: h5py and numpy are not installed")
    sys.exit(77)


def sluice(*words):
    done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, cwd=ROOT,
                          env=ENVIRONMENT, timeout=300, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


def expanded(file, name, later):
    """Returns a column of /spans with all rows of the expanded trace. The trace has one fold, which is expanded as
    sim/trace/FORMAT.md describes."""
    first, rows, times, each = (file["folds"][key][0] for key in ("first_row", "rows", "times", later))
    column, last = file[f"spans/{name}"][:], first + rows
    again = column[first:last] + each * np.arange(1, times + 1)[:, None]
    return np.concatenate([column[:last], again.ravel(), column[last:]])


class Folds(unittest.TestCase):
    def test_a_folded_trace_is_small_and_holds_every_span(self):
        with tempfile.TemporaryDirectory() as folder:
            path, rows = pathlib.Path(folder, "t.h5"), pathlib.Path(folder, "spans.csv")
            sluice("run", "alexnet_resident", f"workload.steps={STEPS}", "--executor", "replay",
                   "-o", path)
            self.assertLess(path.stat().st_size, 1_000_000)
            self.assertIn(f"{SPANS:,} spans".replace(",", " "), sluice("show", path))
            sluice("export", path, "--to", "csv", "-o", rows)
            with h5py.File(path) as file:
                self.assertEqual(list(file.attrs["version"]), [2, 0])
                self.assertLess(len(file["spans/start"]), 10_000)
                makespan = file["summary/makespan_s"][()]
                starts, ends = (expanded(file, name, "period") for name in ("start", "end"))
                iterations = expanded(file, "iteration", "iterations")
            with rows.open(encoding="utf-8") as lines:
                names = next(lines).strip().split(",")
                columns = [names.index(name) for name in ("start_s", "end_s", "iteration")]
                written = np.array([[float(cells[c]) for c in columns]
                                    for cells in (line.split(",") for line in lines)])
            self.assertEqual(len(written), SPANS)
            self.assertEqual(len(starts), SPANS)
            for column, told in ((0, starts), (1, ends)):
                self.assertLess(np.abs(written[:, column] - told).max(), 1e-12 * makespan)
            self.assertTrue(np.array_equal(written[:, 2], iterations))
            self.assertLess(abs(ends.max() - makespan), 1e-12 * makespan)


if __name__ == "__main__":
    unittest.main()
