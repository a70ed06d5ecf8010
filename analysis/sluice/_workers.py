"""Points of a sweep on somebody's workers: any concurrent.futures.Executor, or processes of our own
that are started again when one of them dies."""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from functools import lru_cache

from . import _sluice

Overrides = list[str]
Keep = Callable[[int, "_sluice.PointResult"], None]

_MOST_IN_A_BATCH = 32
_MOST_SUBMITTED = 256  # batches that a given executor has at once


@lru_cache(maxsize=4)
def _variants(text: str, path: str) -> "_sluice.Variants":
    return _sluice.Variants(text, path)


def ask_batch(text: str, path: str, batch: Sequence[Overrides]) -> list[bytes]:
    """In a worker: what each point comes to, packed. The scenario is read once in a process."""
    variants = _variants(text, path)
    return [variants.ask(overrides).packed() for overrides in batch]


class Workers:
    """Asks points in batches, and hands each answer to `keep`. A batch whose worker dies is halved
    and asked again; a point that ends its worker when it is asked alone has failed."""

    def __init__(self, text: str, path: str, keep: Keep) -> None:
        self._text, self._path, self._keep = text, path, keep

    def run_on(self, executor: Executor, points: dict[int, Overrides]) -> None:
        """`points` by number, on an executor that is the caller's."""
        waiting = deque(_batches(points, _MOST_IN_A_BATCH))
        running: dict[Future, list[int]] = {}
        try:
            while waiting or running:
                while waiting and len(running) < _MOST_SUBMITTED:
                    batch = waiting.popleft()
                    try:
                        running[self._submit(executor, points, batch)] = batch
                    except BrokenExecutor as error:
                        self._fail(batch, error)
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    waiting.extendleft(self._halves(future, running.pop(future)))
        except BaseException:
            for future in running:
                future.cancel()
            raise

    def run_own(self, count: int, points: dict[int, Overrides]) -> None:
        """On `count` processes of our own."""
        size = max(1, min(_MOST_IN_A_BATCH, len(points) // (4 * count)))
        waiting = deque(_batches(points, size))
        suspects: list[int] = []  # points that ran alone beside others when the processes died
        while waiting:
            suspects += self._until_broken(count, points, waiting)
        for number in suspects:
            with _pool(1) as pool:
                future = self._submit(pool, points, [number])
                for _ in self._halves(future, [number]):
                    pass

    def _until_broken(self, count: int, points: dict[int, Overrides], waiting: deque) -> list[int]:
        """Runs batches until there are none or a process dies; the points that may have done that
        alone."""
        running: dict[Future, list[int]] = {}
        with _pool(count) as pool:
            while waiting or running:
                try:
                    while waiting and len(running) < count:
                        batch = waiting.popleft()
                        running[self._submit(pool, points, batch)] = batch
                    done = wait(running, return_when=FIRST_COMPLETED).done
                    for future in done:
                        self._answers(future, running[future])
                        del running[future]
                except BrokenProcessPool:
                    break
        alone = []
        for future, batch in running.items():
            if future.done() and future.exception() is None:
                self._answers(future, batch)
            elif len(batch) == 1:
                alone += batch
            else:
                waiting.extend(_halved(batch))
        return alone

    def _submit(self, executor: Executor, points: dict[int, Overrides], batch: list[int]) -> Future:
        return executor.submit(ask_batch, self._text, self._path, [points[n] for n in batch])

    def _answers(self, future: Future, batch: list[int]) -> None:
        for number, packed in zip(batch, future.result()):
            self._keep(number, _sluice.PointResult.unpacked(packed))

    def _halves(self, future: Future, batch: list[int]) -> list[list[int]]:
        """What of a batch is to be asked again: nothing where it has answered."""
        try:
            self._answers(future, batch)
        except Exception as error:  # whatever the executor raises for a worker that died
            if len(batch) > 1 and not isinstance(error, BrokenExecutor):
                return _halved(batch)
            self._fail(batch, error)
        return []

    def _fail(self, batch: list[int], error: Exception) -> None:
        for number in batch:
            self._keep(number, _sluice.PointResult.failed(
                f"the worker that was asked did not answer: {type(error).__name__}: {error}"))


def _batches(points: dict[int, Overrides], size: int) -> list[list[int]]:
    numbers = list(points)
    return [numbers[first:first + size] for first in range(0, len(numbers), size)]


def _halved(batch: list[int]) -> list[list[int]]:
    middle = len(batch) // 2
    return [batch[:middle], batch[middle:]]


def _pool(count: int) -> ProcessPoolExecutor:
    """Of processes that are started, not forked: this one may have threads."""
    return ProcessPoolExecutor(count, mp_context=multiprocessing.get_context("spawn"))
