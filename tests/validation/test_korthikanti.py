#!/usr/bin/python3
"""Checks the numbers of the page analysis/validation/korthikanti2022.md twice: with the formulas of the paper, and with
Sluice. Both must give the digits that the page shows. If the folder of published figures is next to the project, the
page is compared with these figures, too."""

import csv
import functools
import pathlib
import shutil
import subprocess
import tempfile
import unittest
from fractions import Fraction

from validation import ENVIRONMENT, PROGRAM, ROOT, Case, rows_of, sluice, text_of

PAGE = "korthikanti2022.md"
MODEL = "models/megatron_rank.yaml"
SCENARIO = "scenarios/megatron_22b.yaml"
PUBLISHED = ROOT.parent / "shared/data/recompute"

TOKENS, VOCABULARY = 2048, 51200
BLOCKS = {"22B": 48, "175B": 96, "530B": 105, "1T": 128}
WIDTH = {"22B": 6144, "175B": 12288, "530B": 20480, "1T": 25600}
HEADS = {"22B": 64, "175B": 96, "530B": 128, "1T": 160}
RANKS, MICRO_BATCH = 8, 4
GIB, MS = 2**30, Fraction(1, 1000)


# --- the paper's formulas, bytes of one sample ------------------------------------------------------


class Formulas:
    def __init__(self, name="22B"):
        self.blocks, self.h, self.a = BLOCKS[name], WIDTH[name], HEADS[name]
        self.sh = TOKENS * self.h
        self.core = 5 * self.a * TOKENS**2  # the term 5as/h, times sh

    def block(self, t=1, sequence=1):
        if sequence == 1:
            return 10 * self.sh + Fraction(24 * self.sh + self.core, t)
        return Fraction(34 * self.sh + self.core, sequence)

    def selective(self, t, sequence=1):
        return self.block(t, sequence) - Fraction(self.core, t)

    def full(self):
        return 2 * self.sh

    def parameters(self, t=1):
        """Returns the parameters of one rank of a tensor-parallel group: of the products, their biases, the norms, and
        two embedding tables. One table is for words, and the logits use it, too. The other table is for positions. Each
        block has two pairs of products. The weights of the products are divided among the ranks. But each rank has the
        whole bias of the second product of each pair."""
        h = self.h
        block = Fraction(12 * h * h + 7 * h, t) + 2 * h + 4 * h
        return self.blocks * block + Fraction(VOCABULARY * h, t) + TOKENS * h + 2 * h

    def model_flop(self):
        """Returns the FLOP of a sample: 72 L s h h (1 + s/(6h) + v/(12hL)). There are L blocks, s tokens, h features
        and v words."""
        return (72 * self.blocks * self.sh * self.h + 12 * self.blocks * TOKENS * self.sh +
                6 * VOCABULARY * self.sh)

    def core_flop(self):
        """Returns the FLOP of the two products of attention in one forward pass: queries times keys, and scores times
        values."""
        return 4 * self.blocks * TOKENS * self.sh

    def utilisation(self, samples, gpus, seconds):
        return Fraction(samples * self.model_flop()) / (gpus * 312 * 10**12 * Fraction(seconds))


def memory_by_hand():
    formulas, t, b = Formulas(), RANKS, MICRO_BATCH
    whole = formulas.block(t)
    core = Fraction(formulas.core, t)
    outside = 5 * formulas.sh  # a mask, the inputs of the last norm and of the logits
    every = b * formulas.blocks

    def gib(a_sample_and_block, beside=0):
        return every * a_sample_and_block + b * beside

    return {
        "activations of the blocks": gib(whole),
        "activations of the blocks, selective, sequence parallel": gib(formulas.selective(t, t)),
        "parameters and optimizer": 18 * formulas.parameters(t),
        "sequence parallel": formulas.block(t, t) / whole,
        "selective": formulas.selective(t) / whole,
        "selective, sequence parallel": formulas.selective(t, t) / whole,
        "full": formulas.full() / whole,
        "peak of activations, all kept": gib(whole, outside),
        "peak of activations, sequence parallel": gib(formulas.block(t, t), Fraction(outside, t)),
        "peak of activations, selective": gib(formulas.selective(t), core + formulas.sh),
        "peak of activations, selective, sequence parallel":
            gib(formulas.selective(t, t), core + Fraction(formulas.sh, t)),
        "peak of activations, full": gib(formulas.full(), whole - formulas.full()),
    }


TIMES = {
    "baseline": Fraction("7.7") + Fraction("11.9"),
    "full recomputation": 2 * Fraction("7.7") + Fraction("11.9"),
    "selective recomputation": Fraction("7.7") + Fraction("11.9") + Fraction("1.3"),
    "selective recomputation, sequence parallel":
        Fraction("7.2") + Fraction("1.3") + Fraction("11.8"),
}


# --- by Sluice --------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=None)
def model(name, t, sequence=1):
    return sluice("model", MODEL, f"blocks={BLOCKS[name]}", f"width={WIDTH[name]}",
                  f"heads={HEADS[name]}", f"tensor_parallel={t}", f"sequence_parallel={sequence}",
                  "--dtype", "float16")


def up_to(name, t, sequence, layer):
    return next(row for row in model(name, t, sequence)["layers"]
                if row["layer"] == layer)["total_kept_bytes"]


def of_block(name, t, sequence=1, first="sum2.1", last="sum2.2"):
    """Returns the bytes that a block keeps. They include the input of the block. `sluice model` counts this input in
    the row of the norm, because the norm is the first layer that reads it."""
    return up_to(name, t, sequence, last) - up_to(name, t, sequence, first)


@functools.lru_cache(maxsize=None)
def metrics(*overrides):
    return sluice("run", SCENARIO, "memory.capacity=unlimited", *overrides)["metrics"]


def run(fates, sequence):
    return metrics(f"fates.strategy={fates}", f"model.sequence_parallel={sequence}")


def activations(fates, sequence):
    classes = run(fates, sequence)["peak_bytes_by_class"]["gpu"]
    return classes["activation"]


MEASURED = """
format: sluice-scenario/1
question: How long does a block take?
model:
  definition:
    format: sluice-model/1
    name: block
    measured_batch: 4
    layers:
      - {{type: input, name: tokens, shape: [2048, 6144]}}
      - {{type: measured, name: first, forward: {first}ms, backward: {half}ms, parameters: 8}}
      - {{type: measured, name: core, forward: 1.3ms, backward: 0ms, parameters: 8}}
      - {{type: measured, name: last, forward: 0ms, backward: {half}ms, parameters: 8}}
      - {{type: measured, name: loss, forward: 0ms, backward: 0ms, parameters: 8}}
platform: {{file: {platform}}}
workload: {{mode: training, dtype: float16, batch: 4, optimizer: none, backward: per_layer}}
stages: {{cut: explicit, after: [first, core, last]}}
policy: {{name: resident}}
fates: {{{fates}}}
cost: {{model: measured}}
"""


def block_seconds(fates, forward="7.7", backward="11.9"):
    """Returns the seconds of a block whose attention core takes 1.3 ms forward. The paper gives only the seconds of the
    backward pass of the whole block. It does not matter how these seconds are divided among the layers. A layer `loss`
    follows the block. Without it, the last layer of the block would be the last stage of the model. The input of the
    last stage is still on the device at its backward pass, so it would not be recomputed."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "block.yaml"
        path.write_text(MEASURED.format(
            first=float(Fraction(forward) - Fraction("1.3")), half=float(Fraction(backward) / 2),
            platform=shutil.copy(ROOT / "platforms/a100_pcie.yaml", folder), fates=fates))
        return sluice("run", str(path))["metrics"]["compute_s"]


class Korthikanti(Case):
    def test_the_tables_have_the_digits_of_the_formulas(self):
        self.check_tables(PAGE, {f"parameters, {name}": Formulas(name).parameters() for name in BLOCKS},
                          "Models")
        formulas = Formulas()
        self.check_tables(PAGE, {
            "sbh(34 + 5as/h), t = 1": formulas.block(),
            "sbh(10 + 24/t + 5as/(ht)), t = 8": formulas.block(8),
            "sbh/t(34 + 5as/h), sequence parallel": formulas.block(8, 8),
            "sbh(10 + 24/t), selective": formulas.selective(8),
            "sbh/t 34, selective, sequence parallel": formulas.selective(8, 8),
            "2sbh, full": formulas.full(),
        }, "Bytes that a block keeps")
        self.check_tables(PAGE, memory_by_hand(), "Figures 1 and 7")
        self.check_tables(PAGE, {
            **{quantity: MS * value for quantity, value in TIMES.items()},
            "full recomputation, overhead": TIMES["full recomputation"] / TIMES["baseline"] - 1,
            "selective recomputation by FLOP":
                Fraction(run("selective", 1)["recompute_overhead"]),
        }, "Table 4")
        self.check_tables(PAGE, {
            "model FLOP utilisation, 22B": formulas.utilisation(4, 8, "1.10"),
            "model FLOP utilisation, 530B": Formulas("530B").utilisation(280, 280, "37.83"),
            "gain in throughput from full recomputation to selective recomputation with sequence parallelism, 22B":
                Fraction(run("checkpoint", 1)["compute_s"] / run("selective", 8)["compute_s"]) - 1,
        }, "Table 5")

    def test_a_block_of_the_model_keeps_the_bytes_of_the_formulas_exactly(self):
        for name in BLOCKS:
            formulas = Formulas(name)
            for t, sequence in ((1, 1), (2, 1), (8, 1), (2, 2), (8, 8)):
                with self.subTest(f"{name}, t = {t}, sequence parallel {sequence}"):
                    self.assertEqual(of_block(name, t, sequence), formulas.block(t, sequence))
                    blocks = of_block(name, t, sequence, "dropout", f"sum2.{BLOCKS[name]}")
                    self.assertEqual(blocks, formulas.blocks * formulas.block(t, sequence))
                    outside = model(name, t, sequence)["totals"]["kept_bytes"] - blocks
                    self.assertEqual(outside, Fraction(5 * formulas.sh, sequence) + 2 * TOKENS)
                    self.assertEqual(model(name, t, sequence)["totals"]["parameters"],
                                     formulas.parameters(t))

    def test_the_peak_of_a_plan_is_that_of_the_formulas_exactly(self):
        hand = memory_by_hand()
        found = {"peak of activations, all kept": activations("keep_all", 1),
                 "peak of activations, sequence parallel": activations("keep_all", 8),
                 "peak of activations, selective": activations("selective", 1),
                 "peak of activations, selective, sequence parallel": activations("selective", 8),
                 "peak of activations, full": activations("checkpoint", 1)}
        for quantity, value in found.items():
            self.assertEqual(value, hand[quantity], quantity)

    def test_weights_gradients_and_state_are_18_bytes_per_parameter(self):
        formulas = Formulas()
        products = Fraction(12 * formulas.h**2 * formulas.blocks, RANKS)
        self.assertEqual(18 * products, Fraction("45.5625") * GIB)
        self.assertIn(f"take {float(16 * products / GIB)} GiB", text_of(PAGE))
        classes = run("selective", 8)["peak_bytes_by_class"]["gpu"]
        # The stage of the logits and the first stage share the embedding table, so the rank holds this table only once.
        parameters = formulas.parameters(RANKS)
        self.assertEqual(classes["weight"], 2 * parameters)
        self.assertEqual(classes["optimizer"], 12 * parameters)

    def test_the_page_says_which_strategies_fit_on_a_card_of_80_gb(self):
        for fates, sequence, code in (("selective", 8, 0), ("checkpoint", 1, 0), ("checkpoint", 8, 0),
                                      ("keep_all", 1, 4), ("keep_all", 8, 4)):
            done = subprocess.run([PROGRAM, "run", SCENARIO, f"fates.strategy={fates}",
                                   f"model.sequence_parallel={sequence}"], capture_output=True, text=True,
                                  cwd=ROOT, env=ENVIRONMENT, timeout=300)
            self.assertEqual(done.returncode, code, (fates, sequence, done.stderr))

    def test_measured_layers_take_the_seconds_of_table_4(self):
        found = {
            "baseline": block_seconds("strategy: keep_all"),
            "full recomputation": block_seconds("strategy: recompute_all"),
            "selective recomputation": block_seconds("strategy: listed, recompute: [2]"),
            "selective recomputation, sequence parallel":
                block_seconds("strategy: listed, recompute: [2]", "7.2", "11.8"),
        }
        self.all_close(found, {quantity: MS * value for quantity, value in TIMES.items()})

    def test_the_models_flop_equal_those_of_section_6(self):
        for name in BLOCKS:
            self.assertEqual(6 * model(name, 1)["totals"]["macs"], Formulas(name).model_flop())
            self.assertEqual(6 * RANKS * model(name, 8)["totals"]["macs"], Formulas(name).model_flop())

    def test_the_numbers_of_the_text_below_the_tables(self):
        text = " ".join(text_of(PAGE).split())
        self.assertIn(f"the rank computes for {run('selective', 8)['compute_s']:.3f} s", text)
        for name, hardware, of_model, once, thrice in (("22B", "43.7", "41.5", 1.73, 5.19),
                                                       ("530B", "57.0", "56.0", 0.55, 1.64)):
            formulas = Formulas(name)
            extra = Fraction(formulas.core_flop(), formulas.model_flop())
            self.assertEqual((f"{float(100 * extra):.2f}", f"{float(300 * extra):.2f}"),
                             (f"{once:.2f}", f"{thrice:.2f}"))
            half = Fraction("0.05")
            least = (Fraction(hardware) - half) / (Fraction(of_model) + half) - 1
            most = (Fraction(hardware) + half) / (Fraction(of_model) - half) - 1
            self.assertTrue(least <= 3 * extra <= most)
            self.assertFalse(least <= extra <= most)


@unittest.skipUnless(PUBLISHED.is_dir(), f"the published figures are not there: {PUBLISHED}")
class Published(Case):
    def table(self, name, *keys):
        with open(PUBLISHED / f"korthikanti2022_{name}.csv", newline="") as file:
            return {tuple(row[key] for key in keys): row for row in csv.DictReader(file)}

    def documents(self, quantity):
        return Fraction(rows_of(PAGE)[quantity][0].split()[0])

    def test_the_configurations_are_those_of_table_3(self):
        for (name,), row in self.table("configs", "model").items():
            self.assertEqual([BLOCKS[name], WIDTH[name], HEADS[name], TOKENS, VOCABULARY, RANKS],
                             [int(row[key]) for key in ("layers", "hidden", "heads", "seq", "vocab",
                                                        "tensor_par")])
        self.assertEqual(int(self.table("configs", "model")[("22B",)]["microbatch"]), MICRO_BATCH)

    def test_the_page_quotes_the_published_memory_and_it_agrees_within_a_point(self):
        rows = self.table("memory", "quantity", "mode")
        for mode, quantity in (("seq", "sequence parallel"), ("sel", "selective"),
                               ("seqsel", "selective, sequence parallel"), ("full", "full")):
            value = Fraction(rows[("activation_relative", mode)]["value"])
            self.assertEqual(self.documents(quantity), value)
            self.assertLess(abs(value - 100 * memory_by_hand()[quantity]), 1)
        for key, quantity in ((("params_plus_optimizer", "none"), "parameters and optimizer"),
                              (("activations", "none"), "activations of the blocks"),
                              (("activations", "seqsel"),
                               "activations of the blocks, selective, sequence parallel")):
            self.assertEqual(self.documents(quantity), Fraction(rows[key]["value"]))

    def test_the_page_quotes_the_published_seconds(self):
        rows = self.table("layer_time_22B", "experiment")
        for experiment, quantity in (("baseline_no_recompute", "baseline"),
                                     ("full_recompute", "full recomputation"),
                                     ("selective_recompute", "selective recomputation"),
                                     ("selective_plus_sequence",
                                      "selective recomputation, sequence parallel")):
            self.assertEqual(self.documents(quantity), Fraction(rows[(experiment,)]["combined_ms"]))
        iteration = self.table("iteration_time", "model")
        for name in ("22B", "530B"):
            self.assertEqual(self.documents(f"model FLOP utilisation, {name}"),
                             Fraction(iteration[(name,)]["MFU_pct_selective"]))
        self.assertEqual(self.documents("gain in throughput from full recomputation to selective recomputation with "
                                        "sequence parallelism, 22B"),
                         Fraction(iteration[("22B",)]["throughput_increase_pct"]))


if __name__ == "__main__":
    unittest.main()
