"""Measures time and energy of the operators of a torch module on this machine, and writes them to a profile."""

from __future__ import annotations

import datetime
import math
import platform
import re
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Optional, Sequence, Union

from . import errors
from ._checked import checked, clipped
from ._late import late
from ._measuring import Loop, Measured, keep_freed_memory, measure
from ._profile_file import ProfileFile, Row
from .meters import Meter, find_meter
from .progress import telling

if TYPE_CHECKING:
    from ._torch_operators import Operator

PASSES = ("forward", "backward")
CACHES = ("hot", "cold", "chained")


@dataclass(frozen=True)
class TorchProfile:
    """The result of profile_torch, whose `path` is the profile."""

    path: Path
    measured: int  # number of rows that this call measured
    kept: int  # number of rows that were already complete in the file
    failed: int  # number of rows whose operator could not run; their `note` says why


@checked
def profile_torch(module: Any, inputs: Any, file: Union[str, Path], *, name: str = "",
                  passes: Sequence[str] = ("forward",), caches: Sequence[str] = ("hot",),
                  budget_s: float = 1.0, confidence: Optional[float] = None, rounds: int = 1,
                  whole: bool = True, cache_bytes: Optional[int] = None,
                  meter: Union[Meter, None, str] = "auto", idle_w: Optional[float] = None,
                  keep_memory: bool = False,
                  progress: Union[bool, Callable[[int, int], None], None] = None,
                  clock: Callable[[], float] = time.perf_counter) -> TorchProfile:
    """Measures the leaf modules of a torch module, the functions between them, and the whole module. Each configuration
    and shape is measured once. The measurements are written to a profile (CSV, sim/profile/FORMAT.md). Rows that are
    already in the file are not measured again. `inputs` is a tensor or a tuple of tensors. The first axis of each
    tensor is the batch. The module is measured on its own device, and does not change.

    `passes` lists what to measure: "forward", "backward" or both. A backward pass computes the gradients of inputs and
    parameters. With "backward", the module is in training mode. Without it, the module is in evaluation mode. `caches`
    lists one or several of "hot", "cold" and "chained". "hot" uses the same inputs again and again. "cold" takes the
    inputs of each call from another place of an array that is larger than the cache. "chained" runs 8 copies of a layer
    one after the other, and is for layers whose output has the shape of the input. `budget_s` is the number of seconds
    for the samples of each row. The measurement of a row ends earlier if 1.96 standard errors of its mean are at most
    `confidence` times the mean. `rounds` is the number of parts into which the budget is divided: each round measures
    all rows, so a drift of the machine affects all rows alike.
    `cache_bytes` is the size of the cache. None means that the function finds out this size. `meter` is a meter of
    sluice.meters, or any other object with the same members. "auto" means RAPL, NVML or nvidia-smi, if one of them can
    be read. None means that no energy is measured. `idle_w` is the power at rest (meters.idle_watts measures it). With
    `keep_memory`, the C library of this process keeps freed memory from now on. Without it, the library returns the
    memory of large tensors to the system. So each run of a whole model takes time to map and clear memory again. An
    operator that is measured in a loop does not take this time. `progress` = True draws a bar. A function `progress`
    receives two numbers: how many measurements are finished, and how many there are in all. A measurement is one row in
    one round.

    Raises InputError for an invalid argument or file. The function needs torch."""
    try:
        torch = late("torch")
    except ImportError:
        raise errors.InputError("profile_torch needs torch, which is not installed") from None
    given = _inputs(torch, module, inputs)
    _require(passes, PASSES, "passes")
    _require(caches, CACHES, "caches")
    _require_numbers(budget_s=budget_s, rounds=rounds, confidence=confidence, cache_bytes=cache_bytes)
    if idle_w is not None and not 0 <= idle_w < math.inf:
        raise errors.InputError(f"idle_w: {idle_w}: expected watts, 0 or more")
    device = given[0].device
    found = meter == "auto"
    if found:
        meter = find_meter((device.index or 0) if device.type == "cuda" else None)
    elif meter is not None:
        _require_meter(meter)
    loop = Loop(budget_s / rounds, confidence, clock=clock, meter=meter)  # type: ignore[arg-type]
    if "cold" not in caches:
        cache_bytes = 0
    elif cache_bytes is None:
        cache_bytes = late("._torch_subjects").cache_bytes_of(device)
    header = _header(torch, device, loop, budget_s, rounds, idle_w)
    if keep_memory:
        keep_freed_memory()
        header["on"]["memory"] = "kept"
    profile = ProfileFile(file, header)
    jobs = _jobs(module, given, name or type(module).__name__.lower(), passes, caches, whole)
    session = _Session(profile, loop, device, cache_bytes, "backward" in passes)
    try:
        with telling(progress, " operators") as told:
            return session.run(jobs, rounds, told)
    finally:
        if found and hasattr(meter, "close"):
            meter.close()


@dataclass
class _Job:
    operator: "Operator"
    cache: str
    backward: bool
    row: Row


class _Session:
    """Measures jobs in rounds, and writes their rows. A job is the measurement of one row of the profile."""

    def __init__(self, profile: ProfileFile, loop: Loop, device: Any, cache_bytes: int,
                 training: bool) -> None:
        self._profile, self._loop, self._device = profile, loop, device
        self._cache_bytes, self._training = cache_bytes, training

    def run(self, jobs: list[_Job], rounds: int, told: Any) -> TorchProfile:
        """Measures the missing rows, round by round. Each round writes each row with the samples of all rounds so far.
        If a call is interrupted, a later call continues with the next round."""
        there = [self._profile.measured(job.row) for job in jobs]
        done = [0 if row is None else _rounds_of(row, rounds) for row in there]
        kept, seen = done.count(rounds), sum(done)
        failed: set[int] = set()
        samples = [(row or {}).get("seconds_samples") or "" for row in there]
        for turn in range(rounds):
            for number, job in enumerate(jobs):
                if turn < done[number]:
                    continue
                if number not in failed:
                    try:
                        measured = self._measure(job, last=turn == rounds - 1)
                    except (RuntimeError, MemoryError) as error:  # for example if the memory is too small
                        failed.add(number)
                        note = (str(error).splitlines() or [type(error).__name__])[0]
                        self._profile.put({**job.row, "processed": "failed", "note": note})
                    else:
                        samples[number] = ";".join(filter(None, [samples[number], *map(repr, measured.seconds)]))
                        self._profile.put({**job.row, **_cells(measured, samples[number], turn + 1, rounds)})
                seen += 1
                if told:
                    told(seen, len(jobs) * rounds)
        return TorchProfile(self._profile.path, len(jobs) - kept - len(failed), kept, len(failed))

    def _measure(self, job: _Job, last: bool) -> Measured:
        """Measures one job. Energy is measured only in the last round."""
        from ._torch_subjects import subject_of

        subject = subject_of(job.operator, job.cache, job.backward, self._training, self._device,
                             self._cache_bytes)
        return measure(subject, self._loop if last else replace(self._loop, meter=None))


_PART = re.compile(r"(\d+) of (\d+) rounds")  # the note of a row whose later rounds are not measured yet


def _rounds_of(row: Row, rounds: int) -> int:
    """Returns the number of rounds of this row that have been measured."""
    part = _PART.fullmatch(row.get("note") or "")
    return int(part[1]) if part else rounds


def _cells(last: Measured, samples: str, done: int, rounds: int) -> Row:
    # Each round chooses anew how many calls make one sample. The row gets the number of the last round.
    cells = {"seconds_samples": samples, "calls": str(last.calls), "processed": "yes",
             "note": "" if done == rounds else f"{done} of {rounds} rounds"}
    if last.joules is not None:
        cells.update(joules_mean=repr(last.joules), joules_n="1", joules_error=repr(last.joules_error))
    return cells


def _jobs(module: Any, inputs: tuple, name: str, passes: Sequence[str], caches: Sequence[str],
          whole: bool) -> list[_Job]:
    """Returns the jobs. In every round the whole module comes first, before its operators. The whole module is measured
    hot and cold, but cannot be chained."""
    from ._torch_operators import copy_of, operators_of
    from ._torch_subjects import can_run

    own = copy_of(module).train("backward" in passes)
    operators, everything = operators_of(own, inputs)
    jobs = []
    for one in [everything] * whole + operators:
        for cache in caches:
            for one_pass in passes:
                if not can_run(one, cache, one_pass == "backward"):
                    continue
                row = {**one.words, "pass": one_pass, "cache": cache, "method": "loop", "level": one.level,
                       "model": name, "occurrences": str(one.occurrences)}
                jobs.append(_Job(one, cache, one_pass == "backward", row))
    return jobs


def _inputs(torch: Any, module: Any, given: Any) -> tuple:
    if not isinstance(module, torch.nn.Module):
        raise errors.InputError(f"profile_torch takes a torch.nn.Module, not a {type(module).__name__}")
    inputs = tuple(given) if isinstance(given, (tuple, list)) else (given,)
    for one in inputs:
        if not isinstance(one, torch.Tensor) or one.dim() == 0:
            raise errors.InputError("profile_torch takes a tensor with axes (the first is the batch) as "
                                    f"input, or a tuple of such tensors, not a {type(one).__name__}")
    if not inputs:
        raise errors.InputError("profile_torch takes at least one input")
    return inputs


def _require(given: Sequence[str], allowed: tuple[str, ...], what: str) -> None:
    if isinstance(given, str) or not given or any(one not in allowed for one in given):
        raise errors.InputError(f"{what}: {given!r}: expected a tuple of some of {', '.join(allowed)}")
    if len(set(given)) < len(given):
        raise errors.InputError(f"{what}: {given!r}: expected each value once")


def _require_numbers(**numbers: Optional[float]) -> None:
    for key, value in numbers.items():
        if value is not None and not 0 < value < math.inf:
            raise errors.InputError(f"{key}: {value}: expected more than 0")


def _require_meter(meter: Any) -> None:
    resolution = getattr(meter, "resolution_j", None)
    if not isinstance(getattr(meter, "name", None), str) or not callable(getattr(meter, "joules", None)) or \
            not isinstance(resolution, (int, float)) or not 0 <= resolution < math.inf:
        raise errors.InputError(f"meter: {clipped(meter)}: expected \"auto\", None, or an object with a name, a resolution_j "
                                "of 0 or more and a function joules(), such as sluice.meters.Rapl()")


def _header(torch: Any, device: Any, loop: Loop, budget_s: float, rounds: int,
            idle_w: Optional[float]) -> dict[str, Any]:
    on: dict[str, Any] = {"torch": torch.__version__, "threads": torch.get_num_threads()}
    if device.type == "cuda":
        on["cuda"] = str(torch.version.cuda)
    header = {
        "date": datetime.date.today().isoformat(),
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else _processor(),
        "how": {"method": "loop", "timer": getattr(loop.clock, "__name__", "clock"), "warmup": loop.warmup,
                "budget": budget_s, "rounds": rounds,
                "meter": loop.meter.name if loop.meter is not None else "none"},
        "on": on}
    if idle_w is not None:
        header["idle"] = f"{idle_w!r}W"
    return header


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
