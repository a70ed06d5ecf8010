#!/usr/bin/python3
"""Predicts iteration times of Megatron-LM from measured products, four fitted coefficients, and arithmetic. The script
prints the tables of iteration_times.md. The script reads ../shared/data/recompute, and needs NumPy and PyYAML."""

import csv
import functools
import math
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from fit_form import Form  # noqa: E402

DATA = pathlib.Path(__file__).resolve().parents[3] / "shared/data/recompute"
TOKENS, WORDS = 2048, 51200
PARTS = ("products", "attention", "streams", "exchanges")
NODE = 8  # ranks that NVLink joins


@functools.lru_cache(None)
def product(rows, columns, depth):
    return _form().product(1, rows, columns, depth, 2)


@functools.lru_cache(None)
def _form():
    return Form("a100_80gb_sxm4", "linear", "bfloat16")


def both_gradients(rows, columns, depth):
    return product(rows, depth, columns) + product(depth, columns, rows)


def layer(width, micro_batch, ranks, sequence_parallel):
    """Returns four numbers for the forward pass of one layer on one rank, and four numbers for its backward pass. The
    numbers are seconds of the products, FLOP of the attention's two products, bytes of streams, and bytes sent by a
    rank. There are two all-reduces per pass. In each, a rank sends 2 (ranks - 1) / ranks times the bytes of the layer's
    output."""
    rows = TOKENS * micro_batch
    shapes = [(rows, 3 * width // ranks, width), (rows, width, width // ranks),
              (rows, 4 * width // ranks, width), (rows, width, 4 * width // ranks)]
    attention = 4 * micro_batch * TOKENS**2 * width / ranks
    # `outside` is the bytes of a tensor that the ranks split only with sequence parallelism. The forward pass reads and
    # writes 15 times these bytes: two norms (read, write), two dropouts (read, write, and a mask of half the size) and
    # two sums (two reads, one write). `within` is the bytes of a tensor that the ranks always split. The forward pass
    # reads and writes 14 times these bytes: queries, keys, values, and the activation of the feed-forward layer. This
    # activation is 4 times as wide as the layer's input.
    outside = rows * width * 2 / (ranks if sequence_parallel else 1)
    within = rows * width * 2 / ranks
    sent = 2 * 2 * (ranks - 1) / ranks * rows * width * 2
    forward = np.array([sum(product(*s) for s in shapes), attention, outside * 15 + within * 14, sent])
    backward = np.array([sum(both_gradients(*s) for s in shapes), 2 * attention,
                         outside * 17 + within * 18, sent])
    return forward, backward


def iteration(layers, width, ranks, stages, chunks, batch, micro_batch, replicas, recompute):
    """Returns four numbers for a whole iteration on one rank. layer() explains these numbers, and returns them for the
    passes of one layer. `recompute` is "full" or "selective". With "selective", only the core of the attention is
    recomputed, and there is sequence parallelism. In the bubble, a stage of the
    pipeline is idle for as long as (stages - 1) / chunks micro-batches take. `chunks` is the number of separate parts
    of the model that each stage holds."""
    forward, backward = layer(width, micro_batch, ranks, recompute == "selective")
    again = forward if recompute == "full" else forward * [0, 1, 0, 0]
    micro_batches = batch // (replicas * micro_batch)
    parts = (forward + backward + again) * layers / stages * (micro_batches + (stages - 1) / chunks)
    rows = TOKENS * micro_batch
    logits = (rows, WORDS // ranks, width)
    parts[0] += micro_batches * (product(*logits) + both_gradients(*logits))
    parts[2] += micro_batches * rows * WORDS / ranks * 2 * 6  # the loss has a softmax forward and backward
    return parts


def korthikanti():
    """Yields the 22B and the 530B rows: name, numbers of the four parts, and measured seconds."""
    with open(DATA / "korthikanti2022_configs.csv", newline="") as file:
        configs = {row["model"]: row for row in csv.DictReader(file)}
    with open(DATA / "korthikanti2022_iteration_time.csv", newline="") as file:
        for row in csv.DictReader(file):
            c = {key: int(configs[row["model"]][key]) for key in (
                "layers", "hidden", "tensor_par", "pipeline_par", "interleave_m", "global_batch", "microbatch")}
            for recompute, column in (("full", "full_recompute_s"), ("selective", "seqpar_plus_selective_s")):
                parts = iteration(c["layers"], c["hidden"], c["tensor_par"], c["pipeline_par"], c["interleave_m"],
                                  c["global_batch"], c["microbatch"], 1, recompute)
                yield f"Korthikanti {row['model']}, {recompute}", parts, float(row[column])


def vtrain():
    """Yields those rows of vTrain's 3.6B model in which the ranks that share a layer are all on one node."""
    with open(DATA / "vtrain_a100_iteration_times.csv", newline="") as file:
        for row in csv.DictReader(file):
            billions, *numbers, milliseconds = row.values()
            _, batch, micro_batch, width, _, layers, _, ranks, replicas, stages = map(int, numbers)
            if billions == "3.6" and ranks <= NODE:
                name = f"vTrain 3.6B, t {ranks}, d {replicas}, p {stages}, micro-batch {micro_batch}"
                yield name, iteration(layers, width, ranks, stages, 1, batch, micro_batch, replicas,
                                      "full"), float(milliseconds) / 1e3


def sc21():
    """Yields the rows SC21. Their seconds are the FLOP of an iteration, divided by the FLOP/s that the paper measured
    on all GPUs together. The formula for the FLOP is also from the paper (Narayanan et al.). It counts the forward pass
    of each layer twice, because the layers are recomputed."""
    with open(DATA / "megatron_sc21_table1.csv", newline="") as file:
        for row in csv.DictReader(file):
            width, layers, ranks, stages, gpus, batch, micro_batch = (int(row[key]) for key in (
                "hidden", "layers", "tensor_par", "pipeline_par", "gpus", "global_batch", "microbatch"))
            flop = 96 * batch * layers * TOKENS * width**2 * (
                1 + TOKENS / (6 * width) + WORDS / (16 * layers * width))
            seconds = flop / (gpus * float(row["achieved_TFLOPs_per_gpu"]) * 1e12)
            yield f"SC21 {row['model']}", iteration(layers, width, ranks, stages, 1, batch, micro_batch,
                                                    gpus // (ranks * stages), "full"), seconds


def fitted(rows):
    """A predicted time is the sum of the four PARTS of an iteration, each multiplied by a coefficient. Returns these
    coefficients, which are never negative, by relative least squares. In 30 rounds, rows are weighted with
    1 / sqrt(error). A part with a negative coefficient is left out (active set)."""
    parts = np.array([p for _, p, _ in rows])
    scale = parts.max(axis=0)  # the columns are scaled, because FLOP and bytes are up to 1e13 times as large as seconds
    parts = parts / scale
    seconds = np.array([s for *_, s in rows])
    weights, kept = 1 / seconds, list(range(len(PARTS)))
    coefficients = np.zeros(len(PARTS))
    for _ in range(30):
        while True:
            solved = np.linalg.lstsq(parts[:, kept] * weights[:, None], seconds * weights, rcond=None)[0]
            if (solved >= 0).all():
                break
            kept.pop(int(np.argmin(solved)))
        coefficients[:] = 0
        coefficients[kept] = solved
        errors = np.abs(parts @ coefficients / seconds - 1)
        weights = 1 / seconds / np.sqrt(np.maximum(errors, 0.02))
    return coefficients / scale


def results():
    """Returns the coefficients, the rows of the fit, and the other rows. A row has a name, the measured seconds and the
    predicted seconds."""
    first = list(korthikanti())
    seen = [row for row in first if " 22B" in row[0]] + list(vtrain())
    unseen = [row for row in first if " 22B" not in row[0]] + list(sc21())
    coefficients = fitted(seen)
    return coefficients, *([(name, seconds, float(parts @ coefficients)) for name, parts, seconds in rows]
                           for rows in (seen, unseen))


def table(rows):
    lines = ["| iteration | measured, s | predicted, s | ratio |", "|---|---|---|---|"]
    return lines + [f"| {name} | {measured:.2f} | {predicted:.2f} | {predicted / measured:.2f} |"
                    for name, measured, predicted in rows]


def page():
    coefficients, seen, unseen = results()
    products, attention, streams, exchanges = coefficients
    fit = [f"| products: factor on the seconds of the fit | {products:.2f} |",
           f"| core of the attention | {1e-12 / attention:.0f} TFLOP/s |",
           f"| streams | {1e-12 / streams:.1f} TB/s |",
           f"| exchanges | {1e-9 / exchanges:.0f} GB/s |"]
    return ["| coefficient | value |", "|---|---|", *fit, "", *table(unseen), "", *table(seen)]


if __name__ == "__main__":
    print("\n".join(page()))
