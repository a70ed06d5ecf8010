"""Reads a trace. Prints how long each stream was busy, and its last action. This command makes the trace:

    sluice run alexnet_resident -o trace.h5
"""

import sys

import sluice

result = sluice.open(sys.argv[1] if len(sys.argv) > 1 else "trace.h5")
spans = result.spans
for stream, rows in spans.groupby("stream", observed=True, sort=False):
    busy_s = (rows.end - rows.start).sum()
    print(f"{stream:13} busy {1e3 * busy_s:.3f} ms, last {rows.action.iloc[-1]}")
