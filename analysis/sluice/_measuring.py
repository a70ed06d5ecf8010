"""Measures a call of a torch operator in a loop, after warm-up, until there are enough samples. A sample is the mean
time of several calls."""

from __future__ import annotations

import ctypes
import statistics
import time
from dataclasses import dataclass, field
from typing import Callable, Optional, Sequence

from . import errors
from .meters import Meter

# The share of the joules that a meter's resolution may leave uncertain.
ENERGY_ERROR = 0.01
# Measuring the times of one operator may take `budget_s` seconds. Measuring energy may take about this many times
# as long. `joules_error` gives the uncertainty that is left after this time.
ENERGY_PATIENCE = 10
# If calls must be prepared again for each sample, energy is measured in this many pairs of blocks. One block of a pair
# has the calls and their preparations, and the other block has only the preparations.
ENERGY_BLOCKS = 5

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # of malloc.h


def keep_freed_memory() -> None:
    """Makes the C library keep freed memory instead of returning it to the system, also for large tensors. So a large
    tensor reuses the memory of a freed tensor. Raises InputError if the library has no option for this."""
    library = ctypes.CDLL(None)
    for option, value in ((M_MMAP_THRESHOLD, 2**30), (M_TRIM_THRESHOLD, 2**31 - 1)):
        if not hasattr(library, "mallopt") or library.mallopt(option, value) != 1:
            raise errors.InputError("keep_memory=True is not possible: this C library does not support mallopt")


@dataclass(frozen=True)
class Loop:
    """Decides when there are enough samples. Holds the clock and the meter for measuring."""

    budget_s: float = 1.0  # seconds for measuring the samples of a row
    confidence: Optional[float] = None  # measuring ends before the budget is spent if 1.96 standard errors of the
                                        # mean are at most this share of the mean
    least: int = 10  # the least number of samples, even if they take longer than the budget
    warmup: int = 3  # calls that warm up the machine before the first sample
    sample_s: float = 1e-3  # the least seconds of a sample; a sample has enough calls to take this long
    clock: Callable[[], float] = time.perf_counter
    meter: Optional[Meter] = None

    def enough(self, samples: Sequence[float], elapsed_s: float) -> bool:
        if len(samples) < self.least:
            return False
        return elapsed_s >= self.budget_s or self.sure(samples)

    def sure(self, samples: Sequence[float]) -> bool:
        """Returns whether 1.96 standard errors of the mean are at most the share `confidence` of the mean."""
        if self.confidence is None or len(samples) < 2:
            return False
        error = 1.96 * statistics.stdev(samples) / len(samples) ** 0.5
        return error <= self.confidence * statistics.fmean(samples)


@dataclass
class Subject:
    """The calls whose time is measured. `prepare(n)` prepares the next n calls, outside of the measured time, and
    returns a function that runs these calls."""

    prepare: Callable[[int], Callable[[], None]]
    synchronise: Callable[[], None]
    layers: int = 1  # the number of layers that one call runs, one after the other
    # The largest number of calls per sample. None means no limit: `cycle` or more calls may be prepared once, and then
    # run again and again.
    most_calls: Optional[int] = None
    cycle: int = 1  # after this number of calls, the first inputs are used again


@dataclass
class Measured:
    """Seconds and joules of one call of a layer."""

    seconds: list[float] = field(default_factory=list)
    calls: int = 1  # a sample is the mean of this many calls
    joules: Optional[float] = None
    joules_error: Optional[float] = None


def measure(subject: Subject, loop: Loop) -> Measured:
    """Measures samples until `loop` says that they are enough. Then measures the energy, if there is a meter."""
    for _ in range(loop.warmup):
        _timed(subject, loop, 1)
    calls = _calls(subject, loop)
    result = Measured(calls=calls * subject.layers)
    elapsed = 0.0
    while not loop.enough(result.seconds, elapsed):
        seconds = _timed(subject, loop, calls)
        elapsed += seconds
        result.seconds.append(seconds / result.calls)
    if loop.meter is not None:
        _measure_energy(subject, loop, loop.meter, calls, result)
    return result


def _timed(subject: Subject, loop: Loop, calls: int) -> float:
    run = subject.prepare(calls)
    subject.synchronise()
    start = loop.clock()
    run()
    subject.synchronise()
    return loop.clock() - start


def _calls(subject: Subject, loop: Loop) -> int:
    """Returns the number of calls in a sample. These calls take at least `sample_s`. If `most_calls` is too small for
    this, they take less."""
    calls = 1
    while _timed(subject, loop, calls) < loop.sample_s:
        if subject.most_calls is not None and 2 * calls > subject.most_calls:
            break
        calls *= 2
    return calls


def _measure_energy(subject: Subject, loop: Loop, meter: Meter, calls: int, result: Measured) -> None:
    """Measures the joules of one call of a layer, without the joules of its preparation. If the meter is too coarse to
    distinguish these joules from 0, `result` stays without joules."""
    measured = _repeated_joules if subject.most_calls is None else _joules_less_preparation
    joules, uncertain = measured(subject, loop, meter, calls)
    if joules > 0:
        result.joules, result.joules_error = joules, uncertain


def _repeated_joules(subject: Subject, loop: Loop, meter: Meter, calls: int) -> tuple[float, float]:
    """Returns the joules of one call of one layer, and their uncertainty. The calls are prepared once, and then run
    again and again. At the beginning and at the end of the measurement, the meter's counter is wrong by at most its
    resolution. With enough calls, this error is a small share of the joules. The time limit may end the measurement
    before there are enough calls."""
    calls = max(calls, subject.cycle)
    run = subject.prepare(calls)
    subject.synchronise()
    done = 0
    before, start = meter.joules(), loop.clock()
    while True:
        run()
        subject.synchronise()
        done += calls * subject.layers
        taken = meter.joules() - before
        if 2 * meter.resolution_j <= ENERGY_ERROR * taken or loop.clock() - start >= ENERGY_PATIENCE * loop.budget_s:
            return taken / done, 2 * meter.resolution_j / done


def _joules_less_preparation(subject: Subject, loop: Loop, meter: Meter, calls: int) -> tuple[float, float]:
    """Returns the joules of one call of one layer, and their uncertainty. The calls must be prepared before each
    sample. A first block of samples has the preparations and the calls. A second block has only the preparations. The
    first block takes more joules than the second block: the difference belongs to the calls. There are ENERGY_BLOCKS
    such pairs of blocks. Each block has as many samples as the time limit allows. The uncertainty is the error of the
    meter at the ends of the blocks, plus 1.96 standard errors of the differences."""
    patience = ENERGY_PATIENCE * loop.budget_s / (2 * ENERGY_BLOCKS)
    start, samples = loop.clock(), 0
    while samples == 0 or loop.clock() - start < patience:
        _timed(subject, loop, calls)
        samples += 1

    def block(running: bool) -> float:
        before = meter.joules()
        for _ in range(samples):
            run = subject.prepare(calls)
            if running:
                run()
            subject.synchronise()
        return meter.joules() - before

    done = samples * calls * subject.layers
    each = [(block(True) - block(False)) / done for _ in range(ENERGY_BLOCKS)]
    spread = 1.96 * statistics.stdev(each) / len(each) ** 0.5
    return statistics.fmean(each), spread + 4 * meter.resolution_j / done
