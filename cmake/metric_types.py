#!/usr/bin/python3
"""Writes analysis/sluice/_metric_types.py: the types of all metrics, as found in the goldens. Editors and type checkers
read this file. `./dev accept` calls this script."""

import json
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[1]
FILE = ROOT / "analysis/sluice/_metric_types.py"
WHOLE = ("byte", "FLOP", "sample")  # units whose numbers are integers
HEAD = '''"""The types of all metrics. `./dev accept` writes this file."""

from __future__ import annotations

from typing import Optional


class MetricTypes:
    """The metrics of a run that ended, with their types. A metric that has no number in some runs may be None."""

'''


def type_of(metric):
    """Returns the type of a metric in a golden. If the metric has no number there, returns None."""
    if "by" in metric:
        if all("/" in key for key in metric["by"]) and metric["by"]:  # a metric by pool and by class
            return f"dict[str, dict[str, {type_of(next(iter(metric['by'].values())))}]]"
        inner = {type_of(one) for one in metric["by"].values()}
        return f"dict[str, {inner.pop()}]" if len(inner) == 1 else "dict[str, float]" if inner else None
    if metric.get("value") is None:
        return None
    if isinstance(metric["value"], str):
        return "str"
    return "int" if metric.get("unit") in WHOLE else "float"


def text():
    entries = (ROOT / "sim/metrics/catalog.cpp").read_text()
    found = {name: set() for name in re.findall(r"SLUICE_ENTRY\(Metric, (\w+)_metric\)", entries)}
    for path in sorted((ROOT / "tests/golden").glob("*.json")):
        for name, metric in json.loads(path.read_text())["metrics"].items():
            found.setdefault(name, set()).add((type_of(metric), "by" in metric))
    lines = []
    for name, types in sorted(found.items()):
        known = {one for one, _ in types if one is not None}
        keyed = any(by for _, by in types) or "_by_" in name
        kind = known.pop() if len(known) == 1 else "dict[str, float]" if keyed else "float"
        lines.append(f"    {name}: {kind if keyed or types and (None, False) not in types else f'Optional[{kind}]'}\n")
    return HEAD + "".join(lines)


if __name__ == "__main__":
    FILE.write_text(text())
