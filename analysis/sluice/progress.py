"""The progress of a run, shown by a bar or by a function of the caller."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Callable, Iterator, Optional, Union

Told = Optional[Callable[[int, int], None]]


@contextmanager
def telling(progress: Union[bool, Callable[[int, int], None], None],
            unit: str = " actions") -> Iterator[Told]:
    """Yields a function that takes two numbers: how much is done, and how much there is in all. Yields None if nothing
    shows the progress. If `progress` is True, a bar of tqdm on standard error shows the progress. If tqdm is not
    installed, nothing shows the progress."""
    if not progress:
        yield None
    elif callable(progress):
        yield progress
    else:
        try:
            from tqdm import tqdm
        except ImportError:
            yield None
            return
        with tqdm(unit=unit, unit_scale=True, leave=False) as bar:
            def told(done: int, total: int) -> None:
                bar.total = total
                bar.update(done - bar.n)

            yield told
