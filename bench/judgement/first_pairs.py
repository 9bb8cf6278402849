"""Rounds by the first pairs: error rates where the variation of sixteen pairs says how many pairs are worthwhile."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from experiments import CLAIMS, Laboratory, Observation, count, share_of

from paribus.analysis.paired.finding import LEAST_UNITS, Finding, Pairs
from paribus.model import Verdict
from paribus.plan.schedule.rounds import passes_per_round
from paribus.stats.generator import Noise
from paribus.stats.huber import huber
from paribus.stats.levels import design
from paribus.stats.planner import MOST_PAIRS, pairs_planned

_NOISES = (0.01, 0.02, 0.03)


@dataclass(frozen=True)
class ReplannedLaboratory(Laboratory):
    """Experiments whose first pairs decide the number of pairs, in whole rounds.

    `other_noise` is the factor of the noise of the compared arm.
    """

    pairs: int = MOST_PAIRS
    other_noise: float = 1.0

    def draw(self, rng: np.random.Generator, effect: float | tuple[float, ...]) -> Pairs:
        """Draw all pairs, with another noise of the compared arm."""
        pairs = super().draw(rng, effect)
        more = self.noise.pair_sd / np.sqrt(2) * np.sqrt(self.other_noise**2 - 1)
        return replace(pairs, difference=pairs.difference + rng.normal(0, more, len(pairs.difference)))

    def judge(self, pairs: Pairs) -> tuple[int, Finding]:
        """Plan by the first pairs, and look as the product does."""
        planned = self.planned(pairs)
        return replace(self, pairs=planned)._judge(pairs.first(planned))

    def planned(self, pairs: Pairs) -> int:
        """The pairs that the first sixteen ask for."""
        first = pairs.first(LEAST_UNITS["pair"])
        worthwhile = pairs_planned(self.margin, huber(first.difference, design(first.order)).residual_sd)
        of_round = self.levels * passes_per_round(self.levels)
        return min(self.pairs, -(-worthwhile // of_round) * of_round)

    def _judge(self, pairs: Pairs) -> tuple[int, Finding]:
        return super().judge(pairs)


def first_pairs(n: int, seed: int) -> Iterator[Observation]:
    """Observe claims and equivalence of equal arms, also where one of them has twice the noise."""
    for which, sd in enumerate(_NOISES):
        yield from _observed(n, (seed, 30, which), f"noise {sd:.0%}", sd)
    yield from _observed(n, (seed, 30, len(_NOISES)), "noise 1%, twice that of B", 0.01, other_noise=2.0)


def _observed(n: int, seed: tuple[int, ...], name: str, sd: float, other_noise: float = 1.0) -> Iterator[Observation]:
    lab = ReplannedLaboratory(
        noise=Noise(by_level=Laboratory().noise.by_level, between_sd=sd, horizon=2 * MOST_PAIRS),
        other_noise=other_noise,
    )
    outcomes = count(n, seed, lambda rng: str(lab.experiment(rng, 0.0)[1].verdict))
    yield Observation(f"A/A, {name}: any claim", share_of(outcomes, CLAIMS, n), high=0.075)
    least = 0.8 if sd < max(_NOISES) else 0.6  # the budget of 128 pairs is too small for the noise of 3 %
    yield Observation(f"A/A, {name}: equivalent", share_of(outcomes, (Verdict.EQUIVALENT,), n), least)
