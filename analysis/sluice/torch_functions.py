"""Turns calls of torch's functions into layers. Calls inside a module that itself becomes a layer do not come here."""

from __future__ import annotations

from typing import Any, Callable

import torch

from . import torch_products as products
from .torch_layers import Place, Unknown, tensors_of
from .torch_modules import (EACH, PLAIN, adaptive, conv, embedding, layer_norm, linear, pool, resized,
                            softmax, unless)
from .torch_parts import cat, item, moved, reshape, several, turned, without

SAME = {"contiguous", "clone", "detach", "to", "float", "half", "type", "type_as", "requires_grad_", "dropout",
        "masked_fill", "masked_fill_", "alpha_dropout", "dropout2d", "feature_dropout", "cpu", "cuda",
        "bfloat16", "double", "nan_to_num", "tril", "triu", "positive", "fill_", "copy_"}
RESHAPED = {"view", "reshape", "unsqueeze", "squeeze", "unflatten", "flatten", "view_as", "reshape_as", "ravel",
            "squeeze_", "unsqueeze_"}
TURNED = {"permute", "transpose", "t", "movedim", "moveaxis", "swapaxes", "swapdims", "adjoint", "transpose_"}
SUMS = {"add", "add_", "__add__", "__radd__", "__iadd__", "sub", "sub_", "__sub__", "__isub__", "__rsub__",
        "rsub", "subtract"}
PRODUCTS = {"mul", "mul_", "__mul__", "__rmul__", "__imul__", "div", "div_", "__truediv__", "__rtruediv__",
            "__itruediv__", "multiply", "divide", "true_divide"}
#: functions whose result takes only the shape, and no elements, from another tensor
MADE = {"new_zeros", "new_ones", "new_empty", "new_full", "new_tensor", "zeros_like", "ones_like", "empty_like",
        "full_like", "rand_like", "randn_like"}
#: functions that move, repeat or drop elements and compute nothing
MOVED = {"pad", "roll", "flip", "repeat", "tile", "repeat_interleave", "expand", "expand_as", "gather", "stack",
         "index_select", "pixel_shuffle", "pixel_unshuffle", "channel_shuffle", "unfold", "fold", "take_along_dim",
         "narrow", "select", "broadcast_to", "rot90", "as_strided", "masked_select", "diagonal", "zero_pad"}
#: FLOP per element, and what the backward pass reads; the importer of ONNX has the same numbers for the same operators
EACH_FUNCTION = {
    **{name.lower(): counts for name, counts in EACH.items()},
    "log_softmax": (6, "output"), "logsigmoid": (5, "inputs"), "sqrt": (1, "output"), "rsqrt": (1, "output"),
    "reciprocal": (1, "output"), "exp": (1, "output"), "neg": (1, "nothing"), "__neg__": (1, "nothing"),
    "cumsum": (1, "nothing"), "normalize": (3, "inputs"), "clamp": (2, "inputs"), "clip": (2, "inputs"),
    **dict.fromkeys(("pow", "__pow__", "__rpow__", "square", "log", "log2", "log1p", "erf", "sin", "cos", "tan",
                     "atan", "abs", "clamp_min", "clamp_max", "maximum", "minimum"), (1, "inputs")),
    **dict.fromkeys(("sign", "floor", "ceil", "round", "where", "eq", "ne", "lt", "le", "gt", "ge", "__eq__",
                     "__lt__", "__le__", "__gt__", "__ge__", "__ne__", "logical_and", "logical_or", "logical_not",
                     "__and__", "__or__", "__invert__", "isnan", "__mod__", "remainder"), (1, "nothing"))}
#: FLOP per element that is read, and what the backward pass reads
REDUCED = {"mean": (1, "nothing"), "sum": (1, "nothing"), "amax": (1, "inputs"), "amin": (1, "inputs"),
           "max": (1, "inputs"), "min": (1, "inputs"), "prod": (1, "inputs"), "argmax": (1, "nothing"),
           "argmin": (1, "nothing"), "var": (4, "inputs"), "std": (4, "inputs"), "norm": (2, "inputs"),
           "logsumexp": (2, "inputs"), "all": (1, "nothing"), "any": (1, "nothing")}


def call(layers: Any, name: str, args: tuple, kwargs: dict, result: Any) -> None:
    """Adds the layers of a call of a function. At least one argument of the call depends on an input of the module."""
    try:
        _add(layers, name, args, kwargs, result)
    except Unknown:
        if not layers.tolerant:
            raise
        layers.uncounted.append(name + layers.where())
        given = [one for one in tensors_of((args, kwargs)) if layers.is_known(one) or layers.learned(one)]
        for one in tensors_of(result):
            layers.operator(name, one, given, layers.natural(one))


def _add(layers: Any, name: str, args: tuple, kwargs: dict, result: Any) -> None:
    tensors = list(tensors_of((args, list(kwargs.values()))))
    source = next(one for one in tensors if layers.is_known(one))
    plain = name.rstrip("_") if not name.startswith("__") else name
    if name in FUNCTIONS:
        FUNCTIONS[name](layers, name, args, kwargs, result)
    elif not isinstance(result, torch.Tensor):
        several(layers, name, args, kwargs, result)
    elif name in SAME and result.shape == source.shape:
        layers.alias(result, source)
    elif name in SUMS or name in PRODUCTS:
        joined(layers, "add" if name in SUMS else "mul", tensors, result)
    elif plain in _PLAIN_FUNCTIONS:
        layers.add(_PLAIN_FUNCTIONS[plain], plain, result, [layers.of(source)], layers.place(source))
    elif name in RESHAPED:
        reshape(layers, "view", source, result)
    elif name in MADE:
        layers.keep(result)
    elif name in TURNED or name == "__get__":
        turned(layers, name, source, args, kwargs, result)
    elif plain in EACH_FUNCTION:
        flop, keeps = EACH_FUNCTION[plain]
        layers.operator(plain.strip("_"), result, tensors, flop=flop, keeps=keeps)
    elif name in REDUCED:
        _reduced(layers, name, args, kwargs, result)
    elif name in MOVED:
        moved(layers, name, tensors, result)
    else:
        layers.unknown(name)


_PLAIN_FUNCTIONS = {**{name.lower(): kind for name, kind in PLAIN.items()}, "leaky_relu": "leaky_relu"}


# --- sums, products, means -------------------------------------------------------------------------


def joined(layers: Any, kind: str, tensors: list, result: Any) -> None:
    """Adds an elementwise operation. An operation with a number or a computed mask as second operand is not counted. If
    its result has the shape of the first operand, no layer is added. If the result has another shape, the added layer
    only moves elements."""
    known = [one for one in tensors if layers.is_known(one)]
    others = [one for one in tensors if not layers.is_known(one)]
    lead = max(known, key=lambda one: (one.dim(), one.numel()))
    learned = [one for other in others for one in layers.learned(other)]
    if not others and len(known) == 2 and known[0] is not known[1] and known[0].dim() == known[1].dim():
        place = layers.place(lead)
        inputs = [layers.of(one, _aligned(layers, one, place)) for one in known]
        if len(set(inputs)) == 2:
            layers.add(kind, kind, result, inputs, place)
            return
    if not others and len(known) > 1:
        layers.operator(kind, result, known, layers.like(result, lead), flop=1,
                        keeps="nothing" if kind == "add" else "inputs")
    elif not learned and result.shape == lead.shape:
        layers.alias(result, lead)
    elif not learned:
        moved(layers, kind, [lead], result)
    else:
        _with_learned(layers, kind, lead, others, learned, result)


def _aligned(layers, tensor, place):
    """Returns the Place of a tensor: the order of its axes in the shape of its layer. If `place` has all axes that the
    tensor has besides the batch, the result has these axes in the order of `place`."""
    own = layers.place(tensor)
    if set(own.order) <= set(place.order):
        return Place(own.batch, tuple(a for a in place.order if a in own.order))
    return own


def _with_learned(layers, kind, lead, others, learned, result):
    extents = layers.extents(lead)
    entries = learned[0].numel() // learned[0].shape[-1] if learned[0].dim() else 0
    is_table = (kind == "add" and len(extents) == 2 and len(learned) == 1 and entries >= extents[0] > 1
                and learned[0].shape[-1] == extents[-1] and result.shape == lead.shape)
    if is_table:
        made = layers.add("add_embedding", "positions", result, [layers.of(lead)], layers.place(lead),
                          entries=entries)
        layers.rename(learned, made)
    else:
        layers.operator("shift" if kind == "add" else "scale", result, [lead, *others],
                        layers.like(result, lead), flop=1)


def _reduced(layers, name, args, kwargs, result):
    source = args[0]
    axes = kwargs.get("dim", kwargs.get("axis", args[1] if len(args) > 1 else None))
    axes = [axes] if isinstance(axes, int) else list(range(1, source.dim())) if axes is None else list(axes)
    axes = [axis % source.dim() for axis in axes]
    own = layers.place(source)
    if name == "mean" and own == layers.channels_last(source) and sorted(axes) == list(range(2, source.dim())):
        shape = [1] * (source.dim() - 2) + [source.shape[1]]
        pooled = layers.between("global_avg_pool", name, shape, [layers.of(source)])
        if result.dim() == 2:
            layers.add("flatten", "flatten", result, [pooled])
        else:
            layers.is_layer(result, pooled, own)
        return
    if own.batch in axes and own.batch not in own.order and layers.batch > 1:
        layers.unknown(f"{name} over the samples")
    place = own if result.dim() == source.dim() else without(own, axes, source.dim())
    flop, keeps = REDUCED[name]
    layers.operator(name, result, [source], place, input_flop=flop, keeps=keeps)


# --- functions with the arguments of modules -------------------------------------------------------


def _named(names: str) -> Callable:
    """Returns a function that maps the names of the arguments of a call to their values."""
    keys = names.split()
    return lambda args, kwargs: {**dict(zip(keys, args)), **kwargs}


_CONV = _named("input weight bias stride padding dilation groups")
_CONV_TRANSPOSED = _named("input weight bias stride padding output_padding groups dilation")
_NORM = _named("input normalized_shape weight bias")


def _conv(layers, name, args, kwargs, result):
    transposed = "transpose" in name
    of = (_CONV_TRANSPOSED if transposed else _CONV)(args, kwargs)
    if transposed:
        of.setdefault("output_padding", 0)
    conv(layers, name, of["input"], result, of)


def _linear(layers, name, args, kwargs, result):
    of = _named("input weight bias")(args, kwargs)
    linear(layers, "linear", of["input"], result, of["weight"], of.get("bias"))


def _layer_norm(layers, name, args, kwargs, result):
    of = _NORM(args, kwargs)
    layer_norm(layers, name, of["input"], result, of.get("weight"), of.get("bias"), len(of["normalized_shape"]))


def _norm(kind: str, names: str) -> Callable:
    def add(layers, name, args, kwargs, result):
        of = _named(names)(args, kwargs)
        weight = of.get("weight")
        if weight is not None:
            layers.count(name, weight, of.get("bias"))
        more = {"groups": of["groups"]} if "groups" in of else {}
        layers.add(kind, name, result, [layers.of(of["input"], layers.channels_last(of["input"]))],
                   layers.channels_last(result), **unless(True, affine=weight is not None), **more)

    return add


def _pool(kind: str) -> Callable:
    def add(layers, name, args, kwargs, result):
        dilated = "dilation " if kind == "max_pool" else ""
        of = _named(f"input kernel_size stride padding {dilated}ceil_mode")(args, kwargs)
        pool(layers, kind, kind, of["input"], result, of)

    return add


def _softmax(layers, name, args, kwargs, result):
    softmax(layers, "softmax", args[0], result, kwargs.get("dim", args[1] if len(args) > 1 else -1))


def _adaptive(layers, name, args, kwargs, result):
    adaptive(layers, "pool", args[0], result, "max" if "max" in name else "avg")


def _interpolate(layers, name, args, kwargs, result):
    of = _named("input size scale_factor mode")(args, kwargs)
    resized(layers, name, of["input"], result, of.get("mode", "nearest"))


def _embedding(layers, name, args, kwargs, result):
    of = _named("input weight")(args, kwargs)
    embedding(layers, name, of["input"], result, of["weight"])


FUNCTIONS: dict[str, Callable] = {
    "__getitem__": item, "embedding": _embedding, "cat": cat, "concat": cat, "concatenate": cat, "linear": _linear,
    "layer_norm": _layer_norm, "softmax": _softmax, "interpolate": _interpolate, "upsample": _interpolate,
    "batch_norm": _norm("batch_norm", "input running_mean running_var weight bias"),
    "group_norm": _norm("group_norm", "input groups weight bias"),
    **{f"conv{rank}d": _conv for rank in (1, 2, 3)}, **{f"conv_transpose{rank}d": _conv for rank in (1, 2, 3)},
    **{f"{under}max_pool{rank}d": _pool("max_pool") for rank in (1, 2, 3) for under in ("", "_")},
    **{f"avg_pool{rank}d": _pool("avg_pool") for rank in (1, 2, 3)},
    **{f"adaptive_{kind}_pool{rank}d": _adaptive for kind in ("avg", "max") for rank in (1, 2, 3)},
    **products.FUNCTIONS}
