"""Colours for pictures. Each colour has one meaning, in all kinds of pictures. There are three families of colours.
People with any colour vision can distinguish the colours of a family. Kinds of actions have the colours of Okabe and
Ito. Tensor classes have light colours, close to Paul Tol's light scheme. If a picture compares things, such as runs,
streams or groups of points, they have Tol's muted colours, which suit lines."""

from __future__ import annotations

from typing import Any

from . import _sluice

#: "#rrggbb" for each kind of action, in the order of the legend
KINDS: dict[str, str] = _sluice.kind_colours()
#: colours by tensor class, from the bottom of a stack to its top: classes of tensors that stay in memory are below
#: classes of tensors that come and go
CLASSES = {"weight": "#99AAEE", "optimizer": "#FFAABB", "kv_cache": "#C8B8A8", "gradient": "#BBCC33",
           "activation": "#EE8866", "workspace": "#EEDD88", "input": "#99DDFF", "output": "#88DDBB"}
_COMPARED = ("#332288", "#CC6677", "#117733", "#AA4499", "#999933", "#882255", "#44AA99", "#661100")
_COMPARED_ON_DARK = ("#CC88FF", "#FF5577", "#55DD55", "#CCA050", "#33CCCC", "#FF66DD", "#AABB99", "#DDDDDD")
OTHER_KIND = "#999999"


def compared(number: int, ax: Any) -> str:
    """Returns the colour of the run, stream or group with the given number. The colour suits the background of these
    axes."""
    family = _COMPARED_ON_DARK if on_dark(ax) else _COMPARED
    return family[number % len(family)]


def ink(ax: Any) -> Any:
    """Returns the colour of the axes' text: black, or white in a dark style."""
    return ax.xaxis.label.get_color()


def on_dark(ax: Any) -> bool:
    """Returns whether the texts of these axes have a light colour."""
    return _luminance(ink(ax)) > 0.5


def ground(ax: Any) -> Any:
    """Returns the background of the axes, or of their figure if the axes are transparent."""
    from matplotlib import colors

    for painted in (ax.get_facecolor(), ax.get_figure().get_facecolor()):
        if colors.to_rgba(painted)[3] > 0:
            return painted
    return "#111111" if on_dark(ax) else "#FFFFFF"


def kind(name: str, ax: Any) -> Any:
    """Returns the colour of a kind of action. Black is replaced by the colour of the axes' text."""
    colour = KINDS.get(name, OTHER_KIND)
    return ink(ax) if _luminance(colour) < 0.01 else colour


def neutral(ax: Any) -> Any:
    """Returns a colour between the background and the colour of texts. This colour is for elements that have a label,
    and so need no colour of their own."""
    return _mixed(ax, 0.55)


def upon(colour: Any) -> Any:
    """Returns the colour for a text on a field of the given colour."""
    return "black" if _luminance(colour) > 0.3 else "white"


def pale(ax: Any) -> Any:
    """Returns a colour that is close to the background of the axes."""
    return _mixed(ax, 0.25 if on_dark(ax) else 0.07)


def _mixed(ax: Any, share: float) -> Any:
    """Returns a mixture of the background and the colour of texts. The colour of texts makes up `share` of the
    mixture."""
    from matplotlib import colors

    one, other = (colors.to_rgb(colour) for colour in (ground(ax), ink(ax)))
    return tuple((1 - share) * a + share * b for a, b in zip(one, other))


def _luminance(colour: Any) -> float:
    """Returns the brightness of a colour, from 0 to 1: the relative luminance of WCAG 2.1."""
    from matplotlib import colors

    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colors.to_rgb(colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
