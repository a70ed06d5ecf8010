"""Pictures of a result, with matplotlib. Each returns its Axes; colours are those of Okabe and Ito,
which people with any colour vision tell apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Optional

import numpy as np

from . import roofline, timeline
from ._late import late
from .metrics import for_people
from .timeline import OKABE_ITO

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .result import Result

_CLASS_COLOUR = {"weight": "blue", "activation": "orange", "workspace": "yellow", "input": "sky",
                 "output": "green", "gradient": "red", "optimizer": "purple"}


def _axes(ax: Optional["Axes"], width: float, height: float) -> "Axes":
    if ax is not None:
        return ax
    plt = late("matplotlib.pyplot")
    _, ax = plt.subplots(figsize=(width, height), layout="constrained")
    return ax


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
        numbers stand in the bars where there is room. Where actions are narrower than a dot, the
        colour is as strong as the stream is busy."""
        r = self._recording
        end = self._makespan() if end is None else end
        order = _stream_order(r)
        ax = _axes(ax, 10, 1.3 + 0.45 * len(order))
        factor, unit = _scale(end - start)
        timeline.draw(ax, r, order, start, end, factor)
        ax.set_xlabel(f"time ({unit})")
        ax.set_title(title or self._title("Timeline"), loc="left")
        _tidy(ax)
        return ax

    def memory(self, pool: Optional[str] = None, ax: Optional["Axes"] = None,
               title: Optional[str] = None) -> "Axes":
        """What lies in a memory over time, by tensor class, with its capacity. `pool`: by default
        the first limited one that something enters."""
        r = self._recording
        names, capacity = list(r.texts("pools/name")), r.numbers("pools/capacity")
        number = self._pool(pool, names, capacity)
        mine = r.numbers("memory/pool") == number
        time, delta = r.numbers("memory/time")[mine], r.numbers("memory/delta")[mine]
        classes = r.texts("tensors/class")[r.numbers("memory/tensor")[mine]]
        ax = _axes(ax, 10, 3.6)
        end = self._makespan()
        t_factor, t_unit = _scale(end)
        level = np.cumsum(delta)
        limit = int(capacity[number])
        b_factor, b_unit = _byte_scale(max(limit, level.max(initial=1)))
        bottom = np.zeros(len(time) + 1)
        x = np.append(time, end) * t_factor
        for name in sorted(dict.fromkeys(classes), key=list(_CLASS_COLOUR).index):
            height = np.cumsum(np.where(classes == name, delta, 0)) * b_factor
            top = bottom + np.append(height, height[-1:])
            ax.fill_between(x, bottom, top, step="post", color=OKABE_ITO[_CLASS_COLOUR[name]],
                            label=name, linewidth=0)
            bottom = top
        if limit >= 0:
            ax.axhline(limit * b_factor, color="black", linestyle="--", linewidth=1)
            ax.text(0.005, limit * b_factor, f"capacity {for_people(limit, 'byte')}", va="bottom",
                    transform=ax.get_yaxis_transform(), fontsize=9)
            ax.set_ylim(0, max(limit * b_factor, bottom.max()) * 1.12)
        ax.set_xlim(0, end * t_factor)
        ax.set_xlabel(f"time ({t_unit})")
        ax.set_ylabel(f"in {names[number]} ({b_unit})")
        ax.set_title(title or self._title(f"Memory '{names[number]}'"), loc="left")
        ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
        _tidy(ax)
        return ax

    def _pool(self, pool: Optional[str], names: list, capacity: np.ndarray) -> int:
        from .errors import InputError

        if pool is not None:
            if pool not in names:
                raise InputError(f"no memory is called '{pool}'; known: {', '.join(names)}")
            return names.index(pool)
        entered = set(np.unique(self._recording.numbers("memory/pool")))
        if not entered:
            raise InputError("nothing entered any memory in this run")
        return min(entered, key=lambda number: (capacity[number] < 0, number))

    def utilisation(self, ax: Optional["Axes"] = None, title: Optional[str] = None) -> "Axes":
        """How busy each stream is over time: the share of each bin, averaged to at most 300."""
        r = self._recording
        time = r.numbers("series/time")
        series = [(name, r.numbers(f"series/{number}"))
                  for number, (group, name, *_) in enumerate(r.info["series"])
                  if group == "utilisation"]
        names = list(r.texts("streams/name"))
        series.sort(key=lambda one: _stream_order(r).index(names.index(one[0])))
        end = self._makespan()
        factor, unit = _scale(end)
        if ax is not None:
            return self._utilisation_lines(ax, time, series, factor, unit, title)
        plt = late("matplotlib.pyplot")
        figure, rows = plt.subplots(len(series), 1, figsize=(10, 0.8 + 0.8 * len(series)),
                                    sharex=True, layout="constrained", squeeze=False)
        for row, (name, values) in zip(rows[:, 0], series):
            t, v = _coarse(time, values)
            row.fill_between(np.append(0, t) * factor, np.append(v[:1], v), step="pre",
                             color=OKABE_ITO["blue" if "compute" in name else "orange"],
                             linewidth=0)
            row.set_ylim(0, 1)
            row.set_yticks([0, 1], ["0 %", "100 %"])
            row.set_ylabel(name, rotation=0, ha="right", va="center", labelpad=6)
            mean = float(np.average(values, weights=np.diff(time, prepend=0))) if len(time) else 0
            row.text(1.005, 0.5, f"{100 * mean:.3g} % busy", transform=row.transAxes, va="center")
            _tidy(row)
        rows[-1, 0].set_xlim(0, end * factor)
        rows[-1, 0].set_xlabel(f"time ({unit})")
        rows[0, 0].set_title(title or self._title("Utilisation"), loc="left")
        return rows[0, 0]

    def _utilisation_lines(self, ax, time, series, factor, unit, title) -> "Axes":
        colours = [colour for name, colour in OKABE_ITO.items() if name != "yellow"]
        for number, (name, values) in enumerate(series):
            t, v = _coarse(time, values)
            ax.step(t * factor, 100 * v, where="pre", label=name, linewidth=1.2,
                    color=colours[number % len(colours)])
        ax.set_ylim(0, 105)
        ax.set_xlabel(f"time ({unit})")
        ax.set_ylabel("busy (%)")
        ax.set_title(title or self._title("Utilisation"), loc="left")
        ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
        _tidy(ax)
        return ax

    def roofline(self, ax: Optional["Axes"] = None, title: Optional[str] = None) -> "Axes":
        """What limits each stage: FLOP/s against FLOP for each byte moved between memories, with
        the device's peak and the link that feeds it (Williams et al. 2009, with transfers in place
        of DRAM traffic). Of a scenario; a plan names no device's peak."""
        ax = _axes(ax, 7, 5)
        roofline.draw(ax, self._result)
        ax.set_title(title or self._title("Roofline"), loc="left")
        return ax

    def _makespan(self) -> float:
        available = self._recording.numbers("spans/available")
        return float(available.max()) if len(available) else 0.0

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


def _coarse(time: np.ndarray, values: np.ndarray, most: int = 300) -> tuple[np.ndarray, np.ndarray]:
    """Means over so many bins in a row that at most `most` are left, weighted by their length."""
    if len(time) <= most:
        return time, values
    step = -(-len(time) // most)
    starts = np.arange(0, len(time), step)
    length = np.diff(time, prepend=0)
    sums = np.add.reduceat(values * length, starts)
    return time[np.minimum(starts + step, len(time)) - 1], sums / np.add.reduceat(length, starts)


def _tidy(ax: "Axes") -> None:
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
