"""Plans. A plan is plain data: the actions, their streams, and their order."""

from __future__ import annotations

import json
import shlex
import sys
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Optional, Union

from . import _sluice, errors
from ._checked import checked
from ._helper import helper
from ._late import late
from .words import Executor
from .progress import telling

if TYPE_CHECKING:
    import pandas
    from .result import Result


@checked
class Plan:
    """A plan. `scenario.plan()`, `sluice.load_plan(path)` and a PlanBuilder make a Plan."""

    def __init__(self, native: _sluice.Plan, file: str = "", scenario_text: str = "",
                 question_bound_s: Optional[float] = None, scenario: Any = None) -> None:
        self._native = native
        self._file = file
        self._scenario_text = scenario_text
        self._question_bound_s = question_bound_s
        self._scenario = scenario  # the native scenario; a pickled plan has none

    @classmethod
    def from_text(cls, text: str, name: str = "<text>") -> Plan:
        """Reads a plan from its text (sim/plan/FORMAT.md). `Plan.text()` and `Result.plan` return such texts. `name` is
        the name that messages use for the plan. Raises InputError."""
        return cls(_sluice.Plan.parse(text, name), name)

    @property
    def name(self) -> str:
        """The names of the scenario and the policy, as one text."""
        return self._native.name

    @property
    def iterations(self) -> int:
        """The number of iterations: how often the body of the plan runs."""
        return self._native.iterations

    @property
    def stages(self) -> list[str]:
        """The names of the stages, in the order of their numbers."""
        return self._native.stages

    @property
    def facts(self) -> dict[str, Any]:
        """The decisions of the policy by name. A decision is a number, a text or a list. The name of a number ends with
        its unit, as in chosen_s. If a decision has a value for each group or stage, these values are a dict. The
        decisions of each replica are a dict, too: `facts["replicas"]["gpu0"]`."""
        return json.loads(self._native.facts)

    @property
    def actions(self) -> pandas.DataFrame:
        """A table with one row per action, in listing order. The columns include the seconds of computations, flop,
        joules, the bytes of transfers, and waits. The joules do not include the energy of an idle device. The waits of
        an action are pairs: the number of the awaited action, and the distance in iterations."""
        pandas = late("pandas")
        table = pandas.DataFrame(self._native.actions())
        return table.astype({name: "category" for name in ("section", "stream", "kind")})

    @property
    def tensors(self) -> pandas.DataFrame:
        """A table with one row per tensor: its bytes, its class, and its home. The home is the memory that holds the
        tensor from the start to the end of the run."""
        pandas = late("pandas")
        return pandas.DataFrame(self._native.tensors()).astype({"class": "category"})

    @property
    def fates(self) -> pandas.DataFrame:
        """A table with the fates of the activations of each stage, indexed by the stage's number. The columns are name,
        fate, recomputed_s and saved_bytes. fate is "keep", "recompute" or "offload". If the parts of a stage have
        different fates, fate is "recompute, offload". The last two columns are the cost of the fates in one run of the
        body. The table is computed from the actions, so any policy's plan has it. Without training, the table is
        empty."""
        return late("._facts").fates(self.actions, self.tensors, self.stages)

    def text(self) -> str:
        """Returns the text of the plan, as `sluice plan` prints it (sim/plan/FORMAT.md)."""
        return self._native.text()

    def to_csv(self) -> str:
        """Returns the plan as CSV with one row per action, for spreadsheets."""
        return self._native.csv()

    def save(self, path: Union[str, Path]) -> None:
        """Writes the plan's text to a file that `sluice run` and `sluice.load_plan` can read."""
        try:
            Path(path).write_text(self.text(), encoding="utf-8")
        except OSError as error:
            raise errors.IoError(f"cannot write '{path}': {error.strerror}") from None
        except ValueError as error:  # for example a path with a NUL, which no system allows
            raise errors.InputError(f"{str(path)!r} is not a path: {error}") from None

    def check(self) -> None:
        """Raises InputError if the plan contradicts itself. Raises Infeasible if the plan does not fit or ends in a
        deadlock."""
        self._native.check()

    def run(self, progress: Union[bool, Callable[[int, int], None]] = False,
            executor: Executor = "auto") -> Result:
        """Executes the plan. `progress` = True draws a bar. A function `progress` receives two numbers: how many
        actions have been executed, and how many there are in all. `executor` is "simgrid", "replay", "both" or "auto",
        as in `sluice run --executor`. With "both", raises InternalError if the results of the two executors differ.
        Raises UsageError for any other executor."""
        from .result import Result

        bound = "" if self._question_bound_s is None else repr(self._question_bound_s)
        parts = [self.text(), self._file, self._scenario_text, shlex.join(sys.argv), bound, executor]
        with telling(progress) as told:
            memory = helper.ask("run", *(part.encode("utf-8", "surrogateescape") for part in parts),
                                progress=told)
        if self._scenario is None:
            return Result(memory)
        return Result(memory, lambda: self._scenario.answer(self._native, memory))

    def __repr__(self) -> str:
        return (f"Plan '{self.name}': {self._native.size:,} actions, "
                f"{self._native.executions:,} executions")

    def _repr_html_(self) -> str:
        facts = "".join(f"<tr><th>{escape(key)}</th><td>{escape(str(value))}</td></tr>"
                        for key, value in self.facts.items())
        return f"<p>{escape(repr(self))}</p><table>{facts}</table>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Plan) or not (self._native.lowered and other._native.lowered):
            return self is other  # a plan without seconds has no text to compare
        return self.text() == other.text()

    def __hash__(self) -> int:
        return hash((self.name, self._native.size, self._native.executions))

    def __reduce__(self):
        return Plan._parse, (self.text(), self._file, self._scenario_text, self._question_bound_s)

    @classmethod
    def _parse(cls, text: str, file: str, scenario_text: str,
               question_bound_s: Optional[float] = None) -> Plan:
        return cls(_sluice.Plan.parse(text, file or "plan"), file, scenario_text, question_bound_s)


@checked
def load_plan(path: Union[str, Path]) -> Plan:
    """Reads a plan's text. Raises InputError for a text that is not a plan, with file, line and column. Raises IoError
    if the file cannot be read."""
    if "\n" in str(path):
        raise errors.InputError("this is the text of a plan and not the name of a file: use sluice.Plan.from_text")
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise errors.IoError(f"cannot read '{path}': {reason}") from None
    return Plan.from_text(text, str(path))
