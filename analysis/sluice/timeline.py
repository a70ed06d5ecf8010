"""The timeline of a result."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ._late import late

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ._recording import Recording

OKABE_ITO = {"blue": "#0072B2", "orange": "#E69F00", "green": "#009E73", "red": "#D55E00",
             "sky": "#56B4E9", "purple": "#CC79A7", "yellow": "#F0E442", "black": "#000000",
             "grey": "#999999"}
_KIND_COLOUR = {"forward": "blue", "backward": "red", "backward_input": "red",
                "backward_weight": "purple", "recompute": "yellow", "load": "orange",
                "save": "green", "send": "sky", "receive": "sky", "all_reduce": "purple",
                "update": "black"}
_DARK = ("forward", "backward", "backward_input", "backward_weight", "save", "update")
_DOTS = 1500  # across the picture
_SHADES = 600  # bins of a strip, each of several actions where they are many
_HALF = 0.38  # of a row's height
_FAINTEST = 0.3  # that something happens at all must be seen


def draw(ax: "Axes", r: "Recording", order: list[int], start: float, end: float,
         factor: float) -> None:
    """Streams in that order from top to bottom, seconds times `factor` from left to right."""
    columns = _spans(r, start, end)
    for row, stream in enumerate(order):
        mine = columns["stream"] == stream
        _row(ax, row, {name: column[mine] for name, column in columns.items()}, start, end, factor)
    ax.set_xlim(start * factor, end * factor)
    ax.set_ylim(len(order) - 0.5, -0.5)
    names = r.texts("streams/name")
    ax.set_yticks(range(len(order)), [names[stream] for stream in order])
    _legend(ax, set(columns["kind"]))


def _spans(r: "Recording", start: float, end: float) -> dict[str, np.ndarray]:
    """Those that are seen."""
    columns = {"start": r.numbers("spans/start"), "end": r.numbers("spans/end"),
               "stream": r.of_action("stream"), "stage": r.of_action("stage"),
               "kind": r.texts("actions/kind")[r.numbers("spans/action")]}
    seen = (columns["end"] > start) & (columns["start"] < end)
    return {name: column[seen] for name, column in columns.items()}


def _row(ax: "Axes", row: int, spans: dict, start: float, end: float, factor: float) -> None:
    narrow = spans["end"] - spans["start"] < 2 * (end - start) / _DOTS
    _shades(ax, row, {name: column[narrow] for name, column in spans.items()}, start, end, factor)
    wide = {name: column[~narrow] for name, column in spans.items()}
    for kind in dict.fromkeys(wide["kind"]):
        of_kind = wide["kind"] == kind
        length = (wide["end"] - wide["start"])[of_kind]
        bars = zip(wide["start"][of_kind] * factor, length * factor)
        ax.broken_barh(list(bars), (row - _HALF, 2 * _HALF), facecolors=_colour(kind),
                       edgecolors="white",
                       linewidths=np.where(length > 10 * (end - start) / _DOTS, 0.5, 0))
    _numbers(ax, row, wide, start, end, factor)


def _shades(ax: "Axes", row: int, spans: dict, start: float, end: float, factor: float) -> None:
    """A strip whose colour is as strong as the stream is busy in each dot; bars would be drawn or
    left out by chance."""
    if len(spans["start"]) == 0:
        return
    to_rgb = late("matplotlib.colors").to_rgb
    edges = np.linspace(start, end, _SHADES + 1)
    strip = np.zeros((1, _SHADES, 4))
    for kind in dict.fromkeys(spans["kind"]):
        of_kind = spans["kind"] == kind
        share = _busy(spans["start"][of_kind], spans["end"][of_kind], edges) * _SHADES / (end - start)
        strip[0, :, :3] += share[:, None] * to_rgb(_colour(kind))
        strip[0, :, 3] += share
    busy = strip[0, :, 3] > 0
    strip[0, busy, :3] /= strip[0, busy, 3:]
    strip[0, busy, 3] = np.clip(strip[0, busy, 3], _FAINTEST, 1)
    ax.imshow(np.clip(strip, 0, 1), aspect="auto", interpolation="antialiased",
              extent=(start * factor, end * factor, row + _HALF, row - _HALF))


def _busy(start: np.ndarray, end: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Seconds of each bin that are covered; the spans of a stream do not overlap."""
    order = np.argsort(start, kind="stable")
    start, end = start[order], end[order]
    done = np.append(0, np.cumsum(end - start))
    times = np.stack([start, end], axis=1).ravel()
    sums = np.stack([done[:-1], done[1:]], axis=1).ravel()
    return np.diff(np.interp(edges, times, sums))


def _numbers(ax: "Axes", row: int, spans: dict, start: float, end: float, factor: float) -> None:
    """Stage numbers, where they fit."""
    inches = ax.get_figure().get_size_inches()[0] * 0.8 / (end - start)
    for left, right, stage, kind in zip(spans["start"], spans["end"], spans["stage"], spans["kind"]):
        if stage < 0 or (right - left) * inches < 0.09 * len(str(stage)) + 0.06:
            continue
        middle = (max(left, start) + min(right, end)) / 2
        ax.text(middle * factor, row, str(stage), ha="center", va="center", fontsize=8, clip_on=True,
                color="white" if kind in _DARK else "black")


def _legend(ax: "Axes", kinds: set) -> None:
    Patch = late("matplotlib.patches").Patch
    ordered = [kind for kind in _KIND_COLOUR if kind in kinds]
    ax.legend(handles=[Patch(color=_colour(kind), label=kind.replace("_", " ")) for kind in ordered],
              loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False,
              title="number: stage" if ax.texts else None)


def _colour(kind: str) -> str:
    return OKABE_ITO[_KIND_COLOUR.get(kind, "grey")]
