"""The allowed words for arguments, for type checkers and editors. These lists have no effect at run time.
tests/package/test_typed.py compares them with the catalogs."""

from __future__ import annotations

from typing import Any, Literal, Protocol, Union

DtypeName = Literal["float64", "float32", "tfloat32", "float16", "bfloat16", "int8"]
Mode = Literal["inference", "training"]
Optimizer = Literal["", "none", "sgd", "momentum", "adam"]
Executor = Literal["auto", "simgrid", "replay", "both"]
SweepExecutor = Literal["replay", "simgrid"]
Over = Literal["grid", "zip", "points"]
Section = Literal["prologue", "body", "epilogue"]
TensorClass = Literal["weight", "gradient", "optimizer", "activation", "workspace", "input", "output",
                      "kv_cache"]
Computation = Literal["forward", "backward", "backward_input", "backward_weight",
                      "recompute", "update"]
Movement = Literal["load", "save", "send", "move", "all_reduce", "all_gather",
                   "reduce_scatter", "all_to_all"]
Collective = Literal["all_reduce", "all_gather", "reduce_scatter", "all_to_all"]
ParameterType = Literal["boolean", "integer", "number", "quantity", "text", "choice"]
Way = Literal["all_fast", "all_slow", "first_touch", "cached", "static", "synchronous", "asynchronous"]
Export = Literal["perfetto", "chrome", "csv", "data-island"]


class _NumpyDtype(Protocol):
    """numpy.dtype."""

    @property
    def name(self) -> Any: ...


class _TorchDtype(Protocol):
    """torch.dtype."""

    @property
    def is_floating_point(self) -> Any: ...


# : an element type: its name, numpy.float16, numpy.dtype("float16") or torch.float16
Dtype = Union[DtypeName, type, _NumpyDtype, _TorchDtype]
