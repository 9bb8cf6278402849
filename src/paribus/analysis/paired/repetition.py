"""Shared conditions of the pairs of a comparison, and how often the experiment recreated them."""

from collections.abc import Iterable, Sequence

from paribus.analysis.diagnostics.uncontrolled import Facts
from paribus.analysis.paired.effects import SAME_START_S, PairSeries, Summaries
from paribus.i18n import N_, N_plural, gettext, ngettext
from paribus.model import LAYOUT, SERVER_STARTED, Repetition, Trial, Workload

_BOOT = "boot"
_STATES = N_plural("{n} state of the data", "{n} states of the data")
_LAYOUTS = N_plural("{n} layout of the storage", "{n} layouts of the storage")
_BOOTS = N_plural("{n} boot", "{n} boots")


def repetition_of(
    series: PairSeries,
    trials: Sequence[Trial],
    workloads: Sequence[Workload],
    summaries: Summaries,
    conditions: Facts,
) -> Repetition:
    """Count what the trials of a comparison span.

    Args:
        series: The pairs of the look.
        trials: All trials of the experiment.
        workloads: Workloads of the plan.
        summaries: Measurements by trial and metric.
        conditions: Machine conditions that each trial recorded.
    """
    in_pairs = {order for pair in series.pairs for order in pair.trials}
    paired = [trial for trial in trials if trial.order in in_pairs]
    workload = next(workload for workload in workloads if workload.name == series.workload)
    applications = {(trial.block, trial.attempt, trial.application, trial.arm) for trial in paired}
    data_states = {"keep": 1, "round": len({trial.round for trial in paired}), "application": len(applications)}
    layouts = {str(trial.settings[LAYOUT]) for trial in paired if LAYOUT in trial.settings}
    starts = [summaries.get(trial.order, {}).get(SERVER_STARTED) for trial in paired]
    boots = {conditions[trial.order][_BOOT] for trial in paired if _BOOT in conditions.get(trial.order, {})}
    return Repetition(
        server_starts=_count_starts(start.mean for start in starts if start is not None) or None,
        data_states=data_states.get(workload.data),
        layouts=(len(applications) if len(layouts) > 1 else 1) if layouts else None,
        boots=len(boots) or None,
    )


def _count_starts(starts: Iterable[float]) -> int:
    """Count the different starts, which a server may state to a second only."""
    ordered = sorted(starts)
    return sum(number == 0 or start - ordered[number - 1] > SAME_START_S for number, start in enumerate(ordered))


def repetition_text(repetition: Repetition) -> str:
    """Return what the pairs span beside starts of a server; empty where that is unknown."""
    counted: Sequence[tuple[tuple[str, str], int | None]] = (
        (_STATES, repetition.data_states),
        (_LAYOUTS, repetition.layouts),
        (_BOOTS, repetition.boots),
    )
    spanned = [ngettext(*forms, count) for forms, count in counted if count]
    return gettext(N_("the pairs span {spanned}"), spanned=gettext(", ").join(spanned)) if spanned else ""
