"""Sample size before the first trial, by normal approximations (judging procedure, "Planner").

Standard deviations and margins are log ratios; `pair_sd` is the standard deviation of one pair. The factors cover
repeated looks, t quantiles and the equivalence test together.
"""

import math
from statistics import NormalDist

_TOST_90 = 3.29  # 1.645 + 1.645: both one-sided tests at 5 %, power 90 % at no effect
_LOOKS = 1.5  # factor for the pairs that repeated looks cost
_POWER_80 = 3.6  # a two-sided 5 % test by spending, power 80 %, some dozens of pairs
_LEAST_PAIRS, MOST_PAIRS = 32, 128
_NOISY = 0.05
STALLED_MARGINS = 1.5
"""The loss of the mean by stalled trials that must not stay unseen, in margins."""
_STALL = 0.3  # share of the throughput that a stalled trial loses
_UNSEEN = 0.05  # probability that no trial of the pairs stalled


def usual_margin(pair_sd: float) -> float:
    """Return the default margin of throughput: 2 %, or 3 % where `pair_sd` exceeds 5 % (judging procedure, "Margin").

    Args:
        pair_sd: Standard deviation of the log ratio of two equal trials.

    Returns:
        The margin as a log ratio.
    """
    return math.log1p(0.03 if pair_sd > _NOISY else 0.02)


def pairs_for(margin: float, pair_sd: float) -> int:
    """Return the pairs that show equivalence with 90 % power where there is no effect.

    Args:
        margin: Equivalence margin, a log ratio.
        pair_sd: Standard deviation of a pair, a log ratio.

    Example:
        >>> pairs_for(0.02, 0.045)
        83
    """
    return math.ceil(_LOOKS * (_TOST_90 * pair_sd / margin) ** 2)


def pairs_planned(margin: float, pair_sd: float) -> int:
    """Return the pairs to plan: what equivalence needs, limited to 32 to 128. A larger need calls for a wider margin.

    Args:
        margin: Equivalence margin, a log ratio.
        pair_sd: Standard deviation of a pair, a log ratio.
    """
    needed = max(pairs_for(margin, pair_sd), pairs_that_show_stalls(margin))
    return min(max(needed, _LEAST_PAIRS), MOST_PAIRS)


def pairs_that_show_stalls(margin: float) -> int:
    """Return the pairs that equivalence needs: fewer may hold no stalled trial of an arm whose mean is worse.

    Such an arm loses one and a half margins because some of its trials lose 30 %. With this many pairs the probability
    that none of them stalled is at most 5 %.

    Args:
        margin: Equivalence margin, a log ratio.

    Example:
        >>> pairs_that_show_stalls(math.log1p(0.02)), pairs_that_show_stalls(math.log1p(0.05))
        (29, 11)
    """
    share = min(STALLED_MARGINS * margin / _STALL, 1 - _UNSEEN)
    return math.ceil(math.log(_UNSEEN) / math.log1p(-share))


def trials_between_stalls(pairs: int) -> int:
    """Return how many trials there are to one stalled trial, where an arm stalls as often as may just be unseen.

    With this share of stalled trials the probability is 5 % that none of the pairs has one.

    Args:
        pairs: Number of pairs.

    Example:
        >>> trials_between_stalls(60)
        20
    """
    share = 1 - math.exp(math.log(_UNSEEN) / pairs)
    return math.floor(1 / share)


def smallest_effect(pair_sd: float, pairs: int) -> float:
    """Return the effect that is detected with 80 % power.

    Args:
        pair_sd: Standard deviation of a pair, a log ratio.
        pairs: Number of pairs.

    Returns:
        A log ratio.
    """
    return _POWER_80 * pair_sd / math.sqrt(pairs)


def pairs_to_show(effect: float, pair_sd: float, alpha: float) -> int:
    """Return the pairs with which an effect is detected with 80 % power: `smallest_effect`, solved for the pairs.

    Args:
        effect: The effect, a log ratio other than 0.
        pair_sd: Standard deviation of a pair, a log ratio.
        alpha: Error of the two-sided test, less than 5 % where several comparisons share that.

    Example:
        >>> pairs_to_show(0.05, 0.1, alpha=0.05)
        52
        >>> pairs_to_show(0.05, 0.1, alpha=0.05 / 7)
        83
    """
    quantile = NormalDist().inv_cdf
    stricter = (quantile(1 - alpha / 2) + quantile(0.8)) / (quantile(0.975) + quantile(0.8))
    return math.ceil((_POWER_80 * stricter * pair_sd / effect) ** 2)


def smallest_margin(pair_sd: float, pairs: int) -> float:
    """Return the margin within which equivalence is shown with 90 % power.

    Args:
        pair_sd: Standard deviation of a pair, a log ratio.
        pairs: Number of pairs.

    Returns:
        A log ratio.
    """
    return _TOST_90 * pair_sd * math.sqrt(_LOOKS / pairs)


def sub_trials(apply_s: float, trial_s: float, overhead_s: float, between_sd: float, within_sd: float) -> int:
    """Return the optimal number of trials in one costly application (Kalibera and Jones 2013, 9.4).

    It is the square root of the cost ratio times the variance ratio.

    Args:
        apply_s: Time of an application in seconds.
        trial_s: Measured time of a trial in seconds.
        overhead_s: Other time of a trial in seconds.
        between_sd: Standard deviation of applications, a log ratio.
        within_sd: Standard deviation of trials in one application, a log ratio.

    Returns:
        At least 1.
    """
    best = math.sqrt(apply_s / (trial_s + overhead_s)) * within_sd / between_sd
    return max(1, round(best))
