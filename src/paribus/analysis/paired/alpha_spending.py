"""How far an interval reaches at each look, so that all looks together err as seldom as was declared.

The error spent on differences grows in proportion to the pairs, that on equivalence with their share to the power 1.5.
Called by `decision`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from paribus.stats import confidence_sequence, sequential

Method = Literal["adaptive", "fixed", "open-ended"]
_FEW = 32  # applications up to which a boundary is that of the t statistic itself


@dataclass(frozen=True, slots=True)
class Looked:
    """A look: the units (pairs, or pairs of applications) it had, and the error of differences spent up to it."""

    units: int
    spent: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """`alpha` is the error of claims of a difference, `alpha_equal` that of each equivalence test; of `planned` units.

    `applications`: units are pairs of applications, of which there are few.
    """

    method: Method
    alpha: float
    alpha_equal: float
    planned: int
    applications: bool = False

    def next(self, before: Sequence[Looked], units: int, *, over: bool) -> tuple[Looked, ...]:
        """The looks with the one at so many units; the last one may spend all that is left.

        Where nothing came since the last look, there is no new one. Raises ValueError where units went.
        """
        if before and units < before[-1].units:
            raise ValueError(f"a look at {units} units cannot follow one at {before[-1].units}")
        if before and units == before[-1].units:
            return tuple(before)
        if self.method != "adaptive":
            return (Looked(units, self.alpha),)
        share = 1.0 if over else min(units / self.planned, 1.0)
        return (*before, Looked(units, self.alpha * share))

    def standard_errors(self, looks: Sequence[Looked], sides: int, freedom: int, claims: int = 1) -> float:
        """How many standard errors the interval of an estimate reaches to each side at the last of these looks.

        Two `sides`: of a difference; one: of the two tests of equivalence. `claims` share the error of this look.
        """
        if self.method == "open-ended":
            units = looks[-1].units
            return confidence_sequence.half_width(units, 1.0, self.alpha / claims) * math.sqrt(units - 1)
        return sequential.t_beyond(self._nominal(looks, sides) / claims, freedom)

    def _nominal(self, looks: Sequence[Looked], sides: int) -> float:
        """The probability that one side has at this look by itself."""
        units = [look.units for look in looks]
        shares = [look.spent / self.alpha for look in looks]
        spent = [self.alpha * share if sides == 2 else self.alpha_equal * share**1.5 for share in shares]
        if self.applications and units[-1] <= _FEW:
            return sequential.t_tail(sequential.t_boundaries(units, spent, sides)[-1], units[-1] - 1)
        return sequential.tail(sequential.boundaries(units, spent, sides)[-1])
