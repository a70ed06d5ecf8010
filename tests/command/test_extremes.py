#!/usr/bin/python3
"""Tests that the program refuses impossible figures of machines, and damaged profiles, without a crash. The message
names the position of the fault."""

import json
import os
import pathlib
import random
import resource
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


class Counts(unittest.TestCase):
    """Counts that do not fit into 64 bits. The message names the key that makes the count too large, and the place of
    this key."""

    def test_layers_that_double_are_refused_at_the_layer(self):
        layers = "".join(f"  - {{type: concat, name: c{i}, inputs: [{before}, {before}]}}\n"
                         for i, before in enumerate(["x"] + [f"c{i}" for i in range(58)]))
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "double.yaml"
            path.write_text("format: sluice-model/1\nname: double\nlayers:\n"
                            "  - {type: input, name: x, shape: [4]}\n" + layers)
            for words in (["model", path], ["run", "alexnet_resident", f"model={path}"],
                          ["run", "alexnet_resident", f"model={path}", "stages=auto"],
                          ["fits", path], ["fits", path, "--platform", "k40"],
                          ["placement", "alexnet_resident", "platform=optane_server", "cost=roofline", f"model={path}"]):
                with self.subTest(words):
                    done = sluice(*words)
                    self.assertEqual(done.returncode, 3, done.stderr)
                    self.assertIn(b"double.yaml:60:5: error: bytes of the layers up to this one", done.stderr)
                    self.assertIn(b"is not a count below 2^63\n      - {type: concat, name: c55", done.stderr)

    def test_samples_that_are_too_many_are_refused_at_the_workload(self):
        for key in ("workload.batch=9223372036854775807", "workload.batch=1000000000000 model.scale=1000000"):
            with self.subTest(key):
                done = sluice("run", "alexnet_resident", *key.split())
                self.assertEqual(done.returncode, 3, done.stderr)
                self.assertRegex(done.stderr, rb"workload.batch=\d+:1:16: error: ")

    def test_samples_whose_bytes_no_count_holds_do_not_fit(self):
        done = sluice("fits", "alexnet", "--platform", "k40", "--memory", "9000000000000000000B", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotRegex(done.stdout, rb"nan|inf\b")

    def test_a_memory_of_as_many_bytes_as_a_count_can_hold_has_an_answer(self):
        """The memory has 2^63 - 1 bytes. `fits` must find the largest micro-batch, although with one more sample, the
        bytes of the micro-batch do not fit into 64 bits."""
        for model in ("vgg16", "resnet50", "gpt2"):
            for mode in ("training", "inference"):
                with self.subTest(model=model, mode=mode):
                    done = sluice("fits", model, "--platform", "k40", "--memory", "9223372036854775807B",
                                  "--mode", mode, "--json")
                    self.assertEqual(done.returncode, 0, done.stderr)
                    card = json.loads(done.stdout)["cards"][0]
                    self.assertGreater(card["largest"], 1_000_000_000)
                    self.assertIn("more than 2^63 - 1 bytes", card["refusal"])
                    self.assertIsNone(card["next"])

    def test_a_batch_with_too_many_micro_batches_is_refused_with_what_is_allowed(self):
        done = sluice("fits", "alexnet", "--platform", "k40", "--batch", "1000000000000")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertRegex(done.stderr.decode(), r"'1000000000000' for 'batch': its largest divisor that fits on k40 is "
                         r"2500, so the batch has 400000000 micro-batches; expected at most 1000000 micro-batches of "
                         r"at most \d+ samples")

    def test_rates_of_memory_that_are_too_small_are_refused(self):
        for rates in ("1e-308", "1e-308GB/s:1GB/s", "1GB/s:1e300GB/s", "0B/s:1GB/s"):
            with self.subTest(rates):
                done = sluice("placement", "alexnet_resident", "platform=optane_server", "--in-place", rates)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(f"'{rates}' for '--in-place': expected two rates above 0, at least 0.001B/s".encode(),
                              done.stderr)

    def test_training_on_a_slow_device_is_planned_soon(self):
        """On a slow device, nearly all time is computation. So the bounds of most candidates are only a little below
        the best time. Planning must still take at most 20 s."""
        done = subprocess.run([PROGRAM, "plan", "alexnet_x200_training", "platform.devices.gpu.rate.float32=1MFLOP/s"],
                              env=ENVIRONMENT, capture_output=True, timeout=300,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (20, 20)))
        self.assertEqual(done.returncode, 0, done.stderr)


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
