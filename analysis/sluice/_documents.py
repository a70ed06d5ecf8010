"""Python values as documents and overrides: what the C++ side reads is text."""

from __future__ import annotations

import json
import operator
import os
from collections.abc import Mapping
from typing import Any

from . import errors


def plain(value: Any, where: str = "") -> Any:
    """Nothing but dict, list, str, int, float, bool and None. A Model or a Platform becomes its
    document, a Path its text. Raises InputError for anything else."""
    if hasattr(value, "_as_document"):
        return value._as_document()
    if isinstance(value, Mapping):
        return {_key(key, where): plain(inner, f"{where}.{key}") for key, inner in value.items()}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if hasattr(value, "tolist"):  # numpy
        return plain(value.tolist(), where)
    if isinstance(value, (list, tuple, range)):
        return [plain(inner, f"{where}.{i}") for i, inner in enumerate(value)]
    raise errors.InputError(f"a {type(value).__name__} at '{where.strip('.')}' is nothing that a "
                            "document may hold")


def _key(key: Any, where: str) -> str:
    if not isinstance(key, str):
        raise errors.InputError(f"the key {key!r} at '{where.strip('.')}' is no text")
    return key


def whole(value: Any, key: str, least: int = 0, most: int = 2**63 - 1) -> int:
    """A number without a fraction. Raises InputError for another, or for none."""
    try:
        number = int(value) if isinstance(value, float) and value.is_integer() else operator.index(value)
    except TypeError:
        number = least - 1
    if not least <= number <= most:
        raise errors.InputError(f"{value!r} for '{key}': expected an integer from {least} to {most}")
    return number


def to_json(value: Any, indent: int | None = None) -> str:
    """Of what `plain` returned."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)
    except ValueError as error:
        raise errors.InputError(f"a number is not finite: {error}") from None


def overrides(changes: Mapping | None, more: Mapping | None = None) -> list[str]:
    """KEY=VALUE texts of both, as the command line has them: a value takes the place of what is
    there, a text is read as YAML. Raises InputError, UsageError."""
    if changes is not None and not isinstance(changes, Mapping):
        raise errors.UsageError("changes are a mapping, like {'policy.overlap': False}, not a "
                                f"{type(changes).__name__}")
    return [f"{_path(key)}={_word(value, key)}"
            for key, value in {**(changes or {}), **(more or {})}.items()]


def _path(key: Any) -> str:
    if "=" in _key(key, ""):
        raise errors.InputError(f"the key {key!r} has a '='")
    return key


def _word(value: Any, where: str) -> str:
    """As it would stand on the command line."""
    return value if isinstance(value, str) else to_json(plain(value, where))
