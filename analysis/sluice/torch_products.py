"""Turns products outside of modules into layers: products of two activations, or of an activation and a parameter."""

from __future__ import annotations

from math import prod
from typing import Any, Callable

import torch

from .torch_layers import Place
from .torch_modules import linear, unless


def _matmul(layers, name, args, kwargs, result):
    a, b = args[0], args[1]
    if not layers.is_known(a):  # the left operand is a parameter or a constant
        layers.operator(name, result, [a, b], layers.like(result, b), macs=int(b.shape[-2 if b.dim() > 1 else 0]))
    elif not layers.is_known(b) and b.dim() == 2 and layers.learned(b):
        _by_parameter(layers, name, a, b, None, result)
    else:
        batched(layers, name, a, b, result)


def _by_parameter(layers, name, a, b, bias, result):
    """Adds a linear layer. `b` is a parameter or, as in torch.nn.Linear, the transpose of a parameter."""
    weight = layers.learned(b)[0]
    features = torch.empty((b.shape[1], 0))  # only the shape of this tensor is needed
    linear(layers, name, a, result, weight if weight.shape[0] == b.shape[1] else features, bias, holder=weight)


def batched(layers: Any, name: str, a: Any, b: Any, result: Any) -> str:
    """Appends a layer that multiplies each matrix of `a` by a matrix of `b`. The layer is a `batched_matmul` if no two
    matrices of `a` share a matrix of `b`, and if the batch is the same axis of both, before the two axes of the
    matrices. Otherwise the layer is an `operator` with a cost per element of the output."""
    own = layers.place(b) if layers.is_known(b) else None
    if own is not None and a.dim() == b.dim() == result.dim() > 2 and a.shape[:-2] == b.shape[:-2]:
        straight = Place(layers.place(a).batch, tuple(sorted(layers.place(a).order)))
        natural = tuple(sorted(own.order))
        swapped = (*natural[:-2], natural[-1], natural[-2])
        if straight.order == natural and len(natural) >= 2 and natural[-2:] == (b.dim() - 2, b.dim() - 1):
            turned = own.order == swapped
            second = layers.of(b) if turned else layers.of(b, Place(own.batch, natural))
            return layers.add("batched_matmul", name.strip("_"), result, [layers.of(a, straight), second],
                              straight, **unless(False, transpose_b=turned))
    return layers.operator(name.strip("_"), result, [a, b], layers.like(result, a), macs=int(a.shape[-1]))


def _addmm(layers, name, args, kwargs, result):
    bias, a, b = args[:3]
    if layers.is_known(a) and layers.learned(b) and not layers.is_known(bias):
        _by_parameter(layers, name, a, b, bias, result)
    else:
        layers.unknown(name)


def _baddbmm(layers, name, args, kwargs, result):
    from .torch_functions import joined

    made = torch.empty_like(result)
    batched(layers, name, args[1], args[2], made)
    joined(layers, "add", [made, args[0]], result)


def _attention(layers, name, args, kwargs, result):
    """Adds attention: the scores, their softmax, and the weighted sums."""
    query, key, value = args[:3]
    scores = query.new_empty((*query.shape[:-1], key.shape[-2]))
    keys = key.transpose(-2, -1)
    own = layers.place(key)
    swap = {key.dim() - 1: key.dim() - 2, key.dim() - 2: key.dim() - 1}
    layers.alias(keys, key, Place(own.batch, tuple(swap.get(axis, axis) for axis in own.order)))
    batched(layers, "scores", query, keys, scores)
    shares = torch.empty_like(scores)
    layers.add("softmax", "softmax", shares, [layers.of(scores)], layers.place(scores))
    batched(layers, name, shares, value, result)


def _einsum(layers, name, args, kwargs, result):
    """Adds an einsum. Each element of the output is a sum over the labels that the output does not have. Each summand
    is one multiply-accumulate."""
    equation = args[0].replace(" ", "")
    tensors = list(args[1] if isinstance(args[1], (tuple, list)) else args[1:])
    inputs, _, output = equation.partition("->")
    terms = [_expanded(term, tensor.dim()) for term, tensor in zip(inputs.split(","), tensors)]
    if "->" not in equation:
        letters = "".join(terms)
        output = "".join(sorted(one for one in set(letters) if letters.count(one) == 1))
    output = _expanded(output, result.dim())
    if len(terms) > 2:
        layers.unknown("einsum of more than two operands")
    sizes = {label: size for term, tensor in zip(terms, tensors) for label, size in zip(term, tensor.shape)}
    summed = prod(size for label, size in sizes.items() if label not in output)
    lead, labels = next((tensor, term) for tensor, term in zip(tensors, terms) if layers.is_known(tensor))
    own = layers.place(lead)
    samples = labels[own.batch] if own.batch is not None else ""
    if samples and samples not in output and layers.batch > 1:
        layers.unknown("einsum over the samples")
    place = layers.natural(result)
    if samples in output and samples:
        batch = output.index(samples)
        several = batch in place.order or own.batch in own.order
        place = Place(batch, tuple(axis for axis in range(result.dim()) if several or axis != batch))
    if len(terms) == 1:
        layers.operator(name, result, tensors, place, **unless(0, input_flop=int(summed > 1)))
    else:
        layers.operator(name, result, tensors, place, macs=int(summed))


def _expanded(term: str, rank: int) -> str:
    """Replaces the ellipsis in a term of an einsum by one label for each axis that the ellipsis stands for. A term has
    the labels of one tensor."""
    if "..." not in term:
        return term
    missing = rank - len(term) + 3
    return term.replace("...", "".join(chr(0x3B1 + 23 - missing + number) for number in range(missing)))


FUNCTIONS: dict[str, Callable] = {
    **{name: _matmul for name in ("matmul", "__matmul__", "bmm", "mm", "mv", "dot")}, "einsum": _einsum,
    "addmm": _addmm, "baddbmm": _baddbmm, "scaled_dot_product_attention": _attention}
