"""The trials of an experiment over time: part of the view model. Places are shares of the time, from 0 to 1."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialBar:
    """One trial, or several that a picture cannot tell apart: from `start` to `end`."""

    start: float
    end: float
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialLane:
    """All trials of one fate; `kind` is valid, invalid, failed or rerun, `count` the number of trials."""

    kind: str
    title: str
    count: int
    bars: tuple[TrialBar, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherLoadLine:
    """Processor time of other processes: (place, share of the most) for each trial, in parts without long pauses."""

    title: str
    most: str
    parts: tuple[tuple[tuple[float, float], ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialTimeline:
    """The fates of the trials over time, and what other processes took meanwhile, where that was recorded.

    `ticks` are places with their texts, in `unit`.
    """

    summary: str
    lanes: tuple[TrialLane, ...]
    other_load: OtherLoadLine | None
    ticks: tuple[tuple[float, str], ...]
    unit: str
