"""What calls of torch become as layers of a model."""

from __future__ import annotations

from typing import Any, Callable, Optional

import torch
from torch import nn

from . import errors, torch_calls as calls


class Layers:
    """Collects the layers of one run, in the order of the calls."""

    def __init__(self, module: nn.Module) -> None:
        self._names = {id(one): name for name, one in module.named_modules()}
        self._made: list[tuple[dict, list[int]]] = []
        self.of: dict[int, str] = {}  # layer by tensor
        self._rows: dict[int, tuple] = {}  # learned rows by tensor: (entries, parameters)
        self.alive: list[Any] = []  # a tensor that is gone could lend its id to another
        self._taken: set[str] = set()
        self.counted: dict[int, str] = {}  # layer by parameter
        self.plain: set[int] = set()  # tensors of rank 4 that are no images
        self.grouped: set[int] = set()  # tensors of rank 5 that are images, channels along two axes
        self._parameters = dict(module.named_parameters())
        for parameter in self._parameters.values():
            entries = parameter.shape[-2] if parameter.dim() > 1 else 1
            self._rows[id(parameter)] = (entries, [parameter])

    def documents(self) -> list[dict]:
        """The `layers` of a sluice-model/1 document."""
        return [document for document, _ in self._made]

    def shapes(self) -> list[list[int]]:
        """What torch computed, layer by layer."""
        return [shape for _, shape in self._made]

    def unused(self) -> list[str]:
        """Parameters that no layer has."""
        return [name for name, parameter in self._parameters.items()
                if id(parameter) not in self.counted]

    # --- what is called ------------------------------------------------------------------------

    def input(self, tensor: torch.Tensor) -> None:
        """An input of the whole module."""
        self.add("input", "input", tensor, [], shape=self.shape(tensor))

    def knows(self, module: nn.Module) -> bool:
        """Is it one layer?"""
        return type(module).__name__ in calls.PLAIN or type(module).__name__ in calls.MODULES

    def module(self, module: nn.Module, args: tuple, result: Any) -> None:
        """A module that is one layer was called."""
        kind = type(module).__name__
        name = self._names.get(id(module), kind.lower()).replace(".", "_")
        known = self.of.get(id(args[0]))
        if known is None:
            self._constant(module, args, result)
        elif kind in calls.PLAIN:
            self.as_of(args[0], result)
            self.add(calls.PLAIN[kind], name, result, [known])
        else:
            calls.MODULES[kind](self, name, module, args, result)

    def function(self, function: Callable, args: tuple, kwargs: dict, result: Any) -> None:
        """A function was called outside of any such module."""
        name = getattr(function, "__name__", str(function))
        if not isinstance(result, torch.Tensor):
            if args and id(args[0]) in self.of and any(True for _ in _tensors(result)):
                if name not in calls.SEVERAL:
                    self.unknown(name)
                calls.SEVERAL[name](self, name, args, kwargs, result)
            return
        tensors = list(_tensors((args, list(kwargs.values()))))
        if not any(id(tensor) in self.of for tensor in tensors):
            self._constant_of(tensors, result)
        elif name in calls.SAME or (name in calls.SUMS | calls.PRODUCTS and len(tensors) == 1):
            self.alias(result, next(t for t in tensors if id(t) in self.of))
        elif name in calls.PLAIN:
            self.as_of(tensors[0], result)
            self.add(calls.PLAIN[name], name, result, [self.of[id(tensors[0])]])
        elif name in calls.RESHAPED:
            self._reshape(name, tensors[0], result)
        elif name in calls.FUNCTIONS:
            calls.FUNCTIONS[name](self, name, args, kwargs, result)
        else:
            self.unknown(name)

    # --- helpers -------------------------------------------------------------------------------

    def unknown(self, name: str) -> None:
        modules = sorted({*calls.MODULES, *(one for one in calls.PLAIN if one[0].isupper())})
        functions = sorted({*calls.FUNCTIONS, *calls.RESHAPED})
        raise errors.InputError(f"from_torch knows no layer for torch's '{name}'; it knows the modules "
                                f"{', '.join(modules)} and the functions {', '.join(functions)}")

    def add(self, kind: str, name: str, result: torch.Tensor, inputs: list[str], **keys: Any) -> str:
        document = {"type": kind, "name": self._unique(name), **keys}
        if inputs:
            document["inputs"] = inputs
        self._made.append((document, self.shape(result)))
        self.of[id(result)] = document["name"]
        self.alive.append(result)
        return document["name"]

    def shape(self, tensor: torch.Tensor) -> list[int]:
        """Of one sample; an image with its channels last."""
        size = list(tensor.shape[1:])
        is_image = self.image(tensor) or id(tensor) in self.grouped
        return [*size[-2:], *size[:-2]] if is_image else size

    def image(self, tensor: torch.Tensor) -> bool:
        """Its axes are samples, channels, height and width."""
        return tensor.dim() == 4 and id(tensor) not in self.plain

    def axis(self, axis: int, tensor: torch.Tensor) -> int:
        """Where an axis of torch's is in one sample's shape."""
        axis %= tensor.dim()
        return [-1, 2, 0, 1][axis] if self.image(tensor) else axis - 1

    def as_of(self, source: torch.Tensor, result: torch.Tensor) -> None:
        """A result that is no image where its source is none, and a grouped one where that is."""
        if result.dim() == 4 and id(source) in self.plain:
            self.plain.add(id(result))
        if result.shape == source.shape and id(source) in self.grouped:
            self.grouped.add(id(result))

    def _unique(self, name: str) -> str:
        number, unique = 1, name or "layer"
        while unique in self._taken:
            number += 1
            unique = f"{name}_{number}"
        self._taken.add(unique)
        return unique

    def alias(self, result: torch.Tensor, tensor: torch.Tensor) -> None:
        self.as_of(tensor, result)
        self.of[id(result)] = self.of[id(tensor)]
        self.alive.append(result)

    def _reshape(self, name: str, tensor: torch.Tensor, result: torch.Tensor) -> None:
        if tensor.numel() != result.numel():
            self.unknown(name + " to more elements")
        grouped = id(tensor) in self.grouped
        same_area = (grouped or self.image(tensor)) and tensor.shape[-2:] == result.shape[-2:]
        if result.dim() == 5 and same_area:
            self.grouped.add(id(result))
        elif result.dim() == 4 and not (same_area and (grouped or tensor.shape == result.shape)):
            self.plain.add(id(result))
        if self.shape(tensor) == self.shape(result):
            self.alias(result, tensor)
        else:
            self.add("reshape", name, result, [self.of[id(tensor)]], shape=self.shape(result))

    def _constant(self, module: nn.Module, args: tuple, result: Any) -> None:
        """A module of something that no input reaches: learned rows of an embedding."""
        if isinstance(module, nn.Embedding):
            self._rows[id(result)] = (module.num_embeddings, [module.weight])
            self.alive.append(result)
        else:
            self.unknown(type(module).__name__ + " of a constant")

    def _constant_of(self, tensors: list, result: torch.Tensor) -> None:
        """What is made of learned rows alone are those rows still."""
        known = [self._rows[id(tensor)] for tensor in tensors if id(tensor) in self._rows]
        if known:
            self._rows[id(result)] = known[0]
        self.alive.append(result)

    def learned(self, tensor: Any) -> Optional[int]:
        """Entries of the learned rows that a tensor is, which are then counted."""
        if id(tensor) not in self._rows:
            return None
        entries, parameters = self._rows[id(tensor)]
        self.count("learned rows", *parameters)
        return entries

    def count(self, layer: str, *parameters: Any) -> Optional[str]:
        """Marks parameters as those of a layer. Returns the layer that has the first one already."""
        tied = self.counted.get(id(parameters[0]))
        for parameter in parameters:
            if parameter is not None:
                self.counted.setdefault(id(parameter), layer)
        return tied

    def rename(self, constant: Any, layer: str) -> None:
        """The learned rows that a constant is are those of a layer."""
        for parameter in self._rows[id(constant)][1]:
            self.counted[id(parameter)] = layer


def _tensors(value: Any):
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (tuple, list)):
        for one in value:
            yield from _tensors(one)
