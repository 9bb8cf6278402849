"""Width of the intervals at each look, so that all looks together keep the declared error (judging procedure).

The error spent on differences grows in proportion to the pairs, the error spent on equivalence with their share to the
power 1.5.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from paribus.stats import confidence_sequence, sequential

Method = Literal["adaptive", "fixed", "open-ended"]
_FEW = 32  # applications up to which t boundaries are simulated


@dataclass(frozen=True, slots=True)
class SpendingLook:
    """A look: its number of units (pairs, or pairs of applications), and the error of differences spent up to it."""

    units: int
    spent: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """Distribution of the error over the looks of a comparison with at most `planned` units.

    Attributes:
        method: Adaptive (group-sequential), fixed (one look), or open-ended (confidence sequence).
        alpha: Error of claims of a difference.
        alpha_equal: Error of each of the two equivalence tests.
        planned: Units at which all error is spent.
        applications: Whether units are pairs of applications, of which there are few.
    """

    method: Method
    alpha: float
    alpha_equal: float
    planned: int
    applications: bool = False

    def next(self, previous: Sequence[SpendingLook], units: int, *, over: bool) -> tuple[SpendingLook, ...]:
        """Return the looks with one more at `units`; without new units, the same looks.

        Args:
            previous: The looks so far.
            units: Units available now.
            over: Whether this is the last look, which may spend all remaining error.

        Raises:
            ValueError: Fewer units than at the previous look.
        """
        if previous and units < previous[-1].units:
            raise ValueError(f"a look at {units} units cannot follow one at {previous[-1].units}")
        if previous and units == previous[-1].units:
            return tuple(previous)
        if self.method != "adaptive":
            return (SpendingLook(units, self.alpha),)
        share = 1.0 if over else min(units / self.planned, 1.0)
        return (*previous, SpendingLook(units, self.alpha * share))

    def standard_errors(self, looks: Sequence[SpendingLook], sides: int, freedom: int, claims: int = 1) -> float:
        """Return the half width of an interval, in standard errors, at the last of the looks.

        Args:
            looks: All looks, including the current one.
            sides: 2 for a difference, 1 for the two equivalence tests.
            freedom: Degrees of freedom of the estimate.
            claims: Number of claims that share the error of this look.
        """
        if self.method == "open-ended":
            units = freedom + 1
            return confidence_sequence.half_width(units, 1.0, self.alpha / claims) * math.sqrt(units - 1)
        return sequential.t_beyond(self._nominal(looks, sides) / claims, freedom)

    def _nominal(self, looks: Sequence[SpendingLook], sides: int) -> float:
        """Error probability of one side at this look by itself."""
        units = [look.units for look in looks]
        shares = [look.spent / self.alpha for look in looks]
        spent = [self.alpha * share if sides == 2 else self.alpha_equal * share**1.5 for share in shares]
        if self.applications and units[-1] <= _FEW:
            return sequential.t_tail(sequential.t_boundaries(units, spent, sides)[-1], units[-1] - 1)
        return sequential.tail(sequential.boundaries(units, spent, sides)[-1])
