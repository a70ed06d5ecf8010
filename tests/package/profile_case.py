"""Helpers for the tests of profile_torch: a clock, a meter that reports known joules, and a test case with a folder.
The clock advances only when a module of class Works is called."""

import csv
import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from sluice_package import need, sluice

need("numpy", "pandas", "torch")
import torch  # noqa: E402
from torch import nn  # noqa: E402

PROGRAM = os.environ.get("SLUICE_PROGRAM", str(Path(__file__).parents[2] / "build/release/sluice"))


class Clock:
    """A clock that advances only when a module of class Works is called."""

    now = 0.0

    @classmethod
    def read(cls):
        return cls.now


class Works(nn.Module):
    """A module whose call advances the clock by `seconds`. After `calls` calls, every further call fails."""

    left = {}

    def __init__(self, seconds, calls=None):
        super().__init__()
        self.seconds = seconds
        Works.left[seconds] = calls

    def extra_repr(self):
        return str(self.seconds)

    def forward(self, x):
        if Works.left[self.seconds] is not None:
            Works.left[self.seconds] -= 1
            if Works.left[self.seconds] < 0:
                raise RuntimeError("no more\nof it")
        Clock.now += self.seconds
        return x * 1


class StandIn:
    """A meter whose count of joules grows in steps of 1/8 J. Its device takes 3 W while it works."""

    name = "stand_in"

    def __init__(self, resolution_j=0.125):
        self.resolution_j = resolution_j

    def joules(self):
        return 3 * Clock.now // self.resolution_j * self.resolution_j


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.file = self.folder / "p.csv"
        Works.left.clear()

    def profile(self, module, inputs, **options):
        given = {"budget_s": 1e-6, "meter": None, **options}
        return sluice.profile_torch(module, inputs, self.file, **given)

    def worked(self, module, **options):
        return self.profile(module, torch.zeros(2, 4), clock=Clock.read, **options)

    def rows(self, **where):
        lines = self.file.read_text().splitlines(keepends=True)
        self.assertEqual(lines[0], "# format: sluice-profile/1\n")
        rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
        return [row for row in rows if all(row[key] == value for key, value in where.items())]

    def asked(self, *arguments):
        done = subprocess.run([PROGRAM, "profile", *map(str, arguments), "--json"], capture_output=True,
                              text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)
