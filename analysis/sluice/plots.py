"""Pictures of a result, with matplotlib. Each returns its Axes; colours are those of Okabe and Ito,
which people with any colour vision tell apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Optional

import numpy as np

from . import levels, roofline, shares, timeline
from ._late import axes_of, late
from .errors import InputError
from ._metrics import for_people
from .timeline import OKABE_ITO

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .result import Result

_CLASS_COLOUR = {"weight": "blue", "activation": "orange", "workspace": "yellow", "input": "sky",
                 "output": "green", "gradient": "red", "optimizer": "purple", "kv_cache": "grey"}


def _scale(seconds: float) -> tuple[float, str]:
    """A factor and a unit for a time axis."""
    for factor, unit in ((1, "s"), (1e3, "ms"), (1e6, "µs"), (1e9, "ns")):
        if seconds * factor >= 1:
            return factor, unit
    return 1, "s"


def _byte_scale(amount: float) -> tuple[float, str]:
    for factor, unit in ((1e-12, "TB"), (1e-9, "GB"), (1e-6, "MB"), (1e-3, "kB")):
        if amount * factor >= 1:
            return factor, unit
    return 1, "B"


class Plots:
    """result.plot.timeline() and others. `ax`: where to draw; `title`: in place of ours."""

    def __init__(self, result: "Result") -> None:
        self._result = result
        self._recording = result._recording

    def timeline(self, ax: Optional["Axes"] = None, start: float = 0.0,
                 end: Optional[float] = None, title: Optional[str] = None) -> "Axes":
        """Who did what when: a row a stream, a bar an action, from `start` to `end` (s). Stage
        numbers stand in the bars where there is room. Actions too narrow to be told apart become a
        strip: as high as the share of the time in which one is executed, by kind."""
        r = self._recording
        start, end = self._window(start, end)
        order = _stream_order(r)
        ax = axes_of(ax, 10, 1.3 + 0.45 * len(order))
        factor, unit = _scale(end - start)
        timeline.draw(ax, r, order, start, end, factor)
        ax.set_xlabel(f"time ({unit})")
        ax.set_title(title or self._title("Timeline"), loc="left")
        _tidy(ax)
        return ax

    def memory(self, pool: Optional[str] = None, ax: Optional["Axes"] = None, start: float = 0.0,
               end: Optional[float] = None, title: Optional[str] = None) -> "Axes":
        """What lies in a memory from `start` to `end` (s), by tensor class; where that changes more
        often than can be seen, when there was most. `pool`: by default the first limited one that
        something enters. A line at the capacity, or where that is far above, its number."""
        r = self._recording
        start, end = self._window(start, end)
        number = self._pool(pool)
        name, limit = r.texts("pools/name")[number], int(r.numbers("pools/capacity")[number])
        time, classes = levels.by_class(r, number, start, end)
        top = sum(classes.values(), np.zeros(len(time))).max()
        near = 0 <= limit <= 4 * top
        t_factor, t_unit = _scale(end - start)
        b_factor, b_unit = _byte_scale(max(top, limit) if near else top)
        ax = axes_of(ax, 10, 3.6)
        bottom = np.zeros(len(time) + 1)
        x = np.append(time, end) * t_factor
        for one in (one for one in _CLASS_COLOUR if one in classes and classes[one].any()):
            height = classes[one] * b_factor
            upper = bottom + np.append(height, height[-1:])
            ax.fill_between(x, bottom, upper, step="post", color=OKABE_ITO[_CLASS_COLOUR[one]],
                            label=one, linewidth=0)
            bottom = upper
        if limit >= 0:
            _capacity(ax, limit, limit * b_factor if near else None)
        ax.set_ylim(0, max(limit if near else 0, top) * b_factor * 1.12 or 1)
        ax.set_xlim(start * t_factor, end * t_factor)
        ax.set_xlabel(f"time ({t_unit})")
        ax.set_ylabel(f"in {name} ({b_unit})")
        ax.set_title(title or self._title(f"Memory '{name}'"), loc="left")
        ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
        _tidy(ax)
        return ax

    def _pool(self, pool: Optional[str]) -> int:
        r = self._recording
        names, capacity = list(r.texts("pools/name")), r.numbers("pools/capacity")
        if pool is not None:
            if pool not in names:
                raise InputError(f"no memory is called '{pool}'; known: {', '.join(names)}")
            return names.index(pool)
        entered = set(np.unique(r.numbers("memory/pool")))
        if not entered:
            raise InputError("nothing entered any memory in this run")
        return min(entered, key=lambda number: (capacity[number] < 0, number))

    def utilisation(self, ax: Optional["Axes"] = None, start: float = 0.0,
                    end: Optional[float] = None, title: Optional[str] = None) -> "Axes":
        """How busy each stream is from `start` to `end` (s), and on average. Actions too narrow to be
        told apart are put together."""
        r = self._recording
        start, end = self._window(start, end)
        factor, unit = _scale(end - start)
        streams = self._shares(start, end)
        if ax is not None:
            return self._utilisation_lines(ax, streams, start, end, title)
        plt = late("matplotlib.pyplot")
        figure, rows = plt.subplots(len(streams), 1, figsize=(10, 0.8 + 0.8 * len(streams)),
                                    sharex=True, layout="constrained", squeeze=False)
        for row, (name, time, share) in zip(rows[:, 0], streams):
            busy = share[:-1] > 0
            timeline.add_boxes(row, time[:-1][busy] * factor, time[1:][busy] * factor,
                               np.zeros(busy.sum()), share[:-1][busy],
                               OKABE_ITO["blue" if "compute" in name else "orange"])
            row.set_ylim(0, 1)
            row.set_yticks([0, 1], ["0 %", "100 %"])
            row.set_ylabel(name, rotation=0, ha="right", va="center", labelpad=6)
            mean = np.sum(share[:-1] * np.diff(time)) / (end - start)
            row.text(1.005, 0.5, f"{100 * mean:.3g} % busy", transform=row.transAxes, va="center")
            _tidy(row)
        rows[-1, 0].set_xlim(start * factor, end * factor)
        rows[-1, 0].set_xlabel(f"time ({unit})")
        rows[0, 0].set_title(title or self._title("Utilisation"), loc="left")
        return rows[0, 0]

    def _shares(self, start: float, end: float) -> list[tuple[str, np.ndarray, np.ndarray]]:
        """Name, times and shares of each stream, in the order of the timeline."""
        spans = timeline.spans(self._recording, start, end)
        streams = []
        for number in _stream_order(self._recording):
            mine = spans["stream"] == number
            steps = shares.steps({key: column[mine] for key, column in spans.items()}, start, end)
            streams.append((self._recording.texts("streams/name")[number], *steps))
        return streams

    def _utilisation_lines(self, ax, streams, start, end, title) -> "Axes":
        factor, unit = _scale(end - start)
        colours = [colour for name, colour in OKABE_ITO.items() if name != "yellow"]
        for number, (name, time, share) in enumerate(streams):
            ax.step(time * factor, 100 * share, where="post", label=name, linewidth=1.2,
                    color=colours[number % len(colours)])
        ax.set_xlim(start * factor, end * factor)
        ax.set_ylim(0, 105)
        ax.set_xlabel(f"time ({unit})")
        ax.set_ylabel("busy (%)")
        ax.set_title(title or self._title("Utilisation"), loc="left")
        ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
        _tidy(ax)
        return ax

    def roofline(self, ax: Optional["Axes"] = None, title: Optional[str] = None) -> "Axes":
        """What limits each stage: FLOP/s against FLOP for each byte that comes to the device (loaded
        or received), with the device's peak and the link that feeds it (Williams et al. 2009, with
        these transfers in place of DRAM traffic). Of a scenario; a plan names no device's peak."""
        ax = axes_of(ax, 7, 5)
        roofline.draw(ax, self._result)
        ax.set_title(title or self._title("Roofline"), loc="left")
        return ax

    def _window(self, start: float, end: Optional[float]) -> tuple[float, float]:
        """What is to be seen. Raises InputError where nothing can be."""
        available = self._recording.numbers("spans/available")
        makespan = float(available.max()) if len(available) else 0.0
        if makespan == 0:
            raise InputError("this run took no time: there is nothing to see")
        end = makespan if end is None else end
        if not 0 <= start < min(end, makespan) or not np.isfinite(end):
            raise InputError(f"'{start}' for 'start' and '{end}' for 'end': expected seconds with "
                             f"0 <= start < end, and a start before {makespan:.6g} s")
        return start, end

    def _title(self, what: str) -> str:
        """What is shown, of which run, and how long that took."""
        name = self._result.name
        makespan = self._result.metrics["makespan_s"]
        return (what + (f" of {name}" if name else "")
                + (f", {for_people(makespan, 's')} in all" if makespan else ""))


def _stream_order(r) -> list[int]:
    """Device by device, its computation first."""
    names, kinds = r.texts("streams/name"), r.texts("streams/kind")
    devices = r.texts("streams/device")
    return sorted(range(len(names)), key=lambda s: (devices[s], kinds[s] != "compute", names[s]))


def _capacity(ax: "Axes", limit: int, height: Optional[float]) -> None:
    """A line at that height, or without one a word."""
    text = f"capacity {for_people(limit, 'byte')}"
    if height is None:
        ax.annotate(text, (0, 1), xycoords="axes fraction", xytext=(4, -4), va="top",
                    textcoords="offset points", fontsize=9)
        return
    ax.axhline(height, color="black", linestyle="--", linewidth=1)
    ax.annotate(text, (0, height), xycoords=ax.get_yaxis_transform(), xytext=(4, 4),
                textcoords="offset points", fontsize=9,
                bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.7, "pad": 1})


def _tidy(ax: "Axes") -> None:
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
