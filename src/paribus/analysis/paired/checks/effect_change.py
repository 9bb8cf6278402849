"""Whether an effect stays the same while the experiment goes on."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from paribus.analysis.paired.finding import EffectInterval, Finding, Question
from paribus.model import DIRECTIONAL, Verdict
from paribus.stats.diagnostics import ERRORS_SEEN, Coefficient, change_over_time

STEADY_ALPHA = 0.01
_CONTINUED = 1.5  # changes from the middle of what was measured to the end of as long again


class JudgedEffect(Protocol):
    """An effect with its verdict, None while it is open."""

    @property
    def interval(self) -> EffectInterval:
        """The interval that decided."""

    @property
    def verdict(self) -> Verdict | None:
        """The verdict."""


@dataclass(frozen=True, slots=True)
class EffectChange:
    """Change of an effect from the first half of the pairs to the second.

    Attributes:
        is_steady: Whether the change may be noise, or is within the margin.
        trend: The change from the first pair to the last, log ratio.
        visible: Change that would have been found with a probability of 80 %, log ratio.
        first: Effect in the first half of the pairs, log ratio.
        last: Effect in the second half, log ratio.
    """

    is_steady: bool
    trend: Coefficient
    visible: float
    first: float
    last: float


def effect_change(finding: Finding, question: Question) -> EffectChange | None:
    """Test whether the effect of a finding changes by more than the margin; None where the pairs do not tell."""
    residuals = finding.fitted.residuals
    change = change_over_time(residuals)
    if change is None:
        return None
    half = len(residuals) // 2
    return EffectChange(
        is_steady=abs(change.estimate) <= question.margin or change.p >= STEADY_ALPHA,
        trend=change,
        visible=max(ERRORS_SEEN * change.error, question.margin),
        first=finding.estimate + float(np.median(residuals[:half])),
        last=finding.estimate + float(np.median(residuals[half:])),
    )


def leaves_claim(error: float, effect: JudgedEffect, question: Question) -> bool:
    """Return whether an effect is a claim, and beyond the margin by more than an error that it may have.

    Args:
        error: Largest error of the effect that a fault explains, log ratio.
        effect: The effect.
        question: The declared question.
    """
    return effect.verdict in DIRECTIONAL and effect.interval.beyond(question.margin + error)


def continued(change: Coefficient) -> float:
    """Return how far an effect would be from what was found if it went on to change for as long again, log ratio.

    Args:
        change: Change of the effect over what was measured.
    """
    return _CONTINUED * abs(change.estimate)
