"""The roofline of a result: peak and links of its platform, and where each stage stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from . import _sluice
from ._metrics import for_people
from .errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .result import Result

_ROOF = 0.75  # how high the peak is in the picture: the legend stands above


def draw(ax: "Axes", result: "Result") -> None:
    """Peak, the slope of the link from host memory to the device, the stages, and the run."""
    if not result.scenario:
        raise InputError("a roofline needs the platform; this is the result of a plan alone")
    scenario = _sluice.Scenario.parse(result.scenario, "scenario", "scenario", [])
    device = _busiest_device(result)
    platform = scenario.platform
    peak = platform.device(device).flop_per_s(scenario.dtype)
    bandwidth = platform.path(platform.host().name, device)[2]
    stages = _stages(result, device)
    if not stages:
        raise InputError(f"no stage of this run both computes and loads bytes on {device}")
    whole = _run(result, device)
    xs = [x for _, x, _ in stages] + [whole[0]]
    ridge = peak / bandwidth
    low, high = min(ridge, *xs) / 4, max(ridge, *xs) * 4
    x = np.geomspace(low, high, 200)
    ax.loglog(x, np.minimum(peak, bandwidth * x), color="black", linewidth=1.5,
              label=f"{for_people(bandwidth, 'B/s')} over the link, {for_people(peak, 'FLOP/s')} "
                    f"({scenario.dtype}) on {device}")
    ax.scatter([x for _, x, _ in stages], [y for *_, y in stages], color="#0072B2", zorder=3,
               label="a stage, while it loads or computes")
    ax.scatter(*whole, color="#D55E00", marker="*", s=140, zorder=4, label="the whole run")
    lowest = min(whole[1], bandwidth * low, *(y for *_, y in stages)) / 2
    ax.set_xlim(low, high)
    ax.set_ylim(lowest, lowest * (peak / lowest) ** (1 / _ROOF))
    ax.set_xlabel("FLOP for each byte loaded or received")
    ax.set_ylabel("FLOP/s")
    ax.legend(loc="upper left", frameon=False)
    ax.grid(True, which="major", alpha=0.3)
    _name(ax, stages)


def _busiest_device(result: "Result") -> str:
    r = result._recording
    flop = np.bincount(r.of_action("stream"), weights=r.of_action("flop"),
                       minlength=r.rows("streams/name"))
    return str(r.texts("streams/device")[int(np.argmax(flop))])


def _columns(result: "Result", device: str) -> dict[str, np.ndarray]:
    """Spans of one device that compute or load."""
    r = result._recording
    mine = (r.texts("streams/device") == device)[r.of_action("stream")]
    kind = r.texts("actions/kind")[r.numbers("spans/action")]
    flop = r.of_action("flop")
    loads = kind == "load"
    keep = mine & ((flop > 0) | loads)
    return {"stage": r.of_action("stage")[keep], "flop": flop[keep],
            "bytes": np.where(loads, r.of_action("bytes"), 0)[keep],
            "start": r.numbers("spans/start")[keep], "end": r.numbers("spans/end")[keep]}


def _stages(result: "Result", device: str) -> list[tuple[str, float, float]]:
    """Name, FLOP a loaded byte and FLOP/s of each stage that loads and computes. The seconds are
    those in which it does one or both: so no stage is above the roof."""
    columns = _columns(result, device)
    points = []
    for number, name in enumerate(result._recording.texts("stages/name")):
        mine = columns["stage"] == number
        flop, moved = columns["flop"][mine].sum(), columns["bytes"][mine].sum()
        if flop > 0 and moved > 0:
            seconds = _covered(columns["start"][mine], columns["end"][mine])
            points.append((str(name), flop / moved, flop / seconds))
    return points


def _run(result: "Result", device: str) -> tuple[float, float]:
    columns = _columns(result, device)
    flop = columns["flop"].sum()
    return flop / columns["bytes"].sum(), flop / result.metrics["makespan_s"]


def _covered(start: np.ndarray, end: np.ndarray) -> float:
    """Length of the union of intervals."""
    order = np.argsort(start, kind="stable")
    start, reach = start[order], np.maximum.accumulate(end[order])
    before = np.append(-np.inf, reach[:-1])
    return float(np.sum(np.maximum(0, reach - np.maximum(start, before))))


def _name(ax: "Axes", stages: list) -> None:
    """Names at the points, one below the other where they would overlap; for a few points only."""
    points: dict[tuple, list[str]] = {}
    for name, x, y in sorted(stages, key=lambda one: one[1]):
        near = (p for p in points if abs(np.log10(x / p[0])) + abs(np.log10(y / p[1])) < 0.02)
        points.setdefault(next(near, (x, y)), []).append(name)
    if len(points) > 8:
        return
    ax.get_figure().draw_without_rendering()  # places the axes
    inch = 72 / ax.get_figure().dpi
    placed: list[tuple[float, float, float]] = []  # left, right, height, in points of type
    for (x, y), names in points.items():
        text = ", ".join(names) if len(names) < 3 else f"{names[0]} and {len(names) - 1} more"
        left, height = ax.transData.transform((x, y)) * inch
        width = 3.8 * len(text)
        right = left + width
        to_the_left = right > ax.bbox.x1 * inch
        if to_the_left:
            left, right = left - width, left
        below = 11
        while any(left < r and l < right and abs(height - below - h) < 10 for l, r, h in placed):
            below += 11
        placed.append((left, right, height - below))
        ax.annotate(text, (x, y), textcoords="offset points", fontsize=8,
                    xytext=(-6 if to_the_left else 6, -below), ha="right" if to_the_left else "left")
