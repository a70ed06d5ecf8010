"""Sweeps. A sweep runs one scenario at many points. `scenario.sweep(...)` makes a Sweep."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Optional, Union

from . import _documents, _sluice, errors
from ._checked import checked, clipped
from ._helper import helper
from ._late import late
from ._policy import policies_of_this_process
from ._workers import Workers
from .progress import telling

if TYPE_CHECKING:
    import pandas
    import xarray

    from .scenario import Scenario
    from .sweep_plots import SweepPlots

Axes = Union[Mapping[str, Sequence[Any]], Sequence[Mapping[str, Any]]]
_WORDS = ("status", "reason", "chosen", "bound_by", "verified")
_SAME = 1e-9  # share of the makespan by which the executors `replay` and `simgrid` may differ


@checked
class Sweep:
    """The results of a scenario at many points. `frame` has all results as a table."""

    def __init__(self, keys: list[str], rows: list[list[Any]], grid: bool,
                 results: list["_sluice.PointResult"]) -> None:
        self._keys, self._rows, self._grid, self._results = keys, rows, grid, results
        self._frame: Optional[pandas.DataFrame] = None

    @property
    def frame(self) -> pandas.DataFrame:
        """A new table with one row per point. The first columns are the keys that were varied. Then come `status`
        ("complete", "infeasible" or "failed"), `reason`, `chosen`, `bound_by` and `verified`. Then come the metrics,
        such as "makespan_s" and "peak_bytes[gpu]". A missing number is NaN. `frame.attrs["units"]` has the units of the
        metrics."""
        if self._frame is None:
            self._frame = self._table()
        table = self._frame.copy()
        table.attrs = {"units": dict(self._frame.attrs["units"])}
        return table

    def _table(self) -> pandas.DataFrame:
        pandas = late("pandas")
        units: dict[str, str] = {}
        numbers = []
        for result in self._results:
            names = result.names()
            units.update(names)
            numbers.append(dict(zip((name for name, _ in names), result.numbers)))
        table = pandas.DataFrame([dict(zip(self._keys, row)) for row in self._rows],
                                 columns=self._keys)
        for word in _WORDS:
            table[word] = [getattr(result, word) for result in self._results]
        metrics = pandas.DataFrame(numbers, columns=list(units), dtype=float)
        table = pandas.concat([table, metrics], axis=1)
        table.attrs["units"] = units
        return table

    def to_xarray(self) -> "xarray.Dataset":
        """Returns a grid as a Dataset. The keys are its dimensions. The attributes of the metrics say their units.
        Raises UsageError if the points are not a grid. Raises UsageError if two points have the same values."""
        if not self._grid:
            raise errors.UsageError("the points are not a grid: use sweep.frame instead")
        table = self.frame
        if table.duplicated(self._keys).any():
            twice = table[table.duplicated(self._keys)].iloc[0]
            raise errors.UsageError("several points have the values "
                                    + ", ".join(f"{key}={twice[key]}" for key in self._keys)
                                    + ", and a Dataset has room for only one of them: use sweep.frame instead")
        data = table.set_index(self._keys).to_xarray()
        data = data.reindex({key: list(dict.fromkeys(table[key])) for key in self._keys})
        for name, unit in table.attrs["units"].items():
            data[name].attrs["units"] = unit
        return data

    def best(self, metric: str) -> pandas.Series:
        """Returns the row with the best number of a metric. `sluice list metrics` says whether the largest or the
        smallest number is best. Of rows that are equal within 1e-9, returns the first. Raises UsageError for a metric
        of which neither number is best. Raises Infeasible if no point has the metric."""
        table, sign = self.frame, _direction(metric)
        if table.attrs["units"]:
            _require(table, metric)
        if metric not in table or not table[metric].notna().any():
            raise errors.Infeasible(f"no point has '{metric}': " + self.refusals())
        numbers = sign * table[metric]
        least = numbers.min()
        return table.loc[(numbers <= least + 1e-9 * abs(least)).idxmax()]

    def pareto(self, a: str, b: str) -> pandas.DataFrame:
        """Returns the rows that no other row beats, ordered by the metric `a` from the best to the worst. One row beats
        another if it is better in one metric and at least as good in the other metric. Of rows with equal numbers, only
        the first is returned."""
        table = self.frame
        for metric in (a, b):
            _require(table, metric)
        table = table[table[a].notna() & table[b].notna()]
        order = table.assign(_a=_direction(a) * table[a], _b=_direction(b) * table[b])
        order = order.sort_values(["_a", "_b"], kind="stable")
        kept = order["_b"] < order["_b"].cummin().shift(fill_value=float("inf"))
        return table.loc[order.index[kept]]

    @property
    def infeasible(self) -> list[Optional[errors.Infeasible]]:
        """For each point, in the order of the rows: the error with which it was refused, or None. The error has the
        numbers of the refusal, such as `needed_bytes`."""
        return [errors.of(errors.Infeasible.exit_code, result.shortage) if result.shortage else None
                for result in self._results]

    def refusals(self) -> str:
        """Returns the reasons why points have no numbers. Each reason has the number of its points. Reasons that differ
        only in their numbers count as one reason, with the numbers of the first point."""
        counts: dict[str, tuple[str, int]] = {}  # from a reason without its numbers to the first such reason, and the
                                                 # number of points with such a reason
        for result in self._results:
            if result.status != "complete":
                text = f"{result.status}: {result.reason}"
                first, count = counts.get(re.sub(r"[0-9.]+", "", text), (text, 0))
                counts[re.sub(r"[0-9.]+", "", text)] = (first, count + 1)
        return "; ".join(f"{count} x {text}" for text, count in counts.values())

    @property
    def plot(self) -> "SweepPlots":
        """Draws plot.curve(x, y, by=) and plot.heatmap(x, y, metric)."""
        from .sweep_plots import SweepPlots
        return SweepPlots(self.frame)

    def __len__(self) -> int:
        return len(self._results)

    def __repr__(self) -> str:
        complete = sum(result.status == "complete" for result in self._results)
        return f"Sweep of {', '.join(self._keys)}: {len(self)} points, {complete} with numbers"

    def _repr_html_(self) -> str:
        return self.frame._repr_html_()


def sweep(scenario: Scenario, changes: Axes, over: str, workers: Union[int, Executor, None],
          store: Union[str, Path, None], verify: float, retry_failed: bool,
          progress: Union[bool, Callable[[int, int], None]], executor: str = "replay") -> Sweep:
    """Implements `Scenario.sweep`, whose docstring describes it."""
    if executor not in ("replay", "simgrid"):
        raise errors.UsageError(f"executor={clipped(executor)}: expected 'replay' or 'simgrid'")
    if retry_failed and store is None:
        raise errors.UsageError("retry_failed needs store=, the file that keeps the failed points")
    if not 0 <= verify <= 1:
        raise errors.InputError(f"{verify} for 'verify': expected a share of the points, from 0 to 1")
    keys, rows, points = _points(changes, over)
    if store is not None or workers is not None or executor == "simgrid":
        _require_known_elsewhere(scenario, points, "store" if store is not None else
                                 "workers" if workers is not None else "executor")
    driver = _Driver(scenario, points, store, retry_failed)
    with telling(progress, " points") as told:
        results = driver.run_on_simgrid(workers, told) if executor == "simgrid" else driver.run(workers, told)
    if results and all(result.status == "failed" for result in results):
        raise errors.InputError(f"no point could run; the message of the first point:\n{results[0].message}")
    if executor == "replay":
        driver.verify(verify)
    return Sweep(keys, rows, over == "grid", results)


def _require_known_elsewhere(scenario: Scenario, points: "_sluice.Points", argument: str) -> None:
    """Raises UsageError for a policy that is a function of this process, for two reasons. Other processes do not know
    the function. A store would not notice a change of the function's code."""
    own = policies_of_this_process()
    if not own:
        return
    names = {_policy_name(scenario.document.get("policy"))}
    for number in range(len(points)):
        changes = dict(override.split("=", 1) for override in points.overrides(number))
        names |= {_policy_name(changes[key]) for key in ("policy", "policy.name") if key in changes}
    for name in sorted(names & own):
        reason = ("a store would not notice that the code of the function has changed" if argument == "store" else
                  f"{argument}= runs points in other processes, which do not know the function")
        raise errors.UsageError(f"the policy '{name}' is a Python function of this process, and {reason}; "
                                f"sweep without {argument}=")


def _policy_name(policy: Any) -> str:
    if isinstance(policy, str):
        found = re.search(r"\bname\b['\"]?: *['\"]?([\w.-]+)", policy)
        return found[1] if found else policy.strip()
    return str(policy.get("name")) if isinstance(policy, Mapping) else ""


class _Driver:
    """Runs the points, and keeps their results."""

    def __init__(self, scenario: Scenario, points: "_sluice.Points",
                 store: Union[str, Path, None], retry_failed: bool) -> None:
        self._scenario, self._points, self._retry_failed = scenario, points, retry_failed
        self._text, self._path = scenario.text(), scenario._native.path
        self._variants = _sluice.Variants(self._text, self._path)
        self._store = _sluice.SweepStore(os.fspath(store)) if store is not None else None
        self._results: list[Any] = [None] * len(points)

    def run(self, workers: Union[int, Executor, None],
            told: Optional[Callable[[int, int], None]]) -> list["_sluice.PointResult"]:
        if workers is None:
            self._results = _sluice.run_sweep(self._variants, self._points, os.cpu_count() or 1,
                                              self._store, self._retry_failed, told)
            return self._results
        if isinstance(workers, bool) or not (isinstance(workers, (int, Executor)) or hasattr(workers, "submit")):
            raise errors.UsageError(f"workers={clipped(workers)}: expected a number of processes or an executor of "
                                    "concurrent.futures")
        todo = self._not_in_store()
        asked = Workers(self._text, self._path, self._keeping(told))
        if isinstance(workers, int):
            asked.run_own(_documents.whole(workers, "workers", 1, 1024), todo)
        else:
            asked.run_on(workers, todo)
        return self._results

    def run_on_simgrid(self, workers: Union[int, None],
                       told: Optional[Callable[[int, int], None]]) -> list["_sluice.PointResult"]:
        """Runs each point in a process of its own, with SimGrid."""
        if workers is not None and (isinstance(workers, bool) or not isinstance(workers, int)):
            raise errors.UsageError(f"workers={clipped(workers)}: executor='simgrid' takes a number of processes")
        count = os.cpu_count() or 1 if workers is None else _documents.whole(workers, "workers", 1, 1024)
        todo = self._not_in_store(_is_of_simgrid)
        keep = self._keeping(told)
        threads = ThreadPoolExecutor(count)
        try:
            running = {threads.submit(self._simulated, overrides): number for number, overrides in todo.items()}
            for future in as_completed(running):
                keep(running[future], future.result())
        finally:
            threads.shutdown(cancel_futures=True)
        return self._results

    def _simulated(self, overrides: list[str]) -> "_sluice.PointResult":
        parts = (part.encode("utf-8", "surrogateescape") for part in (self._text, self._path, *overrides))
        try:
            return _sluice.PointResult.unpacked(bytes(helper.ask("point", *parts)))
        except errors.InternalError as error:  # the process of the point died
            return _sluice.PointResult.failed(str(error))

    def _keeping(self, told: Optional[Callable[[int, int], None]]) -> Callable[[int, "_sluice.PointResult"], None]:
        """Returns a function that stores the answer of a point. This function then calls `told` with the number of
        answers so far."""
        done = sum(result is not None for result in self._results)

        def keep(number: int, result: "_sluice.PointResult") -> None:
            nonlocal done
            self._results[number] = result
            if self._store is not None:
                overrides = self._points.overrides(number)
                self._store.put(self._variants.key(overrides), self._scenario.name, overrides, result)
                self._store.commit()
            done += 1
            if told is not None:
                told(done, len(self._points))

        return keep

    def _not_in_store(self, counts: Callable[["_sluice.PointResult"], bool] = lambda result: True
                      ) -> dict[int, list[str]]:
        """Takes the answers that are in the store. Returns the points for which the store has no valid answer."""
        todo = {}
        for number in range(len(self._points)):
            overrides = self._points.overrides(number)
            found = self._store.find(self._variants.key(overrides)) if self._store is not None else None
            if found is None or not counts(found) or (self._retry_failed and found.status == "failed"):
                todo[number] = overrides
            else:
                self._results[number] = found
        return todo

    def verify(self, share: float) -> None:
        """Runs a share of the complete points again, in SimGrid: `share` is from 0 to 1. Raises InternalError if
        SimGrid gives another makespan."""
        complete = [n for n, result in enumerate(self._results) if result.status == "complete"]
        chosen = [n for n in _sluice.points_to_verify(self._points, complete, float(share))
                  if not self._results[n].verified]
        overrides = [self._points.overrides(number) for number in chosen]
        with ThreadPoolExecutor(os.cpu_count() or 1) as threads:
            makespans = threads.map(lambda changes: simulated(self._scenario, changes), overrides)
            for number, changes, makespan in zip(chosen, overrides, makespans):
                require_same(changes, self._results[number], makespan)
                if self._store is not None:
                    self._store.set_verified(self._variants.key(changes))
                    self._store.commit()  # now, so that other processes can write during the next point


def _is_of_simgrid(result: "_sluice.PointResult") -> bool:
    return result.status != "complete" or result.verified or result.executor == "simgrid"


def simulated(scenario: Scenario, overrides: list[str]) -> float:
    """Runs a point with both executors in the helper process, and returns the makespan."""
    from .scenario import Scenario
    changed = Scenario._of(scenario._native.with_overrides(overrides))
    return changed.run(executor="both").metrics["makespan_s"]


def require_same(overrides: list[str], result: "_sluice.PointResult", makespan: float) -> None:
    """Raises InternalError if SimGrid gives another makespan for a point."""
    found = result.number("makespan_s")
    if abs(found - makespan) > _SAME * max(found, makespan):
        raise errors.InternalError(f"point {', '.join(overrides)}: the replay takes {found} s, SimGrid "
                                   f"{makespan} s")
    result.verified = True


def _points(changes: Axes, over: str) -> tuple[list[str], list[list[Any]], "_sluice.Points"]:
    """Returns the keys, the values of each point as they were given, and the points."""
    if over not in ("grid", "zip", "points"):
        raise errors.UsageError(f"over={clipped(over)}: expected 'grid', 'zip' or 'points'")
    if over == "points":
        return _points_one_by_one(changes)
    if not isinstance(changes, Mapping):
        raise errors.UsageError("a sweep needs a mapping of keys to lists of values, like "
                                "{'workload.batch': [1, 2, 4]}")
    axes = {key: listed(key, values) for key, values in changes.items()}
    texts = [(key, [text_of(key, value) for value in values]) for key, values in axes.items()]
    points = _sluice.Points(texts, over == "zip")
    rows = [[values[points.place(number, axis)] for axis, values in enumerate(axes.values())]
            for number in range(len(points))]
    return list(axes), [[label_of(value) for value in row] for row in rows], points


def _points_one_by_one(changes: Axes) -> tuple[list[str], list[list[Any]], "_sluice.Points"]:
    rows = list(changes)
    if not rows or not all(isinstance(row, Mapping) and row.keys() == rows[0].keys() for row in rows):
        raise errors.UsageError("over='points' takes a list of mappings with the same keys, like "
                                "[{'workload.batch': 1}, {'workload.batch': 8}]")
    keys = list(rows[0])
    texts = [[text_of(key, row[key]) for key in keys] for row in rows]
    return keys, [[label_of(row[key]) for key in keys] for row in rows], _sluice.Points.rows(keys, texts)


def listed(key: str, values: Any) -> list[Any]:
    if isinstance(values, (str, bytes, Mapping)) or not hasattr(values, "__iter__"):
        raise errors.UsageError(f"the values of '{key}' are not a list: {values!r}; set one value for all "
                                "points by with_()")
    return list(values.tolist() if hasattr(values, "tolist") else values)


def text_of(key: str, value: Any) -> str:
    [override] = _documents.overrides({key: value})
    return override[len(key) + 1:]


def label_of(value: Any) -> Any:
    """Returns what a table shows for the value. For a document, this is its name."""
    if isinstance(value, (str, int, float, bool)) or value is None:
        return value
    plain = _documents.plain(value)
    return getattr(value, "name", None) or (plain if isinstance(plain, str) else json.dumps(plain))


def _direction(metric: str) -> int:
    """Returns 1 if small values of the metric are good. If large values are good, returns -1."""
    better = _sluice.better(metric.split("[", 1)[0])
    if better == "neither":
        raise errors.UsageError(f"'{metric}' has no direction: a smaller value is neither better nor worse")
    return 1 if better == "lower" else -1


def _require(table: pandas.DataFrame, metric: str) -> None:
    if metric not in table:
        raise errors.UsageError(f"no point has the metric '{metric}'; there are: "
                                + ", ".join(table.attrs["units"]))
