"""The contents of a memory over time, by tensor class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

import numpy as np

from . import _colours, errors
from ._metrics import for_people

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ._recording import Recording

# The number of columns of a picture. Changes within one column look like one change.
_COLUMNS = 300
_SEEN = 1 / 200  # an area cannot be seen if its height or width is a smaller share of the picture's


def draw(ax: "Axes", r: "Recording", pool: int, start: float, end: float) -> tuple[list[Any], float]:
    """Draws the tensor classes as a stack, and the capacity of the memory. Returns the entries of the legend, and the
    height (bytes) that the picture needs. There is an entry for each class that can be seen, from the top of the stack
    down."""
    limit = int(r.numbers("pools/capacity")[pool])
    time, classes = by_class(r, pool, start, end)
    top = sum(classes.values(), np.zeros(len(time))).max()
    near = 0 <= limit <= 4 * top
    height = max(limit if near else 0, top) * 1.12 or 1
    said = []
    bottom = np.zeros(len(time) + 1)
    x = np.append(time, end)
    for one in (one for one in _colours.CLASSES if one in classes and classes[one].any()):
        upper = bottom + np.append(classes[one], classes[one][-1:])
        area = ax.fill_between(x, bottom, upper, step="post", color=_colours.CLASSES[one],
                               label=one.replace("_", " "), linewidth=0)
        if np.diff(x)[classes[one] > _SEEN * height].sum() > _SEEN * (end - start):
            said.append(area)
        bottom = upper
    if limit >= 0:
        _capacity(ax, limit, near)
    return said[::-1], height


def _capacity(ax: "Axes", limit: int, near: bool) -> None:
    """Draws a line at the capacity. If the capacity is far above the levels, writes the capacity as a text instead."""
    look = {"textcoords": "offset points", "fontsize": "small", "color": _colours.ink(ax)}
    text = f"capacity {for_people(limit, 'byte')}"
    if not near:
        ax.annotate(text, (0, 1), xycoords="axes fraction", xytext=(4, -4), va="top", **look)
        return
    ax.axhline(limit, color=_colours.ink(ax), linestyle="--", linewidth=1)
    ax.annotate(text, (0, limit), xycoords=ax.get_yaxis_transform(), xytext=(4, 3), **look)


def pool_of(r: "Recording", name: Optional[str]) -> int:
    """Returns the index of the memory with this name. By default, this is the first limited memory that a tensor
    enters. Raises InputError."""
    names, capacity = list(r.texts("pools/name")), r.numbers("pools/capacity")
    if name is not None:
        if name not in names:
            raise errors.InputError(f"no memory is called '{name}'; known: {', '.join(names)}")
        return names.index(name)
    entered = set(np.unique(r.numbers("memory/pool")))
    if not entered:
        raise errors.InputError("in this run, no memory held any bytes, so there is nothing to draw")
    return int(min(entered, key=lambda number: (capacity[number] < 0, number)))


def by_class(r: "Recording", pool: int, start: float, end: float) -> tuple[np.ndarray, dict]:
    """Returns times from `start` on. Also returns the bytes of each tensor class, from each time to the next. If there
    are more changes than a picture has columns, each column shows its highest level."""
    mine = r.numbers("memory/pool") == pool
    time, delta = r.numbers("memory/time")[mine], r.numbers("memory/delta")[mine]
    kind = r.texts("tensors/class")
    names = list(dict.fromkeys(kind))
    number = np.array([names.index(one) for one in kind])[r.numbers("memory/tensor")[mine]]
    level = np.append(0, np.cumsum(delta))  # the level before the first change, and after each change
    times, shown = _columns(time, level, start, end)
    return times, {name: np.append(0, np.cumsum(np.where(number == i, delta, 0)))[shown]
                   for i, name in enumerate(names)}


def _columns(time: np.ndarray, level: np.ndarray, start: float,
             end: float) -> tuple[np.ndarray, np.ndarray]:
    """Returns the times at which the picture's columns begin. Also returns an index into `level` for each column: the
    level that it shows."""
    first, last = np.searchsorted(time, start, "left"), np.searchsorted(time, end, "right")
    if last - first <= _COLUMNS:
        return np.append(start, time[first:last]), np.arange(first, last + 1)
    edges, width = np.linspace(start, end, _COLUMNS, endpoint=False, retstep=True)
    # The highest level is also looked for in half a column on both sides of each column. So a level that occurs in
    # every second column is visible in all columns.
    begins = np.clip(np.searchsorted(time, edges - width / 2), first, last)
    ends = np.clip(np.searchsorted(time, edges + 1.5 * width), first, last)
    shown = [a + int(np.argmax(level[a : b + 1])) for a, b in zip(begins, ends)]
    return edges, np.array(shown)
