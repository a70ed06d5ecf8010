"""Imports modules only when they are needed.

An interrupt during the import of pandas would leave a part of pandas loaded. This process could then not import pandas
again. So Ctrl-C waits until such an import is done."""

from __future__ import annotations

import importlib
import signal
import threading
from contextlib import contextmanager
from types import ModuleType
from typing import Iterator

_whole: dict[str, ModuleType] = {}


def late(name: str) -> ModuleType:
    """Returns the module with the given name. A name that begins with a dot is relative to the package."""
    if name not in _whole:
        with _uninterrupted():
            _whole[name] = importlib.import_module(name, __package__)
    return _whole[name]


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Delays Ctrl-C in the main thread. Only this thread gets KeyboardInterrupt, and only this thread may set handlers
    of signals."""
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield
        return
    came = []
    signal.signal(signal.SIGINT, lambda *arguments: came.append(arguments))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
    if came:
        handler(*came[0])
