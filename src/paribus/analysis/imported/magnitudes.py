"""Ratios that people state in words: `about 75%`, `6-13x, mean 9x`, `at most 2.7 times`."""

import re
from dataclasses import dataclass

_TIMES = re.compile(r"([0-9]+(?:\.[0-9]+)?)(?:\s*-\s*([0-9]+(?:\.[0-9]+)?))?\s*(?:x\b|times)")
_SHARE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*%")
_MEAN = re.compile(r"mean\s*([0-9]+(?:\.[0-9]+)?)\s*(?:x\b|times)")
_ROUNDING = 0.02
_WHOLE = 30.0  # a percentage below is what is gained, above it is what is left


@dataclass(frozen=True, slots=True)
class Stated:
    """How many times as fast the better level is said to be: between `low` and `high`.

    `share`: told in percent, and `left`: of what the other one does.
    """

    low: float
    high: float
    words: str
    share: bool
    left: bool = False
    rounding: float = _ROUNDING

    def told(self, ratio: float) -> str:
        """A ratio as this one is told."""
        if not self.share:
            return f"{ratio:.3g}x"
        return f"{100 / ratio:.3g}%" if self.left else f"{(ratio - 1) * 100:.3g}%"

    def miss(self, ratio: float) -> float:
        """How far a ratio lies outside, as a share of it."""
        return max(self.low / ratio - 1, ratio / self.high - 1, 0.0)


def stated(words: str) -> Stated | None:
    """The ratio in what somebody says; None where there is none."""
    upto = "at most" in words
    if mean := _MEAN.search(words):
        return Stated(float(mean[1]), float(mean[1]), words, share=False, rounding=0.1)
    if times := _TIMES.search(words):
        low, high = float(times[1]), float(times[2] or times[1])
        return Stated(0.0 if upto else low, high, words, share=False)
    if share := _SHARE.search(words):
        ratio = float(share[1]) / 100
        if not 0 < ratio < 1:
            return None
        left = ratio * 100 >= _WHOLE
        better = 1 / ratio if left else 1 + ratio
        return Stated(0.0 if upto else better, better, words, share=True, left=left)
    return None
