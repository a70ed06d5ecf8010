"""Measures the time and memory of two runs with many devices, and prints them next to limits.

The first run executes a plan for 10,000 devices, and writes a trace. The second run has 256 replicas.

    ./dev build release sluice && /usr/bin/python3 tests/bench/scale.py

The first plan has 10 actions per device. Its run should take less than 30 s and 1 GB, with the trace. h5py must open
the trace. For the second run, the script measures `sluice plan` and `sluice run`. Each should take
under 1 s. No time is ever asserted.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BYTES = 16_000_000


def pipeline(devices, micro_batches):
    """Returns the text of a plan. In this plan, each micro-batch goes from device to device, and each device computes
    on it."""
    lines = ["format: sluice-plan/1", 'name "pipeline"', "iterations 1"]
    for d in range(devices):
        lines.append(f"pool d{d} capacity=80GB")
        lines.append(f"stream d{d}.compute kind=compute device=d{d}")
        if d + 1 < devices:
            lines.append(f"link between{d} bandwidth=25GB/s")
            lines.append(f"route d{d}>d{d + 1} links=between{d} latency=10us")
            lines.append(f"stream d{d}.port kind=copy device=d{d}")
    pairs = [(d, m) for d in range(devices) for m in range(micro_batches)]
    lines += [f"tensor made{d}.{m} class=activation bytes={BYTES}" for d, m in pairs]
    lines.append("body:")
    for d, m in pairs:
        last = d + 1 == devices
        uses = [f"made{d - 1}.{m}@d{d}"] * (d > 0) + [f"made{d}.{m}@d{d}"] * last
        words = [f"F{d}.{m} on=d{d}.compute kind=forward micro_batch={m} samples=1 seconds=0.001",
                 f"waits=S{d - 1}.{m}" * (d > 0), f"allocates=made{d}.{m}@d{d}",
                 f"uses={','.join(uses)}" * bool(uses)]
        lines.append(" ".join(word for word in words if word))
        if not last:
            lines.append(f"S{d}.{m} on=d{d}.port kind=send micro_batch={m} moves=made{d}.{m} "
                         f"route=d{d}>d{d + 1} bytes={BYTES} waits=F{d}.{m} "
                         f"allocates=made{d}.{m}@d{d + 1} uses=made{d}.{m}@d{d}")
    return "\n".join(lines) + "\n"


def replicas(folder, devices):
    (folder / "cnn_mnist.yaml").write_text((ROOT / "models/cnn_mnist.yaml").read_text(encoding="utf-8"))
    (folder / "many.yaml").write_text(f"""format: sluice-platform/1
name: many
devices:
  gpu: {{count: {devices}, rate: {{float32: 10TFLOP/s}}, memory: {{capacity: 24GB}}}}
memories:
  host: {{capacity: unlimited}}
links:
  pcie: {{joins: [host, gpu], bandwidth: 30GB/s, sharing: private}}
""")
    path = folder / "replicas.yaml"
    path.write_text(f"""format: sluice-scenario/1
model: {{file: cnn_mnist.yaml}}
platform: {{file: many.yaml}}
workload: {{mode: training, batch: {4 * devices}, micro_batch: 4, steps: 2}}
stages: {{cut: balanced, count: 1}}
policy: {{name: data_parallel, replica: resident}}
cost: {{model: peak}}
""")
    return path


def measured(words):
    """Runs the command. Returns (seconds, seconds of the processor, peak MB)."""
    begin = time.monotonic()
    process = subprocess.Popen([str(word) for word in words], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"scale: {' '.join(map(str, words))} ended with {process.returncode}")
    return (time.monotonic() - begin, usage.ru_utime + usage.ru_stime,
            usage.ru_maxrss * 1024 / 1e6)


def opens(path):
    """Returns a summary of the trace as h5py reads it."""
    try:
        import h5py
    except ImportError:
        return "h5py is not installed"
    with h5py.File(path) as trace:
        return (f"{len(trace['spans/start']):,} spans, utilisation "
                f"{' x '.join(map(str, trace['series/utilisation'].shape))}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--devices", type=int, default=10_000)
    options = parser.parse_args()
    program = options.build / "sluice"
    print("| | s | CPU s | MB at the peak | may take | |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        plan, trace = folder / "pipeline.plan", folder / "pipeline.h5"
        plan.write_text(pipeline(options.devices, 5))
        seconds, processor, peak = measured([program, "run", plan, "-o", trace])
        print(f"| {options.devices:,} devices x 10 actions, with a trace | {seconds:.2f} | "
              f"{processor:.2f} | {peak:.0f} | "
              f"30 s, 1000 MB | {opens(trace)} |")
        scenario = replicas(folder, 256)
        for what in ("plan", "run"):
            seconds, processor, peak = measured([program, what, scenario])
            print(f"| 256 replicas, `sluice {what}` | {seconds:.2f} | {processor:.2f} | {peak:.0f} | "
                  "1 s | |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
