"""Placements. A placement says for each tensor whether it is in fast or in slow memory. `scenario.placement(...)`
computes placements."""

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
Rates = Union[str, Sequence[float], None]
_SAME = 1e-6  # a requested size may differ from a size of the curve by at most this share of the needed bytes


@checked
class PlacementCurve:
    """How much slower a scenario is than with all tensors in fast memory. The curve has several sizes of fast memory
    and several ways to place tensors. `frame` is the whole curve as a table. For each tensor, `tensors` gives the
    seconds that the run would save or lose with the tensor in the other memory. `plan` returns a placement as a plan
    with two memories. `Scenario.placement` makes a curve."""

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
        """The cost model that gave the seconds of the kernels. The seconds of a kernel depend on the memories of its
        operands."""
        return str(self._said["cost_model"])

    @property
    def in_place(self) -> Optional[tuple[float, float]]:
        """The given rates (byte/s) at which kernels read and write slow memory. None means that no rates were given:
        the cost model said how long kernels take with operands in slow memory."""
        said = self._said["in_place"]
        return said and (float(said["read_bytes_per_s"]), float(said["write_bytes_per_s"]))

    @property
    def device(self) -> str:
        """The name of the device that computes."""
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
        """The bytes of fast memory that the device has. None means unlimited."""
        return _whole(self._said["fast_capacity_bytes"])

    @property
    def needed_bytes(self) -> int:
        """The most bytes that the tensors occupy at one moment. Sizes of fast memory may be given as shares of these
        bytes."""
        return int(self._said["needed_bytes"])

    @property
    def all_fast_s(self) -> float:
        """The seconds with all tensors in fast memory. Each slowdown is the seconds of a run divided by these
        seconds."""
        return float(self._said["all_fast_s"])

    @property
    def frame(self) -> "pandas.DataFrame":
        """A new table with one row for each size and way, in the order of sizes. The columns way, fast_bytes and
        fast_share say what was asked. fast_share is a share of `needed_bytes`. predicted_s has the seconds that the
        arithmetic of the placement predicts. simulated_s has the seconds of the executed plan. Only the way `cached`
        has no plan. The column slowdown is simulated_s / `all_fast_s`, and bound_s has a lower bound of simulated_s.
        gap is (simulated_s - bound_s) / simulated_s. For `cached`, these three columns are about predicted_s instead.
        The bound of a way that does not search holds for all placements without moves, and that of `cached` is a cache
        with room for everything.
        The columns moves_… count moves. The columns bytes_… have their bytes. There are three columns of each kind: for
        all moves to fast memory, for all moves to slow memory, and for those moves that take place while kernels run.
        hit_bytes, miss_bytes and written_back_bytes are for the way `cached`. oracle_s has the seconds that this
        computer needed to find the placement. If the way cannot be used, the column refused says why. Otherwise it is
        empty. Missing numbers are NaN. `frame.attrs["units"]` has the units."""
        columns = _sluice.placement_columns()
        table = late("pandas").DataFrame(self._results, columns=columns)
        words = ("way", "refused")
        table = table.astype({column: float for column in columns if column not in words})
        table["fast_bytes"] = table["fast_bytes"].astype("int64")
        table["refused"] = table["refused"].fillna("")
        table.attrs["units"] = {column: _unit(column) for column in columns if column not in words}
        return table

    def tensors(self, fast: Union[str, float, None] = None, way: Way = "static") -> "pandas.DataFrame":
        """Returns one row for each tensor, indexed by name. The tensor with the largest worth_s is first. The columns
        are class, bytes, memory and worth_s. The column memory names the memory of the tensor. If the tensor moves,
        this is the memory of its first use. worth_s is in seconds. For a tensor in fast memory, it is the time that the
        run would lose if the tensor were in slow memory all the time. For a tensor in slow memory, it is the time that
        the run would save if the tensor were in fast memory all the time, even if fast memory has no room for it. All
        other tensors stay in their memories. So if two tensors change, the run may save or lose another time than the
        sum of their worth_s.

        `fast` is one of the sizes of fast memory in this curve, as a share or as bytes. None means the largest size up
        to half of the needed bytes. `attrs` has `units`, `fast_bytes` and `way`. Raises
        UsageError if `fast` is not a size of this curve.
        Raises UsageError if `way` has no placement at this size."""
        place = self._place(way, fast)
        rows = json.loads(self._native.worths(place))
        table = late("pandas").DataFrame(rows, columns=["name", "class", "bytes", "memory", "worth_s"])
        table = table.set_index("name")
        table.attrs = {"units": {"bytes": "byte", "worth_s": "s"}, "way": way,
                       "fast_bytes": self._results[place]["fast_bytes"]}
        return table

    def plan(self, way: Way = "asynchronous", fast: Union[str, float, None] = None) -> Plan:
        """Returns a placement as a plan. The plan has two memories, kernels, and moves of tensors between the memories.
        A move runs after one kernel and before the next, or on a copy engine. `.run()` executes the plan. `fast` is as
        in `tensors`. Raises UsageError if `fast` is not a size of this curve. Raises UsageError if `way` has no plan at
        this size."""
        place = self._place(way, fast)
        return Plan(self._native.plan(place))

    @property
    def plot(self) -> "PlacementPlots":
        """Draws pictures, with .slowdown() and .tensors()."""
        from .placement_plots import PlacementPlots
        return PlacementPlots(self)

    def _place(self, way: str, fast: Union[str, float, None]) -> int:
        """Finds the result for the way `way` at the size `fast` of fast memory. Returns its index in the list of
        results."""
        mine = [place for place, result in enumerate(self._results) if result["way"] == way]
        if not mine:
            raise errors.UsageError(f"{clipped(way)} for 'way' is not a way of this curve; there are: "
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
              in_place: Rates, nodes: int, progress: Union[bool, Callable[[int, int], None]]) -> PlacementCurve:
    """Implements `Scenario.placement`, whose docstring describes it."""
    nodes = whole(nodes, "nodes", most=1_000_000_000)
    named = [ways] if isinstance(ways, str) else [] if ways is None else list(ways)
    if ways is not None and not named:
        raise errors.UsageError("an empty list for 'ways': expected some of the ways, or None for all")
    sizes, rates = _sizes(fast), _rates(in_place)
    with telling(progress, " placements") as told, _in_words():
        native = _sluice.PlacementCurve(scenario._native, device or "", sizes, named, rates, nodes, told)
    return PlacementCurve(native)


@contextmanager
def _in_words() -> Iterator[None]:
    """Changes errors about sizes and rates, so that they name the argument instead of the option of the command
    line."""
    try:
        yield
    except errors.UsageError as error:
        words = str(error).replace("'--fast'", "'fast'").replace("'--in-place'", "'in_place'")
        raise errors.UsageError(words) from None


def _sizes(fast: Sizes) -> str:
    """Returns sizes in the form of the option --fast. "" means the default sizes of the command."""
    if fast is None:
        return ""
    one = isinstance(fast, str) or not hasattr(fast, "__len__")
    sizes = [fast] if one else list(fast)  # type: ignore[arg-type]
    if not sizes:
        raise errors.UsageError("an empty list for 'fast': expected sizes of fast memory, or None for 10% to 100%")
    return ",".join(_size(size) for size in sizes)


def _rates(in_place: Rates) -> str:
    """Returns the rates in the form of the option --in-place. If there are no rates, the returned text is empty."""
    if in_place is None:
        return ""
    if isinstance(in_place, str):
        if not in_place.strip():
            raise errors.UsageError("an empty text for 'in_place': expected two rates, such as '20GB/s:4.4GB/s'")
        return in_place.strip()
    return ":".join(f"{decimal.Decimal(repr(float(rate))):f}B/s" for rate in in_place) or ":"


def _size(size: Any) -> str:
    """Returns a size of fast memory as a text. A share becomes a percentage with all digits."""
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
