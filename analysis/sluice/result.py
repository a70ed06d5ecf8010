"""Results, from a run or from a trace."""

from __future__ import annotations

import json
import os
import re
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Optional, Sequence, Union

from . import _sluice, errors
from ._checked import checked
from ._helper import helper
from ._late import late
from ._metrics import Metrics, for_people
from ._recording import Recording
from .answer import Answer, Asked, Certainty, Note
from .words import Export

if TYPE_CHECKING:
    import pandas
    import xarray

    from .plots import Plots

_ENDINGS = {".pftrace": "perfetto", ".json": "chrome", ".csv": "csv"}
_HEADLINES = ("makespan_s", "first_step_s", "step_s", "steady_throughput_samples_per_s",
              "compute_utilisation", "bound_by", "peak_bytes")


@checked
class Result:
    """Metrics, spans, memory levels and series of one run. Times are in seconds from the start of the run."""

    def __init__(self, memory: Any, answer: Union[str, Callable[[], str]] = "") -> None:
        self._recording = Recording(memory)
        self._said = answer
        self._tables: dict[str, Any] = {}

    @cached_property
    def _answer_text(self) -> str:
        """The answer as JSON. Further simulations are needed for its notes. Therefore the answer is made only when it
        is read."""
        said = self._said() if callable(self._said) else self._said
        return said or self._recording.info["header"].get("answer", "")

    @cached_property
    def _answer(self) -> Answer:
        return Answer.from_json(self._answer_text)

    @property
    def asked(self) -> Optional[Asked]:
        """The question: model, platform, workload, policy and cost. `print` shows the question in one line. Without a
        scenario, the question is None. Old traces have no question either."""
        return self._answer.asked

    @property
    def certainty(self) -> Optional[Certainty]:
        """How certain the answer is: which shares of the seconds rest on measurements, on figures with a source, and on
        assumed figures. The certainty is None if `asked` is None."""
        return self._answer.certainty

    @property
    def notes(self) -> tuple[Note, ...]:
        """The remarks that `sluice run` prints: what a reader must know to understand the numbers."""
        return self._answer.notes

    @property
    def status(self) -> str:
        """"complete" if all actions were executed. If they completed no sample (see `Action.done`), the status is "no
        samples". If the run ended early, the status of its trace is "aborted" (by a signal) or "failed". Such a trace
        holds only the actions before the end."""
        status = self._recording.info["status"]
        return "no samples" if status == "complete" and self.metrics.samples == 0 else status

    @cached_property
    def metrics(self) -> Metrics:
        """The metrics by name, with the numbers that `sluice run --json` prints."""
        info = self._recording.info
        rows = info["summary"]
        return Metrics(info["metrics"], info["units"], {row[0]: row[2] for row in rows},
                       {row[0]: row[5] for row in rows if row[5]})

    def _table(self, name: str) -> "pandas.DataFrame":
        """Returns a new DataFrame of the table of the given name. The columns are made only once."""
        if name not in self._tables:
            self._tables[name] = getattr(late("._tables"), name)(self._recording)
        return self._tables[name].frame()

    @property
    def spans(self) -> "pandas.DataFrame":
        """A table with one row per executed action. The action that ended first is the first row. Four columns are in
        s: start, end, available and waited. Actions that wait for this action start at the time `available` or later.
        `waited` is how long the stream was idle before the action. The columns stream, action, kind, device, stage,
        stage_name, micro_batch, iteration and section say what was executed. An action without a stage has the stage -1
        and no stage_name. The columns reason and blocker say what the action waited for. The column cause is the row of
        the span that ended the wait, or -1. The last columns are the bytes moved and the flop computed. Each access
        returns a new DataFrame that you may change. Columns of numbers are read-only views of shared memory, so `-=` is
        refused. Assign `spans["start"] - t0` instead, or use `spans.copy()`."""
        return self._table("spans")

    @property
    def memory(self) -> "pandas.DataFrame":
        """A table of the tensors that enter and leave pools. For an entry, the column delta is above 0, and for an exit
        it is below 0. The column level is the number of bytes in the pool afterwards. time is in s, delta and level are
        in bytes. Each access returns a new DataFrame, as for `spans`."""
        return self._table("memory")

    @property
    def series(self) -> "pandas.DataFrame":
        """A table of quantities over time in equal bins. The index is the end of each bin in s. The quantities are the
        utilisation of each stream (0 to 1), samples done, cumulative seconds of recomputation, and watts. Each access
        returns a new DataFrame, as for `spans`."""
        return self._table("series")

    @property
    def stages(self) -> "pandas.DataFrame":
        """A table with one row per stage of the plan, indexed by its number. The columns are name, devices, spans,
        compute_s, flop, loaded_bytes, saved_bytes, start and end. devices has the names of the devices that worked on
        the stage. spans is the number of executed actions. compute_s is the busy time of compute streams. start is the
        time in s at which the first action of the stage began. end is the time at which its last action ended."""
        return late("._tables").stages(self._recording)

    @property
    def facts(self) -> "pandas.DataFrame":
        """The decisions of the policy as a table, indexed by name. The columns are value, unit, `of` and `replica`.
        `of` is the group, stage or device of the decision. `replica` is the replica that made the decision, or "".
        `plan.facts` has the same decisions."""
        return late("._facts").table(json.loads(self._parsed_plan.facts))

    @cached_property
    def _parsed_plan(self) -> Any:
        return _sluice.Plan.parse(self.plan, "plan")

    def to_xarray(self) -> "xarray.Dataset":
        """Returns spans (dimension span), memory events (event) and series (time) with their units. The attrs of the
        Dataset are name, status, scenario and the metrics, such as "peak_bytes.gpu". The Dataset's method to_netcdf
        writes a file. Some forms of netCDF have only 32-bit integers. In these forms, larger numbers of bytes become
        floats."""
        about = {"name": self.name, "status": self.status, "scenario": self.scenario}
        numbers = {name: value for name, value, _ in self.metrics.rows() if value is not None}
        return late("._tables").to_xarray(self._recording, {**about, **numbers})

    def resampled(self, times: Sequence[float]) -> "xarray.Dataset":
        """Returns a Dataset of the run in bins that end at `times` (s). `xarray.concat` can combine it with the
        Datasets of other runs. Each bin has the busy share of each stream, the most bytes in each pool, and the samples
        done. After the end of the run, bins are NaN. `sluice.compare(...).to_xarray()` returns the bins of several
        runs."""
        return late("._resampled").dataset(self._recording, times, self.metrics["makespan_s"], {"name": self.name})

    @property
    def scenario(self) -> str:
        """The scenario as YAML, for sluice.Scenario.from_text. If a plan was run without a scenario, the text is
        empty."""
        return self._recording.info["header"]["scenario"]

    @cached_property
    def name(self) -> str:
        """The name of the executed plan: scenario and policy."""
        found = re.search(r'^name (".*")$', self.plan[:100_000], re.MULTILINE)
        return json.loads(found[1]) if found else ""

    @property
    def plan(self) -> str:
        """The executed plan as text, which sluice.Plan.from_text reads."""
        return self._recording.plan_text

    @property
    def plot(self) -> "Plots":
        """Draws pictures, with .timeline(), .memory(), .utilisation() and .roofline()."""
        return late(".plots").Plots(self._recording, self.name, self.metrics["makespan_s"], self.scenario)

    def save(self, path: Union[str, Path]) -> None:
        """Writes a trace (HDF5, sim/trace/FORMAT.md), whole or not at all, like the command `sluice run -o`. Raises
        IoError."""
        helper.ask("save", _path(path), self._recording.memory, self._answer_text.encode())

    def export(self, path: Union[str, Path], to: Optional[Export] = None,
               table: Optional[str] = None) -> None:
        """Writes the run for another program, as `sluice export` does. `to` is perfetto, chrome, csv or data-island.
        Without `to`, the path's extension gives the format: .pftrace, .json or .csv. `table` is the table of a
        data-island: "metrics" (the default), "stages", or "layers" (the layers of the model). Raises UsageError if
        neither `to` nor the extension gives a format. Raises IoError if the file cannot be written. Raises InputError
        if a plan was run without a scenario and `table` is "layers", because a plan has no layers."""
        form = to or _ENDINGS.get(Path(path).suffix, "")
        if not form:
            raise errors.UsageError("give 'to': one of perfetto, chrome, csv, data-island, because the "
                                    f"extension of '{path}' does not name a format")
        if table == "layers" and not self.scenario:
            raise errors.InputError("this is the result of a plan file, which does not name layers")
        helper.ask("export", _path(path), form.encode(), (table or "").encode(),
                   self._recording.memory)

    def __reduce__(self):
        return Result, (bytes(memoryview(self._recording.memory)), self._answer_text)

    def _headlines(self) -> list[tuple[str, str]]:
        return [(name, value) for name, value in self.metrics._lines()
                if name.split("/")[0] in _HEADLINES]

    def __repr__(self) -> str:
        lines = self._headlines()
        widest = max(len(name) for name, _ in lines)
        head = f"Result ({self.status}): {self._recording.rows('spans/start'):,} spans"
        return "\n".join([head, *(f"  {name:<{widest}}  {value}" for name, value in lines)])

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><th style='text-align:left'>{escape(name)}</th>"
                       f"<td style='text-align:right'>{escape(value)}</td></tr>"
                       for name, value in self._headlines())
        return (f"<p>{self._recording.rows('spans/start'):,} spans, {escape(self.status)}</p>"
                f"<table>{rows}</table><details><summary>all metrics</summary>"
                f"{self.metrics._repr_html_()}</details>")


def _path(path: Union[str, Path]) -> bytes:
    return os.fsencode(os.fspath(path))


@checked
def open(path: Union[str, Path]) -> Result:  # noqa: A001 - sluice.open reads well
    """Reads a trace. Raises IoError if the file cannot be read. Raises InputError for other files, and for damaged or
    unfinished traces."""
    return Result(helper.ask("open", _path(path)))


__all__ = ["Result", "open", "for_people"]
