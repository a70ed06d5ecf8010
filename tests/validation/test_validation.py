#!/usr/bin/python3
"""Checks the numbers on pages of analysis/validation/ twice: with a calculation that is independent of Sluice, and with
the answers of Sluice. Both must give the digits that the pages show."""

import pathlib
import tempfile
import unittest
from fractions import Fraction

from validation import (BANDWIDTH, CAPACITY, F32, RATE, SAMPLES, TABLE, Alexnet, Case, full_depth, sluice,
                        text_of)

AS_WRITTEN = "scenarios/alexnet_x200_as_written.yaml"

# --- AlexNet on one card, by Sluice ---------------------------------------------------------------------------

MS = 1e-3


def sluice_once(platform, scale=1):
    found = sluice("model", TABLE, f"scale={scale}", "--platform", platform)["platform"]
    return {
        "size of the parameters": found["parameter_bytes"],
        "load all parameters": found["load_ms"] * MS,
        "fill the card": found["fill_ms"] * MS,
        "copies that fit": found["copies_that_fit"],
        "total state": found["state_ms"] * MS,
        "parameters and total state": found["load_and_state_ms"] * MS,
        "load one image": (found["load_and_input_ms"] - found["load_ms"]) * MS,
        "parameters and one image": found["load_and_input_ms"] * MS,
        "inferences per load of the parameters": found["inferences_per_load"],
    }


def sluice_large(platform, scale=200, model=TABLE):
    found = sluice("model", model, f"scale={scale}", "--platform", platform)
    stage_16 = found["layers"][15]
    return {
        "FLOP time": found["platform"]["flop_ms"] * MS,
        "load the model": found["platform"]["load_ms"] * MS,
        "parameters up to stage 16": stage_16["total_parameters_ms"] * MS,
        "state at stage 16": stage_16["state_ms"] * MS,
        "in flight at stage 16": stage_16["copies_that_fit"],
    }


def sluice_many(*overrides):
    metrics = sluice("run", AS_WRITTEN, *overrides)["metrics"]
    return metrics, {
        "compute": metrics["compute_s"],
        "load parameters": metrics["transfer_s_by_class"]["weight"],
        "load images": metrics["transfer_s_by_class"]["input"],
        "share of compute": metrics["compute_s"] / metrics["makespan_s"],
    }


class AlexNetOnOneCard(Case):
    def test_the_arithmetic_gives_the_digits_of_the_tables(self):
        hand = {**Alexnet().once(), **Alexnet(200).large(), **Alexnet(200).many(), **full_depth()}
        self.check_tables("alexnet_on_one_card.md", hand, "(?!Training)")

    def test_sluice_gives_what_the_arithmetic_gives(self):
        self.all_close(sluice_once("rx7900xtx_as_written"), Alexnet().once())
        self.all_close(sluice_large("rx7900xtx_as_written"), Alexnet(200).large())
        metrics, many = sluice_many()
        self.all_close(many, Alexnet(200).many())
        self.close(metrics["makespan_s"], Alexnet(200).makespan(), "makespan")
        self.assertEqual(metrics["peak_bytes"]["gpu"], Alexnet(200).memory_peak())
        self.assertEqual(metrics["overflow_bytes"]["gpu"], Alexnet(200).memory_peak() - CAPACITY)
        self.assertEqual(metrics["overflow_bytes"]["gpu"], 62848000)

    def test_sluice_gives_the_numbers_of_the_card_with_full_depth(self):
        found = sluice_large("rx7900xtx_pcie4", model="models/alexnet.yaml")
        hand = full_depth()
        self.close(found["parameters up to stage 16"],
                   hand["full depth: parameters up to stage 16"], "parameters up to stage 16")
        self.close(found["FLOP time"], hand["full depth: FLOP time"], "FLOP time")

    def test_the_numbers_of_the_text_below_the_tables(self):
        text = " ".join(text_of("alexnet_on_one_card.md").split())
        large = Alexnet(200)
        self.assertIn(f"makespan of {float(large.makespan()):.3f} s", text)
        self.assertIn(f"is {large.memory_peak() - CAPACITY:,} B above the 24 GB of the card", text)
        fit = (CAPACITY - large.params[15] - large.state[0]) // large.state[15]
        self.assertIn(f"only {fit} states fit instead of 917", text)
        self.assertIn("the document's FLOP of one inference take 2.86572 us", text)
        self.assertEqual(f"{float(Alexnet().flops[-1] / Fraction(61 * 10**12)) * 1e6:.5f}", "2.86572")
        ratio = full_depth()["full depth: FLOP time"] * 1000 / large.large()["FLOP time"]
        self.assertIn(f"{float(ratio):.2f} times the FLOP", text)


class AlexNetOnOneCardElsewhere(Case):
    """Tests that the calculation agrees with Sluice for other numbers, too: for 0.7 times the bandwidth, for 1.3 times
    the rate, for a scale of 50, and for all three changes together."""

    CASES = [
        dict(bandwidth=Fraction(7, 10) * BANDWIDTH),
        dict(rate=Fraction(13, 10) * RATE),
        dict(scale=50),
        dict(scale=50, rate=Fraction(13, 10) * RATE, bandwidth=Fraction(7, 10) * BANDWIDTH),
    ]

    def test_runs_with_other_rates_and_scales_agree_with_the_arithmetic(self):
        for case in self.CASES:
            overrides = []
            if "bandwidth" in case:
                overrides.append(f"platform.links.host.bandwidth={int(case['bandwidth'])}B/s")
            if "rate" in case:
                overrides.append(f"platform.devices.gpu.rate.float32={int(case['rate'])}FLOP/s")
            overrides.append(f"model.scale={case.get('scale', 200)}")
            hand = Alexnet(**{"scale": 200, **case})
            with self.subTest(overrides):
                metrics, many = sluice_many(*overrides)
                self.all_close(many, hand.many())
                self.close(metrics["makespan_s"], hand.makespan(), "makespan")
                self.assertEqual(metrics["peak_bytes"]["gpu"], hand.memory_peak())

    def test_tables_of_the_model_on_another_platform_agree_with_the_arithmetic(self):
        for case in self.CASES:
            hand = Alexnet(**{"scale": 200, **case})
            with tempfile.TemporaryDirectory() as folder, self.subTest(case):
                platform = pathlib.Path(folder) / "card.yaml"
                platform.write_text(
                    "format: sluice-platform/1\nname: card\nmemories: {host: {capacity: unlimited}}\n"
                    f"devices: {{gpu: {{rate: {{float32: {int(hand.rate)}FLOP/s}}, "
                    "memory: {capacity: 24GB}}}\n"
                    f"links: {{host: {{joins: [host, gpu], bandwidth: {int(hand.bandwidth)}B/s}}}}\n")
                scale = case.get("scale", 200)
                self.all_close(sluice_once(str(platform), scale), hand.once())
                self.all_close(sluice_large(str(platform), scale), hand.large())


class MemoryAndComputationOfNetworks(Case):
    # For each layer, the number of its outputs, and the number of inputs from which one output is computed. The bias is
    # not counted as an input.
    LAYERS = {"conv1": (28 * 28 * 32, 3 * 3 * 1), "conv2": (28 * 28 * 32, 3 * 3 * 32),
              "full1": (128, 14 * 14 * 32), "full2": (10, 128)}
    FILTERS = {"conv1": 32, "conv2": 32, "full1": 128, "full2": 10}

    def by_hand(self):
        parameters = {name: self.FILTERS[name] * (fan + 1) for name, (_, fan) in self.LAYERS.items()}
        total = sum(parameters.values())
        states = {name: outputs for name, (outputs, _) in self.LAYERS.items()}
        return {
            **{f"parameters of {name}": count for name, count in parameters.items()},
            "parameters": total,
            "parameters in f32": total * F32,
            **{f"state of {name}": count for name, count in states.items()},
            "state of pool": 14 * 14 * 32,
            "receptive field of conv1": 3,
            "receptive field of conv2": 3 + (3 - 1),
            "receptive field of pool": 5 + (2 - 1),
            "MACs": sum(outputs * fan for outputs, fan in self.LAYERS.values()),
        }

    def test_the_arithmetic_gives_the_digits_of_the_table(self):
        self.assertEqual(self.by_hand()["parameters"], 813802)
        self.assertEqual(self.by_hand()["MACs"], 8255232)
        self.check_tables("memory_and_computation_of_networks.md", self.by_hand(), "Memory and computation of networks")

    def test_sluice_gives_what_the_arithmetic_gives(self):
        found = sluice("model", "models/cnn_mnist.yaml", "--platform", "gtx980")
        by_name = {layer["layer"]: layer for layer in found["layers"]}
        got = {f"parameters of {name}": by_name[name]["parameters"] for name in self.LAYERS}
        got.update({f"state of {name}": by_name[name]["state"] for name in [*self.LAYERS, "pool"]})
        got["parameters"] = found["totals"]["parameters"]
        got["parameters in f32"] = found["platform"]["parameter_bytes"]
        got["MACs"] = found["totals"]["macs"]
        for name in ("conv1", "conv2", "pool"):
            height, width = by_name[name]["receptive_field"]
            self.assertEqual(height, width)
            got[f"receptive field of {name}"] = height
        self.assertEqual(got, self.by_hand())


if __name__ == "__main__":
    unittest.main()
