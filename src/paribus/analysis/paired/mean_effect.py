"""An estimated effect with its errors: that of pairs, and that of server starts where these are units too."""

from collections.abc import Sequence
from dataclasses import dataclass

from paribus.analysis.paired.alpha_spending import Spending, SpendingLook
from paribus.analysis.paired.finding import EffectInterval
from paribus.stats.pairs import ErrorOfClusters


@dataclass(frozen=True, slots=True)
class MeanEffect:
    """An estimate of the effect with its standard error and degrees of freedom; `of_starts`: where these are units."""

    estimate: float
    error: float
    freedom: int
    of_starts: ErrorOfClusters | None = None

    @property
    def larger(self) -> tuple[float, int]:
        """The larger of the two errors, with its degrees of freedom."""
        if self.of_starts is not None and self.of_starts.error > self.error:
            return self.of_starts.error, self.of_starts.freedom
        return self.error, self.freedom

    def interval(
        self, spending: Spending, looks: Sequence[SpendingLook], sides: int, step: float = 0.0, claims: int = 1
    ) -> EffectInterval:
        """Return the interval at the last of the looks, the wider one of the two errors.

        Args:
            spending: How the error is spent over looks.
            looks: All looks, including the current one.
            sides: 2 for a difference, 1 for the two equivalence tests.
            step: What the resolution of the response adds to a half width, log ratio.
            claims: Number of claims that share the error of this look.
        """
        half_width = spending.standard_errors(looks, sides, self.freedom, claims) * self.error
        if self.of_starts is not None:
            of_starts = self.of_starts
            half_width = max(
                half_width, spending.standard_errors(looks, sides, of_starts.freedom, claims) * of_starts.error
            )
        return EffectInterval(self.estimate - half_width - step, self.estimate + half_width + step)
