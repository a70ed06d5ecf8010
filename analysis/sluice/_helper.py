"""Starts the helper and sends it requests. The helper is a separate process and forks for each run. So the user's
process never has a SimGrid engine.

The first run starts the helper, and the helper ends with this process. Any number of threads may ask the helper at the
same time. Each request has a socket of its own. On this socket, the answer comes as a piece of shared memory.
sim/python/protocol.hpp describes the messages."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import threading
import time
import warnings
from pathlib import Path
from typing import Callable, Optional

from . import _sluice, errors

# A waiting thread looks for a signal once per this interval, because another thread may have received the signal.
_LOOK_EVERY_MS = 100
_GRACE_S = 2.0  # the longest wait for the end of a cancelled run, in seconds

Progress = Callable[[int, int], None]


def _folder() -> str:
    try:
        return os.getcwd()
    except OSError:
        return "/"


def _name(signal_number: int) -> str:
    try:
        return signal.Signals(signal_number).name
    except ValueError:
        return f"signal {signal_number}"


class Helper:
    """The helper process. It is started when it is needed. If it has died, it is replaced."""

    def __init__(self) -> None:
        self._forget()

    def _forget(self) -> None:
        self._lock = threading.Lock()
        self._process: Optional[subprocess.Popen] = None
        self._control: Optional[socket.socket] = None

    def after_fork(self) -> None:
        """Forgets the helper. A forked child must call this method, because the helper belongs to the parent of the
        child."""
        control, process = self._control, self._process
        self._forget()
        if control is not None:
            control.close()
        if process is not None:
            process.returncode = 0  # when a forked child ends, it must not wait for the helper of its parent

    @property
    def pid(self) -> Optional[int]:
        """The id of the process, or None before the first run."""
        process = self._process
        return process.pid if process is not None else None

    def ask(self, what: str, *parts, progress: Optional[Progress] = None):
        """Sends a request and waits for its answer. If the answer is an error, raises this error. Raises HelperDied if
        the helper has ended."""
        request = [what.encode(), os.fsencode(_folder()), *parts]
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            with theirs:
                process = self._send(theirs, request)
            return _answer(ours, process, progress)
        except BaseException:
            _call_off(ours)
            raise
        finally:
            ours.close()

    # --- the process ---------------------------------------------------------------------------

    def _send(self, channel: socket.socket, request: list) -> subprocess.Popen:
        for _ in range(3):
            control, process = self._connected()
            if _sluice.send_request(control.fileno(), channel.fileno(), request):
                return process
        raise errors.HelperDied("the process that runs simulations cannot be reached")

    def _connected(self) -> tuple[socket.socket, subprocess.Popen]:
        with self._lock:
            if self._process is not None and self._hung_up():
                died = _how_it_ended(self._process)
                self._process, control = None, self._control
                control.close()
                warnings.warn(f"the process that runs simulations had died ({died}); a new one is "
                              "started", errors.HelperRestarted, stacklevel=6)
            if self._process is None:
                self._control, self._process = _start()
            return self._control, self._process

    def _hung_up(self) -> bool:
        """Returns whether the helper has ended. The helper never writes to the control socket. So this socket becomes
        readable only when the helper ends."""
        try:
            return self._control.recv(1, socket.MSG_DONTWAIT | socket.MSG_PEEK) == b""
        except BlockingIOError:
            return False
        except OSError:
            return True


def _start() -> tuple[socket.socket, subprocess.Popen]:
    """Starts the helper: the program `sluice-worker` in this folder. The helper has its own session. So Ctrl-C reaches
    only this process."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    program = Path(__file__).with_name("sluice-worker")
    with theirs:
        process = subprocess.Popen([str(program)], stdin=theirs, stdout=subprocess.DEVNULL,
                                   start_new_session=True)
    return ours, process


def _how_it_ended(process: subprocess.Popen) -> str:
    try:
        code = process.wait(timeout=1)
    except subprocess.TimeoutExpired:
        return "it does not answer"
    return _name(-code) if code < 0 else f"exit code {code}"


def _answer(channel: socket.socket, process: subprocess.Popen, progress: Optional[Progress]):
    """Waits for the answer on this channel. Returns the shared memory of the answer. If the answer is an error, raises
    this error."""
    while True:
        message = _sluice.receive(channel.fileno(), _LOOK_EVERY_MS)
        if message is None:
            continue
        kind, first, second, memory = message
        if kind == "progress":
            if progress is not None:
                progress(first, second)
        elif kind == "answer":
            if first == 0:
                return memory
            raise errors.of(first, bytes(memory).decode("utf-8", "replace"))
        elif kind == "died":
            how = f"it was ended by {_name(first)}" if first else "it ended without an answer"
            raise errors.InternalError(f"the run's process died: {how}")
        else:
            raise errors.HelperDied(
                "the process that runs simulations died in the middle of this run "
                f"({_how_it_ended(process)}); the next run has a new one")


def _call_off(channel: socket.socket) -> None:
    """Cancels a run, and waits until the run has ended, but at most `_GRACE_S` seconds."""
    try:
        channel.shutdown(socket.SHUT_WR)
    except OSError:
        return
    deadline = time.monotonic() + _GRACE_S
    while time.monotonic() < deadline:
        message = _sluice.receive(channel.fileno(), _LOOK_EVERY_MS)
        if message is not None and message[0] == "ended":
            return


helper = Helper()
os.register_at_fork(after_in_child=helper.after_fork)
