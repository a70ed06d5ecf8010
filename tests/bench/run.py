"""Compares the speed of the engine with the speed of SimGrid alone, and prints a table of ratios.

First every makespan is compared with a known value or with the makespan of another program. Any difference is an error
(exit code 1). Then each program runs once to warm up. After that, there are --runs rounds. In each round, every program
runs once (A B C, A B C, …). Each round gives one ratio for each program: its seconds, divided by the seconds of the
program with which it is compared. No time is ever asserted.

./dev bench builds the programs bench_engine and bench_simgrid. --reference names a folder of reference programs. If
this folder exists, its programs are compiled into the build folder and take part. Otherwise all programs are compared
with `simgrid`, the bare loop of bench_simgrid.
"""

import argparse
import json
import pathlib
import shlex
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
REFERENCES = ("sg", "sgc", "limit", "sg_off", "limit_off")

# The makespan of each pipeline in microseconds. The keys are (stages, micro-batches, order of the passes, whether the
# pipeline is plain). A forward pass takes 1000 + h us and a backward pass 2000 + h us. If the pipeline is plain, h is
# 0. Otherwise h is a number from 0 to 100 (workload.hpp).
PIPELINES = {
    (4, 8, "1f1b", False): 44536,
    (8, 64, "1f1b", False): 300847,
    (16, 256, "1f1b", False): 1170780,
    (64, 1024, "1f1b", False): 4763425,
    (4, 8, "1f1b", True): 43400,
    (8, 64, "1f1b", True): 293600,
    (16, 256, "1f1b", True): 1143200,
    (4, 8, "gpipe", True): 36900,
    (8, 64, "gpipe", True): 222100,
    (16, 256, "gpipe", True): 832500,
}
OFFLOADS = [(1, 5), (2, 3), (3, 4), (12, 100), (50, 200)]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--runs", type=int, default=5, help="number of rounds after the warm-up")
    parser.add_argument("--pipeline", default="64x1024", help="stages x micro-batches of the pipeline")
    parser.add_argument("--offload", default="50x1000", help="layers x iterations of the offload chain")
    parser.add_argument("--json", action="store_true", help="print all measurements as JSON")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release",
                        help="the build folder")
    parser.add_argument("--reference", type=pathlib.Path, default=ROOT.parent / "shared" / "bench",
                        help="the folder of reference programs")
    return parser.parse_args()


def say(message):
    print(f"bench: {message}", file=sys.stderr)


def call(command, environment=None):
    """Returns the JSON line that a program prints."""
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode != 0:
        raise SystemExit(f"bench: {shlex.join(map(str, command))} ended with {done.returncode}:\n"
                         f"{done.stderr}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def compile_references(folder, build):
    """Returns the reference programs by name. Skips programs that do not exist or do not compile."""
    if not folder.is_dir():
        say(f"no reference programs in {folder}: the programs are compared with the bare loop of bench_simgrid only")
        return {}
    out = build / "bench_reference"
    out.mkdir(parents=True, exist_ok=True)
    programs = {}
    for name in REFERENCES:
        source, program = folder / f"{name}.cpp", out / name
        if not source.is_file():
            say(f"skipped {name}: {source} is not there")
            continue
        newest = max(path.stat().st_mtime for path in (source, folder / "wl.hpp"))
        if not program.is_file() or program.stat().st_mtime < newest:
            hdf5 = ["-I/usr/include/hdf5/serial", "-L/usr/lib/x86_64-linux-gnu/hdf5/serial"]
            done = subprocess.run(["g++", "-O2", "-std=c++20", "-w", str(source), *hdf5,
                                   "-Wl,--as-needed", "-lsimgrid", "-lhdf5", "-o", str(program)],
                                  capture_output=True, text=True, check=False)
            if done.returncode != 0:
                say(f"skipped {name}: it does not compile:\n{done.stderr[:2000]}")
                continue
        programs[name] = program
    return programs


class Programs:
    def __init__(self, options):
        folder = options.build / "tests"
        self.engine, self.simgrid = folder / "bench_engine", folder / "bench_simgrid"
        for program in (self.engine, self.simgrid):
            if not program.is_file():
                raise SystemExit(f"bench: {program} is not there; ./dev build makes it")
        self.reference = compile_references(options.reference, options.build)


def check_makespans(programs):
    """Compares every makespan with the expected makespan, and returns how many differ."""
    wrong = compared = 0

    def compare(command, expected):
        nonlocal wrong, compared
        compared += 1
        found = call(command)["makespan_us"]
        if round(found, 3) != expected:  # both are in microseconds, and are compared to the nanosecond
            wrong += 1
            say(f"{shlex.join(map(str, command))}: makespan {found} us, not {expected} us")

    for (stages, batches, schedule, plain), expected in PIPELINES.items():
        workload = ["pipeline", str(stages), str(batches), schedule] + ["--plain"] * plain
        compare([programs.engine, *workload], expected)
        compare([programs.engine, *workload, "--sink", "trace"], expected)
        compare([programs.engine, *workload, "--replay"], expected)
        compare([programs.simgrid, *workload], expected)
    for layers, iterations in OFFLOADS:
        size = [str(layers), str(iterations)]
        limit = programs.reference.get("limit_off")
        expected = (call([limit, *size]) if limit else
                    call([programs.simgrid, "offload", *size]))["makespan_us"]
        expected = round(expected, 3)
        compare([programs.engine, "offload", *size], expected)
        compare([programs.engine, "offload", *size, "--replay"], expected)
        compare([programs.simgrid, "offload", *size], expected)
    say(f"{compared - wrong} of {compared} makespans are exact")
    return wrong


def sum_of(*keys):
    return lambda result: sum(result[key] for key in keys)


def peers_of(programs, workload, scratch):
    """Returns (name, command, environment, rows) of each program that takes part in a workload. The key of `rows` is
    the name of a row of the table. The value is a function that returns the seconds of this row."""
    run, loop = sum_of("run_s"), sum_of("engine_s")
    engine = [programs.engine, *workload]
    peers = [
        ("engine", [*engine, "--sink", "none"], None,
         {"engine: event loop": loop, "engine: trace off": run}),
        ("metrics", [*engine, "--sink", "metrics"], None, {"engine: metrics": run}),
        ("trace", [*engine, "--sink", "trace"], None,
         {"engine: trace on": run, "engine: trace on, event loop": loop,
          "engine: trace on, CPU of both threads": sum_of("cpu_s")}),
        ("replay", [*engine, "--replay"], None, {"replay": run}),
        ("simgrid", [programs.simgrid, *workload], None, {"simgrid (our bare loop)": run}),
    ]
    size = workload[1:]
    if workload[0] == "offload":
        extra = [("sg_off", "sg_off", size, None, {"sg_off": run}),
                 ("limit_off", "limit_off", size, None, {"limit_off": run})]
    else:
        trace = {"TRACE": str(pathlib.Path(scratch) / "reference.h5")}
        extra = [("sg", "sg A", [*size, "A"], None, {"sg A": run}),
                 ("sgc", "sgc S", [*size, "S"], None, {"sgc S": run}),
                 ("sgc", "sgc S trace", [*size, "S"], trace,
                  {"sgc S with its trace": sum_of("run_s", "hdf5_s")}),
                 ("limit", "limit b", [*size, "b"], None, {"limit b": run})]
    for program, name, words, environment, rows in extra:
        if program in programs.reference:
            peers.append((name, [programs.reference[program], *words], environment, rows))
    return peers


def measure(programs, workload, runs):
    """Returns, for each row of the table, its seconds in each round. Also returns the last result of each program."""
    seconds, results = {}, {}
    with tempfile.TemporaryDirectory() as scratch:
        peers = peers_of(programs, workload, scratch)
        for turn in range(runs + 1):
            say(f"{' '.join(workload)}: " + (f"round {turn} of {runs}" if turn else "warm-up"))
            for name, command, environment, rows in peers:
                results[name] = call(command, environment)
                for row, get in rows.items():
                    if turn:
                        seconds.setdefault(row, []).append(get(results[name]))
    if len({round(result["makespan_us"], 3) for result in results.values()}) != 1:
        raise SystemExit("bench: the programs disagree on the makespan: " +
                         str({name: result["makespan_us"] for name, result in results.items()}))
    return seconds, results


def ratios(seconds, base):
    return {row: sorted(a / b for a, b in zip(values, seconds[base]))
            for row, values in seconds.items()}


def print_table(workload, seconds, results, bases):
    ops = results["engine"]["ops"]
    print(f"\n### {' '.join(workload)}: {ops:,} actions, "
          f"{results['engine']['makespan_us']:,.0f} us simulated\n")
    heads = [f"÷ {base}: min | median | max" for base in bases]
    print("| | median s | ns per action | " + " | ".join(heads) + " |")
    print("|---|---|---|" + "---|---|---|" * len(bases))
    by_base = [ratios(seconds, base) for base in bases]
    for row, values in seconds.items():
        median = statistics.median(values)
        cells = [row, f"{median:.3f}", f"{median / ops * 1e9:.0f}"]
        for table in by_base:
            low, middle, high = table[row][0], statistics.median(table[row]), table[row][-1]
            cells += [f"{low:.2f}", f"**{middle:.2f}**", f"{high:.2f}"]
        print("| " + " | ".join(cells) + " |")


def main():
    options = arguments()
    programs = Programs(options)
    if check_makespans(programs):
        return 1
    pipeline = ["pipeline", *options.pipeline.split("x"), "1f1b"]
    offload = ["offload", *options.offload.split("x")]
    report = {}
    for workload in (pipeline, offload):
        seconds, results = measure(programs, workload, options.runs)
        bases = [base for base in ("sg A", "sgc S", "sg_off") if base in seconds]
        bases = bases or ["simgrid (our bare loop)"]
        report[" ".join(workload)] = {
            "seconds": seconds,
            "ratios": {base: ratios(seconds, base) for base in bases},
            "programs": results,
        }
        if not options.json:
            print_table(workload, seconds, results, bases)
    if options.json:
        json.dump(report, sys.stdout, indent=2, ensure_ascii=False)
        print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
