"""Claims that a fault of the experiment cannot undo, since their effect is so far beyond the margin.

In: an effect with its verdict, and the error that a fault explains. Out: whether the claim holds all the same.
"""

from typing import Protocol

from paribus.analysis.paired.finding import EffectInterval, Question
from paribus.i18n import N_, gettext
from paribus.model import DIRECTIONAL, Verdict
from paribus.stats.diagnostics import Coefficient

_CONTINUED = 1.5  # changes from the middle of what was measured to the end of as long again


class JudgedEffect(Protocol):
    """An effect with its verdict, None while it is open."""

    @property
    def interval(self) -> EffectInterval:
        """The interval that decided."""

    @property
    def verdict(self) -> Verdict | None:
        """The verdict."""


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


def left_text() -> str:
    """Return what a check adds that found a fault and passes."""
    return gettext(N_("; the effect is so far beyond the margin that the verdict holds"))
