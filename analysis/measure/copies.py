#!/usr/bin/python3
"""Measures copies between host memory and a GPU with torch, and writes a profile for `sluice profile link`.

    python3 analysis/measure/copies.py copies.csv
    sluice profile link copies.csv --platform a100_pcie -o mine.yaml

Each size is copied to the GPU and back, with pinned and with pageable memory. In both directions, the script measures
single copies (method `single`), and series of copies without a pause (method `queued`). The GPU's clock measures the
time.
"""

import argparse
import csv
import datetime
import json
import sys

SIZES = [2**power for power in range(10, 31, 2)]  # 1 KiB to 1 GiB


def seconds_of(torch, target, source, calls):
    """Makes `calls` copies without a pause. Returns the mean seconds of one copy."""
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    torch.cuda.synchronize()
    start.record()
    for _ in range(calls):
        target.copy_(source, non_blocking=True)
    end.record()
    end.synchronize()
    return start.elapsed_time(end) / 1e3 / calls


def rows(torch, repetitions):
    device = torch.device("cuda")
    for size in SIZES:
        on_device = torch.empty(size, dtype=torch.uint8, device=device)
        for memory in ("pinned", "pageable"):
            on_host = torch.ones(size, dtype=torch.uint8, pin_memory=memory == "pinned")
            for target, source, pools in ((on_device, on_host, (memory, "device")),
                                          (on_host, on_device, ("device", memory))):
                for method, calls in (("single", 1), ("queued", max(4, min(64, 2**28 // size)))):
                    for _ in range(3):
                        seconds_of(torch, target, source, calls)
                    samples = [seconds_of(torch, target, source, calls) for _ in range(repetitions)]
                    yield ["copy", f"bytes={size}", *pools, method, calls, ";".join(map(repr, samples))]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", help="the profile to write")
    parser.add_argument("--repetitions", type=int, default=20, help="number of samples per copy (default: 20)")
    given = parser.parse_args()
    try:
        import torch
    except ImportError:
        sys.exit("torch is not installed: apt-get install python3-torch, or install a torch with CUDA")
    if not torch.cuda.is_available():
        sys.exit("there is no GPU, so nothing was measured")
    with open(given.file, "w", newline="") as file:
        file.write("# format: sluice-profile/1\n# name: copies between host and device\n"
                   f"# date: {datetime.date.today().isoformat()}\n"
                   f"# device: {json.dumps(torch.cuda.get_device_name())}\n"
                   "# how: {method: loop, timer: CUDA events, warmup: 3}\n"
                   f"# on: {{torch: \"{torch.__version__}\", cuda: \"{torch.version.cuda}\"}}\n")
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["operator", "sizes", "input_pools", "output_pools", "method", "calls", "seconds_samples"])
        for row in rows(torch, given.repetitions):
            out.writerow(row)
            file.flush()


if __name__ == "__main__":
    main()
