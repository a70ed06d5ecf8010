"""The timeline of a result."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from . import _sluice, shares
from ._late import late

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ._recording import Recording

OKABE_ITO = {"blue": "#0072B2", "orange": "#E69F00", "green": "#009E73", "red": "#D55E00",
             "sky": "#56B4E9", "purple": "#CC79A7", "yellow": "#F0E442", "black": "#000000",
             "grey": "#999999"}
_KIND_COLOUR = _sluice.kind_colours()  # "#rrggbb" by kind, in the order of the legend
_DARK = ("forward", "backward", "backward_input", "backward_weight", "save", "update")
_HALF = 0.38  # of a row's height
_PALE = "#EEEEEE"  # behind a strip, as high as one that is always busy


def draw(ax: "Axes", r: "Recording", order: list[int], start: float, end: float,
         factor: float) -> None:
    """Streams in that order from top to bottom, seconds times `factor` from left to right."""
    columns = spans(r, start, end)
    strips = False
    for row, stream in enumerate(order):
        mine = columns["stream"] == stream
        strips |= _row(ax, row, {name: column[mine] for name, column in columns.items()}, start, end,
                       factor)
    ax.set_xlim(start * factor, end * factor)
    ax.set_ylim(len(order) - 0.5, -0.5)
    names = r.texts("streams/name")
    ax.set_yticks(range(len(order)), [names[stream] for stream in order])
    _legend(ax, set(columns["kind"]), strips)


def spans(r: "Recording", start: float, end: float) -> dict[str, np.ndarray]:
    """Those that are seen, by column."""
    columns = {"start": r.numbers("spans/start"), "end": r.numbers("spans/end"),
               "stream": r.of_action("stream"), "stage": r.of_action("stage"),
               "kind": r.texts("actions/kind")[r.numbers("spans/action")]}
    seen = (columns["end"] > start) & (columns["start"] < end)
    return {name: column[seen] for name, column in columns.items()}


def _row(ax: "Axes", row: int, actions: dict, start: float, end: float, factor: float) -> bool:
    """Whether a strip is in it."""
    wide, groups = shares.divided(actions, end - start)
    _strips(ax, row, groups, factor)
    length = wide["end"] - wide["start"]
    for kind in dict.fromkeys(wide["kind"]):
        mine = wide["kind"] == kind
        edges = np.where(length[mine] > (end - start) / 150, "white", _colour(kind))
        ax.broken_barh(list(zip(wide["start"][mine] * factor, length[mine] * factor)),
                       (row - _HALF, 2 * _HALF), facecolors=_colour(kind), edgecolors=edges,
                       linewidths=0.5)
    _numbers(ax, row, wide, start, end, factor)
    return bool(np.any(groups["idle"]))


def _strips(ax: "Axes", row: int, groups: dict, factor: float) -> None:
    """The kinds of each group one upon the other, as high as their shares."""
    left, right = groups["left"] * factor, groups["right"] * factor

    def boxes(mine, bottom, top, colour):
        low, high = (row + _HALF - 2 * _HALF * level[mine] for level in (bottom, top))
        add_boxes(ax, left[mine], right[mine], low, high, colour)

    level = np.zeros(len(left))
    boxes(groups["idle"], level, level + 1, _PALE)
    for kind in (one for one in _KIND_COLOUR if one in groups["share"]):
        share = groups["share"][kind]
        boxes(share > 0, level, level + share, _colour(kind))
        level = level + share


def add_boxes(ax: "Axes", left: np.ndarray, right: np.ndarray, low: np.ndarray, high: np.ndarray,
              colour: str) -> None:
    """Boxes of one colour; lines around them let what is thinner than a dot be seen."""
    if len(left) == 0:
        return
    corners = np.stack([left, low, right, low, right, high, left, high], axis=1).reshape(-1, 4, 2)
    ax.add_collection(late("matplotlib.collections").PolyCollection(
        corners, facecolors=colour, edgecolors=colour, linewidths=0.8, snap=False))


def _numbers(ax: "Axes", row: int, actions: dict, start: float, end: float, factor: float) -> None:
    """Stage numbers, where they fit."""
    inches = ax.get_figure().get_size_inches()[0] * 0.8 / (end - start)
    for left, right, stage, kind in zip(*(actions[key] for key in ("start", "end", "stage", "kind"))):
        if stage < 0 or (right - left) * inches < 0.09 * len(str(stage)) + 0.06:
            continue
        middle = (max(left, start) + min(right, end)) / 2
        ax.text(middle * factor, row, str(stage), ha="center", va="center", fontsize=8, clip_on=True,
                color="white" if kind in _DARK else "black")


def _legend(ax: "Axes", kinds: set, strips: bool) -> None:
    Patch = late("matplotlib.patches").Patch
    handles = [Patch(color=_colour(kind), label=kind.replace("_", " "))
               for kind in _KIND_COLOUR if kind in kinds]
    if strips:
        handles.append(Patch(color=_PALE, label="many: height is\nthe share busy"))
    ax.legend(handles=handles, loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False,
              title="number: stage" if ax.texts else None)


def _colour(kind: str) -> str:
    return _KIND_COLOUR.get(kind, OKABE_ITO["grey"])
