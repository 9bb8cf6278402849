"""Results of preconditioning, one for each data set."""

from collections.abc import Mapping, Sequence

from paribus.analysis.paired.effects import Summaries
from paribus.findings import Preconditioned
from paribus.i18n import gettext, translate_stored
from paribus.model import Measurement, Purpose, Trial, TrialState, Workload


def preconditioning(trials: Sequence[Trial], summaries: Summaries) -> list[Trial]:
    """Return the trials that precondition.

    Where a trial was repeated after an interruption, earlier ones that had finished are included: trials used their
    data.
    """
    precondition_trials = [trial for trial in trials if trial.purpose is Purpose.PRECONDITION]
    return [
        trial
        for trial in precondition_trials
        if trial.state is not TrialState.SUPERSEDED or _has_ended(trial, summaries)
    ]


def _has_ended(trial: Trial, summaries: Summaries) -> bool:
    """Whether the data set was preconditioned and later trials used it."""
    finished = trial.state in (TrialState.DONE, TrialState.SUPERSEDED)
    return finished and not trial.invalid_because and "steady" in summaries.get(trial.order, {})


def preconditioned(
    trials: Sequence[Trial],
    summaries: Summaries,
    courses: Mapping[int, Measurement],
    workloads: Sequence[Workload],
) -> tuple[Preconditioned, ...]:
    """Return the result of every preconditioning trial.

    Args:
        trials: All trials of an experiment.
        summaries: Measurements by trial and metric.
        courses: Throughput with its points, by trial.
        workloads: Workloads of the plan.
    """
    workloads_by_name = {workload.name: workload for workload in workloads}
    results = []
    for trial in preconditioning(trials, summaries):
        workload = workloads_by_name[trial.workload]
        precondition = workload.precondition
        if precondition is None:
            continue
        ended = _has_ended(trial, summaries)
        measured = (
            {name: measurement.mean for name, measurement in summaries.get(trial.order, {}).items()} if ended else {}
        )
        results.append(
            Preconditioned(
                trial=trial.order,
                workload=workload.plan_name,
                data=trial.arm,
                asked=precondition,
                state=TrialState.DONE if ended else trial.state,
                reason=gettext("; ").join(
                    [*map(translate_stored, trial.invalid_because), *filter(None, [trial.failure_message])]
                ),
                course=courses[trial.order].points if ended else (),
                average_per_s=measured.get("steady_per_s"),
                spread=measured.get("spread"),
                drift=measured.get("drift"),
                steady=bool(measured.get("steady")),
            )
        )
    return tuple(results)
