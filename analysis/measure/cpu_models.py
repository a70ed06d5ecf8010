#!/usr/bin/python3
"""Measures models of torchvision and their operators, and simulates each model with the times of its operators.

The script measures the models one after the other, on one thread:

    python3 analysis/measure/cpu_models.py FOLDER
    python3 analysis/measure/cpu_models.py FOLDER --report

The models have random weights. The script writes a profile for each model to FOLDER. If a profile is already there, its
model is not measured again. The script prints a table, with three kinds of numbers for each model. The first is the
measured time of the whole model. The second is the sum of the operators' measured times, as a share of the first. The
third is the time that Sluice simulates with the cost model `measured`.

Times are CPU times of the thread. So the time of other programs on the same core is not counted. But other programs
also use the caches and the memory, and this slows the thread down. With --allocator keep, the C library keeps freed
memory while operators and whole models are measured. With --allocator return, it may return freed memory to the
system, as it does by default. Then a whole model requests its memory from the system in each run, but an operator that
runs in a loop does not.

With --device cuda, the script measures on a GPU. A time is then the wall-clock time until the GPU has finished its
work. The joules come from NVML or nvidia-smi.
"""

import argparse
import csv
import json
import os
import statistics
import sys
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # these variables must be set before torch is imported

MODELS = ["alexnet", "resnet18", "mobilenet_v2", "densenet121", "squeezenet1_1"]
STATISTICS = {"median": statistics.median, "least": min}


def rows_of(path, cache):
    with open(path, newline="") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    return [row for row in rows if row["cache"] == cache and row["processed"] == "yes"]


def samples_of(row):
    return [float(one) for one in row["seconds_samples"].split(";")]


def simulated(document, path, cache, statistic, batch):
    """Returns the metrics compute_s and measured_share of a simulated run of one batch. The run has all layers of the
    model. Each layer takes the time of its row in the profile at `path`."""
    import sluice

    machine = {"format": "sluice-platform/1", "name": "this_cpu",
               "devices": {"cpu": {"rate": {"float32": "1TFLOP/s"}, "memory": {"capacity": "1TB"}}},
               "memories": {"host": {"capacity": "unlimited"}},
               "links": {"host": {"joins": ["host", "cpu"], "bandwidth": "1000TB/s"}}}  # copies take almost no time
    scenario = sluice.Scenario.from_dict({
        "format": "sluice-scenario/1", "model": document, "platform": machine, "policy": "resident", "stages": "whole",
        "workload": {"mode": "inference", "batch": batch}, "cost": {"model": "measured"}})
    run = scenario.with_({"cost.profile": str(path.absolute()), "cost.where": {"cache": cache},
                          "cost.statistic": statistic}).run()
    return run.metrics.compute_s, run.metrics.measured_share


def report(name, path, cache, batch):
    """Returns a dict with the numbers for the row of one model in the printed table. The key `median` has a dict with
    the numbers that come from medians, and the key `least` a dict with those that come from least times."""
    rows = rows_of(path, cache)
    leaves = [row for row in rows if row["level"] in ("", "leaf")]
    whole = samples_of(next(row for row in rows if row["level"] == "whole"))
    document = json.loads((path.parent / f"{name}.json").read_text())
    found = {"model": name, "cache": cache, "operators": len(leaves), "samples": len(whole)}
    for statistic, of in STATISTICS.items():
        attributed = sum(int(row["occurrences"] or 1) * of(samples_of(row)) for row in leaves)
        seconds, share = simulated(document, path, cache, statistic, batch)
        found[statistic] = {"whole": of(whole), "attributed": attributed, "simulated": seconds, "measured_share": share,
                            "error": seconds / of(whole) - 1}
    tenths = statistics.quantiles(whole, n=10)
    found["middle"] = [tenths[0], tenths[-1]]
    return found


def line_of(found):
    cells = [found["model"], found["cache"], str(found["operators"])]
    for statistic in STATISTICS:
        one = found[statistic]
        cells += [f"{1e3 * one['whole']:.1f}"]
        if statistic == "median":
            cells += [f"{1e3 * found['middle'][0]:.1f} to {1e3 * found['middle'][1]:.1f}"]
        cells += [f"{100 * one['attributed'] / one['whole']:.1f} %", f"{1e3 * one['simulated']:.1f}",
                  f"{100 * one['error']:+.1f} %"]
    return "| " + " | ".join(cells) + " |"


HEADING = ("| model | inputs | operators | whole, ms | middle 80 % of whole, ms | attributed | simulated, ms | error "
           "| least whole, ms | attributed | simulated, ms | error |\n" + "|---" * 12 + "|")


def way_of_measuring(given):
    """Returns the arguments of profile_torch that depend on the device."""
    if given.device == "cuda":
        return {"meter": "auto", "clock": time.perf_counter}
    return {"meter": None, "clock": time.thread_time, "keep_memory": given.allocator == "keep"}


def measure(given, torch, torchvision):
    import sluice

    for name in given.models:
        network = getattr(torchvision.models, name)(weights=None).eval().to(given.device)
        inputs = torch.randn(given.batch, 3, 224, 224, device=given.device)
        (given.folder / f"{name}.json").write_text(json.dumps(sluice.from_torch(network, inputs, name).document))
        begin = time.time()
        sluice.profile_torch(network, inputs, given.folder / f"{name}.csv", name=name, caches=given.caches,
                             budget_s=given.budget, rounds=given.rounds, cache_bytes=given.cache_bytes,
                             **way_of_measuring(given))
        print(f"{name}: {time.time() - begin:.0f} s", file=sys.stderr, flush=True)


def print_report(given):
    print(HEADING)
    errors = {(cache, statistic): [] for cache in given.caches for statistic in STATISTICS}
    for name in given.models:
        for cache in given.caches:
            if cache != "chained":  # the output of a whole model does not have the shape of its input
                found = report(name, given.folder / f"{name}.csv", cache, given.batch)
                print(line_of(found), flush=True)
                for statistic in STATISTICS:
                    errors[cache, statistic].append(abs(found[statistic]["error"]))
    for (cache, statistic), all_of in errors.items():
        if all_of:
            print(f"{cache}, {statistic}: the median error of the models is {100 * statistics.median(all_of):.1f} %, "
                  f"the largest error {100 * max(all_of):.1f} %")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="the folder in which the profiles are")
    parser.add_argument("--models", nargs="+", default=MODELS,
                        help=f"models of torchvision (default: {' '.join(MODELS)})")
    parser.add_argument("--caches", nargs="+", default=["hot", "cold"],
                        help="states of the caches: hot, cold, chained (default: hot cold)")
    parser.add_argument("--batch", type=int, default=4, help="images per batch (default: 4)")
    parser.add_argument("--budget", type=float, default=0.1, help="seconds for the samples of each row (default: 0.1)")
    parser.add_argument("--rounds", type=int, default=2, help="how often all rows are measured, one after the other "
                                                              "(default: 2)")
    parser.add_argument("--cache-bytes", type=int, default=2**26,
                        help="bytes that cold inputs exceed (default: 64 MiB)")
    parser.add_argument("--allocator", choices=["keep", "return"], default="keep",
                        help="whether the C library keeps freed memory or returns it to the system (default: keep)")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu",
                        help="the device that computes (default: cpu)")
    parser.add_argument("--report", action="store_true", help="only print the tables of the profiles in FOLDER")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    if not given.report:
        try:
            import torch
            import torchvision
        except ImportError:
            sys.exit("torch and torchvision are not installed: apt-get install python3-torch python3-torchvision")
        if given.device == "cuda" and not torch.cuda.is_available():
            sys.exit("there is no GPU, so nothing was measured")
        torch.set_num_threads(1)
        torch.manual_seed(0)
        measure(given, torch, torchvision)
    print_report(given)


if __name__ == "__main__":
    main()
