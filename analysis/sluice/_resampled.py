"""Divides the time of a run into bins with given ends, and computes numbers for each bin. So several runs can have the
same bins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

import numpy as np

from . import errors
from ._late import late

if TYPE_CHECKING:
    import xarray

    from ._recording import Recording


def bins(seconds: float, count: int) -> np.ndarray:
    """Returns the ends of `count` equal bins."""
    if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or not 1 <= count <= 10_000_000:
        raise errors.UsageError(f"bins={count!r}: expected a whole number of at least 1")
    return np.linspace(0, seconds, int(count) + 1)[1:]


def dataset(r: "Recording", times: Sequence[float], makespan: float,
            attributes: dict[str, Any]) -> "xarray.Dataset":
    """Returns for each bin: the utilisation of each stream, the level of each pool, and the samples that are complete.
    The bins end at `times`."""
    ends = np.array(times, dtype=float)
    if ends.ndim != 1 or len(ends) == 0 or not np.all(np.isfinite(ends)) or np.any(np.diff(ends, prepend=0) <= 0):
        raise errors.UsageError("'times' must be the ends of the bins: seconds above 0, each later than the "
                                "one before")
    edges = np.append(0.0, ends)
    over = edges[:-1] >= makespan  # bins that begin after the end of the run
    streams, pools = list(r.texts("streams/name")), list(r.texts("pools/name"))
    busy = np.array([_busy(r, number, edges) for number in range(len(streams))]).reshape(len(streams), len(ends))
    level = np.array([_highest(r, number, edges) for number in range(len(pools))]).reshape(len(pools), len(ends))
    done = _at(r, "samples_done", ends)
    about = {"utilisation": ("1", "share of the bin in which the stream is busy"),
             "level": ("byte", "most bytes in the pool during the bin"),
             "samples_done": ("sample", "samples that are complete when the bin ends")}
    arrays = {"utilisation": (("stream", "time"), np.where(over, np.nan, busy)),
              "level": (("pool", "time"), np.where(over, np.nan, level)),
              "samples_done": (("time",), np.where(over, np.nan, done))}
    return late("xarray").Dataset(
        {name: (*array, {"units": about[name][0], "long_name": about[name][1]}) for name, array in arrays.items()},
        coords={"time": ("time", ends, {"units": "s", "long_name": "end of the bin"}), "stream": streams,
                "pool": pools}, attrs=attributes)


def _busy(r: "Recording", stream: int, edges: np.ndarray) -> np.ndarray:
    """Returns the share of each bin in which the stream executes. A stream executes one action at a time, so this share
    is the sum over its actions."""
    mine = r.of_action("stream") == stream
    start, end = np.sort(r.numbers("spans/start")[mine]), np.sort(r.numbers("spans/end")[mine])
    if len(start) == 0:
        return np.zeros(len(edges) - 1)
    begun = np.append(0.0, np.cumsum(end - start))
    which = np.searchsorted(start, edges, "right")  # the number of spans that have begun when the bin ends
    still = np.where(which > 0, np.maximum(0, end[which - 1] - edges), 0.0)
    return np.diff(begun[which] - still) / np.diff(edges)


def _highest(r: "Recording", pool: int, edges: np.ndarray) -> np.ndarray:
    """Returns for each bin the most bytes that the pool holds, at the beginning of the bin or after a change in it."""
    mine = r.numbers("memory/pool") == pool
    time, level = r.numbers("memory/time")[mine], np.append(0, r.numbers("memory/level")[mine])
    first = np.searchsorted(time, edges[:-1], "right")  # number of changes when the bin begins
    last = np.searchsorted(time, edges[1:], "left")  # number of changes before the end of the bin
    return np.array([level[a : max(a, b) + 1].max() for a, b in zip(first, last)], dtype=float)


def _at(r: "Recording", name: str, times: np.ndarray) -> np.ndarray:
    """Returns the values of a series at given times. The series grows in steps, and its values are known at the ends of
    the recording's bins."""
    names = [one for one, _, _ in r.info["series"]]
    own = r.numbers("series/time")
    if name not in names or len(own) == 0:
        return np.full(len(times), np.nan)
    values = np.append(0.0, r.numbers(f"series/{names.index(name)}"))
    return values[np.searchsorted(own, times * (1 + 1e-12), "right")]
