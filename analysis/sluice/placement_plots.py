"""Pictures of a placement curve: the slowdown at several sizes of fast memory, for several ways to place tensors. A
mark shows at which size a way was refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional, Sequence, Union

import numpy as np

from . import _colours, _documents, errors
from ._checked import checked, clipped
from ._late import late
from ._metrics import Suggesting, for_people
from .words import Way

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .placement import PlacementCurve

Legend = Union[bool, str]
Size = Optional[tuple[float, float]]
_MARKERS = "os^vDP*"
_CROWDED = 1.5  # a logarithmic axis labels a share only if it is more than this multiple of the previous label


@checked
class PlacementPlots(Suggesting):
    """Draws curve.plot.slowdown() and curve.plot.tensors(), which return their Axes. The arguments ax, title, legend
    and figsize are as in result.plot."""

    def __init__(self, curve: "PlacementCurve") -> None:
        self._curve = curve

    def slowdown(self, ax: Optional["Axes"] = None, ways: Union[Way, Sequence[Way], None] = None,
                 title: Optional[str] = None, *, log: bool = False, legend: Legend = True,
                 figsize: Size = None) -> "Axes":
        """Shows the slowdown compared with a run that has all tensors in fast memory. The horizontal axis is the share
        (percent) of the needed bytes that fits into fast memory. There is a line for each way. Lines have different
        widths, so that all lines can be seen where their values are equal. A cross at the bottom marks a size at which
        a way was refused. A dotted line marks the fast memory of the device. `ways` is one way or a list. None means
        all ways of the curve. With `log`, the axis of shares is logarithmic. Raises UsageError for a way that the curve
        does not have."""
        table = self._curve.frame
        asked = list(dict.fromkeys(table["way"]))
        chosen = asked if ways is None else [ways] if isinstance(ways, str) else list(ways)
        for way in chosen:
            if way not in asked:
                raise errors.UsageError(f"{clipped(way)} for 'ways' is not a way of this curve; there are: "
                                        f"{', '.join(asked)}")
        axes = late("._axes")
        ax = axes.new(ax, 6.5, 3.8, figsize)
        limits = axes.Limits(ax)
        if log:
            ax.set_xscale("log")
        lines, refused = [], 0
        for way in chosen:
            rows = table[(table["way"] == way) & ((table["fast_share"] > 0) | (not log))]
            place = asked.index(way)
            colour, width = _colours.compared(place, ax), 3.2 - 2.0 * (place + 1) / len(asked)
            shares, fits = 100 * rows["fast_share"].to_numpy(), rows["slowdown"].notna().to_numpy()
            lines += ax.plot(shares[fits], rows["slowdown"].to_numpy()[fits], color=colour, label=way.replace("_", " "),
                             linewidth=width, marker=_MARKERS[place % len(_MARKERS)], markersize=2.5 + 1.5 * width)
            ax.plot(shares[~fits], np.full((~fits).sum(), 0.03), "x", color=colour, markersize=6,
                    transform=ax.get_xaxis_transform(), clip_on=False)
            refused += int((~fits).sum())
        lines += self._marks(ax, refused)
        ax.autoscale_view()
        limits.y(1 - 0.04 * (ax.get_ylim()[1] - 1), ax.get_ylim()[1])
        if log:
            _percentages(ax, 100 * table["fast_share"].to_numpy())
        ax.set_xlabel(f"of the tensors' bytes that fit into {self._curve.fast} (%)")
        ax.set_ylabel("slowdown")
        self._finish(ax, lines, legend, title, f"{self._curve.scenario}: slowdown by the size of {self._curve.fast}")
        return ax

    def tensors(self, ax: Optional["Axes"] = None, fast: Union[str, float, None] = None, way: Way = "static",
                title: Optional[str] = None, *, top: int = 15, unit: Optional[str] = None, legend: Legend = True,
                figsize: Size = None) -> "Axes":
        """Shows the seconds that tensors save in fast memory. The `top` tensors with the most seconds have a bar each.
        A bar in full colour is for a tensor in fast memory, and shows the seconds that the run would lose with this
        tensor in slow memory. A pale bar is for a tensor in slow memory, and shows the seconds that the run would save
        with this tensor in fast memory. `fast` and `way` are as in `PlacementCurve.tensors`, and `unit` is the unit of
        time. Raises UsageError in the same cases as `PlacementCurve.tensors`."""
        top = _documents.whole(top, "top", 1, 200)
        table = self._curve.tensors(fast, way)
        size = for_people(table.attrs["fast_bytes"], "byte")
        table = table.head(top)
        axes = late("._axes")
        ax = axes.new(ax, 7, 1.2 + 0.24 * len(table), figsize)
        limits = axes.Limits(ax)
        handles: dict[str, Any] = {}
        for memory in (self._curve.fast, self._curve.slow):
            mine = (table["memory"] == memory).to_numpy()
            if mine.any():
                handles[memory] = ax.barh(np.arange(len(table))[mine], table["worth_s"].to_numpy()[mine],
                                          color=_colours.compared(0, ax), alpha=1 if memory == self._curve.fast else 0.35,
                                          label=f"lies in {memory}", height=0.7)
        ax.set_yticks(range(len(table)), [f"{name}  {for_people(size, 'byte')}"
                                          for name, size in zip(table.index, table["bytes"])], fontsize="small")
        ax.set_ylim(len(table) - 0.4, -0.6)
        limits.x(0, 1.05 * float(table["worth_s"].max()) or 1.0)
        axes.scale(ax, "x", "worth of its place", "s", unit)
        self._finish(ax, list(handles.values()), legend, title,
                     f"The tensors that matter most with {size} of {self._curve.fast} ({way})")
        return ax

    def _marks(self, ax: "Axes", refused: int) -> list[Any]:
        """Draws a line at the size of the device's fast memory. Returns the entries of the legend for this line and for
        the number of refused results."""
        said, grey, own = [], _colours.neutral(ax), self._curve.fast_capacity_bytes
        if refused:
            said.append(late("matplotlib.lines").Line2D([], [], color=grey, marker="x", linestyle="", markersize=6,
                                                        label=f"refused ({refused})"))
        if own is not None and own <= self._curve.needed_bytes:
            said.append(ax.axvline(100 * own / self._curve.needed_bytes, color=grey, linestyle=":", linewidth=1,
                                   label=f"the device's {for_people(own, 'byte')}"))
        return said

    @staticmethod
    def _finish(ax: "Axes", handles: Sequence[Any], legend: Legend, title: Optional[str], ours: str) -> None:
        axes = late("._axes")
        axes.title(ax, title, ours)
        axes.legend(ax, handles, legend)
        axes.tidy(ax)


def _percentages(ax: "Axes", shares: Any) -> None:
    """Labels a logarithmic axis with the shares. A share that is too close to the previous label gets no label."""
    ticker = late("matplotlib.ticker")
    written: list[float] = []
    for share in sorted(set(shares[shares > 0])):
        if not written or share > _CROWDED * written[-1]:
            written.append(float(share))
    ax.xaxis.set_major_locator(ticker.FixedLocator(written))
    ax.xaxis.set_major_formatter(ticker.FuncFormatter(lambda share, _: f"{share:.3g}"))
    ax.xaxis.set_minor_locator(ticker.NullLocator())
