"""Helpers for the tests that compare the Python package with the command line."""

import os
import pathlib
import subprocess

from sluice_package import need, sluice

need("numpy", "pandas", "xarray")

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("SLUICE_PROGRAM", str(ROOT / "build/release/sluice"))
SCENARIOS = sorted((ROOT / "scenarios").glob("*.yaml"))
PHASED = ROOT / "scenarios/phased_ipu_pair.yaml"
SMALL = {"workload.batches_per_step": 3, "workload.steps": 2}


def program(*words, code=0):
    done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, cwd=ROOT,
                          timeout=300)
    assert done.returncode == code, (done.returncode, done.stderr)
    return done


def small():
    return sluice.load(PHASED, SMALL)


def content_of(path):
    """Returns the attribute `content_sha256` of the trace at this path."""
    import h5py

    with h5py.File(path) as file:
        return file.attrs["content_sha256"]
