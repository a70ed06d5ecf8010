"""The roofline of a result: peak and links of its platform, and where each stage stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from . import _sluice
from .errors import InputError
from ._metrics import for_people

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .result import Result


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
    ax.loglog(x, np.minimum(peak, bandwidth * x), color="black", linewidth=1.5)
    ax.annotate(f"{device}: {for_people(peak, 'FLOP/s')} ({scenario.dtype})", (high, peak),
                ha="right", va="bottom", textcoords="offset points", xytext=(0, 4))
    middle = np.sqrt(low * ridge)
    ax.annotate(f"link: {for_people(bandwidth, 'B/s')}", (middle, bandwidth * middle), ha="right",
                va="bottom", textcoords="offset points", xytext=(-4, 4))
    ax.scatter([x for _, x, _ in stages], [y for *_, y in stages], color="#0072B2", zorder=3,
               label="a stage, while it loads or computes")
    _name(ax, stages)
    ax.scatter(*whole, color="#D55E00", marker="*", s=140, zorder=4,
               label=f"{device}, the whole run")
    lowest = min(whole[1], *(y for *_, y in stages))
    ax.set_xlim(low, high)
    ax.set_ylim(min(lowest, peak) / 8, peak * 3)
    ax.set_xlabel("FLOP for each byte loaded")
    ax.set_ylabel("FLOP/s")
    ax.legend(loc="lower right", frameon=False)
    ax.grid(True, which="major", alpha=0.3)


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
    loads = np.isin(kind, ["load", "receive"])
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
    """Names, one below the other where points lie close together; for a few stages only."""
    if len(stages) > 8:
        return
    offset, last = 0, None
    for name, x, y in sorted(stages, key=lambda one: one[1]):
        close = last is not None and abs(np.log10(x / last[0])) + abs(np.log10(y / last[1])) < 0.4
        offset = offset - 11 if close else -11
        ax.annotate(name, (x, y), textcoords="offset points", xytext=(6, offset), fontsize=8)
        last = (x, y)
