#!/usr/bin/python3
"""Runs on a GPU. It measures what share of the copies of weights is hidden behind computation. Sluice
simulates the same share.

    python3 analysis/measure/streamed_overlap.py
    python3 analysis/measure/streamed_overlap.py --layers 12 --width 8192 --batches 256 1024 4096 16384

A chain of equal layers without biases runs once per measurement. The weights of the layers are in pinned host memory.
One stream copies these weights to two buffers on the GPU. Another stream computes with the weights that have arrived.
The copies alone and the layers alone are measured, too. This gives the seconds of one copy and of one layer. With these
seconds, Sluice simulates the chain under the policy `streamed`. The table has one line per batch size, with the
measured and the simulated seconds. Three numbers are seconds: `copies` of the copies alone, `computing` of the
computation alone, and `both` of the whole chain. The hidden share is
(copies + computing - both) / min(copies, computing). If the computation takes less time than the copies, the formula
gives the share of the computation that copies overlap.
"""

import argparse
import statistics
import sys


class Chain:
    """The chain of layers on the GPU. The GPU's own clock measures the times, in seconds."""

    def __init__(self, torch, layers, width, batch):
        def on_device(rows):
            return torch.empty(rows, width, dtype=torch.float32, device="cuda")

        def on_host(rows):
            return torch.ones(rows, width, dtype=torch.float32, pin_memory=True)

        self.torch, self.layers = torch, layers
        self.weights = [on_host(width) for _ in range(layers)]
        self.buffers = [on_device(width), on_device(width)]
        self.given, self.answer = on_host(batch), on_host(batch)
        self.values = [on_device(batch), on_device(batch)]
        self.copying, self.computing = torch.cuda.Stream(), torch.cuda.Stream()

    def seconds(self, work):
        """Calls `work`. Returns the seconds from its start on the copying stream to its end on the computing stream."""
        start, end = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
        self.torch.cuda.synchronize()
        start.record(self.copying)
        self.computing.wait_event(start)
        work()
        self.computing.wait_event(self._now(self.copying))
        end.record(self.computing)
        end.synchronize()
        return start.elapsed_time(end) / 1e3

    def _now(self, stream):
        event = self.torch.cuda.Event()
        event.record(stream)
        return event

    def copy(self, layer):
        with self.torch.cuda.stream(self.copying):
            self.buffers[layer % 2].copy_(self.weights[layer], non_blocking=True)

    def compute(self, layer):
        with self.torch.cuda.stream(self.computing):
            self.torch.mm(self.values[layer % 2], self.buffers[layer % 2], out=self.values[(layer + 1) % 2])

    def copies(self):
        for layer in range(self.layers):
            self.copy(layer)

    def layers_alone(self):
        for layer in range(self.layers):
            self.compute(layer)

    def together(self):
        """Runs all layers. While a layer is computed, the weights of the next layer are copied. The input is copied
        before the first layer, and the answer after the last layer."""
        free = [None, None]  # events after which the weights in each buffer are no longer needed
        with self.torch.cuda.stream(self.copying):
            self.values[0].copy_(self.given, non_blocking=True)
        for layer in range(self.layers):
            if free[layer % 2] is not None:
                self.copying.wait_event(free[layer % 2])
            self.copy(layer)
            self.computing.wait_event(self._now(self.copying))
            self.compute(layer)
            free[layer % 2] = self._now(self.computing)
        with self.torch.cuda.stream(self.computing):
            self.answer.copy_(self.values[self.layers % 2], non_blocking=True)


def scenario_of(layers, width, batch, copy_s, layer_s):
    """Returns the chain as a scenario. On the machine of the scenario, copies and layers take the measured seconds."""
    import sluice

    weight_bytes = 4 * width * width
    model = {"format": "sluice-model/1", "name": "chain",
             "layers": [{"type": "input", "shape": [width]}] +
                       [{"type": "dense", "features": width, "bias": False} for _ in range(layers)]}
    platform = {"format": "sluice-platform/1", "name": "measured",
                "devices": {"gpu": {"rate": {"float32": f"{2.0 * batch * width * width / layer_s!r}FLOP/s"},
                                    "memory": {"capacity": "1TB"}}},
                "memories": {"host": {"capacity": "unlimited"}},
                "links": {"host": {"joins": ["host", "gpu"], "bandwidth": f"{weight_bytes / copy_s!r}B/s"}}}
    return sluice.Scenario.from_dict({
        "model": sluice.Model.from_dict(model), "platform": platform, "cost": {"model": "peak"}, "stages": "per_layer",
        "workload": {"mode": "inference", "batch": batch},
        "policy": {"name": "streamed", "resident": "none", "prefetch": 1, "in_flight": 1, "buffers": 1, "pieces": "whole"}})


def middle(chain, work, repetitions):
    chain.seconds(work)  # warms up the GPU
    return statistics.median(chain.seconds(work) for _ in range(repetitions))


def line_of(torch, layers, width, batch, repetitions):
    chain = Chain(torch, layers, width, batch)
    copies, computing, together = (middle(chain, work, repetitions)
                                   for work in (chain.copies, chain.layers_alone, chain.together))
    simulated = scenario_of(layers, width, batch, copies / layers, computing / layers).run().metrics.makespan_s
    hidden = [(copies + computing - both) / min(copies, computing) for both in (together, simulated)]
    cells = [str(batch), *(f"{1e3 * one:.3f}" for one in (copies, computing, together, simulated)),
             f"{100 * (simulated / together - 1):+.1f} %", *(f"{100 * one:.1f} %" for one in hidden)]
    return "| " + " | ".join(cells) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--layers", type=int, default=12, help="number of layers of the chain (default: 12)")
    parser.add_argument("--width", type=int, default=8192,
                        help="number of columns and of rows of a layer's weights (default: 8192)")
    parser.add_argument("--batches", type=int, nargs="+", default=[256, 1024, 4096, 16384],
                        help="numbers of rows of the input (default: 256 1024 4096 16384)")
    parser.add_argument("--repetitions", type=int, default=20, help="number of samples per time (default: 20)")
    given = parser.parse_args()
    try:
        import torch
    except ImportError:
        sys.exit("torch is not installed: apt-get install python3-torch, or install a torch with CUDA")
    if not torch.cuda.is_available():
        sys.exit("there is no GPU, so nothing was measured")
    print(f"{torch.cuda.get_device_name()}, {given.layers} layers of {given.width} x {given.width}, float32\n")
    print("| batch | copies, ms | computing, ms | both together, ms | simulated, ms | error | copies hidden, measured | "
          "copies hidden, simulated |\n" + "|---" * 8 + "|")
    for batch in given.batches:
        print(line_of(torch, given.layers, given.width, batch, given.repetitions), flush=True)


if __name__ == "__main__":
    main()
