"""Checks behind a factor of a screen: those of the machine, which all factors share, and those of its own levels."""

import numpy as np

from paribus.analysis.paired.checks import assumptions
from paribus.analysis.paired.checks.bounded_faults import BoundedFault, checks_with_faults
from paribus.analysis.paired.checks.carry_over import gain_check, gains_in_blocks
from paribus.analysis.paired.checks.check_context import CheckContext
from paribus.analysis.paired.checks.machine_checks import machine_checks
from paribus.analysis.paired.finding import Question
from paribus.analysis.paired.questions import arrays
from paribus.analysis.screening.screen_look import ScreenFinding
from paribus.analysis.screening.screen_pairs import ScreenPairs
from paribus.model import Check, Factor
from paribus.stats import diagnostics, screen
from paribus.stats.diagnostics import SUSPICIOUS
from paribus.stats.huber import Array, Regression, huber


def checks_of_factor(
    number: int, pairs: ScreenPairs, finding: ScreenFinding, question: Question, context: CheckContext
) -> tuple[Check, ...]:
    """Return every check of a factor that the data of its screen allow.

    Args:
        number: Position of the factor among those of the screen.
        pairs: The pairs of the look.
        finding: The findings of the look; the last coefficient of its regression is the order effect.
        question: The declared question.
        context: Further information about the trials.
    """
    series, as_arrays, signs = pairs.series, arrays(pairs.series), pairs.settings[:, number]
    factor, fitted = pairs.factors[number], finding.fitted
    all_checks: list[Check | BoundedFault | None] = [
        assumptions.order_check(diagnostics.coefficient(fitted, len(fitted.coefficients) - 1)),
        _carry_over(factor, pairs, question, context),
        _settled(number, pairs, question, context),
        _outliers(factor, signs, fitted, as_arrays.resolution, question),
        assumptions.faults_check(
            pairs.faults[number], pairs.lost_pairs[number], factor.labels[1], factor.labels[0], SUSPICIOUS
        ),
        *machine_checks(series, context),
        context.plausibility.check(series),
        assumptions.completions_check(series, as_arrays),
        assumptions.independence_check(fitted, finding.factors[number].interval),
        assumptions.drift_check(series, context.timeline),
    ]
    return checks_with_faults(all_checks, finding.factors[number], question)


def _carry_over(factor: Factor, pairs: ScreenPairs, question: Question, context: CheckContext) -> Check | None:
    """Whether a trial changes where the factor was at its second level in the trial before."""
    data = arrays(pairs.series)
    if all(pair.is_toggled for pair in pairs.series.pairs):
        gains = gains_in_blocks(pairs.series, context)
        usable = np.isfinite(gains)
        x = np.column_stack([pairs.settings, data.order])[usable]
        return _gain(gains[usable], x, pairs.factors.index(factor), factor, question)
    before = context.timeline.before
    high = np.array(
        [
            [(trial := before.get(order)) is not None and trial.settings.get(factor.key) == factor.levels[1]]
            for pair in pairs.series.pairs
            for order in reversed(pair.trials)
        ],
        dtype=float,
    ).reshape(-1, 2)
    x = np.column_stack([pairs.settings, data.order, high[:, 0] - high[:, 1]])
    return _gain(data.difference, x, x.shape[1] - 1, factor, question)


def _gain(values: Array, x: Array, column: int, factor: Factor, question: Question) -> Check | None:
    """The check of the carry-over that a column of a regression shows; None where it does not."""
    if len(x) <= x.shape[1] + 2 or np.linalg.matrix_rank(x) < x.shape[1]:
        return None
    return gain_check(diagnostics.coefficient(huber(values, x), column), question, factor.labels[1])


def _settled(number: int, pairs: ScreenPairs, question: Question, context: CheckContext) -> Check | BoundedFault | None:
    """Whether the factor's effect is the same at both ends of the trials."""
    windows = [assumptions.windows_of(pair, context.courses) for pair in pairs.series.pairs]
    usable = [window is not None for window in windows]
    first, last = diagnostics.end_log_ratios([window for window in windows if window is not None])
    change = last - first
    if len(change) <= len(pairs.factors) + 3 or np.ptp(change) == 0:
        return None
    fitted = screen.fit(change, pairs.settings[usable], arrays(pairs.series).order[usable])
    return assumptions.settled_check(diagnostics.coefficient(fitted, number), question, SUSPICIOUS)


def _outliers(factor: Factor, signs: Array, fitted: Regression, resolution: float, question: Question) -> Check:
    """Whether neither level of the factor has more slow trials than the other."""
    lowest, highest = diagnostics.outlier_bounds(fitted.residuals, resolution)
    sides = (fitted.residuals < lowest, fitted.residuals > highest)
    in_compared, in_mirror = sides if question.higher_is_better else sides[::-1]
    slow = [int(np.sum(in_compared & (signs == sign)) + np.sum(in_mirror & (signs == -sign))) for sign in (1, -1)]
    passed = diagnostics.equal_counts_p(*slow) >= SUSPICIOUS
    return assumptions.outliers_check(
        slow[0], slow[1], factor.labels[1], factor.labels[0], passed=passed, alpha=SUSPICIOUS
    )
