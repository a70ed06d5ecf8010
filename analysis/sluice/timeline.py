"""Draws the timeline of a result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import _colours, shares
from ._late import late

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ._recording import Recording

_HALF = 0.38  # half of the height of a bar, as a share of the row's height
_SEEN = 1 / 100  # share of a strip's height; a reader cannot see a smaller share


def draw(ax: "Axes", r: "Recording", order: list[int], start: float, end: float) -> list[Any]:
    """Draws the streams in the given order from top to bottom, with seconds from left to right. Returns the entries of
    the legend."""
    columns = spans(r, start, end)
    columns = {name: column[np.isin(columns["stream"], order)] for name, column in columns.items()}
    strips = numbers = False
    kinds: set[str] = set()
    for row, stream in enumerate(order):
        mine = columns["stream"] == stream
        some_kinds, some_strips, some_numbers = _row(
            ax, row, {name: column[mine] for name, column in columns.items()}, start, end)
        kinds |= some_kinds
        strips |= some_strips
        numbers |= some_numbers
    ax.set_ylim(len(order) - 0.5, -0.5)
    names = r.texts("streams/name")
    ax.set_yticks(range(len(order)), [names[stream] for stream in order])
    return handles(ax, kinds, strips, numbers)


def spans(r: "Recording", start: float, end: float) -> dict[str, np.ndarray]:
    """Returns the spans that run between `start` and `end`, by column."""
    columns = {"start": r.numbers("spans/start"), "end": r.numbers("spans/end"),
               "stream": r.of_action("stream"), "stage": r.of_action("stage"),
               "kind": r.texts("actions/kind")[r.numbers("spans/action")]}
    seen = (columns["end"] > start) & (columns["start"] < end)
    return {name: column[seen] for name, column in columns.items()}


def _row(ax: "Axes", row: int, actions: dict, start: float, end: float) -> tuple[set[str], bool, bool]:
    """Draws the row of a stream. Returns the visible kinds of actions, and two flags. The first flag says whether a
    group of actions is partly idle. The second flag says whether a bar has room for its stage's number."""
    wide, groups = shares.divided(actions, end - start)
    _strips(ax, row, groups)
    length = wide["end"] - wide["start"]
    for kind in dict.fromkeys(wide["kind"]):
        mine = wide["kind"] == kind
        colour = _colours.kind(kind, ax)
        apart = _colours.ground(ax)
        edges = [apart if one > (end - start) / 150 else colour for one in length[mine]]
        ax.broken_barh(list(zip(wide["start"][mine], length[mine])), (row - _HALF, 2 * _HALF),
                       facecolors=colour, edgecolors=edges, linewidths=0.5)
    kinds = set(wide["kind"]) | {kind for kind, share in groups["share"].items() if np.any(share > _SEEN)}
    return kinds, bool(np.any(groups["idle"])), _numbers(ax, row, wide, start, end)


def _strips(ax: "Axes", row: int, groups: dict) -> None:
    """Draws each group of actions as a stack of bars, one bar per kind of action. The height of a bar is the share of
    the group's time that the actions of this kind take."""
    left, right = groups["left"], groups["right"]

    def boxes(mine, bottom, top, colour):
        low, high = (row + _HALF - 2 * _HALF * level[mine] for level in (bottom, top))
        add_boxes(ax, left[mine], right[mine], low, high, colour)

    level = np.zeros(len(left))
    boxes(groups["idle"], level, level + 1, _colours.pale(ax))
    for kind in (one for one in _colours.KINDS if one in groups["share"]):
        share = groups["share"][kind]
        boxes(share > 0, level, level + share, _colours.kind(kind, ax))
        level = level + share


def add_boxes(ax: "Axes", left: np.ndarray, right: np.ndarray, low: np.ndarray, high: np.ndarray,
              colour: Any) -> None:
    """Draws boxes of one colour. Each box also gets a vertical line, because a box that is narrower than a pixel would
    be invisible."""
    if len(left) == 0:
        return
    corners = np.stack([left, low, right, low, right, high, left, high], axis=1).reshape(-1, 4, 2)
    collections = late("matplotlib.collections")
    ax.add_collection(collections.PolyCollection(corners, facecolors=colour, linewidths=0,
                                                 antialiaseds=False, snap=False))
    upright = np.stack([left, low, left, high], axis=1).reshape(-1, 2, 2)
    ax.add_collection(collections.LineCollection(upright, colors=colour, linewidths=0.8,
                                                 capstyle="butt", zorder=1, snap=False))


def _numbers(ax: "Axes", row: int, actions: dict, start: float, end: float) -> bool:
    """Draws the stage's number in each bar with enough room. Returns whether a bar has room at the figure's present
    width."""
    artists = late("._artists")
    inches = ax.get_figure().get_size_inches()[0] * ax.get_position().width / (end - start)
    some = False
    for left, right, stage, kind in zip(*(actions[key] for key in ("start", "end", "stage", "kind"))):
        if stage < 0:
            continue
        colour = _colours.upon(_colours.kind(kind, ax))
        ax.add_artist(artists.InBar(max(left, start), min(right, end), row, str(stage),
                                    fontsize="small", color=colour))
        some |= (right - left) * inches >= 0.08 * len(str(stage)) + 0.02
    return some


def handles(ax: "Axes", kinds: set[str], strips: bool, numbers: bool) -> list[Any]:
    """Returns the entries of a legend for these kinds."""
    Patch = late("matplotlib.patches").Patch
    names: dict[Any, list[str]] = {}  # for each colour, its kinds; similar kinds share a colour
    for kind in (one for one in _colours.KINDS if one in kinds):
        names.setdefault(_colours.kind(kind, ax), []).append(kind.replace("_", " "))
    said = [Patch(color=colour, label=",\n".join(some)) for colour, some in names.items()]
    if strips:
        said.append(Patch(color=_colours.pale(ax), label="many actions: height\nis their share of time"))
    if numbers:
        look = {"linestyle": "none", "marker": "$3$", "markeredgewidth": 0, "color": _colours.ink(ax)}
        said.append(late("matplotlib.lines").Line2D([], [], **look, label="number of the stage"))
    return said
