"""Runs the forward or the backward pass of a torch operator repeatedly: hot, cold or chained (see
`sluice.profile_torch`)."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable, Optional

import torch
from torch import nn

from . import errors
from ._measuring import Subject
from ._torch_operators import Operator, copy_of, tensors_in, with_tensors

CHAIN = 8  # the number of layers of a chain
# The most copies that are made of an operator's inputs. If these copies do not fill the cache, the cache is cleared
# before each sample. To clear it, other memory of the cache's size is written.
MOST_COPIES = 1024


def synchroniser(device: torch.device) -> Callable[[], None]:
    """Returns a function that waits until the device has done its work."""
    if device.type == "cuda":
        return lambda: torch.cuda.synchronize(device)
    return lambda: None


def cache_bytes_of(device: torch.device, folder: str = "/sys/devices/system/cpu/cpu0/cache") -> int:
    """Returns the bytes of the largest cache. Raises InputError if the size of the cache cannot be found."""
    if device.type == "cuda":
        size = getattr(torch.cuda.get_device_properties(device), "L2_cache_size", 0)
    else:
        units = {"K": 2**10, "M": 2**20, "G": 2**30}
        texts = [one.read_text().strip() for one in Path(folder).glob("index*/size")]
        size = max((int(one[:-1]) * units[one[-1]] for one in texts), default=0)
    if size == 0:
        raise errors.InputError("the size of the cache cannot be found out here: give cache_bytes")
    return size


def subject_of(operator: Operator, cache: str, backward: bool, training: bool, device: torch.device,
               cache_bytes: int) -> Subject:
    """Returns the calls to measure. The calls use a copy of the operator's module. The module itself does not
    change."""
    module = copy_of(operator.module).train(training)
    layers = 1
    if cache == "chained":
        layers = CHAIN
        module = nn.Sequential(module, *(copy_of(module) for _ in range(CHAIN - 1)))
    inputs = _Inputs(operator, cache_bytes if cache == "cold" else 0)
    prepare = _backward(module, inputs) if backward else _forward(module, inputs, training)
    return Subject(prepare, synchroniser(device), layers, inputs.most_calls, inputs.count)


def can_run(operator: Operator, cache: str, backward: bool) -> bool:
    """Returns whether the operator can be measured with this pass and this state of the caches. A chain is possible
    only if the layer's output has the shape of its input. A backward pass needs inputs or parameters with gradients.
    The backward pass of a chain also needs the result of each layer. A layer that works in place would overwrite the
    result of the layer before."""
    in_place = bool(getattr(operator.module, "inplace", False))
    if cache == "chained" and (not operator.preserving or (backward and in_place)):
        return False
    return not backward or \
        any(one.is_floating_point() for one in tensors_in((operator.args, operator.kwargs))) or \
        any(one.requires_grad for one in operator.module.parameters())


class _Inputs:
    """Gives the inputs of each call. If `cache_bytes` is 0, the inputs are always the same. Otherwise the measurement
    is cold: each call takes the next one of several copies of the inputs. All copies together are larger than
    `cache_bytes`, unless this needs more than MOST_COPIES copies."""

    def __init__(self, operator: Operator, cache_bytes: int) -> None:
        self._given = (operator.args, operator.kwargs)
        tensors = list(tensors_in(self._given))
        size = sum(one.numel() * one.element_size() for one in tensors)
        self.count = min(cache_bytes // size + 2, MOST_COPIES) if cache_bytes and size else 1
        self._next = 0
        self._arrays = {id(one): _repeated(one, self.count) for one in tensors}
        swept = self.count > 1 and self.count * size < cache_bytes
        self._broom = torch.zeros(cache_bytes, dtype=torch.uint8, device=tensors[0].device) if swept else None

    @property
    def most_calls(self) -> Optional[int]:
        """The cache must be cleared after this number of calls, because the next call would find its inputs in the
        cache. None means that the cache is never cleared."""
        return None if self._broom is None else self.count

    def ready(self) -> None:
        """If all copies of the inputs fit into the cache, clears the cache. Call this method before the calls of a
        sample."""
        if self._broom is not None:
            self._broom.add_(1)

    def next(self) -> tuple[tuple, dict]:
        place = self._next
        self._next = (place + 1) % self.count

        def there(tensor: torch.Tensor) -> torch.Tensor:
            array, strides = self._arrays[id(tensor)]
            return array.as_strided(tensor.shape, strides, place * tensor.numel())

        return with_tensors(self._given, there)


def _repeated(tensor: torch.Tensor, count: int) -> tuple[torch.Tensor, tuple]:
    """Returns an array that holds the tensor `count` times, and the strides of the copies."""
    own = tensor.clone()  # a copy, whose elements have no gaps between them
    array = torch.empty(count * own.numel(), dtype=own.dtype, device=own.device)
    for place in range(count):
        array.as_strided(own.shape, own.stride(), place * own.numel()).copy_(own)
    return array, own.stride()


def _forward(module: nn.Module, inputs: _Inputs, training: bool) -> Callable[[int], Callable[[], None]]:
    def prepare(calls: int) -> Callable[[], None]:
        inputs.ready()
        ready = [inputs.next() for _ in range(calls)]

        def run() -> None:
            with torch.set_grad_enabled(training):
                for args, kwargs in ready:
                    module(*args, **kwargs)

        return run

    return prepare


def _backward(module: nn.Module, inputs: _Inputs) -> Callable[[int], Callable[[], None]]:
    """Returns the function that prepares backward passes. These passes compute the gradients of inputs and parameters.
    Each copy of the inputs has one graph, which is used repeatedly. So the measured time does not include the forward
    pass."""
    graphs: list[Callable[[], None]] = []
    done = 0

    def graph() -> Callable[[], None]:
        sources: list[Any] = [one for one in module.parameters() if one.requires_grad]

        def tracked(tensor: torch.Tensor) -> torch.Tensor:
            if not tensor.is_floating_point():
                return tensor
            source = tensor.detach().requires_grad_()
            sources.append(source)
            return source.clone()  # operations in place must not overwrite a source of gradients

        with torch.enable_grad():
            args, kwargs = with_tensors(inputs.next(), tracked)
            results = [one for one in tensors_in(module(*args, **kwargs)) if one.requires_grad]
        given = [torch.ones_like(one) for one in results]

        def back() -> None:
            torch.autograd.grad(results, sources, given, retain_graph=True, allow_unused=True)

        return back

    def prepare(calls: int) -> Callable[[], None]:
        nonlocal done
        while len(graphs) < inputs.count:
            graphs.append(graph())
        inputs.ready()
        ready = [graphs[(done + call) % len(graphs)] for call in range(calls)]
        done += calls

        def run() -> None:
            for back in ready:
                back()

        return run

    return prepare
