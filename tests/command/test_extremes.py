#!/usr/bin/python3
"""Tests that figures that no machine has and damaged profiles are refused at their position, without a crash."""

import os
import pathlib
import random
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("SLUICE_PROGRAM", str(ROOT / "build/release/sluice"))
ENVIRONMENT = {**os.environ, "SLUICE_ROOT": str(ROOT), "LC_ALL": "C.UTF-8", "COLUMNS": ""}
PROFILE = """\
# format: sluice-profile/1
operator,node,dtype,seconds_median
dense,a,float32,0.5
dense,b,float32,0.75
"""


def sluice(*words):
    return subprocess.run([PROGRAM, *map(str, words)], env=ENVIRONMENT, capture_output=True, timeout=300)


class Figures(unittest.TestCase):
    def test_rates_and_shares_that_are_too_small_are_refused(self):
        for key in ("devices.gpu.rate.float32=1e-300FLOP/s", "links.host.bandwidth=1e-308B/s",
                    "devices.gpu.memory.bandwidth=1e-30B/s", "devices.gpu.efficiency=1e-300",
                    "devices.gpu.roofline.compute=1e-200"):
            with self.subTest(key):
                done = sluice("run", ROOT / "scenarios/alexnet_x200.yaml", "platform." + key)
                self.assertEqual(done.returncode, 3, done.stderr)
                self.assertIn(key.split("=")[0].split(".")[-1].encode(), done.stderr)


class DamagedProfiles(unittest.TestCase):
    def test_bytes_of_the_heap_may_have_any_value(self):
        with tempfile.TemporaryDirectory() as folder:
            table, whole, damaged = (pathlib.Path(folder) / name for name in ("a.csv", "a.h5", "b.h5"))
            table.write_text(PROFILE)
            self.assertEqual(sluice("profile", "merge", table, "-o", whole).returncode, 0)
            good = whole.read_bytes()
            shown = sluice("profile", "show", whole)
            self.assertEqual(shown.returncode, 0, shown.stderr)
            heap, draws, refused = good.index(b"GCOL"), random.Random(17), 0
            for _ in range(60):
                at = heap + draws.randrange(160)
                damaged.write_bytes(good[:at] + bytes([good[at] ^ draws.randrange(1, 256)]) + good[at + 1:])
                done = sluice("profile", "show", damaged)
                self.assertIn(done.returncode, (0, 3), (at, done.stderr))
                refused += done.returncode == 3
            self.assertGreater(refused, 0)


if __name__ == "__main__":
    unittest.main()
