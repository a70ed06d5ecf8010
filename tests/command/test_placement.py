#!/usr/bin/python3
"""`sluice placement`: what it refuses and in which words, and which sizes of fast memory its table marks."""

import json
import os
import pathlib
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("SLUICE_PROGRAM", str(ROOT / "build/release/sluice"))
ROOFLINE = "cost.model=roofline"


def placement(*words):
    done = subprocess.run([PROGRAM, "placement", *words], cwd=ROOT, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


class Placement(unittest.TestCase):
    def refused(self, words, code, *parts):
        found, out, err = placement(*words)
        self.assertEqual((found, out), (code, ""))
        for part in parts:
            self.assertIn(part, err)

    def test_a_cost_model_without_bandwidths_is_refused_at_its_key(self):
        self.refused(["alexnet_x200"], 3, "alexnet_x200.yaml:13:15: error", "'peak'", ROOFLINE)
        self.refused(["alexnet_resident", "cost=peak"], 3, "cost=peak:1:6: error", "'peak'", ROOFLINE)

    def test_a_way_or_a_size_that_is_not_one_is_refused_by_its_option(self):
        self.refused(["alexnet_resident", ROOFLINE, "--ways", "statik"], 2, "'--ways'", "did you mean 'static'?")
        for size, why in {"50": "is not a size of fast memory", "30%..10%": "ends before it begins",
                          "1:0": "no fast or no slow memory", "0:8": "no fast or no slow memory",
                          "150%": "at most 100%", "10%..120%": "at most 100%"}.items():
            with self.subTest(size=size):
                self.refused(["alexnet_resident", ROOFLINE, "--fast", size], 2, f"'{size}' for '--fast'", why)

    def test_rates_in_place_price_slow_memory_for_any_cost_model(self):
        words = ["alexnet_resident", "cost=peak", "--ways", "all_slow", "--fast", "100%"]
        code, out, _ = placement(*words, "--in-place", "20GB/s:4.4GB/s", "--json")
        document = json.loads(out)
        self.assertEqual((code, document["cost_model"], document["in_place"]),
                         (0, "peak", {"read_bytes_per_s": 20e9, "write_bytes_per_s": 4.4e9}))
        self.assertGreater(document["results"][0]["slowdown"], 1)
        _, out, _ = placement(*words, "--in-place", "20GB/s:4.4GB/s")
        self.assertIn("(cost model peak; slow memory, on top of it: read at 20 GB/s, written at 4.4 GB/s)", out)
        for text in ("20GB/s", "20GB/s:0GB/s", "20GB/s:fast", "20GB:4GB", ":"):
            with self.subTest(text=text):
                self.refused([*words, "--in-place", text], 2, f"'--in-place {text}'", "(20GB/s:4.4GB/s)")

    def test_the_table_marks_what_the_device_has_and_what_is_beyond_it(self):
        code, out, _ = placement("alexnet_x200", ROOFLINE, "--ways", "all_slow")
        self.assertEqual(code, 0)
        lines = out.splitlines()
        self.assertIn("cost model roofline", lines[0])
        own = [line for line in lines if "the device's" in line]
        self.assertEqual([line.split()[:2] for line in own], [["24", "GB"]])
        self.assertEqual([line.split()[2] for line in lines if line.split()[4:5] == ["beyond"]],
                         ["60", "70", "80", "90", "100"])

    def test_what_does_not_fit_says_kernel_memory_and_the_largest_tensors(self):
        code, out, _ = placement("alexnet_x200", ROOFLINE, "--fast", "50%", "--ways", "all_fast", "--json")
        self.assertEqual(code, 4)
        document = json.loads(out)
        self.assertEqual((document["cost_model"], document["fast_capacity_bytes"]), ("roofline", 24000000000))
        self.assertIn("it needs 41.11 GB there, which has 20.56 GB; the largest tensors are weights of full6 (20.97 GB)",
                      document["results"][0]["refused"])


if __name__ == "__main__":
    unittest.main()
