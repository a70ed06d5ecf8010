"""Splits a torch module that consists of several layers into parts. Each part does the work of one layer."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import nn

from ._torch_watch import VIEWS


class Attention(nn.Module):
    """Attention as torch computes it without a fused kernel: scores of queries and keys, their softmax, and weighted
    sums of values. The axes of the inputs are samples, positions and width."""

    def __init__(self, heads: int) -> None:
        super().__init__()
        self.heads = heads

    def forward(self, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
        samples, places, width = query.shape
        depth = width // self.heads

        def by_head(one: torch.Tensor) -> torch.Tensor:
            return one.view(samples, -1, self.heads, depth).transpose(1, 2).reshape(
                samples * self.heads, -1, depth)

        scores = torch.bmm(by_head(query) / math.sqrt(depth), by_head(key).transpose(1, 2))
        sums = torch.bmm(torch.softmax(scores, -1), by_head(value))
        return sums.view(samples, self.heads, places, depth).transpose(1, 2).reshape(samples, places, width)


def is_split(module: nn.Module) -> bool:
    """Returns whether the module uses the weights of its parts but does not call these parts."""
    return isinstance(module, nn.MultiheadAttention)


def parts_of(module: nn.Module, documents: list[dict], args: tuple,
             kwargs: dict) -> list[tuple[dict, nn.Module, tuple]]:
    """Splits a module for which `is_split` returns True. Returns three things for each layer: its document, a module
    with only the layer's work, and the inputs of this module. For any other module, or for other layers than those of
    attention, the returned list is empty."""
    working = [one for one in documents if one["type"] not in VIEWS]
    kinds = [one["type"] for one in working]
    if not is_split(module) or kinds != ["matmul", "matmul", "matmul", "attention", "matmul"]:
        return []
    given: dict[str, Any] = {**dict(zip(("query", "key", "value"), args)), **kwargs}
    sources = [given[one] for one in ("query", "key", "value")]
    if not module.batch_first:
        sources = [one.transpose(0, 1).contiguous() for one in sources]
    weights = module.in_proj_weight.detach().chunk(3)
    biases = [None] * 3 if module.in_proj_bias is None else list(module.in_proj_bias.detach().chunk(3))
    parts: list[nn.Module] = [_linear(weight, bias) for weight, bias in zip(weights, biases)]
    parts.append(Attention(module.num_heads))
    parts.append(_linear(module.out_proj.weight.detach(), biases[0] if module.out_proj.bias is None
                         else module.out_proj.bias.detach()))
    inputs = [(one,) for one in sources] + [tuple(sources), (sources[0],)]
    return list(zip(working, parts, inputs))


def _linear(weight: torch.Tensor, bias: Any) -> nn.Linear:
    layer = nn.Linear(weight.shape[1], weight.shape[0], bias is not None, weight.device, weight.dtype)
    with torch.no_grad():
        layer.weight.copy_(weight)
        if bias is not None:
            layer.bias.copy_(bias)
    return layer
