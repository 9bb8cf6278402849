"""Contents of the page of a running experiment, as text and rounded numbers.

Input: the current records of an experiment. Output: `Live`. The archive calls it. It computes no statistics: the
intervals are those of the looks, and before these the descriptive ones of `lab`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from paribus.i18n import N_, gettext, ngettext, translate_stored
from paribus.lab.results.preliminary import Preliminary
from paribus.model import Experiment, ExperimentState, Look, Measurement, Plan, Purpose, Trial, TrialState
from paribus.report.sections import evidence
from paribus.report.view.terms import word
from paribus.units import show_duration
from paribus.web import pace
from paribus.web.funnel import Funnel, drawn_funnels, funnels, preliminary_funnels
from paribus.web.latest import EndedTrial, Telemetry, ended_trials, latest, telemetry
from paribus.web.voided import VoidedTrials, voided_trials

_DOING = {
    TrialState.APPLYING: N_("the settings are being applied and read back"),
    TrialState.SETTLING: N_("the load is running: settling or measuring"),
}
_PURPOSES = {
    Purpose.CALIBRATE: N_("to measure how long the load takes to settle"),
    Purpose.NOISE_FLOOR: N_("to learn the noise of this machine"),
    Purpose.SCREEN: N_("to screen many factors at once"),
    Purpose.PLACEBO: N_("a placebo: the baseline against itself"),
    Purpose.CONFIRM: N_("to confirm what the screen showed"),
    Purpose.ALONE: N_("to try alone what is equivalent in the screen"),
    Purpose.PRECONDITION: N_("to bring the device to its steady state"),
}
_CUT_OFF = N_("was cut off")
_STEP = 10  # a screen reader is told of every so many percent


@dataclass(frozen=True, slots=True, kw_only=True)
class Current:
    """The current trial."""

    order: int
    what: str
    workload: str
    load: str
    why: str
    doing: str
    since: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Live:
    """Contents of the page.

    `state` is the state as stored, or `was cut off`; `resume` is then the command that continues the experiment, and
    empty otherwise. `announced` is the text for screen readers on a change, `silent` a warning. `voided`: the last
    trials, where many of them cannot be used. `funnels` have all looks, `drawn` the charts, `undrawn` a sentence
    about further comparisons, and `waiting` one about those without an interval.
    """

    id: str
    title: str
    question: str
    state: str
    running: bool
    over: bool
    when: str
    pace: pace.Pace
    counts: str
    time: str
    silent: str
    resume: str
    voided: VoidedTrials | None
    announced: str
    current: Current | None
    confidence: str
    funnels: tuple[Funnel, ...]
    drawn: tuple[Funnel, ...]
    undrawn: str
    waiting: str
    made: tuple[EndedTrial, ...]
    telemetry: Telemetry
    notes: tuple[str, ...]

    @property
    def percent(self) -> int:
        """Share of ended trials in percent, rounded down, so that 100 means all."""
        return int(self.pace.share * 100)


def shown_orders(trials: Sequence[Trial]) -> list[int]:
    """Orders of the trials whose measurements the page shows."""
    return [trial.order for trial in latest(trials)]


def live(
    experiment: Experiment,
    plan: Plan,
    trials: Sequence[Trial],
    summaries: Mapping[int, Mapping[str, Measurement]],
    looks: Sequence[Look],
    now: float,
    *,
    is_cut_off: bool = False,
    before_looks: Sequence[Preliminary] = (),
) -> Live:
    """Contents of the page at `now`, seconds since the epoch; `before_looks` are the comparisons without a look."""
    running = experiment.state is ExperimentState.RUNNING and not is_cut_off
    progress = pace.pace(trials)
    deciding = {workload.name: workload.response for workload in plan.workloads}
    comparison_funnels = funnels(looks, plan.protocol.margins, deciding)
    all_charts = (*comparison_funnels, *preliminary_funnels(before_looks, plan.protocol.margins))
    drawn = drawn_funnels(all_charts)
    return Live(
        id=experiment.id,
        title=experiment.name,
        question=plan.question,
        state=state_of(experiment, is_cut_off=is_cut_off),
        running=running,
        over=experiment.ended is not None,
        when=evidence.clock(experiment.started),
        pace=progress,
        counts=_counts(progress),
        time=_last_event(experiment, trials) if is_cut_off else _time(experiment, progress, now),
        silent="" if is_cut_off else silence(experiment, pace.last_activity(trials), plan.protocol.trial_s, now),
        resume=resume_command(experiment) if is_cut_off else "",
        voided=voided_trials(trials) if running else None,
        announced=_announced(experiment, progress, comparison_funnels, is_cut_off=is_cut_off),
        current=_current(trials) if running else None,
        confidence=f"{plan.protocol.confidence * 100:.3g} %",
        funnels=comparison_funnels,
        drawn=drawn,
        undrawn=_undrawn(sum(chart.decides for chart in all_charts) - len(drawn)),
        waiting=_waiting(before_looks),
        made=ended_trials(trials, summaries),
        telemetry=telemetry(trials, summaries),
        notes=tuple(map(translate_stored, experiment.notes)),
    )


def clock(seconds: float) -> str:
    """A time of day in UTC: `09:14:05 UTC`."""
    return f"{datetime.fromtimestamp(seconds, UTC):%H:%M:%S} UTC"


def state_of(experiment: Experiment, *, is_cut_off: bool) -> str:
    """State of an experiment as a message that is not translated yet."""
    return _CUT_OFF if is_cut_off else str(experiment.state)


def resume_command(experiment: Experiment) -> str:
    """The command that continues an experiment."""
    return f"paribus resume {experiment.id}"


def _last_event(experiment: Experiment, trials: Sequence[Trial]) -> str:
    last_event_s = max(experiment.started, pace.last_activity(trials)[0])
    return gettext("Nothing works on it since {last}.", last=evidence.clock(last_event_s))


def _counts(progress: pace.Pace) -> str:
    parts = [gettext("{made} of {counted} trials done", made=progress.made, counted=progress.counted)]
    if progress.unusable:
        parts.append(gettext("{n} of them invalid or failed", n=progress.unusable))
    if progress.spared:
        parts.append(gettext("{n} not needed, because their comparisons are decided", n=progress.spared))
    return gettext(", ").join(parts)


def _time(experiment: Experiment, progress: pace.Pace, now: float) -> str:
    if experiment.ended is not None and experiment.state is not ExperimentState.RUNNING:
        return gettext("took {duration}", duration=show_duration(max(0.0, experiment.ended - experiment.started)))
    if experiment.state is not ExperimentState.RUNNING:
        return gettext("not started")
    since = show_duration(max(0.0, now - experiment.started))
    if progress.left_s is None:
        return gettext("{duration} since the start; the time left is known after the first trials", duration=since)
    message = N_("{duration} since the start; about {left} left if every trial is needed")
    return gettext(message, duration=since, left=show_duration(progress.left_s))


def silence(experiment: Experiment, activity: tuple[float, float], trial_s: float, now: float) -> str:
    """Warning for a running experiment that has written nothing for too long; `activity` is `pace.last_activity`."""
    last_event_s = max(experiment.started, activity[0])
    if experiment.state is not ExperimentState.RUNNING or not pace.may_be_cut_off(
        last_event_s, activity[1], trial_s, now
    ):
        return ""
    message = N_(
        "Nothing was written since {last}: the experiment is creating data, or it was cut off. Run: paribus status"
    )
    return gettext(message, last=evidence.clock(last_event_s))


def _announced(experiment: Experiment, progress: pace.Pace, decided: Sequence[Funnel], *, is_cut_off: bool) -> str:
    verdicts = [
        f"{comparison.title} {comparison.verdict}"
        for comparison in decided
        if comparison.verdict and comparison.decides
    ]
    text = gettext("The experiment is {state}", state=word(experiment.state))
    if is_cut_off:
        text = gettext("The experiment was cut off")
    elif experiment.state is ExperimentState.RUNNING:
        text = gettext("{share} of the trials are done", share=f"{int(progress.share * 100) // _STEP * _STEP} %")
    return gettext("; ").join([text, *verdicts])


def _waiting(comparisons: Sequence[Preliminary]) -> str:
    """Sentence about the comparisons that have no interval yet; empty where there are none."""
    pairs = sorted({comparison.first_look for comparison in comparisons if not comparison.intervals})
    if not pairs:
        return ""
    return ngettext(
        "{n} comparison has fewer than two pairs, which an interval needs; the first look is after {pairs} pairs.",
        "{n} comparisons have fewer than two pairs, which an interval needs; the first look is after {pairs} pairs.",
        sum(not comparison.intervals for comparison in comparisons),
        pairs=f"{pairs[0]}" if len(pairs) == 1 else f"{pairs[0]}–{pairs[-1]}",
    )


def _undrawn(count: int) -> str:
    """Sentence about comparisons without a chart; empty where there are none."""
    if not count:
        return ""
    return ngettext(
        "{n} more comparison is not drawn; the table has its looks.",
        "{n} more comparisons are not drawn; the table has their looks.",
        count,
    )


def _current(trials: Sequence[Trial]) -> Current | None:
    underway = [trial for trial in trials if trial.state in pace.UNDERWAY]
    if not underway:
        return None
    trial = underway[-1]
    return Current(
        order=trial.order,
        what=translate_stored(trial.subject),
        workload=trial.workload,
        load=str(trial.load),
        why=gettext(_PURPOSES[trial.purpose]) if trial.purpose in _PURPOSES else "",
        doing=gettext(_DOING.get(trial.state, str(trial.state))),
        since=clock(trial.applied or trial.started) if trial.started else "",
    )
