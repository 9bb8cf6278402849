"""Checks of the assumptions behind a verdict (judging procedure, "Diagnostics").

A failed check makes the verdict suspect. Each check states what it found.
"""

import numpy as np

from paribus.analysis.paired.checks.bounded_faults import (
    BoundedFault,
    checks_with_faults,
    error_if_continued,
    error_if_dependent,
)
from paribus.analysis.paired.checks.carry_over import carry_over_check
from paribus.analysis.paired.checks.check_context import CheckContext, Courses, Timeline
from paribus.analysis.paired.checks.effect_change import STEADY_ALPHA, effect_change
from paribus.analysis.paired.checks.limits import p_limit, plain_limit, size_limit
from paribus.analysis.paired.checks.machine_checks import machine_checks
from paribus.analysis.paired.checks.stalls import STALLS_ALPHA, slow_trials, stalls_of
from paribus.analysis.paired.effects import Pair, PairSeries
from paribus.analysis.paired.finding import EffectInterval, Finding, Pairs, Question
from paribus.analysis.paired.unusable import Faults
from paribus.i18n import N_, gettext
from paribus.model import Check
from paribus.stats import diagnostics
from paribus.stats.diagnostics import Coefficient
from paribus.stats.huber import Regression
from paribus.units import show_percent

_UNSETTLED = 0.05
_ALPHA = 0.05
_FEWEST_POINTS = 3
_BETWEEN_THIRDS = 2 / 3  # distance of the middles of the first and the last third of a trial
_HOUR_S = 3600.0
_LEAST_COMPLETIONS = {"response_p99_s": 10_000}


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
    checks: list[Check | BoundedFault | None] = [
        order_check(finding.order_effect),
        carry_over_check(series, pairs, question, context),
        _settled(series, question, context.courses),
        _steady(finding, question, series),
        _outliers(finding, question, series),
        faults_check(series.faults, pairs.lost_pairs, series.arm, series.baseline),
        *machine_checks(series, context),
        context.plausibility.check(series),
        completions_check(series, pairs),
        independence_check(finding.fitted, finding.interval),
        drift_check(series, context.timeline),
    ]
    return checks_with_faults(checks, finding, question)


def order_check(gain: Coefficient | None) -> Check | None:
    """Return the order effect, reported and never a fault: the arms take turns, and the fit adjusts for it."""
    if gain is None:
        return None
    message = N_("the later trial of a pair changes by {effect}, for which the effect is adjusted")
    return Check(gettext("order"), True, gettext(message, effect=show_percent(gain.estimate)))


def _settled(series: PairSeries, question: Question, courses: Courses) -> Check | BoundedFault | None:
    windows = [points for pair in series.pairs if (points := windows_of(pair, courses)) is not None]
    trend = diagnostics.trend_in_trials(*diagnostics.end_log_ratios(windows)) if windows else None
    return None if trend is None else settled_check(trend, question, _UNSETTLED)


def settled_check(trend: Coefficient, question: Question, alpha: float) -> Check | BoundedFault:
    """Return whether a change of the effect within trials may be noise at an error of `alpha`, or is small."""
    failed = abs(trend.estimate) > question.margin / 2 and trend.p < alpha
    message = N_("from the first third of the trials to the last the effect changes by {change}")
    text = gettext(message, change=show_percent(trend.estimate))
    check = Check(gettext("settled"), not failed, text, size_limit(question.margin / 2, trend, alpha))
    error = error_if_continued(trend, _BETWEEN_THIRDS)
    return BoundedFault(check, gettext(": settle longer"), error) if failed else check


def _steady(finding: Finding, question: Question, series: PairSeries) -> Check | BoundedFault | None:
    """Whether the effect stays the same from the first pair to the last."""
    change = effect_change(finding, question)
    if change is None:
        return None
    limit = size_limit(question.margin, change.trend, STEADY_ALPHA, stated=False)
    if change.is_steady:
        message = N_("the effect of {arm} stays the same; a change of {seen} would have been seen")
        seen = show_percent(change.visible).lstrip("+")
        return Check(gettext("steady"), True, gettext(message, arm=series.arm, seen=seen), limit)
    message = N_("the effect of {arm} is {first} in the first half and {last} in the second")
    text = gettext(message, arm=series.arm, first=show_percent(change.first), last=show_percent(change.last))
    advice = gettext(": repeat the experiment in the phase that matters")
    return BoundedFault(
        Check(gettext("steady"), False, text, limit), advice, error_if_continued(change.trend, share=1.0)
    )


def windows_of(pair: Pair, courses: Courses) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the time series of the compared and the baseline side of a pair; None where a trial's is too short.

    A side of several trials has the geometric mean of their series.
    """
    if not all(order in courses for order in pair.trials):
        return None
    windows = [[courses[order].points for order in side] for side in reversed(pair.sides)]
    if not all(len(points) >= _FEWEST_POINTS and min(points) > 0 for side in windows for points in side):
        return None
    compared, baseline = (
        np.exp(np.mean([np.log(points[: min(map(len, side))]) for points in side], axis=0)) for side in windows
    )
    return compared, baseline


def _outliers(finding: Finding, question: Question, series: PairSeries) -> Check:
    """Whether neither arm has more slow trials than the other."""
    compared, baseline = slow_trials(finding, question)
    passed = stalls_of(finding, question) is None
    return outliers_check(len(compared), len(baseline), series.arm, series.baseline, passed=passed, alpha=STALLS_ALPHA)


def outliers_check(compared: int, baseline: int, arm: str, baseline_arm: str, *, passed: bool, alpha: float) -> Check:
    """Return the check of slow trials, given the number of them in both arms, and the error of its test."""
    message = N_("{n} trials of {arm} and {others} of {baseline} are outliers")
    text = gettext(message, n=compared, arm=arm, others=baseline, baseline=baseline_arm)
    return Check(gettext("outliers"), passed, text, p_limit(diagnostics.equal_counts_p(compared, baseline), alpha))


def faults_check(faults: Faults, lost: int, arm: str, baseline: str, alpha: float = _ALPHA) -> Check:
    """Return whether unusable trials are as frequent in both arms (McNemar's exact test, mid-p).

    Args:
        faults: Attempts at blocks with unusable trials.
        lost: Pairs that the interval takes for as low or as high as any.
        arm: Name of the compared arm.
        baseline: Name of the baseline.
        alpha: Error of the test.
    """
    message = N_("unusable trials: {n} of {arm}, {others} of {baseline}")
    count, others = faults.compared + faults.both, faults.baseline + faults.both
    text = gettext(message, n=count, arm=arm, others=others, baseline=baseline)
    if lost:
        allowed = N_(
            "; the interval allows for {n} lost pairs that are all as low, or all as high, as the most extreme one"
        )
        text += gettext(allowed, n=lost)
    p = diagnostics.equal_counts_p(faults.compared, faults.baseline)
    return Check(gettext("reruns"), p >= alpha, text, p_limit(p, alpha))


def completions_check(series: PairSeries, pairs: Pairs) -> Check | None:
    """Return whether every trial has enough response times for the percentile."""
    least = _LEAST_COMPLETIONS.get(series.response)
    if least is None or pairs.count == 0:
        return None
    failed = pairs.count < least
    text = gettext("the shortest trial completed {n:,} operations", n=pairs.count)
    advice = gettext(", and {n:,} are needed: lengthen trial", n=least) if failed else ""
    limit = "" if failed else plain_limit(f"{least:,}")
    return Check(gettext("completions"), not failed, text + advice, limit)


def independence_check(fitted: Regression, interval: EffectInterval) -> Check | BoundedFault:
    """Return whether consecutive pairs are independent."""
    correlation, count = diagnostics.lag_one(fitted.residuals), len(fitted.residuals)
    bound = 2.58 / np.sqrt(count)
    failed = abs(correlation) > bound
    text = gettext("correlation of consecutive pairs: {r}", r=f"{correlation:+.2f}".replace("-", "−"))
    check = Check(gettext("independence"), not failed, text, plain_limit(f"±{bound:.2f}"))
    advice = gettext(": disturbances last longer than one block")
    return BoundedFault(check, advice, error_if_dependent(interval, count)) if failed else check


def drift_check(series: PairSeries, timeline: Timeline) -> Check | None:
    """Return the drift, reported and never corrected: both arms of a block share it."""
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
    message = N_("the machine itself drifted by {change} {interval} meanwhile; the trials of a pair run back to back")
    return Check(gettext("drift"), True, gettext(message, change=show_percent(slope * span_h), interval=slopes))
