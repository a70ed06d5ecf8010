#!/usr/bin/python3
"""Compares a sweep of 1000 points in Python with a loop that changes the scenario and runs it.

    ./dev python tests/bench/python_sweep.py [--rounds 3] [--points 1000]

The points are bandwidths of the link of alexnet_resident. The loop calls `scenario.with_({key: value}).run()` for each
bandwidth, and the sweep is `scenario.sweep({key: values}, verify=0)`. Each round runs the
loop first and the sweep second. The times are seconds of the processor, and count the helper processes, too. Other work
of the machine does not count. A sweep should take at most a fifth of the loop's time. No time is ever asserted. The
makespans of the loop and of the sweep must agree: their relative difference may be at most 1e-9. They may differ a
little, because SimGrid executes a run and the replay executes a sweep.
"""

import argparse
import math
import os
import pathlib
import statistics
import time

import sluice

KEY = "platform.links.host.bandwidth"
TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds():
    """Returns the processor's seconds of this process and of all its descendants, including descendants that have
    ended."""
    parents, ticks = {}, {}
    for entry in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        parents[int(entry.parent.name)] = int(fields[1])
        ticks[int(entry.parent.name)] = sum(int(field) for field in fields[11:15])

    def is_ours(process):
        while process > 1 and process != os.getpid():
            process = parents.get(process, 0)
        return process == os.getpid()

    return sum(ticks[process] for process in ticks if is_ours(process)) / TICKS


def measured(action):
    """Calls `action`. Returns its result, the seconds of CPU time that it took, and the seconds that passed."""
    cpu, clock = cpu_seconds(), time.perf_counter()
    result = action()
    return result, cpu_seconds() - cpu, time.perf_counter() - clock


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--points", type=int, default=1000)
    parser.add_argument("--verify", type=float, default=0, help="the share of the points that SimGrid verifies")
    options = parser.parse_args()
    scenario = sluice.load("alexnet_resident")
    step = 56 / (options.points - 1)
    values = [f"{8 + step * i:.6f}GB/s" for i in range(options.points)]
    ratios = []
    for _ in range(options.rounds):
        runs, loop_cpu, loop_s = measured(
            lambda: [scenario.with_({KEY: value}).run().metrics["makespan_s"] for value in values])
        study, sweep_cpu, sweep_s = measured(lambda: scenario.sweep({KEY: values}, verify=options.verify))
        makespans = list(study.frame["makespan_s"])
        if not all(math.isclose(a, b, rel_tol=1e-9) for a, b in zip(makespans, runs, strict=True)):
            raise SystemExit("bench: the sweep and the loop differ")
        ratios.append(sweep_cpu / loop_cpu)
        print(f"loop {loop_cpu:.2f} s of the processor, {loop_s:.2f} s by the clock; "
              f"sweep {sweep_cpu:.2f} s, {sweep_s:.2f} s; ratio {ratios[-1]:.3f}, {sweep_s / loop_s:.3f}")
    print(f"the sweep takes {statistics.median(ratios):.3f} of the loop; the aim is at most 0.2")


if __name__ == "__main__":
    main()
