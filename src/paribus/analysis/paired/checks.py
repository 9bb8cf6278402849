"""Checks of the assumptions behind a verdict (judging procedure, "Diagnostics").

A failed check makes the verdict suspect. Each check states what it found.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from paribus.analysis.diagnostics.plausibility import Lawful
from paribus.analysis.diagnostics.uncontrolled import Facts, unlike
from paribus.analysis.paired.decision import LEAST_UNITS, Finding, Pairs, Question
from paribus.analysis.paired.effects import Pair, PairSeries, Summaries
from paribus.i18n import N_, gettext
from paribus.model import Check, Measurement, Trial
from paribus.stats import diagnostics
from paribus.stats.diagnostics import Coefficient
from paribus.stats.huber import Array, Regression
from paribus.units import show_percent

_SUSPICIOUS = 0.01  # error of the checks of every experiment
_UNSETTLED = 0.05
_LEAST_DIFFERENCE = 0.01  # of the processors' clock or time, as a share
_ALPHA = 0.05
_FEWEST_POINTS = 3
_HOUR_S = 3600.0
_LEAST_COMPLETIONS = {"response_p99_s": 10_000}

Courses = Mapping[int, Measurement]


@dataclass(frozen=True, slots=True)
class Timeline:
    """Start time, preceding trial and duration in seconds of each trial."""

    started: Mapping[int, float]
    before: Mapping[int, Trial]
    took_s: Mapping[int, float]

    @classmethod
    def of(cls, trials: Sequence[Trial]) -> "Timeline":
        """Return the timeline of trials in any order."""
        run_order = sorted(
            (trial for trial in trials if trial.started is not None), key=lambda trial: trial.started or 0.0
        )
        preceding = {later.order: earlier for earlier, later in pairwise(run_order)}
        return cls(
            {trial.order: trial.started or 0.0 for trial in run_order},
            preceding,
            {trial.order: trial.took_s for trial in run_order},
        )

    def pair_s(self, series: PairSeries) -> float:
        """Return the mean seconds of a pair, or of a pair of applications; 0 where unknown."""
        return sum(self.took_s.get(order, 0.0) for pair in series.pairs for order in pair.trials) / max(series.units, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckContext:
    """Information about the trials of a comparison that the checks need.

    Attributes:
        timeline: Run order and times.
        summaries: Measurements by trial and metric.
        courses: Time series of the response within each trial.
        noise: Difference of the baseline from itself before the comparison (log ratio, p value).
        placebo: The same during the comparison.
        drives: Error counters of the drives at each reading.
        conditions: Machine conditions that each trial recorded.
        lawful: Trials whose figures violate a law of arithmetic or physics.
    """

    timeline: Timeline
    summaries: Summaries
    courses: Courses
    noise: tuple[float, float] | None
    placebo: tuple[float, float] | None
    drives: Mapping[str, Sequence[int]]
    conditions: Facts
    lawful: Lawful


def checks_of(
    finding: Finding, question: Question, series: PairSeries, pairs: Pairs, context: CheckContext
) -> tuple[Check, ...]:
    """Return every check of a comparison that its data allow.

    Args:
        finding: Result of the look.
        question: The declared question.
        series: The pairs of the look.
        pairs: The same pairs as arrays.
        context: Further information about the trials.
    """
    checks = [
        _order(finding.order_effect, question),
        None if series.split else _carry_over(series, pairs, question, context.timeline),
        _settled(series, question, context.courses),
        _outliers(finding, series),
        _faults(series),
        *_machine_checks(series, context),
        context.lawful.check(series),
        _completions(series, pairs),
        _independence(finding.fitted),
        _drift(series, context.timeline),
    ]
    return tuple(check for check in checks if check is not None)


def checks_of_screen(
    fitted: Regression, question: Question, series: PairSeries, pairs: Pairs, context: CheckContext
) -> tuple[Check, ...]:
    """Return the checks that all factors of a screen share.

    Args:
        fitted: The screen's regression; its last coefficient is the order effect.
        question: The declared question.
        series: The pairs of the look.
        pairs: The same pairs as arrays.
        context: Further information about the trials.
    """
    checks = [
        _order(diagnostics.coefficient(fitted, len(fitted.coefficients) - 1), question),
        *_machine_checks(series, context),
        context.lawful.check(series),
        _completions(series, pairs),
        _independence(fitted),
        _drift(series, context.timeline),
    ]
    return tuple(check for check in checks if check is not None)


def _fails(coefficient: Coefficient, margin: float, alpha: float = _SUSPICIOUS) -> bool:
    """Whether a coefficient is significant and larger than half the margin."""
    return abs(coefficient.estimate) > margin / 2 and coefficient.p < alpha


def _order(gain: Coefficient | None, question: Question) -> Check | None:
    if gain is None:
        return None
    failed = _fails(gain, question.margin)
    text = gettext("whoever runs later gains {effect}", effect=show_percent(gain.estimate))
    return Check(gettext("order"), not failed, text + (gettext(": settle longer") if failed else ""))


def _carry_over(series: PairSeries, pairs: Pairs, question: Question, timeline: Timeline) -> Check | None:
    after = [[_follows_compared(order, series, timeline) for order in reversed(pair.trials)] for pair in series.pairs]
    gain = diagnostics.carry_over(pairs.difference, pairs.order, np.array(after, dtype=bool).reshape(-1, 2))
    if gain is None:
        return None
    failed = _fails(gain, question.margin)
    advice = gettext(": settle longer, or make the data anew for each application") if failed else ""
    text = gettext("a trial after one of {arm} gains {effect}", arm=series.arm, effect=show_percent(gain.estimate))
    return Check(gettext("carry-over"), not failed, text + advice)


def _follows_compared(order: int, series: PairSeries, timeline: Timeline) -> bool:
    """Whether the trial before this one was of the compared arm."""
    preceding = timeline.before.get(order)
    return preceding is not None and (preceding.factor, preceding.workload, preceding.arm) == (
        series.factor,
        series.workload,
        series.arm,
    )


def _settled(series: PairSeries, question: Question, courses: Courses) -> Check | None:
    windows = [points for pair in series.pairs if (points := _points(pair, courses)) is not None]
    trend = diagnostics.trend_in_trials(*diagnostics.end_log_ratios(windows)) if windows else None
    if trend is None:
        return None
    failed = _fails(trend, question.margin, _UNSETTLED)
    message = N_("from the first third of the trials to the last the effect changes by {change}")
    text = gettext(message, change=show_percent(trend.estimate))
    return Check(gettext("settled"), not failed, text + (gettext(": settle longer") if failed else ""))


def _points(pair: Pair, courses: Courses) -> tuple[np.ndarray, np.ndarray] | None:
    windows = [courses[order].points for order in reversed(pair.trials) if order in courses]
    usable = len(windows) == 2 and all(len(points) >= _FEWEST_POINTS and min(points) > 0 for points in windows)
    return (np.array(windows[0]), np.array(windows[1])) if usable else None


def _outliers(finding: Finding, series: PairSeries) -> Check:
    compared_count, baseline_count = finding.slow
    failed = diagnostics.equal_counts_p(compared_count, baseline_count) < _ALPHA
    message = N_("{n} trials of {arm} and {others} of {baseline} lie far off")
    return Check(
        gettext("outliers"),
        not failed,
        gettext(message, n=compared_count, arm=series.arm, others=baseline_count, baseline=series.baseline),
    )


def _faults(series: PairSeries) -> Check:
    baseline_count, arm_count = series.faults
    failed = diagnostics.equal_counts_p(baseline_count, arm_count) < _ALPHA
    message = N_("in {n} blocks a trial of {arm} could not be used, and in {others} one of {baseline}")
    return Check(
        gettext("reruns"),
        not failed,
        gettext(message, n=arm_count, arm=series.arm, others=baseline_count, baseline=series.baseline),
    )


def _machine_checks(series: PairSeries, context: CheckContext) -> list[Check | None]:
    """Checks that the machine was the same for both arms."""
    return [
        _baseline_difference(N_("noise floor"), context.noise, N_("before anything was compared")),
        _baseline_difference(N_("placebo"), context.placebo, N_("meanwhile")),
        _clock(series, context.summaries),
        _no_event(N_("throttling"), "cpu_throttled", series, context.summaries, N_("heat slowed the processors")),
        _no_event(N_("disk errors"), "device_errors", series, context.summaries, N_("requests to the disk failed")),
        _drives(context.drives),
        _conditions(series, context.conditions),
        _steal(series, context.summaries),
    ]


def _baseline_difference(name: str, difference: tuple[float, float] | None, when: str) -> Check | None:
    if difference is None:
        return None
    message = N_("{when} the baseline differed from itself by {difference}")
    text = gettext(message, when=gettext(when), difference=show_percent(difference[0]))
    return Check(gettext(name), difference[1] >= _SUSPICIOUS, text)


def _paired_values(metric: str, series: PairSeries, summaries: Summaries) -> Array:
    """A metric of the baseline and the compared trial of each pair, shape (n, 2), where both have it."""
    pairs_of_measurements = [[summaries.get(order, {}).get(metric) for order in pair.trials] for pair in series.pairs]
    values = [
        [baseline.mean, compared.mean]
        for baseline, compared in pairs_of_measurements
        if baseline is not None and compared is not None
    ]
    return np.array(values, dtype=float).reshape(-1, 2)


def _clock(series: PairSeries, summaries: Summaries) -> Check | None:
    clocks = _paired_values("cpu_clock_hz", series, summaries)
    if len(clocks) < LEAST_UNITS["application"] or clocks.min() <= 0:
        return None
    difference = diagnostics.mean_difference(np.log(clocks[:, 1] / clocks[:, 0]))
    message = N_("with {arm} the processors ran {difference} faster than with {baseline}")
    text = gettext(message, arm=series.arm, difference=show_percent(difference.estimate), baseline=series.baseline)
    is_factor = series.factor.startswith("cpu.")  # the factor is meant to change the clock
    return Check(
        gettext("clock"), is_factor or abs(difference.estimate) < _LEAST_DIFFERENCE or difference.p >= _SUSPICIOUS, text
    )


def _no_event(name: str, metric: str, series: PairSeries, summaries: Summaries, event: str) -> Check | None:
    """Whether a counted event happened in no trial; `event` is its message."""
    measurements = [summaries.get(order, {}).get(metric) for pair in series.pairs for order in pair.trials]
    measured = [value for value in measurements if value is not None]
    affected = sum(value.high > 0 for value in measured)
    text = gettext("{what} in {n} of {all} trials", what=gettext(event), n=affected, all=len(measured))
    return Check(gettext(name), affected == 0, text) if measured else None


def _drives(counters: Mapping[str, Sequence[int]]) -> Check | None:
    """Whether the drives' error counters stayed constant from the first trial to the last."""
    if not counters:
        return None
    increased = [
        gettext("{name} from {before} to {now}", name=name, before=min(readings), now=max(readings))
        for name, readings in counters.items()
        if len(set(readings)) > 1
    ]
    failing = [
        gettext("{drive} says that it is failing", drive=name.partition(" ")[0])
        for name, readings in counters.items()
        if name.endswith(" failing") and any(readings)
    ]
    text = gettext("; ").join([*increased, *failing])
    text = text or gettext("none of the drives' {n} counters of errors moved", n=len(counters))
    return Check("SMART", not increased and not failing, text)


def _conditions(series: PairSeries, conditions: Facts) -> Check | None:
    """Whether all uncontrolled conditions were equal in both trials of each pair."""
    if not any(order in conditions for pair in series.pairs for order in pair.trials):
        return None
    differences = [unlike(pair.trials, conditions) for pair in series.pairs]
    names = sorted({name for names_of_pair in differences for name in names_of_pair})
    if not names:
        return Check(gettext("conditions"), True, gettext("what no trial sets was alike in both trials of every pair"))
    message = N_("{names} differed within {n} of {all} pairs, and no trial sets that")
    text = gettext(
        message, names=gettext(", ").join(map(gettext, names)), n=sum(map(bool, differences)), all=len(differences)
    )
    return Check(gettext("conditions"), False, text)


def _steal(series: PairSeries, summaries: Summaries) -> Check | None:
    shares = _paired_values("cpu_steal_share", series, summaries)
    if len(shares) < LEAST_UNITS["application"] or not shares.any():
        return None
    difference = diagnostics.mean_difference(shares[:, 1] - shares[:, 0])
    baseline_share, compared_share = shares.mean(axis=0)
    message = N_("other guests took {share:.1%} of the processors with {arm}, {usual:.1%} with {baseline}")
    text = gettext(message, share=compared_share, arm=series.arm, usual=baseline_share, baseline=series.baseline)
    return Check(gettext("steal"), abs(difference.estimate) < _LEAST_DIFFERENCE or difference.p >= _SUSPICIOUS, text)


def _completions(series: PairSeries, pairs: Pairs) -> Check | None:
    """Whether every trial has enough response times for the percentile."""
    least = _LEAST_COMPLETIONS.get(series.response)
    if least is None or pairs.count == 0:
        return None
    failed = pairs.count < least
    text = gettext("the shortest trial completed {n:,} operations", n=pairs.count)
    advice = gettext(", and {n:,} are needed: lengthen trial", n=least) if failed else ""
    return Check(gettext("completions"), not failed, text + advice)


def _independence(fitted: Regression) -> Check:
    correlation = diagnostics.lag_one(fitted.residuals)
    failed = abs(correlation) > 2.58 / np.sqrt(len(fitted.residuals))
    text = gettext("a pair and the next correlate by {r}", r=f"{correlation:+.2f}".replace("-", "−"))
    return Check(
        gettext("independence"), not failed, text + (gettext(": what disturbs outlasts a block") if failed else "")
    )


def _drift(series: PairSeries, timeline: Timeline) -> Check | None:
    """The drift, reported and never corrected: both arms of a block share it."""
    if not all(order in timeline.started for pair in series.pairs for order in pair.trials):
        return None
    hours_at = np.array([timeline.started[pair.trials[0]] for pair in series.pairs]) / _HOUR_S
    usual_log = {pair.load: 0.0 for pair in series.pairs}
    for load in usual_log:
        logs = [np.log(pair.baseline * pair.compared) / 2 for pair in series.pairs if pair.load == load]
        usual_log[load] = float(np.median(logs))
    values = np.array([np.log(pair.baseline * pair.compared) / 2 - usual_log[pair.load] for pair in series.pairs])
    slope, low, high = diagnostics.drift(hours_at, values)
    span_h = float(np.ptp(hours_at))
    slopes = f"[{show_percent(low * span_h)}, {show_percent(high * span_h)}]"
    message = N_("the machine itself changed by {change} {interval} meanwhile; pairs are made side by side")
    return Check(gettext("drift"), True, gettext(message, change=show_percent(slope * span_h), interval=slopes))
