"""View models of an experiment's trustworthiness, for reports."""

from dataclasses import dataclass

from paribus.report.view.timeline_models import TrialTimeline


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """Number of trials that ended in a state for one reason (empty: all of that state)."""

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
    """Evidence for the numbers, and data for checking them."""

    tallies: tuple[Tally, ...]
    facts: tuple[tuple[str, str], ...]
    machine: tuple[tuple[str, str], ...]
    plan_text: str
    trials: tuple[TrialRow, ...]
    timeline: TrialTimeline | None = None
