"""Attacks with which a campaign (run.py) disturbs the program from outside. Each attack runs one random case. If the
program has a fault, the attack raises AssertionError."""

import contextlib
import functools
import h5py
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("SLUICE_PROGRAM", str(ROOT / "build/release/sluice"))
ENVIRONMENT = {**os.environ, "SLUICE_ROOT": str(ROOT), "LC_ALL": "C.UTF-8", "COLUMNS": ""}

RUN = ["run", "matmul_chain_streamed_ipu", "workload.steps=40"]
SWEEP = ["sweep", "alexnet_resident", "workload.steps=20", "platform.links.host.bandwidth=4GB/s..64GB/s:60"]
CHECK = ["check", str(ROOT / "scenarios/alexnet_resident.yaml"), str(ROOT / "scenarios/alexnet_x200_as_written.yaml")]


def sluice(folder, *words, limits=None, **options):
    def limit():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        for name, most in (limits or {}).items():
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (most, most))
    return subprocess.run([PROGRAM, *map(str, words)], cwd=folder, env=ENVIRONMENT, capture_output=True, timeout=300,
                          preexec_fn=limit, **options)


def ended_early(folder, number, moment, *words):
    """Starts the program, and sends a signal to the program after `moment` seconds. Returns the exit code and the
    outputs. The program may end before the signal comes."""
    process = subprocess.Popen([PROGRAM, *map(str, words)], cwd=folder, env=ENVIRONMENT,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(moment)
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(number)
    output, message = process.communicate(timeout=60)
    return process.returncode, output, message


def whole_trace(path):
    """Checks that the trace is complete, and returns its content hash."""
    with h5py.File(path) as file:
        assert file.attrs["status"] in ("complete", b"complete"), file.attrs["status"]
        text = file.attrs["content_sha256"]
        return text.decode() if isinstance(text, bytes) else text


def aborted_or_whole(folder, path):
    done = sluice(folder, "show", path)
    assert done.returncode == 0, done.stderr


class Killed:
    """Starts `sluice run`, `sweep` and `check`, and ends them at random moments by SIGKILL, SIGINT or SIGTERM."""

    def __init__(self, folder, seed):
        self.folder, self.random = pathlib.Path(folder), random.Random(seed)
        self.trace = self.folder / "kept.h5"
        assert sluice(self.folder, *RUN, "workload.steps=2", "-o", self.trace).returncode == 0
        self.hash = whole_trace(self.trace)
        began = time.monotonic()
        assert sluice(self.folder, *RUN, "-o", "timed.h5").returncode == 0
        self.seconds = time.monotonic() - began
        self.long_hash = whole_trace(self.folder / "timed.h5")
        table = sluice(self.folder, *SWEEP, "--csv")
        assert table.returncode == 0, table.stderr
        self.table = table.stdout
        self.half_store = self.folder / "half.db"
        assert sluice(self.folder, *SWEEP, "--store", self.half_store).returncode == 0
        with contextlib.closing(sqlite3.connect(self.half_store)) as database, database:
            database.execute("DELETE FROM points WHERE key NOT IN (SELECT key FROM points ORDER BY key LIMIT 30)")
        self.stored = self.points(self.half_store)
        assert len(self.stored) == 30
        assert sluice(self.folder, *CHECK, "--baseline", "golden", "--update").returncode == 0
        self.golden = self.read_golden()

    def read_golden(self):
        return {path.name: path.read_bytes() for path in (self.folder / "golden").iterdir()}

    def one(self, number):
        moment = self.random.uniform(0, 1.1 * self.seconds)
        getattr(self, self.random.choice(["run", "sweep", "check"]))(number, moment)

    def run(self, number, moment):
        before = self.trace.read_bytes()
        code, _, message = ended_early(self.folder, number, moment, *RUN, "-o", self.trace)
        assert code in (0, -number, 128 + number), (code, message)
        part = self.folder / "kept.h5.part"
        if code == 0:
            whole_trace(self.trace)
        # If a signal comes before main(), the process ends without a message, as with SIGKILL.
        elif number == signal.SIGKILL or code < 0:
            if self.trace.read_bytes() == before:
                assert whole_trace(self.trace)
            if part.exists():
                shown = sluice(self.folder, "show", part)
                # `sluice show` must refuse an incomplete trace. But the .part file may hold a complete trace, if only
                # the renaming was left to do.
                assert shown.returncode == 3 or whole_trace(part) == self.long_hash, shown.returncode
        else:
            assert not part.exists()
            aborted_or_whole(self.folder, self.trace)
        if number == signal.SIGTERM:
            assert not part.exists(), "SIGTERM leaves no incomplete file behind"
        again = sluice(self.folder, *RUN, "workload.steps=2", "-o", self.trace)
        assert again.returncode == 0, again.stderr
        assert whole_trace(self.trace) == self.hash and not part.exists()

    @staticmethod
    def points(store):
        """Returns the rows of the store's points without the column `verified`. A continued sweep may verify a point of
        the store. This changes only the column `verified`."""
        with contextlib.closing(sqlite3.connect(store)) as database:
            columns = [row[1] for row in database.execute("PRAGMA table_info(points)") if row[1] != "verified"]
            return set(database.execute(f"SELECT {', '.join(columns)} FROM points").fetchall())

    def sweep(self, number, moment):
        store = self.folder / f"{self.random.random()}.db"
        shutil.copy(self.half_store, store)
        code, _, message = ended_early(self.folder, number, moment, *SWEEP, "--store", store)
        assert code in (0, 1, -number, 128 + number), (code, message)
        kept = self.points(store)
        assert self.stored <= kept, "a sweep that is ended keeps all points that were stored before"
        again = sluice(self.folder, *SWEEP, "--store", store, "--csv")
        assert again.returncode == 0, again.stderr
        assert again.stdout == self.table, "a sweep that was ended and then continued gives the table of a whole sweep"
        after = self.points(store)
        assert len(after) == 60 and kept <= after
        for path in self.folder.glob(store.name + "*"):
            path.unlink()

    def check(self, number, moment):
        code, _, message = ended_early(self.folder, number, moment, *CHECK, "--baseline", "golden", "--update")
        assert code in (0, -number, 128 + number), (code, message)
        assert {name: text for name, text in self.read_golden().items() if not name.endswith(".part")} == self.golden
        again = sluice(self.folder, *CHECK, "--baseline", "golden")
        assert again.returncode == 0, again.stdout
        for path in (self.folder / "golden").glob("*.part"):
            assert number == signal.SIGKILL or code < 0, path
            path.unlink()


# Mounts a disk of $0 bytes at the folder $1. Only this process and its children see the disk. All words after $2 are a
# command, which runs on the disk. At the end, the files on the disk are copied to $2.
SMALL_DISK = """mount -t tmpfs -o size=$0 disk "$1" && cd "$1" || exit 99
kept=$2; shift 2; "$@"; code=$?; cp -r . "$kept"; exit $code"""


@functools.cache
def may_mount():
    """Returns whether a small disk can be mounted on this machine. A sandbox may forbid mounts."""
    with tempfile.TemporaryDirectory() as folder:
        return shutil.which("unshare") and on_disk(folder, 4096, "true").returncode == 0


def on_disk(folder, size, *words):
    disk, kept = (pathlib.Path(folder) / name for name in ("disk", "kept"))
    for path in (disk, kept):
        path.mkdir()
    return subprocess.run(["unshare", "--map-root-user", "--mount", "sh", "-c", SMALL_DISK, str(size), disk, kept,
                           *words], env=ENVIRONMENT, capture_output=True, timeout=300)


def on_small_disk(choice):
    """Runs one command that writes to a small disk. The output may fit, fit in part, or not fit at all."""
    words = choice.choice([[*RUN, "workload.steps=2", "-o", "t.h5"], [*RUN, "-o", "t.h5"],
                           ["plan", "alexnet_resident", "-o", "p.plan"],
                           ["sweep", "alexnet_resident", "workload.batch=1..9", "--store", "s.db"],
                           [*CHECK, "--baseline", "golden", "--update"]])
    size = 4096 * choice.choice([1, 2, 4, 8, 16, 32, 64, 128])
    with tempfile.TemporaryDirectory() as folder:
        done = on_disk(folder, size, PROGRAM, *words)
        where = (words, size, done.returncode, done.stderr)
        assert done.returncode in (0, 5) or words[0] == "sweep" and done.returncode == 1, where
        if done.returncode == 5:
            assert re.search(b"No space left|disk I/O error|disk is full|unable to open", done.stderr), where
        kept = pathlib.Path(folder) / "kept"
        assert not list(kept.glob("**/*.part")), where
        for trace in kept.glob("*.h5"):
            assert whole_trace(trace) and done.returncode == 0, where


def limited(folder, choice):
    """Runs one command under a random limit of file size, descriptors or address space, or on a small disk."""
    if choice.randrange(4) == 0 and may_mount():
        return on_small_disk(choice)
    folder = pathlib.Path(folder)
    trace = folder / "limited.h5"
    words = choice.choice([[*RUN, "workload.steps=2", "-o", trace], [*RUN, "workload.steps=2", "--executor", "simgrid"],
                           ["plan", "alexnet_resident", "-o", folder / "limited.plan"],
                           ["sweep", "alexnet_resident", "workload.batch=1..9", "--store", folder / "limited.db"],
                           [*CHECK, "--baseline", folder / "limited", "--update"],
                           ["model", "alexnet", "--json"], ["fits", "alexnet", "--platform", "k40"]])
    limits = choice.choice([{"FSIZE": choice.randrange(1, 200_000)}, {"NOFILE": choice.randrange(3, 16)},
                            {"AS": choice.randrange(60, 500) * 1_000_000}])
    done = sluice(folder, *words, limits=limits)
    # A sweep ends with 1 if a point failed. For example, the store had no room for the point.
    rows_failed = words[0] == "sweep" and done.returncode == 1
    assert rows_failed or done.returncode in (0, 5, 70, 127), (words, limits, done.returncode, done.stderr)
    if done.returncode == 70:
        assert b"out of memory" in done.stderr, (words, limits, done.stderr)
    if done.returncode == 5:
        assert done.stderr.startswith(b"sluice: ") and b"cannot " in done.stderr, (words, limits, done.stderr)
    assert not list(folder.glob("**/*.part")), (words, limits)
    if done.returncode == 0 and trace.exists() and trace in words:
        whole_trace(trace)
    for path in folder.glob("limited*"):
        subprocess.run(["rm", "-r", path], check=True)
