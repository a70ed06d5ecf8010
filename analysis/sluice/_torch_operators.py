"""Finds the operators of a torch module: calls of its leaf modules, and calls of functions between them. Equal calls
become one operator with a count."""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import torch
from torch import nn

from . import _sluice
from ._torch_parts import is_split as _is_split, parts_of
from ._torch_watch import VIEWS, Function, Functions, Layered, is_new, tensors_in, versions_of
from .torch_layers import Layers

DTYPES = {torch.float64: "float64", torch.float32: "float32", torch.float16: "float16",
          torch.bfloat16: "bfloat16", torch.int8: "int8"}


@dataclass
class Operator:
    """The calls of one configuration with inputs of the same shapes. One of these calls is kept for measuring."""

    words: dict[str, str]  # the columns that identify the operator
    module: nn.Module
    args: tuple
    kwargs: dict
    preserving: bool  # whether the operator reads one tensor and makes one tensor of the same shape as that tensor
    occurrences: int = 0
    level: str = "leaf"


def operators_of(module: nn.Module, inputs: tuple) -> tuple[list[Operator], Operator]:
    """Returns the operators in the order of their first calls, and the whole module as one operator. An operator is a
    leaf module, or a function that is called between leaf modules. One run of the module finds all operators. For this,
    the method `forward` of each leaf module is replaced. Forward hooks are not enough, because they do not see keyword
    arguments before torch 2.0."""
    leaves = [one for one in module.modules()
              if _is_leaf(one) and (one is not module or Layers(module).knows(module))]
    with torch.no_grad():
        whole_inputs = _own(inputs)
        run = _Run(module, inputs)
        try:
            for one in leaves:
                one.forward = run.watched(one, one.forward)
            with Functions(run.function):
                result = module(*inputs)
        finally:
            for one in leaves:
                one.__dict__.pop("forward", None)
    words = {"operator": type(module).__name__, "config": "", **_shapes(whole_inputs, result),
             "dtype": _dtype(module, whole_inputs)}
    whole = Operator(words, module, whole_inputs, {}, False, 1, "whole")
    return list(run.found.values()), whole


class _Run:
    """Collects the operators of one run of the module."""

    def __init__(self, module: nn.Module, inputs: tuple) -> None:
        self.found: dict[tuple, Operator] = {}
        self._layers = Layered(module, inputs)
        self._batch = len(inputs[0])
        self._inside = False  # whether a leaf is being called; calls inside a leaf are part of the leaf

    def watched(self, one: nn.Module, forward: Any) -> Any:
        """Returns a method that calls `forward` of a leaf and records the call."""
        def call(*args: Any, **kwargs: Any) -> Any:
            return self._seen(one, self._layers.module, one, args, kwargs,
                              lambda: forward(*args, **kwargs))

        return call

    def function(self, function: Any, args: tuple, kwargs: dict, called: Any) -> Any:
        """Records a call of a function."""
        return self._seen(function, self._layers.function, function, args, kwargs, called)

    def _seen(self, worker: Any, layers_of: Any, what: Any, args: tuple, kwargs: dict, called: Any) -> Any:
        if self._inside:
            return called()
        self._inside = True
        try:
            kept = _own((args, kwargs))  # copies, because operations in place would overwrite the inputs
            before = versions_of((args, kwargs))
            result = called()
            documents = layers_of(what, args, kwargs, result)
            inplace = versions_of((args, kwargs)) != before
            if isinstance(worker, nn.Module):
                self._note(worker, documents, kept, result)
            elif any(True for _ in tensors_in(result)) and (inplace or is_new((args, kwargs), result)):
                self._note(Function(worker, inplace), documents, kept, result)
        finally:
            self._inside = False
        return result

    def _note(self, module: nn.Module, documents: list[dict], kept: tuple, result: Any) -> None:
        parts = parts_of(module, documents, *kept)
        for document, part, inputs in parts:
            self._add(self._words(part, [document], inputs, {}, None), part, inputs, {}, None)
        self._add(self._words(module, documents, *kept, result), module, *kept, result,
                  "inner" if parts else "leaf")

    def _add(self, words: dict[str, str], module: nn.Module, args: tuple, kwargs: dict, result: Any,
             level: str = "leaf") -> None:
        key = (level, *words.values())
        if key not in self.found:
            self.found[key] = Operator(words, module, args, kwargs, _preserves(args, kwargs, result),
                                       level=level)
        self.found[key].occurrences += 1

    def _words(self, module: nn.Module, documents: list[dict], args: tuple, kwargs: dict,
               result: Any) -> dict[str, str]:
        """Returns the columns that describe a call. The description is the layer that from_torch makes of the call. So
        the call's row in a profile gives the seconds of this layer. If from_torch makes no layer of the call, the
        description has torch's names."""
        working = [one for one in documents if one["type"] not in VIEWS]
        if len(documents) == 1 or len(working) == 1:
            layer = documents[0] if len(documents) == 1 else working[0]
            texts = [_shape_text([self._batch, *(shape or [1])])
                     for shape in (*layer["sources"], layer["shape_of_result"])]
            return {"operator": layer["type"], "config": _config(layer), "inputs": ";".join(texts[:-1]),
                    "outputs": texts[-1], "batch": str(self._batch), "dtype": _dtype(module, args)}
        return {"operator": getattr(module, "name", type(module).__name__),
                "config": _torch_config(module, args, kwargs), **_shapes((args, kwargs), result),
                "dtype": _dtype(module, args)}


def copy_of(module: nn.Module) -> nn.Module:
    """Returns a copy of the module for measurements. Measurements in training mode would change the module itself,
    because batch norms update their running means."""
    return copy.deepcopy(module)


def with_tensors(value: Any, change: Any) -> Any:
    """Returns a copy of the value, with change(tensor) in place of each tensor."""
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
    """Returns whether the module is a leaf. Attention is a leaf: it uses the weights of its parts but does not call
    them."""
    return _is_split(module) or next(module.children(), None) is None


def _torch_config(module: nn.Module, args: tuple, kwargs: dict) -> str:
    """Returns the configuration of a call that is not a layer: the module or function, and its arguments without
    tensors."""
    def plain(value: Any) -> bool:
        return not any(True for _ in tensors_in(value))

    more = [f"{key}={value}" for key, value in kwargs.items() if plain(value)]
    if isinstance(module, Function):
        return " ".join([module.name, *(str(one) for one in args if plain(one)), *more])
    own = repr(module).splitlines()[0] if _is_split(module) else repr(module).replace("\n", " ")
    return " ".join([own, *more])


def _config(document: dict) -> str:
    """Returns the text of a layer's configuration: its keys in order. A key that the document lacks has its default
    value in the text."""
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
    """Returns the element type of the weights, or of the inputs if there are no weights."""
    for one in (*module.parameters(), *tensors_in(inputs)):
        if one.dtype in DTYPES:
            return DTYPES[one.dtype]
    return ""


def _preserves(args: tuple, kwargs: dict, result: Any) -> bool:
    return (not kwargs and len(args) == 1 and isinstance(args[0], torch.Tensor)
            and isinstance(result, torch.Tensor) and result.shape == args[0].shape
            and result.dtype == args[0].dtype)
