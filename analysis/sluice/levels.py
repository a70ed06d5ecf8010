"""What lies in a memory over time, by tensor class, for a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ._recording import Recording

_COLUMNS = 300  # of a picture: what is narrower is not told apart


def by_class(r: "Recording", pool: int, start: float, end: float) -> tuple[np.ndarray, dict]:
    """Times from `start` on, and the bytes by class from each to the next. Of more changes than a
    picture has columns: in each column as it is at its highest level."""
    mine = r.numbers("memory/pool") == pool
    time, delta = r.numbers("memory/time")[mine], r.numbers("memory/delta")[mine]
    kind = r.texts("tensors/class")
    names = list(dict.fromkeys(kind))
    number = np.array([names.index(one) for one in kind])[r.numbers("memory/tensor")[mine]]
    level = np.append(0, np.cumsum(delta))  # before the first change, and after each
    times, shown = _columns(time, level, start, end)
    return times, {name: np.append(0, np.cumsum(np.where(number == i, delta, 0)))[shown]
                   for i, name in enumerate(names)}


def _columns(time: np.ndarray, level: np.ndarray, start: float,
             end: float) -> tuple[np.ndarray, np.ndarray]:
    """Where columns begin, and after how many changes each is shown."""
    first, last = np.searchsorted(time, start, "left"), np.searchsorted(time, end, "right")
    if last - first <= _COLUMNS:
        return np.append(start, time[first:last]), np.arange(first, last + 1)
    edges, width = np.linspace(start, end, _COLUMNS, endpoint=False, retstep=True)
    # Half a column more on both sides: what comes back in every second column is seen in all.
    begins = np.clip(np.searchsorted(time, edges - width / 2), first, last)
    ends = np.clip(np.searchsorted(time, edges + 1.5 * width), first, last)
    shown = [a + int(np.argmax(level[a : b + 1])) for a, b in zip(begins, ends)]
    return edges, np.array(shown)
