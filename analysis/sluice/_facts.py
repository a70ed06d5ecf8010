"""The decisions of a policy, as tables."""

from __future__ import annotations

from typing import Any, Iterator

import numpy as np
import pandas as pd

# The unit of a fact, by the ending of the fact's name.
_UNITS = {"_s": "s", "_bytes": "byte", "bytes_needed": "byte", "_j": "J"}


def table(facts: dict[str, Any]) -> pd.DataFrame:
    """Returns one row per fact, indexed by name. The columns are `value`, `unit`, `of` and `replica`. `of` is the
    group, stage or device of the fact."""
    rows = [(name, value, _unit(name) if isinstance(value, (int, float)) else "", of, replica)
            for name, value, of, replica in _rows(facts, "")]
    columns = ["fact", "value", "unit", "of", "replica"]
    return pd.DataFrame(rows, columns=columns).astype({"value": object}).set_index("fact")


def _rows(facts: dict[str, Any], replica: str) -> Iterator[tuple[str, Any, str, str]]:
    """Yields four cells for each row: name, value, `of` and replica. Some facts have a dict, with a value for each
    group, stage or device. Each entry of the dict becomes a row. The fact `replicas` holds the facts of each
    replica."""
    for name, value in facts.items():
        if name == "replicas" and isinstance(value, dict) and not replica:
            for device, inner in value.items():
                yield from _rows(inner, device)
        elif isinstance(value, dict):
            for of, inner in value.items():
                yield name, inner, of, replica
        else:
            yield name, value, "", replica


def _unit(name: str) -> str:
    return next((unit for end, unit in _UNITS.items() if name.endswith(end)), "")


def fates(actions: pd.DataFrame, tensors: pd.DataFrame, stages: list[str]) -> pd.DataFrame:
    """Returns one row per stage with the fates of its activations, as the actions of the plan show them. The table is
    empty if the plan does not train."""
    columns = ["name", "fate", "recomputed_s", "saved_bytes"]
    if not actions["kind"].isin(["backward", "backward_input", "backward_weight"]).any():
        return pd.DataFrame(columns=columns, index=pd.RangeIndex(0, name="stage"))
    numbers = range(len(stages))
    again = actions[actions["kind"] == "recompute"].groupby("stage")
    activations = set(tensors["name"][tensors["class"] == "activation"])
    saves = actions[(actions["kind"] == "save") & actions["moves"].isin(activations)].groupby("stage")
    recomputed = again["seconds"].sum().reindex(numbers)
    saved = saves["bytes"].sum().reindex(numbers)
    fate = np.select([recomputed.notna() & saved.notna(), recomputed.notna(), saved.notna()],
                     ["recompute, offload", "recompute", "offload"], "keep")
    table = pd.DataFrame({"name": stages, "fate": fate, "recomputed_s": recomputed.fillna(0.0),
                          "saved_bytes": saved.fillna(0).astype("int64")})
    table.index.name = "stage"
    table.attrs["units"] = {"recomputed_s": "s", "saved_bytes": "byte"}
    return table[columns]
