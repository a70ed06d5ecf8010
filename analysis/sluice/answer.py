"""The parts of an answer that are not metrics: the question, the certainty of the answer, and notes."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from typing import Any, Optional


@dataclass(frozen=True)
class Asked:
    """The question, as in `asked` of `sluice run --json`."""

    text: str  #: all fields in one line
    model: str
    parameters: tuple[str, ...]  #: values that the scenario gives to the model, such as "tokens=1"
    platform: str
    mode: str
    dtype: str
    optimizer: Optional[str]  #: None if the mode is inference
    batch: int
    micro_batch: int
    batches_per_step: int
    steps: int
    policy: str
    cut: Optional[str]  #: None if Sluice chose the cut
    fates: Optional[str]  #: None if Sluice chose the fates, or if the mode is inference
    cost: str
    compute_efficiency: Optional[float]  #: share of the peak that the cost model reaches, if it has such a share
    memory_efficiency: Optional[float]  #: share of the bandwidth that the cost model reaches, if it has such a share

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Certainty:
    """What the seconds of computations and transfers rest on. Each kind of evidence has a share of these seconds. If
    there are such seconds, the shares add up to 1."""

    measured: float  #: the share that rests on measurements of the layers themselves
    sourced: float  #: the share that rests on figures of the platform that have a source
    assumed: float  #: the share that rests on figures that are assumed, or that were changed
    figures: tuple[str, ...]  #: the assumed figures, such as "devices.gpu.roofline"
    text: str  #: all fields in one line
    #: The sources of the computation's seconds, with the errors of fits and interpolations, as in
    #: `certainty.computation` of `sluice run --json`. None if the cost model has no fits and no measurements.
    computation: Optional[dict[str, Any]] = None

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Note:
    """A remark in full sentences. Without this remark, a reader could misunderstand the numbers."""

    name: str
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Answer:
    """The question, the certainty, and the notes."""

    asked: Optional[Asked] = None
    certainty: Optional[Certainty] = None
    notes: tuple[Note, ...] = ()

    @classmethod
    def from_json(cls, text: str) -> "Answer":
        """Returns the answer in the given JSON of `sim/study/answer`. For the run of a plan without a scenario, the
        text is empty, and the answer is empty, too."""
        if not text:
            return cls()
        said = json.loads(text)
        return cls(_made(Asked, said["asked"]), _made(Certainty, said["certainty"]),
                   tuple(_made(Note, note) for note in said["notes"]))


def _made(kind: type, said: dict[str, Any]) -> Any:
    """Makes an object of one of the classes above from an object of the JSON. Unknown keys come from a newer program,
    and are ignored. A list becomes a tuple."""
    known = {field.name: said.get(field.name) for field in fields(kind)}
    return kind(**{name: tuple(value) if isinstance(value, list) else value
                   for name, value in known.items()})


__all__ = ["Answer", "Asked", "Certainty", "Note"]
