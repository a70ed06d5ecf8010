"""Artists for matplotlib: texts that find their own places. The size of a picture is known only when it is drawn.
So each text chooses its place at that moment. This module imports matplotlib. Therefore other modules import it late,
with `late("._artists")`."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.text import Annotation, Text
from matplotlib.transforms import Bbox

# The lengths below are in typographic points (1/72 inch). If a name is farther from its point than `_NEAR`, a line
# connects the two.
_NEAR = 8.0
# A name is tried at these distances from its point, in this order.
_RINGS = (_NEAR, 16.0, 26.0, 38.0, 52.0, 68.0)
# At each distance, a name is tried on these sides of its point, in this order. A side is a pair of directions: 1 is
# right or up, -1 is left or down, and 0 is the middle.
_SIDES = ((1, -1), (1, 1), (-1, -1), (-1, 1), (0, -1), (0, 1), (1, 0), (-1, 0))


class InBar(Text):
    """A text in the middle of a bar. If the bar has no room for the text, the text is not drawn."""

    def __init__(self, left: float, right: float, y: float, text: str, **look: Any) -> None:
        super().__init__((left + right) / 2, y, text, ha="center", va="center", clip_on=True, **look)
        self.bar = (left, right)
        self.set_in_layout(False)

    def has_room(self, renderer: Any) -> bool:
        """Returns whether the bar has room for the text at the current size of the picture."""
        left, right = self.axes.transData.transform([(edge, 0) for edge in self.bar])[:, 0]
        return self.get_window_extent(renderer).width * 1.15 <= right - left

    def draw(self, renderer: Any) -> None:
        if self.get_visible() and self.has_room(renderer):
            super().draw(renderer)


class Names(Artist):
    """Names of points. Names take positions one after the other. Each name takes the first free position around its
    point. If this position is far from the point, a line connects the two. If no position is free, the name is left
    out."""

    def __init__(self, ax: Axes, points: Sequence[tuple[float, float, str]], obstacles: np.ndarray,
                 colour: Any) -> None:
        super().__init__()
        self.set_zorder(0)  # drawn before the names, because drawing this artist places the names
        self.set_in_layout(False)
        self._obstacles = obstacles
        self._ax = ax
        self.names = [ax.annotate(
            name, (x, y), xytext=(_NEAR, -_NEAR), textcoords="offset points", fontsize="small",
            color=colour, ha="center", va="center", zorder=5,
            arrowprops={"arrowstyle": "-", "linewidth": 0.6, "color": colour, "alpha": 0.6,
                        "shrinkA": 0, "shrinkB": 2})
            for x, y, name in points]
        for name in self.names:
            name.set_in_layout(False)
        ax.add_artist(self)

    def draw(self, renderer: Any) -> None:
        taken = [_around(point, 2.5 * renderer.points_to_pixels(1))
                 for point in self._ax.transData.transform(self._obstacles)]
        legend = self._ax.get_legend()
        if legend is not None:
            taken.append(legend.get_window_extent(renderer))
        for name in self.names:
            self._place(name, taken, renderer)

    def _place(self, name: Annotation, taken: list[Bbox], renderer: Any) -> None:
        pixels = renderer.points_to_pixels(1)
        extent = Text.get_window_extent(name, renderer)
        half = (extent.width / pixels / 2, extent.height / pixels / 2)
        place = self._ax.transData.transform(name.xy)
        inside = self._ax.get_window_extent(renderer)
        for away in _RINGS:
            for right, up in _SIDES:
                aside = away if 0 in (right, up) else 0.6 * away
                offset = (right * (half[0] + aside), up * (half[1] + aside))
                middle = place + np.array(offset) * pixels
                box = Bbox.from_extents(middle[0] - half[0] * pixels - 1, middle[1] - half[1] * pixels - 1,
                                        middle[0] + half[0] * pixels + 1, middle[1] + half[1] * pixels + 1)
                if _within(box, inside) and not box.count_overlaps(taken):
                    name.xyann = offset
                    name.set_visible(True)
                    name.arrow_patch.set_visible(away > _NEAR)
                    taken.append(box)
                    return
        name.set_visible(False)


def _around(point: np.ndarray, reach: float) -> Bbox:
    return Bbox.from_extents(*(point - reach), *(point + reach))


def _within(box: Bbox, outer: Bbox) -> bool:
    return bool(outer.x0 <= box.x0 and box.x1 <= outer.x1 and outer.y0 <= box.y0 and box.y1 <= outer.y1)
