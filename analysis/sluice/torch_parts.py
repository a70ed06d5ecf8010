"""Makes layers from calls of torch that compute nothing: calls that reorder axes, take parts, or join tensors."""

from __future__ import annotations

from typing import Any, Sequence

import torch

from .torch_layers import Place, tensors_of
from .torch_modules import unless


def reshape(layers: Any, name: str, source: Any, result: Any) -> None:
    """Adds a reshape. If only the pixels or only the channels are reshaped, the channels stay the last axis."""
    if result.numel() != source.numel():
        moved(layers, name, [source], result)
        return
    own, rank = layers.place(source), result.dim()
    place = layers.natural(result)
    last = source.dim() - 1
    if result.shape == source.shape:
        place = own
    elif own.batch == 0 and 0 not in own.order:
        if own.order[:2] == (last - 1, last) and rank > 3 and result.shape[-2:] == source.shape[-2:]:
            place = Place(0, (rank - 2, rank - 1, *range(1, rank - 2)))
        elif own.order == (*range(2, last + 1), 1) and rank == 3 and result.shape[1] == source.shape[1]:
            place = Place(0, (2, 1))
        elif own.order == (2, 1) and rank == 4 and result.shape[1] == source.shape[1]:
            place = Place(0, (2, 3, 1))
    extents = layers.extents(result, place)
    if extents == layers.extents(source):
        layers.alias(result, source, place)
    elif len(extents) == 1:
        layers.add("flatten", name if name != "view" else "flatten", result, [layers.of(source)], place)
    else:
        layers.add("reshape", name, result, [layers.of(source)], place, shape=extents or [1])


def turned(layers, name, source, args, kwargs, result):
    """Records a tensor with its axes in another order. Nothing moves."""
    rank = source.dim()
    given = [*args[1:], *kwargs.values()]
    if name == "permute":
        axes = [a % rank for a in (given[0] if isinstance(given[0], (tuple, list)) else given)]
    elif name in ("movedim", "moveaxis"):
        axes = _moved_axes(rank, *given)
    elif given and name != "__get__":
        axes = list(range(rank))
        a, b = (one % rank for one in given[:2])
        axes[a], axes[b] = b, a
    elif result.shape == source.shape and name == "__get__":
        axes = list(range(rank))  # the call is .data (or .T of a square matrix, which has the same shape)
    else:  # the call is t, .T or .mT
        axes = list(range(rank - 2)) + [rank - 1, rank - 2]
        if [source.shape[a] for a in axes] != list(result.shape):
            axes = list(range(rank))[::-1]
    if [source.shape[a] for a in axes] != list(result.shape):
        layers.unknown(name)
    own = layers.place(source)
    batch = None if own.batch is None else axes.index(own.batch)
    layers.alias(result, source, Place(batch, tuple(axes.index(a) for a in own.order)))


def _moved_axes(rank, sources, targets):
    sources = [a % rank for a in ([sources] if isinstance(sources, int) else sources)]
    targets = [a % rank for a in ([targets] if isinstance(targets, int) else targets)]
    axes = [a for a in range(rank) if a not in sources]
    for target, source in sorted(zip(targets, sources)):
        axes.insert(target, source)
    return axes


def without(place: Place, dropped: Sequence[int], rank: int) -> Place:
    """Returns the Place without the axes in `dropped`."""
    left = [a for a in range(rank) if a not in dropped]
    batch = left.index(place.batch) if place.batch in left else None
    return Place(batch, tuple(left.index(a) for a in place.order if a in left))


def moved(layers, name, tensors, result):
    source = next(one for one in tensors if layers.is_known(one))
    place = layers.like(result, source)
    if layers.extents(result, place) == layers.extents(source) and len(tensors) == 1 and \
            name in ("expand", "expand_as", "broadcast_to", "view"):
        layers.alias(result, source, place)
    else:
        layers.operator(name, result, tensors, place, keeps="nothing")


# --- parts -----------------------------------------------------------------------------------------


def _sliced(layers, name, tensor, cuts):
    """Adds the layers that cut a part from a tensor. Returns the name of the last of these layers, and its shape. Each
    of the `cuts` is a tuple: axis of torch, begin, end, step."""
    layer, shape = layers.of(tensor), layers.extents(tensor)
    for axis, begin, end, step in cuts:
        at = layers.axis(axis, tensor)
        if (begin, end, step) == (0, shape[at], 1):
            continue
        shape = [*shape[:at], len(range(begin, end, step)), *shape[at + 1:]]
        layer = layers.between("slice", name, shape, [layer], axis=at, **unless(0, begin=begin), end=end,
                               **unless(1, step=step))
    return layer, shape


def item(layers, name, args, kwargs, result):
    source, index = args[0], args[1]
    index = index if isinstance(index, tuple) else (index,)
    if not layers.is_known(source) or any(isinstance(one, (torch.Tensor, list, bool)) for one in index):
        moved(layers, "index", [one for one in tensors_of(args) if layers.is_known(one)], result)
        return
    if Ellipsis in index:
        at = index.index(Ellipsis)
        rest = source.dim() - sum(one is not None and one is not Ellipsis for one in index)
        index = (*index[:at], *([slice(None)] * rest), *index[at + 1:])
    own, axis, cuts, dropped = layers.place(source), 0, [], []
    for one in index:
        if one is None:
            continue
        extent = source.shape[axis]
        if isinstance(one, slice):
            if one != slice(None) and axis != own.batch:
                begin, end, step = one.indices(extent)
                cuts.append((axis, begin, end, step))
        else:
            dropped.append(axis)
            if axis in own.order and axis != own.batch:
                cuts.append((axis, int(one) % extent, int(one) % extent + 1, 1))
        axis += 1
    place = without(own, dropped, source.dim())
    if None in index or result.dim() != source.dim() - len(dropped):
        place = layers.natural(result)
    shape = layers.extents(result, place)
    if len(cuts) == 1 and len(dropped) == 1 and layers.axis(dropped[0], source) == 0 and len(own.order) > 1:
        layers.add("take_row", "row", result, [layers.of(source)], place, **unless(0, row=cuts[0][1]))
        return
    layer, cut = _sliced(layers, "slice", source, cuts)
    if cut != shape:
        layer = layers.between("reshape", "slice", shape or [1], [layer], shape=shape or [1])
    layers.is_layer(result, layer, place)


def parts(layers, name, args, kwargs, results):
    """Adds the parts of split, chunk or unbind. Each part is a layer."""
    source = args[0]
    default = args[2] if len(args) > 2 else 0
    axis = kwargs.get("dim", args[1] if name == "unbind" and len(args) > 1 else default) % source.dim()
    begin = 0
    for result in results:
        extent = 1 if name == "unbind" else result.shape[axis]
        layer, shape = _sliced(layers, f"{name}_part", source, [(axis, begin, begin + extent, 1)])
        place = layers.like(result, source)
        if name == "unbind":
            place = without(layers.place(source), [axis], source.dim())
            shape = layers.extents(result, place) or [1]
            layer = layers.between("reshape", "unbind_part", shape, [layer], shape=shape)
        layers.is_layer(result, layer, place)
        begin += extent


def several(layers, name, args, kwargs, results):
    if name in ("split", "chunk", "unbind", "tensor_split", "split_with_sizes"):
        parts(layers, name, args, kwargs, results)
    elif name in ("max", "min", "topk", "sort", "var_mean"):
        for one in tensors_of(results):
            layers.operator(name, one, [args[0]], layers.like(one, args[0]), input_flop=1, keeps="nothing")
    else:
        layers.unknown(name)


def cat(layers, name, args, kwargs, result):
    tensors = list(args[0] if args else kwargs["tensors"])
    axis = kwargs.get("dim", args[1] if len(args) > 1 else 0) % result.dim()
    lead = next(one for one in tensors if layers.is_known(one))
    if len(tensors) == 1:
        layers.alias(result, lead)
        return
    place = layers.place(lead)
    if len(tensors) == 2 and result.dim() == 3 and axis == 1 and tensors[0].shape[1] == 1 and \
            layers.learned(tensors[0]):
        token = layers.add("class_token", "class_token", result, [layers.of(tensors[1])])
        layers.rename(layers.learned(tensors[0]), token)
        return
    for one in tensors:
        if not layers.is_known(one):
            own = Place(place.batch, place.order)
            shape = [one.shape[a] for a in own.order]
            learned = layers.learned(one)
            made = layers.add("constant", "constant", one, [layers.of(lead)], own, shape=shape,
                              **unless(False, learned=bool(learned)))
            layers.count_new(made, [one])
    layers.add("concat", name, result, [layers.of(one, place) for one in tensors], place,
               **unless(len(place.order) - 1, axis=place.order.index(axis) if axis in place.order else 0))
