"""Placements: which tensors lie in fast memory and which in slow. `scenario.placement(...)` asks."""

from __future__ import annotations

import decimal
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Callable, Optional, Union

from . import _sluice, errors
from ._checked import checked, clipped
from ._documents import whole
from ._late import late
from ._metrics import for_people
from .plan import Plan
from .progress import telling
from .words import Way

if TYPE_CHECKING:
    import pandas

    from .placement_plots import PlacementPlots
    from .scenario import Scenario

Sizes = Union[str, float, Sequence[Union[str, float]], None]
_SAME = 1e-6  # of what is needed: how far a share that is asked for may be from one of the curve


@checked
class PlacementCurve:
    """The slowdown of a scenario by the size of fast memory and the way to place its tensors. `frame` is all
    of it as a table, `tensors` says what keeping each tensor fast is worth, `plan` gives a placement as a
    plan with two memories. `Scenario.placement` makes one."""

    def __init__(self, native: "_sluice.PlacementCurve") -> None:
        self._native = native
        self._said: dict[str, Any] = json.loads(native.json())
        self._results: list[dict[str, Any]] = self._said["results"]

    @property
    def scenario(self) -> str:
        """The name of the scenario."""
        return str(self._said["scenario"])

    @property
    def cost_model(self) -> str:
        """What priced the kernels by where their operands lie."""
        return str(self._said["cost_model"])

    @property
    def device(self) -> str:
        """The one that computes."""
        return str(self._said["device"])

    @property
    def fast(self) -> str:
        """The name of the fast memory."""
        return str(self._said["fast"])

    @property
    def slow(self) -> str:
        """The name of the slow memory."""
        return str(self._said["slow"])

    @property
    def fast_capacity_bytes(self) -> Optional[int]:
        """What the device has of fast memory; None: it is unlimited."""
        return _whole(self._said["fast_capacity_bytes"])

    @property
    def needed_bytes(self) -> int:
        """The most bytes of tensors that are there at a time: a share of 1."""
        return int(self._said["needed_bytes"])

    @property
    def all_fast_s(self) -> float:
        """Seconds with everything in fast memory: a slowdown of 1."""
        return float(self._said["all_fast_s"])

    @property
    def frame(self) -> "pandas.DataFrame":
        """A new table with one row for each size and way, by size: way, fast_bytes, fast_share (of
        `needed_bytes`), slowdown (seconds over `all_fast_s`), predicted_s and simulated_s, bound_s and gap
        (how far the seconds are from the bound, as a part of the bound), moves_* and bytes_* to either memory
        and beside kernels, hit_bytes, miss_bytes and written_back_bytes of the cache, oracle_s (s of this
        computer that finding it took), refused (why it cannot be; empty: it can). Not a number where a way
        has no such number. `frame.attrs["units"]` has the units."""
        columns = _sluice.placement_columns()
        table = late("pandas").DataFrame(self._results, columns=columns)
        words = ("way", "refused")
        table = table.astype({column: float for column in columns if column not in words})
        table["fast_bytes"] = table["fast_bytes"].astype("int64")
        table["refused"] = table["refused"].fillna("")
        table.attrs["units"] = {column: _unit(column) for column in columns if column not in words}
        return table

    def tensors(self, fast: Union[str, float, None] = None, way: Way = "static") -> "pandas.DataFrame":
        """One row for each tensor, the one that matters most first, by name: class, bytes, memory (where it
        lies; with moves: at its first use), worth_s (seconds that are lost were it in slow memory all the
        time, or won were it in fast memory all the time, whether or not there is room for it). All other
        tensors stay where they are, so worths do not add up.

        fast: a size of the curve, as a share or as bytes; None: the largest that is at most half of
        what is needed. `attrs` has `units`, `fast_bytes` and `way`. Raises UsageError where there is no such
        size or the way has no placement there."""
        place = self._place(way, fast)
        rows = json.loads(self._native.worths(place))
        table = late("pandas").DataFrame(rows, columns=["name", "class", "bytes", "memory", "worth_s"])
        table = table.set_index("name")
        table.attrs = {"units": {"bytes": "byte", "worth_s": "s"}, "way": way,
                       "fast_bytes": self._results[place]["fast_bytes"]}
        return table

    def plan(self, way: Way = "asynchronous", fast: Union[str, float, None] = None) -> Plan:
        """A placement as a plan with two memories, kernels, moves between kernels and moves of a copy engine:
        `.run()` executes it. fast: as in `tensors`. Raises UsageError where there is no such size or the way
        has no plan there."""
        place = self._place(way, fast)
        return Plan(self._native.plan(place))

    @property
    def plot(self) -> "PlacementPlots":
        """plot.slowdown() and plot.tensors()."""
        from .placement_plots import PlacementPlots
        return PlacementPlots(self)

    def _place(self, way: str, fast: Union[str, float, None]) -> int:
        """The number of a result."""
        mine = [place for place, result in enumerate(self._results) if result["way"] == way]
        if not mine:
            raise errors.UsageError(f"{clipped(way)} for 'way': it was not asked for; there are: "
                                    + ", ".join(dict.fromkeys(result["way"] for result in self._results)))
        if fast is None:
            fitting = [place for place in mine if "refused" not in self._results[place]]
            half = [place for place in fitting if self._results[place]["fast_share"] <= 0.5]
            return (half[-1:] or fitting[:1] or mine[:1])[0]
        with _in_words():
            sizes = _sluice.fast_sizes(_size(fast), self.needed_bytes)
        for place in mine:
            if len(sizes) == 1 and abs(self._results[place]["fast_bytes"] - sizes[0]) <= _SAME * self.needed_bytes:
                return place
        known = [f"{100 * self._results[place]['fast_share']:.6g}%" for place in mine]
        raise errors.UsageError(f"{clipped(fast)} for 'fast' is not one of the sizes of this curve: {', '.join(known)}")

    def __len__(self) -> int:
        return len(self._results)

    def __repr__(self) -> str:
        refused = sum("refused" in result for result in self._results)
        return (f"PlacementCurve of {self.scenario}: {len(self)} results, {refused} refused; "
                f"{for_people(self.needed_bytes, 'byte')} needed in {self.fast} (fast) and {self.slow} (slow) of "
                f"{self.device}")

    def _repr_html_(self) -> str:
        return str(self.frame._repr_html_())


def placement(scenario: Scenario, fast: Sizes, ways: Union[str, Sequence[str], None], device: Optional[str],
              nodes: int, progress: Union[bool, Callable[[int, int], None]]) -> PlacementCurve:
    """`Scenario.placement`, which describes it."""
    nodes = whole(nodes, "nodes", most=1_000_000_000)
    named = [ways] if isinstance(ways, str) else [] if ways is None else list(ways)
    if ways is not None and not named:
        raise errors.UsageError("an empty list for 'ways': expected some of the ways, or None for all")
    sizes = _sizes(fast)
    with telling(progress, " placements") as told, _in_words():
        native = _sluice.PlacementCurve(scenario._native, device or "", sizes, named, nodes, told)
    return PlacementCurve(native)


@contextmanager
def _in_words() -> Iterator[None]:
    """Errors of sizes name the argument, not the option."""
    try:
        yield
    except errors.UsageError as error:
        raise errors.UsageError(str(error).replace("'--fast'", "'fast'")) from None


def _sizes(fast: Sizes) -> str:
    """As the option --fast has them; empty: those that the command takes without it."""
    if fast is None:
        return ""
    one = isinstance(fast, str) or not hasattr(fast, "__len__")
    sizes = [fast] if one else list(fast)  # type: ignore[arg-type]
    if not sizes:
        raise errors.UsageError("an empty list for 'fast': expected sizes of fast memory, or None for 10% to 100%")
    return ",".join(_size(size) for size in sizes)


def _size(size: Any) -> str:
    """A share as a percentage, with all its digits."""
    if isinstance(size, str):
        if not size.strip():
            raise errors.UsageError("an empty text for 'fast': expected a size, such as 0.4, '40%' or '16GB'")
        return size.strip()
    if not 0 <= size <= 1:
        raise errors.UsageError(f"{clipped(size)} for 'fast': a number is a share of what is needed, from 0 to 1; bytes "
                                "are a text with a unit, such as '16GB'")
    return f"{decimal.Decimal(repr(float(size))) * 100:f}%"


def _unit(column: str) -> str:
    if column.endswith("_s"):
        return "s"
    return "byte" if "bytes" in column else "1"


def _whole(number: Any) -> Optional[int]:
    return None if number is None else int(number)
