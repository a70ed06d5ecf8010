"""What goes wrong, with the command line's text; `exit_code` is the one `sluice` would end with."""

from __future__ import annotations


class Error(Exception):
    """Base of all errors of Sluice."""

    exit_code = 70


class UsageError(Error):
    """What was asked for cannot be understood."""

    exit_code = 2


class InputError(Error, ValueError):
    """A document, an override or a plan says something that it may not say."""

    exit_code = 3


class Infeasible(Error):
    """The question is well put, and the answer is: it does not fit, or it blocks for ever."""

    exit_code = 4


class IoError(Error, OSError):
    """A file is missing, cannot be written, or the disk is full."""

    exit_code = 5

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class InternalError(Error):
    """Our fault."""

    exit_code = 70


class HelperDied(InternalError):
    """The process that runs simulations died in the middle of one; the next run has a new one."""


class Interrupted(Error):
    """A run was ended by a signal to the process that ran it."""

    exit_code = 130


class HelperRestarted(RuntimeWarning):
    """The process that runs simulations had died since the last run; there is a new one."""


_BY_CODE = {2: UsageError, 3: InputError, 4: Infeasible, 5: IoError, 130: Interrupted, 143: Interrupted}


def of(exit_code: int, text: str) -> Error:
    """The exception for an exit code of the command line."""
    return _BY_CODE.get(exit_code, InternalError)(text)
