#!/usr/bin/python3
"""Measures the operators of torchvision's models and the whole models, in one run, on one thread.

    python3 analysis/measure/cpu_models.py FOLDER

Writes a profile for each model (random weights) to FOLDER and prints how much of the measured whole its
leaf modules make up. What is in FOLDER already is not measured again.
"""

import argparse
import csv
import statistics
import sys
from pathlib import Path

MODELS = ["alexnet", "resnet18", "mobilenet_v2", "densenet121", "vit_b_16"]


def rows_of(path, cache):
    with open(path, newline="") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    return [row for row in rows if row["cache"] == cache and row["processed"] == "yes"]


def samples_of(row):
    return [float(one) for one in row["seconds_samples"].split(";")]


def report(name, path, cache):
    """A line of the table: times of all calls, ms."""
    rows = rows_of(path, cache)
    leaves = sum(int(row["occurrences"]) * statistics.median(samples_of(row))
                 for row in rows if row["level"] == "leaf")
    whole = samples_of(next(row for row in rows if row["level"] == "whole"))
    middle = statistics.median(whole)
    tenths = statistics.quantiles(whole, n=10)
    count = sum(row["level"] == "leaf" for row in rows)
    print(f"| {name} | {cache} | {count} | {1e3 * leaves:.2f} | {1e3 * middle:.2f} | "
          f"{1e3 * tenths[0]:.2f} to {1e3 * tenths[-1]:.2f} | {100 * leaves / middle:.1f} % |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="where the profiles go")
    parser.add_argument("--models", nargs="+", default=MODELS, help=f"of torchvision ({' '.join(MODELS)})")
    parser.add_argument("--caches", nargs="+", default=["hot"], help="hot, cold, chained (hot)")
    parser.add_argument("--batch", type=int, default=4, help="images at once (4)")
    parser.add_argument("--budget", type=float, default=0.3, help="seconds of each row's samples (0.3)")
    parser.add_argument("--rounds", type=int, default=3, help="times over all rows (3)")
    given = parser.parse_args()
    try:
        import torch
        import torchvision
    except ImportError:
        sys.exit("torch and torchvision are not here: apt-get install python3-torch python3-torchvision")
    import sluice

    torch.set_num_threads(1)
    torch.manual_seed(0)
    given.folder.mkdir(parents=True, exist_ok=True)
    print("| model | inputs | operators | leaves, ms | whole, ms | its middle 80 %, ms | share |\n"
          "|---|---|---|---|---|---|---|", flush=True)
    for name in given.models:
        network = getattr(torchvision.models, name)(weights=None).eval()
        path = given.folder / f"{name}.csv"
        sluice.profile_torch(network, torch.randn(given.batch, 3, 224, 224), path, name=name,
                             caches=given.caches, budget_s=given.budget, rounds=given.rounds)
        for cache in given.caches:
            if cache != "chained":  # of which there is no whole
                report(name, path, cache)


if __name__ == "__main__":
    main()
