"""The changes of single pairs that a report shows: part of the view model."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class PairDot:
    """The change of a response in the pair of a block, in percent; `load` is the load level in words."""

    block: int
    value: float
    load: str
    trials: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairPanel:
    """The pairs of an arm, and the effect that was estimated from them; numbers are percentages.

    `decided` as in Answer; `note` states the number of pairs, and how many are drawn.
    """

    arm: str
    estimate: float
    low: float
    high: float
    decided: str
    note: str
    dots: tuple[PairDot, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairChart:
    """The changes of a response in the pairs of every arm, and the margin in percent."""

    key: str
    title: str
    baseline: str
    margin: str
    margin_low: float
    margin_high: float
    panels: tuple[PairPanel, ...]
