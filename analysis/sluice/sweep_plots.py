"""Pictures of a sweep. A mark shows each point that was refused."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Optional, Union

import numpy as np

from . import _colours, _sluice, errors
from ._checked import checked
from ._late import late

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

Legend = Union[bool, str]
Size = Optional[tuple[float, float]]
_MARKERS = "os^vDP*X"


@checked
class SweepPlots:
    """Draws sweep.plot.curve(...) and sweep.plot.heatmap(...). Both return their Axes. `unit` is the unit of the
    metric, such as "ms" or "GB". By default, the table's unit is used. The arguments ax, title, legend and figsize are
    as in result.plot."""

    def __init__(self, table: "pandas.DataFrame") -> None:
        self._table = table
        self._units = self._table.attrs["units"]

    def curve(self, x: str, y: str, by: Optional[str] = None, ax: Optional["Axes"] = None,
              log: str = "", title: Optional[str] = None, *, unit: Optional[str] = None,
              legend: Legend = True, figsize: Size = None) -> "Axes":
        """Shows a metric `y` over a key `x`. The values of `x` are numbers. There is one line per value of the key
        `by`. A cross at the bottom marks a refused point. `log` names the logarithmic axes, "x", "y" or "xy"."""
        self._require(x, y, by, metric=y)
        axes = late("._axes")
        factor, label = self._labelled(y, unit)
        ax = axes.new(ax, 5.5, 3.6, figsize)
        limits = axes.Limits(ax)
        groups = [(None, self._table)] if by is None else self._table.groupby(by, sort=False)
        x_unit, lines = "", []
        for place, (value, rows) in enumerate(groups):
            colour = _colours.compared(place, ax)
            numbers, x_unit = _numbers(rows[x])
            order = np.argsort(numbers)
            fits = rows[y].notna().to_numpy()
            lines += ax.plot(numbers[order], rows[y].to_numpy()[order] / factor, color=colour,
                             label=None if by is None else f"{_last(by)} {value}",
                             marker=_MARKERS[place % len(_MARKERS)], markersize=4)
            ax.plot(numbers[~fits], np.full((~fits).sum(), 0.03), "x", color=colour, markersize=6,
                    transform=ax.get_xaxis_transform(), clip_on=False)
        _logarithmic(ax, log)
        if "y" not in log:
            ax.autoscale_view()
            limits.y(0, ax.get_ylim()[1])
        ax.set_xlabel(_last(x) + (f" ({x_unit})" if x_unit else ""))
        ax.set_ylabel(label)
        if by is not None and legend:
            ax.legend(handles=lines, loc=axes.place(legend) if isinstance(legend, str) else "best", frameon=False,
                      fontsize="small", labelcolor=_colours.ink(ax))
        self._note_refusals(ax, y)
        _title(ax, title)
        return ax

    def heatmap(self, x: str, y: str, metric: str, ax: Optional["Axes"] = None,
                title: Optional[str] = None, *, unit: Optional[str] = None, legend: Legend = True,
                figsize: Size = None) -> "Axes":
        """Shows a metric as a colour and a number for each pair of values of the keys `x` and `y`. Points that were
        refused are hatched. Raises UsageError if several points have the same values of `x` and `y`."""
        self._require(x, metric, y, metric=metric)
        if self._table.duplicated([x, y]).any():
            raise errors.UsageError(f"several points have the same '{x}' and '{y}': sweep fewer keys, or choose some "
                                    "of the points")
        factor, label = self._labelled(metric, unit)
        columns, rows = list(dict.fromkeys(self._table[x])), list(dict.fromkeys(self._table[y]))
        field = np.full((len(rows), len(columns)), np.nan)
        for _, point in self._table.iterrows():
            field[rows.index(point[y]), columns.index(point[x])] = point[metric] / factor
        ax = late("._axes").new(ax, 1.6 + 0.8 * len(columns), max(2.6, 1.2 + 0.45 * len(rows)), figsize)
        image = _fields(ax, field)
        ax.set_xticks(range(len(columns)), [str(value) for value in columns])
        ax.set_yticks(range(len(rows)), [str(value) for value in rows])
        ax.set_xlabel(_last(x))
        ax.set_ylabel(_last(y))
        if legend:
            ax.figure.colorbar(image, ax=ax, label=label)
        self._note_refusals(ax, metric, "hatched")
        _title(ax, title)
        return ax

    def _require(self, x: str, y: str, by: Optional[str], metric: str) -> None:
        if metric not in self._table and not self._units:
            _sluice.better(metric.split("[", 1)[0])  # raises an error if Sluice has no such metric
            self._table = self._table.assign(**{metric: np.nan})  # no point ran, so the table has no metrics
        for column in (x, y, by):
            if column is not None and column not in self._table:
                raise errors.UsageError(f"'{column}' is neither a key nor a metric of this sweep; "
                                        "there are: " + ", ".join(self._table.columns))

    def _labelled(self, metric: str, unit: Optional[str]) -> tuple[float, str]:
        """Returns the size of the requested unit in the metric's own unit, and the label of the axis."""
        own, factor = self._units.get(metric, ""), 1.0
        if unit is not None and metric in self._units:  # without numbers there is nothing to convert
            axes = late("._axes")
            if own not in axes.UNITS:
                raise errors.UsageError(f"unit={unit!r}: '{metric}' is in {own or 'no unit'} and cannot be shown in "
                                        "another unit")
            unit, factor = axes.factor_of(unit, own)
        shown = unit or own
        return factor, metric + (f" ({shown})" if shown not in ("", "1") else "")

    def _note_refusals(self, ax: "Axes", metric: str, mark: str = "×") -> None:
        refused = int(self._table[metric].isna().sum())
        if refused:
            ax.annotate(f"{mark}: {refused} point{'s' if refused > 1 else ''} refused", (1, 1),
                        xycoords="axes fraction", ha="right", va="bottom", fontsize="small",
                        color=_colours.ink(ax))


def _logarithmic(ax: "Axes", log: str) -> None:
    if "x" in log:
        ax.set_xscale("log", base=2)
        ax.xaxis.set_major_formatter(late("matplotlib.ticker").FormatStrFormatter("%g"))
    if "y" in log:
        ax.set_yscale("log")


def _fields(ax: "Axes", field: np.ndarray) -> Any:
    """Draws colours, with a number or a hatch in each field."""
    image = ax.imshow(np.ma.masked_invalid(field), aspect="auto", origin="lower", cmap="cividis")
    for (row, column), number in np.ndenumerate(field):
        if np.isnan(number):
            ax.add_patch(late("matplotlib.patches").Rectangle(
                (column - 0.5, row - 0.5), 1, 1, fill=False, hatch="///", linewidth=0,
                edgecolor=_colours.ink(ax)))
        else:
            ax.text(column, row, _short(number), ha="center", va="center", fontsize="small",
                    color=_colours.upon(image.to_rgba(number)))
    return image


def _title(ax: "Axes", title: Optional[str]) -> None:
    if title:
        ax.set_title(title, loc="left", fontsize="medium")


def _short(number: float) -> str:
    """Returns the number with three significant digits. A number from 100 to 999,999 has all digits before the decimal
    point."""
    return f"{number:.0f}" if 100 <= abs(number) < 1e6 else f"{number:.3g}"


def _last(key: str) -> str:
    """Returns the last two words of a key, such as "host.bandwidth", for the label of an axis."""
    return ".".join(key.split(".")[-2:])


def _numbers(values: Any) -> tuple[np.ndarray, str]:
    """Returns numbers and their common unit. For example, "16GB/s" gives 16 and GB/s. Raises UsageError for a value
    that is not a number. Raises UsageError if the values have different units."""
    numbers, units = [], set()
    for value in values:
        found = re.fullmatch(r"\s*([-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?)\s*(.*)", str(value))
        if found is None or isinstance(value, bool):
            raise errors.UsageError(f"'{value}' is not a number: a curve needs numbers on its axis")
        numbers.append(float(found[1]))
        units.add(found[2])
    if len(units) > 1:
        raise errors.UsageError("the values have several units: " + ", ".join(sorted(units)))
    return np.array(numbers), units.pop() if units else ""
