"""The errors of the package. When the program `sluice` meets such an error, it prints the text of the error, and ends
with the exit code `exit_code`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Optional


class Error(Exception):
    """The base class of all errors of Sluice."""

    exit_code = 70


class UsageError(Error):
    """A command or an argument cannot be understood."""

    exit_code = 2


class InputError(Error, ValueError):
    """A document, an override, a plan, or an argument of a function has a value that is not allowed."""

    exit_code = 3


@dataclass(frozen=True)
class Waiter:
    """An action that cannot start. It waits for another action, or for bytes that its tensors need in a pool."""

    stream: str
    action: str
    awaits: Optional[str] = None
    pool: Optional[str] = None
    bytes: Optional[int] = None
    tensors: tuple[str, ...] = ()


class Infeasible(Error):
    """The scenario is valid, but its plan does not fit into memory or ends in a deadlock.

    `pool` is the memory that is too small. The plan needs `needed_bytes` in this memory, and the memory has
    `available_bytes`. `by_class` has the needed bytes of each tensor class. `waiters` is a list of Waiter: the actions
    that cannot start. `time_s` is the time at which they wait. An unknown value is None or empty."""

    exit_code = 4
    pool: Optional[str] = None
    needed_bytes: Optional[int] = None
    available_bytes: Optional[int] = None
    time_s: Optional[float] = None

    def __init__(self, *args: object) -> None:
        super().__init__(*args)
        self.by_class: dict[str, int] = {}
        self.waiters: list[Waiter] = []


class IoError(Error, OSError):
    """A file is missing or cannot be written, or the disk is full."""

    exit_code = 5

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class InternalError(Error):
    """A fault of Sluice itself."""

    exit_code = 70


class HelperDied(InternalError):
    """The process that runs simulations died during a simulation. The next run starts a new process."""


class Interrupted(Error):
    """The process that ran the simulation got a signal, which ended the simulation."""

    exit_code = 130


class KeysDropped(UserWarning):
    """Scenario.with_ replaced a mapping, and the new mapping lacks some keys of the old mapping."""


class HelperRestarted(RuntimeWarning):
    """The helper process had died since the last run. A new one has been started."""


_BY_CODE = {2: UsageError, 3: InputError, 4: Infeasible, 5: IoError, 130: Interrupted, 143: Interrupted}


def of(exit_code: int, text: str) -> Error:
    """Returns the exception for an exit code of the command line. For an infeasible scenario, the text is JSON."""
    if exit_code == Infeasible.exit_code:
        return _infeasible(json.loads(text))
    return _BY_CODE.get(exit_code, InternalError)(text)


def _infeasible(told: dict) -> Infeasible:
    error = Infeasible(told["message"])
    for key in ("pool", "needed_bytes", "available_bytes", "by_class", "time_s"):
        setattr(error, key, told[key])
    error.waiters = [Waiter(**{**waiter, "tensors": tuple(waiter["tensors"])})
                     for waiter in told["waiters"]]
    return error
