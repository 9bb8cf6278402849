"""Stalls: outliers that one arm has more often than the other."""

from dataclasses import dataclass

import numpy as np

from paribus.analysis.paired.finding import Finding, Question
from paribus.stats.diagnostics import equal_counts_p
from paribus.stats.huber import Array

STALLS_ALPHA = 1 / 16  # four to nothing


@dataclass(frozen=True, slots=True)
class Stalls:
    """The stalled trials of an arm.

    Attributes:
        is_compared: Whether the compared arm stalls; else the baseline does.
        count: Its stalled trials.
        others: Stalled trials of the other arm.
        pairs: Trials of each arm.
        change: Mean change of the response in a stalled trial, a log ratio.
    """

    is_compared: bool
    count: int
    others: int
    pairs: int
    change: float


def slow_trials(finding: Finding, question: Question) -> tuple[Array, Array]:
    """Return the residuals of the slow trials of the compared arm, and of the baseline."""
    below, above = finding.outliers
    return (below, above) if question.higher_is_better else (above, below)


def stalls_of(finding: Finding, question: Question) -> Stalls | None:
    """Return the stalls of the arm that has more of them; None where the difference may be chance."""
    compared, baseline = slow_trials(finding, question)
    if equal_counts_p(len(compared), len(baseline)) > STALLS_ALPHA:
        return None
    is_compared = len(compared) > len(baseline)
    more, fewer = (compared, baseline) if is_compared else (baseline, compared)
    change = float(np.mean(more)) * (1 if is_compared else -1)
    return Stalls(is_compared, len(more), len(fewer), len(finding.fitted.residuals), change)
