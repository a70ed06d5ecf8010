"""Models from torch modules.

The module runs once with the example inputs: on torch's meta device, which computes shapes alone, or
for real where that fails. The modules that are one layer are watched, and a function mode sees the
functions called between them: so it does not matter whether torch.fx could trace it. What each call
becomes stands in torch_layers.py.
"""

from __future__ import annotations

import inspect
from contextlib import contextmanager
from typing import Any, Iterator

from . import errors
from ._checked import checked
from ._late import late
from ._model import Model


@checked
def from_torch(module: Any, example_inputs: Any, name: str = "") -> Model:
    """The Model of a torch module, from one run with example inputs (a tensor, or a tuple of them),
    in evaluation mode and on whatever device it is. The first axis of every input is the batch;
    counts are of one sample. An axis order of [channels, height, width] becomes [height, width,
    channels], as models have it.

    Raises InputError when a module or a function is none that Sluice knows, or when parameters
    would be left out. Needs torch, which Sluice itself does not."""
    try:
        torch = late("torch")
    except ImportError:
        raise errors.InputError("from_torch needs torch, which is not installed") from None
    if not isinstance(module, torch.nn.Module):
        raise errors.InputError(f"from_torch takes a torch.nn.Module, not a {type(module).__name__}")
    inputs = _inputs(torch, example_inputs)
    layers = _watch(torch, module, inputs)
    document = {
        "format": "sluice-model/1",
        "name": name or type(module).__name__.lower(),
        "summary": f"{type(module).__name__}, from torch.",
        "source": f"torch {torch.__version__}, a run with inputs of shape "
                  f"{', '.join(str(list(one.shape)) for one in inputs)}",
        "layers": layers.documents(),
    }
    model = Model.from_dict(document, f"<{document['name']}>")
    _compare(module, layers, model)
    return model


def _inputs(torch: Any, given: Any) -> tuple:
    inputs = tuple(given) if isinstance(given, (tuple, list)) else (given,)
    for one in inputs:
        if not isinstance(one, torch.Tensor):
            raise errors.InputError("from_torch takes a tensor as example input, or a tuple of them, not "
                                    f"a {type(one).__name__}")
        if one.dim() == 0:
            raise errors.InputError("an example input has no axes: the first one is the batch")
    return inputs


_FACTORIES = {"arange", "ones", "zeros", "full", "empty", "tensor", "rand", "randn", "linspace", "eye",
              "tril_indices", "triu_indices"}


def _watch(torch: Any, module: Any, inputs: tuple) -> Any:
    """The layers of one run."""
    from .torch_layers import Layers

    try:
        with _on_meta(torch, module):
            layers = Layers(module)
            _run(torch, module, tuple(one.to("meta") for one in inputs), layers, meta=True)
            return layers
    except (NotImplementedError, RuntimeError):  # a function without shapes, or that needs values
        layers = Layers(module)
        _run(torch, module, inputs, layers, meta=False)
        return layers


@contextmanager
def _on_meta(torch: Any, module: Any) -> Iterator[None]:
    """The module with tensors that have shapes and no content; afterwards with its own again. One
    that is shared stays shared."""
    made: dict[int, Any] = {}
    kept = []

    def swapped(tensor: Any) -> Any:
        if id(tensor) not in made:
            empty = tensor.detach().to("meta")
            is_parameter = isinstance(tensor, torch.nn.Parameter)
            made[id(tensor)] = torch.nn.Parameter(empty, tensor.requires_grad) if is_parameter else empty
        return made[id(tensor)]

    for one in module.modules():
        for table in (one._parameters, one._buffers):
            kept.append((table, dict(table)))
            for key, tensor in table.items():
                if tensor is not None:
                    table[key] = swapped(tensor)
    try:
        yield
    finally:
        for table, own in kept:
            table.update(own)


def _run(torch: Any, module: Any, inputs: tuple, layers: Any, meta: bool) -> None:
    from torch.overrides import TorchFunctionMode

    depth = 0  # inside a module that is one layer its functions are no layers of their own

    class Functions(TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            kwargs = dict(kwargs or {})
            if meta and getattr(function, "__name__", "") in _FACTORIES:
                kwargs["device"] = "meta"
            result = function(*args, **kwargs)
            if depth == 0:
                layers.function(function, args, kwargs, result)
            return result

    def watched(one, forward):
        """Forward hooks see no keywords (torch 1.13): the method itself is watched."""
        names = inspect.signature(forward)

        def call(*args, **kwargs):
            nonlocal depth
            depth += 1
            try:
                result = forward(*args, **kwargs)
                if depth == 1:
                    layers.module(one, tuple(names.bind(*args, **kwargs).arguments.values()), result)
                return result
            finally:
                depth -= 1

        return call

    was_training = {one: one.training for one in module.modules()}
    leaves = [one for one in module.modules() if layers.knows(one)]
    try:
        module.eval()
        for one in leaves:
            one.forward = watched(one, one.forward)
        for one in inputs:
            layers.input(one)
        # With gradients: without them torch takes shortcuts that call no modules.
        with torch.enable_grad(), Functions():
            module(*inputs)
    finally:
        for one in leaves:
            one.__dict__.pop("forward", None)
        for one, training in was_training.items():
            one.training = training


def _compare(module: Any, layers: Any, model: Model) -> None:
    """What Sluice infers must be what torch computed."""
    table = model.stage_table()
    for shape, (number, row) in zip(layers.shapes(), table.iterrows()):
        if list(row["shape"]) != shape:
            raise errors.InputError(f"layer {number} '{row['layer']}' ({row['type']}) has shape "
                                    f"{list(row['shape'])}, but torch computed {shape}")
    counted = sum(parameter.numel() for parameter in module.parameters())
    if counted != model.parameters:
        unused = layers.unused()
        raise errors.InputError(
            f"the module has {counted} parameters, its layers {model.parameters}"
            + (f"; not used by any known layer: {', '.join(unused)}" if unused else ""))
