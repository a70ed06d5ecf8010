"""Watches one run of a torch module. Finds the layers of its leaf modules, and of the functions between them."""

from __future__ import annotations

import inspect
from typing import Any, Callable, Iterator, Optional

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from . import errors
from .torch_layers import Layers

# Layers that only prepare or rearrange tensors for another layer.
VIEWS = ("input", "flatten", "reshape", "transpose", "slice")


class Function(nn.Module):
    """A module that calls a function. So functions can be measured like modules."""

    def __init__(self, function: Callable, inplace: bool) -> None:
        super().__init__()
        self.function = function
        self.name = getattr(function, "__name__", str(function))
        self.inplace = inplace

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)


def tensors_in(value: Any) -> Iterator[torch.Tensor]:
    """Yields all tensors in a value, also the tensors inside lists, tuples and dicts."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict):
        yield from tensors_in(list(value.values()))
    elif isinstance(value, (tuple, list)):
        for one in value:
            yield from tensors_in(one)


class Layered:
    """Turns calls of torch into layers, as from_torch does. If a call is not a layer, its results count as inputs of
    the module."""

    def __init__(self, module: nn.Module, inputs: tuple) -> None:
        self._layers = Layers(module)
        for one in inputs:
            self._layers.input(one)

    def module(self, module: nn.Module, args: tuple, kwargs: dict, result: Any) -> list[dict]:
        """Turns a call of a module into layers, and returns their documents. In addition to the keys of a layer, each
        document has two keys. `shape_of_result` is the shape of the layer's output. `sources` has the shapes of its
        inputs. For an unknown call, the list is empty."""
        def called() -> None:
            if not self._layers.knows(module):
                self._layers.unknown(type(module).__name__)
            names = inspect.signature(type(module).forward)
            given = names.bind(module, *args, **kwargs).arguments
            self._layers.module(module, tuple(given.values())[1:], result)

        return self._added(called, result)

    def function(self, function: Callable, args: tuple, kwargs: dict, result: Any) -> list[dict]:
        """Turns a call of a function into layers, and returns their documents in the same form as `module`."""
        return self._added(lambda: self._layers.function(function, args, kwargs, result), result)

    def _added(self, called: Callable[[], None], result: Any) -> list[dict]:
        before = len(self._layers.documents())
        try:
            called()
        except (errors.InputError, KeyError, IndexError, TypeError, AttributeError):
            for one in tensors_in(result):
                self._as_input(one)
            return []
        shapes = {document["name"]: shape for document, shape in
                  zip(self._layers.documents(), self._layers.shapes())}
        return [{**document, "shape_of_result": shapes[document["name"]],
                 "sources": [shapes[name] for name in document.get("inputs", ())]}
                for document in self._layers.documents()[before:]]


    def _as_input(self, tensor: torch.Tensor) -> None:
        samples = self._layers.batch
        if tensor.dim() > 0 and len(tensor) == samples:
            self._layers.input(tensor)
        self._layers.batch = samples


class Functions(TorchFunctionMode):
    """Reports each function of torch that is called."""

    def __init__(self, told: Callable[[Callable, tuple, dict, Callable[[], Any]], Any]) -> None:
        super().__init__()
        self._told = told

    def __torch_function__(self, function: Callable, types: Any, args: tuple = (),
                           kwargs: Optional[dict] = None) -> Any:
        given = dict(kwargs or {})
        return self._told(function, args, given, lambda: function(*args, **given))


def versions_of(value: Any) -> list[int]:
    """Returns how often each tensor was written in place."""
    return [one._version for one in tensors_in(value)]


def is_new(given: Any, result: Any) -> bool:
    """Returns whether the call makes new tensors. A view shares the memory of another tensor, so a view is not a new
    tensor."""
    known = {_memory_of(one) for one in tensors_in(given)}
    return any(_memory_of(one) not in known for one in tensors_in(result))


def _memory_of(tensor: torch.Tensor) -> int:
    storage = tensor.untyped_storage() if hasattr(tensor, "untyped_storage") else tensor.storage()
    return storage.data_ptr()
