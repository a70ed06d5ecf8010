"""Pictures at the sizes of a printed page."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import Iterator, Optional

from . import errors
from ._checked import checked, clipped
from ._late import late

# inches of one column of a page, and of two columns; ACM and IEEE differ from these by at most 0.2 inches
_WIDTHS = {1: 3.33, 2: 7.0}
_width: ContextVar[Optional[float]] = ContextVar("width", default=None)


@contextmanager
@checked
def paper(columns: int = 1, width: Optional[float] = None) -> Iterator[None]:
    """Returns a context in which pictures are made for print: `with sluice.paper(columns=1): result.plot.timeline()`.
    One column of a page is 3.33 inches wide, and two columns are 7 inches wide. `width` sets another width in inches.
    Texts have sizes of 7 and 8 points, and PDF files embed the font. The pictures have no default title, because on a
    page they have captions. The legends of narrow pictures are above the axes. The context also applies to other
    figures of matplotlib."""
    if width is None and (type(columns) not in (int, float) or columns not in _WIDTHS):
        raise errors.UsageError(f"columns={clipped(columns)}: expected 1 or 2; width= takes any width in inches")
    inches = _WIDTHS[columns] if width is None else width
    if not 0.5 <= inches <= 50:
        raise errors.UsageError(f"width={width!r}: expected inches from 0.5 to 50")
    token = _width.set(inches)
    try:
        with late("matplotlib").rc_context({
                "figure.figsize": (inches, 0.62 * inches), "font.size": 8, "axes.titlesize": 8,
                "axes.labelsize": 8, "xtick.labelsize": 7, "ytick.labelsize": 7, "legend.fontsize": 7,
                "axes.linewidth": 0.6, "lines.linewidth": 1, "lines.markersize": 3.5,
                "xtick.major.width": 0.6, "ytick.major.width": 0.6, "hatch.linewidth": 0.5,
                "pdf.fonttype": 42, "ps.fonttype": 42, "savefig.dpi": 300}):
            yield
    finally:
        _width.reset(token)


def page_width() -> Optional[float]:
    """Within `paper`, returns the width of the page in inches. Elsewhere, returns None."""
    return _width.get()
