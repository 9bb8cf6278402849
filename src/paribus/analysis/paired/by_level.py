"""Results at single load levels, and whether the effect depends on the load (judging procedure, "Load levels")."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto

import numpy as np
from numpy.typing import NDArray

from paribus.analysis.paired.alpha_spending import SpendingLook
from paribus.analysis.paired.finding import LEAST_STARTS, EffectInterval, LevelFinding, Pairs, Question, verdict_of
from paribus.analysis.paired.mean_effect import MeanEffect
from paribus.model import Verdict
from paribus.stats.huber import Array
from paribus.stats.levels import LevelContrasts, LevelMeans, level_contrasts, level_means
from paribus.stats.pairs import ErrorOfClusters, error_of_clusters

ALPHA = 0.05
"""The error at which levels are said to differ, which widens the interval of the effect."""


class Dependence(Enum):
    """Whether the effect depends on the load."""

    NONE = auto()
    OPEN = auto()
    """A level differs from the others, and the verdict of one of the two is not shown yet."""
    SHOWN = auto()


@dataclass(frozen=True, slots=True)
class LevelResult:
    """Results at single load levels, and of the test for an effect at any of them, at one look.

    Attributes:
        means: Least-squares means of the levels.
        p: p value of one effect for all levels: of the F test, or of the level that differs most from the others.
        findings: Results at each level; empty for one level.
        dependence: Whether the effect depends on the load.
    """

    means: LevelMeans
    p: float
    findings: tuple[LevelFinding, ...]
    dependence: Dependence

    @property
    def one_verdict(self) -> bool:
        """Whether one verdict may hold for all levels."""
        return self.p >= ALPHA or all(level.verdict is Verdict.EQUIVALENT for level in self.findings)


def level_result(data: Pairs, question: Question, looks: Sequence[SpendingLook], step: float) -> LevelResult | None:
    """Judge the levels at the last of `looks`; None where a level has no pair.

    Args:
        data: The pairs.
        question: The declared question.
        looks: All looks; the last is this one.
        step: What the resolution of the response adds to a half width, log ratio.
    """
    weights = None if question.level_sd is None else np.asarray(question.level_sd, dtype=float)
    means = level_means(data.difference, data.order, data.level, weights, data.covariates)
    if means is None:
        return None
    if len(means.estimates) == 1:
        return LevelResult(means, 1.0, (), Dependence.NONE)
    contrasts = None
    if question.method != "open-ended":
        contrasts = level_contrasts(data.difference, data.order, data.level, data.covariates)
    findings = _findings(means, data, question, looks, step)
    p = means.p_equal if contrasts is None else min(means.p_equal, contrasts.p_single)
    return LevelResult(means, p, findings, _dependence(means, contrasts, findings, question, looks, step))


def _findings(
    means: LevelMeans, data: Pairs, question: Question, looks: Sequence[SpendingLook], step: float
) -> tuple[LevelFinding, ...]:
    """Results of the single levels, which share the error of this look; all lost pairs may be those of a level."""
    count = len(means.estimates)
    findings = []
    for level, shrunk in enumerate(means.shrunk().tolist()):
        at_level = data.level == level
        residuals = data.difference[at_level] - means.estimates[level]
        of_starts = None if data.start is None else _error_of_starts(residuals, data.start[at_level])
        effect = MeanEffect(float(means.estimates[level]), float(means.errors[level]), means.freedom, of_starts)
        outer, inner = (
            effect.interval(question.spending, looks, sides, step, count).allowing_for(data.lost_pairs, residuals)
            for sides in (2, 1)
        )
        findings.append(LevelFinding(shrunk=shrunk, interval=outer, verdict=verdict_of(outer, inner, question)))
    return tuple(findings)


def _error_of_starts(residuals: Array, start: NDArray[np.intp]) -> ErrorOfClusters | None:
    """The error of a level's mean with server starts as units; None where these are few, or have one pair each."""
    distinct, number = np.unique(start, return_inverse=True)
    return error_of_clusters(residuals, number) if LEAST_STARTS <= len(distinct) < len(number) else None


def _dependence(
    means: LevelMeans,
    contrasts: LevelContrasts | None,
    findings: Sequence[LevelFinding],
    question: Question,
    looks: Sequence[SpendingLook],
    step: float,
) -> Dependence:
    """Whether levels have different verdicts, or one level differs from the others and does not share their verdict."""
    verdicts = {finding.verdict for finding in findings}
    if verdicts == {Verdict.EQUIVALENT}:
        return Dependence.NONE
    estimates = means.estimates.tolist()
    results = [(finding.verdict, estimate) for finding, estimate in zip(findings, estimates, strict=True)]
    pairs_of_levels = itertools.combinations(results, 2)
    if means.p_equal < ALPHA and any(_differ(*first, *second, question.margin) for first, second in pairs_of_levels):
        return Dependence.SHOWN
    if contrasts is None:
        return Dependence.NONE
    dependence = Dependence.NONE
    for number, statistic in enumerate(contrasts.statistics):
        freedom = int(contrasts.freedom[number])
        wide, narrow = (question.spending.standard_errors(looks, sides, freedom, len(findings)) for sides in (2, 1))
        if abs(statistic) <= wide:
            continue
        level, others = (
            verdict_of(_centred(mean, wide * error + step), _centred(mean, narrow * error + step), question)
            for mean, error in (
                (contrasts.estimates[number], contrasts.errors[number]),
                (contrasts.others[number], contrasts.other_errors[number]),
            )
        )
        if _differ(level, contrasts.estimates[number], others, contrasts.others[number], question.margin):
            return Dependence.SHOWN
        if level is None or others is None:
            dependence = Dependence.OPEN
    return dependence


def _differ(
    first: Verdict | None, first_estimate: float, second: Verdict | None, second_estimate: float, margin: float
) -> bool:
    """Whether two loads have different verdicts, and not only a small effect beside none.

    Where most pairs hardly vary, some outliers make an effect within the margin of a single level.
    """
    if first is None or second is None or first is second:
        return False
    claimed = [
        estimate
        for verdict, estimate in ((first, first_estimate), (second, second_estimate))
        if verdict is not Verdict.EQUIVALENT
    ]
    return len(claimed) > 1 or abs(claimed[0]) >= margin


def _centred(estimate: float, half_width: float) -> EffectInterval:
    return EffectInterval(float(estimate - half_width), float(estimate + half_width))
