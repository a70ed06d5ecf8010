"""What calls of torch become as layers of a model."""

from __future__ import annotations

from typing import Any, Callable, Optional

import torch
from torch import nn

from . import errors

_PLAIN = {  # modules and functions that are a layer without keys
    "ReLU": "relu", "ReLU6": "relu6", "LeakyReLU": "leaky_relu", "Sigmoid": "sigmoid", "Tanh": "tanh",
    "SiLU": "silu", "GELU": "gelu", "Hardsigmoid": "hardsigmoid", "Hardswish": "hardswish",
    "relu": "relu", "relu_": "relu", "relu6": "relu6", "leaky_relu": "leaky_relu",
    "sigmoid": "sigmoid", "tanh": "tanh", "silu": "silu", "gelu": "gelu",
    "hardsigmoid": "hardsigmoid", "hardswish": "hardswish"}
_SAME = {"contiguous", "clone", "detach", "to", "float", "half", "type_as", "requires_grad_"}
_RESHAPED = {"view", "reshape", "permute", "transpose", "unsqueeze", "squeeze", "expand", "t",
             "movedim", "unflatten", "swapaxes"}
_SUMS = {"add", "add_", "__add__", "__radd__", "__iadd__"}
_PRODUCTS = {"mul", "mul_", "__mul__", "__rmul__", "__imul__"}


def _pair(value: Any) -> list[int]:
    return [int(v) for v in value] if isinstance(value, (tuple, list)) else [int(value)] * 2


class Layers:
    """Collects the layers of one run, in the order of the calls."""

    def __init__(self, module: nn.Module) -> None:
        self._names = {id(one): name for name, one in module.named_modules()}
        self._made: list[tuple[dict, list[int]]] = []
        self._of: dict[int, str] = {}  # layer by tensor
        self._rows: dict[int, tuple] = {}  # learned rows by tensor: (entries, parameters)
        self._alive: list[Any] = []  # a tensor that is gone could lend its id to another
        self._taken: set[str] = set()
        self.counted: set[int] = set()  # ids of parameters
        for parameter in module.parameters():
            self._rows[id(parameter)] = ((parameter.shape[-2] if parameter.dim() > 1 else 1),
                                         [parameter])

    def documents(self) -> list[dict]:
        """The `layers` of a sluice-model/1 document."""
        return [document for document, _ in self._made]

    def shapes(self) -> list[list[int]]:
        """What torch computed, layer by layer."""
        return [shape for _, shape in self._made]

    # --- what is called ------------------------------------------------------------------------

    def input(self, tensor: torch.Tensor) -> None:
        """An input of the whole module."""
        self._add("input", "input", tensor, [], shape=_shape(tensor))

    def knows(self, module: nn.Module) -> bool:
        """Is it one layer?"""
        return type(module).__name__ in _PLAIN or type(module).__name__ in _MODULES

    def module(self, module: nn.Module, args: tuple, result: Any) -> None:
        """A module that is one layer was called."""
        kind = type(module).__name__
        name = self._names.get(id(module), kind.lower()).replace(".", "_")
        known = self._of.get(id(args[0]))
        if known is None:
            self._constant(module, args, result)
        elif kind in _PLAIN:
            self._add(_PLAIN[kind], name, result, [known])
        else:
            _MODULES[kind](self, name, module, args, result)

    def function(self, function: Callable, args: tuple, kwargs: dict, result: Any) -> None:
        """A function was called outside of any such module."""
        name = getattr(function, "__name__", str(function))
        if not isinstance(result, torch.Tensor):
            if isinstance(result, (tuple, list)) and any(id(a) in self._of for a in args):
                if any(isinstance(one, torch.Tensor) for one in result):
                    self._unknown(name)
            return
        tensors = list(_tensors((args, list(kwargs.values()))))
        if not any(id(tensor) in self._of for tensor in tensors):
            self._constant_of(tensors, result)
        elif name in _SAME or name == "dropout" or (name in _SUMS | _PRODUCTS
                                                    and len(tensors) == 1):
            self._alias(result, next(t for t in tensors if id(t) in self._of))
        elif name in _PLAIN:
            self._add(_PLAIN[name], name, result, [self._of[id(tensors[0])]])
        elif name in _RESHAPED:
            self._reshape(name, tensors[0], result)
        elif name in _FUNCTIONS:
            _FUNCTIONS[name](self, name, args, kwargs, result)
        else:
            self._unknown(name)

    # --- helpers -------------------------------------------------------------------------------

    def _unknown(self, name: str) -> None:
        raise errors.InputError(f"from_torch knows no layer for torch's '{name}'; it knows the modules "
                                f"{', '.join(sorted({*_MODULES, *(k for k in _PLAIN if k[0].isupper())}))}"
                                f" and the functions {', '.join(sorted({*_FUNCTIONS, *_RESHAPED}))}")

    def _add(self, kind: str, name: str, result: torch.Tensor, inputs: list[str], **keys: Any) -> str:
        document = {"type": kind, "name": self._unique(name), **keys}
        if inputs:
            document["inputs"] = inputs
        self._made.append((document, _shape(result)))
        self._of[id(result)] = document["name"]
        self._alive.append(result)
        return document["name"]

    def _unique(self, name: str) -> str:
        number, unique = 1, name or "layer"
        while unique in self._taken:
            number += 1
            unique = f"{name}_{number}"
        self._taken.add(unique)
        return unique

    def _alias(self, result: torch.Tensor, tensor: torch.Tensor) -> None:
        self._of[id(result)] = self._of[id(tensor)]
        self._alive.append(result)

    def _reshape(self, name: str, tensor: torch.Tensor, result: torch.Tensor) -> None:
        if tensor.numel() != result.numel():
            self._unknown(name + " to more elements")
        if _shape(tensor) == _shape(result):
            self._alias(result, tensor)
        else:
            self._add("reshape", name, result, [self._of[id(tensor)]], shape=_shape(result))

    def _constant(self, module: nn.Module, args: tuple, result: Any) -> None:
        """A module of something that no input reaches: learned rows of an embedding."""
        if isinstance(module, nn.Embedding):
            self._rows[id(result)] = (module.num_embeddings, [module.weight])
            self._alive.append(result)
        else:
            self._unknown(type(module).__name__ + " of a constant")

    def _constant_of(self, tensors: list, result: torch.Tensor) -> None:
        """What is made of learned rows alone are those rows still."""
        known = [self._rows[id(tensor)] for tensor in tensors if id(tensor) in self._rows]
        if known:
            self._rows[id(result)] = known[0]
        self._alive.append(result)

    def _learned(self, tensor: Any) -> Optional[int]:
        """Entries of the learned rows that a tensor is, which are then counted."""
        if id(tensor) not in self._rows:
            return None
        entries, parameters = self._rows[id(tensor)]
        self._count(*parameters)
        return entries

    def _count(self, *parameters: Any) -> bool:
        """Marks parameters as counted. True: the first one was already."""
        tied = id(parameters[0]) in self.counted
        self.counted.update(id(p) for p in parameters if p is not None)
        return tied

    # --- modules -------------------------------------------------------------------------------

    def _conv(self, name, weight, bias, source, result, stride, padding, dilation, groups):
        self._count(weight, bias)
        keys = {"channels": weight.shape[0], "kernel": list(weight.shape[2:]),
                "stride": _pair(stride), "dilation": _pair(dilation), "groups": groups,
                "bias": bias is not None,
                "padding": padding if isinstance(padding, str) else _pair(padding)}
        self._add("conv2d", name, result, [self._of[id(source)]], **keys)

    def _conv2d(self, name, module, args, result):
        self._conv(name, module.weight, module.bias, args[0], result, module.stride, module.padding,
                   module.dilation, module.groups)

    def _linear(self, name, weight, bias, source, result):
        tied = self._count(weight, bias)
        keys = {"features": weight.shape[0], "bias": bias is not None}
        if tied and bias is not None:
            raise errors.InputError(f"'{name}' shares its weights, and has a bias of its own")
        if len(_shape(source)) == 1 and not tied:
            self._add("dense", name, result, [self._of[id(source)]], **keys)
        else:
            self._add("matmul", name, result, [self._of[id(source)]], tied=tied, **keys)

    def _linear_module(self, name, module, args, result):
        self._linear(name, module.weight, module.bias, args[0], result)

    def _embedding(self, name, module, args, result):
        self._count(module.weight)
        self._add("embedding", name, result, [self._of[id(args[0])]],
                  entries=module.num_embeddings, features=module.embedding_dim)

    def _pool(self, kind, name, source, result, kernel, stride, padding, ceil):
        self._add(kind, name, result, [self._of[id(source)]], kernel=_pair(kernel),
                  stride=_pair(stride if stride is not None else kernel), padding=_pair(padding),
                  ceil=bool(ceil))

    def _adaptive(self, name, source, result):
        size = list(result.shape[2:])
        if size == [1, 1]:
            self._add("global_avg_pool", name, result, [self._of[id(source)]])
        else:
            self._add("adaptive_avg_pool", name, result, [self._of[id(source)]], output=size)

    def _adaptive_module(self, name, module, args, result):
        self._adaptive(name, args[0], result)

    def _dropout(self, name, module, args, result):
        self._add("dropout", name, result, [self._of[id(args[0])]], rate=float(module.p))

    def _identity(self, name, module, args, result):
        self._alias(result, args[0])

    def _flatten_module(self, name, module, args, result):
        self._flat(name, args[0], result)

    def _flat(self, name, source, result):
        self._add("flatten" if result.dim() == 2 else "reshape", name, result,
                  [self._of[id(source)]],
                  **({} if result.dim() == 2 else {"shape": _shape(result)}))

    def _softmax_module(self, name, module, args, result):
        self._soft(name, args[0], module.dim, result)

    def _soft(self, name, source, axis, result):
        if axis not in (-1, source.dim() - 1):
            self._unknown("softmax over another axis than the last")
        self._add("softmax", name, result, [self._of[id(source)]])

    def _attention(self, name, module, args, result):
        """Query, key and value are products, then attention, then a product: as the zoo has it."""
        if not module.batch_first or module.bias_k is not None or not module._qkv_same_embed_dim:
            self._unknown("MultiheadAttention that is not batch_first, or with other widths or bias_k")
        self._count(module.in_proj_weight, module.in_proj_bias, module.out_proj.weight,
                    module.out_proj.bias)
        bias = module.in_proj_bias is not None
        width, output = module.embed_dim, result[0]
        parts = []
        for part, source in zip(("query", "key", "value"), args):
            rows = _like(source, source.shape[:-1] + (width,))
            parts.append(self._add("matmul", f"{name}_{part}", rows, [self._of[id(source)]],
                                   features=width, bias=bias))
        heads = self._add("attention", name, _like(output, output.shape), parts,
                          heads=module.num_heads)
        self._add("matmul", f"{name}_output", output, [heads], features=width, bias=bias)

    # --- functions -----------------------------------------------------------------------------

    def _joined(self, name, args, kwargs, result):
        kind = "add" if name in _SUMS else "mul"
        tensors = [a for a in args if isinstance(a, torch.Tensor)]
        known = [self._of[id(t)] for t in tensors if id(t) in self._of]
        if len(known) == len(tensors):
            self._add(kind, name.strip("_"), result, known)
            return
        constant = next(t for t in tensors if id(t) not in self._of)
        entries = self._learned(constant)
        if entries is None:  # a number, or a mask that is computed
            self._alias(result, next(t for t in tensors if id(t) in self._of))
        elif kind == "add":
            self._add("add_embedding", "positions", result, known, entries=entries)
        else:
            self._unknown("mul by a parameter")

    def _cat(self, name, args, kwargs, result):
        tensors = list(args[0])
        if len(tensors) == 1:
            self._alias(result, tensors[0])
            return
        axis = kwargs.get("dim", args[1] if len(args) > 1 else 0)
        known = [t for t in tensors if id(t) in self._of]
        if len(known) == len(tensors):
            self._add("concat", name, result, [self._of[id(t)] for t in tensors],
                      axis=_axis(axis, result))
        elif len(tensors) == 2 and result.dim() == 3 and axis == 1 and \
                tensors[0].shape[1] == 1 and self._learned(tensors[0]) is not None:
            self._add("class_token", "class_token", result, [self._of[id(tensors[1])]])
        else:
            self._unknown("cat of something that no input reaches")

    def _mean(self, name, args, kwargs, result):
        axes = kwargs.get("dim", args[1] if len(args) > 1 else None)
        rank = args[0].dim()
        if rank != 4 or sorted(a % rank for a in _several(axes)) != [2, 3]:
            self._unknown("mean over other axes than height and width")
        pooled = self._add("global_avg_pool", name, _like(result, (*args[0].shape[:2], 1, 1)),
                           [self._of[id(args[0])]])
        if result.dim() == 2:
            self._add("flatten", "flatten", result, [pooled])
        else:
            self._of[id(result)] = pooled
            self._alive.append(result)

    def _item(self, name, args, kwargs, result):
        index = args[1]
        if isinstance(index, tuple) and len(index) == 2 and index[0] == slice(None) and \
                isinstance(index[1], int):
            self._add("take_row", "row", result, [self._of[id(args[0])]],
                      row=index[1] % args[0].shape[1])
        elif _shape(args[0]) == _shape(result):
            self._alias(result, args[0])
        else:
            self._unknown("indexing other than [:, row]")

    def _flatten_function(self, name, args, kwargs, result):
        self._flat("flatten", args[0], result)

    def _softmax_function(self, name, args, kwargs, result):
        self._soft("softmax", args[0], kwargs.get("dim", args[1] if len(args) > 1 else None), result)

    def _adaptive_function(self, name, args, kwargs, result):
        self._adaptive("pool", args[0], result)

    def _max_pool_function(self, name, args, kwargs, result):
        self._pool_function("max_pool", args, kwargs, result)

    def _avg_pool_function(self, name, args, kwargs, result):
        self._pool_function("avg_pool", args, kwargs, result)

    def _pool_function(self, kind, args, kwargs, result):
        names = ["input", "kernel_size", "stride", "padding"]
        names += ["dilation", "ceil_mode"] if kind == "max_pool" else ["ceil_mode"]
        given = {**dict(zip(names, args)), **kwargs}
        self._pool(kind, kind, given["input"], result, given["kernel_size"],
                   given.get("stride") or None, given.get("padding", 0), given.get("ceil_mode"))

    def _linear_function(self, name, args, kwargs, result):
        given = {**dict(zip(["input", "weight", "bias"], args)), **kwargs}
        self._linear("linear", given["weight"], given.get("bias"), given["input"], result)

    def _conv_function(self, name, args, kwargs, result):
        names = ["input", "weight", "bias", "stride", "padding", "dilation", "groups"]
        given = {"bias": None, "stride": 1, "padding": 0, "dilation": 1, "groups": 1,
                 **dict(zip(names, args)), **kwargs}
        self._conv("conv2d", given["weight"], given["bias"], given["input"], result,
                   given["stride"], given["padding"], given["dilation"], given["groups"])


def _norm(kind: str, **keys: str) -> Callable:
    """`keys`: of the layer, and the module's attributes that they come from."""
    def add(self, name, module, args, result):
        affine = module.weight is not None
        if affine:
            self._count(module.weight, module.bias)
        more = {key: getattr(module, attribute) for key, attribute in keys.items()}
        self._add(kind, name, result, [self._of[id(args[0])]], affine=affine, **more)

    return add


def _pool_module(kind: str) -> Callable:
    def add(self, name, module, args, result):
        if getattr(module, "dilation", 1) not in (1, (1, 1)):
            self._unknown(type(module).__name__ + " with a dilation")
        self._pool(kind, name, args[0], result, module.kernel_size, module.stride, module.padding,
                   module.ceil_mode)

    return add


_MODULES: dict[str, Callable] = {
    "Conv2d": Layers._conv2d, "Linear": Layers._linear_module,
    "NonDynamicallyQuantizableLinear": Layers._linear_module,
    "BatchNorm1d": _norm("batch_norm"), "BatchNorm2d": _norm("batch_norm"),
    "LayerNorm": _norm("layer_norm"),
    "GroupNorm": _norm("group_norm", groups="num_groups"),
    "Embedding": Layers._embedding, "MaxPool2d": _pool_module("max_pool"),
    "AvgPool2d": _pool_module("avg_pool"), "AdaptiveAvgPool2d": Layers._adaptive_module,
    "Dropout": Layers._dropout, "Dropout2d": Layers._dropout, "Identity": Layers._identity,
    "Flatten": Layers._flatten_module, "Softmax": Layers._softmax_module,
    "MultiheadAttention": Layers._attention}
_FUNCTIONS: dict[str, Callable] = {
    **{name: Layers._joined for name in _SUMS | _PRODUCTS},
    "cat": Layers._cat, "concat": Layers._cat, "mean": Layers._mean, "__getitem__": Layers._item,
    "flatten": Layers._flatten_function, "softmax": Layers._softmax_function,
    "adaptive_avg_pool2d": Layers._adaptive_function, "max_pool2d": Layers._max_pool_function,
    "_max_pool2d": Layers._max_pool_function, "avg_pool2d": Layers._avg_pool_function,
    "linear": Layers._linear_function, "conv2d": Layers._conv_function}


def _shape(tensor: torch.Tensor) -> list[int]:
    """Of one sample; an image with its channels last."""
    size = list(tensor.shape[1:])
    return [*size[1:], size[0]] if len(size) == 3 else size


def _axis(axis: int, tensor: torch.Tensor) -> int:
    """Where an axis of torch's is in one sample's shape."""
    axis %= tensor.dim()
    return [-1, 0, 1][axis - 1] if tensor.dim() == 4 else axis - 1


def _like(tensor: torch.Tensor, shape) -> torch.Tensor:
    """A tensor of that shape that takes no memory."""
    return tensor.new_empty(1).expand(tuple(shape))


def _several(axes: Any) -> list[int]:
    return list(axes) if isinstance(axes, (tuple, list)) else [axes] if axes is not None else []


def _tensors(value: Any):
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (tuple, list)):
        for one in value:
            yield from _tensors(one)
