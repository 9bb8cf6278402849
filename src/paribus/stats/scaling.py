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

from paribus.stats.pairs import CannotJudge, log_ratios, mean_interval

K = TypeVar("K", bound=Hashable)
Passes = Sequence[Mapping[int, float]]
_HALF = 0.5


@dataclass(frozen=True, slots=True)
class Knee:
    """The level of the knee, with its interval where several rounds give one."""

    level: float
    low: float | None
    high: float | None


def knee(rounds: Sequence[Mapping[int, float]], confidence: float) -> Knee | None:
    """The knee of the rates by level, one mapping for each round; None where the last step still brings its share.

    The two lines that bound every closed system meet there (Denning and Buzen 1978): the rate in proportion, and the
    highest rate. Read off without fitting a law of scaling: a device with so many servers saturates at once, and a
    law of gradual saturation then puts its knee half as far again. The interval is a t interval of the logarithms of
    each round's own knee: rounds are independent, and a handful is too few to resample. Raises CannotJudge.
    """
    if not any(rounds):
        raise CannotJudge("no round")
    whole = [one for one in rounds if len(one) == max(map(len, rounds))]
    levels = sorted(whole[0])
    rates = {level: float(np.mean([one[level] for one in whole if level in one])) for level in levels}
    if min(rates.values()) <= 0:
        raise CannotJudge("a level measured nothing")
    if len(levels) < 2 or not brings_less((levels[-2], levels[-1]), (rates[levels[-2]], rates[levels[-1]])):
        return None
    found = _meeting(rates)
    middle, low, high = mean_interval([math.log(_meeting(one)) for one in whole], confidence)
    if low is None or high is None:
        return Knee(found, None, None)
    return Knee(found, found * math.exp(low - middle), found * math.exp(high - middle))


def _meeting(rates: Mapping[int, float]) -> float:
    """The level at which rising in proportion comes to the highest rate."""
    return max(rates.values()) / max(rate / level for level, rate in rates.items())


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


@dataclass(frozen=True, slots=True)
class Ratio:
    """How much larger something is with the compared arm, a log ratio with its interval; `places` where it is."""

    estimate: float
    low: float
    high: float
    places: tuple[int, int] = (0, 0)


def peak_ratio(baseline: Passes, compared: Passes, confidence: float) -> Ratio:
    """Of the highest rates, each at its own place, from passes over the same places.

    As in `peak`, each half of the passes chooses the places at which the other half is read. Raises CannotJudge.
    """
    arms = (baseline, compared)
    logs = []
    for half, other in ((slice(0, None, 2), slice(1, None, 2)), (slice(1, None, 2), slice(0, None, 2))):
        places = [_highest(arm[other]) for arm in arms]
        read = [[one[place] for one in arm[half]] for arm, place in zip(arms, places, strict=True)]
        logs += log_ratios(read[1], read[0])
    return _ratio(logs, confidence, (_highest(baseline), _highest(compared)))


def knee_ratio(baseline: Passes, compared: Passes, confidence: float) -> Ratio:
    """Of the knees: a t interval over the passes, in each of which both arms have one. Raises as above."""
    return _ratio(log_ratios([_meeting(one) for one in compared], [_meeting(one) for one in baseline]), confidence)


def _ratio(logs: Sequence[float], confidence: float, places: tuple[int, int] = (0, 0)) -> Ratio:
    middle, low, high = mean_interval(logs, confidence)
    if low is None or high is None:
        raise CannotJudge("one pass is no interval")
    return Ratio(middle, low, high, places)


def _highest(rounds: Sequence[Mapping[K, float]]) -> K:
    """The place with the highest mean; of equals the first."""
    places = dict.fromkeys(place for one in rounds for place in one)
    return max(places, key=lambda place: float(np.mean([one[place] for one in rounds if place in one])))


def between(times: Mapping[int, float], level: float) -> float:
    """The response time at a level between those measured, on straight lines between the logarithms."""
    known = sorted(times)
    read = np.interp(math.log(level), np.log(known), np.log([times[n] for n in known]))
    return math.exp(float(read))


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
