"""Ratios that claims state in words: `about 75%`, `6-13x, mean 9x`, `at most 2.7 times`."""

import re
from dataclasses import dataclass

_TIMES = re.compile(r"([0-9]+(?:\.[0-9]+)?)(?:\s*-\s*([0-9]+(?:\.[0-9]+)?))?\s*(?:x\b|times)")
_SHARE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*%")
_MEAN = re.compile(r"mean\s*([0-9]+(?:\.[0-9]+)?)\s*(?:x\b|times)")
_ROUNDING = 0.02
_WHOLE = 30.0  # a smaller percentage states a gain, a larger one a remainder


@dataclass(frozen=True, slots=True)
class ClaimedRatio:
    """A claimed speed ratio of the better level to the other one, between `low` and `high`.

    `is_percentage`: stated in percent; `is_remainder`: as a percentage of the other level's figure.
    """

    low: float
    high: float
    text: str
    is_percentage: bool
    is_remainder: bool = False
    rounding: float = _ROUNDING

    def show(self, ratio: float) -> str:
        """Return a ratio in the notation of the claim."""
        if not self.is_percentage:
            return f"{ratio:.3g}x"
        return f"{100 / ratio:.3g}%" if self.is_remainder else f"{(ratio - 1) * 100:.3g}%"

    def relative_error(self, ratio: float) -> float:
        """Return the distance of a ratio from the claimed range, relative; 0 inside."""
        return max(self.low / ratio - 1, ratio / self.high - 1, 0.0)


def claimed_ratio(text: str) -> ClaimedRatio | None:
    """Return the ratio that a text states, or None; a ratio of 0 is none."""
    ratio = _ratio_in(text)
    return ratio if ratio is not None and ratio.high > 0 else None


def _ratio_in(text: str) -> ClaimedRatio | None:
    is_upper_bound = "at most" in text
    if mean := _MEAN.search(text):
        return ClaimedRatio(float(mean[1]), float(mean[1]), text, is_percentage=False, rounding=0.1)
    if times := _TIMES.search(text):
        low, high = float(times[1]), float(times[2] or times[1])
        return ClaimedRatio(0.0 if is_upper_bound else low, high, text, is_percentage=False)
    if percentage := _SHARE.search(text):
        ratio = float(percentage[1]) / 100
        if not 0 < ratio < 1:
            return None
        is_remainder = ratio * 100 >= _WHOLE
        better = 1 / ratio if is_remainder else 1 + ratio
        return ClaimedRatio(
            0.0 if is_upper_bound else better, better, text, is_percentage=True, is_remainder=is_remainder
        )
    return None
