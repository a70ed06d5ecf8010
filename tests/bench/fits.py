"""Prints how long `sluice fits MODEL --fates optimal` takes for each bundled platform.

    ./dev build && /usr/bin/python3 tests/bench/fits.py [--model M] [--beside PROGRAM] [--json]

The script measures user and system seconds of whole processes. Other work of the machine does not count in these
seconds. The aim is at most 5 s per card, but no time is ever asserted. With --beside, another build of Sluice answers
each question after this build has answered it. If the answers differ, the exit code is 1.
"""

import argparse
import json
import pathlib
import resource
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
AIMED_S = 5


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--model", default="bert_large")
    parser.add_argument("--beside", type=pathlib.Path,
                        help="the program of another build, with which this build is compared")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    return parser.parse_args()


def platforms():
    return sorted(path.stem for path in (ROOT / "platforms").glob("*.yaml"))


def asked(program, model, platform):
    """Returns the processor's seconds that the command took, and its answer."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([program, "fits", model, "--fates", "optimal", "--platform", platform, "--json"],
                          capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, (done.returncode, done.stdout)


def main():
    options = arguments()
    programs = [options.build / "sluice"] + ([options.beside] if options.beside else [])
    rows, differ = {}, []
    for platform in platforms():
        answers = [asked(program, options.model, platform) for program in programs]
        rows[platform] = [seconds for seconds, _ in answers]
        if any(answer != answers[0][1] for _, answer in answers):
            differ.append(platform)
    if options.json:
        print(json.dumps({"model": options.model, "seconds": rows, "differ": differ}, indent=1))
        return 1 if differ else 0
    print(f"fits {options.model} --fates optimal, CPU seconds; the aim is {AIMED_S}")
    for platform, seconds in rows.items():
        print(f"{platform:24}" + "".join(f"{second:8.2f}" for second in seconds)
              + (" NO" if seconds[0] > AIMED_S else "")
              + (" another answer" if platform in differ else ""))
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
