"""The roofline of a result: peak and links of its platform, and where each stage stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from . import _sluice
from .errors import InputError
from .metrics import for_people

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .result import Result


def draw(ax: "Axes", result: "Result") -> None:
    """Peak, the slope of the slowest link between host memory and the device, stages, the run."""
    if not result.scenario:
        raise InputError("a roofline needs the platform; this is the result of a plan alone")
    scenario = _sluice.Scenario.parse(result.scenario, "scenario", "scenario", [])
    device = _busiest_device(result)
    platform = scenario.platform
    peak = platform.device(device).flop_per_s(scenario.dtype)
    bandwidth = platform.path(platform.host().name, device)[2]
    stages = _stages(result)
    if not stages:
        raise InputError("no stage of this run both computes and moves bytes")
    points = [(flop / moved, flop / seconds) for _, flop, moved, seconds in stages]
    ridge = peak / bandwidth
    low = min([ridge, *(x for x, _ in points)]) / 4
    high = max([ridge, *(x for x, _ in points)]) * 4
    x = np.geomspace(low, high, 200)
    ax.loglog(x, np.minimum(peak, bandwidth * x), color="black", linewidth=1.5)
    ax.annotate(f"{device}: {for_people(peak, 'FLOP/s')} ({scenario.dtype})", (high, peak),
                ha="right", va="bottom", textcoords="offset points", xytext=(0, 4))
    middle = np.sqrt(low * ridge)
    ax.annotate(f"link: {for_people(bandwidth, 'B/s')}", (middle, bandwidth * middle), ha="right",
                va="bottom", textcoords="offset points", xytext=(-4, 4))
    ax.scatter([x for x, _ in points], [y for _, y in points], color="#0072B2", zorder=3,
               label="a stage, while it computes")
    for (name, *_), (px, py) in _worth_a_name(stages, points):
        ax.annotate(name, (px, py), textcoords="offset points", xytext=(5, -11), fontsize=8)
    _draw_run(ax, result)
    ax.set_xlim(low, high)
    ax.set_xlabel("FLOP for each byte moved between memories")
    ax.set_ylabel("FLOP/s")
    ax.legend(loc="lower right", frameon=False)
    ax.grid(True, which="major", alpha=0.3)


def _draw_run(ax: "Axes", result: "Result") -> None:
    metrics = result.metrics
    if metrics["arithmetic_intensity"] and metrics["makespan_s"]:
        ax.scatter([metrics["arithmetic_intensity"]], [metrics["flop"] / metrics["makespan_s"]],
                   color="#D55E00", marker="*", s=140, zorder=4, label="the whole run, waits included")


def _busiest_device(result: "Result") -> str:
    r = result._recording
    flop = np.bincount(r.of_action("stream"), weights=r.of_action("flop"),
                       minlength=r.rows("streams/name"))
    return str(r.texts("streams/device")[int(np.argmax(flop))])


def _stages(result: "Result") -> list[tuple[str, float, float, float]]:
    """Name, FLOP, bytes moved, seconds of computing, of each stage that has all of them."""
    r = result._recording
    names = r.texts("stages/name")
    stage = r.of_action("stage")
    known = stage >= 0
    seconds = (r.numbers("spans/end") - r.numbers("spans/start"))
    flop = r.of_action("flop")

    def total(weights: np.ndarray) -> np.ndarray:
        return np.bincount(stage[known], weights=weights[known], minlength=len(names))

    flops, moved, busy = total(flop), total(r.of_action("bytes")), total(np.where(flop > 0, seconds, 0))
    return [(str(names[s]), flops[s], moved[s], busy[s]) for s in range(len(names))
            if flops[s] > 0 and moved[s] > 0 and busy[s] > 0]


def _worth_a_name(stages: list, points: list) -> list:
    """Names for a few, else they would cover each other."""
    rows = list(zip(stages, points))
    return rows if len(rows) <= 8 else []
