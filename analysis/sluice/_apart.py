"""Runs the points of a sweep in a child process of a worker. Workers are the processes among which _workers.py divides
the points. If the child crashes at a point, the worker goes on. For a Dask cluster or an MPI job, losing a worker is
worse than losing a point.

The worker and its child communicate by pipes. A message consists of a number of bytes and a pickle of that
length. If its standard input is closed, the child ends at once, even while it runs a point. So a killed worker leaves
no child behind."""

from __future__ import annotations

import os
import pickle
import queue
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Sequence
from typing import Any, BinaryIO, Optional

from . import _sluice

Overrides = list[str]
#: The program of a child process; sys.path is set before the program is executed.
PROGRAM = "from sluice import _apart\n_apart.serve()"


class Died(Exception):
    """The child process ended before it answered."""


class Child:
    """A process that runs points of one scenario."""

    def __init__(self, text: str, path: str) -> None:
        self.answered = 0  # the number of batches that the child has answered
        program = f"import sys\nsys.path[:] = {sys.path!r}\n{PROGRAM}"
        self._process = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE)
        _send(self._process.stdin, (text, path))

    def ask(self, batch: Sequence[Overrides]) -> list[bytes]:
        """Returns the result of each point, as the bytes of `PointResult.packed()`. Raises Died if the child ends
        before it answers."""
        try:
            _send(self._process.stdin, list(batch))
            answer = _received(self._process.stdout)
        except OSError:  # the child has closed its end of the pipe
            answer = None
        if answer is None:
            raise Died(_how_it_ended(self._process.wait()))
        self.answered += 1
        return answer

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()

    def __del__(self) -> None:
        if hasattr(self, "_process"):
            self.end()


class Asker:
    """Runs batches of points. Each thread of the worker has its own child process."""

    def __init__(self) -> None:
        self._of_thread = threading.local()
        self._children: set[Child] = set()
        self._ended = False

    def ask(self, text: str, path: str, batch: Sequence[Overrides]) -> list[bytes]:
        """Returns the result of each point as packed bytes. If the child dies, new children run the two halves of its
        batch. If a new child dies and its batch has only one point, this point has failed."""
        child = self._child(text, path)
        fresh = child.answered == 0
        try:
            return child.ask(batch)
        except (Died, ValueError) as died:  # a ValueError means that end() has closed the pipes
            self._forget()
            if self._ended:
                raise
            if len(batch) == 1 and fresh:
                return [_sluice.PointResult.failed(f"the process that was asked {died}").packed()]
        if len(batch) == 1:
            return self.ask(text, path, batch)
        middle = len(batch) // 2
        return self.ask(text, path, batch[:middle]) + self.ask(text, path, batch[middle:])

    def end(self) -> None:
        """Ends all children. Any thread may call this method while other threads wait for the answers of children. In
        the waiting threads, `ask` then raises Died."""
        self._ended = True
        for child in list(self._children):
            child._process.kill()

    def _child(self, text: str, path: str) -> Child:
        local = self._of_thread
        if getattr(local, "asked", None) != (text, path):
            self._forget()
            local.child, local.asked = Child(text, path), (text, path)
            self._children.add(local.child)
            if self._ended:  # end() may have run before this child existed
                local.child.end()
        return local.child

    def _forget(self) -> None:
        child: Optional[Child] = getattr(self._of_thread, "child", None)
        if child is not None:
            self._children.discard(child)
            child.end()
        self._of_thread.child = self._of_thread.asked = None


def serve() -> None:
    """The main loop of the child process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process of the user handles Ctrl-C
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # now the output of a point does not mix with the answers
    batches: queue.Queue = queue.Queue()
    threading.Thread(target=_listen, args=(sys.stdin.buffer, batches), daemon=True).start()
    text, path = batches.get()
    variants = _sluice.Variants(text, path)
    while True:
        _send(answers, [variants.ask(overrides).packed() for overrides in batches.get()])


def _listen(stream: BinaryIO, batches: queue.Queue) -> None:
    while (batch := _received(stream)) is not None:
        batches.put(batch)
    os._exit(0)


def _send(stream: BinaryIO, message: Any) -> None:
    data = pickle.dumps(message)
    stream.write(struct.pack("<Q", len(data)) + data)
    stream.flush()


def _received(stream: BinaryIO) -> Any:
    """Returns one message, or None if the other end of the pipe is closed."""
    head = stream.read(8)
    if len(head) < 8:
        return None
    [size] = struct.unpack("<Q", head)
    data = stream.read(size)
    return pickle.loads(data) if len(data) == size else None


def _how_it_ended(code: int) -> str:
    if code >= 0:
        return f"ended with exit code {code}"
    return f"was ended by signal {-code} ({signal.strsignal(-code)})"
