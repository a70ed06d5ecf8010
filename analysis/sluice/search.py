"""Searches for the best point of a scenario within limits, with `sluice.minimise` and `sluice.maximise`."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Optional, Union

from . import _documents, _sluice, errors
from ._checked import checked, clipped
from ._metrics import for_people
from .progress import telling
from .sweep import Sweep, label_of, listed, require_same, simulated, text_of

if TYPE_CHECKING:
    import pandas

    from .scenario import Scenario

Over = Mapping[str, Union[tuple[Any, Any], Sequence[Any]]]


@checked
class Found:
    """The result of a search. `points` has every point that ran, as a Sweep."""

    def __init__(self, scenario: Scenario, metric: str, search: "_sluice.Search",
                 keys: list["_sluice.SearchKey"], given: dict[str, dict[str, Any]],
                 result: "_sluice.SearchResult", outcomes: list["_sluice.PointResult"]) -> None:
        self._scenario, self._metric, self._search, self._result = scenario, metric, search, result
        self._names = [key.key for key in keys]
        rows = [[_value(key, given[key.key], result.value(place, axis)) for axis, key in enumerate(keys)]
                for place in range(len(outcomes))]
        self._rows = rows
        #: every point that ran, in the order in which the points ran
        self.points = Sweep(self._names, [[label_of(value) for value in row] for row in rows], False,
                            outcomes)

    @property
    def changes(self) -> dict[str, Any]:
        """The values of the best point, in the form that `scenario.with_` takes. Raises Infeasible if no point keeps
        all limits."""
        return dict(zip(self._names, self._rows[self._best()]))

    @property
    def best(self) -> pandas.Series:
        """The row of the best point: its values and all its metrics. Raises Infeasible if no point keeps all limits."""
        return self.points.frame.loc[self._best()]

    @property
    def number(self) -> float:
        """The number that was minimised or maximised. Raises Infeasible if no point keeps all limits."""
        return self._number(self._best())

    @property
    def scenario(self) -> Scenario:
        """The scenario at the best point. Raises Infeasible if no point keeps all limits."""
        return self._scenario.with_(self.changes)

    @property
    def limits(self) -> dict[str, float]:
        """The distance from the best point to each limit, as a share of the limit. For example, 0.1 means 10 % away. A
        point on the limit has the distance 0. If the limit is 0, the distance is given in the metric's unit."""
        row = self.points.frame.loc[self._best()]
        return {text: abs(row[column] - limit) / abs(limit) if limit else abs(row[column])
                for text, column, limit in self._search.limits}

    @property
    def exhaustive(self) -> bool:
        """Whether every combination ran and none failed. If so, it is certain that no combination is better than the
        best point."""
        return self._result.exhaustive

    @property
    def used_up(self) -> bool:
        """Whether the search ran the largest allowed number of points."""
        return self._result.used_up

    def _best(self) -> int:
        if self._result.best is None:
            raise errors.Infeasible("no point keeps all limits: "
                                    + (self.points.refusals() or ", ".join(self._limit_texts())))
        return self._result.best

    def _limit_texts(self) -> list[str]:
        return [text for text, _, _ in self._search.limits]

    def _number(self, place: int) -> float:
        goal = self._search.goal
        if goal in self._names:
            return float(_digits(self._result.value(place, self._names.index(goal))))
        return float(self.points.frame[goal][place])

    def __repr__(self) -> str:
        count = f"{len(self.points)} points"
        if self._result.best is None:
            return f"Found nothing that keeps {' and '.join(self._limit_texts())}, of {count}"
        where = ", ".join(f"{key}={value}" for key, value in self.changes.items())
        unit = self.points.frame.attrs["units"].get(self._search.goal, "")
        kept = "".join(f"; {text} ({100 * share:.3g} % away)" for text, share in self.limits.items())
        failed = int((self.points.frame["status"] == "failed").sum())
        sure = ("all combinations" if self.exhaustive
                else f"all combinations but the {'one' if failed == 1 else failed} that failed" if self._result.all_asked
                else "a search, no proof")
        number = for_people(self.number, unit) if unit else f"{self.number:.7g}"
        return f"Found {self._metric} {number} at {where}{kept}, of {count} ({sure})"


@checked
def minimise(scenario: Union[Scenario, str, Path], metric: str, over: Over, subject_to: Union[str, Sequence[str]] = (),
             *, points: int = 200, store: Union[str, Path, None] = None, by: str = "nlopt",
             seed: int = 0, verify: bool = True, retry_failed: bool = False,
             progress: Union[bool, Callable[[int, int], None]] = False) -> Found:
    """Searches for the point at which a metric is least:

        found = sluice.minimise(scenario, "makespan_s",
                                {"platform.links.host.bandwidth": ("8GB/s", "64GB/s"),
                                 "workload.batch": range(1, 257),
                                 "workload.dtype": ["float16", "float32"]},
                                subject_to="peak_bytes.gpu <= 16GB")
        found.changes, found.number, found.limits, found.points.frame

    `scenario` is a Scenario, a name or a file. `metric` is one of `sluice.metrics()`. If the metric has several
    numbers, add a dot and a name, as in "peak_bytes.gpu". `metric` may also be a key of `over` that has a range. The
    search then finds, for example, the least bandwidth that keeps a limit. `over` has a range or a list of values for
    each key. A tuple (lo, hi) is the range from lo to hi. If lo and hi are whole numbers without units, only whole
    numbers are tried. A Python `range` has whole numbers, too. Each value of a list is combined with all values of the
    other keys. `subject_to` is a limit, "METRIC <= QUANTITY" or "METRIC >= QUANTITY", or a list of limits. `points` is
    the largest number of different points that run. `store` is as in `Scenario.sweep`. Points that a sweep has stored
    there do not run again. `by` is the method. "nlopt" runs the same points each time (see `sluice help search`).
    "optuna" is Optuna's TPE sampler with `seed`, and needs python3-optuna. With `verify`, the best point also runs in
    SimGrid. SimGrid must give the same makespan.

    Raises UsageError for invalid arguments. Raises InputError if no point could run. Raises IoError if the store cannot
    be used. Raises InternalError if SimGrid gives another makespan. Ctrl-C raises KeyboardInterrupt. The answers until
    then are in the store."""
    return _search(scenario, metric, False, over, subject_to, points, store, by, seed, verify,
                   retry_failed, progress)


@checked
def maximise(scenario: Union[Scenario, str, Path], metric: str, over: Over, subject_to: Union[str, Sequence[str]] = (),
             *, points: int = 200, store: Union[str, Path, None] = None, by: str = "nlopt",
             seed: int = 0, verify: bool = True, retry_failed: bool = False,
             progress: Union[bool, Callable[[int, int], None]] = False) -> Found:
    """Searches for the point at which a metric is largest. The arguments are as in `minimise`."""
    return _search(scenario, metric, True, over, subject_to, points, store, by, seed, verify,
                   retry_failed, progress)


def _search(scenario, metric, maximise, over, subject_to, points, store, by, seed, verify,
            retry_failed, progress) -> Found:
    if isinstance(scenario, (str, os.PathLike)):
        from .scenario import load  # imported here, because the imported module imports sweeps

        scenario = load(scenario)
    if not hasattr(scenario, "with_"):
        raise errors.InputError(f"{clipped(scenario)} for 'scenario': expected a Scenario, or the name or the "
                                "path of a scenario")
    if by not in ("nlopt", "optuna"):
        raise errors.UsageError(f"by={by!r}: expected 'nlopt' or 'optuna'")
    if retry_failed and store is None:
        raise errors.UsageError("retry_failed needs store=, the file that keeps the failed points")
    most = _documents.whole(points, "points", 1, 1_000_000)
    keys, given = _keys(over)
    limits = [subject_to] if isinstance(subject_to, str) else list(subject_to)
    variants = _sluice.Variants(scenario.text(), scenario._native.path)
    kept = _sluice.SweepStore(os.fspath(store)) if store is not None else None
    search = _sluice.Search(variants, keys, metric, maximise, limits, kept, retry_failed)
    with telling(progress, " points") as told:
        if by == "nlopt":
            result = search.run(most, os.cpu_count() or 1, told)
        else:
            result = _by_optuna(search, keys, most, _documents.whole(seed, "seed", 0, 2**32 - 1), told)
    if all(outcome.status == "failed" for outcome in result.outcomes):
        raise errors.InputError("no point could run; the message of the first point:\n"
                                + result.outcomes[0].message)
    outcomes = result.outcomes
    if verify and result.best is not None:
        overrides = result.points.overrides(result.best)
        require_same(overrides, outcomes[result.best], simulated(scenario, overrides))
    return Found(scenario, metric, search, keys, given, result, outcomes)


def _keys(over: Over) -> tuple[list["_sluice.SearchKey"], dict[str, dict[str, Any]]]:
    """Returns the keys that are varied. For each key with a list, also returns a dict: from the text of a value to the
    value as the caller gave it."""
    if not isinstance(over, Mapping):
        raise errors.UsageError("a search needs a mapping of keys to ranges (lo, hi) or lists, like {'workload.batch': "
                                "(1, 64)}")
    keys, given = [], {}
    for key, values in over.items():
        if isinstance(values, range) and values.step == 1 and len(values) > 1:
            values = (values.start, values.stop - 1)
        given[key] = {}
        if isinstance(values, tuple):
            keys.append(_range(key, values))
            continue
        given[key] = {text_of(key, value): value for value in listed(key, values)}
        if not given[key]:
            raise errors.UsageError(f"no value is given for '{key}': expected a range (lo, hi) or a list of values")
        keys.append(_sluice.SearchKey(key, list(given[key])))
    return keys, given


def _range(key: str, ends: tuple) -> "_sluice.SearchKey":
    if len(ends) != 2:
        raise errors.UsageError(f"the range of '{key}' is {ends!r}: give a tuple (lo, hi), or a list of values")
    low, high = (text_of(key, end) for end in ends)
    parsed = _sluice.SearchKey.parse(f"{key}={low}..{high}")
    if parsed.kind == "listed" and low != high:
        raise errors.UsageError(f"the range of '{key}' is {ends!r}, which are not numbers; give a list of values")
    return parsed


def _value(key: "_sluice.SearchKey", given: dict[str, Any], text: str) -> Any:
    """Returns the value of `key` at a point, in the form that `Scenario.with_` takes. `text` is this value as a text. A
    value of a list is returned as the caller gave it. A value of a range without a unit is a number. With a unit, it is
    a text."""
    if key.kind == "listed":
        return given.get(text, text)
    if key.kind == "whole":
        return int(text)
    return text if key.unit else float(text)


def _digits(text: str) -> str:
    return text.rstrip("/%ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")


def _by_optuna(search, keys, most: int, seed: int, told) -> "_sluice.SearchResult":
    """Lets Optuna's TPE sampler choose the points. The sampler learns which points break a limit, and by how much. A
    point without numbers counts as far beyond its limits."""
    try:
        import optuna
    except ImportError:
        raise errors.UsageError("by='optuna' needs Optuna: apt-get install python3-optuna") from None
    level = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Optuna 3 warns that its limits are experimental
            sampler = optuna.samplers.TPESampler(
                seed=seed, constraints_func=lambda trial: (trial.user_attrs["wrong"],))
            study = optuna.create_study(sampler=sampler)
            for _ in range(4 * most):  # the sampler may propose a point again
                if len(search) >= most:
                    break
                trial = study.ask()
                stand, number = search.ask([_proposed(trial, key) for key in keys])
                wrong = {"keeps": 0.0, "breaks": number, "refused": 1e6 + min(number, 1e6)}[stand]
                trial.set_user_attr("wrong", wrong)
                study.tell(trial, number if stand == "keeps" else 0.0)
                if told is not None:
                    told(len(search), most)
    finally:
        optuna.logging.set_verbosity(level)
    return search.result()


def _proposed(trial, key: "_sluice.SearchKey") -> str:
    if key.kind == "listed":
        return trial.suggest_categorical(key.key, key.values)
    if key.kind == "whole":
        return key.text_of(trial.suggest_int(key.key, int(key.low), int(key.high)))
    return key.text_at(trial.suggest_float(key.key, 0, 1))
