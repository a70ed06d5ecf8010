"""Scenarios. A scenario is a question about a model, a platform, a workload and a policy."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Optional, Union

from . import _documents, _sluice, errors
from ._checked import checked
from ._late import late
from ._model import Model
from ._platform import Platform
from .words import Executor as ExecutorName, Over, SweepExecutor, Way
from .plan import Plan

if TYPE_CHECKING:
    from concurrent.futures import Executor

    import pandas

    from .placement import PlacementCurve
    from .result import Result
    from .sweep import Sweep

Changes = Mapping[str, Any]


@checked
class Scenario:
    """A question. A Scenario never changes: `with_` returns another Scenario. `sluice.load(name_or_path)` and
    Scenario(name_or_path) read a Scenario, and Scenario({...}) is the same as `from_dict`."""

    _native: Any

    def __init__(self, source: Union[str, Path, Mapping]) -> None:
        made = Scenario.from_dict(source) if isinstance(source, Mapping) else load(source)
        self._native = made._native

    @classmethod
    def _of(cls, native: Any) -> Scenario:
        made = cls.__new__(cls)
        made._native = native
        return made

    @classmethod
    def from_dict(cls, document: Mapping, name: str = "<dict>",
                  relative_to: Union[str, Path, None] = None) -> Scenario:
        """Makes a scenario from a sluice-scenario/1 document (scenarios/FORMAT.md). The key `format` may be left out.

        `model` may be a Model or a bundled model's name. `platform` may be a Platform or a bundled platform's name.
        Example: {"model": "gpt2", "platform": "a100_pcie", "policy": "resident"}. Relative paths in the document begin
        at the folder `relative_to`, by default the current folder. Raises InputError."""
        content = {"format": "sluice-scenario/1", **_documents.plain(document)}
        return cls.from_text(_documents.to_json(content, indent=2), name, relative_to)

    @classmethod
    def from_text(cls, text: str, name: str = "<text>",
                  relative_to: Union[str, Path, None] = None) -> Scenario:
        """Returns a scenario from the YAML or JSON of a sluice-scenario/1 document. `Scenario.text()` and
        `Result.scenario` are such texts. Relative paths in the document begin at the folder `relative_to`, by default
        the current folder. Raises InputError."""
        folder = os.fspath(relative_to) if relative_to is not None else os.getcwd()
        path = os.path.join(folder, name if name[:1] != "<" else "scenario")
        return cls._of(_sluice.Scenario.parse(text, name, path, []))

    @property
    def name(self) -> str:
        """The name of the file, without folder and extension."""
        return self._native.name

    @property
    def question(self) -> str:
        """The question in words, or an empty text."""
        return self._native.question

    @property
    def document(self) -> dict:
        """The whole document as a new dict, with the contents of the files that it names."""
        return json.loads(self._native.json())

    @property
    def model(self) -> Model:
        """The network."""
        return Model.from_dict(self.document["model"])

    @property
    def platform(self) -> Platform:
        """The machine."""
        return Platform._of(self._native.platform, json.dumps(self.document["platform"]))

    def text(self) -> str:
        """Returns the whole scenario as YAML. To read this text again, no other file is needed."""
        return self._native.text()

    def provenance(self) -> str:
        """Returns the scenario as YAML, with the origin of each value. `sluice run --resolve` prints the same."""
        return self._native.provenance()

    def with_(self, changes: Optional[Changes] = None, /, **more: Any) -> Scenario:
        """Returns a copy with changed values, like KEY=VALUE on the command line:

            scenario.with_({"platform.links.host.bandwidth": "64GB/s", "workload.batch": 8})
            scenario.with_(policy="resident", platform="k40", model=sluice.model("gpt2"))

        A key with dots changes one value. If the old value is a mapping, the new value replaces all of it. A value may
        be a word, a dict, YAML as text, a Model or a Platform. If a dict leaves out keys of the old mapping, the
        warning sluice.KeysDropped names them. Files are sought in the folder of the scenario first, then in the current
        folder. Raises InputError with the message that the command line prints."""
        texts = _documents.overrides(changes, more)
        given = {**_documents.mapping(changes), **more}
        try:
            changed = Scenario._of(self._native.with_overrides(texts))
        except errors.InputError as error:
            raise errors.InputError(f"{error}{_hint(str(error), given)}") from None
        for key, value in given.items():
            if isinstance(value, Mapping):
                _tell_dropped(key, value, self.document)
        return changed

    def stages(self) -> pandas.DataFrame:
        """Returns one row per stage. weight_bytes is per stage. macs, flop and all other bytes are per sample."""
        pandas = late("pandas")
        keys = ["name", "first", "last", "weight_bytes", "input_bytes", "output_bytes",
                "workspace_bytes", "cache_bytes", "macs", "flop"]
        rows = [{key: getattr(stage, key) for key in keys} for stage in self._native.stages()]
        table = pandas.DataFrame(rows, columns=keys)
        table.index.name = "stage"
        return table

    def plan(self) -> Plan:
        """Returns the plan that the scenario's policy makes. Raises InputError, Infeasible, and the exceptions of a
        policy in Python."""
        plan = self._native.plan()
        return Plan(plan, scenario_text=self.text(), question_bound_s=self._native.question_bound(),
                    scenario=self._native)

    def run(self, progress: Union[bool, Callable[[int, int], None]] = False,
            executor: ExecutorName = "auto") -> Result:
        """Runs the scenario in the helper process. `progress` = True draws a bar. A function `progress` receives two
        numbers, as in Plan.run. `executor` is as in Plan.run, too. Raises InputError and HelperDied.
        If the plan does not fit or ends in a deadlock, raises Infeasible. Ctrl-C ends the run and raises
        KeyboardInterrupt."""
        return self.plan().run(progress, executor)

    def sweep(self, changes: Union[Mapping[str, Sequence[Any]], Sequence[Mapping[str, Any]]],
              over: Over = "grid", workers: Union[int, Executor, None] = None,
              store: Union[str, Path, None] = None, verify: float = 0.01,
              retry_failed: bool = False,
              progress: Union[bool, Callable[[int, int], None]] = False,
              executor: SweepExecutor = "replay") -> Sweep:
        """Runs the scenario at many points, and returns them as a table:

            sweep = scenario.sweep({"workload.batch": [1, 2, 4, 8],
                                    "platform.links.host.bandwidth": ["16GB/s", "32GB/s"]})
            sweep.frame[["workload.batch", "status", "makespan_s"]]

        `changes` has a list of values for each key. Keys are as in `with_`. With `over` = "grid", there is a point for
        every combination of the values. With "zip", point 1 has the first value of each key, point 2 the second values,
        and so on. With "points", `changes` is a list of mappings with the same keys, one mapping per point. `workers` =
        None runs the points in threads of this process. `workers` = 4 runs them in 4 processes. `workers` may also be
        any concurrent.futures.Executor, for example `client.get_executor()` of Dask or mpi4py.futures.MPIPoolExecutor.
        If a point crashes its process, a new process is started. `store` is an SQLite file that keeps each answer
        (sim/study/sweep/FORMAT.md). Points in the store do not run again. With `retry_failed`, failed points run again.
        `verify` is the share of the points that also run in SimGrid. SimGrid must give the same makespan. With `verify`
        = 0, no point runs in SimGrid. `progress` is as in `run`, but counts points instead of actions. With `executor`
        = "simgrid", every point runs with SimGrid in a process of its own. In this case, `workers` is None or the
        number of processes that run at the same time, and `verify` has no effect.

        If a point does not fit, or its scenario is invalid, its row says the reason. Raises UsageError for invalid
        arguments. Raises InputError if no point could run. Raises IoError if the store cannot be used. Raises
        InternalError if SimGrid gives another makespan. Ctrl-C raises KeyboardInterrupt. The answers until then are in
        the store."""
        from .sweep import sweep
        return sweep(self, changes, over, workers, store, verify, retry_failed, progress, executor)

    def placement(self, fast: Union[str, float, Sequence[Union[str, float]], None] = None,
                  ways: Union[Way, Sequence[Way], None] = None, *, device: Optional[str] = None,
                  in_place: Union[str, Sequence[float], None] = None, nodes: int = 1000,
                  progress: Union[bool, Callable[[int, int], None]] = False) -> PlacementCurve:
        """Decides for each tensor whether it should be in fast or in slow memory, like the command `sluice placement`
        (docs/placement.md). There is one result for each size of fast memory and each way to place tensors:

            curve = scenario.placement(fast=[0.25, 0.5, "16GB"], ways=["static", "asynchronous"])
            curve.frame[["way", "fast_share", "slowdown"]]
            curve.plot.slowdown()

        `fast` is a size of fast memory, or a list of sizes. A number from 0 to 1 is a share of the bytes that are
        needed at the same time. Texts are "16GB" (bytes), "40%" (a share), "1:8" (the ratio of fast memory to slow
        memory) or "10%..100%:5" (shares in steps of 5 %). None means 10 %, 20 % and so on up to 100 %, and also the
        size of the device's fast memory. `ways` is a way to place tensors, or a list of ways. None means all seven
        ways. `device` is the device that computes. None means the first device with two memories. `in_place` has two
        measured rates of kernels: for reading and for writing slow memory. Write the rates as "20GB/s:4.4GB/s", or as
        two numbers in byte/s: (20e9, 4.4e9). A kernel then takes as long as with all operands in fast memory, plus the
        seconds for reading and writing slow memory. With None, the cost model gives the seconds of kernels with
        operands in slow memory. `nodes` is the largest number of nodes that branch and bound may visit for one
        placement. With `nodes` = 0, there is no branch and bound. `progress` is as in `run`, but counts results instead
        of actions.

        The scenario's policy, cut and fates are ignored. Without `in_place`, the cost model must distinguish memories.
        Raises UsageError for invalid sizes or rates. Raises InputError for an unknown way or device. Raises InputError
        for a memory without a rate, or if the cost model does not distinguish memories. Raises Infeasible if slow
        memory cannot hold all tensors. If a way has no placement for a size, its row says the reason. Ctrl-C ends the
        search after the current placement and raises KeyboardInterrupt.

        Source: Hildebrand et al., AutoTM (ASPLOS 2020), section 4."""
        from .placement import placement
        return placement(self, fast, ways, device, in_place, nodes, progress)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scenario) and self.text() == other.text()

    def __hash__(self) -> int:
        return hash(self.text())

    def __repr__(self) -> str:
        return f"Scenario '{self.name}'" + (f": {self.question}" if self.question else "")

    def _repr_html_(self) -> str:
        return (f"<p><b>{escape(self.question or self.name)}</b></p>"
                f"<details><summary>{escape(self.name)}</summary>"
                f"<pre>{escape(self.text())}</pre></details>")

    def __reduce__(self):
        return Scenario.from_text, (self.text(), f"{self.name}.yaml")


def _hint(said: str, given: Changes) -> str:
    """Returns what the caller should write instead of the refused change. If that is not clear, returns ""."""
    for key, value in given.items():
        whole, _, rest = key.partition("_")
        if f"unknown key '{key}'" in said and rest.strip("_") and whole in _WHOLES:
            return f"\nA key with dots changes one value: with_({{'{whole}.{rest.strip('_')}': …}})."
        if f"{key}=[" in said and "a list for" in said:
            return ("\nscenario.sweep({" + repr(key) + ": [...]}) asks the question once for each value of "
                    "a list.")
    return ""


_WHOLES = ("model", "platform", "workload", "stages", "policy", "phases", "fates", "cost", "memory")
# The key that names the kind of a mapping. Mappings of different kinds have different keys.
_KINDS = {"policy": "name", "stages": "cut", "fates": "strategy", "cost": "model"}


def _tell_dropped(key: str, value: Mapping, before: dict) -> None:
    """Warns if a new mapping lacks keys of the old mapping. There is no warning about models and platforms, and none
    about a mapping of another kind. For example, another policy has other keys anyway."""
    if key in ("model", "platform"):
        return
    was: Any = before
    for step in key.split("."):
        was = was.get(step) if isinstance(was, dict) else None
    kind = _KINDS.get(key)
    if not isinstance(was, dict) or (kind and value.get(kind, was.get(kind)) != was.get(kind)):
        return
    lost = [f"{one}: {json.dumps(was[one])}" for one in was if one not in value]
    if lost:
        warnings.warn(f"the mapping given for '{key}' replaces the old mapping and drops "
                      f"{', '.join(lost)}. with_({{'{key}.{next(iter(value), 'key')}': …}}) changes one value and "
                      "keeps all other values.", errors.KeysDropped, stacklevel=4)


@checked
def load(path: Union[str, Path], changes: Optional[Changes] = None) -> Scenario:
    """Reads a scenario. `path` is a file, or the name of a bundled scenario (see `sluice.scenarios()`).

        sluice.load("alexnet_x200", {"workload.batch": 8})

    `changes` are as in `Scenario.with_`. Raises InputError or IoError."""
    if "\n" in str(path):
        raise errors.InputError("this is the text of a scenario and not the name of a file: use "
                                "sluice.Scenario.from_text")
    found = _sluice.find_document(str(path), "scenarios")
    scenario = Scenario._of(_sluice.Scenario.load(found, []))
    return scenario if changes is None else scenario.with_(changes)
