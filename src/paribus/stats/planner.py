"""Before the first trial: how many pairs a question needs, and what so many pairs can see.

Standard deviations and margins are of log ratios; `pair_sd` is that of one pair. Simple normal formulas whose factors
stand for looks, t quantiles and the equivalence test at once.
"""

import math

_TOST_90 = 3.29  # 1.645 + 1.645: both one-sided tests at 5 %, power 90 % at no effect
_LOOKS = 1.4  # what looking often costs in pairs
_POWER_80 = 3.1  # a two-sided 5 % test by spending, power 80 %, some dozens of pairs
_LEAST_PAIRS, MOST_PAIRS = 32, 128
_NOISY = 0.05


def usual_margin(pair_sd: float) -> float:
    """The margin of throughput where none is declared: 2 %, and 3 % where equal trials differ by more than 5 %."""
    return math.log1p(0.03 if pair_sd > _NOISY else 0.02)


def pairs_for(margin: float, pair_sd: float) -> int:
    """The pairs that show equivalence within the margin nine times out of ten, where there is no effect."""
    return math.ceil(_LOOKS * (_TOST_90 * pair_sd / margin) ** 2)


def pairs_planned(margin: float, pair_sd: float) -> int:
    """The most pairs worth planning for that: 32 to 128, since beyond these the margin is what is wrong."""
    return min(max(pairs_for(margin, pair_sd), _LEAST_PAIRS), MOST_PAIRS)


def smallest_effect(pair_sd: float, pairs: int) -> float:
    """The effect that so many pairs see with a power of 80 %."""
    return _POWER_80 * pair_sd / math.sqrt(pairs)


def smallest_margin(pair_sd: float, pairs: int) -> float:
    """The margin within which so many pairs show equivalence nine times out of ten."""
    return _TOST_90 * pair_sd * math.sqrt(_LOOKS / pairs)


def sub_trials(apply_s: float, trial_s: float, overhead_s: float, between_sd: float, within_sd: float) -> int:
    """The trials worth making in one costly application: the square root of cost ratio times variance ratio.

    `between_sd` is that of applications, `within_sd` that of trials in one (Kalibera and Jones 2013, 9.4).
    """
    best = math.sqrt(apply_s / (trial_s + overhead_s)) * within_sd / between_sd
    return max(1, round(best))
