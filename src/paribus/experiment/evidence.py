"""What the store holds of an experiment, read once, and what that shows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy.engine import Engine as Store

from paribus.analysis.paired.judge import Judgement, judge
from paribus.experiment.time_series import Series, courses, made
from paribus.model import Experiment, Measurement, Plan, Trial
from paribus.store import read


@dataclass(frozen=True, slots=True)
class Evidence:
    """The plan as it is followed, every trial, and what each measured, without points."""

    plan: Plan
    trials: Sequence[Trial]
    summaries: Mapping[int, Mapping[str, Measurement]]

    @property
    def made(self) -> list[int]:
        """The orders of trials that ended with a measurement to use."""
        return made(self.trials)


def evidence(store: Store, experiment: str) -> Evidence:
    """Read it. Raises StoreError."""
    return Evidence(read.plan(store, experiment), read.trials(store, experiment), read.summaries(store, experiment))


def analyse(
    found: Evidence,
    experiment: Experiment,
    store: Store,
    *,
    finished: bool,
    seen: Series | None = None,
) -> Judgement:
    """Judge it; before the experiment is finished nothing is decided. Raises StoreError.

    `seen`: its courses, where they were read already.
    """
    plan = found.plan
    return judge(
        found.trials,
        found.summaries,
        plan.workloads,
        plan.protocol,
        read.looks(store, experiment.id),
        baseline=plan.baseline,
        finished=finished,
        factors=plan.factors,
        drives=read.drive_counters(store, experiment.id),
        conditions=read.conditions(store, experiment.id),
        courses=courses(store, experiment.id, plan, found.trials) if seen is None else seen,
    )
