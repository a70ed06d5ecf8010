"""Axes that several pictures may share. All numbers of an axis have the same unit, such as ms, GB or TFLOP/s. The
limits of an axis may become wider, but never narrower. This module imports matplotlib. Therefore other modules import
it late, with `late("._axes")`."""

from __future__ import annotations

import math
from typing import Any, Optional, Sequence, Union
from weakref import WeakKeyDictionary, WeakSet

from matplotlib import pyplot, ticker
from matplotlib.axes import Axes
from matplotlib.legend import Legend as Legends

from . import _colours, errors
from ._checked import clipped
from ._paper import page_width

UNITS = {"s": {"s": 1.0, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9},
         "byte": {"TB": 1e12, "GB": 1e9, "MB": 1e6, "kB": 1e3, "B": 1.0},
         "FLOP/s": {"PFLOP/s": 1e15, "TFLOP/s": 1e12, "GFLOP/s": 1e9, "MFLOP/s": 1e6, "FLOP/s": 1.0}}
_ours: WeakSet[Any] = WeakSet()  # the figures whose size Sluice chose
_NARROW = 5.0  # inches; in a narrower figure, a legend beside the axes would take too much room

Legend = Union[bool, str]
Size = Optional[tuple[float, float]]


def factor_of(unit: str, dimension: str, argument: str = "unit") -> tuple[str, float]:
    """Returns the name of a unit as axes show it, and the size of the unit in s, byte or FLOP/s. Raises UsageError for
    an unknown unit. `argument` is the name of the caller's argument in this message."""
    known = UNITS[dimension]
    name = unit.replace("us", "µs").replace("\u03bc", "µ") if isinstance(unit, str) else unit
    if name not in known:
        raise errors.UsageError(f"{argument}={unit!r}: expected one of {', '.join(known)}")
    return name, known[name]


class Scaled(ticker.Formatter):
    """Formats the numbers of an axis. The given numbers are in a plain unit, such as s or byte. The axis shows them in
    the unit `pinned`, if a caller has asked for a unit. Otherwise, the unit suits the range of the axis. The formatter
    also updates the unit in labels."""

    def __init__(self, dimension: str) -> None:
        self.dimension = dimension
        self.pinned: Optional[str] = None
        self.unit, self.factor = next((unit, one) for unit, one in UNITS[dimension].items() if one == 1)
        self._labels: WeakKeyDictionary[Any, tuple[str, str]] = WeakKeyDictionary()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_labels": dict(self._labels)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _labels=WeakKeyDictionary(state["_labels"]))

    def label(self, axis: Any, what: str) -> None:
        """Labels the axis with `what` and the unit of the numbers. If this unit changes, the label changes, too. A
        label that the user has set does not change."""
        self._labels[axis] = (what, f"{what} ({self.unit})")
        axis.set_label_text(self._labels[axis][1])

    def fit(self, low: float, high: float) -> None:
        """Chooses the unit for an axis that reaches from `low` to `high`."""
        length = abs(high - low)
        fitting = (unit for unit, one in UNITS[self.dimension].items() if length >= one * (1 - 1e-9))
        smallest = min(UNITS[self.dimension], key=UNITS[self.dimension].__getitem__)
        self.unit = self.pinned or next(fitting, smallest)
        self.factor = UNITS[self.dimension][self.unit]
        for axis, (what, text) in list(self._labels.items()):
            if axis.get_label_text() == text:
                self.label(axis, what)

    def follow_x(self, ax: Axes) -> None:
        self.fit(*ax.get_xlim())

    def follow_y(self, ax: Axes) -> None:
        self.fit(*ax.get_ylim())

    def __call__(self, value: float, pos: Optional[int] = None) -> str:
        return f"{value / self.factor:.6g}"

    def format_ticks(self, values: Sequence[float]) -> list[str]:
        """Writes as many digits as are needed to distinguish neighbouring numbers."""
        numbers = [value / self.factor for value in values]
        apart = min((abs(b - a) for a, b in zip(numbers, numbers[1:]) if a != b), default=0.0)
        digits = max(0, -math.floor(math.log10(apart) + 1e-9)) if apart > 0 else 3
        while digits < 12 and any(abs(round(n, digits) - n) > 1e-6 * apart for n in numbers):
            digits += 1
        return [f"{number + 0.0:.{digits}f}" for number in numbers]

    def format_data_short(self, value: float) -> str:
        return f"{value / self.factor:.6g} {self.unit}"


class Limits:
    """The limits that axes have before a picture is drawn on them. The picture may extend these limits, but never
    shrinks them, because other pictures may share the axes."""

    def __init__(self, ax: Axes) -> None:
        self._ax = ax
        drawn = {which: any(one.has_data() for one in siblings(ax, which)) for which in "xy"}
        self._x = ax.get_xlim() if drawn["x"] or not ax.get_autoscalex_on() else None
        self._y = ax.get_ylim() if drawn["y"] or not ax.get_autoscaley_on() else None

    def x(self, low: float, high: float) -> None:
        """Extends the x axis, so that it reaches at least from `low` to `high`."""
        before = self._x or (low, high)
        self._ax.set_xlim(min(low, *before), max(high, *before))

    def y(self, low: float, high: float) -> None:
        before = self._y or (low, high)
        self._ax.set_ylim(min(low, *before), max(high, *before))


def siblings(ax: Axes, which: str) -> list[Axes]:
    """Returns `ax` and all panels that share its x axis or its y axis. `which` names the axis: "x" or "y"."""
    shared = ax.get_shared_x_axes() if which == "x" else ax.get_shared_y_axes()
    return shared.get_siblings(ax)


def scale(ax: Axes, which: str, what: str, dimension: str, unit: Optional[str] = None,
          argument: str = "unit") -> None:
    """Labels the axis and writes its numbers in `unit`. By default, the unit suits the limits of the axis. Set the
    limits before this call. All axes that share the limits get the same unit. `argument` is the name that messages use
    for `unit`."""
    axis = getattr(ax, f"{which}axis")
    formatter = axis.get_major_formatter()
    if not isinstance(formatter, Scaled) or formatter.dimension != dimension:
        formatter = Scaled(dimension)
        for one in siblings(ax, which):
            getattr(one, f"{which}axis").set_major_formatter(formatter)
    if unit is not None:
        formatter.pinned = factor_of(unit, dimension, argument)[0]
    for one in siblings(ax, which):
        one.callbacks.connect(f"{which}lim_changed", getattr(formatter, f"follow_{which}"))
    getattr(formatter, f"follow_{which}")(ax)
    if which == "y" or not _is_above_a_sibling(ax):
        formatter.label(axis, what)


def _is_above_a_sibling(ax: Axes) -> bool:
    """Returns whether `ax` shares its x axis with a panel below it in the same column. If panels share an x axis, only
    the lowest panel has the label."""
    mine = ax.get_subplotspec()
    others = [one.get_subplotspec() for one in siblings(ax, "x") if one is not ax]
    return mine is not None and any(
        other is not None and other.get_gridspec() is mine.get_gridspec()
        and other.colspan == mine.colspan and other.rowspan.start >= mine.rowspan.stop for other in others)


def new(ax: Optional[Axes], width: float, height: float, figsize: Size = None) -> Axes:
    """Returns the caller's axes, or new axes in a figure of the given size (inches)."""
    if ax is not None:
        if not isinstance(ax, Axes):
            raise errors.UsageError(f"ax is a {type(ax).__name__} and not an Axes of matplotlib; plt.subplots() makes one")
        if figsize is not None:
            raise errors.UsageError("figsize cannot be given together with ax: the figure of the axes has a size "
                                    "already")
        return ax
    figure, ax = pyplot.subplots(figsize=size(width, height, figsize), layout="constrained")
    if figsize is None:
        _ours.add(figure)
    return ax


def size(width: float, height: float, figsize: Size) -> tuple[float, float]:
    """Returns the size of a figure in inches. This is the requested size, or else a size that suits the picture. Within
    `sluice.paper`, the size also suits the page."""
    if figsize is not None:
        if len(figsize) != 2 or not all(isinstance(one, (int, float)) and 0.1 <= one <= 200 for one in figsize):
            raise errors.UsageError(f"figsize={clipped(figsize)}: expected width and height in inches, from 0.1 to 200")
        return tuple(figsize)
    page = page_width()
    if page is None:
        return width, height
    return (page, height * max(0.62, page / width)) if page < width else (page, height * 0.8)


def title(ax: Axes, given: Optional[str], ours: str) -> None:
    """Sets the title `given`. The text "" means no title. If `given` is None, the picture has the title `ours`, or no
    title within `sluice.paper`."""
    text = (ours if page_width() is None else "") if given is None else given
    ax.set_title(text, loc="left")


def legend(ax: Axes, handles: Sequence[Any], wanted: Legend) -> None:
    """Puts the legend beside the axes, or above them in a narrow figure. `wanted` is True, False (no legend), or one of
    matplotlib's places for legends."""
    if not handles or wanted is False or wanted is None:
        return
    look = {"handles": handles, "frameon": False, "labelcolor": _colours.ink(ax)}
    if isinstance(wanted, str):
        ax.legend(loc=place(wanted), **look)
    elif not is_narrow(ax.get_figure()):
        ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), **look)
    else:
        _legend_above(ax, look)


def place(wanted: str) -> str:
    """Returns `wanted` if it is one of matplotlib's places for legends. Raises UsageError otherwise."""
    if wanted not in Legends.codes:
        raise errors.UsageError(f"legend={wanted!r}: expected True, False or one of {', '.join(Legends.codes)}")
    return wanted


def is_narrow(figure: Any) -> bool:
    """Returns whether a legend beside the axes would take too much of the figure's width."""
    return bool(figure.get_size_inches()[0] < _NARROW)


def _legend_above(ax: Axes, look: dict[str, Any]) -> None:
    """Puts the legend above the axes, in as many columns as fit. If the axes have a title, the title is above the
    legend."""
    labels = [handle.get_label() for handle in look["handles"]]
    inches = ax.get_figure().get_size_inches()[0] * 0.85
    points = pyplot.rcParams["font.size"] * 0.85
    widest = max(max(len(line) for line in label.split("\n")) for label in labels) * 0.52 * points + 2.6 * points
    columns = max(1, min(len(labels), int(72 * inches / widest)))
    rows = math.ceil(len(labels) / columns) + max(label.count("\n") for label in labels)
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=columns, borderaxespad=0.2,
              handlelength=1.2, columnspacing=1.0, **look)
    ax.set_title(ax.get_title(loc="left"), loc="left", pad=4 + 1.45 * points * rows)
    if ax.get_figure() in _ours:  # the axes keep the height that they have without the legend
        width, height = ax.get_figure().get_size_inches()
        ax.get_figure().set_size_inches(width, height + 1.45 * points * rows / 72)


def tidy(ax: Axes) -> None:
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
