"""Converts Python values to the texts of documents and overrides, because the C++ code reads only texts."""

from __future__ import annotations

import json
import operator
import os
import sys
from collections.abc import Mapping
from typing import Any, Optional

from . import errors
from ._checked import clipped, is_text

_DEEPEST = 64  # the largest depth that the readers of documents accept


def plain(value: Any, where: str = "") -> Any:
    """Converts a value to dict, list, str, int, float, bool and None. A Model or a Platform becomes its document. A
    Path becomes its text. An element type of numpy or torch becomes its name. Raises InputError for anything else."""
    if where.count(".") > _DEEPEST:
        raise errors.InputError(f"'{where.strip('.')[:40]}…' is nested deeper than {_DEEPEST} levels, or contains itself")
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, str):
        return _text(value, where)
    if isinstance(value, Mapping):
        return {_key(key, where): plain(inner, f"{where}.{key}") for key, inner in value.items()}
    if isinstance(value, (list, tuple, range)):
        return [plain(inner, f"{where}.{i}") for i, inner in enumerate(value)]
    if isinstance(value, os.PathLike):
        return _text(os.fsdecode(value), where)
    dtype = _name_of_dtype(value)
    if dtype is not None:
        return dtype
    if not isinstance(value, type):
        if hasattr(value, "_as_document"):
            return value._as_document()
        if hasattr(value, "tolist"):  # an array of numpy or torch
            return plain(value.tolist(), where)
    raise errors.InputError(f"a {type(value).__name__} at '{where.strip('.')}' cannot be stored in a "
                            "document: expected a mapping, a list, a text, a number, True, False, None, "
                            "a Model, a Platform, a path, an array or an element type")


def dtype_name(value: Any) -> str:
    """Returns the name of an element type. `value` is this name, or the element type of numpy or torch. Raises
    InputError for any other value."""
    if isinstance(value, str):
        return _text(value, "dtype")
    name = _name_of_dtype(value)
    if name is None:
        raise errors.InputError(f"{clipped(value)} for 'dtype': expected a name like 'float16', or an element "
                                "type of numpy or torch")
    return name


def _name_of_dtype(value: Any) -> Optional[str]:
    """Returns the name of an element type, or None if the value is not an element type. No module is imported, because
    a caller who has such a type has imported its module."""
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    if torch is not None and isinstance(value, torch.dtype):
        return str(value).rpartition(".")[2]
    if numpy is not None and (isinstance(value, numpy.dtype) or
                              isinstance(value, type) and issubclass(value, numpy.generic)):
        return str(numpy.dtype(value).name)
    return None


def text_of(value: Any, what: str) -> str:
    """Returns str(value). Raises InputError if str fails. Raises InputError if the text has a NUL or is not UTF-8."""
    try:
        return _text(str(value), what)
    except (ValueError, RuntimeError) as error:  # RecursionError is a RuntimeError
        raise errors.InputError(f"a {type(value).__name__} for '{what}' has no text: {error}") from None


def _text(value: str, where: str) -> str:
    if not is_text(value):
        raise errors.InputError(f"{clipped(value)} for '{where.strip('.')}': a text must be UTF-8 and have "
                                "no NUL")
    return value


def _key(key: Any, where: str) -> str:
    if not is_text(key):
        at = f" at '{where.strip('.')}'" if where else ""
        raise errors.InputError(f"the key {clipped(key)}{at} is not a text in UTF-8 without NUL")
    return key


def whole(value: Any, key: str, least: int = 0, most: int = 2**63 - 1) -> int:
    """Returns the value as an int if it is a number without a fraction. Raises InputError for all other values, and for
    numbers below `least` or above `most`."""
    try:
        number = int(value) if isinstance(value, float) and value.is_integer() else operator.index(value)
    except TypeError:
        number = least - 1
    if not least <= number <= most:
        raise errors.InputError(f"{clipped(value)} for '{key}': expected an integer from {least} to {most}")
    return number


def to_json(value: Any, indent: int | None = None) -> str:
    """Returns the JSON text of a value that `plain` returned."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)
    except ValueError as error:
        raise errors.InputError(f"every number must be finite: {error}") from None


def overrides(changes: Mapping | None, more: Mapping | None = None) -> list[str]:
    """Returns the mappings `changes` and `more` as KEY=VALUE texts for the command line. A value replaces the
    document's value for the key. A text is read as YAML. Raises InputError or UsageError."""
    return [f"{_path(key)}={_word(value, key)}"
            for key, value in {**mapping(changes), **(more or {})}.items()]


def mapping(changes: Any) -> Mapping:
    """Returns the mapping itself, or an empty mapping for None. Raises UsageError for anything else."""
    if changes is None:
        return {}
    if not isinstance(changes, Mapping):
        raise errors.UsageError("changes are a mapping, like {'policy.overlap': False}, not a "
                                f"{type(changes).__name__}")
    return changes


def _path(key: Any) -> str:
    if "=" in _key(key, ""):
        raise errors.InputError(f"the key {key!r} has a '='")
    return key


def _word(value: Any, where: str) -> str:
    """Returns the value as it would be written on the command line."""
    dtype = _name_of_dtype(value)
    if dtype is not None:
        return dtype
    return _text(value, where) if isinstance(value, str) else to_json(plain(value, f".{where}"))
