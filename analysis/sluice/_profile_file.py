"""Writes profiles (sluice-profile/1, sim/profile/FORMAT.md) row by row. If the file exists, its rows stay. After each
new row, the file is a valid profile."""

from __future__ import annotations

import csv
import io
import json
import os
from pathlib import Path
from typing import Any, Mapping, Union

from . import errors

FORMAT = "# format: sluice-profile/1"
KEY = ("operator", "config", "inputs", "outputs", "batch", "dtype", "pass", "cache", "method", "level",
       "model")
COLUMNS = (*KEY, "occurrences", "calls", "seconds_samples", "joules_mean", "joules_n", "joules_error",
           "processed", "note")

Row = dict[str, str]


class ProfileFile:
    """A profile as a CSV file. The header of a new file has the keys that the caller gives. If the file exists, its
    header must name the same machine and the same way of measuring. If an existing file has an `idle` power, the file
    keeps this power."""

    def __init__(self, path: Union[str, Path], header: Mapping[str, Any]) -> None:
        self.path = Path(path)
        if self.path.is_dir() or not self.path.name:
            raise errors.InputError(f"'{path}' is a folder: give the name of a file, such as profile.csv")
        if self.path.suffix in (".h5", ".hdf5"):
            raise errors.InputError(f"'{path}': profile_torch writes CSV. Give the name of a CSV file; "
                                    f"`sluice profile merge FILE.csv -o {path}` turns it into HDF5")
        self._head = [FORMAT] + [f"# {key}: {json.dumps(value)}" for key, value in header.items()]
        self._columns = list(COLUMNS)
        self.rows: list[Row] = []
        if self.path.exists():
            self._read()

    def _read(self) -> None:
        lines = self.path.read_text(encoding="utf-8").splitlines(keepends=True)
        if not lines or lines[0].strip() != FORMAT:
            raise errors.InputError(f"'{self.path}' exists and is not a profile: its first line is not "
                                    f"'{FORMAT}'. Give another file")
        head = [line.rstrip("\n") for line in lines if line.startswith("#")]
        for key, unity in (("device", "is for one machine"), ("on", "is for one machine"),
                           ("how", "is measured in one way")):
            there, here = (self._said(key, one) for one in (head, self._head))
            if there is not None and there != here:
                raise errors.InputError(f"'{self.path}' was measured with {there}, but now there is {here}: one "
                                        f"profile {unity}. Give another file; `sluice profile merge` joins files")
        first = len(head)
        if self._said("idle", head) is None:
            head += [f"# {idle}" for idle in [self._said("idle", self._head)] if idle is not None]
        table = csv.DictReader(io.StringIO("".join(lines[first:])), strict=True)
        self.rows = [dict(row) for row in table]
        self._columns += [one for one in table.fieldnames or () if one not in self._columns]
        self._head = head

    @staticmethod
    def _said(key: str, head: list[str]) -> Union[str, None]:
        return next((line[2:] for line in head if line.startswith(f"# {key}: ")), None)

    def measured(self, row: Row) -> Union[Row, None]:
        """Returns the measured row with the same key as `row`. If the file has none, returns None."""
        place = self._place(row)
        found = None if place is None else self.rows[place]
        return found if found and found.get("processed") in ("yes", "") and found.get("seconds_samples") else None

    def _place(self, row: Row) -> Union[int, None]:
        key = self.key(row)
        return next((place for place, one in enumerate(self.rows) if self.key(one) == key), None)

    @staticmethod
    def key(row: Row) -> tuple[str, ...]:
        """Returns the cells that identify a row. The device is not one of these cells, because the header gives it for
        all rows."""
        return tuple(row.get(column) or "" for column in KEY)

    def put(self, row: Row) -> None:
        """Writes the file with this row. The row's cells replace those of an old row with the same key."""
        place = self._place(row)
        if place is None:
            self.rows.append(row)
        else:
            self.rows[place] = {**self.rows[place], **row}
        text = io.StringIO()
        text.write("\n".join(self._head) + "\n")
        table = csv.DictWriter(text, self._columns, restval="", lineterminator="\n")
        table.writeheader()
        table.writerows(self.rows)
        part = self.path.with_name(self.path.name + ".part")
        try:
            part.write_text(text.getvalue(), encoding="utf-8")
            os.replace(part, self.path)
        except OSError as error:
            raise errors.IoError(f"'{self.path}' cannot be written: {error.strerror}") from None
