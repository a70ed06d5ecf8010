"""Computes what a picture shows of a stream. Wide actions are drawn separately. Narrow actions are combined into
groups. Each group has a busy share: the share of its time in which an action is executed."""

from __future__ import annotations

import numpy as np

_APART = 300  # actions that are narrower than a 300th of the picture cannot be distinguished
_GAPS = 150  # pauses that are narrower than a 150th of the picture cannot be seen
_PARTS = 100  # the largest number of adjacent groups in a picture


def divided(spans: dict[str, np.ndarray], seconds: float) -> tuple[dict, dict]:
    """Returns the wide spans of one stream, and groups of its narrow spans. The picture shows `seconds` seconds of the
    run. `spans` has the columns start, end and kind. Any other columns are kept for the wide spans."""
    order = np.argsort(spans["start"], kind="stable")
    spans = {name: column[order] for name, column in spans.items()}
    narrow = spans["end"] - spans["start"] < seconds / _APART
    groups = together({name: column[narrow] for name, column in spans.items()}, seconds / _GAPS,
                      seconds / _PARTS)
    return {name: column[~narrow] for name, column in spans.items()}, groups


def together(spans: dict[str, np.ndarray], apart: float, longest: float) -> dict:
    """Returns groups of spans in the order of time. A group lasts from `left` to `right`, in s. `share` has the share
    of the group's time for each kind of action. `idle` says whether the stream is idle for a part of this time. If the
    next group begins less than `apart` seconds after a group's last span, the group ends where the next group begins.
    Otherwise it ends with its last span."""
    start, end, kind = spans["start"], spans["end"], spans["kind"]
    first = _new(_groups(start, end, apart, longest))
    left, last = start[first], end[_last(first)]
    following = np.append(left[1:], np.inf)[: len(left)]
    right = np.where(following - last < apart, following, last)
    number = np.cumsum(first) - 1
    share = {one: np.bincount(number, (end - start) * (kind == one), len(left))
             / np.maximum(right - left, _TINY) for one in dict.fromkeys(kind)}
    busy = sum(share.values(), np.zeros(len(left)))
    return {"left": left, "right": right, "share": share, "idle": busy < 1 - 1e-6}


def _groups(start: np.ndarray, end: np.ndarray, apart: float, longest: float) -> np.ndarray:
    """Returns the number of the group of each span. Pauses of `apart` seconds or more divide the spans into sequences.
    Each sequence is divided into parts of about `longest` seconds. Each part has one group. The group begins with the
    part's first span that is at least half as long as the part's longest span. So groups of repeated actions look
    alike, wherever the parts begin."""
    if len(start) == 0:
        return np.zeros(0)
    begins = np.append(True, start[1:] - end[:-1] >= apart)
    run = np.cumsum(begins) - 1
    seconds = np.maximum(end[_last(begins)] - start[begins], _TINY)
    count = np.maximum(1, np.floor(seconds / longest))
    part = np.minimum(np.floor((start - start[begins][run]) / seconds[run] * count[run]), count[run] - 1)
    part += (np.cumsum(count) - count)[run]
    first = _new(part)
    longer = 0.5 * np.maximum.reduceat(end - start, np.flatnonzero(first))[np.cumsum(first) - 1]
    return np.maximum.accumulate(np.where(begins | (end - start >= longer), part, 0))


_TINY = np.finfo(float).tiny  # a short time that is not 0, because actions may take no time


def _new(numbers: np.ndarray) -> np.ndarray:
    """Returns for each number whether it differs from the number before."""
    return np.diff(numbers, prepend=-1) != 0


def _last(first: np.ndarray) -> np.ndarray:
    """The given flags mark the first element of each group. Returns flags that mark the last element of each group."""
    return np.append(first[1:], True)[: len(first)]


def steps(spans: dict[str, np.ndarray], start: float, end: float) -> tuple[np.ndarray, np.ndarray]:
    """Returns the busy share as steps. The first array has times in s. The second has the share from each time to the
    next."""
    wide, groups = divided(spans, end - start)
    left = np.append(wide["start"], groups["left"])
    right = np.append(wide["end"], groups["right"])
    busy = np.append(np.ones(len(wide["start"])),
                     sum(groups["share"].values(), np.zeros(len(groups["left"]))))
    order = np.argsort(left, kind="stable")
    left, right, busy = left[order], right[order], busy[order]
    ends = np.append(right[:-1] < left[1:], True)[: len(right)]  # whether the stream is idle until the next group
    time = np.stack([left, right], axis=1).ravel()
    share = np.stack([busy, np.zeros(len(busy))], axis=1).ravel()
    kept = np.stack([np.full(len(left), True), ends], axis=1).ravel()
    return (np.concatenate([[start], np.clip(time[kept], start, end), [end]]),
            np.concatenate([[0], share[kept], [0]]))
