"""Makes models from torch modules.

The module runs once with the example inputs. It runs on torch's meta device, where only shapes are computed. If this
run fails, the module runs with real values. The run watches the calls of each module that becomes a
single layer. A function mode of torch watches the functions outside of these modules. So modules that torch.fx cannot
trace can be read, too. torch_layers.py turns each call into layers."""

from __future__ import annotations

import functools
import inspect
import warnings
from contextlib import contextmanager
from typing import Any, Callable, Iterator, Literal, Sequence

from . import errors
from ._checked import checked
from ._late import late
from ._model import Model


@checked
def from_torch(module: Any, example_inputs: Any, name: str = "", *,
               unknown: Literal["error", "operator"] = "error", ignore: Sequence[str] = ()) -> Model:
    """Returns the Model of a torch module, from one run in evaluation mode. The example inputs are a tensor or a tuple
    of tensors, on the module's device. The first axis of every input is the batch. The Model is for one sample. Its
    images have the axes [height, width, channels], as in all models.

        sluice.from_torch(torchvision.models.googlenet(), torch.zeros(1, 3, 224, 224), ignore=["aux*"])

    `unknown` says how to treat a call for which Sluice has no layer. "error" raises InputError. "operator" makes a
    layer without computation, which only moves its output. A warning then names the unknown calls. `ignore` lists
    modules and parameters to leave out, such as heads for training. In these names, * matches any characters and ?
    matches one character.

    Raises InputError for an unknown call, with its position in the module. Raises InputError for a parameter that no
    layer has. This function needs torch, unlike most of Sluice."""
    try:
        torch = late("torch")
    except ImportError:
        raise errors.InputError("from_torch needs torch, which is not installed") from None
    if not isinstance(module, torch.nn.Module):
        raise errors.InputError(f"from_torch takes a torch.nn.Module, not a {type(module).__name__}")
    if unknown not in ("error", "operator"):
        raise errors.InputError(f"{unknown!r} for 'unknown': expected 'error' or 'operator'")
    inputs = _inputs(torch, example_inputs)
    try:
        layers = _watch(torch, module, inputs, lambda: _layers(module, unknown, ignore))
    except errors.InputError as error:  # raised again, so that the traceback has no lines of torch
        raise errors.InputError(str(error)) from None
    if layers.uncounted:
        warnings.warn("these calls are counted as layers that compute nothing: " +
                      "; ".join(dict.fromkeys(layers.uncounted)),
                      stacklevel=3)
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
            raise errors.InputError("from_torch takes a tensor as example input, or a tuple of tensors, not "
                                    f"a {type(one).__name__}")
        if one.dim() == 0:
            raise errors.InputError("an example input has no axes: its first axis must be the batch")
        if len(one) == 0:
            raise errors.InputError(f"an example input of shape {list(one.shape)} has no samples")
    if not inputs:
        raise errors.InputError("from_torch takes at least one example input")
    return inputs


_FACTORIES = {"arange", "ones", "zeros", "full", "empty", "tensor", "rand", "randn", "linspace", "eye",
              "tril_indices", "triu_indices"}


def _layers(module: Any, unknown: str, ignore: Sequence[str]) -> Any:
    from .torch_layers import Layers

    return Layers(module, unknown, [ignore] if isinstance(ignore, str) else ignore)


def _watch(torch: Any, module: Any, inputs: tuple, new: Callable[[], Any]) -> Any:
    """Turns one run of the module into layers. The first try has one sample, and tensors without values. If a module
    needs several samples, the next try has all samples. If a module or a function needs values, a later try has
    values."""
    one_sample = tuple(one[:1] for one in inputs)
    tries = [(one_sample, True), (inputs, True), (one_sample, False)]
    for given, meta in tries if len(inputs[0]) > 1 else tries[:1]:
        try:
            if not meta:
                return _run(torch, module, given, new(), meta=False)
            with _on_meta(torch, module):
                layers = new()  # made inside the context, because Layers recognises parameters by their identity
                return _run(torch, module, tuple(one.to("meta") for one in given), layers, meta=True)
        except errors.InputError:
            raise
        except (NotImplementedError, RuntimeError, ValueError, TypeError, AssertionError, IndexError):
            continue
    return _run(torch, module, inputs, new(), meta=False)


@contextmanager
def _on_meta(torch: Any, module: Any) -> Iterator[None]:
    """Replaces the tensors of the module by tensors that have a shape but no content. At the end of the context, the
    module has its own tensors again. Shared tensors stay shared."""
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


def _run(torch: Any, module: Any, inputs: tuple, layers: Any, meta: bool) -> Any:
    from torch.overrides import TorchFunctionMode

    depth = 0  # above 0 while a module that is one layer runs; functions inside this module are not separate layers

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
        """Watches `forward` itself, because the forward hooks of torch 1.13 do not see keyword arguments."""
        names = inspect.signature(forward)

        def call(*args, **kwargs):
            nonlocal depth
            whole = layers.knows(one) or layers.leaves(one)
            depth += whole
            layers.stack.append(one)
            try:
                result = forward(*args, **kwargs)
                if whole and depth == 1:
                    layers.module(one, tuple(names.bind(*args, **kwargs).arguments.values()), result)
                return result
            finally:
                layers.stack.pop()
                depth -= whole

        return call

    forwards = {one: one.__dict__["forward"] for one in module.modules() if "forward" in one.__dict__}
    was_training = {one: one.training for one in module.modules()}
    try:
        module.eval()
        for one in was_training:
            one.forward = watched(one, one.forward)
        for one in inputs:
            layers.input(one)
        # Gradients are on, because without them torch takes shortcuts that call no modules.
        with torch.enable_grad(), Functions(), _indexing(torch, lambda: depth == 0, layers):
            module(*inputs)
        return layers
    finally:
        for one in was_training:
            _put_back(one, forwards.get(one))
        for one, training in was_training.items():
            one.training = training


@contextmanager
def _indexing(torch: Any, between: Callable[[], bool], layers: Any) -> Iterator[None]:
    """Watches indexing, such as tensor[0] and parameter[table]. torch 1.13 hides it from function modes."""
    own = torch.Tensor.__getitem__

    @functools.wraps(own)  # function modes see the call under this name
    def item(tensor: Any, index: Any) -> Any:
        result = own(tensor, index)
        if between() and not layers.is_known(result) and not layers.learned(result):
            layers.function(own, (tensor, index), {}, result)
        return result

    torch.Tensor.__getitem__ = item
    try:
        yield
    finally:
        torch.Tensor.__getitem__ = own


def _compare(module: Any, layers: Any, model: Model) -> None:
    """Compares the model's shapes with torch's shapes, and the model's number of parameters with the module's
    number."""
    table = model.stage_table()
    if len(table) != len(layers.shapes()):
        raise errors.InternalError("from_torch made layers that the model does not have")
    for shape, (number, row) in zip(layers.shapes(), table.iterrows()):
        if list(row["shape"]) != shape:
            raise errors.InputError(f"layer {number} '{row['layer']}' ({row['type']}) has shape "
                                    f"{list(row['shape'])}, but torch computed {shape}")
    counted = layers.parameters()
    if counted != model.parameters:
        unused = layers.unused()
        raise errors.InputError(
            f"the module has {counted} parameters, but its layers have {model.parameters}"
            + (f"; not used by any known layer: {', '.join(unused[:20])}; ignore=['{_shared(unused)}'] leaves "
               "them out" if unused else ""))


def _shared(names: list[str]) -> str:
    """Returns at most five patterns for `ignore`: the parts of the names before the first dot, each only once. The text
    has the quotes between the patterns. The caller adds the first and the last quote."""
    heads = list(dict.fromkeys(name.split(".")[0] for name in names))
    return heads[0] if len(heads) == 1 else "', '".join(heads[:5])


def _put_back(module: Any, own: Any) -> None:
    """Restores the module's `forward`: the method of its class, or a function that was set on the module."""
    module.__dict__.pop("forward", None)
    if own is not None:
        module.forward = own
