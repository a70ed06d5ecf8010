"""Pictures of a run, with matplotlib. Each function returns its Axes. The numbers on axes are seconds and bytes. Panels
with common axes have the same unit. _colours.py explains the colours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional, Sequence, Union

import numpy as np

from . import _colours, levels, roofline, shares, timeline
from ._checked import checked
from ._late import late
from ._metrics import Suggesting, close_to, for_people
from .errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ._recording import Recording

Streams = Optional[Union[str, Sequence[str]]]
Legend = Union[bool, str]
Size = Optional[tuple[float, float]]


@checked
class Plots(Suggesting):
    """Draws result.plot.timeline() and other pictures.

    `ax` is the axes to draw on. By default, a new figure of `figsize` (inches) is made. `title` replaces the default
    title. "" means no title. `unit` is the unit of the time axis: "s", "ms", "µs" or "ns". By default, the unit suits
    all panels with the same axis. `legend` is False for no legend, or one of matplotlib's places, such as "upper
    right". If panels share an axis, each picture extends the limits of the axis where necessary. So all pictures are
    shown whole. For print see sluice.paper."""

    def __init__(self, recording: "Recording", name: str = "", makespan_s: Optional[float] = None,
                 scenario: str = "") -> None:
        self._recording = recording
        self._name, self._makespan, self._scenario = name, makespan_s, scenario

    def timeline(self, ax: Optional["Axes"] = None, start: float = 0.0, end: Optional[float] = None,
                 title: Optional[str] = None, *, streams: Streams = None, unit: Optional[str] = None,
                 legend: Legend = True, figsize: Size = None) -> "Axes":
        """Shows the actions from `start` to `end` (s). There is one row per stream and one bar per action. A bar with
        enough room shows the number of its stage. Neighbours with very narrow bars become one strip. A colour stands
        for a kind of action. In a strip, the height of a colour is the share of the time in which actions of its kind
        run. `streams` are the names of the streams to show, by default all streams."""
        start, end = self._window(start, end)
        order = self._streams(streams)
        axes = late("._axes")
        ax = axes.new(ax, 10, 1.3 + 0.45 * len(order), figsize)
        limits = axes.Limits(ax)
        said = timeline.draw(ax, self._recording, order, start, end)
        limits.x(start, end)
        axes.scale(ax, "x", "time", "s", unit)
        self._finish(ax, said, legend, title, "Timeline")
        return ax

    def memory(self, pool: Optional[str] = None, ax: Optional["Axes"] = None, start: float = 0.0,
               end: Optional[float] = None, title: Optional[str] = None, *, unit: Optional[str] = None,
               bytes_unit: Optional[str] = None, legend: Legend = True, figsize: Size = None) -> "Axes":
        """Shows the contents of a memory from `start` to `end` (s), by tensor class. If there are too many changes, the
        picture is divided into columns. Each column shows the highest level of its part of the time. `pool` is by
        default the first limited memory that a tensor enters. A line marks the capacity. If the capacity is far above
        the levels, a text gives the capacity instead. `bytes_unit` is "B", "kB", "MB", "GB" or "TB". The legend names
        the classes that can be seen."""
        start, end = self._window(start, end)
        number = levels.pool_of(self._recording, pool)
        name = self._recording.texts("pools/name")[number]
        axes = late("._axes")
        ax = axes.new(ax, 10, 3.6, figsize)
        limits = axes.Limits(ax)
        said, height = levels.draw(ax, self._recording, number, start, end)
        limits.x(start, end)
        limits.y(0, height)
        axes.scale(ax, "x", "time", "s", unit)
        axes.scale(ax, "y", f"in {name}", "byte", bytes_unit, "bytes_unit")
        self._finish(ax, said, legend, title, f"Memory '{name}'")
        return ax

    def utilisation(self, ax: Optional["Axes"] = None, start: float = 0.0, end: Optional[float] = None,
                    title: Optional[str] = None, *, streams: Streams = None, unit: Optional[str] = None,
                    legend: Legend = True, figsize: Size = None) -> "Axes":
        """Shows how busy each stream is from `start` to `end` (s), and on average. There is one panel per stream.
        If `ax` is given, there is one line per stream instead. Actions that are too narrow to be distinguished are
        combined."""
        start, end = self._window(start, end)
        busy = self._shares(start, end, self._streams(streams))
        axes = late("._axes")
        if ax is not None:
            axes.new(ax, 0, 0, figsize)
            self._utilisation_lines(ax, busy, start, end, unit)
            named = [line for line in ax.get_lines() if not line.get_label().startswith("_")]
            self._finish(ax, named, legend, title, "Utilisation")
            return ax
        _, rows = late("matplotlib.pyplot").subplots(
            len(busy), 1, sharex=True, layout="constrained", squeeze=False,
            figsize=axes.size(10, 0.8 + 0.8 * len(busy), figsize))
        for row, (name, time, share) in zip(rows[:, 0], busy):
            _utilisation_row(row, name, time, share)
        rows[-1, 0].set_xlim(start, end)
        axes.scale(rows[-1, 0], "x", "time", "s", unit)
        axes.title(rows[0, 0], title, self._title("Utilisation"))
        return rows[0, 0]

    def roofline(self, ax: Optional["Axes"] = None, title: Optional[str] = None, *,
                 unit: Optional[str] = None, legend: Legend = True, figsize: Size = None) -> "Axes":
        """Shows each stage as a point. The horizontal axis is FLOP per loaded byte, and the vertical axis is FLOP/s. A
        line shows the limit: the device's peak and the bandwidth of its link (Williams et al. 2009; here the link takes
        the place of DRAM). The picture needs the result of a scenario, because a plan does not contain the device's
        peak. The longest stages get their labels first, until there is no more room. `unit` is "GFLOP/s", "TFLOP/s" and
        so on."""
        axes = late("._axes")
        points = roofline.Points.of(self._recording, self._scenario)
        ax = axes.new(ax, 7, 5, figsize)
        roofline.draw(ax, points, unit, legend)
        axes.title(ax, title, self._title("Roofline"))
        return ax

    def _finish(self, ax: "Axes", said: Sequence[Any], legend: Legend, title: Optional[str],
                what: str) -> None:
        axes = late("._axes")
        axes.title(ax, title, self._title(what))
        axes.legend(ax, said, legend)
        axes.tidy(ax)

    def _shares(self, start: float, end: float,
                order: list[int]) -> list[tuple[str, np.ndarray, np.ndarray]]:
        """Returns for each stream its name, times in s, and the busy share from each time to the next."""
        spans = timeline.spans(self._recording, start, end)
        streams = []
        for number in order:
            mine = spans["stream"] == number
            steps = shares.steps({key: column[mine] for key, column in spans.items()}, start, end)
            streams.append((self._recording.texts("streams/name")[number], *steps))
        return streams

    def _utilisation_lines(self, ax: "Axes", streams: list, start: float, end: float,
                           unit: Optional[str]) -> None:
        axes = late("._axes")
        limits = axes.Limits(ax)
        for number, (name, time, share) in enumerate(streams, start=len(ax.get_lines())):
            ax.step(time, 100 * share, where="post", label=name, linewidth=1.2,
                    color=_colours.compared(number, ax))
        limits.x(start, end)
        limits.y(0, 105)
        axes.scale(ax, "x", "time", "s", unit)
        ax.set_ylabel("busy (%)")

    def _window(self, start: float, end: Optional[float]) -> tuple[float, float]:
        """Returns the start and the end of the part of the run that is shown. Raises InputError if nothing can be
        shown."""
        available = self._recording.numbers("spans/available")
        makespan = float(available.max()) if len(available) else 0.0
        if makespan == 0:
            raise InputError("this run took no time, so there is nothing to draw")
        end = makespan if end is None else float(end)
        if not 0 <= start < min(end, makespan) or not np.isfinite(end):
            raise InputError(f"'{start}' for 'start' and '{end}' for 'end': expected seconds with "
                             f"0 <= start < end, and a start before {makespan:.6g} s")
        return start, end

    def _streams(self, wanted: Streams) -> list[int]:
        """Returns the indices of the streams in the requested order. By default, the streams are ordered by device. Of
        one device, the streams of computations come first. Raises InputError."""
        r = self._recording
        names, kinds = list(r.texts("streams/name")), r.texts("streams/kind")
        devices = r.texts("streams/device")
        if wanted is None:
            return sorted(range(len(names)), key=lambda s: (devices[s], kinds[s] != "compute", names[s]))
        wanted = [wanted] if isinstance(wanted, str) else list(wanted)
        for name in wanted:
            if name not in names:
                raise InputError(f"no stream is called '{name}'{close_to(name, names)}; "
                                 f"known: {', '.join(names)}")
        if not wanted:
            raise InputError(f"'streams' is empty; known: {', '.join(names)}")
        return [names.index(name) for name in wanted]

    def _title(self, what: str) -> str:
        """Returns a title with the kind of picture, the run, and the run's makespan."""
        return (what + (f" of {self._name}" if self._name else "")
                + (f", {for_people(self._makespan, 's')} in all" if self._makespan else ""))


def _utilisation_row(row: "Axes", name: str, time: np.ndarray, share: np.ndarray) -> None:
    busy = share[:-1] > 0
    timeline.add_boxes(row, time[:-1][busy], time[1:][busy], np.zeros(busy.sum()), share[:-1][busy],
                       _colours.neutral(row))
    row.set_ylim(0, 1)
    row.set_yticks([0, 1], ["0 %", "100 %"])
    row.set_ylabel(name, rotation=0, ha="right", va="center", labelpad=6)
    mean = np.sum(share[:-1] * np.diff(time)) / (time[-1] - time[0])
    row.text(1.005, 0.5, f"{100 * mean:.3g} % busy", transform=row.transAxes, va="center",
             color=_colours.ink(row))
    late("._axes").tidy(row)
