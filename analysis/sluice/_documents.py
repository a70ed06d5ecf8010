"""Python values as documents and overrides: what the C++ side reads is text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from . import _sluice, errors


def plain(value: Any, where: str = "") -> Any:
    """Nothing but dict, list, str, int, float, bool and None. A Model or a Platform becomes its
    document. Raises InputError for anything else."""
    if hasattr(value, "_as_document"):
        return value._as_document()
    if isinstance(value, Mapping):
        return {_key(key, where): plain(inner, f"{where}.{key}") for key, inner in value.items()}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
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


def to_json(value: Any, indent: int | None = None) -> str:
    """Of what `plain` returned."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)
    except ValueError as error:
        raise errors.InputError(f"a number is not finite: {error}") from None


def overrides(changes: Mapping | None, more: Mapping, document: Mapping) -> list[str]:
    """KEY=VALUE texts of both. A mapping is laid over the one that is there, a Model or a Platform
    takes its place."""
    if changes is not None and not isinstance(changes, Mapping):
        raise errors.UsageError("changes are a mapping, like {'policy.overlap': False}, not a "
                                f"{type(changes).__name__}")
    texts: list[str] = []
    _add({**(changes or {}), **more}, document, "", texts)
    return texts


def _add(changes: Mapping, document: Any, prefix: str, texts: list[str]) -> None:
    for key, value in changes.items():
        path = prefix + _key(key, prefix)
        below = _at(document, key)
        if isinstance(value, Mapping) and value and isinstance(below, Mapping):
            _add(value, below, path + ".", texts)
        else:
            texts.append(f"{path}={_word(plain(value, path))}")


def _at(document: Any, dotted: str) -> Any:
    for step in dotted.split("."):
        document = document.get(step) if isinstance(document, Mapping) else None
    return document


def _word(value: Any) -> str:
    """As it would stand on the command line."""
    if isinstance(value, str) and _sluice.is_plain(value):
        return value
    return to_json(value)
