"""Turns calls of torch into layers, and collects these layers.

A layer's shape is the shape of one sample. The channels of an image are the last axis. A Place gives the positions of a
torch tensor's axes in this shape. So a permutation only gives a new Place, and is not a layer. If a layer needs its
axes in another order, a layer of type `transpose` gives this order. A `transpose` is a view: it moves nothing."""

from __future__ import annotations

import fnmatch
from dataclasses import dataclass
from typing import Any, Callable, Optional, Sequence

import torch
from torch import nn

from . import errors

WAY_OUT = ("torch.onnx.export(module, inputs, 'net.onnx') and sluice.model('net.onnx') support more of torch; "
           "unknown='operator' counts the call as a layer that moves its output and computes nothing")


@dataclass(frozen=True)
class Place:
    """The positions of a tensor's axes in its layer's shape."""

    batch: Optional[int]  # the axis along which samples follow each other
    # the axes of one sample; `batch` is one of them if a sample has several positions along this axis
    order: tuple[int, ...]


class Layers:
    """Collects the layers of one run, in the order of the calls."""

    def __init__(self, module: nn.Module, unknown: str = "error", ignore: Sequence[str] = ()) -> None:
        self._names = {id(one): name for name, one in module.named_modules()}
        self._made: list[tuple[dict, list[int]]] = []
        self._of: dict[int, str] = {}  # layers by tensor
        self._places: dict[int, Place] = {}
        # for each tensor whose layer is not made before the tensor is read: the function that makes this layer
        self._later: dict[int, Callable[[], None]] = {}
        self._learned: dict[int, list] = {}  # by tensor: its parameters, if it is made only of parameters
        self._arranged: dict[tuple, str] = {}
        self._alive: list[Any] = []  # keeps tensors alive, because the id of a freed tensor could be reused
        self._taken: set[str] = set()
        self._counted: dict[int, str] = {}  # layers by parameter
        self.batch = 1
        self.tolerant = unknown == "operator"
        self.stack: list[nn.Module] = []  # the modules that are being called
        self.uncounted: list[str] = []  # the calls without a layer, if `tolerant`
        ignored = [one for name, one in module.named_modules() if _matches(name, ignore)]
        self._ignored = {id(one) for one in ignored}
        without = {id(parameter) for one in ignored for parameter in one.parameters()}
        self._parameters = {name: one for name, one in module.named_parameters()
                            if id(one) not in without and not _matches(name, ignore)}
        for parameter in module.parameters():
            self._learned[id(parameter)] = [parameter]
            self._alive.append(parameter)

    def documents(self) -> list[dict]:
        """Returns the `layers` of a sluice-model/1 document."""
        return [document for document, _ in self._made]

    def shapes(self) -> list[list[int]]:
        """Returns the shapes that torch computed, layer by layer."""
        return [shape for _, shape in self._made]

    def parameters(self) -> int:
        """Returns the number of elements of all parameters that are not ignored."""
        return sum(one.numel() for one in self._parameters.values())

    def unused(self) -> list[str]:
        """Returns the names of the parameters that no layer has."""
        return [name for name, one in self._parameters.items() if id(one) not in self._counted]

    # --- what is called ------------------------------------------------------------------------

    def input(self, tensor: torch.Tensor) -> None:
        """Adds an input of the whole module."""
        self.batch = len(tensor)
        place = self.channels_last(tensor) if tensor.dim() in (4, 5) else self.natural(tensor)
        self.add("input", "input", tensor, [], place, shape=self.extents(tensor, place) or [1])

    def leaves(self, module: nn.Module) -> bool:
        """Returns whether the module is left out."""
        return id(module) in self._ignored

    def knows(self, module: nn.Module) -> bool:
        """Returns whether the module is one layer."""
        from .torch_modules import kind_of

        return bool(kind_of(module))

    def module(self, module: nn.Module, args: tuple, result: Any) -> None:
        """Records a call of a module that is one layer or is left out."""
        from .torch_modules import MODULES, kind_of

        name = self._names.get(id(module), type(module).__name__.lower()).replace(".", "_")
        given = [one for one in tensors_of(args) if self.is_known(one)]
        if self.leaves(module):
            self.moved(name, list(tensors_of(result)), given)
            return
        if not given and isinstance(module, nn.Embedding):
            self._learned[id(result)] = [module.weight]
            self._alive.append(result)
            return
        if not given:  # the module reads only constants, which become inputs of its layer
            for one in tensors_of(args):
                self.constant(f"{name}_of", one)
        MODULES[kind_of(module)](self, name, module, args, result)

    def function(self, function: Callable, args: tuple, kwargs: dict, result: Any) -> None:
        """Records a call of a function. The call is not inside a module that is one layer."""
        from .torch_functions import call

        results = list(tensors_of(result))
        if not results:
            return
        given = list(tensors_of((args, list(kwargs.values()))))
        if any(self.is_known(one) for one in given):
            call(self, getattr(function, "__name__", str(function)), args, kwargs, result)
        else:
            learned = {id(one): one for tensor in given for one in self._learned.get(id(tensor), [])}
            for one in results:
                self._alive.append(one)
                if learned:
                    self._learned[id(one)] = list(learned.values())

    # --- tensors and their layers --------------------------------------------------------------

    def is_known(self, tensor: Any) -> bool:
        """Returns whether a layer makes the tensor: it depends on an input, or it is a constant."""
        return id(tensor) in self._of or id(tensor) in self._later

    def of(self, tensor: torch.Tensor, place: Optional[Place] = None) -> str:
        """Returns the name of the layer that makes the tensor. The output of this layer has its axes in the order of
        `place`."""
        if id(tensor) in self._later:
            self._later.pop(id(tensor))()
        layer, own = self._of[id(tensor)], self._places[id(tensor)]
        if place is None or self._same_order(tensor, own, place):
            return layer
        key = (id(tensor), place)
        if key not in self._arranged:
            axes = [own.order.index(axis) for axis in place.order]
            self._arranged[key] = self._append("transpose", f"{layer}_turned", [layer],
                                               self.extents(tensor, place), axes=axes)
        return self._arranged[key]

    def place(self, tensor: torch.Tensor) -> Place:
        """Returns the Place of a known tensor."""
        if id(tensor) in self._later:
            self.of(tensor)
        return self._places[id(tensor)]

    def natural(self, tensor: torch.Tensor) -> Place:
        """Returns the Place with the axes in torch's order. The first axis is the axis of the samples."""
        several = tensor.dim() > 0 and len(tensor) != self.batch
        return Place(0, tuple(range(0 if several else 1, tensor.dim())))

    def channels_last(self, tensor: torch.Tensor) -> Place:
        """Returns the Place with the channels last. The tensor's axes are samples, channels, and then the axes of a
        signal, an image or a volume."""
        order = self.natural(tensor).order
        return Place(0, (*(axis for axis in order if axis != 1), 1))

    def like(self, tensor: torch.Tensor, source: torch.Tensor) -> Place:
        """Returns a Place for `tensor`: the same as that of `source`. If no layer makes `source`, or if `source` has
        another number of axes than `tensor`, returns `natural(tensor)`."""
        if tensor.dim() == source.dim() and self.is_known(source):
            return self.place(source)
        return self.natural(tensor)

    def extents(self, tensor: torch.Tensor, place: Optional[Place] = None) -> list[int]:
        """Returns the shape of one sample, in the order of `place`. By default, `place` is the tensor's own Place."""
        place = place or self.place(tensor)
        size = list(tensor.shape)
        if place.batch is not None and size and size[place.batch] % self.batch:
            raise errors.InputError(f"axis {place.batch} of a tensor of shape {size} does not hold the "
                                    f"{self.batch} samples of the inputs{self.where()}; give one sample")
        return [size[axis] // self.batch if axis == place.batch else size[axis] for axis in place.order]

    def axis(self, axis: int, tensor: torch.Tensor) -> int:
        """Returns the position of an axis of torch in the layer's shape."""
        order = self.place(tensor).order
        if axis % tensor.dim() not in order:
            self.unknown("an operation along the axis of the samples")
        return order.index(axis % tensor.dim())

    def rows(self, tensor: torch.Tensor) -> Place:
        """Returns a Place in which torch's last axis is also the last axis of the layer's shape."""
        own, last = self.place(tensor), tensor.dim() - 1
        if own.order and own.order[-1] == last:
            return own
        return Place(own.batch, (*(axis for axis in own.order if axis != last), last))

    # --- layers --------------------------------------------------------------------------------

    def add(self, kind: str, name: str, result: torch.Tensor, inputs: Sequence[str],
            place: Optional[Place] = None, /, **keys: Any) -> str:
        """Adds a layer whose output is `result`."""
        place = place or self.natural(result)
        layer = self._append(kind, name, inputs, self.extents(result, place) or [1], **keys)
        return self.is_layer(result, layer, place)

    def between(self, kind: str, name: str, extents: list[int], inputs: Sequence[str], /, **keys: Any) -> str:
        """Adds a layer whose output is not a tensor of the run, and returns the name of the layer."""
        return self._append(kind, name, inputs, extents, **keys)

    def is_layer(self, result: torch.Tensor, layer: str, place: Place) -> str:
        """Records that the tensor is the output of an existing layer."""
        self._of[id(result)], self._places[id(result)] = layer, place
        self._later.pop(id(result), None)
        self._alive.append(result)
        return layer

    def operator(self, name: str, result: torch.Tensor, sources: Sequence[torch.Tensor],
                 place: Optional[Place] = None, **keys: Any) -> str:
        """Adds a layer of type `operator` with its costs. `sources` are the tensors that it reads. If a tensor consists
        of parameters, the layer gets these parameters, and no input."""
        known = [one for one in sources if self.is_known(one)]
        place = place or self.like(result, known[0])
        parameters = self.count_new(name, [one for one in sources if not self.is_known(one)])
        if parameters:
            keys["parameters"] = parameters
        inputs = list(dict.fromkeys(self.of(one) for one in known))
        shape = self.extents(result, place) or [1]
        if "flop" not in keys or len(known) > 1 or shape != self.extents(known[0]):
            keys["shape"] = shape  # without this key, the output has the shape of the input
        return self.add("operator", name, result, inputs, place, **keys)

    def alias(self, result: torch.Tensor, tensor: torch.Tensor, place: Optional[Place] = None) -> None:
        """Records that `result` has the same elements as `tensor`. So `result` needs no layer of its own."""
        self.is_layer(result, self.of(tensor), place or self.place(tensor))

    def later(self, result: torch.Tensor, make: Callable[[], Any]) -> None:
        """Records a tensor that becomes a layer when it is read."""
        self._later[id(result)] = make
        self._alive.append(result)

    def keep(self, tensor: torch.Tensor) -> None:
        """Records a tensor that does not depend on an input."""
        self._alive.append(tensor)

    def moved(self, name: str, results: Sequence[torch.Tensor], given: Sequence[torch.Tensor]) -> None:
        """Records the outputs of an operation that is not counted. Later layers may read these outputs."""
        for one in results:
            if self.is_known(one):
                continue
            if given:
                self.later(one, lambda one=one: self.operator(name, one, given, self.natural(one)))
            self._alive.append(one)

    def unknown(self, what: str) -> None:
        """Raises Unknown. The message names the position in the module and says what to do."""
        raise Unknown(f"from_torch has no layer for torch's '{what}'{self.where()}. {WAY_OUT}")

    def where(self) -> str:
        """Returns words for a message: where in the module the current call is."""
        if not self.stack:
            return ""
        name = self._names.get(id(self.stack[-1]), "")
        return f", called in {name or 'the module'} ({type(self.stack[-1]).__name__})"

    # --- parameters ----------------------------------------------------------------------------

    def count(self, layer: str, *parameters: Any) -> None:
        """Records that the parameters belong to the layer `layer`. A parameter that already belongs to another layer
        stays with that other layer."""
        for parameter in parameters:
            for one in self._learned.get(id(parameter), []) if parameter is not None else []:
                self._counted.setdefault(id(one), layer)

    def count_new(self, layer: str, tensors: Sequence[Any]) -> int:
        """Assigns the parameters of these tensors to the layer. Skips parameters that already belong to a layer.
        Returns the number of assigned elements."""
        new = {id(one): one for tensor in tensors for one in self._learned.get(id(tensor), [])
               if id(one) not in self._counted}
        for one in new.values():
            self._counted[id(one)] = layer
        return sum(one.numel() for one in new.values())

    def learned(self, tensor: Any) -> list:
        """Returns the parameters of which a tensor is made. If the tensor depends on an input, the list is empty."""
        return [] if self.is_known(tensor) else self._learned.get(id(tensor), [])

    def rename(self, parameters: Sequence[Any], layer: str) -> None:
        """Records that the parameters belong to the layer `layer`. Parameters of another layer move to `layer`."""
        for one in parameters:
            self._counted[id(one)] = layer

    def holder(self, parameter: Any) -> Optional[str]:
        """Returns the name of the layer that has the parameter already, or None."""
        return self._counted.get(id(parameter))

    def has_bias(self, layer: str) -> bool:
        """Returns whether a layer with weights has a bias."""
        document = next(one for one, _ in self._made if one["name"] == layer)
        return document.get("bias", document["type"] not in ("matmul", "embedding"))

    def constant(self, name: str, tensor: torch.Tensor) -> None:
        """Adds a constant: a tensor that layers read, and that depends on no input."""
        place = self.natural(tensor)
        shape = self.extents(tensor, place) or [1]
        self.add("constant", name, tensor, [self._made[0][0]["name"]], place, shape=shape)

    # --- helpers -------------------------------------------------------------------------------

    def _append(self, kind: str, name: str, inputs: Sequence[str], extents: list[int], /, **keys: Any) -> str:
        document = {"type": kind, "name": self._unique(name), **keys}
        if inputs:
            document["inputs"] = list(inputs)
        self._made.append((document, extents))
        return document["name"]

    def _unique(self, name: str) -> str:
        number, unique = 1, name or "layer"
        while unique in self._taken:
            number += 1
            unique = f"{name}_{number}"
        self._taken.add(unique)
        return unique

    def _same_order(self, tensor: torch.Tensor, a: Place, b: Place) -> bool:
        """Returns whether two Places give the tensor the same shape. Axes with only one element may be anywhere."""
        def longer(place: Place) -> list[int]:
            return [axis for axis in place.order if tensor.shape[axis] > 1]

        return longer(a) == longer(b) and self.extents(tensor, a) == self.extents(tensor, b)


class Unknown(errors.InputError):
    """A call for which from_torch has no layer."""


def tensors_of(value: Any):
    """Yields all tensors in a value, also the tensors inside lists, tuples and dicts."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict):
        yield from tensors_of(list(value.values()))
    elif isinstance(value, (tuple, list)):
        for one in value:
            yield from tensors_of(one)


def _matches(name: str, patterns: Sequence[str]) -> bool:
    """Returns whether a pattern matches `name`, or the name of a module around it."""
    parts = name.split(".")
    return any(fnmatch.fnmatchcase(".".join(parts[:end]), pattern)
               for pattern in patterns for end in range(1, len(parts) + 1))
