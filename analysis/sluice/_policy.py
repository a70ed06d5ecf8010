"""Policies in Python. A policy is a function that makes a plan. Like a policy in C++, it has a name, a summary and
parameters. The decorator `policy` adds these to the function."""

from __future__ import annotations

import numbers
from pathlib import Path
from typing import Any, Callable, NamedTuple, Optional, Sequence, TypeVar, Union

from . import _sluice, errors
from ._checked import checked
from ._documents import plain, text_of, to_json, whole
from ._platform import Platform, named
from .words import (Collective, Computation, Mode, Movement, ParameterType, Section, TensorClass)
from .plan import Plan


_own: set[str] = set()  # names of the policies that are functions of this process
_MOST = 2**31 - 1  # the largest integer that an argument may be
_MOST_ITERATIONS_AGO = 2**16 - 1  # how many iterations before its own an operand may be from


class Workload(NamedTuple):
    """The work that a policy plans. `mode` is inference or training. `strategy` names the strategy for fates. `dtype`
    is a name such as float16. `batch` is the number of samples per batch. A step has `batches_per_step` batches. A step
    has `micro_batches_per_step` micro-batches of `micro_batch` samples. There are `steps` steps."""

    mode: str
    strategy: str
    dtype: str
    batch: int
    micro_batch: int
    batches_per_step: int
    steps: int
    micro_batches_per_step: int


class Stage(NamedTuple):
    """A stage as a policy sees it: consecutive layers. A stage has a number (from 0), a name, and weight_bytes.
    input_bytes, output_bytes and workspace_bytes are for one micro-batch. macs and flop are for one sample. Attention
    keeps keys and values from step to step: cache_bytes has their bytes, for all samples of a step. In a plan, these
    keys and values are a tensor of class kv_cache, whose home is the stage's device."""

    number: int
    name: str
    weight_bytes: int
    input_bytes: int
    output_bytes: int
    workspace_bytes: int
    macs: int
    flop: int
    cache_bytes: int = 0


@checked
class Action:
    """An action that a PlanBuilder has added to its plan. Other actions can wait for this action, and this action can
    allocate and use tensors."""

    __slots__ = ("_builder", "_ref")

    def __init__(self, builder: PlanBuilder, ref: Any) -> None:
        self._builder, self._ref = builder, ref

    def wait(self, on: Optional[Action], distance: int = 0) -> Action:
        """Makes the action wait for an execution of `on`: the execution in the iteration that was `distance` iterations
        ago. The wait lasts until this execution has ended and its data have arrived. If `on` is None, this method has
        no effect."""
        if on is None:
            return self
        if not isinstance(on, Action) or on._builder is not self._builder:
            raise errors.InputError(f"{on!r} for 'on': expected an action of the same builder")
        self._builder._native.wait(self._ref, on._ref, whole(distance, "distance", most=_MOST))
        return self

    def allocate(self, tensor: int, node: str) -> Action:
        """Allocates the tensor in the memory of `node`. The action starts only when the memory has granted the
        bytes."""
        self._builder._native.allocate(self._ref, whole(tensor, "tensor", most=_MOST), node)
        return self

    def use(self, tensor: int, node: str, *, read: bool = True, written: bool = False,
            distance: int = 0) -> Action:
        """Uses the tensor in the memory of `node` as an operand. The action reads it, writes it, or both. The memory
        holds the tensor until all actions that use it have ended. An action of the body may use the tensor
        that the iteration of `distance` iterations before has made. For the first iterations, actions of the prologue
        must make it (`ahead(-distance)`)."""
        if not read and not written:
            raise errors.InputError(f"a use of tensor {tensor} must read or write the tensor")
        self._builder._native.use(self._ref, whole(tensor, "tensor", most=_MOST), node,
                                  bool(read), bool(written),
                                  whole(distance, "distance", most=_MOST_ITERATIONS_AGO))
        return self

    def flow(self, tensor: int, source: str, target: str, bytes: Optional[int] = None) -> Action:
        """Adds a flow: while the action computes, `bytes` bytes of the tensor flow from the memory of `source` to the
        memory of `target`. By default, the whole tensor flows. The action ends when its seconds have passed and all
        bytes have arrived."""
        count = None if bytes is None else whole(bytes, "bytes")
        self._builder._native.flow(self._ref, whole(tensor, "tensor", most=_MOST), source, target,
                                   count)
        return self

    def not_before(self, seconds: float) -> Action:
        """Makes the action start no earlier than `seconds` after the start of the run. An action of the body runs in
        each iteration, so it cannot have such a time."""
        self._builder._native.not_before(self._ref, float(seconds))
        return self

    def takes(self, seconds: float) -> Action:
        """Sets the seconds of a computation. Without this call, the cost model gives the seconds. A plan without a
        scenario has no cost model, so its computations need this call."""
        self._builder._native.takes(self._ref, float(seconds))
        return self

    def part_of(self, collective: int) -> Action:
        """Makes the action a part of the collective operation whose number `PlanBuilder.collective` returned."""
        self._builder._native.part_of(self._ref, whole(collective, "collective", most=_MOST))
        return self

    def done(self, samples: int) -> Action:
        """Says for how many samples this action completes the answers when it ends."""
        self._builder._native.samples_done(self._ref, whole(samples, "samples"))
        return self

    def ahead(self, iterations: int) -> Action:
        """Lets the action work ahead: in iteration i of the body, it does the work of iteration i + `iterations`. If
        this iteration does not exist, the action is dropped. An action of the prologue may have a negative number: it
        makes the tensors of an iteration before the first."""
        self._builder._native.ahead(self._ref, whole(iterations, "iterations", least=-_MOST, most=_MOST))
        return self


@checked
class PlanBuilder:
    """Makes a plan from tensors and actions. Add a tensor before the actions that use it. Streams execute their actions
    in the order in which they are added. A device's memory is granted in this order, too. The arguments `node`,
    `source` and `target` are names of devices or memories."""

    def __init__(self, platform: Union[Platform, str, Path], name: str) -> None:
        self._native = _sluice.PlanBuilder(named(platform)._native, name, True)

    def tensor(self, name: str, kind: TensorClass, bytes: int, home: Optional[str] = None) -> int:
        """Adds a tensor. `kind` is the class of the tensor: weight, gradient, optimizer, activation, workspace, input,
        output or kv_cache. `home` is the memory that holds the tensor from the start to the end of the run. Returns the
        number of the tensor."""
        return self._native.tensor(name, kind, whole(bytes, "bytes"), home or "")

    def memory(self, name: str, device: str, capacity: Optional[int] = None) -> None:
        """Adds a second or third memory to a device, with `capacity` bytes (None means unlimited). The device's first
        memory has the name of the device. Tensors may be in the new memory, and links may lead to it."""
        self._native.memory(name, device, None if capacity is None else whole(capacity, "capacity"))

    def way(self, source: str, target: str, bandwidth: float, *, setup: float = 0,
            latency: float = 0) -> None:
        """Adds a link from one memory to another, in this direction only. `bandwidth` is in byte/s, and `setup` and
        `latency` are in s. Transfers and flows from `source` to `target` use the link. Transfers over the link have
        their own stream."""
        self._native.way(source, target, float(bandwidth), float(setup), float(latency))

    def collective(self, name: str, kind: Collective, devices: Sequence[str], bytes: int = 0,
                   algorithm: str = "") -> int:
        """Adds a collective operation of several devices. `kind` is all_reduce, all_gather, reduce_scatter or
        all_to_all. Returns the number of the collective, which `Action.part_of` takes."""
        return self._native.collective(name, kind, list(devices), whole(bytes, "bytes"), algorithm)

    def enter(self, section: Section) -> None:
        """Chooses the section to which all later actions are added: the prologue, the body or the epilogue. At first,
        actions are added to the prologue."""
        self._native.enter(section)

    def compute(self, device: str, stage: Union[int, Stage], micro_batch: int = -1,
                samples: int = 0, kind: Computation = "forward") -> Action:
        """Adds a computation of a stage for the given samples. The cost model gives the seconds of the computation,
        unless `Action.takes` sets them."""
        return Action(self, self._native.compute(kind, device, _number(stage),
                                                 whole(micro_batch, "micro_batch", -1, _MOST),
                                                 whole(samples, "samples")))

    def transfer(self, kind: Movement, tensor: int, source: str, target: str, *, release: bool = True,
                 allocate: bool = True, stage: Union[int, Stage] = -1,
                 micro_batch: int = -1) -> Action:
        """Adds a transfer of a tensor on the copy engine of the route. `kind` is load, save, send, move, or a
        collective such as all_reduce. With `release`, the transfer counts as a use of the tensor in the source memory.
        The last use in this memory frees the tensor. With `allocate`, the transfer allocates the tensor in the target
        memory."""
        return Action(self, self._native.transfer(kind, whole(tensor, "tensor", most=_MOST), source,
                                                  target, release, allocate, _number(stage),
                                                  whole(micro_batch, "micro_batch", -1, _MOST)))

    def fact(self, name: str, value: Any, *, unit: str = "", of: Any = "") -> None:
        """Records a decision as a fact of the plan, for example for `Result.facts`. The value may be a number, a text
        or a list of texts. A value of another type is converted to a text. A number may have a `unit` (s, byte). `of`
        is the group, stage or device of the decision."""
        if isinstance(value, numbers.Real) and not isinstance(value, bool):
            value = float(value)
        elif isinstance(value, (list, tuple)):
            value = [text_of(element, "value") for element in value]
        else:
            value = text_of(value, "value")
        self._native.fact(name, value, unit, text_of(of, "of"))

    def finish(self, iterations: int = 1, steps_per_iteration: int = 1) -> Plan:
        """Returns the plan, whose body runs `iterations` times. The builder cannot be used afterwards."""
        return Plan(self._native.finish(whole(iterations, "iterations", 1),
                                        whole(steps_per_iteration, "steps_per_iteration", 1)))


def _number(stage: Union[int, Stage]) -> int:
    return stage.number if isinstance(stage, Stage) else whole(stage, "stage", -1, _MOST)


@checked
def parameter(name: str, type: ParameterType, summary: str, *, default: Any = None, optional: bool = False,
              choices: Sequence[str] = (), unit: str = "", minimum: Optional[float] = None,
              maximum: Optional[float] = None) -> dict:
    """Returns a parameter for `sluice.policy`. `type` is boolean, integer, number, quantity, text or choice. A quantity
    has a `unit`: byte, s, FLOP, FLOP/s, byte/s, W or J. The policy gets the value in this unit. A parameter without a
    default is required. An `optional` parameter may be None. A choice is one of `choices`. For any other type,
    `choices` are words that are allowed in addition to the values of the type. `minimum` is the least number, by
    default 0."""
    text = default if default is None or isinstance(default, str) else to_json(plain(
        default, "default"))
    return {"name": name, "type": type, "summary": summary, "default": text, "optional": optional,
            "choices": list(choices), "unit": unit, "minimum": minimum, "maximum": maximum}


Planner = Callable[[list[Stage], Platform, Workload, dict[str, Any]], Plan]
AnyPlanner = TypeVar("AnyPlanner", bound=Planner)


def policies_of_this_process() -> frozenset[str]:
    """Returns the names of the policies that are Python functions."""
    return frozenset(_own)


@checked
def policy(*, name: str, summary: str, source: str = "", parameters: Sequence[dict] = (),
           all_devices: bool = False, modes: Sequence[Mode] = ("inference",),
           strategies: Sequence[str] = ("keep_all",)) -> Callable[[AnyPlanner], AnyPlanner]:
    """Returns a decorator that turns a function(stages, platform, workload, parameters) -> Plan into a policy.
    Scenarios may name the policy. Its parameters are checked. `sluice.policies()` lists it. The function runs in this
    process. Its exceptions reach the caller of `Scenario.plan`.

        @sluice.policy(name="in_turn", summary="Weights stay; one input after the other.",
                       parameters=[sluice.parameter("inputs_ahead", "integer", "inputs that come in advance",
                                                    default=1, minimum=1)])
        def in_turn(stages, platform, workload, parameters):
            builder = sluice.PlanBuilder(platform, "in_turn")
            device, host = platform.device_names[0], platform.host
            loads = []
            for stage in stages:  # before all steps; no use frees the weights, so they stay
                w = builder.tensor(f"w.{stage.number}", "weight", stage.weight_bytes, home=host)
                loads.append(builder.transfer("load", w, host, device, release=False, stage=stage))
            builder.enter("body")  # the actions that follow run workload.steps times
            ended = []
            for m in range(workload.micro_batches_per_step):
                x = builder.tensor(f"x.{m}", "input", stages[0].input_bytes, home=host)
                ready = builder.transfer("load", x, host, device, release=False, micro_batch=m)
                if m > parameters["inputs_ahead"]:
                    ready.wait(ended[m - parameters["inputs_ahead"] - 1])
                for stage, load in zip(stages, loads):
                    last = stage is stages[-1]
                    y = builder.tensor(f"y.{stage.number}.{m}", "output" if last else "activation",
                                       stage.output_bytes, home=host if last else None)
                    compute = builder.compute(device, stage, m, workload.micro_batch)
                    compute.wait(load).wait(ready).allocate(y, device).use(x, device)  # frees x
                    x, ready = y, compute
                ended.append(ready)
                save = builder.transfer("save", x, device, host, allocate=False, micro_batch=m)
                save.wait(ready).done(workload.micro_batch)
            builder.fact("weights", "stay")
            return builder.finish(workload.steps)

        sluice.load("alexnet_resident").with_(policy={"name": "in_turn"}).run()

    The function gets four arguments. `stages` is a list of sluice.Stage. A Stage has number, name, weight_bytes,
    input_bytes, output_bytes, workspace_bytes, macs, flop and cache_bytes. `platform` is a sluice.Platform. `workload`
    is a sluice.Workload. A Workload has mode, strategy, dtype, batch, micro_batch, batches_per_step, steps and
    micro_batches_per_step. `parameters` is a dict. A sluice.PlanBuilder makes the plan. Its methods `compute` and
    `transfer` return a sluice.Action. The methods of an Action say what it waits for, allocates and uses.

    With `all_devices`, the policy uses several devices, and stages are cut for the device with the smallest memory.
    `modes` and `strategies` list what the policy can plan: its modes, and its strategies for fates. All other modes and
    strategies are refused. A second policy of the same name replaces the first policy. Raises InputError if a built-in
    policy has the name."""

    def register(function: AnyPlanner) -> AnyPlanner:
        if not callable(function):
            raise errors.InputError(f"{function!r} for policy '{name}': expected a function of stages, "
                                    "platform, workload and parameters")

        def call(stages, platform, workload, values):
            work = Workload(**workload)
            return function([_stage(number, stage, work) for number, stage in enumerate(stages)],
                            Platform._of(platform), work, values)

        _sluice.add_policy(name, summary, source, list(parameters), all_devices,
                           list(modes), list(strategies), call)
        _own.add(name)
        return function

    return register


def _stage(number: int, stage: Any, workload: Workload) -> Stage:
    samples = workload.micro_batch
    return Stage(number, stage.name, stage.weight_bytes, samples * stage.input_bytes,
                 samples * stage.output_bytes, samples * stage.workspace_bytes, stage.macs,
                 stage.flop, workload.batches_per_step * workload.batch * stage.cache_bytes)
