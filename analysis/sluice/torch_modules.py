"""Turns modules of torch into layers. MODULES has a function for each class of modules. Such a function receives the
layers found so far, the name of the new layer, the module, and the arguments and the result of the module's call."""

from __future__ import annotations

from math import prod
from typing import Any, Callable

import torch
from torch import nn

#: modules and functions that become a layer without keys
PLAIN = {"ReLU": "relu", "ReLU6": "relu6", "LeakyReLU": "leaky_relu", "Sigmoid": "sigmoid", "Tanh": "tanh",
         "SiLU": "silu", "GELU": "gelu", "Hardsigmoid": "hardsigmoid", "Hardswish": "hardswish"}
# FLOP per element of the elementwise functions that are not in PLAIN, and what their backward passes read. The same
# numbers are used for models in ONNX files.
EACH = {"ELU": (4, "output"), "CELU": (5, "output"), "SELU": (5, "output"), "Softplus": (3, "inputs"),
        "Softsign": (3, "inputs"), "Mish": (5, "inputs"), "LogSigmoid": (5, "inputs"), "PReLU": (2, "inputs"),
        "Hardtanh": (2, "inputs"), "Threshold": (1, "inputs"), "LogSoftmax": (6, "output")}


def one_if_equal(value: Any) -> Any:
    """Returns the value in the form that models use: 7 instead of [7, 7]. Profiles compare configurations as texts, so
    the form matters."""
    if not isinstance(value, (tuple, list)):
        return value
    numbers = [int(one) for one in value]
    return numbers[0] if len(set(numbers)) == 1 else numbers


def padding_of(value: Any) -> dict[str, Any]:
    """Returns the padding as keys of a layer's document. The default padding is left out."""
    if isinstance(value, str):
        return {} if value == "valid" else {"padding": value}
    number = one_if_equal(value)
    if isinstance(number, list):
        number = [*number, *number]  # the padding before an axis equals the padding after it
    return {} if number == 0 else {"padding": number}


def unless(default: Any, **keys: Any) -> dict[str, Any]:
    """Returns the keys whose values differ from the default."""
    return {key: value for key, value in keys.items() if value != default}


# --- products --------------------------------------------------------------------------------------


def conv(layers, name, source, result, of):
    """Adds a convolution. `of` has weight, bias, stride, padding, dilation and groups, and output_padding if the
    convolution is transposed."""
    layers.count(name, of["weight"], of.get("bias"))
    weight, transposed = of["weight"], "output_padding" in of
    rank, groups = weight.dim() - 2, of.get("groups", 1)
    kind = f"conv_transpose{rank}d" if transposed else f"conv{rank}d"
    keys = {"channels": int(weight.shape[1] * groups if transposed else weight.shape[0]),
            "kernel": one_if_equal(list(weight.shape[2:])),
            **unless(1, stride=one_if_equal(of.get("stride", 1)),
                     dilation=one_if_equal(of.get("dilation", 1)), groups=groups),
            **unless(True, bias=of.get("bias") is not None), **padding_of(of.get("padding", 0))}
    if transposed:
        keys.update(unless(0, output_padding=one_if_equal(of["output_padding"])))
    layers.add(kind, name, result, [layers.of(source, layers.channels_last(source))],
               layers.channels_last(result), **keys)


def _conv_module(layers, name, module, args, result):
    if module.padding_mode != "zeros":
        layers.unknown(f"{type(module).__name__} with padding_mode {module.padding_mode}")
    of = {key: getattr(module, key) for key in ("weight", "bias", "stride", "padding", "dilation", "groups")}
    if module.transposed:
        of["output_padding"] = module.output_padding
    conv(layers, name, args[0], result, of)


def linear(layers, name, source, result, weight, bias, holder=None):
    """Adds the layer of a product with weights. The bundled models have three types for this. `dense` is for one
    vector, `matmul` is for rows of vectors, and `conv2d` with a kernel of one pixel is for images. The first extent of
    `weight` is the number of features. If `weight` is made from a parameter, `holder` is this parameter."""
    tied = layers.holder(weight if holder is None else holder)
    place = layers.rows(source)
    before, extents = layers.of(source, place), layers.extents(source, place)
    features, with_bias = int(weight.shape[0]), bias is not None
    if tied and layers.has_bias(tied) and not with_bias:  # a tied layer would also share the bias of the first layer
        layers.operator(name, result, [source], place, macs=extents[-1])
        return
    if len(extents) == 3 and not tied:
        made = layers.add("conv2d", name, result, [before], place, channels=features, kernel=1,
                          **unless(True, bias=with_bias))
    elif len(extents) == 1 and not tied:
        made = layers.add("dense", name, result, [before], place, features=features,
                          **unless(True, bias=with_bias))
    else:
        keys = {"features": features, **unless(False, bias=with_bias), **({"tied": tied} if tied else {})}
        rows = [prod(extents[:-1]), extents[-1]]
        if extents != rows:
            before = layers.between("reshape", f"{name}_rows", rows, [before], shape=rows)
        made = layers.between("matmul", name, [rows[0], features], [before], **keys)
        if extents == rows:
            layers.is_layer(result, made, place)
        else:
            layers.add("reshape", f"{name}_back", result, [made], place,
                       shape=layers.extents(result, place) or [1])
    layers.count(made, weight if holder is None else holder, bias)


def _linear_module(layers, name, module, args, result):
    linear(layers, name, args[0], result, module.weight, module.bias)


def _embedding(layers, name, module, args, result):
    embedding(layers, name, args[0], result, module.weight)


def embedding(layers, name, tokens, result, weight):
    """Adds an embedding, which reads rows of a table."""
    tied = layers.holder(weight)
    before, extents = layers.of(tokens), layers.extents(tokens)
    keys = {"entries": int(weight.shape[0]), "features": int(weight.shape[1]), **({"tied": tied} if tied else {})}
    place = type(layers.place(tokens))(layers.place(tokens).batch, (*layers.place(tokens).order, tokens.dim()))
    if len(extents) == 1:
        made = layers.add("embedding", name, result, [before], place, **keys)
    else:
        count = prod(extents)
        row = layers.between("reshape", f"{name}_tokens", [count], [before], shape=[count])
        made = layers.between("embedding", name, [count, keys["features"]], [row], **keys)
        layers.add("reshape", f"{name}_back", result, [made], place, shape=layers.extents(result, place))
    layers.count(made, weight)


def _attention(layers, name, module, args, result):
    """Adds the layers of an attention, as in the bundled models: three products for query, key and value, the
    attention, and a product."""
    if module.bias_k is not None or not module._qkv_same_embed_dim:
        layers.unknown("MultiheadAttention with different widths of queries, keys and values, or with bias_k")
    layers.count(name, module.in_proj_weight, module.in_proj_bias, module.out_proj.weight,
                 module.out_proj.bias)
    keys = {"features": module.embed_dim, **unless(False, bias=module.in_proj_bias is not None)}
    output, parts = result[0], []
    batch = 0 if module.batch_first else 1
    for part, source in zip(("query", "key", "value"), args):
        if source.dim() != 3 or source.shape[batch] != layers.batch:
            layers.unknown("MultiheadAttention of tensors that are not [samples, tokens, features]; if the "
                           "samples come first, set batch_first=True")
        rows = type(layers.place(source))(batch, (1 - batch, 2))
        parts.append(layers.between("matmul", f"{name}_{part}", [source.shape[1 - batch], module.embed_dim],
                                    [layers.of(source, rows)], **keys))
    shape = [output.shape[1 - batch], module.embed_dim]
    heads = layers.between("attention", name, shape, parts, heads=module.num_heads)
    layers.add("matmul", f"{name}_output", output, [heads], rows, **keys)
    if len(result) > 1 and isinstance(result[1], torch.Tensor):  # the attention weights are a layer only if
                                                                 # another layer reads them
        layers.later(result[1], lambda: layers.operator(f"{name}_shares", result[1], args[:1],
                                                        layers.natural(result[1])))


def _recurrent(layers, name, module, args, result):
    source, output, state = args[0], result[0], result[1]
    batch = 0 if module.batch_first else 1
    if source.dim() != 3 or source.shape[batch] != layers.batch or getattr(module, "proj_size", 0):
        layers.unknown(f"{type(module).__name__} with projections, or of a tensor that is not [samples, steps, "
                       "features]; if the samples come first, set batch_first=True")
    layers.count(name, *module.parameters())
    place = type(layers.place(source))(batch, (1 - batch, 2))
    made = layers.add(type(module).__name__.lower(), name, output, [layers.of(source, place)], place,
                      hidden=module.hidden_size, **unless(1, layers=module.num_layers),
                      **unless(False, bidirectional=module.bidirectional), **unless(True, bias=module.bias))
    for one in state if isinstance(state, tuple) else (state,):  # a state after the last step, with the
                                                                 # axes [layers, samples, hidden]
        at = type(place)(1, (0, 2))
        layers.later(one, lambda one=one: layers.add(
            "operator", f"{name}_state", one, [made], at, shape=layers.extents(one, at)))


# --- norms, poolings, and other layers -------------------------------------------------------------


def _norm(kind: str, **keys: str) -> Callable:
    """Returns a function that adds a normalisation over the channels (axis 1). `keys` maps keys of the layer to
    attributes of the module."""
    def add(layers, name, module, args, result):
        affine = module.weight is not None
        if affine:
            layers.count(name, module.weight, module.bias)
        more = {key: getattr(module, attribute) for key, attribute in keys.items()}
        layers.add(kind, name, result, [layers.of(args[0], layers.channels_last(args[0]))],
                   layers.channels_last(result), **unless(True, affine=affine), **more)

    return add


def layer_norm(layers, name, source, result, weight, bias, axes):
    """Adds a normalisation over the last axes of a tensor."""
    if weight is not None:
        layers.count(name, weight, bias)
    place = layers.rows(source)
    if axes == 1 and (weight is None) == (bias is None):
        layers.add("layer_norm", name, result, [layers.of(source, place)], place,
                   **unless(True, affine=weight is not None))
    else:
        learned = sum(one.numel() for one in (weight, bias) if one is not None)
        layers.add("operator", name, result, [layers.of(source, place)], place, flop=7 if learned else 5,
                   parameters=learned, shape=layers.extents(result, place))


def _layer_norm_module(layers, name, module, args, result):
    layer_norm(layers, name, args[0], result, module.weight, module.bias, len(module.normalized_shape))


def _rms_norm(layers, name, module, args, result):
    [weight] = module.parameters()
    layers.count(name, weight)
    place = layers.rows(args[0])
    layers.add("rms_norm", name, result, [layers.of(args[0], place)], place)


def pool(layers, kind, name, source, result, of):
    """Adds a pooling. `of` has kernel_size, stride, padding, dilation and ceil_mode."""
    kernel = one_if_equal(of["kernel_size"])
    stride = one_if_equal(of.get("stride") or of["kernel_size"])
    layers.add(kind, name, result, [layers.of(source, layers.channels_last(source))],
               layers.channels_last(result), kernel=kernel, **unless(kernel, stride=stride),
               **padding_of(of.get("padding") or 0), **unless(1, dilation=one_if_equal(of.get("dilation", 1))),
               **unless(False, ceil=bool(of.get("ceil_mode"))))


def _pool_module(kind: str) -> Callable:
    def add(layers, name, module, args, result):
        keys = ("kernel_size", "stride", "padding", "dilation", "ceil_mode")
        pool(layers, kind, name, args[0], result,
             {key: getattr(module, key) for key in keys if hasattr(module, key)})

    return add


def adaptive(layers, name, source, result, kind="avg"):
    """Adds a pooling with an output of a given size."""
    size = list(result.shape[2:])
    before = [layers.of(source, layers.channels_last(source))]
    if kind == "max":
        layers.operator(name, result, [source], layers.channels_last(result),
                        input_flop=1, keeps="inputs")
    elif all(one == 1 for one in size):
        layers.add("global_avg_pool", name, result, before, layers.channels_last(result))
    else:
        layers.add("adaptive_avg_pool", name, result, before, layers.channels_last(result),
                   output=one_if_equal(size))


def _dropout(layers, name, module, args, result):
    if module.p == 0:  # a layer that nothing reads would be left out of the model
        layers.alias(result, args[0])
    else:
        layers.add("dropout", name, result, [layers.of(args[0])], layers.place(args[0]), rate=float(module.p))


def _identity(layers, name, module, args, result):
    layers.alias(result, args[0])


def softmax(layers, name, source, result, axis):
    """Adds a softmax over any axis, which becomes the last axis of the layer's shape."""
    own, axis = layers.place(source), axis % source.dim()
    place = own if own.order[-1:] == (axis,) else type(own)(
        own.batch, (*(one for one in own.order if one != axis), axis))
    layers.add("softmax", name, result, [layers.of(source, place)], place)


def _softmax_module(layers, name, module, args, result):
    softmax(layers, name, args[0], result, module.dim if module.dim is not None else -1)


def _flatten(layers, name, module, args, result):
    from .torch_parts import reshape

    reshape(layers, name, args[0], result)


def _each(layers, name, module, args, result):
    flop, keeps = EACH[type(module).__name__]
    layers.operator(name, result, [args[0], *module.parameters()], flop=flop, keeps=keeps)


def _plain(layers, name, module, args, result):
    layers.add(PLAIN[type(module).__name__], name, result, [layers.of(args[0])], layers.place(args[0]))


def _lrn(layers, name, module, args, result):
    layers.add("lrn", name, result, [layers.of(args[0], layers.channels_last(args[0]))],
               layers.channels_last(result), **unless(5, size=module.size))


def resized(layers, name, source, result, mode):
    """Adds a layer that changes the size of an image. The mode `nearest` only moves elements. An interpolation between
    two elements takes 3 FLOP. Each element of the output takes 1 interpolation in the mode `linear`, 3 in `bilinear`
    and 7 in `trilinear`."""
    flop = {"linear": 3, "bilinear": 9, "trilinear": 21, "bicubic": 31}.get(str(mode), 0)
    more = {"flop": flop} if flop else {}
    layers.operator(name, result, [source], layers.channels_last(result), keeps="nothing", **more)


def _upsample(layers, name, module, args, result):
    resized(layers, name, args[0], result, module.mode)


def _moved(layers, name, module, args, result):
    layers.operator(name, result, [args[0]], layers.like(result, args[0]), keeps="nothing")


def kind_of(module: nn.Module) -> str:
    """Returns the key of MODULES for a module. If there is none, returns "". Many libraries have an RMSNorm of their
    own. It is recognised by its class name and by its only parameter, a vector of scales."""
    kind = type(module).__name__
    if kind.lower().endswith("rmsnorm"):
        parameters = list(module.parameters())
        return "RMSNorm" if len(parameters) == 1 and parameters[0].dim() == 1 else ""
    return kind if kind in MODULES else ""


MODULES: dict[str, Callable] = {
    **{name: _plain for name in PLAIN}, **{name: _each for name in EACH},
    **{f"{kind}{rank}d": _conv_module for kind in ("Conv", "ConvTranspose") for rank in (1, 2, 3)},
    **{f"BatchNorm{rank}d": _norm("batch_norm") for rank in (1, 2, 3)},
    "SyncBatchNorm": _norm("batch_norm"),
    **{f"MaxPool{rank}d": _pool_module("max_pool") for rank in (1, 2, 3)},
    **{f"AvgPool{rank}d": _pool_module("avg_pool") for rank in (1, 2, 3)},
    **{f"AdaptiveAvgPool{rank}d": lambda layers, name, module, args, result: adaptive(
        layers, name, args[0], result) for rank in (1, 2, 3)},
    **{f"AdaptiveMaxPool{rank}d": lambda layers, name, module, args, result: adaptive(
        layers, name, args[0], result, "max") for rank in (1, 2, 3)},
    **{name: _dropout for name in ("Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout")},
    **{name: _upsample for name in ("Upsample", "UpsamplingNearest2d", "UpsamplingBilinear2d")},
    **{name: _moved for name in ("ZeroPad2d", "ConstantPad1d", "ConstantPad2d", "ReflectionPad1d",
                                 "ReflectionPad2d", "ReplicationPad2d", "PixelShuffle", "PixelUnshuffle")},
    **{name: _recurrent for name in ("RNN", "GRU", "LSTM")},
    "Linear": _linear_module, "NonDynamicallyQuantizableLinear": _linear_module,
    "LayerNorm": _layer_norm_module, "RMSNorm": _rms_norm,
    "GroupNorm": _norm("group_norm", groups="num_groups"), "Embedding": _embedding,
    "Identity": _identity, "Flatten": _flatten, "Unflatten": _flatten,
    "Softmax": _softmax_module, "MultiheadAttention": _attention, "LocalResponseNorm": _lrn}
