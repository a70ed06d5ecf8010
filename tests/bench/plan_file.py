"""Compares the time of a run of a large plan file with the time of a reference program, and prints a table of ratios.

The reference program (sg A) runs the same pipeline on SimGrid. A ratio is the time of the run, divided by the time of
the reference program.

    ./dev build && /usr/bin/python3 tests/bench/plan_file.py [--runs N] [--stages P] [--micro-batches M] [--reference DIR]

The plan is the pipeline of bench_engine. Each micro-batch has actions of its own. With 64 stages and 1024
micro-batches, the plan has 260,096 actions and 20 MB of text. In each round, every program runs once. The script
measures user and system seconds, in which other work of the machine does not count. The aim is a ratio of 0.35 without
a trace and of 1.0 with a trace. No time is ever asserted, but the makespans must be equal.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--runs", type=int, default=5, help="number of rounds; the median of their ratios is compared "
                                                            "with the aim")
    parser.add_argument("--stages", type=int, default=64)
    parser.add_argument("--micro-batches", type=int, default=1024)
    parser.add_argument("--reference", type=pathlib.Path, default=ROOT.parent / "shared" / "bench",
                        help="the folder of sg.cpp")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    return parser.parse_args()


def microseconds(stage, micro_batch, backward):
    """Returns how long a pass takes, like compute_seconds in workload.cpp, but in microseconds."""
    mixed = ((stage * 131 + micro_batch * 31 + backward * 17) * 2654435761 & 0xFFFFFFFF) >> 16
    return (2000 if backward else 1000) + mixed % 101


def order(stages, micro_batches, stage):
    """Returns the passes of a stage in the order of 1F1B, in which forward and backward passes alternate. A pass is a
    pair: 0 for forward or 1 for backward, and the micro-batch."""
    warm_up = min(stages - 1 - stage, micro_batches)
    steps = [(0, m) for m in range(warm_up)]
    for m in range(warm_up, micro_batches):
        steps += [(0, m), (1, m - warm_up)]
    return steps + [(1, m) for m in range(micro_batches - warm_up, micro_batches)]


def pipeline(stages, micro_batches):
    """Returns the plan's text."""
    lines = ["format: sluice-plan/2", 'name "pipeline 1F1B"', "iterations 0", "steps_per_iteration 1"]
    links = [f"{way}{s}" for s in range(stages - 1) for way in ("forth", "back")]
    lines += [f"link {link} bandwidth=25000000000B/s" for link in links]
    lines += [f"route {link} links={link} latency=10us" for link in links]
    lines += [f"stream device{s} kind=compute device=device{s}" for s in range(stages)]
    lines += [f"stream {link} kind=copy device={link}" for link in links]
    lines += ["tensor boundary class=activation bytes=16000000", "prologue:"]
    for s in range(stages):
        for backward, m in order(stages, micro_batches, s):
            letter, step = ("B", -1) if backward else ("F", 1)
            waits = f" waits={s - step}SEND_{letter}{m}" if 0 <= s - step < stages else ""
            lines.append(f"{s}{letter}{m} on=device{s} seconds={microseconds(s, m, backward) * 1e-6!r}{waits}")
            if 0 <= s + step < stages:
                link = f"{'back' if backward else 'forth'}{min(s, s + step)}"
                lines.append(f"{s}SEND_{letter}{m} on={link} kind=send stage={s} micro_batch={m} "
                             f"moves=boundary route={link} waits={s}{letter}{m}")
    return "\n".join(lines) + "\n"


def measured(command):
    """Runs the command. Returns (processor seconds, seconds, peak MB)."""
    begin = time.monotonic()
    with subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"plan_file: {' '.join(map(str, command))} ended with {process.returncode}")
    return usage.ru_utime + usage.ru_stime, time.monotonic() - begin, usage.ru_maxrss * 1024 / 1e6


def reference(asked, folder):
    """Returns the command of the reference program (sg A), and its makespan in seconds. Returns (None, None)
    if the program does not exist."""
    source = asked.reference / "sg.cpp"
    if not source.exists():
        print(f"the ratios to sg A are skipped, because {source} does not exist")
        return None, None
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "simgrid"], check=True,
                           capture_output=True, text=True).stdout.split()
    subprocess.run(["g++", "-O2", "-std=c++20", "-w", source, *flags, "-o", folder / "sg"], check=True)
    command = [folder / "sg", asked.stages, asked.micro_batches, "1f1b", "A"]
    answer = subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True)
    return command, json.loads(answer.stdout)["makespan_us"] * 1e-6


def main():
    asked = arguments()
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        plan, trace = folder / "pipeline.plan", folder / "t.h5"
        plan.write_text(pipeline(asked.stages, asked.micro_batches))
        run = [asked.build / "sluice", "run", plan]
        answer = json.loads(subprocess.run([*run, "--executor", "replay", "--json"], check=True,
                                           capture_output=True, text=True).stdout)
        commands = {"replay": [*run, "--executor", "replay"],
                    "replay, trace": [*run, "--executor", "replay", "-o", trace, "--force"],
                    "SimGrid, trace": [*run, "--executor", "simgrid", "-o", trace, "--force"]}
        sg, makespan = reference(asked, folder)
        if sg:
            commands["sg A"] = sg
            if abs(answer["metrics"]["makespan_s"] / makespan - 1) > 1e-9:
                raise SystemExit(f"plan_file: {answer['metrics']['makespan_s']} s, and {makespan} s of sg A")
        rounds = [{name: measured(command) for name, command in commands.items()}
                  for _ in range(asked.runs)]
    print(f"{'':16}{'CPU s':>8}{'s':>8}{'MB':>6}   ratio to sg A: least, median, most")
    for name in commands:
        seconds, wall, peak = (statistics.median(one[name][k] for one in rounds) for k in range(3))
        ratios = sorted(one[name][0] / one["sg A"][0] for one in rounds) if sg else [float("nan")]
        print(f"{name:16}{seconds:8.3f}{wall:8.3f}{peak:6.0f}   "
              f"{ratios[0]:.2f}, {statistics.median(ratios):.2f}, {ratios[-1]:.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
