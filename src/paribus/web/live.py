"""What the page of an experiment on its way shows: frozen, worded and rounded.

In: the records of an experiment as the store has them now. Out: Live. Called by the archive; no statistics are computed
here, the intervals are those of the looks that were taken.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from paribus.i18n import N_, gettext, translate_stored
from paribus.model import Experiment, ExperimentState, Look, Measurement, Plan, Purpose, Trial, TrialState
from paribus.report.sections import evidence
from paribus.report.view.terms import word
from paribus.units import show_duration
from paribus.web import pace
from paribus.web.funnel import Funnel, funnels
from paribus.web.latest import MadeTrial, Telemetry, latest, made_trials, telemetry

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
    Purpose.PRECONDITION: N_("to bring the device to its steady state"),
}
_STEP = 10  # a screen reader is told of every so many percent


@dataclass(frozen=True, slots=True, kw_only=True)
class Current:
    """The trial at hand."""

    order: int
    what: str
    workload: str
    load: str
    why: str
    doing: str
    since: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Live:
    """Everything the page shows.

    `state` is the word that the store has, `announced` what a screen reader says when it changes, `silent` a warning.
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
    announced: str
    current: Current | None
    confidence: str
    funnels: tuple[Funnel, ...]
    made: tuple[MadeTrial, ...]
    telemetry: Telemetry
    notes: tuple[str, ...]

    @property
    def percent(self) -> int:
        """How much is made, rounded down, so that 100 is all."""
        return int(self.pace.share * 100)


def shown_orders(trials: Sequence[Trial]) -> list[int]:
    """The trials whose measurements the page shows."""
    return [trial.order for trial in latest(trials)]


def live(
    experiment: Experiment,
    plan: Plan,
    trials: Sequence[Trial],
    summaries: Mapping[int, Mapping[str, Measurement]],
    looks: Sequence[Look],
    now: float,
) -> Live:
    """Word, round and order what the page shows at `now`, seconds since the epoch."""
    running = experiment.state is ExperimentState.RUNNING
    at_pace = pace.pace(trials)
    seen = funnels(looks, plan.protocol.margins)
    return Live(
        id=experiment.id,
        title=experiment.name,
        question=plan.question,
        state=str(experiment.state),
        running=running,
        over=experiment.ended is not None,
        when=evidence.clock(experiment.started),
        pace=at_pace,
        counts=_counts(at_pace),
        time=_time(experiment, at_pace, now),
        silent=silence(experiment, pace.sign(trials), plan.protocol.trial_s, now),
        announced=_announced(experiment, at_pace, seen),
        current=_current(trials) if running else None,
        confidence=f"{plan.protocol.confidence * 100:.3g} %",
        funnels=seen,
        made=made_trials(trials, summaries),
        telemetry=telemetry(trials, summaries),
        notes=tuple(map(translate_stored, experiment.notes)),
    )


def clock(seconds: float) -> str:
    """A time of day in UTC: `09:14:05 UTC`."""
    return f"{datetime.fromtimestamp(seconds, UTC):%H:%M:%S} UTC"


def _counts(seen: pace.Pace) -> str:
    words = [gettext("{made} of {counted} trials done", made=seen.made, counted=seen.counted)]
    if seen.unusable:
        words.append(gettext("{n} of them invalid or failed", n=seen.unusable))
    if seen.spared:
        words.append(gettext("{n} not needed, because their comparisons are decided", n=seen.spared))
    return gettext(", ").join(words)


def _time(experiment: Experiment, seen: pace.Pace, now: float) -> str:
    if experiment.ended is not None and experiment.state is not ExperimentState.RUNNING:
        return gettext("took {duration}", duration=show_duration(max(0.0, experiment.ended - experiment.started)))
    if experiment.state is not ExperimentState.RUNNING:
        return gettext("not started")
    since = show_duration(max(0.0, now - experiment.started))
    if seen.left_s is None:
        return gettext("{duration} since the start; the time left is known after the first trials", duration=since)
    said = N_("{duration} since the start; about {left} left if every trial is needed")
    return gettext(said, duration=since, left=show_duration(seen.left_s))


def silence(experiment: Experiment, sign: tuple[float, float], trial_s: float, now: float) -> str:
    """What is said of one that runs and is silent; `sign` is that of its trials."""
    last = max(experiment.started, sign[0])
    if experiment.state is not ExperimentState.RUNNING or not pace.may_be_cut_off(last, sign[1], trial_s, now):
        return ""
    said = N_(
        "Nothing was written since {last}: the experiment is creating data, or it was cut off. Run: paribus status"
    )
    return gettext(said, last=evidence.clock(last))


def _announced(experiment: Experiment, seen: pace.Pace, decided: Sequence[Funnel]) -> str:
    found = [f"{one.title} {one.verdict}" for one in decided if one.verdict]
    words = gettext("The experiment is {state}", state=word(experiment.state))
    if experiment.state is ExperimentState.RUNNING:
        words = gettext("{share} of the trials are done", share=f"{int(seen.share * 100) // _STEP * _STEP} %")
    return gettext("; ").join([words, *found])


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
