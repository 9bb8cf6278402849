"""Throughput as a function of outstanding operations: knee, peak and bend.

Levels are numbers of outstanding operations, rates operations per second, times seconds.
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
class KneeLevel:
    """The level of the knee, with an interval where several rounds give one.

    Attributes:
        level: Outstanding operations.
        low: Lower end of the interval, or None.
        high: Upper end of the interval, or None.
    """

    level: float
    low: float | None
    high: float | None


def knee(rounds: Sequence[Mapping[int, float]], confidence: float) -> KneeLevel | None:
    """Return the knee of the rates: where the two lines that bound a closed system meet (Denning and Buzen 1978).

    The lines are the rate in proportion to the level, and the highest rate. No law of scaling is fitted: a device with
    a fixed number of servers saturates at once, and a law of gradual saturation would put its knee half as far again.
    The interval is a t interval of the logarithms of the rounds' own knees; rounds are too few to resample.

    Args:
        rounds: Rate by level, one mapping per round. Rounds that lack a level are left out.
        confidence: Coverage of the interval, such as 0.95.

    Returns:
        The knee, or None where the last step still adds more throughput than waiting.

    Raises:
        CannotJudge: No round, or a rate of zero.

    Example:
        >>> knee([{1: 10.0, 2: 20.0, 4: 40.0, 8: 40.0}], 0.95).level
        4.0
    """
    if not any(rounds):
        raise CannotJudge("no round")
    complete = [rates_of_round for rates_of_round in rounds if len(rates_of_round) == max(map(len, rounds))]
    levels = sorted(complete[0])
    rates = {
        load_level: float(
            np.mean([rates_of_round[load_level] for rates_of_round in complete if load_level in rates_of_round])
        )
        for load_level in levels
    }
    if min(rates.values()) <= 0:
        raise CannotJudge("a level measured nothing")
    if len(levels) < 2 or not brings_less((levels[-2], levels[-1]), (rates[levels[-2]], rates[levels[-1]])):
        return None
    level = _knee_of(rates)
    middle, low, high = mean_interval([math.log(_knee_of(rates_of_round)) for rates_of_round in complete], confidence)
    if low is None or high is None:
        return KneeLevel(level, None, None)
    return KneeLevel(level, level * math.exp(low - middle), level * math.exp(high - middle))


def _knee_of(rates: Mapping[int, float]) -> float:
    """Return the level at which the rate, rising in proportion, reaches its maximum."""
    return max(rates.values()) / max(rate / level for level, rate in rates.items())


@dataclass(frozen=True, slots=True)
class Peak(Generic[K]):
    """The highest rate and its position.

    Attributes:
        position: Key of the rate: a load level, or a tuple of levels.
        rate: Operations per second.
        low: Lower end of the interval, or None.
        high: Upper end of the interval, or None.
    """

    position: K
    rate: float
    low: float | None
    high: float | None


def peak(rounds: Sequence[Mapping[K, float]], confidence: float) -> Peak[K]:
    """Return the highest rate over some positions without selection bias.

    The largest of several means overstates the peak. Each half of the rounds therefore selects the position at which
    the other half is read; one round gives neither this estimate nor an interval.

    Args:
        rounds: Rate by position, one mapping per round.
        confidence: Coverage of the interval, such as 0.95.

    Returns:
        The peak; its position is that of the highest mean.

    Raises:
        CannotJudge: No round.

    Example:
        >>> peak([{1: 5.0, 2: 9.0, 4: 7.0}], 0.95).position
        2
    """
    if not any(rounds):
        raise CannotJudge("no round")
    highest = _position_of_highest(rounds)
    halves = (rounds[::2], rounds[1::2])
    alone: Peak[K] = Peak(highest, max(rates[highest] for rates in rounds if highest in rates), None, None)
    if not all(any(half) for half in halves):
        return alone
    positions = (_position_of_highest(halves[1]), _position_of_highest(halves[0]))
    peak_rates = [
        rates[position] for half, position in zip(halves, positions, strict=True) for rates in half if position in rates
    ]
    if not peak_rates:  # the halves have no position in common
        return alone
    rate, low, high = mean_interval(peak_rates, confidence)
    return Peak(highest, rate, low, high)


@dataclass(frozen=True, slots=True)
class Ratio:
    """The log ratio of two arms' peaks or knees, with its interval.

    Attributes:
        estimate: Log ratio, compared over baseline.
        low: Lower end of the interval.
        high: Upper end of the interval.
        peak_levels: Levels of the peaks of the baseline and the compared arm; zeros for a ratio of knees.
    """

    estimate: float
    low: float
    high: float
    peak_levels: tuple[int, int] = (0, 0)


def peak_ratio(baseline: Passes, compared: Passes, confidence: float) -> Ratio:
    """Return the log ratio of the arms' peaks, each at its own level, selected as in `peak`.

    Args:
        baseline: Rate by level of the baseline, one mapping per pass.
        compared: The same of the compared arm, over the same passes and levels.
        confidence: Coverage of the interval, such as 0.95.

    Returns:
        The ratio.

    Raises:
        CannotJudge: Fewer than two passes, or a rate of zero.
    """
    arms = (baseline, compared)
    logs = []
    for half, other in ((slice(0, None, 2), slice(1, None, 2)), (slice(1, None, 2), slice(0, None, 2))):
        positions = [_position_of_highest(arm[other]) for arm in arms]
        peak_rates = [[rates[position] for rates in arm[half]] for arm, position in zip(arms, positions, strict=True)]
        logs += log_ratios(peak_rates[1], peak_rates[0])
    return _ratio(logs, confidence, (_position_of_highest(baseline), _position_of_highest(compared)))


def knee_ratio(baseline: Passes, compared: Passes, confidence: float) -> Ratio:
    """Return the log ratio of the arms' knees, with a t interval over the passes.

    Args:
        baseline: Rate by level of the baseline, one mapping per pass.
        compared: The same of the compared arm; both arms have a knee in every pass.
        confidence: Coverage of the interval, such as 0.95.

    Returns:
        The ratio.

    Raises:
        CannotJudge: Fewer than two passes, or a rate of zero.
    """
    return _ratio(
        log_ratios([_knee_of(rates) for rates in compared], [_knee_of(rates) for rates in baseline]), confidence
    )


def _ratio(logs: Sequence[float], confidence: float, peak_levels: tuple[int, int] = (0, 0)) -> Ratio:
    middle, low, high = mean_interval(logs, confidence)
    if low is None or high is None:
        raise CannotJudge("one pass is no interval")
    return Ratio(middle, low, high, peak_levels)


def _position_of_highest(rounds: Sequence[Mapping[K, float]]) -> K:
    """Return the position with the highest mean rate; the first of equal ones."""
    positions = dict.fromkeys(position for rates in rounds for position in rates)
    return max(
        positions, key=lambda position: float(np.mean([rates[position] for rates in rounds if position in rates]))
    )


def response_time_at(times: Mapping[int, float], level: float) -> float:
    """Return the response time at a level between measured ones, interpolated on logarithms.

    Args:
        times: Response time in seconds by level.
        level: Outstanding operations.

    Returns:
        Seconds.
    """
    levels = sorted(times)
    log_time = np.interp(math.log(level), np.log(levels), np.log([times[n] for n in levels]))
    return math.exp(float(log_time))


def gain(levels: tuple[float, float], rates: tuple[float, float]) -> float:
    """Return the share of a proportional increase that a step of the level brings.

    Args:
        levels: The two levels of the step.
        rates: The rates at these levels.

    Returns:
        1 for an increase in proportion, 0 for none, negative for a loss.

    Example:
        >>> gain((4, 8), (100.0, 200.0))
        1.0
    """
    return math.log(rates[1] / rates[0]) / math.log(levels[1] / levels[0])


def brings_less(levels: tuple[float, float], rates: tuple[float, float]) -> bool:
    """Return whether a step adds more waiting than throughput: less than half of a proportional increase.

    Args:
        levels: The two levels of the step.
        rates: The rates at these levels.
    """
    return gain(levels, rates) < _HALF


def bend(levels: Sequence[float], times: Sequence[float]) -> int | None:
    """Return the step from which on response time grows faster than throughput.

    In a closed system rate = level / time, so a proportional increase divides between throughput and waiting.

    Args:
        levels: Outstanding operations, rising, n values.
        times: Response time in seconds at these levels, n values.

    Returns:
        Index of the first such step, from 0; None where the last step adds more throughput than waiting.

    Example:
        >>> bend([1, 2, 4, 8, 16], [1.0, 1.0, 1.0, 2.0, 4.0])
        2
    """
    rates = [level / time for level, time in zip(levels, times, strict=True)]
    steps = list(zip(itertools.pairwise(levels), itertools.pairwise(rates), strict=True))
    first = len(steps)
    while first > 0 and brings_less(*steps[first - 1]):
        first -= 1
    return first if first < len(steps) else None
