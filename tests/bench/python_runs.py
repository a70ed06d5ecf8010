#!/usr/bin/python3
"""Compares the time of a small run from Python with the time of a program that forks a child for each run.

    ./dev python tests/bench/python_runs.py [--rounds 9] [--reference FOLDER]

A run plans a scenario of 112 spans, executes it in the helper process, computes its metrics, and hands its columns to
Python. The reference program sgc has the argument S, for actors that sleep (see README.md). It simulates a pipeline of
4 stages and 8 micro-batches in a forked child. This pipeline has 112 activities. Look at the ratio and not at the
milliseconds, because the milliseconds depend on the machine and the day. No time is asserted.
"""

import argparse
import os
import pathlib
import statistics
import sys
import time

import sluice

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import run as bench  # noqa: E402

SPANS = 112


def milliseconds(action, times):
    """Calls `action` several times, and returns the milliseconds of each call."""
    taken = []
    for _ in range(times):
        begin = time.perf_counter()
        action()
        taken.append(1e3 * (time.perf_counter() - begin))
    return taken


def reference(program, times):
    """Returns the milliseconds per run of the reference program sgc with the argument S. Each run is in its own forked
    child."""
    answer = bench.call([program, "4", "8", "1f1b", "S"], {**os.environ, "FORKS": str(times)})
    return 1e3 * answer["run_s"] / times


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--times", type=int, default=100, help="number of runs per round")
    parser.add_argument("--reference", type=pathlib.Path,
                        default=bench.ROOT.parent / "shared" / "bench")
    options = parser.parse_args()
    programs = bench.compile_references(options.reference, bench.ROOT / "build/release")
    scenario = sluice.load("phased_ipu_pair", {"workload.batches_per_step": 7, "workload.steps": 2})
    plan = scenario.plan()
    if len(scenario.run().spans) != SPANS:
        raise SystemExit("bench: the scenario has changed")
    whole, planned, ratios = [], [], []
    for _ in range(options.rounds):
        mine = milliseconds(scenario.run, options.times)
        whole += mine
        planned += milliseconds(plan.run, options.times)
        if "sgc" in programs:
            ratios.append(statistics.median(mine) / reference(programs["sgc"], options.times))
    print(f"scenario.run(), {SPANS} spans: median {statistics.median(whole):.2f} ms, "
          f"tenth {statistics.quantiles(whole, n=10)[0]:.2f}, "
          f"nine tenths {statistics.quantiles(whole, n=10)[-1]:.2f}")
    print(f"plan.run(), the same plan: median {statistics.median(planned):.2f} ms")
    if ratios:
        print(f"scenario.run() / sgc S with FORKS: median {statistics.median(ratios):.2f}, "
              f"{min(ratios):.2f} to {max(ratios):.2f}")


if __name__ == "__main__":
    main()
