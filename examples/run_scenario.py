"""Runs a bundled scenario with eight samples per batch. In the file of the scenario, the batch has another number of
samples."""

import sluice

result = sluice.load("alexnet_resident").with_({"workload.batch": 8}).run()
metrics = result.metrics
print(f"{metrics.samples:.0f} samples in {1e3 * metrics.makespan_s:.3f} ms")
print(f"at most {metrics.peak_bytes['gpu'] / 1e6:.1f} MB on the device")
