"""Carry-over: what a trial of the compared arm leaves behind for the next trial, such as dirty pages or a cold cache.

Where a setting may do so, a comparison of two arms washes it out: a load that follows the other arm runs longer before
it is measured. Both trials of a pair then follow the same arm. With more arms the fit has a covariate for
carry-over. Everywhere a check looks for what is left. Where settings are toggled, it compares the two trials in the
middle of each block: one follows the other arm, one its own.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from paribus.analysis.paired.checks.check_context import CheckContext
from paribus.analysis.paired.checks.limits import size_limit
from paribus.analysis.paired.effects import PairSeries
from paribus.analysis.paired.finding import Pairs, Question
from paribus.i18n import N_, gettext
from paribus.model import Check, Trial
from paribus.stats import diagnostics
from paribus.stats.diagnostics import SUSPICIOUS, Coefficient
from paribus.stats.huber import Array, huber
from paribus.units import show_duration, show_percent

_LASTS = 0.5  # of what an arm leaves behind, for each further trial
_LASTING = N_(": set wash_out to the time that it lasts, or recreate the data for each application")
_NOT_WASHED = N_(": settle longer, or recreate the data for each application")


def with_carry_over(series: PairSeries, before: Mapping[int, Trial]) -> PairSeries:
    """Return the series whose pairs tell which of their trials followed one of the compared arm.

    Args:
        series: The pairs of a comparison.
        before: The trial that ran before each trial.
    """
    followed = followed_compared(series, before).astype(int)
    after = (followed[:, 0] - followed[:, 1]).tolist()
    pairs = (replace(pair, after=value) for pair, value in zip(series.pairs, after, strict=True))
    return replace(series, pairs=tuple(pairs))


def followed_compared(series: PairSeries, before: Mapping[int, Trial]) -> NDArray[np.bool_]:
    """Return whether the compared and the baseline trial of each pair followed the compared arm, (n, 2)."""
    followed = [[_is_compared(series, before.get(order)) for order in reversed(pair.trials)] for pair in series.pairs]
    return np.array(followed, dtype=bool).reshape(-1, 2)


def _is_compared(series: PairSeries, trial: Trial | None) -> bool:
    return trial is not None and (trial.factor, trial.workload, trial.arm) == (
        series.factor,
        series.workload,
        series.arm,
    )


def carry_over_check(series: PairSeries, pairs: Pairs, question: Question, context: CheckContext) -> Check | None:
    """Check that no carry-over is in the effect; None where the pairs do not tell.

    Args:
        series: The pairs of the comparison.
        pairs: The same pairs as arrays.
        question: The declared question.
        context: Further information about the trials.
    """
    if series.split:
        return None
    before, is_washed = context.timeline.before, series.factor in context.washed_out
    if all(pair.is_toggled for pair in series.pairs):
        gain, lasting = _gain_of_toggled(series, pairs, context), None
    else:
        gain = diagnostics.carry_over(pairs.difference, pairs.order, followed_compared(series, before).astype(float))
        washes = context.wash_out_s / context.trial_s if is_washed and context.trial_s else 0.0
        lasting = diagnostics.carry_over(pairs.difference, pairs.order, exposure(series, before, washes))
    if gain is None:
        return None
    if any(pair.after for pair in series.pairs):
        message = N_("a trial that follows {arm} changes by {effect}, for which the effect is adjusted")
        text = gettext(message, arm=series.arm, effect=show_percent(gain.estimate))
        return Check(gettext("carry-over"), True, text)
    if is_washed:
        lasting = None if context.is_washed_for_long else lasting
        return gain_check(gain, question, series.arm, _LASTING, washed_s=context.wash_out_s, lasting=lasting)
    return gain_check(gain, question, series.arm, N_(": set wash_out = true"), lasting=lasting)


def exposure(series: PairSeries, before: Mapping[int, Trial], washes: float) -> Array:
    """Return the residue of compared-arm trials when each trial begins, in units of one trial's residue, shape (n, 2).

    Half of it lasts for each further trial. Where a pair follows the other arm, its first arm runs for the time of
    `washes` trials before. Columns are the compared arm and the baseline.
    """
    lasts = _LASTS**washes
    first = {min(pair.trials): int(min(pair.trials) in pair.sides[1]) for pair in series.pairs}
    left: dict[int, float] = {}
    begin = {earlier.order: None for earlier in before.values() if earlier.order not in before}
    for order, earlier in {**begin, **before}.items():
        followed = _is_compared(series, earlier)
        left[order] = 0.0 if earlier is None else _LASTS * left[earlier.order] + followed
        if order in first and (earlier is None or first[order] != followed):
            left[order] = lasts * left[order] + (1 - lasts) / (1 - _LASTS) * first[order]
    rows = [[left.get(order, 0.0) for order in reversed(pair.trials)] for pair in series.pairs]
    return np.array(rows).reshape(-1, 2)


def _gain_of_toggled(series: PairSeries, pairs: Pairs, context: CheckContext) -> Coefficient | None:
    gains = gains_in_blocks(series, context)
    usable = np.isfinite(gains)
    x = np.column_stack([np.ones(len(gains)), pairs.order])[usable]
    if len(x) <= x.shape[1] + 2 or np.linalg.matrix_rank(x) < x.shape[1]:
        return None
    return diagnostics.coefficient(huber(gains[usable], x), 0)


def gains_in_blocks(series: PairSeries, context: CheckContext) -> Array:
    """Return how much a trial gains from following the compared arm, by pairs with toggled settings, as log ratios.

    The two trials in the middle of such a block are of one arm: the first follows the other arm, the second its own.
    NaN where there are no two such trials.
    """
    gains = np.full(len(series.pairs), np.nan)
    for number, pair in enumerate(series.pairs):
        first, *middle, last = sorted(pair.trials)
        for side, sign in zip(pair.sides, (-1, 1), strict=True):
            if last - first == 3 and set(middle) == set(side):
                values = [context.summaries.get(order, {}).get(series.response) for order in middle]
                means = [value.mean for value in values if value is not None and value.mean > 0]
                if len(means) == 2:
                    gains[number] = sign * np.log(means[1] / means[0])
    return gains


def gain_check(
    gain: Coefficient,
    question: Question,
    arm: str,
    remedy: str = _NOT_WASHED,
    washed_s: float = 0.0,
    lasting: Coefficient | None = None,
) -> Check:
    """Return whether carry-over may be noise, or is at most half the margin.

    Args:
        gain: The change of a trial that follows the arm, log ratio.
        question: The declared question.
        arm: What the trial follows.
        remedy: What to do where there is carry-over, a message that follows a colon.
        washed_s: Seconds of load by which it was washed out.
        lasting: The same change where half of it lasts for each further trial.
    """
    message = (
        N_("a trial that follows {arm} changes by {effect}, after {trial} of wash-out; {visible} would be seen")
        if washed_s
        else N_("a trial that follows {arm} changes by {effect}; {visible} would be seen")
    )
    failed = _is_seen(gain, question)
    text = gettext(
        message,
        arm=arm,
        effect=show_percent(gain.estimate),
        trial=show_duration(washed_s),
        visible=_visible(gain, question),
    )
    limited = gain
    if lasting is not None and not failed:
        failed, remedy = _is_seen(lasting, question), _LASTING
        also = N_(", and {visible} where half of it lasts for each further trial")
        if failed:
            limited = lasting
            also = N_("; where half of it lasts for each further trial, it is {effect}")
        effect = show_percent(lasting.estimate)
        text += gettext(also, visible=_visible(lasting, question), effect=effect)
    limit = size_limit(question.margin / 2, limited, SUSPICIOUS)
    return Check(gettext("carry-over"), not failed, text + (gettext(remedy) if failed else ""), limit)


def _is_seen(gain: Coefficient, question: Question) -> bool:
    return abs(gain.estimate) > question.margin / 2 and gain.p < SUSPICIOUS


def _visible(gain: Coefficient, question: Question) -> str:
    """The smallest change that would be seen."""
    return show_percent(max(gain.visible(), question.margin / 2)).lstrip("+")
