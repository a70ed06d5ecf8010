"""A recording holds the contents of a trace, in memory that the helper shares with this process.

Columns are read-only views of this memory without copies. The memory is freed when the last view is freed.
sim/run/recording/recording.hpp describes the format."""

from __future__ import annotations

import json
import struct
from functools import cached_property

import numpy as np

_HEAD = struct.Struct("<8sQ")
NOBODY = np.uint32(0xFFFFFFFF)  # the code that stands for a missing name
REASONS = ("none", "data", "memory")


class Recording:
    """The columns of a recording by their names, such as "spans/start". `info` has the status, header, metrics, units
    and series."""

    def __init__(self, memory) -> None:
        magic, length = _HEAD.unpack_from(memory)
        if magic != b"SLUICE01":
            raise ValueError("the helper's answer is not a recording")
        self.memory = memory
        self.info = json.loads(bytes(memoryview(memory)[_HEAD.size : _HEAD.size + length]))
        begin = (_HEAD.size + length + 63) // 64 * 64
        self._places = {
            name: (kind, rows, begin + offset, size)
            for name, kind, rows, offset, size in self.info.pop("columns")
        }
        self._texts: dict[str, np.ndarray] = {}

    def rows(self, name: str) -> int:
        """Returns the number of rows of a column."""
        return self._places[name][1]

    def numbers(self, name: str) -> np.ndarray:
        """Returns a column of numbers, as a view."""
        kind, rows, offset, _ = self._places[name]
        return np.frombuffer(self.memory, dtype=kind, count=rows, offset=offset)

    def texts(self, name: str) -> np.ndarray:
        """Returns a column of texts, which is decoded only at the first call."""
        if name not in self._texts:
            _, rows, offset, size = self._places[name]
            text = bytes(memoryview(self.memory)[offset : offset + size]).decode("utf-8", "replace")
            column = np.empty(rows, dtype=object)
            column[:] = text.split("\0")[:rows]
            self._texts[name] = column
        return self._texts[name]

    @cached_property
    def plan_text(self) -> str:
        """The plan that was executed."""
        return str(self.texts("plan")[0])

    def of_action(self, name: str) -> np.ndarray:
        """For each span, returns the value of its action in the column `name` of the actions."""
        return self.numbers(f"actions/{name}")[self.numbers("spans/action")]
