"""What a report shows of an experiment's trustworthiness: part of what `shown` holds."""

from dataclasses import dataclass

from paribus.report.view.timeline_models import TrialTimeline


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """How many trials ended in a state for one reason (empty: all of that state)."""

    state: str
    reason: str
    trials: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialRow:
    """A line of the table of all trials."""

    order: int
    block: int
    round: int
    position: int
    factor: str
    arm: str
    workload: str
    load: str
    state: str
    started: str
    throughput: str
    p95: str
    remark: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Trust:
    """Why the numbers may be believed, and by whom they can be checked."""

    tallies: tuple[Tally, ...]
    facts: tuple[tuple[str, str], ...]
    machine: tuple[tuple[str, str], ...]
    plan_text: str
    trials: tuple[TrialRow, ...]
    timeline: TrialTimeline | None = None
