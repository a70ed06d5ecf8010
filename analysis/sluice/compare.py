"""Compares several runs: their differences, pictures on common axes, and a common time base."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Callable, Optional, Sequence, TypeVar, Union, cast

import numpy as np

from . import _colours, _resampled, errors
from ._checked import checked
from ._late import late
from ._metrics import Suggesting, close_to, for_people
from .result import Result

if TYPE_CHECKING:
    import pandas
    import xarray
    from matplotlib.axes import Axes

Asked = TypeVar("Asked", bound=Callable[..., Any])
Legend = Union[bool, str]
Streams = Optional[Union[str, Sequence[str]]]
Size = Optional[tuple[float, float]]


def _of_a_mapping(function: Asked) -> Asked:
    """A decorator for a function that takes one argument: a mapping from names to results. With other arguments, the
    decorated function raises an error. The message of the error explains which mapping is expected."""
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        results, *others = args or [kwargs.pop("results", None)]
        if others or kwargs:
            count = len(args) + len(kwargs)
            raise _refused(f"{count} arguments" if count > 1 else "an argument of another name")
        if not isinstance(results, Mapping) or not results:
            raise _refused("an empty one" if isinstance(results, Mapping) else f"a {type(results).__name__}")
        return function(results)

    return cast(Asked, call)


def _refused(given: str) -> errors.UsageError:
    return errors.UsageError("compare takes {'name': result, …}, as in {'slow': r1, 'fast': r2}, and not " + given)


@_of_a_mapping
def compare(results: Mapping[str, Result]) -> "Comparison":
    """Compares runs that are given by name, as in `sluice.compare({"sqrt": r1, "optimal": r2})`. `.frame` has all
    metrics, and `.differences` has the metrics that differ, with the change from the first run. `.plot.timeline()`,
    `.plot.memory()` and `.plot.utilisation()` draw panels on common axes. `.to_xarray()` puts the runs on a common time
    base. Raises UsageError for all arguments except a mapping of names to results."""
    for name, result in results.items():
        if not isinstance(result, Result):
            raise errors.UsageError(f"'{name}' is a {type(result).__name__} and not a Result; .run() returns one")
    return Comparison({str(name): result for name, result in results.items()})


@checked
class Comparison:
    """Holds several runs, each under a name. `sluice.compare` makes a Comparison."""

    def __init__(self, results: dict[str, Result]) -> None:
        self._results = results

    @property
    def names(self) -> list[str]:
        """The names of the results, in the order in which they were given."""
        return list(self._results)

    def __getitem__(self, name: str) -> Result:
        if name not in self._results:
            raise KeyError(f"there is no run '{name}'{close_to(name, self._results)}")
        return self._results[name]

    def __len__(self) -> int:
        return len(self._results)

    @property
    def frame(self) -> "pandas.DataFrame":
        """A table with one row per metric ("peak_bytes/gpu"), one column per run, and the column `unit`. A number that
        a run does not have is None."""
        pandas = late("pandas")
        rows = {name: {metric: (value, unit) for metric, value, unit in result.metrics.rows()}
                for name, result in self._results.items()}
        metrics = list(dict.fromkeys(metric for values in rows.values() for metric in values))
        units = [next(values[metric][1] for values in rows.values() if metric in values) or ""
                 for metric in metrics]
        columns = {name: [values.get(metric, (None,))[0] for metric in metrics]
                   for name, values in rows.items()}
        return pandas.DataFrame({**columns, "unit": units}, index=pandas.Index(metrics, name="metric"),
                                dtype=object)

    @property
    def differences(self) -> "pandas.DataFrame":
        """The rows of `frame` in which runs differ by more than 1e-9 of the larger number. For each run except the
        first, the column "NAME: change" has the change of each number from the first run. The change is a share of the
        first run's number. For example, 0.25 means a quarter more."""
        pandas = late("pandas")
        table = self.frame
        first, *others = self._results
        table = table[[_differ(row) for row in table[self.names].itertuples(index=False)]].copy()
        for name in others:
            table[f"{name}: change"] = pandas.Series(
                [_change(a, b) for a, b in zip(table[first], table[name])], index=table.index, dtype=float)
        return table

    def to_xarray(self, bins: int = 300) -> "xarray.Dataset":
        """Returns all runs in the same bins, along the dimension `run`. There are `bins` equal bins from 0 to the end
        of the longest run. `time` (s) is the end of each bin. The variable utilisation is the busy share of each
        `stream` in the bin. level is the most bytes of each `pool` in the bin. samples_done is the number of samples
        that are complete at the end of the bin. After the end of a run, its variables are NaN. `Result.resampled`
        returns the bins of one run."""
        xarray = late("xarray")
        longest = max(result.metrics["makespan_s"] for result in self._results.values())
        times = _resampled.bins(longest, bins)
        return xarray.concat([result.resampled(times) for result in self._results.values()],
                             dim=late("pandas").Index(self.names, name="run"), join="outer",
                             combine_attrs="drop")

    @property
    def plot(self) -> "ComparisonPlots":
        """Draws panels on common axes, with .timeline(), .memory() and .utilisation()."""
        return ComparisonPlots(self._results)

    def __repr__(self) -> str:
        widest = max(len(name) for name in self._results)
        lines = [f"  {name:<{widest}}  {for_people(result.metrics['makespan_s'], 's')}"
                 for name, result in self._results.items()]
        return "\n".join([f"Comparison of {len(self)} runs", *lines])

    def _repr_html_(self) -> str:
        return self.differences._repr_html_()


@checked
class ComparisonPlots(Suggesting):
    """compare(...).plot draws one panel per run, one below the other, with one time axis in one unit and one legend.
    The arguments start, end, unit, title, legend and figsize are as in result.plot. Each method returns the Axes of all
    panels."""

    def __init__(self, results: dict[str, Result]) -> None:
        self._results = results

    def timeline(self, start: float = 0.0, end: Optional[float] = None, title: Optional[str] = None, *,
                 streams: Streams = None, unit: Optional[str] = None, legend: Legend = True,
                 figsize: Size = None) -> "list[Axes]":
        """Shows the actions of each stream over time, in each run. A run that ends before `start` has an empty
        panel."""
        rows = [result._recording.rows("streams/name") if streams is None else 1 if isinstance(streams, str)
                else len(streams) for result in self._results.values()]

        def draw(result: Result, ax: "Axes") -> None:
            result.plot.timeline(ax, start, end, streams=streams, unit=unit, title="")

        return self._panels(draw, [0.25 + 0.36 * one for one in rows], start, title, legend, figsize)

    def memory(self, pool: Optional[str] = None, start: float = 0.0, end: Optional[float] = None,
               title: Optional[str] = None, *, unit: Optional[str] = None, bytes_unit: Optional[str] = None,
               legend: Legend = True, figsize: Size = None) -> "list[Axes]":
        """Shows the contents of a memory in each run, with the same axis of bytes for all runs."""
        def draw(result: Result, ax: "Axes") -> None:
            result.plot.memory(pool, ax, start, end, unit=unit, bytes_unit=bytes_unit, title="")

        return self._panels(draw, [1.6] * len(self._results), start, title, legend, figsize, sharey=True)

    def utilisation(self, start: float = 0.0, end: Optional[float] = None, title: Optional[str] = None, *,
                    streams: Streams = None, unit: Optional[str] = None,
                    legend: Legend = True, figsize: Size = None) -> "list[Axes]":
        """Shows how busy each stream is, in each run."""
        def draw(result: Result, ax: "Axes") -> None:
            result.plot.utilisation(ax, start, end, streams=streams, unit=unit, title="")

        return self._panels(draw, [1.3] * len(self._results), start, title, legend, figsize)

    def _panels(self, draw: Any, heights: list[float], start: float, title: Optional[str], legend: Legend,
                figsize: Size, sharey: bool = False) -> "list[Axes]":
        """Draws one panel per run, and returns the Axes of the panels. `draw` draws a result on its panel. `heights`
        are the heights of the panels in inches."""
        axes = late("._axes")
        figure, panels = late("matplotlib.pyplot").subplots(
            len(heights), 1, sharex=True, sharey=sharey, squeeze=False, layout="constrained",
            height_ratios=heights, figsize=axes.size(10, 0.5 + sum(heights) + 0.3 * len(heights), figsize))
        panels = list(panels[:, 0])
        if all(result.metrics["makespan_s"] <= start for result in self._results.values()):
            raise errors.InputError(f"'{start}' for 'start': all of these runs have ended by then")
        for ax, (name, result) in zip(panels, self._results.items()):
            if result.metrics["makespan_s"] > start:
                draw(result, ax)
            said = f"{name}: {for_people(result.metrics['makespan_s'], 's')}"
            ax.set_title(said, loc="left", fontsize="medium")
        _one_legend(panels, legend)
        if title:
            figure.suptitle(title, x=0.01, ha="left", color=_colours.ink(panels[0]))
        return panels


def _one_legend(panels: "list[Axes]", wanted: Legend) -> None:
    """Draws one legend for the entries of all panels. The legend is beside the panels, or above the first panel in a
    narrow figure."""
    axes = late("._axes")
    said: dict[str, Any] = {}
    for ax in panels:
        if ax.get_legend() is not None:
            handles = ax.get_legend().legendHandles
            for handle, text in zip(handles, ax.get_legend().get_texts()):
                handle.set_label(text.get_text())
                said.setdefault(text.get_text(), handle)
            ax.get_legend().remove()
    order = sorted(said, key=lambda label: _place(label))
    handles, figure = [said[label] for label in order], panels[0].get_figure()
    if wanted is not True or axes.is_narrow(figure):
        axes.legend(panels[0], handles, wanted)
    elif handles:  # a legend in the first panel would make that panel as high as the legend
        legend = figure.legend(handles=handles, loc="upper right", frameon=False,
                               labelcolor=_colours.ink(panels[0]), borderaxespad=0.0)
        figure.draw_without_rendering()
        width = legend.get_window_extent().width / figure.bbox.width
        figure.get_layout_engine().set(rect=(0, 0, 1 - width - 0.01, 1))
        figure.draw_without_rendering()
        legend.set_bbox_to_anchor((1, panels[0].get_position().y1), figure.transFigure)


def _place(label: str) -> int:
    """Returns the position of a label in the legend. Kinds of actions come first, in their order. Then come tensor
    classes, from the top of the stack down. All other labels are last."""
    order = [*(kind.replace("_", " ") for kind in _colours.KINDS),
             *(one.replace("_", " ") for one in reversed(_colours.CLASSES))]
    first = label.split(",\n")[0]
    return order.index(first) if first in order else len(order)


def _differ(values: Sequence[Any]) -> bool:
    numbers = [value for value in values if isinstance(value, (int, float))]
    if len(numbers) == len(values):
        return bool(np.ptp(np.array(numbers, dtype=float)) > 1e-9 * max(abs(one) for one in numbers))
    return len(set(values)) > 1


def _change(a: Any, b: Any) -> float:
    if not isinstance(a, (int, float)) or not isinstance(b, (int, float)) or a == 0:
        return float("nan")
    return (b - a) / abs(a)
