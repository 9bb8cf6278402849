"""Faults of bounded size: a claim far enough beyond the margin holds in spite of them.

In: checks, and faults with the error of the effect that each explains. Out: checks; the faults pass where the claim
holds although all of them together act against it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from paribus.analysis.paired.finding import EffectInterval, Question
from paribus.i18n import N_, gettext
from paribus.model import DIRECTIONAL, Check, Verdict
from paribus.stats.diagnostics import Coefficient

_STANDARD_ERRORS = 2.0
_HOLDS = N_("; the effect is so far beyond the margin that the verdict holds")


class JudgedEffect(Protocol):
    """An effect with its verdict, None while it is open."""

    @property
    def interval(self) -> EffectInterval:
        """The interval that decided."""

    @property
    def verdict(self) -> Verdict | None:
        """The verdict."""


@dataclass(frozen=True, slots=True)
class BoundedFault:
    """A fault that a check found.

    Attributes:
        check: The check as failed, without advice.
        advice: Words to add where the fault matters.
        error: Largest error of the effect that the fault explains, log ratio.
    """

    check: Check
    advice: str
    error: float


def error_if_continued(change: Coefficient, share: float) -> float:
    """Return how far an effect may be from what was found if it goes on to change for as long again, log ratio.

    Args:
        change: Change of the effect between two points of what was measured.
        share: Distance of the points, as a share of what was measured.
    """
    return 1.5 / share * (abs(change.estimate) + _STANDARD_ERRORS * change.error)  # 1.5: from the middle to that end


def error_if_dependent(interval: EffectInterval, pairs: int) -> float:
    """Return by how much an interval is too short at each end if all its pairs show no more than a single one.

    Args:
        interval: Interval of the mean of independent pairs.
        pairs: Number of pairs.
    """
    return (interval.high - interval.low) / 2 * (math.sqrt(pairs) - 1)


def checks_with_faults(
    results: Sequence[Check | BoundedFault | None], effect: JudgedEffect, question: Question
) -> tuple[Check, ...]:
    """Return the checks of an effect; faults pass where it is a claim that all of them together cannot undo."""
    error = sum(fault.error for fault in results if isinstance(fault, BoundedFault))
    holds = effect.verdict in DIRECTIONAL and effect.interval.beyond(question.margin + error)

    def checked(fault: BoundedFault) -> Check:
        ending = gettext(_HOLDS) if holds else fault.advice
        return replace(fault.check, passed=holds, finding=fault.check.finding + ending)

    return tuple(checked(each) if isinstance(each, BoundedFault) else each for each in results if each is not None)
