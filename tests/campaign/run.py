#!/usr/bin/python3
"""Runs the campaign. It checks all claims of the program on random scenarios, and attacks the program.

The campaign takes SECONDS, 600 by default (`run.py [SECONDS]`). Three quarters of this time are for scenarios. In the
last quarter, the campaign sends signals to `sluice run`, `sluice sweep` and `sluice check` at random moments, and sets
limits of file size, descriptors and memory. Commands also read mutants of all inputs (mutants.py) and extreme values of
all numbers (extremes.py).

Seeds continue from one campaign to the next (build/campaign/next_seed). --seed gives another first seed. Faults are
printed with their seeds. A scenario with a fault is made as simple as possible and written to build/campaign/found.
When the fault is fixed, move the scenario to tests/campaign/kept. The tests read this folder.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

import attacks
import extremes
import mutants

ROOT = attacks.ROOT
BUILD = pathlib.Path(os.environ.get("SLUICE_CAMPAIGN_BUILD", ROOT / "build/release"))
KEPT = ROOT / "build/campaign"
KINDS = ("scenarios", "kills", "limits", "mutants", "extremes")


def seed_to_begin_with(given):
    path = KEPT / "next_seed"
    if given is None:
        given = int(path.read_text()) if path.exists() else 1000
    return given


def scenarios(seconds, first, jobs):
    """Runs the workers that check scenarios in parallel. Returns the totals and the faults."""
    found = KEPT / "found"
    found.mkdir(parents=True, exist_ok=True)
    workers = [subprocess.Popen([BUILD / "sluice_campaign", str(first + job), str(jobs), str(seconds), found],
                                stdout=subprocess.PIPE, text=True) for job in range(jobs)]
    totals, faults = {}, []
    for worker in workers:
        for line in worker.communicate()[0].splitlines():
            said = json.loads(line)
            if "tried" in said:
                for key, number in said.items():
                    totals[key] = totals.get(key, 0) + number
            else:
                if "seed" in said:
                    faults.append(said)
                print(line, flush=True)
        if worker.returncode not in (0, 1):
            faults.append({"worker": f"exit code {worker.returncode}"})
    (KEPT / "next_seed").write_text(str(first + jobs * (totals.get("tried", 0) + 1)))
    return totals, faults


def attack(kind, seed, seconds, times):
    """Runs one worker. It makes `times` attacks. If `times` is 0, it makes attacks until its time is over. Returns the
    number of attacks and the faults."""
    done, faults = 0, []
    until = time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as folder:
        if kind == "kills":
            killed = attacks.Killed(folder, seed)
        elif kind == "mutants":
            seeds = mutants.seeds_of_mutants(folder)
        while done < times if times else time.monotonic() < until:
            choice = random.Random(f"{seed} {done}")
            try:
                if kind == "kills":
                    number = signal.SIGKILL if done % 2 == 0 else choice.choice([signal.SIGINT, signal.SIGTERM])
                    killed.one(number)
                elif kind == "limits":
                    attacks.limited(folder, choice)
                elif kind == "extremes":
                    extremes.one(folder, choice)
                else:
                    mutants.mutated(folder, seeds, choice)
            except (AssertionError, subprocess.TimeoutExpired):
                faults.append(f"{kind}, seed {seed}, number {done}: {traceback.format_exc(limit=-2)}")
                if kind == "mutants":
                    for path in pathlib.Path(folder).glob("found_*"):
                        shutil.move(path, KEPT / "found" / path.name)
            done += 1
    return kind, done, faults


def attack_all(kinds, seconds, first, jobs, times):
    (KEPT / "found").mkdir(parents=True, exist_ok=True)
    counts, faults = {}, []
    with concurrent.futures.ProcessPoolExecutor(jobs) as pool:
        share = seconds / max(1, len(kinds))
        each = -(-times // jobs) if times else 0
        waiting = [pool.submit(attack, kind, first + job, share, each) for kind in kinds for job in range(jobs)]
        for future in waiting:
            kind, done, found = future.result()
            counts[kind] = counts.get(kind, 0) + done
            faults += found
    return counts, faults


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("seconds", nargs="?", type=float, default=600)
    parser.add_argument("--seed", type=int, help="the first seed; by default, the seed at which the last campaign "
                                                 "ended")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", choices=KINDS, action="append", help="make only this kind of attack; may be given "
                                                                       "several times")
    parser.add_argument("--times", type=int, default=0, help="the number of attacks of each kind; replaces the time in "
                                                             "seconds")
    arguments = parser.parse_args()
    kinds = arguments.only or list(KINDS)
    first = seed_to_begin_with(arguments.seed)
    outside = [kind for kind in kinds if kind != "scenarios"]
    print(f"seeds from {first}, {arguments.jobs} at once", flush=True)
    faults, counts = [], {}
    if "scenarios" in kinds:
        counts, faults = scenarios(arguments.seconds * (0.75 if outside else 1), first, arguments.jobs)
        print(json.dumps(counts), flush=True)
    if outside:
        attacked, found = attack_all(outside, arguments.seconds * (0.25 if "scenarios" in kinds else 1), first,
                                     arguments.jobs, arguments.times)
        for fault in found:
            print(fault, flush=True)
        faults += found
        print(json.dumps(attacked))
    print(f"{len(faults)} faults" + (f"; see {KEPT / 'found'}" if faults else ""))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
