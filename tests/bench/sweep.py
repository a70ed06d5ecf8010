"""Compares the time of a point of a sweep with the time of a reference program, and prints a table of ratios.

The reference program sgc simulates about as many actions as a point has, in a forked process. A ratio is the time of
the point, divided by the time of the reference program.

    ./dev build && /usr/bin/python3 tests/bench/sweep.py [--runs N] [--reference DIR] [--json]

sweep.yaml and sweep_resident.yaml in this folder have plans of about 2,000 actions, and leave no choice open. The swept
key is the bandwidth. In sweep.yaml, the positions of the loads in the plan's listing depend on the bandwidth. In
sweep_resident.yaml, only seconds depend on it. In each round, every program runs once. The script measures user and
system seconds, in which other work of the machine does not count. The aim is at most 0.25 of the time of
`sgc 8 64 1f1b S` with FORKS=1000. No time is ever asserted.
"""

import argparse
import json
import os
import pathlib
import resource
import statistics
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
AIMED = 0.25


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--runs", type=int, default=3, help="number of rounds; the median of their ratios is compared "
                                                            "with the aim")
    parser.add_argument("--points", type=int, default=1000)
    parser.add_argument("--reference", type=pathlib.Path, default=ROOT.parent / "shared" / "bench",
                        help="the folder of sgc.cpp")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    return parser.parse_args()


def cpu_seconds(command, **environment):
    """Returns the processor's seconds of a process and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, env={**os.environ, **environment})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    asked = arguments()
    program = asked.build / "sluice"
    def of(name):
        return [program, "sweep", ROOT / "tests/bench" / name,
                f"platform.links.host.bandwidth=8GB/s..64GB/s:{asked.points}", "--jobs", "1"]

    sweep = of("sweep.yaml")
    with tempfile.TemporaryDirectory() as folder:
        kinds = {"sweep, --verify 0": lambda: cpu_seconds([*sweep, "--verify", "0"]),
                 "resident, --verify 0": lambda: cpu_seconds(
                     [*of("sweep_resident.yaml"), "--verify", "0"]),
                 "sweep with a store": lambda: cpu_seconds(
                     [*sweep, "--verify", "0", "--store", tempfile.mktemp(dir=folder)]),
                 "sweep, --verify 10%": lambda: cpu_seconds([*sweep, "--verify", "10%"])}
        reference = asked.reference / "sgc.cpp"
        if reference.exists():
            sgc = pathlib.Path(folder) / "sgc"
            flags = subprocess.run(["pkg-config", "--cflags", "--libs", "hdf5-serial", "simgrid"],
                                   check=True, capture_output=True, text=True).stdout.split()
            subprocess.run(["g++", "-O2", "-std=c++20", "-w", reference, *flags, "-lhdf5_serial", "-o",
                            sgc], check=True)
            kinds["sgc 8 64 1f1b S"] = lambda: cpu_seconds([sgc, "8", "64", "1f1b", "S"],
                                                           FORKS=str(asked.points))
        else:
            print(f"skipped: there is no {reference}, so the table has no ratios to sgc")
        rounds = [{name: measure() for name, measure in kinds.items()} for _ in range(asked.runs)]
    if asked.json:
        print(json.dumps(rounds, indent=1))
        return
    print(f"{'':24}{'ms a point':>12}{'ratio to sgc':>14}   aimed at {AIMED}")
    for name in kinds:
        per_point = statistics.median(one[name] for one in rounds) / asked.points * 1e3
        ratio = (statistics.median(one[name] / one["sgc 8 64 1f1b S"] for one in rounds)
                 if "sgc 8 64 1f1b S" in kinds else float("nan"))
        print(f"{name:24}{per_point:12.3f}{ratio:14.2f}")


if __name__ == "__main__":
    main()
