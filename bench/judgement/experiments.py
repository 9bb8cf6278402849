"""Simulated experiments: the product's schedule and decision, with noise from the generator."""

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from paribus.analysis.paired.alpha_spending import Method
from paribus.analysis.paired.decision import decide
from paribus.analysis.paired.finding import Finding, Pairs, Question
from paribus.model import Verdict
from paribus.plan.schedule.design import blocks
from paribus.plan.schedule.rounds import blocks_per_look, passes_per_round
from paribus.stats.generator import Noise, draw
from paribus.units import LoadLevel, LoadUnit

BY_LEVEL = (1.4, 1.2, 1.1, 1.0, 0.9, 0.85, 0.75, 0.75)
MARGIN = float(np.log(1.02))
LEVELS = 8
LOOK_PAIRS = 8
CLAIMS = (Verdict.BETTER, Verdict.WORSE, Verdict.DEPENDS_ON_LOAD)


@dataclass(frozen=True)
class Laboratory:
    """Experiments that compare two arms at several load levels."""

    noise: Noise = field(default_factory=lambda: Noise(by_level=BY_LEVEL))
    margin: float = MARGIN
    pairs: int = 80
    claims: int = 1
    levels: int = LEVELS
    method: Method = "adaptive"

    def question(self) -> Question:
        """Return the declared question."""
        return Question(margin=self.margin, planned=self.pairs, claims=self.claims, method=self.method)

    def draw(self, rng: np.random.Generator, effect: float | Sequence[float]) -> Pairs:
        """Draw all pairs of an experiment, with a true effect at each level."""
        order, level = schedule(int(rng.integers(2**31)), self.pairs, self.levels)
        noise = draw(self.noise, rng, np.repeat(level, 2))
        first, second = noise[0::2], noise[1::2]
        true_effect = np.broadcast_to(np.asarray(effect, dtype=float), (self.levels,))[level]
        return Pairs(np.where(order > 0, second - first, first - second) + true_effect, order, level)

    def experiment(self, rng: np.random.Generator, effect: float | Sequence[float]) -> tuple[int, Finding]:
        """Simulate an experiment until its verdict."""
        return self.judge(self.draw(rng, effect))

    def judge(self, pairs: Pairs) -> tuple[int, Finding]:
        """Look as often as the product does, from sixteen pairs on, and at the last pair."""
        step = blocks_per_look(self.levels)
        counts = [count for count in range(step, self.pairs, step) if count >= 2 * LOOK_PAIRS]
        return decide(pairs, self.question(), [*counts, self.pairs])


def schedule(seed: int, pairs: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the orders and levels of `pairs` pairs as the product plans them for `count` levels."""
    levels = [LoadLevel(n, LoadUnit.OUTSTANDING) for n in range(count)]
    rounds = -(-pairs // (count * passes_per_round(count)))
    planned = list(blocks(levels, 2, rounds, random.Random(seed)))[:pairs]
    order = np.array([1.0 if first == 0 else -1.0 for _, _, (first, _) in planned])
    return order, np.array([load.n for _, load, _ in planned])


@dataclass(frozen=True)
class Share:
    """A count of experiments with some outcome, `of` all."""

    of: int
    count: int

    @property
    def value(self) -> float:
        """The share."""
        return self.count / self.of

    @property
    def error(self) -> float:
        """Its standard error."""
        return float(np.sqrt(max(self.value * (1 - self.value), 1 / self.of) / self.of))


def count(n: int, seed: Sequence[int], simulate: Callable[[np.random.Generator], str | None]) -> dict[str, Share]:
    """Simulate `n` experiments, each with its own seed, and return the share of each outcome."""
    outcomes = Counter(simulate(np.random.default_rng([*seed, number])) for number in range(n))
    return {outcome: Share(n, times) for outcome, times in outcomes.items() if outcome is not None}


@dataclass(frozen=True)
class Observation:
    """An observed share with its bounds."""

    name: str
    share: Share
    low: float = 0.0
    high: float = 1.0

    def holds(self, more_errors: float = 0.0) -> bool:
        """Return whether the share is within the bounds, which are first widened by so many standard errors."""
        more = more_errors * self.share.error
        return self.low - more <= self.share.value <= self.high + more

    @property
    def bound(self) -> str:
        """The bounds as text."""
        if self.low == 0 and self.high == 1:
            return "none"
        if self.low == 0:
            return f"at most {self.high * 100:g} %"
        return f"{self.low * 100:g} to {self.high * 100:g} %" if self.high < 1 else f"at least {self.low * 100:g} %"


def share_of(outcomes: dict[str, Share], verdicts: Sequence[str], n: int) -> Share:
    """Return the share of experiments with one of several outcomes."""
    return Share(n, sum(outcomes[verdict].count for verdict in verdicts if verdict in outcomes))
