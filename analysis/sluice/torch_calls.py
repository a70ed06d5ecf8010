"""The calls of torch that are layers: modules, and functions between them. Each has its name, what
it was called with, and its result; it adds to `layers` what it is."""

from __future__ import annotations

from typing import Any, Callable

import torch
from torch import nn


PLAIN = {  # modules and functions that are a layer without keys
    "ReLU": "relu", "ReLU6": "relu6", "LeakyReLU": "leaky_relu", "Sigmoid": "sigmoid", "Tanh": "tanh",
    "SiLU": "silu", "GELU": "gelu", "Hardsigmoid": "hardsigmoid", "Hardswish": "hardswish",
    "relu": "relu", "relu_": "relu", "relu6": "relu6", "leaky_relu": "leaky_relu",
    "sigmoid": "sigmoid", "tanh": "tanh", "silu": "silu", "gelu": "gelu",
    "hardsigmoid": "hardsigmoid", "hardswish": "hardswish"}
SAME = {"contiguous", "clone", "detach", "to", "float", "half", "type_as", "requires_grad_",
        "dropout", "masked_fill", "masked_fill_"}
RESHAPED = {"view", "reshape", "permute", "transpose", "unsqueeze", "squeeze", "expand", "t",
            "movedim", "unflatten", "swapaxes"}
SUMS = {"add", "add_", "__add__", "__radd__", "__iadd__", "sub", "sub_", "__sub__", "__isub__"}
PRODUCTS = {"mul", "mul_", "__mul__", "__rmul__", "__imul__", "div", "div_", "__truediv__",
            "__itruediv__"}


def _pair(value: Any) -> list[int]:
    return [int(v) for v in value] if isinstance(value, (tuple, list)) else [int(value)] * 2


def _like(tensor: torch.Tensor, shape) -> torch.Tensor:
    """A tensor of that shape that takes no memory."""
    return tensor.new_empty(1).expand(tuple(shape))


def _several(axes: Any) -> list[int]:
    return list(axes) if isinstance(axes, (tuple, list)) else [axes] if axes is not None else []


# --- modules -------------------------------------------------------------------------------------


def _conv(layers, name, weight, bias, source, result, stride, padding, dilation, groups):
    layers.count(name, weight, bias)
    keys = {"channels": weight.shape[0], "kernel": list(weight.shape[2:]),
            "stride": _pair(stride), "dilation": _pair(dilation), "groups": groups,
            "bias": bias is not None,
            "padding": padding if isinstance(padding, str) else _pair(padding)}
    layers.add("conv2d", name, result, [layers.of[id(source)]], **keys)


def _conv2d(layers, name, module, args, result):
    _conv(layers, name, module.weight, module.bias, args[0], result, module.stride, module.padding,
          module.dilation, module.groups)


def _linear(layers, name, weight, bias, source, result):
    tied = layers.count(name, weight, bias)
    keys = {"features": weight.shape[0], "bias": bias is not None}
    if tied:
        keys["tied"] = tied
    kind = "dense" if source.dim() == 2 and not tied else "matmul"
    layers.add(kind, name, result, [layers.of[id(source)]], **keys)


def _linear_module(layers, name, module, args, result):
    _linear(layers, name, module.weight, module.bias, args[0], result)


def _embedding(layers, name, module, args, result):
    layers.count(name, module.weight)
    layers.add("embedding", name, result, [layers.of[id(args[0])]],
               entries=module.num_embeddings, features=module.embedding_dim)


def _pool(layers, kind, name, source, result, kernel, stride, padding, ceil):
    layers.add(kind, name, result, [layers.of[id(source)]], kernel=_pair(kernel),
               stride=_pair(stride if stride is not None else kernel), padding=_pair(padding),
               ceil=bool(ceil))


def _adaptive(layers, name, source, result):
    size = list(result.shape[2:])
    if size == [1, 1]:
        layers.add("global_avg_pool", name, result, [layers.of[id(source)]])
    else:
        layers.add("adaptive_avg_pool", name, result, [layers.of[id(source)]], output=size)


def _adaptive_module(layers, name, module, args, result):
    _adaptive(layers, name, args[0], result)


def _dropout(layers, name, module, args, result):
    if module.p == 0:  # a model has no such layer
        layers.alias(result, args[0])
        return
    layers.add("dropout", name, result, [layers.of[id(args[0])]], rate=float(module.p))


def _identity(layers, name, module, args, result):
    layers.alias(result, args[0])


def _flatten_module(layers, name, module, args, result):
    _flat(layers, name, args[0], result)


def _flat(layers, name, source, result):
    layers.add("flatten" if result.dim() == 2 else "reshape", name, result,
               [layers.of[id(source)]],
               **({} if result.dim() == 2 else {"shape": layers.shape(result)}))


def _softmax_module(layers, name, module, args, result):
    _soft(layers, name, args[0], module.dim, result)


def _soft(layers, name, source, axis, result):
    if axis not in (-1, source.dim() - 1):
        layers.unknown("softmax over another axis than the last")
    layers.as_of(source, result)
    layers.add("softmax", name, result, [layers.of[id(source)]])


def _attention(layers, name, module, args, result):
    """Query, key and value are products, then attention, then a product: as the zoo has it."""
    if not module.batch_first or module.bias_k is not None or not module._qkv_same_embed_dim:
        layers.unknown("MultiheadAttention that is not batch_first, or with other widths or bias_k")
    layers.count(name, module.in_proj_weight, module.in_proj_bias, module.out_proj.weight,
                 module.out_proj.bias)
    bias = module.in_proj_bias is not None
    width, output = module.embed_dim, result[0]
    parts = []
    for part, source in zip(("query", "key", "value"), args):
        rows = _like(source, source.shape[:-1] + (width,))
        parts.append(layers.add("matmul", f"{name}_{part}", rows, [layers.of[id(source)]],
                                features=width, bias=bias))
    heads = layers.add("attention", name, _like(output, output.shape), parts,
                       heads=module.num_heads)
    layers.add("matmul", f"{name}_output", output, [heads], features=width, bias=bias)

# --- functions -----------------------------------------------------------------------------


def _joined(layers, name, args, kwargs, result):
    kind = "add" if name in SUMS else "mul"
    tensors = [a for a in args if isinstance(a, torch.Tensor)]
    known = [layers.of[id(t)] for t in tensors if id(t) in layers.of]
    layers.as_of(tensors[0], result)
    if len(known) == len(tensors):
        layers.add(kind, name.strip("_"), result, known)
        return
    constant = next(t for t in tensors if id(t) not in layers.of)
    entries = layers.learned(constant)
    if entries is None:  # a number, or a mask that is computed
        layers.alias(result, next(t for t in tensors if id(t) in layers.of))
    elif kind == "add":
        learned = layers.add("add_embedding", "positions", result, known, entries=entries)
        layers.rename(constant, learned)
    else:
        layers.unknown("mul by a parameter")


def _cat(layers, name, args, kwargs, result):
    tensors = list(args[0])
    if len(tensors) == 1:
        layers.alias(result, tensors[0])
        return
    axis = kwargs.get("dim", args[1] if len(args) > 1 else 0)
    known = [t for t in tensors if id(t) in layers.of]
    if len(known) == len(tensors):
        layers.add("concat", name, result, [layers.of[id(t)] for t in tensors],
                   axis=layers.axis(axis, result))
    elif len(tensors) == 2 and result.dim() == 3 and axis == 1 and \
            tensors[0].shape[1] == 1 and layers.learned(tensors[0]) is not None:
        layers.add("class_token", "class_token", result, [layers.of[id(tensors[1])]])
    else:
        layers.unknown("cat of something that no input reaches")


def _mean(layers, name, args, kwargs, result):
    axes = kwargs.get("dim", args[1] if len(args) > 1 else None)
    rank = args[0].dim()
    if rank != 4 or sorted(a % rank for a in _several(axes)) != [2, 3]:
        layers.unknown("mean over other axes than height and width")
    pooled = layers.add("global_avg_pool", name, _like(result, (*args[0].shape[:2], 1, 1)),
                        [layers.of[id(args[0])]])
    if result.dim() == 2:
        layers.add("flatten", "flatten", result, [pooled])
    else:
        layers.of[id(result)] = pooled
        layers.alive.append(result)


def _item(layers, name, args, kwargs, result):
    index = args[1]
    if isinstance(index, tuple) and len(index) == 2 and index[0] == slice(None) and \
            isinstance(index[1], int):
        layers.add("take_row", "row", result, [layers.of[id(args[0])]],
                   row=index[1] % args[0].shape[1])
    elif layers.shape(args[0]) == layers.shape(result):
        layers.alias(result, args[0])
    else:
        layers.unknown("indexing other than [:, row]")


def _product(layers, name, args, kwargs, result):
    """Of two activations; of one with a parameter, it is a linear layer without a bias."""
    a, b = args[0], args[1]
    if id(a) in layers.of and id(b) in layers.of and a.dim() == b.dim() and a.dim() in (3, 4):
        for one in (a, b, result):
            if one.dim() == 4 and one is not result and id(one) not in layers.plain:
                layers.unknown(name + " of images")
        if result.dim() == 4:
            layers.plain.add(id(result))
        layers.add("batched_matmul", name, result, [layers.of[id(a)], layers.of[id(b)]])
    elif id(a) in layers.of and isinstance(b, nn.Parameter) and b.dim() == 2:
        tied = layers.count(name, b)
        keys = {"tied": tied} if tied else {}
        layers.add("matmul" if a.dim() > 2 else "dense", name, result, [layers.of[id(a)]],
                   features=b.shape[1], bias=False, **keys)
    else:
        layers.unknown(name + " of these")


def _parts(layers, name, args, kwargs, results):
    """split and chunk: each part is a layer."""
    axis = kwargs.get("dim", args[2] if len(args) > 2 else 0)
    begin = 0
    for result in results:
        layers.as_of(args[0], result)
        end = begin + result.shape[axis]
        layers.add("slice", f"{name}_part", result, [layers.of[id(args[0])]],
                   axis=layers.axis(axis, args[0]), begin=begin, end=end)
        begin = end


def _flatten_function(layers, name, args, kwargs, result):
    _flat(layers, "flatten", args[0], result)


def _softmax_function(layers, name, args, kwargs, result):
    _soft(layers, "softmax", args[0], kwargs.get("dim", args[1] if len(args) > 1 else None), result)


def _adaptive_function(layers, name, args, kwargs, result):
    _adaptive(layers, "pool", args[0], result)


def _max_pool_function(layers, name, args, kwargs, result):
    _pool_function(layers, "max_pool", args, kwargs, result)


def _avg_pool_function(layers, name, args, kwargs, result):
    _pool_function(layers, "avg_pool", args, kwargs, result)


def _pool_function(layers, kind, args, kwargs, result):
    names = ["input", "kernel_size", "stride", "padding"]
    names += ["dilation", "ceil_mode"] if kind == "max_pool" else ["ceil_mode"]
    given = {**dict(zip(names, args)), **kwargs}
    _pool(layers, kind, kind, given["input"], result, given["kernel_size"],
          given.get("stride") or None, given.get("padding", 0), given.get("ceil_mode"))


def _linear_function(layers, name, args, kwargs, result):
    given = {**dict(zip(["input", "weight", "bias"], args)), **kwargs}
    _linear(layers, "linear", given["weight"], given.get("bias"), given["input"], result)


def _conv_function(layers, name, args, kwargs, result):
    names = ["input", "weight", "bias", "stride", "padding", "dilation", "groups"]
    given = {"bias": None, "stride": 1, "padding": 0, "dilation": 1, "groups": 1,
             **dict(zip(names, args)), **kwargs}
    _conv(layers, "conv2d", given["weight"], given["bias"], given["input"], result,
          given["stride"], given["padding"], given["dilation"], given["groups"])


def _norm(kind: str, **keys: str) -> Callable:
    """`keys`: of the layer, and the module's attributes that they come from."""
    def add(layers, name, module, args, result):
        affine = module.weight is not None
        if affine:
            layers.count(name, module.weight, module.bias)
        more = {key: getattr(module, attribute) for key, attribute in keys.items()}
        layers.add(kind, name, result, [layers.of[id(args[0])]], affine=affine, **more)

    return add


def _pool_module(kind: str) -> Callable:
    def add(layers, name, module, args, result):
        if getattr(module, "dilation", 1) not in (1, (1, 1)):
            layers.unknown(type(module).__name__ + " with a dilation")
        _pool(layers, kind, name, args[0], result, module.kernel_size, module.stride, module.padding,
              module.ceil_mode)

    return add


MODULES: dict[str, Callable] = {
    "Conv2d": _conv2d, "Linear": _linear_module,
    "NonDynamicallyQuantizableLinear": _linear_module,
    "BatchNorm1d": _norm("batch_norm"), "BatchNorm2d": _norm("batch_norm"),
    "LayerNorm": _norm("layer_norm"),
    "GroupNorm": _norm("group_norm", groups="num_groups"),
    "Embedding": _embedding, "MaxPool2d": _pool_module("max_pool"),
    "AvgPool2d": _pool_module("avg_pool"), "AdaptiveAvgPool2d": _adaptive_module,
    "Dropout": _dropout, "Dropout2d": _dropout, "Identity": _identity,
    "Flatten": _flatten_module, "Softmax": _softmax_module,
    "MultiheadAttention": _attention}
FUNCTIONS: dict[str, Callable] = {
    **{name: _joined for name in SUMS | PRODUCTS},
    "cat": _cat, "concat": _cat, "mean": _mean, "__getitem__": _item,
    "flatten": _flatten_function, "softmax": _softmax_function,
    "adaptive_avg_pool2d": _adaptive_function, "max_pool2d": _max_pool_function,
    "_max_pool2d": _max_pool_function, "avg_pool2d": _avg_pool_function,
    "linear": _linear_function, "conv2d": _conv_function,
    "matmul": _product, "__matmul__": _product, "bmm": _product}
SEVERAL: dict[str, Callable] = {name: _parts for name in ("split", "chunk")}
