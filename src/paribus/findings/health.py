"""Records of the health of a machine's parts over the trials of an experiment."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthSpan:
    """A state, and the trials from the first to the last that began with it."""

    state: str
    first: int
    last: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthTimeline:
    """A state that was watched: where it is a word, its `spans`; where it is a number, its lowest and highest value.

    `course` has its mean in each trial. `voided` are the trials that do not count because of it.
    """

    name: str
    unit: str
    spans: tuple[HealthSpan, ...]
    lowest: float | None
    highest: float | None
    course: tuple[float, ...]
    voided: tuple[int, ...]
