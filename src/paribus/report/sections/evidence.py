"""Evidence for the numbers: trials by state and reason, the machine, the plan, every trial.

In: the experiment, its trials and their summaries. Out: Trust. Called by the view.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from paribus.i18n import N_, gettext, translate_stored
from paribus.model import COMPARING, Experiment, ExperimentState, Measurement, Purpose, Trial, TrialState, machine_s
from paribus.report.inputs import ReportInput
from paribus.report.view import numbers
from paribus.report.view.evidence_models import Tally, TrialRow, Trust
from paribus.report.view.numbers import METRICS
from paribus.report.view.terms import fact, word
from paribus.units import show_duration

_UNUSED = (TrialState.INVALID, TrialState.FAILED)
_USUAL_S = 3600.0  # of one run, as field reports make them


def clock(seconds: float) -> str:
    """A time in UTC: `2026-11-21 09:14 UTC`."""
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M} UTC"


def failure_text(trial: Trial) -> str:
    """The reason why a trial failed: `setting-rejected: vm.dirty was rounded: wanted 2, found 1`."""
    because = gettext("; ").join(map(translate_stored, trial.invalid_because))
    return ": ".join(filter(None, [gettext(trial.failure or "failed"), trial.failure_message, because]))


def _reasons(trial: Trial) -> tuple[str, ...]:
    if trial.state is TrialState.FAILED:
        return (failure_text(trial),)
    return tuple(map(translate_stored, trial.invalid_because)) or (gettext("no reason recorded"),)


def tallies(trials: Sequence[Trial]) -> tuple[Tally, ...]:
    """Return the number of trials in each state, and of invalid and failed ones by reason."""
    counts = []
    for state in dict.fromkeys((TrialState.DONE, *_UNUSED, TrialState.SUPERSEDED, *TrialState)):
        in_state = [trial for trial in trials if trial.state is state]
        if not in_state:
            continue
        counts.append(Tally(state=word(state), reason="", trials=tuple(t.order for t in in_state)))
        if state in _UNUSED:
            for reason in dict.fromkeys(r for t in in_state for r in _reasons(t)):
                orders = tuple(t.order for t in in_state if reason in _reasons(t))
                counts.append(Tally(state=word(state), reason=reason, trials=orders))
    return tuple(counts)


def _remark(trial: Trial, replaced: Mapping[int, int]) -> str:
    parts = list(_reasons(trial)) if trial.state in _UNUSED else list(map(translate_stored, trial.invalid_because))
    if trial.supersedes is not None:
        parts.append(gettext("in place of {trial}", trial=trial.supersedes))
    if trial.order in replaced:
        parts.append(gettext("replaced by {trial}", trial=replaced[trial.order]))
    return gettext("; ").join(parts)


def _column(summaries: Mapping[int, Mapping[str, Measurement]], name: str) -> dict[int, str]:
    """A metric of every trial that has it, all in one unit."""
    means = {order: metrics[name].mean for order, metrics in summaries.items() if name in metrics}
    scale = numbers.scale(METRICS[name].kind, means.values())
    unit = f" {scale.unit}".replace(" /s", "")
    scaled = {order: value * scale.factor for order, value in means.items()}
    return {order: numbers.number(v, numbers.decimals(v, None)) + unit for order, v in scaled.items()}


def _since(start: float, moment: float | None) -> str:
    if moment is None:
        return ""
    minutes, seconds = divmod(max(0, round(moment - start)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}"


def _rows(
    experiment: Experiment, trials: Sequence[Trial], summaries: Mapping[int, Mapping[str, Measurement]]
) -> tuple[TrialRow, ...]:
    replaced = {t.supersedes: t.order for t in trials if t.supersedes is not None}
    throughput, p95 = _column(summaries, "throughput_per_s"), _column(summaries, "response_p95_s")
    return tuple(
        TrialRow(
            order=trial.order,
            block=trial.block,
            round=trial.round,
            position=trial.position,
            factor=trial.factor or word(trial.purpose),
            arm=trial.arm,
            workload=trial.workload,
            load=trial.load.figure,
            state=word(trial.state),
            started=_since(experiment.started, trial.started),
            throughput=throughput.get(trial.order, ""),
            p95=p95.get(trial.order, ""),
            remark=_remark(trial, replaced),
        )
        for trial in sorted(trials, key=lambda t: t.order)
    )


def usual_s(trials: Sequence[Trial]) -> float:
    """Seconds that the usual way would take: an hour for each setting at each load level, one knob at a time."""
    compared = [t for t in trials if t.purpose in COMPARING and t.state is not TrialState.SUPERSEDED]
    single = [t for t in compared if t.purpose is not Purpose.SCREEN]
    runs = {(t.workload, t.load, str(sorted(t.settings.items()))) for t in single}
    for place in {(t.workload, t.load) for t in compared if t.purpose is Purpose.SCREEN}:
        levels = {setting for t in compared if (t.workload, t.load) == place for setting in t.settings.items()}
        runs |= {(*place, str(setting)) for setting in levels}
    return _USUAL_S * len(runs)


def _facts(
    experiment: Experiment, made_s: float, planned_s: float | None, once_s: float
) -> tuple[tuple[str, str], ...]:
    if experiment.state is ExperimentState.IMPORTED:
        imported_facts = [(gettext("set"), experiment.id), (gettext("imported"), clock(experiment.started))]
        return (*imported_facts, *experiment.versions.items())
    facts = [(gettext("experiment"), experiment.id), (gettext("state"), word(experiment.state))]
    facts.append((gettext("started"), clock(experiment.started)))
    if experiment.ended is not None:
        facts.append((gettext("took"), show_duration(max(experiment.ended - experiment.started, 0))))
    planned = "" if planned_s is None else gettext(", of {duration} planned", duration=show_duration(planned_s))
    usual = N_(
        "{duration}: one hour for each setting at each load level, without repetition and without an estimate of noise"
    )
    facts += [
        (gettext("machine time of trials and reruns"), show_duration(made_s) + planned),
        *([(gettext("the usual method would take"), gettext(usual, duration=show_duration(once_s)))] if once_s else []),
        (gettext("rounds planned"), str(experiment.rounds)),
        (gettext("seed"), str(experiment.seed)),
        (gettext("schedule hash"), experiment.schedule_hash),
        (gettext("plan digest"), experiment.plan_digest),
    ]
    facts += [
        (gettext("set on the command line: {key}", key=key), value) for key, value in experiment.overrides.items()
    ]
    return tuple(facts + [(gettext(name), version) for name, version in experiment.versions.items()])


def trust(report_input: ReportInput) -> Trust:
    """Return everything that a reader needs to check or repeat the experiment."""
    experiment, trials, summaries = report_input.experiment, report_input.trials, report_input.summaries
    return Trust(
        tallies=tallies(trials),
        facts=_facts(experiment, machine_s(trials), report_input.planned_s, usual_s(trials)),
        machine=tuple((fact(name), value) for name, value in experiment.fingerprint.items()),
        plan_text=experiment.plan_text,
        trials=_rows(experiment, trials, summaries),
    )
