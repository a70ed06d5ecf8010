#!/usr/bin/python3
"""Checks the numbers of training on the page analysis/validation/alexnet_on_one_card.md twice: with a calculation that
is independent of Sluice, and with the answers of Sluice. Both must give the digits that the page shows."""

import functools
import re
import subprocess
import unittest
from fractions import Fraction

from validation import (BANDWIDTH, CAPACITY, ENVIRONMENT, F32, PROGRAM, RATE, ROOT, SAMPLES, Alexnet,
                        Case, full_depth, sluice, text_of)

AS_WRITTEN = "scenarios/alexnet_x200_training_as_written.yaml"
ON_THE_CARD = "scenarios/alexnet_x200_training.yaml"
KEEP, OFFLOAD = "fates={strategy: keep_all}", "fates={strategy: offload_all}"
CUT_IN_HALVES, CUT_FINER = (f"stages={{cut: by_memory, split: true, share: {share}}}"
                            for share in ("90%", "50%"))


# --- as written ------------------------------------------------------------------------------------


class Strategies(Alexnet):
    """Computes the seconds that the strategies of the document 'AlexNet on one card' add, for each sample, to the
    seconds of the forward and backward passes."""

    def __init__(self):
        super().__init__(200)

    def save(self, first, last):
        """Returns the seconds that it takes to save the states of the rows `first` to `last`. A reload takes the same
        seconds. The rows are counted from 1."""
        return self.move(sum(self.state[first - 1:last]))

    def forward(self, first, last):
        return (self.flops[last - 1] - self.flops[first - 2]) / self.rate

    def sample(self):
        return {
            "save, or reload, what is made up to 5-Conv": self.save(1, 5),
            "recompute up to 5-Conv": self.forward(2, 5),
            "recompute 6 to 14": self.forward(6, 14),
            "save and reload 6 to 14": 2 * self.save(6, 14),
            "recompute all": self.forward(2, 14),
            "combined strategy": 2 * self.save(1, 5) + self.forward(6, 14),
        }

    def all_samples(self):
        inference = SAMPLES * self.forward(2, 19)
        combined = SAMPLES * self.sample()["combined strategy"]
        return {
            "recompute all, 900 samples": SAMPLES * self.forward(2, 14),
            "reload all, 900 samples": 2 * SAMPLES * self.save(1, 14),
            "combined strategy, 900 samples": combined,
            "forward and backward": 2 * inference,
            "total with the combined strategy": 2 * inference + combined,
            "training to inference, compute": (2 * inference + combined) / inference,
            "total, backward at twice forward": 3 * inference + combined,
        }


@functools.lru_cache(maxsize=None)
def answer(scenario, *overrides):
    return sluice("run", scenario, *overrides)


def metrics_of(scenario, *overrides):
    return answer(scenario, *overrides)["metrics"]


def listed(fates):
    metrics = metrics_of(AS_WRITTEN, "fates={strategy: listed, " + fates + "}")
    activations = metrics["transfer_s_by_class"].get("activation", 0)
    return metrics["recompute_s"], activations


def sluice_as_written():
    """Returns the seconds that each strategy adds for all samples: for recomputation, and for transfers of
    activations."""
    found = {}
    recompute, nothing = listed("recompute: [2..14]")
    assert nothing == 0
    found["recompute all"] = recompute
    nothing, found["reload all"] = listed("offload: [1..14]")
    assert nothing == 0
    found["combined"] = sum(listed("offload: [1..5], recompute: [6..14]"))
    found["up to 5 offloaded"] = listed("offload: [1..5]")[1]
    found["up to 5 recomputed"] = listed("recompute: [2..5]")[0]
    found["6 to 14 recomputed"] = listed("recompute: [6..14]")[0]
    found["6 to 14 offloaded"] = listed("offload: [6..14]")[1]
    return found


class AsWritten(Case):
    def test_the_arithmetic_gives_the_digits_of_the_tables(self):
        self.check_tables("alexnet_on_one_card.md", Strategies().sample(), "Training: seconds per sample")
        self.check_tables("alexnet_on_one_card.md", Strategies().all_samples(), "Training 900 samples")

    def test_sluice_gives_what_the_arithmetic_gives_per_sample(self):
        found = sluice_as_written()
        self.all_close({
            "save, or reload, what is made up to 5-Conv": found["up to 5 offloaded"] / SAMPLES / 2,
            "recompute up to 5-Conv": found["up to 5 recomputed"] / SAMPLES,
            "recompute 6 to 14": found["6 to 14 recomputed"] / SAMPLES,
            "save and reload 6 to 14": found["6 to 14 offloaded"] / SAMPLES,
            "recompute all": found["recompute all"] / SAMPLES,
            "combined strategy": found["combined"] / SAMPLES,
        }, Strategies().sample())

    def test_sluice_gives_what_the_arithmetic_gives_for_900_samples(self):
        found, metrics = sluice_as_written(), metrics_of(AS_WRITTEN)
        twice = metrics_of(AS_WRITTEN, "workload.backward=2")
        inference = metrics_of("scenarios/alexnet_x200_as_written.yaml")["compute_s"]
        total = metrics["compute_s"] + metrics["transfer_s_by_class"]["activation"]
        self.all_close({
            "recompute all, 900 samples": found["recompute all"],
            "reload all, 900 samples": found["reload all"],
            "combined strategy, 900 samples": found["combined"],
            "forward and backward": metrics["compute_s"] - metrics["recompute_s"],
            "total with the combined strategy": total,
            "training to inference, compute": total / inference,
            "total, backward at twice forward":
                twice["compute_s"] + twice["transfer_s_by_class"]["activation"],
        }, Strategies().all_samples())

    def test_sluice_gives_what_the_arithmetic_gives_if_offloaded_and_recomputed_stages_alternate(self):
        # Each run of recomputed stages begins at an offloaded tensor. The image, row 1, is loaded again, but it is an
        # input, so its seconds are not among those of the activations.
        offloaded, recomputed = (2, 5, 8, 10, 12), (3, 4, 6, 7, 9, 11, 13, 14)
        hand = Strategies()
        found = listed(f"offload: {list(offloaded)}, recompute: {list(recomputed)}")
        self.all_close(dict(zip(("recompute", "save and reload"), found)), {
            "recompute": SAMPLES * sum(hand.forward(row, row) for row in recomputed),
            "save and reload": 2 * SAMPLES * sum(hand.save(row, row) for row in offloaded),
        })

    def test_the_numbers_of_the_text_below_the_tables(self):
        hand, metrics = Strategies(), metrics_of(AS_WRITTEN)
        text = " ".join(text_of("alexnet_on_one_card.md").split())
        recompute = SAMPLES * hand.sample()["recompute 6 to 14"]
        transfer = 2 * SAMPLES * hand.save(1, 5)
        makespan = (hand.all_samples()["total with the combined strategy"] +
                    hand.move(hand.params[-1]) + SAMPLES * hand.move(hand.state[0]))
        for value, key in ((recompute, metrics["recompute_s"]),
                           (transfer, metrics["transfer_s_by_class"]["activation"]),
                           (makespan, metrics["makespan_s"])):
            self.close(key, value, "below the tables")
            self.assertIn(f"{float(value):.3f} s", text)
        peak = 2 * hand.params[-1] + 3 * hand.state[1]
        self.assertEqual(metrics["peak_bytes"]["gpu"], peak)
        self.assertEqual(metrics["overflow_bytes"]["gpu"], peak - CAPACITY)
        self.assertIn(f"{peak - CAPACITY:,} B more than the card has", text)
        self.assertIn("13.6329 ms rounded", text)
        self.assertEqual(f"{float(1000 * hand.save(6, 14)):.4f}", "13.6329")


# --- on the card -----------------------------------------------------------------------------------

SCALE = 200
BYTES = SCALE * F32  # bytes per element of the original network
# INNER is the number of bytes that the stage conv1..pool5 keeps for each sample besides the image and pool5. The
# backward passes of rectifiers read the outputs of the rectifiers. The backward passes of convolutions read the outputs
# of pools. The backward passes of pools read an index of 8 bytes per output.
RECTIFIED = 54 * 54 * 96 + 26 * 26 * 256 + 2 * 12 * 12 * 384 + 12 * 12 * 256
POOLED = 26 * 26 * 96 + 12 * 12 * 256
INNER = (RECTIFIED + POOLED) * BYTES + (POOLED + 5 * 5 * 256) * SCALE * 8
IMAGE, POOL5 = 224 * 224 * 3 * BYTES, 5 * 5 * 256 * BYTES
DENSE = 4096 * BYTES  # the bytes per sample of the output of full6 or of full7
CONVOLUTIONS = BYTES * (11 * 11 * 3 * 96 + 5 * 5 * 96 * 256 + 9 * (256 * 384 + 384 * 384 + 384 * 256))
FULL6, FULL7, FULL8 = 6400 * 4096 * BYTES, 4096 * 4096 * BYTES, 4096 * 1000 * BYTES
WEIGHTS = CONVOLUTIONS + FULL6 + FULL7 + FULL8


class Optimal(Case):
    """Tests what docs/alexnet.md says about the strategy `optimal`. This strategy gets as much memory as the combined
    strategy of 'AlexNet on one card' uses. With this memory, it loads the image again, saves and loads 2-Conv, and
    recomputes 4-Pool and 6-ReLu."""

    FATES = "fates={strategy: optimal, budget: 671846400B}"

    def test_optimal_beats_the_combined_strategy_by_what_the_page_says(self):
        strategies = Strategies()
        sample = (strategies.move(strategies.state[0]) + 2 * strategies.save(2, 2) +
                  strategies.forward(4, 4) + strategies.forward(6, 6))
        self.assertEqual(text_of_ms(sample), "21.4")
        combined = metrics_of(AS_WRITTEN)["makespan_s"]
        optimal = metrics_of(AS_WRITTEN, self.FATES)["makespan_s"]
        per_sample = Fraction("0.0616086")
        self.assertAlmostEqual((combined - optimal) / SAMPLES, float(per_sample - sample), delta=1e-7)
        self.assertEqual(f"{combined:.1f} {optimal:.1f}", "1092.0 1055.8")
        page = " ".join((ROOT / "docs/alexnet.md").read_text().split())
        for number in ("**21.4 ms**", "1055.8 s instead of 1092.0 s", "takes 61.6 ms"):
            self.assertIn(number, page)

    def test_a_budget_of_one_byte_too_few_exits_with_4_and_names_the_least_budget(self):
        done = subprocess.run([PROGRAM, "run", AS_WRITTEN, "fates={strategy: optimal, budget: 671846399B}"],
                              capture_output=True, text=True, cwd=ROOT, env=ENVIRONMENT, timeout=300)
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("The least budget that is enough is 671846400 B", done.stderr)

    def test_with_overlap_the_commands_take_the_seconds_of_the_page_within_their_budgets(self):
        page = (ROOT / "docs/alexnet.md").read_text()
        lines = re.findall(r'alexnet_x200_training_as_written "(fates=.*budget: .*)" (policy.overlap=true) +# (\d+) s',
                           page)
        self.assertEqual(len(lines), 2)
        passes = float(Strategies().all_samples()["forward and backward"])
        for fates, overlap, seconds in lines:
            found = answer(AS_WRITTEN, fates, overlap)
            self.assertEqual(f"{found['metrics']['makespan_s']:.0f}", seconds)
            self.assertGreater(found["metrics"]["makespan_s"], passes)
            budget = re.search(r"budget: ([\d.]+)(\w+)", fates)
            bytes_of = {"B": 1, "GB": 1e9}[budget[2]] * float(budget[1])
            self.assertEqual(found["plan"]["facts"]["budget_bytes"], bytes_of)
            self.assertLess(found["plan"]["facts"]["gap"], 0.01)


def text_of_ms(seconds):
    return f"{float(seconds * 1000):.1f}"


class Parts:
    """Computes the bytes that the card needs if the layer full6 is divided into n parts. The last part includes relu6.
    The card needs the most bytes in the backward pass of this last part, for the last sample in flight.

    This backward pass needs the weights of the part and their gradients. For the last sample, it needs relu6, the
    gradient of relu6 and the output of the part. For every sample in flight, the card holds the gradients of pool5 and
    of the outputs of the other parts, because the last part reads these tensors. If all activations are kept, the card
    holds three more tensors for every sample: the image, the inner tensors of the convolutions, and pool5. If all
    activations are offloaded, the card holds only one of these three tensors: pool5 of the last sample. The outputs of
    the other parts are not held, because no backward pass reads them."""

    def __init__(self, parts, last_stage):
        self.last_stage = last_stage  # bytes of the weights of the model's last stage
        self.gradients = POOL5 + (parts - 1) * DENSE // parts
        self.fixed = 2 * FULL6 // parts + 2 * DENSE + DENSE // parts

    def kept(self, samples):
        return self.fixed + samples * (IMAGE + INNER + POOL5 + self.gradients)

    def offloaded(self, samples):
        return self.fixed + POOL5 + samples * self.gradients

    @staticmethod
    def most(needed):
        return max(n for n in range(1, SAMPLES + 1) if needed(n) <= CAPACITY)

    def down(self, passes, a_sample):
        """Returns the seconds of all transfers from host to device. Each pass over the model loads the weights twice:
        for the forward passes, and for the backward passes. The weights of the last stage are loaded only once. When
        the second or a later pass begins, the weights of the first stage are still on the device. From the second pass
        on, the gradients of the weights are loaded, too."""
        weights = passes * (2 * WEIGHTS - self.last_stage) - (passes - 1) * CONVOLUTIONS
        return Fraction(weights + (passes - 1) * WEIGHTS + SAMPLES * a_sample, BANDWIDTH)


HALVES = Parts(2, FULL7 // 2 + FULL8)
QUARTERS = Parts(4, FULL8)


def compute():
    """Returns the seconds of the forward passes, of the backward passes, and of the update. Backward passes take twice
    as long as forward passes. The update has 2 FLOP per parameter."""
    forward = SAMPLES * full_depth()["full depth: FLOP time"]
    return 3 * forward + Fraction(2 * WEIGHTS // F32, 1000 * RATE)


def by_hand():
    # If all boundaries are offloaded, the image is loaded twice, and the saved tensors are loaded again. `saved` has
    # the bytes of these loads for one sample. The inner tensors of the convolutions are loaded once. pool5 is loaded
    # twice, once for each half of full6. relu6 is loaded twice, once for each half of full7. relu7 is loaded once, for
    # full8.
    saved = INNER + 2 * POOL5 + 2 * DENSE + DENSE
    return {
        "in flight, halves, all kept": HALVES.most(HALVES.kept),
        "in flight, halves, all offloaded": HALVES.most(HALVES.offloaded),
        "in flight, smaller parts, all kept": QUARTERS.most(QUARTERS.kept),
        "in flight, smaller parts, all offloaded": QUARTERS.most(QUARTERS.offloaded),
        "compute": compute(),
        "halves, all kept: host to device": HALVES.down(300, IMAGE),
        "halves, all offloaded: host to device": HALVES.down(3, 2 * IMAGE + saved),
        "smaller parts, all kept: host to device": QUARTERS.down(60, IMAGE),
    }


KEPT, OFFLOADED = (CUT_IN_HALVES, KEEP), (CUT_IN_HALVES, OFFLOAD)
KEPT_PARTS, OFFLOADED_PARTS = (CUT_FINER, KEEP), (CUT_FINER, OFFLOAD)


def in_flight(samples):
    return f"policy.in_flight={samples}"


def run_training(*overrides):
    return subprocess.run([PROGRAM, "run", ON_THE_CARD, *overrides], capture_output=True, text=True,
                          cwd=ROOT, env=ENVIRONMENT, timeout=300)


def most_in_flight(*run):
    """Returns the largest number of micro-batches in flight that fits: the number of all micro-batches, or the number
    that the message of the refusal names."""
    done = run_training(*run, in_flight(SAMPLES))
    if done.returncode == 0:
        return SAMPLES
    return int(re.search(r"the greatest number of micro-batches in flight that fits: (\d+)\n", done.stderr).group(1))


def makespans():
    """Returns the makespans that Sluice gives. They depend on which transfers overlap with computations, and only a
    simulation finds this out. So they are not computed by hand."""
    runs = {"halves, all kept": (*KEPT, in_flight(3)),
            "halves, all offloaded": (*OFFLOADED, in_flight(300)),
            "halves, all offloaded, 446 in flight": (*OFFLOADED, in_flight(446)),
            "smaller parts, all kept": (*KEPT_PARTS, in_flight(15)),
            "smaller parts, all offloaded": (*OFFLOADED_PARTS, in_flight(900)),
            "all left open": ()}
    return {f"{name}: makespan": Fraction(metrics_of(ON_THE_CARD, *run)["makespan_s"])
            for name, run in runs.items()}


class OnTheCard(Case):
    def test_the_tables_have_the_digits_of_the_arithmetic_and_of_the_runs(self):
        self.check_tables("alexnet_on_one_card.md", {**by_hand(), **makespans()}, "Training on the card")

    def test_sluice_gives_what_the_arithmetic_gives(self):
        def facts(*run):
            return answer(ON_THE_CARD, *run)["plan"]["facts"]

        def down(*run):
            return metrics_of(ON_THE_CARD, *run)["transfer_s_by_link"]["host.down"]

        self.all_close({
            "in flight, halves, all kept": most_in_flight(*KEPT),
            "in flight, halves, all offloaded": most_in_flight(*OFFLOADED),
            "in flight, smaller parts, all kept": most_in_flight(*KEPT_PARTS),
            "in flight, smaller parts, all offloaded": most_in_flight(*OFFLOADED_PARTS),
            "compute": metrics_of(ON_THE_CARD)["compute_s"],
            "halves, all kept: host to device": down(*KEPT),
            "halves, all offloaded: host to device": down(*OFFLOADED),
            "smaller parts, all kept: host to device": down(*KEPT_PARTS),
        }, by_hand())
        for run, needed, samples in ((KEPT, HALVES.kept, 3), (OFFLOADED, HALVES.offloaded, 300),
                                     (KEPT_PARTS, QUARTERS.kept, 15),
                                     (OFFLOADED_PARTS, QUARTERS.offloaded, 900)):
            turns = facts(*run, "policy.resident=none")
            self.assertEqual(facts(*run)["in_flight"], samples)
            self.assertEqual((turns["in_flight"], turns["bytes_needed"]), (samples, needed(samples)))

    def test_as_many_samples_run_as_the_page_says_and_one_more_exits_with_4(self):
        for run, needed, most in ((KEPT, HALVES.kept, 3), (OFFLOADED, HALVES.offloaded, 446),
                                  (KEPT_PARTS, QUARTERS.kept, 15)):
            for samples, code in ((most, 0), (most + 1, 4)):
                done = run_training(*run, in_flight(samples))
                self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(f"needs {needed(most + 1)} B", done.stderr)
            self.assertIn(f"the greatest number of micro-batches in flight that fits: {most}\n", done.stderr)

    def test_the_link_binds_and_each_makespan_exceeds_its_transfers(self):
        for name, down in (("halves, all kept", KEPT), ("halves, all offloaded", OFFLOADED),
                           ("smaller parts, all kept", KEPT_PARTS)):
            bound = by_hand()[f"{name}: host to device"]
            self.assertGreater(makespans()[f"{name}: makespan"], bound)
            self.assertGreater(bound, compute())
        longest = metrics_of(ON_THE_CARD, *OFFLOADED_PARTS)["transfer_s_by_link"]["host.down"]
        self.assertGreater(longest, float(compute()))

    def test_the_numbers_of_the_text_beside_the_tables(self):
        page = text_of("alexnet_on_one_card.md")
        stages = [stage["name"] for stage in answer(ON_THE_CARD, *KEPT)["stages"]]
        self.assertIn("    " + " | ".join(stages) + "\n", page)
        text = " ".join(page.split())
        for parts, count in ((HALVES, 2), (QUARTERS, 4)):
            self.assertIn(f"take {2 * FULL6 // count / 1e9:.2f} GB", text)
        a_sample = HALVES.kept(2) - HALVES.kept(1)
        self.assertIn(f"each sample {a_sample / 1e9:.2f} GB", text)
        self.assertIn(f"{HALVES.gradients / 1e6:.2f} MB per sample", text)
        self.assertIn(f"they need {QUARTERS.offloaded(900) / 1e9:.2f} GB", text)
        host = metrics_of(ON_THE_CARD, *OFFLOADED_PARTS, in_flight(900))["peak_bytes"]["host"]
        self.assertIn(f"take {host / 1e9:.1f} GB of host memory", text)
        self.assertIn(f"the computation takes only {float(compute()):.3f} s", text)


if __name__ == "__main__":
    unittest.main()
