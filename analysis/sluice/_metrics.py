"""The metrics of a run."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING, Any, Iterable, Iterator

from . import errors
from ._late import late
from ._metric_types import MetricTypes

if TYPE_CHECKING:
    import pandas

_PREFIXES = [(1e18, "E"), (1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1, "")]
_SMALL = [(1, ""), (1e-3, "m"), (1e-6, "u"), (1e-9, "n")]
_SHORT = {"byte": "B"}


def for_people(value: float, unit: str) -> str:
    """Returns the value as a text such as 42 %, 24 GB or 3.1 ms. It has at most four significant digits, and a unit
    that suits its size."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "none"
    if unit == "1":
        return f"{value:.4g}"
    if unit.startswith("sample"):
        return (f"{value:.4g}" if abs(value) < 1e4 else f"{value:,.0f}") + unit.replace("sample", " samples")
    size = abs(value)
    steps = _PREFIXES + _SMALL[1:] if unit in ("s", "J", "W") else _PREFIXES
    if unit == "s":  # seconds have no prefix such as kilo, because nobody uses kiloseconds
        steps = [step for step in steps if step[0] <= 1]
    factor, prefix = next((step for step in steps if size >= step[0] * 0.99999), (1, ""))
    return f"{value / factor:.4g} {prefix}{_SHORT.get(unit, unit)}".rstrip()


def close_to(name: Any, known: Iterable[str]) -> str:
    """Returns " (did you mean 'x'?)". The suggestion is the shortest name that begins with the given name. If no name
    begins with it, the suggestion is the most similar name. If no name is similar, returns an empty text."""
    text, names = str(name), [str(one) for one in known]
    longer = sorted((one for one in names if text and one.startswith(text)), key=len)
    found = longer or difflib.get_close_matches(text, names, 1)
    return f" (did you mean '{found[0]}'?)" if found else ""


class Suggesting:
    """A class whose error for an unknown attribute suggests a similar attribute."""

    if not TYPE_CHECKING:  # a type checker reads only the attributes that the class declares
        def __getattr__(self, name: str) -> Any:
            known = [] if name.startswith("_") else [one for one in dir(type(self)) if not one.startswith("_")]
            there = f"; there are {', '.join(known)}" if known else ""
            raise AttributeError(f"{type(self).__name__} has no '{name}'{close_to(name, known)}{there}")


class MissingMetric(errors.InputError, KeyError):
    """The name of a metric or the key of a metric is unknown. The text of the error suggests a similar name or key."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class _ByKey(dict):
    """A metric with several keys, as a dict. The error for an unknown key names the known keys."""

    def __init__(self, values: Mapping[str, Any], metric: str) -> None:
        super().__init__((key, _ByKey(value, f"{metric}/{key}") if isinstance(value, dict) else value)
                         for key, value in values.items())
        self._metric = metric

    def __missing__(self, key: Any) -> Any:
        there = ", ".join(map(str, self)) or "no keys"
        raise MissingMetric(f"'{self._metric}' has no '{key}'{close_to(key, self)}; it has {there}")

    def __reduce__(self) -> tuple[Any, ...]:  # a copy or a pickle of the metric becomes a plain dict
        return dict, (dict(self),)


class Metrics(MetricTypes, Mapping):
    """Metrics by name, as in `sluice run --json`. metrics["makespan_s"] and metrics.makespan_s are the same number. A
    metric with one value per link, pool or class is a dict. None means that the metric has no number in this run.
    Metrics cannot be changed. An unknown name or key raises a KeyError that is also an InputError."""

    _values: dict[str, Any]
    _units: dict[str, "str | None"]
    _summaries: dict[str, str]
    _absent: dict[str, str]

    def __init__(self, values: dict[str, Any], units: dict[str, str | None],
                 summaries: dict[str, str], absent: dict[str, str]) -> None:
        self.__dict__.update(_values=values, _units=units, _summaries=summaries, _absent=absent)

    @property
    def units(self) -> dict[str, "str | None"]:
        """The unit of each metric, such as s, byte, J, FLOP or sample/s. The unit 1 means a ratio. None means that the
        metric is a word."""
        return dict(self._units)

    @property
    def summaries(self) -> dict[str, str]:
        """The definition of each metric, in one sentence."""
        return dict(self._summaries)

    @property
    def absent(self) -> dict[str, str]:
        """The metrics without a number, each with the reason."""
        return dict(self._absent)

    def __getitem__(self, name: str) -> Any:
        try:
            value = self._values[name]
        except KeyError:
            raise MissingMetric(self._no(name)) from None
        return _ByKey(value, name) if isinstance(value, dict) else value

    if not TYPE_CHECKING:  # MetricTypes declares the types of the attributes
        def __getattr__(self, name: str) -> Any:
            if name.startswith("__") or name not in self.__dict__.get("_values", ()):
                raise AttributeError(self._no(name)) from None
            return self[name]

    def _no(self, name: str) -> str:
        return f"there is no metric '{name}'{close_to(name, self.__dict__.get('_values', ()))}"

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"metrics cannot be changed: '{name}' is a result of the run")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"metrics cannot be changed: '{name}' is a result of the run")

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __dir__(self):
        return [*super().__dir__(), *self._values]

    def rows(self) -> list[tuple[str, Any, str | None]]:
        """Returns a row (name, value, unit) for each value of each metric. The keys of a value are a part of its name,
        as in "peak_bytes/gpu"."""
        rows: list[tuple[str, Any, str | None]] = []

        def add(name: str, value: Any, unit: str | None) -> None:
            if isinstance(value, dict):
                for key, inner in value.items():
                    add(f"{name}/{key}", inner, unit)
            else:
                rows.append((name, value, unit))

        for name, value in self._values.items():
            add(name, value, self._units.get(name))
        return rows

    def to_series(self) -> "pandas.Series":
        """Returns a flat pandas Series. A name such as "peak_bytes/gpu" is a metric, a slash and a key."""
        pandas = late("pandas")
        return pandas.Series({name: value for name, value, _ in self.rows()}, name="metrics",
                             dtype=object)

    def to_frame(self) -> "pandas.DataFrame":
        """Returns a pandas DataFrame with the columns value, unit and meaning."""
        pandas = late("pandas")
        rows = self.rows()
        return pandas.DataFrame(
            {"value": [value for _, value, _ in rows], "unit": [unit or "" for *_, unit in rows],
             "meaning": [self._summaries.get(name.split("/")[0], "") for name, *_ in rows]},
            index=pandas.Index([name for name, *_ in rows], name="metric"))

    def _lines(self) -> list[tuple[str, str]]:
        return [(name, value if isinstance(value, str) else for_people(value, unit or ""))
                for name, value, unit in self.rows()]

    def __repr__(self) -> str:
        lines = self._lines()
        widest = max((len(name) for name, _ in lines), default=0)
        return "\n".join(f"{name:<{widest}}  {value}" for name, value in lines)

    def _repr_html_(self) -> str:
        def meaning(name: str) -> str:
            return escape(self._summaries.get(name.split("/")[0], ""), quote=True)

        rows = "".join(
            f"<tr><th style='text-align:left' title='{meaning(name)}'>{escape(name)}</th>"
            f"<td style='text-align:right'>{escape(value)}</td></tr>"
            for name, value in self._lines())
        return f"<table>{rows}</table>"
