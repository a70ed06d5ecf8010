"""Results as pandas DataFrames. Numeric columns of the recording are used without a copy."""

from __future__ import annotations

from typing import Optional

import numpy as np
import pandas as pd

from ._late import late
from ._recording import NOBODY, REASONS, Recording

_UNITS = {"start": "s", "end": "s", "available": "s", "waited": "s", "time": "s", "bytes": "byte",
          "flop": "FLOP", "level": "byte", "delta": "byte"}


def coded(codes: np.ndarray, names) -> pd.Categorical:
    """Returns a column with the name for each code. A code is a position in `names`. Any other code, such as -1,
    becomes a missing value."""
    codes = np.asarray(codes).astype(np.int64)
    codes[(codes < 0) | (codes >= len(names))] = -1
    return pd.Categorical.from_codes(codes, categories=_distinct(names))


def _distinct(names) -> list[str]:
    """Returns the names. A name that occurs again gets a number appended."""
    seen: dict[str, int] = {}
    result = []
    for name in names:
        count = seen.get(name, 0)
        seen[name] = count + 1
        result.append(name if count == 0 else f"{name}#{count + 1}")
    return result


def by_text(codes: np.ndarray, texts: np.ndarray) -> pd.Categorical:
    """Returns a column of texts, one per code. Several codes may have the same text."""
    numbers, names = pd.factorize(texts)
    return pd.Categorical.from_codes(numbers[codes], categories=names)


class Table:
    """Read-only columns, and any number of DataFrames that share them. If one DataFrame gets new columns or another
    order, the other DataFrames do not change."""

    def __init__(self, columns: dict, index: Optional[pd.Index] = None) -> None:
        self._columns = {name: _read_only(column) for name, column in columns.items()}
        self._index = index

    def frame(self) -> pd.DataFrame:
        """Returns a new DataFrame, without copies of numbers."""
        index = None if self._index is None else self._index.view()
        table = pd.DataFrame({name: column.view() for name, column in self._columns.items()}, index=index,
                             copy=False)
        table.attrs["units"] = {name: _UNITS[name] for name in self._columns if name in _UNITS}
        return table


def _read_only(column):
    """Makes a column read-only: its numbers, or the codes of its texts."""
    if isinstance(column, pd.Categorical):
        column._ndarray.setflags(write=False)
    else:
        column.setflags(write=False)
    return column


def spans(r: Recording) -> Table:
    """Returns one row per executed action, in the order in which the actions ended."""
    action = r.numbers("spans/action")
    return Table({
        "start": r.numbers("spans/start"),
        "end": r.numbers("spans/end"),
        "available": r.numbers("spans/available"),
        "waited": r.numbers("spans/waited"),
        "stream": coded(r.of_action("stream"), r.texts("streams/name")),
        "action": by_text(action, r.texts("actions/name")),
        "kind": by_text(action, r.texts("actions/kind")),
        "device": by_text(r.of_action("stream"), r.texts("streams/device")),
        "stage": r.of_action("stage"),
        "stage_name": coded(r.of_action("stage"), r.texts("stages/name")),
        "micro_batch": r.of_action("micro_batch"),
        "iteration": r.numbers("spans/iteration"),
        "section": by_text(action, r.texts("actions/section")),
        "reason": coded(r.numbers("spans/reason"), REASONS),
        "blocker": _blockers(r),
        "cause": r.numbers("spans/cause"),
        "bytes": r.of_action("bytes"),
        "flop": r.of_action("flop"),
    })


def _blockers(r: Recording) -> pd.Categorical:
    """Returns the action or the pool for which each span waited last."""
    reason, blocker = r.numbers("spans/reason"), r.numbers("spans/blocker")
    codes, names = pd.factorize(np.concatenate([r.texts("actions/name"), r.texts("pools/name")]))
    actions = r.rows("actions/name")
    result = np.full(len(blocker), -1, dtype=np.int64)
    data = (reason == 1) & (blocker != NOBODY)
    memory = (reason == 2) & (blocker != NOBODY)
    result[data] = codes[blocker[data]]
    result[memory] = codes[actions + blocker[memory].astype(np.int64)]
    return pd.Categorical.from_codes(result, categories=names)


def memory(r: Recording) -> Table:
    """Returns one row for each time that a tensor enters or leaves a pool. The rows are ordered by pool, and then by
    time."""
    tensor = r.numbers("memory/tensor")
    return Table({
        "time": r.numbers("memory/time"),
        "pool": coded(r.numbers("memory/pool"), r.texts("pools/name")),
        "level": r.numbers("memory/level"),
        "delta": r.numbers("memory/delta"),
        "tensor": by_text(tensor, r.texts("tensors/name")),
        "class": by_text(tensor, r.texts("tensors/class")),
    })


def series(r: Recording) -> Table:
    """Returns one row per bin and one column per series, as in the group /series of a trace. The index of a row is the
    time at which the bin ends."""
    time = r.numbers("series/time")
    streams = [f"utilisation/{name}" for name in r.texts("streams/name")]
    busy = r.numbers("series/utilisation")
    columns = dict(zip(streams, busy.reshape(-1, len(time)))) if len(busy) else {}
    for number, (name, _, _) in enumerate(r.info["series"]):
        columns[name] = r.numbers(f"series/{number}")
    return Table(columns, index=pd.Index(time, name="time"))


_LARGEST = np.iinfo(np.int32).max  # the largest integer that every form of netCDF can store


def to_xarray(r: Recording, attributes: dict):
    """Returns all tables as one xarray.Dataset, with the dimension `span` for spans, `event` for memory events and
    `time` for series. Names have dots instead of slashes, because slashes mean groups in netCDF."""
    xarray = late("xarray")
    arrays = {}
    for dimension, table, prefix in (("span", spans(r), ""), ("event", memory(r), "memory_")):
        for name, column in table.frame().items():
            units = {"units": _UNITS[name]} if name in _UNITS else {}
            arrays[prefix + name] = (dimension, _array(column), units)
    table = series(r).frame()
    about = {name: (unit, summary) for name, unit, summary in r.info["series"]}
    for name, column in table.items():
        unit, summary = about.get(name, ("1", "share of the bin in which the stream is busy"))
        arrays[_dotted(name)] = ("time", column.to_numpy(), {"units": unit, "long_name": summary})
    data = xarray.Dataset(arrays, coords={"time": ("time", table.index.to_numpy(), {"units": "s"})},
                          attrs={_dotted(key): _attribute(one) for key, one in attributes.items()})
    for array in data.variables.values():
        if array.dtype == np.int64 and np.abs(array.values).max(initial=0) > _LARGEST:
            array.encoding["dtype"] = "float64"
    return data


def _dotted(name: str) -> str:
    return name.replace("/", ".")


def _array(column: pd.Series) -> np.ndarray:
    """Returns a column as an array. Categories become texts, and a missing category becomes ""."""
    if column.dtype != "category":
        return column.to_numpy()
    return np.append(column.cat.categories.to_numpy(object), "")[column.cat.codes]


def _attribute(value):
    return float(value) if isinstance(value, int) and abs(value) > _LARGEST else value


def stages(r: Recording) -> pd.DataFrame:
    """Returns one row per stage of the plan, indexed by the stage's number."""
    names = list(r.texts("stages/name"))
    table = spans(r).frame()
    computes = np.isin(r.of_action("stream"), np.flatnonzero(r.texts("streams/kind") == "compute"))
    seconds = (table["end"] - table["start"]).to_numpy()
    columns = pd.DataFrame({
        "stage": table["stage"], "device": table["device"].astype(str), "start": table["start"], "end": table["end"],
        "compute_s": np.where(computes, seconds, 0.0), "flop": table["flop"],
        "loaded_bytes": table["bytes"].where(table["kind"] == "load", 0),
        "saved_bytes": table["bytes"].where(table["kind"] == "save", 0)})
    groups = columns[columns["stage"] >= 0].groupby("stage")
    found = groups.agg(devices=("device", lambda one: ", ".join(sorted(set(one)))), spans=("start", "size"),
                       compute_s=("compute_s", "sum"), flop=("flop", "sum"),
                       loaded_bytes=("loaded_bytes", "sum"), saved_bytes=("saved_bytes", "sum"),
                       start=("start", "min"), end=("end", "max"))
    found = found.reindex(pd.RangeIndex(len(names), name="stage"))
    counts = {name: 0 for name in ("spans", "flop", "loaded_bytes", "saved_bytes")}
    found = found.fillna({"devices": "", "compute_s": 0.0, **counts}).astype({name: "int64" for name in counts})
    found.insert(0, "name", names)
    found.attrs["units"] = {**_UNITS, "compute_s": "s", "loaded_bytes": "byte", "saved_bytes": "byte"}
    return found
