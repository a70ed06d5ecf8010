"""Runs the points of a sweep on workers. The workers belong to an executor of the caller (any
concurrent.futures.Executor), or are processes that are started here. Each worker runs its points in a separate process
(_apart.py). If a point makes this process end, the point becomes a row with the reason, and the worker continues."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import (FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future,
                                ThreadPoolExecutor, wait)

from . import _sluice, errors
from ._apart import Asker

Overrides = list[str]
Keep = Callable[[int, "_sluice.PointResult"], None]
Ask = Callable[[str, str, Sequence[Overrides], int, str], list[bytes]]

_MOST_IN_A_BATCH = 32
_MOST_SUBMITTED = 256  # the largest number of batches that an executor has at the same time
_BETWEEN_LOOKS_S = 5.0  # the interval at which Dask is asked for its workers while no answer arrives
_WITHOUT_WORKERS_S = 600.0  # if there has been no worker for this time, all workers count as lost; the time is long,
                            # because workers may wait in a queue
_IDLE_S = 30.0  # results count as lost if all workers are idle for this long while results are awaited

_asker = Asker()  # the child processes of this worker


def ask_batch(text: str, path: str, batch: Sequence[Overrides], attempt: int, library: str) -> list[bytes]:
    """Runs in a worker, and returns the result of each point as packed bytes. `attempt` has another value in each
    attempt. Otherwise Dask would return the result of the first attempt, which may be lost. `library` is the digest of
    the caller's code. If the worker has other code, raises InputError, because other code may compute other numbers."""
    if _sluice.library_digest() != library:
        raise errors.InputError("this worker has another build of Sluice than the process that runs the sweep; install "
                                "the same build on both")
    return _asker.ask(text, path, batch)


class Cluster:
    """Asks a Dask client about its workers. Dask waits for ever if all workers are lost, or if a worker is lost with a
    result that it holds. Other executors report such losses themselves. With such an executor, this object does
    nothing."""

    def __init__(self, executor: Executor) -> None:
        client = getattr(executor, "_client", None)
        known = hasattr(client, "scheduler_info") and hasattr(client, "processing")
        self._client = client if known else None
        self._had_workers = False
        self._had_workers_at = self._worked_at = time.monotonic()

    def look(self, something_came: bool) -> None:
        """Asks Dask for its workers. This method must be called every few seconds."""
        if self._client is None:
            return
        now = time.monotonic()
        workers = something_came or bool(self._client.scheduler_info()["workers"])
        if workers:
            self._had_workers, self._had_workers_at = True, now
        if something_came or not workers or any(self._client.processing().values()):
            self._worked_at = now

    def is_lost(self) -> bool:
        """Returns True if there were workers, but none of them was seen in the last _WITHOUT_WORKERS_S seconds. After
        this time, workers are not expected to come back."""
        return (self._client is not None and self._had_workers
                and time.monotonic() - self._had_workers_at > _WITHOUT_WORKERS_S)

    def forgot(self) -> bool:
        """Returns True if there are workers, and all of them have been idle for more than _IDLE_S seconds."""
        return self._client is not None and time.monotonic() - self._worked_at > _IDLE_S

    def asked_again(self) -> None:
        self._worked_at = time.monotonic()


class Workers:
    """Runs points in batches, and passes each answer to `keep`. If a worker dies, the points of its batch run again one
    by one, after all other points. If a point has no answer even then, it has failed."""

    def __init__(self, text: str, path: str, keep: Keep) -> None:
        self._text, self._path, self._keep = text, path, keep
        self._submitted = 0

    def run_on(self, executor: Executor, points: dict[int, Overrides]) -> None:
        """Runs `points` on the caller's executor. `points` maps the number of each point to its overrides."""
        self._run(executor, points, max(1, min(_MOST_IN_A_BATCH, len(points) // 64)), ask_batch)

    def run_own(self, count: int, points: dict[int, Overrides]) -> None:
        """Runs `points` on `count` processes that are started here. `points` maps the number of each point to its
        overrides."""
        asker = Asker()
        threads = ThreadPoolExecutor(count)
        size = max(1, min(_MOST_IN_A_BATCH, len(points) // (4 * count)))
        try:
            self._run(threads, points, size,
                      lambda text, path, batch, attempt, library: asker.ask(text, path, batch))
        finally:
            asker.end()
            threads.shutdown(cancel_futures=True)

    def _run(self, executor: Executor, points: dict[int, Overrides], size: int, ask: Ask) -> None:
        cluster = Cluster(executor)
        suspects = self._round(executor, cluster, points, _batches(points, size), ask)
        for number, error in self._round(executor, cluster, points, [[n] for n in suspects], ask).items():
            self._fail([number], error)

    def _round(self, executor: Executor, cluster: Cluster, points: dict[int, Overrides],
               batches: list[list[int]], ask: Ask) -> dict[int, BaseException]:
        """Runs each batch of points once. Returns the points of the batches that did not answer, each with the
        executor's error."""
        waiting = deque(batches)
        running: dict[Future, list[int]] = {}
        suspects: dict[int, BaseException] = {}
        try:
            while waiting or running:
                while waiting and len(running) < _MOST_SUBMITTED:
                    batch = waiting.popleft()
                    try:
                        self._submitted += 1
                        running[executor.submit(ask, self._text, self._path, [points[n] for n in batch],
                                                self._submitted, _sluice.library_digest())] = batch
                    except BrokenExecutor as error:
                        self._fail(batch, error)
                done = wait(running, _BETWEEN_LOOKS_S, FIRST_COMPLETED).done
                for future in done:
                    suspects.update(self._suspects(future, running.pop(future)))
                cluster.look(bool(done))
                if cluster.is_lost():
                    self._give_up([*running.values(), *waiting, list(suspects)])
                    return {}
                if cluster.forgot():
                    waiting.extend(running.values())
                    _cancel(running)
                    running = {}
                    cluster.asked_again()
        except BaseException:
            _cancel(running)
            raise
        return suspects

    def _give_up(self, batches: list[list[int]]) -> None:
        error = RuntimeError(f"the cluster has had no workers for {_WITHOUT_WORKERS_S:g} s; start some, and "
                             "sweep again with the same store and retry_failed=True")
        for batch in batches:
            self._fail(batch, error)

    def _answers(self, future: Future, batch: list[int]) -> None:
        for number, packed in zip(batch, future.result()):
            self._keep(number, _sluice.PointResult.unpacked(packed))

    def _suspects(self, future: Future, batch: list[int]) -> dict[int, BaseException]:
        """Keeps the answers of a batch. If the batch did not answer, returns its points with the executor's error, so
        that they can run again. But if the executor is broken, keeps them as failed points, and returns none."""
        error = CancelledError() if future.cancelled() else future.exception()
        if error is None:
            self._answers(future, batch)
        elif isinstance(error, BrokenExecutor):
            self._fail(batch, error)
        else:
            return dict.fromkeys(batch, error)
        return {}

    def _fail(self, batch: list[int], error: BaseException) -> None:
        for number in batch:
            self._keep(number, _sluice.PointResult.failed(
                f"the worker that was asked did not answer: {type(error).__name__}: {error}"))


def _batches(points: dict[int, Overrides], size: int) -> list[list[int]]:
    numbers = list(points)
    return [numbers[first:first + size] for first in range(0, len(numbers), size)]


def _cancel(running: dict[Future, list[int]]) -> None:
    for future in running:
        future.cancel()
