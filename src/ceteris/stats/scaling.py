"""How throughput follows the number of outstanding operations: the knee, the peak, the bend.

Levels are numbers of outstanding operations, rates are operations per second, times seconds. Called by the
analysis; knows no trials.
"""

import itertools
import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from ceteris.stats.pairs import CannotJudge, mean_interval

K = TypeVar("K", bound=Hashable)
_LEAST_LEVELS = 3  # as many as the law has parameters
_HALF = 0.5
_LIMITS = (math.log(1e-9), 0.0)  # of contention and of coherency: from none that could be seen to everything


@dataclass(frozen=True, slots=True)
class Law:
    """The Universal Scalability Law: `rate(n) = one n / (1 + contention (n-1) + coherency n (n-1))` (Gunther 2007)."""

    one: float
    contention: float
    coherency: float

    def rate(self, level: float) -> float:
        """The rate at a level."""
        waits = self.contention * (level - 1) + self.coherency * level * (level - 1)
        return self.one * level / (1 + waits)

    @property
    def ceiling(self) -> float:
        """The highest rate at any level."""
        return self.rate(max(1.0, math.sqrt((1 - self.contention) / self.coherency)))

    @property
    def knee(self) -> float:
        """The level at which rising in proportion would have come to the ceiling: from here on response time rises.

        The two straight lines that bound every closed system meet there (Denning and Buzen 1978).
        """
        return self.ceiling / self.one


def fit_law(levels: Sequence[float], rates: Sequence[float]) -> Law:
    """Fit the law by least squares of logarithms, so that each level weighs alike.

    Raises CannotJudge for fewer than three levels or for a rate that is no positive number.
    """
    from scipy.optimize import least_squares  # slow to import; needed only for a report of a matrix

    n, x = np.asarray(levels, dtype=float), np.asarray(rates, dtype=float)
    if len(set(levels)) < _LEAST_LEVELS:
        raise CannotJudge(f"{len(set(levels))} levels")
    if not (np.isfinite(x).all() and (x > 0).all()):
        raise CannotJudge("a level measured nothing, or no positive number")

    def residuals(p: np.ndarray) -> np.ndarray:
        contention, coherency = np.exp(p[1:])
        fitted: np.ndarray = p[0] + np.log(n / (1 + contention * (n - 1) + coherency * n * (n - 1))) - np.log(x)
        return fitted

    start = float(np.log((x / n).max()))
    bounds = ([-np.inf, _LIMITS[0], _LIMITS[0]], [np.inf, _LIMITS[1], _LIMITS[1]])
    tries = [
        least_squares(residuals, [start, math.log(contention), math.log(coherency)], bounds=bounds)
        for contention in (1e-3, 0.1)
        for coherency in (1e-7, 1e-4)
    ]
    best = min(tries, key=lambda found: float(found.cost)).x
    return Law(*(float(value) for value in np.exp(best)))


@dataclass(frozen=True, slots=True)
class Knee:
    """The level of the knee, with its interval where several rounds give one."""

    level: float
    low: float | None
    high: float | None


def knee(rounds: Sequence[Mapping[int, float]], confidence: float) -> Knee | None:
    """The knee of the rates by level, one mapping for each round; None where it lies beyond the highest level.

    The estimate is that of the means over rounds. The interval is a t interval of the logarithms of each round's own
    knee: rounds are independent, and a handful of them is too few to resample. Raises CannotJudge.
    """
    if not any(rounds):
        raise CannotJudge("no round")
    whole = [one for one in rounds if len(one) == max(map(len, rounds))]
    levels = sorted(set().union(*whole))
    found = fit_law(levels, [float(np.mean([one[level] for one in whole])) for level in levels]).knee
    if found > levels[-1]:
        return None
    each = [math.log(fit_law(levels, [one[level] for level in levels]).knee) for one in whole]
    middle, low, high = mean_interval(each, confidence)
    if low is None or high is None:
        return Knee(found, None, None)
    return Knee(found, found * math.exp(low - middle), found * math.exp(high - middle))


@dataclass(frozen=True, slots=True)
class Peak(Generic[K]):
    """Where a rate is highest, and how high it is there."""

    place: K
    rate: float
    low: float | None
    high: float | None


def peak(rounds: Sequence[Mapping[K, float]], confidence: float) -> Peak[K]:
    """The highest rate over some places, one mapping for each round.

    The largest of several means is the luckiest of them. So each half of the rounds chooses the place at which the
    other half is read; from one round there is no such estimate, and no interval. Raises CannotJudge.
    """
    if not any(rounds):
        raise CannotJudge("no round")
    highest = _highest(rounds)
    halves = (rounds[::2], rounds[1::2])
    if not all(any(half) for half in halves):
        return Peak(highest, max(one[highest] for one in rounds if highest in one), None, None)
    places = (_highest(halves[1]), _highest(halves[0]))
    read = [one[place] for half, place in zip(halves, places, strict=True) for one in half if place in one]
    rate, low, high = mean_interval(read, confidence)
    return Peak(highest, rate, low, high)


def _highest(rounds: Sequence[Mapping[K, float]]) -> K:
    """The place with the highest mean; of equals the first."""
    places = dict.fromkeys(place for one in rounds for place in one)
    return max(places, key=lambda place: float(np.mean([one[place] for one in rounds if place in one])))


def gain(levels: tuple[float, float], rates: tuple[float, float]) -> float:
    """What a step from one level to the next brings, as a share of the proportion: 1 all of it, 0 nothing."""
    return math.log(rates[1] / rates[0]) / math.log(levels[1] / levels[0])


def brings_less(levels: tuple[float, float], rates: tuple[float, float]) -> bool:
    """Whether a step adds more to waiting than to throughput: less than half of its proportion arrives."""
    return gain(levels, rates) < _HALF


def bend(levels: Sequence[float], times: Sequence[float]) -> int | None:
    """The first of the steps, counted from 0, from which on response time grows faster than throughput.

    In a closed system rate = level / time, so that a step's proportion divides between the two. None where the last
    step still brings more throughput than waiting.
    """
    rates = [level / time for level, time in zip(levels, times, strict=True)]
    steps = list(zip(itertools.pairwise(levels), itertools.pairwise(rates), strict=True))
    first = len(steps)
    while first > 0 and brings_less(*steps[first - 1]):
        first -= 1
    return first if first < len(steps) else None
