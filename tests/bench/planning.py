"""Compares the time of planning with the time of one replay that executes every action of the plan.

    ./dev build release bench_planning && /usr/bin/python3 tests/bench/planning.py [--runs N] [--json]

For inference with a bundled scenario, the aim is at most 50 ms plus 20 times the seconds of the replay. For the fates
`optimal`, the aim is at most 50 ms plus 200 times the seconds of the replay. No time is ever asserted. Each row of the
table says whether the planning reaches the aim.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
GRACE_S = 0.05

CHAIN = """format: sluice-scenario/1
model: {file: matmul_chain.yaml, layers: %d, size: 64}
platform: {file: rx7900xtx_pcie4.yaml}
workload: {mode: training, batch: 4, micro_batch: 1, steps: 2}
stages: {cut: per_layer}
policy: {name: resident}
fates: {strategy: optimal, budget: %s}
"""


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--runs", type=int, default=3, help="number of timings, whose median is printed")
    parser.add_argument("--stages", default="12,50,200,1000", help="numbers of stages of the chains for `optimal`")
    parser.add_argument("--json", action="store_true", help="print all measurements as JSON")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    return parser.parse_args()


def is_inference(path):
    return "mode: training" not in path.read_text(encoding="utf-8")


def chain(folder, stages):
    """Returns a scenario with `stages` stages. Its budget is a fifth of the bytes that are needed to keep all
    tensors, but at least the bytes of four tensors."""
    kept = stages * 64 * 64 * 4
    for file in ("models/matmul_chain.yaml", "platforms/rx7900xtx_pcie4.yaml"):
        (folder / pathlib.Path(file).name).write_text((ROOT / file).read_text(encoding="utf-8"))
    path = folder / f"chain_{stages}.yaml"
    path.write_text(CHAIN % (stages, f"{max(kept // 5, 4 * 64 * 64 * 4)}B"))
    return path


def rows(folder, stages):
    """Yields (name, scenario, overrides, limit). Planning may take `limit` times the time of the replay, plus 50 ms."""
    for path in sorted((ROOT / "scenarios").glob("*.yaml")):
        if is_inference(path):
            yield path.stem, path, [], 20
    yield ("alexnet_x200_training_as_written, optimal",
           ROOT / "scenarios" / "alexnet_x200_training_as_written.yaml",
           ["fates={strategy: optimal, budget: 671846400B}"], 200)
    yield ("alexnet_x200_training, optimal", ROOT / "scenarios" / "alexnet_x200_training.yaml",
           ["fates=optimal"], 200)
    for count in stages:
        yield f"chain of {count} stages, optimal", chain(folder, count), [], 200


def measure(program, runs, path, overrides):
    done = subprocess.run([program, str(runs), path, *overrides], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        return {"error": done.stderr.strip().splitlines()[0]}
    return json.loads(done.stdout)


def judged(found, times):
    limit = times * found["replay_s"] + GRACE_S
    return {**found, "ratio": found["plan_s"] / found["replay_s"], "times": times,
            "limit_s": limit, "within": found["plan_s"] <= limit}


def print_table(results):
    print("| | executed actions | replay, ms | planning, ms | ratio | limit, ms | within the limit |")
    print("|---|---|---|---|---|---|---|")
    for name, found in results.items():
        if "error" in found:
            print(f"| {name} | {found['error']} | | | | | |")
            continue
        print(f"| {name} | {found['executions']:,} | {found['replay_s'] * 1e3:.3f} | "
              f"{found['plan_s'] * 1e3:.1f} | **{found['ratio']:.1f}** | "
              f"{found['limit_s'] * 1e3:.1f} | {'yes' if found['within'] else 'NO'} |")
    ratios = [found["ratio"] for found in results.values() if "ratio" in found]
    print(f"\n{sum(found.get('within', False) for found in results.values())} of {len(results)} within; "
          f"median ratio {statistics.median(ratios):.1f}")


def main():
    options = arguments()
    program = options.build / "tests" / "bench_planning"
    if not program.is_file():
        raise SystemExit(f"planning: {program} is not there; ./dev build release bench_planning makes it")
    results = {}
    with tempfile.TemporaryDirectory() as scratch:
        stages = [int(count) for count in options.stages.split(",") if count]
        for name, path, overrides, times in rows(pathlib.Path(scratch), stages):
            print(f"planning: {name}", file=sys.stderr)
            found = measure(program, options.runs, path, overrides)
            results[name] = found if "error" in found else judged(found, times)
    if options.json:
        json.dump(results, sys.stdout, indent=2)
        print()
    else:
        print_table(results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
