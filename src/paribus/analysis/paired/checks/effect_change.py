"""Whether an effect stays the same while the experiment goes on."""

from dataclasses import dataclass

import numpy as np

from paribus.analysis.paired.finding import Finding, Question
from paribus.stats.diagnostics import Coefficient, change_over_time

STEADY_ALPHA = 0.01


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
        visible=max(change.visible(), question.margin),
        first=finding.estimate + float(np.median(residuals[:half])),
        last=finding.estimate + float(np.median(residuals[half:])),
    )
