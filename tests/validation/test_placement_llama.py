#!/usr/bin/python3
"""Tests the section on Llama 2 13B of the page analysis/validation/placement.md: its table, and which weights and caches
stay in HBM. The bytes in HBM are compared with those that judged plans choose: a placement of single tensors, policy
`streamed` with placements of kinds, and policy `streamed` with weights that take turns between DDR and HBM."""

import functools
import json
import os
import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("SLUICE_PROGRAM", str(ROOT / "build/release/sluice"))
SCENARIO = "analysis/validation/llama2_13b_hbm_ddr.yaml"
HBM, DDR, COPY = 3.35e12, 500e9, 400e9  # byte/s of the scenario
ROOM = 20e9  # the bytes of HBM in the runs
TABLE = 32000 * 5120 * 2  # the embedding table: words, width, bytes of an element
ROWS = 8 * 5120 * 2  # the rows that the 8 sequences read
STEPS = 4


@functools.lru_cache(maxsize=None)
def placed(sizes, top="1"):
    done = subprocess.run([PROGRAM, "placement", SCENARIO, "--fast", sizes, "--ways", "all_slow,first_touch,static",
                           "--nodes", "0", "--top", top, "--json"], cwd=ROOT, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@functools.lru_cache(maxsize=None)
def run(policy, placement):
    """Runs the scenario on a card with less HBM. Host memory is only needed for the first loads."""
    done = subprocess.run([PROGRAM, "run", SCENARIO, f"policy={{name: {policy}, placement: {placement}}}",
                           f"platform.devices.gpu.memory.0.capacity={ROOM:.0f}B",
                           "platform.memories={host: {capacity: 256GB}}",
                           "platform.links.host={joins: [host, gpu], bandwidth: 30GB/s}",
                           f"workload.steps={STEPS}", "stages=per_layer", "--json"], cwd=ROOT, capture_output=True, text=True,
                          check=True)
    return json.loads(done.stdout)


def in_hbm(answer):
    """Returns the bytes of the weights and the caches in HBM."""
    peak = answer["metrics"]["peak_bytes_by_class"]["gpu"]
    return peak["weight"], peak["kv_cache"]


def step_by_hand(all_bytes, in_fast):
    """Every byte is read once per step, but only a few rows of the embedding table, which goes to DDR first."""
    return in_fast / HBM + (all_bytes - TABLE + ROWS - in_fast) / DDR


class Llama(unittest.TestCase):
    def test_the_table_of_the_page(self):
        page = (ROOT / "analysis/validation/placement.md").read_text()
        section = page.split("## Llama 2 13B")[1].split("\n## ")[0]
        rows = re.findall(r"^\| (\d+) % \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) % \| ([\d.]+) \|$", section, re.M)
        self.assertEqual([row[0] for row in rows], ["25", "50", "75", "100"])
        results = placed("25%,50%,75%,100%")["results"]
        for share, slow, touched, static, gap, by_hand in rows:
            of = {one["way"]: one for one in results if round(100 * one["fast_share"]) == int(share)}
            for way, said in (("all_slow", slow), ("first_touch", touched), ("static", static)):
                self.assertAlmostEqual(of[way]["slowdown"], float(said), delta=0.006, msg=f"{share} %, {way}")
                self.assertAlmostEqual(of[way]["simulated_s"] / of[way]["predicted_s"], 1, delta=1e-9)
            self.assertLessEqual(100 * of["static"]["gap"], float(gap) + 0.001, msg=share)
            fast = int(share) / 100
            self.assertAlmostEqual(float(by_hand), fast + (1 - fast) * HBM / DDR, delta=0.006)

    def test_the_embedding_table_goes_to_ddr_first_and_all_other_bytes_save_the_same_seconds(self):
        tensors = placed("50%", "2000")["worth"]["tensors"]
        table = next(one for one in tensors if one["bytes"] == TABLE and one["name"].startswith("weights of word"))
        self.assertEqual(table["memory"], "gpu_ddr")
        self.assertAlmostEqual(table["worth_s"], ROWS * (1 / DDR - 1 / HBM), delta=1e-8)
        large = [one for one in tensors if one["bytes"] > 1e6 and one is not table]
        self.assertGreater(len(large), 300)
        for one in large:
            self.assertAlmostEqual(one["worth_s"] / one["bytes"] * DDR, 1 - DDR / HBM, delta=1e-3, msg=one["name"])

    def test_judged_plans_keep_as_many_bytes_in_hbm(self):
        best = placed("20GB")
        needed = best["needed_bytes"]
        predicted = next(one["simulated_s"] for one in best["results"] if one["way"] == "static")
        self.assertAlmostEqual(predicted / step_by_hand(needed, ROOM), 1, delta=2e-3)
        # Which bytes stay is arbitrary, except for the embedding table: a byte of a cache saves as much as one of a
        # weight. The last tensor that would not fit has at most 336 MB.
        for policy in ("resident", "streamed"):
            answer = run(policy, "static")
            weights, caches = in_hbm(answer)
            self.assertTrue(ROOM - 336e6 < weights + caches <= ROOM, msg=policy)
            self.assertAlmostEqual(answer["metrics"]["step_s"] / predicted, 1, delta=0.02, msg=policy)
            self.assertAlmostEqual(answer["metrics"]["step_s"] / step_by_hand(needed, weights + caches), 1, delta=2e-3)

    def test_weights_that_take_turns_are_slower_because_a_copy_is_slower_than_a_read(self):
        answer, static = run("streamed", "backing"), run("streamed", "static")
        weights = answer["metrics"]["peak_bytes_by_class"]["gpu_ddr"]["weight"]
        stay = answer["plan"]["facts"]["resident_bytes"]
        # The caches cannot take turns, so they need their room in HBM.
        self.assertAlmostEqual(in_hbm(answer)[1], placed("20GB")["needed_bytes"] - weights, delta=2e6)
        self.assertLess(stay, in_hbm(static)[0])
        self.assertAlmostEqual(answer["metrics"]["step_s"] / ((weights - stay) / COPY), 1, delta=2e-3)
        self.assertGreater(answer["metrics"]["step_s"], 1.2 * static["metrics"]["step_s"])


if __name__ == "__main__":
    unittest.main()
