"""An experiment's plan, trials and summaries read from the store, and their judgement."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy.engine import Engine as Store

from paribus.analysis.paired.judge import Judgement, judge
from paribus.experiment.time_series import Series, done_orders, response_series
from paribus.model import Experiment, Measurement, Plan, Trial
from paribus.store import read


@dataclass(frozen=True, slots=True)
class ExperimentEvidence:
    """The plan as it is followed, every trial, and each trial's measurements without points."""

    plan: Plan
    trials: Sequence[Trial]
    summaries: Mapping[int, Mapping[str, Measurement]]

    @property
    def done_orders(self) -> list[int]:
        """The orders of the trials that ended with a usable measurement."""
        return done_orders(self.trials)


def evidence(store: Store, experiment: str) -> ExperimentEvidence:
    """Read an experiment's evidence. Raises StoreError."""
    return ExperimentEvidence(
        read.plan(store, experiment), read.trials(store, experiment), read.summaries(store, experiment)
    )


def analyse(
    evidence: ExperimentEvidence,
    experiment: Experiment,
    store: Store,
    *,
    finished: bool,
    series: Series | None = None,
) -> Judgement:
    """Judge the evidence; nothing is decided before the experiment is `finished`. Raises StoreError.

    `series`: the response series, where they were read already.
    """
    plan = evidence.plan
    return judge(
        evidence.trials,
        evidence.summaries,
        plan.workloads,
        plan.protocol,
        read.looks(store, experiment.id),
        baseline=plan.baseline,
        finished=finished,
        factors=plan.factors,
        requirements=plan.requirements,
        drives=read.drive_counters(store, experiment.id),
        conditions=read.conditions(store, experiment.id),
        settling=read.settling_rates(store, experiment.id),
        courses=response_series(store, experiment.id, plan, evidence.trials) if series is None else series,
    )
