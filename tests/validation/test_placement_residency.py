#!/usr/bin/python3
"""Tests two studies of analysis/validation/placement.md: a network of 200 times AlexNet's size, on a card and its host,
and Llama 2 13B on HBM and DDR. A placement keeps some weights in fast memory. The policy `streamed` keeps some weights
there, too, while the other weights take turns. The test compares the seconds and the kept weights of the placement and
of the policy."""

import json
import os
import pathlib
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("SLUICE_PROGRAM", str(ROOT / "build/release/sluice"))
ONE = ["workload.batches_per_step=1", "workload.steps=4"]
PLACED = "policy={name: resident, placement: static}"
LINK, MEMORY = 30e9, 0.7 * 960e9  # byte/s of the platform's PCIe 4.0, and of the card's memory under roofline


def answer(command, scenario, *words):
    done = subprocess.run([PROGRAM, command, scenario, *words, "--json"], cwd=ROOT, capture_output=True, text=True,
                          check=True)
    return json.loads(done.stdout)


def asked(command, *words):
    return answer(command, "alexnet_x200", "cost=roofline", *words)


class Residency(unittest.TestCase):
    def test_every_weight_on_the_card_saves_the_same_seconds_per_byte(self):
        worth = asked("placement", "--fast", "50%", "--ways", "static", "--nodes", "0", "--top", "100")["worth"]
        each = {one["name"]: one["worth_s"] / one["bytes"] for one in worth["tensors"]
                if one["name"].startswith("weights of") and one["bytes"] > 1e9}
        self.assertEqual(set(each), {"weights of full6", "weights of full7", "weights of full8", "weights of conv4"})
        for name, seconds in each.items():  # seconds over the link minus seconds on the card
            self.assertAlmostEqual(seconds * LINK, 1 - LINK / MEMORY, delta=0.01, msg=name)

    def test_only_the_bytes_that_stay_matter_and_a_placement_keeps_more_bytes(self):
        streamed, placed = asked("run", *ONE), asked("run", PLACED, *ONE)
        weights = streamed["metrics"]["peak_bytes_by_class"]["host"]["weight"]
        self.assertEqual(placed["metrics"]["peak_bytes_by_class"]["host"]["weight"], weights)
        turns = streamed["plan"]["facts"]["resident_bytes"]
        stay = placed["metrics"]["peak_bytes_by_class"]["gpu"]["weight"]
        # The policy `streamed` tries to keep an eighth of all weights on the card, or two eighths, and so on. It keeps
        # four eighths, because five eighths have more bytes than the card.
        self.assertAlmostEqual(turns / weights, 4 / 8, delta=0.001)
        self.assertGreater(5 / 8 * weights, 24e9)
        self.assertTrue(turns < stay < 24e9)
        # Under `streamed`, a step takes the seconds in which the image and the weights that do not stay cross the link.
        # With a placement, a step takes the seconds in which the kernels, one after the other, read their weights over
        # the link or on the card.
        image = streamed["metrics"]["transferred_bytes_by_class"]["input"] / 4  # steps
        self.assertAlmostEqual(streamed["metrics"]["step_s"] / ((weights - turns + image) / LINK), 1, delta=0.02)
        expected = (weights - stay) / LINK + stay / MEMORY
        self.assertAlmostEqual(placed["metrics"]["step_s"] / expected, 1, delta=0.02)
        self.assertLess(placed["metrics"]["step_s"], 0.92 * streamed["metrics"]["step_s"])

    def test_if_samples_share_a_load_streaming_is_faster(self):
        streamed, placed = (asked("run", *words)["metrics"]["step_s"] for words in ([], [PLACED]))
        self.assertGreater(placed, 9 * streamed)


class Llama(unittest.TestCase):
    SCENARIO = "analysis/validation/llama2_13b_hbm_ddr.yaml"

    def run_with_20_gb(self, *words):
        """Returns the answers of `resident` with `placement: static`, and of `streamed`."""
        small = ["platform.devices.gpu.memory.0.capacity=20GB", "workload.steps=20", *words]
        return (answer("run", self.SCENARIO, *small, PLACED), answer("run", self.SCENARIO, *small, "policy=streamed"))

    def test_the_placement_and_streamed_keep_equally_many_bytes_of_weights_in_hbm(self):
        # Without earlier tokens, there are no caches, so only weights compete for HBM.
        placed, streamed = self.run_with_20_gb("model.cached=0")
        stay = placed["metrics"]["peak_bytes_by_class"]["gpu"]["weight"]
        self.assertAlmostEqual(streamed["plan"]["facts"]["resident_bytes"] / stay, 1, delta=0.001)
        self.assertTrue(0.97 * 20e9 < stay < 20e9)

    def test_with_caches_the_placement_and_streamed_keep_equally_many_bytes_in_hbm(self):
        # In HBM, a cache saves as many seconds per byte as a weight, so it does not matter which of them are there. The
        # sizes of fast memory that `resident` tries differ by a 57th of all bytes, so it may use a little less.
        placed, streamed = self.run_with_20_gb()
        in_hbm, in_ddr = ([one["plan"]["facts"]["placed_bytes"][memory] for one in (placed, streamed)]
                          for memory in ("gpu", "gpu_ddr"))
        self.assertAlmostEqual(in_hbm[0] / in_hbm[1], 1, delta=0.01)
        self.assertTrue(min(in_hbm) > 0.98 * 20e9 and min(in_ddr) > 0)
        self.assertAlmostEqual(placed["metrics"]["step_s"] / streamed["metrics"]["step_s"], 1, delta=0.01)

    def test_the_slowdowns_of_the_page(self):
        page = (ROOT / "analysis/validation/placement.md").read_text()
        table = page[page.index("| share of HBM |"):].split("\n\n")[0].splitlines()[2:]
        results = answer("placement", self.SCENARIO, "--fast", "25%,50%,75%,100%", "--ways",
                         "all_slow,first_touch,static")["results"]
        found = {(round(100 * one["fast_share"]), one["way"]): one for one in results}
        self.assertEqual((len(table), len(found)), (4, 12))
        for row in table:
            share, *slowdowns, gap, _ = (float(cell.strip(" %")) for cell in row.strip("|").split("|"))
            for way, slowdown in zip(("all_slow", "first_touch", "static"), slowdowns):
                self.assertAlmostEqual(found[share, way]["slowdown"], slowdown, delta=0.0006)
            self.assertAlmostEqual(100 * found[share, "static"]["gap"], gap, delta=0.0006)


if __name__ == "__main__":
    unittest.main()
