"""Policies in Python: a decorated function that makes a plan, with the record of a C++ one.

    @sluice.policy(name="mine", summary="One stage after the other.",
                   parameters=[sluice.parameter("ahead", "integer", "loads in advance", default=1)])
    def mine(stages, platform, workload, parameters):
        builder = sluice.PlanBuilder(platform, "mine")
        ...
        return builder.finish(workload.steps)

    sluice.load("alexnet_x200").with_(policy={"name": "mine"}).run()
"""

from __future__ import annotations

import json
from typing import Any, Callable, NamedTuple, Optional, Sequence, Union

from . import _sluice, errors
from .plan import Plan
from .platform import Platform


class Workload(NamedTuple):
    """What is to be computed. mode: inference or training; strategy: of the fates of activations.
    A step is `micro_batches_per_step` micro-batches of `micro_batch` samples, `steps` times."""

    mode: str
    strategy: str
    dtype: str
    batch: int
    micro_batch: int
    batches_per_step: int
    steps: int
    micro_batches_per_step: int


class Stage(NamedTuple):
    """Consecutive layers. input, output and workspace are bytes of one micro-batch, weights of the
    stage; macs and flop are counts of one sample."""

    number: int
    name: str
    weight_bytes: int
    input_bytes: int
    output_bytes: int
    workspace_bytes: int
    macs: int
    flop: int


class Action:
    """An action of a builder: to wait for, and to add allocations and uses to."""

    __slots__ = ("_builder", "_ref")

    def __init__(self, builder: "PlanBuilder", ref: Any) -> None:
        self._builder, self._ref = builder, ref

    def wait(self, on: Optional["Action"], distance: int = 0) -> "Action":
        """Waits until `on`, of `distance` iterations ago, has ended and arrived; None: nothing."""
        if on is not None:
            self._builder._native.wait(self._ref, on._ref, distance)
        return self

    def allocate(self, tensor: int, node: str) -> "Action":
        """Starts when the tensor has been granted its bytes in the memory of `node`."""
        self._builder._native.allocate(self._ref, tensor, node)
        return self

    def use(self, tensor: int, node: str) -> "Action":
        """Holds the tensor in the memory of `node` until its end; the last use frees it."""
        self._builder._native.use(self._ref, tensor, node)
        return self

    def done(self, samples: int) -> "Action":
        """So many samples have their answer when this ends."""
        self._builder._native.samples_done(self._ref, samples)
        return self

    def ahead(self, iterations: int) -> "Action":
        """Works in iteration i of the body for iteration i + `iterations`; dropped beyond the last."""
        self._builder._native.ahead(self._ref, iterations)
        return self


class PlanBuilder:
    """Makes a plan: tensors, then actions in listing order, which is the order on each stream and
    the order in which a device's memory is granted. Nodes are devices and memories by name."""

    def __init__(self, platform: Platform, name: str) -> None:
        self._native = _sluice.PlanBuilder(platform._native, name, True)

    def tensor(self, name: str, kind: str, bytes: int, home: Optional[str] = None) -> int:
        """A tensor of a class: weight, gradient, optimizer, activation, workspace, input or output.
        `home`: the memory that holds it from start to end. Returns its number."""
        return self._native.tensor(name, kind, int(bytes), home or "")

    def enter(self, section: str) -> None:
        """The actions that follow belong to the prologue (at first), the body or the epilogue."""
        self._native.enter(section)

    def compute(self, device: str, stage: Union[int, Stage], micro_batch: int = -1,
                samples: int = 0, kind: str = "forward") -> Action:
        """A computation of a stage for some samples; the cost model gives its seconds."""
        number = stage.number if isinstance(stage, Stage) else stage
        return Action(self, self._native.compute(kind, device, number, micro_batch, samples))

    def transfer(self, kind: str, tensor: int, source: str, target: str, *, release: bool = True,
                 allocate: bool = True, stage: Union[int, Stage] = -1,
                 micro_batch: int = -1) -> Action:
        """Moves a tensor (kind: load, save, send, receive) on the copy engine of that route. It
        uses the source (`release`) and allocates the target (`allocate`)."""
        number = stage.number if isinstance(stage, Stage) else stage
        return Action(self, self._native.transfer(kind, tensor, source, target, release, allocate,
                                                  number, micro_batch))

    def fact(self, key: str, value: Any) -> None:
        """Something that was decided, for the report."""
        self._native.fact(key, str(value))

    def finish(self, iterations: int = 1, steps_per_iteration: int = 1) -> Plan:
        """The plan; the body runs `iterations` times. The builder is used up."""
        return Plan(self._native.finish(iterations, steps_per_iteration))


def parameter(name: str, type: str, summary: str, *, default: Any = None, optional: bool = False,
              choices: Sequence[str] = (), unit: str = "", minimum: Optional[float] = None,
              maximum: Optional[float] = None) -> dict:
    """A parameter of a policy. type: boolean, integer, number, quantity, text or choice. A quantity
    has a `unit` (byte, s, FLOP, FLOP/s, byte/s, W, J) and comes in it. Without a default it is
    required, or None where it is `optional`. For types other than choice, `choices` are words
    allowed besides."""
    text = default if default is None or isinstance(default, str) else json.dumps(default)
    return {"name": name, "type": type, "summary": summary, "default": text, "optional": optional,
            "choices": list(choices), "unit": unit, "minimum": minimum, "maximum": maximum}


def policy(*, name: str, summary: str, source: str = "", parameters: Sequence[dict] = (),
           all_devices: bool = False, modes: Sequence[str] = ("inference",),
           strategies: Sequence[str] = ("keep_all",)) -> Callable[[Callable], Callable]:
    """Makes a function(stages, platform, workload, parameters) -> Plan a policy: scenarios may name
    it, its parameters are checked, `sluice.policies()` lists it. It runs in this process; what it
    raises reaches whoever asked for the plan. stages: a list of Stage; platform: a Platform;
    workload: a Workload; parameters: a dict.

    `all_devices`: it uses several devices (stages are then cut for the smallest). `modes` and
    `strategies`: the workloads and fates that it plans for; others are refused. The same name
    again replaces the policy; one of Sluice's own is an InputError."""

    def register(function: Callable) -> Callable:
        def call(stages, platform, workload, values):
            work = Workload(**workload)
            _require(name, "workload.mode", work.mode, modes)
            _require(name, "fates.strategy", work.strategy, strategies)
            return function([_stage(number, stage, work) for number, stage in enumerate(stages)],
                            Platform(platform), work, values)

        _sluice.add_policy(name, summary, source, list(parameters), all_devices, call)
        return function

    return register


def _require(name: str, key: str, value: str, allowed: Sequence[str]) -> None:
    if value not in allowed:
        raise errors.InputError(f"policy '{name}' does not plan for '{key}' {value}; it does for "
                                f"{', '.join(allowed)}")


def _stage(number: int, stage: Any, workload: Workload) -> Stage:
    samples = workload.micro_batch
    return Stage(number, stage.name, stage.weight_bytes, samples * stage.input_bytes,
                 samples * stage.output_bytes, samples * stage.workspace_bytes, stage.macs,
                 stage.flop)
