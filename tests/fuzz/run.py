#!/usr/bin/python3
"""Fuzzes the readers of Sluice: run.py [SECONDS EACH] [TARGET...]. By default, each target is fuzzed for 600 s.

Fuzzing starts from the bundled documents and the corpus. New inputs are kept in build/fuzz/found/TARGET. --minimise
makes a new corpus in tests/fuzz/corpus from all these files. It first looks for as few and as small files as possible
that reach the same code. Of these, it keeps at most 20 files per target, or at most N with --keep N.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "build/fuzz/sluice_fuzz"
CORPUS = ROOT / "tests/fuzz/corpus"
FOUND = ROOT / "build/fuzz/found"
LONGEST = 20_000  # the largest number of bytes that a seed may have

# Patterns of files from which the fuzzing of a target starts, in addition to the corpus. The patterns begin at the root
# of the repository.
SEEDS = {
    "document": ["models/*.yaml", "platforms/*.yaml", "tests/golden/*.json"],
    "model": ["models/*.yaml"],
    "stage_table": ["models/*.json"],
    "platform": ["platforms/*.yaml"],
    "scenario": ["scenarios/*.yaml"],
    "plan": ["tests/golden/*.plan"],
    "plan_1": [],
    "plan_2": [],
    "replay": ["tests/golden/*.plan"],
    "onnx": [],
    "pipedream": [],
    "baseline": ["tests/golden/*.json"],
    "quantity": [],
    "expression": [],
    "override": [],
    "profile": [],
    "profile_hdf5": [],
    "profile_map": [],
    "fit": ["fits/*.yaml"],
    "store": [],
    "trace": [],
}


def write_seeds(target, folder):
    for pattern in SEEDS[target]:
        for path in sorted(ROOT.glob(pattern)):
            if path.stat().st_size <= LONGEST:
                shutil.copy(path, folder / path.name)


def command(target, *arguments):
    environment = {**os.environ, "SLUICE_FUZZ_TARGET": target,
                   "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1"}
    return subprocess.run([PROGRAM, "-timeout=20", "-rss_limit_mb=4000", *map(str, arguments)],
                          env=environment, check=False).returncode


def fuzz(target, seconds):
    """Fuzzes one target. Returns the exit code of the fuzzer, which is 0 without a fault."""
    found = FOUND / target
    found.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as seeds:
        write_seeds(target, pathlib.Path(seeds))
        folders = [found, seeds]
        if (CORPUS / target).is_dir():
            folders.append(CORPUS / target)
        return command(target, f"-max_total_time={seconds}", "-max_len=8192", "-print_final_stats=1",
                       f"-artifact_prefix={found}.", *folders)


def minimise(target, keep):
    with tempfile.TemporaryDirectory() as name:
        fewest, seeds = pathlib.Path(name) / "fewest", pathlib.Path(name) / "seeds"
        fewest.mkdir()
        seeds.mkdir()
        write_seeds(target, seeds)
        folders = [folder for folder in (CORPUS / target, FOUND / target, seeds) if folder.is_dir()]
        if command(target, "-merge=1", "-max_len=4096", fewest, *folders) != 0:
            return 1
        files = sorted(fewest.iterdir(), key=lambda path: (path.stat().st_size, path.name))
        shutil.rmtree(CORPUS / target, ignore_errors=True)
        (CORPUS / target).mkdir(parents=True)
        step = max(1, -(-len(files) // keep))
        for path in files[::step]:  # every step-th file, so that files of all sizes are kept
            shutil.copy(path, CORPUS / target / path.name[:12])
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--minimise", action="store_true")
    parser.add_argument("--keep", type=int, default=20)
    parser.add_argument("words", nargs="*")
    arguments = parser.parse_args()
    seconds = 600
    targets = arguments.words
    if targets and targets[0].isdigit():
        seconds, targets = int(targets[0]), targets[1:]
    for target in targets:
        if target not in SEEDS:
            parser.error(f"unknown target '{target}'; known: {', '.join(SEEDS)}")
    failed = []
    for target in targets or SEEDS:
        print(f"--- {target}", flush=True)
        done = minimise(target, arguments.keep) if arguments.minimise else fuzz(target, seconds)
        if done != 0:
            failed.append(target)
    if failed:
        print("found something: " + ", ".join(failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
