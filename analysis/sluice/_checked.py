"""Checks the arguments of public functions against their annotations. A message about a wrong type then names the
argument. Without the check, the error would come from inside the package, and would name things that the caller does
not know."""

from __future__ import annotations

import collections.abc
import functools
import inspect
import numbers
import os
import reprlib
import sys
import typing
from typing import Any, Callable, Mapping, Optional, TypeVar, Union

from . import errors

#: parameters that are not checked here, because the code that reads their values has better messages
_SAID_BY_READERS = ("changes", "columns", "over", "platform", "platforms")

Thing = TypeVar("Thing", bound=Any)
Check = Callable[[Any], bool]


def checked(thing: Thing) -> Thing:
    """A decorator for a function, or for a class and its public methods. Decorated functions raise InputError for
    arguments whose types differ from the annotations."""
    if not inspect.isclass(thing):
        return _function(thing)
    for name, member in list(vars(thing).items()):
        if name.startswith("_") and name != "__init__":
            continue
        if isinstance(member, (classmethod, staticmethod)):
            setattr(thing, name, type(member)(_function(member.__func__)))
        elif inspect.isfunction(member):
            setattr(thing, name, _function(member))
    return thing


def clipped(value: Any) -> str:
    """Returns the repr of any value, shortened to fit into a message."""
    shortener = reprlib.Repr()
    shortener.maxstring = shortener.maxother = 60
    try:
        return shortener.repr(value)
    except Exception:  # the repr of the caller's object may raise any exception
        return f"a {type(value).__name__}"


def _function(function: Callable) -> Callable:
    names = list(inspect.signature(function).parameters)
    checks: Optional[dict[str, tuple[Check, str]]] = None

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        nonlocal checks
        if checks is None:  # before the first call, names that annotations use may not exist yet
            checks = _checks_of(function)
        for name, value in zip(names, args):
            if name in checks:
                _require(value, name, checks[name], function)
        for name, value in kwargs.items():
            if name in checks:
                _require(value, name, checks[name], function)
        return function(*args, **kwargs)

    return call


def _require(value: Any, name: str, check: tuple[Check, str], function: Callable) -> None:
    if not check[0](value):
        called = function.__qualname__.removesuffix(".__init__")
        words = check[1]
        if isinstance(value, str) and not is_text(value) or isinstance(value, os.PathLike):
            words += ", in UTF-8 and without NUL"
        raise errors.InputError(f"{clipped(value)} for '{name}': expected {words} ({called})")


def _checks_of(function: Callable) -> dict[str, tuple[Check, str]]:
    """Returns a dict from the name of each parameter to the function that checks it. A parameter has no such function
    if its annotation allows any value, or names a type that is not imported."""
    found = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.annotation is parameter.empty or name in _SAID_BY_READERS or parameter.kind in (
                parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
            continue
        names = vars(sys.modules[function.__module__])
        check, words = _check(parameter.annotation, names)
        if check is not _anything:
            found[name] = (check, words)
    return found


class _Names(dict):
    """The names of a module, for evaluating the annotations in this module. A name that is imported only for type
    checkers means `Any`, so any value is allowed."""

    def __missing__(self, name: str) -> Any:
        import builtins
        return getattr(builtins, name, Any)


def _evaluated(annotation: Any, names: Mapping[str, Any]) -> Any:
    while isinstance(annotation, (str, typing.ForwardRef)):
        text = annotation if isinstance(annotation, str) else annotation.__forward_arg__
        try:
            annotation = eval(text, {}, _Names(names))
        except (AttributeError, TypeError):  # such as Any.DataFrame, if pandas is not imported
            return Any
    return annotation


# --- one check for each annotation ---------------------------------------------------------------


def _anything(value: Any) -> bool:
    return True


def is_text(value: Any) -> bool:
    """Returns whether the value is a text, can be written as UTF-8, and has no NUL."""
    if not isinstance(value, str) or "\0" in value:
        return False
    try:
        value.encode()
    except UnicodeEncodeError:  # for example half of a surrogate pair
        return False
    return True


def _is_path(value: Any) -> bool:
    return isinstance(value, os.PathLike) and is_text(os.fspath(value))


def _is_integer(value: Any) -> bool:
    if isinstance(value, bool):
        return False
    return hasattr(value, "__index__") or (isinstance(value, float) and value.is_integer())


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool) or type(value).__name__ in ("bool_", "bool")  # numpy's


def _is_list(value: Any) -> bool:
    """Returns whether the value is a list, a tuple, a range, an array, or a column of a table."""
    if isinstance(value, (str, bytes, bytearray, memoryview, collections.abc.Mapping, type)):
        return False
    return hasattr(value, "__len__") and hasattr(value, "__getitem__") and getattr(value, "shape", 1) != ()


_PLAIN: dict[Any, tuple[Check, str]] = {
    str: (is_text, "a text"),
    int: (_is_integer, "an integer"),
    float: (_is_number, "a number"),
    bool: (_is_bool, "True or False"),
    type: (lambda value: isinstance(value, type), "a type"),
    type(None): (lambda value: value is None, "None"),
    None: (lambda value: value is None, "None"),
    dict: (lambda value: isinstance(value, collections.abc.Mapping), "a mapping"),
    list: (_is_list, "a list or tuple"),
    tuple: (_is_list, "a list or tuple"),
}


def _check(annotation: Any, names: Mapping[str, Any]) -> tuple[Check, str]:
    """Returns the function that checks a value against the annotation. Also returns the words for what was expected."""
    annotation = _evaluated(annotation, names)
    if annotation is Any:
        return _anything, "anything"
    origin, inner = typing.get_origin(annotation), typing.get_args(annotation)
    if annotation in _PLAIN:
        return _PLAIN[annotation]
    if origin is Union:
        return _any_of([_check(one, names) for one in inner])
    if origin is typing.Literal:
        # Any text passes this check, because the code that reads the text has a better message about a wrong word.
        return _PLAIN[str][0], "a text: one of " + ", ".join(map(str, inner))
    if origin is collections.abc.Callable or annotation is Callable:
        return callable, "a function"
    kind = origin if inspect.isclass(origin) else annotation
    if not inspect.isclass(kind) or getattr(kind, "_is_protocol", False):
        return _anything, "anything"
    if issubclass(kind, collections.abc.Mapping):
        return _PLAIN[dict]
    if issubclass(kind, collections.abc.Sequence):
        return _list_of(_check(inner[0], names) if inner and origin is not tuple else (_anything, ""))
    if issubclass(kind, os.PathLike):
        return _is_path, "a path"
    return (lambda value: isinstance(value, kind)), _name_of(kind)


def _any_of(parts: list[tuple[Check, str]]) -> tuple[Check, str]:
    checks = [check for check, _ in parts]
    if _anything in checks:
        return _anything, "anything"
    words = [word for _, word in parts if word]
    words = list(dict.fromkeys(words))
    listed = words[0] if len(words) == 1 else ", ".join(words[:-1]) + " or " + words[-1]
    return (lambda value: any(check(value) for check in checks)), listed


def _list_of(element: tuple[Check, str]) -> tuple[Check, str]:
    check, words = element
    if check is _anything:
        return _is_list, "a list or tuple"
    return (lambda value: _is_list(value) and all(map(check, value))), f"a list or tuple (each {words})"


def _name_of(kind: type) -> str:
    article = "an" if kind.__name__[0] in "AEIOU" else "a"
    return f"{article} {kind.__name__}"
