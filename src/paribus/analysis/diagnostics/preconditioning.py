"""What preconditioning came to, data set by data set.

In: trials, their summaries, the courses of those that precondition, the plan's workloads. Out: one finding for each
that has ended or is still to end. Called by what reports an experiment.
"""

from collections.abc import Mapping, Sequence

from paribus.analysis.paired.effects import Summaries
from paribus.findings import Preconditioned
from paribus.i18n import gettext, translate_stored
from paribus.model import Measurement, Purpose, Trial, TrialState, Workload


def preconditioning(trials: Sequence[Trial], summaries: Summaries) -> list[Trial]:
    """The trials that precondition; of those made anew after an interruption, the earlier ones that had ended too."""
    mine = [trial for trial in trials if trial.purpose is Purpose.PRECONDITION]
    return [t for t in mine if t.state is not TrialState.SUPERSEDED or _has_ended(t, summaries)]


def _has_ended(trial: Trial, summaries: Summaries) -> bool:
    """Whether the data was preconditioned, and trials were made on it."""
    over = trial.state in (TrialState.DONE, TrialState.SUPERSEDED)
    return over and not trial.invalid_because and "steady" in summaries.get(trial.order, {})


def preconditioned(
    trials: Sequence[Trial],
    summaries: Summaries,
    courses: Mapping[int, Measurement],
    workloads: Sequence[Workload],
) -> tuple[Preconditioned, ...]:
    """`courses`: throughput with its points, by trial."""
    named = {workload.name: workload for workload in workloads}
    found = []
    for trial in preconditioning(trials, summaries):
        workload = named[trial.workload]
        wanted = workload.precondition
        if wanted is None:
            continue
        ended = _has_ended(trial, summaries)
        measured = {name: one.mean for name, one in summaries.get(trial.order, {}).items()} if ended else {}
        found.append(
            Preconditioned(
                trial=trial.order,
                workload=workload.plan_name,
                data=trial.arm,
                asked=wanted,
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
    return tuple(found)
