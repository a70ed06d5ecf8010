"""The operators of a torch module: the calls of its leaf modules, equal ones as one with their count."""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Iterator

import torch
from torch import nn

from . import _sluice, errors
from .torch_layers import Layers

DTYPES = {torch.float64: "float64", torch.float32: "float32", torch.float16: "float16",
          torch.bfloat16: "bfloat16", torch.int8: "int8"}


@dataclass
class Operator:
    """Calls of one configuration with inputs of the same shapes; an example to be measured."""

    words: dict[str, str]  # the columns that say which operator it is
    module: nn.Module
    args: tuple
    kwargs: dict
    preserving: bool  # one tensor goes in and one of the same shape comes out
    occurrences: int = 0
    level: str = "leaf"


def operators_of(module: nn.Module, inputs: tuple) -> tuple[list[Operator], Operator]:
    """The leaves in the order of their first calls, and the whole, from one run of the module. Forward
    hooks see no keywords before torch 2.0: so the method itself is watched."""
    found: dict[tuple, Operator] = {}
    leaves = [one for one in module.modules() if _is_leaf(one)]
    inside = False  # a leaf may call another: that is part of it

    def watched(one: nn.Module, forward: Any) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            nonlocal inside
            if inside:
                return forward(*args, **kwargs)
            kept = _own((args, kwargs))  # what works in place overwrites them
            inside = True
            try:
                result = forward(*args, **kwargs)
            finally:
                inside = False
            words = _words(one, args, kwargs, result, kept[0])
            key = tuple(words.values())
            if key not in found:
                found[key] = Operator(words, one, *kept, _preserves(kept[0], kwargs, result))
            found[key].occurrences += 1
            return result

        return call

    for one in leaves:
        one.forward = watched(one, one.forward)
    try:
        with torch.no_grad():
            whole_inputs = _own(inputs)
            result = module(*inputs)
    finally:
        for one in leaves:
            one.__dict__.pop("forward", None)
    words = {"operator": type(module).__name__, "config": "", **_shapes(whole_inputs, result),
             "dtype": _dtype(module, whole_inputs)}
    whole = Operator(words, module, whole_inputs, {}, False, 1, "whole")
    return list(found.values()), whole


def copy_of(module: nn.Module) -> nn.Module:
    """Of its own: measuring in training renews the running means of batch norms."""
    return copy.deepcopy(module)


def tensors_in(value: Any) -> Iterator[torch.Tensor]:
    """All tensors in lists, tuples and dicts."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict):
        yield from tensors_in(list(value.values()))
    elif isinstance(value, (tuple, list)):
        for one in value:
            yield from tensors_in(one)


def with_tensors(value: Any, change: Any) -> Any:
    """The same with other tensors."""
    if isinstance(value, torch.Tensor):
        return change(value)
    if isinstance(value, dict):
        return {key: with_tensors(one, change) for key, one in value.items()}
    if isinstance(value, (tuple, list)) and type(value) in (tuple, list):
        return type(value)(with_tensors(one, change) for one in value)
    return value


def _own(value: Any) -> Any:
    return with_tensors(value, lambda tensor: tensor.detach().clone())


def _is_leaf(module: nn.Module) -> bool:
    """Attention works with its parts' weights without calling them."""
    return isinstance(module, nn.MultiheadAttention) or next(module.children(), None) is None


def _words(module: nn.Module, args: tuple, kwargs: dict, result: Any, own_args: tuple) -> dict[str, str]:
    known = _as_layer(module, own_args, kwargs, result)
    if known is not None:
        return {**known, "dtype": _dtype(module, own_args)}
    more = [f"{key}={value}" for key, value in kwargs.items() if not any(True for _ in tensors_in(value))]
    config = " ".join([repr(module).splitlines()[0] if isinstance(module, nn.MultiheadAttention)
                       else repr(module).replace("\n", " "), *more])
    return {"operator": type(module).__name__, "config": config, **_shapes((args, kwargs), result),
            "dtype": _dtype(module, args)}


def _as_layer(module: nn.Module, args: tuple, kwargs: dict, result: Any) -> Any:
    """As the layer of Sluice that from_torch makes of it, so that the row prices that layer; None where
    it is no layer of its own."""
    layers = Layers(module)
    if kwargs or not layers.knows(module) or not all(isinstance(one, torch.Tensor) and one.dim()
                                                     for one in args):
        return None
    try:
        for one in args:
            layers.input(one)
        layers.module(module, args, result)
    except (errors.InputError, KeyError):
        return None
    shapes = {made["name"]: shape or [1] for made, shape in zip(layers.documents(), layers.shapes())}
    made = [one for one in layers.documents() if one["type"] not in _NO_WORK]
    if len(made) == 0 and len(shapes) == len(args) + 1:
        made = layers.documents()[-1:]
    if len(made) != 1:
        return None
    batch = len(args[0])
    return {"operator": made[0]["type"], "config": _config(made[0]),
            "inputs": ";".join(_shape_text([batch, *shapes[name]]) for name in made[0]["inputs"]),
            "outputs": _shape_text([batch, *shapes[made[0]["name"]]]), "batch": str(batch)}


_NO_WORK = ("input", "reshape", "transpose", "flatten", "slice")  # around a layer


def _config(document: dict) -> str:
    """The text of a layer's configuration: its keys in order, what is not said as its default."""
    words = []
    for name, default in _keys()[document["type"]].items():
        value = document.get(name, default)
        if value is not None:
            words.append(f"{name}={_text(value)}")
    return " ".join([document["type"], *sorted(words)])


@lru_cache(maxsize=None)
def _keys() -> dict[str, dict[str, Any]]:
    return {kind["name"]: {key["name"]: key["default"] for key in kind["parameters"]}
            for kind in json.loads(_sluice.listing("layers"))}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))


def _shapes(inputs: Any, result: Any) -> dict[str, str]:
    read = [list(one.shape) or [1] for one in tensors_in(inputs)]
    written = [list(one.shape) or [1] for one in tensors_in(result)]
    return {"inputs": ";".join(map(_shape_text, read)), "outputs": ";".join(map(_shape_text, written)),
            "batch": str(read[0][0]) if read else ""}


def _shape_text(shape: list[int]) -> str:
    return "x".join(map(str, shape))


def _dtype(module: nn.Module, inputs: Any) -> str:
    """Of the weights, else of the inputs."""
    for one in (*module.parameters(), *tensors_in(inputs)):
        if one.dtype in DTYPES:
            return DTYPES[one.dtype]
    return ""


def _preserves(args: tuple, kwargs: dict, result: Any) -> bool:
    return (not kwargs and len(args) == 1 and isinstance(args[0], torch.Tensor)
            and isinstance(result, torch.Tensor) and result.shape == args[0].shape
            and result.dtype == args[0].dtype)
