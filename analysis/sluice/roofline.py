"""Draws the roofline of a run: a device's peak, the bandwidth of its link, and a point for each stage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Optional, Union

import numpy as np

from . import _colours, _sluice
from ._late import late
from ._metrics import for_people
from .errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ._recording import Recording

_ROOF = 0.75  # the peak is drawn at this share of the picture's height, with the legend above it
_NAMED = 24  # the largest number of points that get a name
_SAME = 0.02  # decades; points that are closer than this share a name


@dataclass(frozen=True)
class Stage:
    """A stage that loads and computes. Its seconds are the time in which it loads, computes or does both. Its loads
    alone and its computation alone take at most these seconds. So no stage is above the roof."""

    name: str
    intensity: float  #: FLOP per byte
    flop_per_s: float
    seconds: float


@dataclass(frozen=True)
class Points:
    """The numbers that a picture of a roofline shows."""

    device: str
    dtype: str
    peak: float  #: FLOP/s
    bandwidth: float  #: byte/s
    stages: list[Stage]
    whole: tuple[float, float]  #: of the whole run: FLOP per byte, FLOP/s

    @classmethod
    def of(cls, r: "Recording", scenario_text: str) -> "Points":
        """Returns the points of the device with the most computation. Raises InputError."""
        if not scenario_text:
            raise InputError("a roofline needs the platform; this is the result of a plan file, which has no platform")
        scenario = _sluice.Scenario.parse(scenario_text, "scenario", "scenario", [])
        device = _busiest_device(r)
        platform = scenario.platform
        columns = _columns(r, device)
        stages = _stages(columns, r.texts("stages/name"))
        if not stages:
            raise InputError(f"no stage of this run both computes and loads bytes on {device}")
        flop, makespan = columns["flop"].sum(), float(r.numbers("spans/available").max())
        return cls(device, scenario.dtype, platform.device(device).flop_per_s(scenario.dtype),
                   platform.path(platform.host().name, device)[2], stages,
                   (flop / columns["bytes"].sum(), flop / makespan))


def draw(ax: "Axes", points: Points, unit: Optional[str], legend: Union[bool, str]) -> None:
    """Draws the peak, the slope of the link from host memory to the device, the stages, and the run."""
    axes = late("._axes")
    factor = 1.0 if unit is None else axes.factor_of(unit, "FLOP/s")[1]
    limits = axes.Limits(ax)
    ax.set_xscale("log")
    ax.set_yscale("log")
    xs = [stage.intensity for stage in points.stages] + [points.whole[0]]
    ridge = points.peak / points.bandwidth
    low, high = min(ridge, *xs) / 4, max(ridge, *xs) * 4
    lowest = min(points.whole[1], points.bandwidth * low, *(s.flop_per_s for s in points.stages)) / 2
    said = _marks(ax, points, np.geomspace(low / 1e6, high * 1e6, 2000))
    limits.x(low, high)
    limits.y(lowest, lowest * (points.peak / lowest) ** (1 / _ROOF))
    ax.set_xlabel("FLOP per byte loaded or received")
    ax.set_ylabel(unit or "FLOP/s")
    ticker = late("matplotlib.ticker")
    ax.xaxis.set_major_formatter(ticker.EngFormatter())
    ax.yaxis.set_major_formatter(ticker.EngFormatter() if unit is None else
                                 ticker.FuncFormatter(lambda value, _: f"{value / factor:g}"))
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_minor_formatter(ticker.NullFormatter())
    ax.grid(True, which="major", alpha=0.3)
    if legend:
        ax.legend(handles=said, loc=axes.place(legend) if isinstance(legend, str) else "upper left", frameon=False,
                  labelcolor=_colours.ink(ax))
    _name(ax, points)


def _marks(ax: "Axes", points: Points, x: np.ndarray) -> list[Any]:
    ink, area = _colours.ink(ax), late("matplotlib").rcParams["lines.markersize"] ** 2
    text = (f"{for_people(points.bandwidth, 'B/s')} over the link, {for_people(points.peak, 'FLOP/s')}\n"
            f"({points.dtype}) on {points.device}")
    roof, = ax.plot(x, np.minimum(points.peak, points.bandwidth * x), color=ink, label=text)
    stages = ax.scatter([stage.intensity for stage in points.stages],
                        [stage.flop_per_s for stage in points.stages], s=0.7 * area,
                        color=_colours.compared(0, ax), zorder=3, label="a stage, while it loads or computes")
    run = ax.scatter(*points.whole, color=_colours.compared(1, ax), marker="*", s=4 * area, zorder=4,
                     label="the whole run")
    return [roof, stages, run]


def _busiest_device(r: "Recording") -> str:
    flop = np.bincount(r.of_action("stream"), weights=r.of_action("flop"),
                       minlength=r.rows("streams/name"))
    return str(r.texts("streams/device")[int(np.argmax(flop))])


def _columns(r: "Recording", device: str) -> dict[str, np.ndarray]:
    """Returns the spans in which one device computes or loads."""
    mine = (r.texts("streams/device") == device)[r.of_action("stream")]
    kind = r.texts("actions/kind")[r.numbers("spans/action")]
    flop = r.of_action("flop")
    loads = kind == "load"
    keep = mine & ((flop > 0) | loads)
    return {"stage": r.of_action("stage")[keep], "flop": flop[keep],
            "bytes": np.where(loads, r.of_action("bytes"), 0)[keep],
            "start": r.numbers("spans/start")[keep], "end": r.numbers("spans/end")[keep]}


def _stages(columns: dict[str, np.ndarray], names: np.ndarray) -> list[Stage]:
    stages = []
    for number, name in enumerate(names):
        mine = columns["stage"] == number
        flop, moved = columns["flop"][mine].sum(), columns["bytes"][mine].sum()
        if flop > 0 and moved > 0:
            seconds = _covered(columns["start"][mine], columns["end"][mine])
            stages.append(Stage(str(name), flop / moved, flop / seconds, seconds))
    return stages


def _covered(start: np.ndarray, end: np.ndarray) -> float:
    """Returns the length of the union of intervals."""
    order = np.argsort(start, kind="stable")
    start, reach = start[order], np.maximum.accumulate(end[order])
    before = np.append(-np.inf, reach[:-1])
    return float(np.sum(np.maximum(0, reach - np.maximum(start, before))))


def _name(ax: "Axes", points: Points) -> None:
    """Labels the points. Points at the same position share a label. The longest stages come first."""
    groups: dict[tuple[float, float], list[str]] = {}
    for stage in sorted(points.stages, key=lambda one: -one.seconds):
        x, y = stage.intensity, stage.flop_per_s
        near = (p for p in groups if abs(np.log10(x / p[0])) + abs(np.log10(y / p[1])) < _SAME)
        groups.setdefault(next(near, (x, y)), []).append(stage.name)
    named = [(x, y, ", ".join(names) if len(names) < 3 else f"{names[0]} and {len(names) - 1} more")
             for (x, y), names in list(groups.items())[:_NAMED]]
    roof = ax.get_lines()[-1].get_xydata()[::4]
    stand = [[stage.intensity, stage.flop_per_s] for stage in points.stages]
    late("._artists").Names(ax, named, np.concatenate([stand, [points.whole], roof]), _colours.ink(ax))
