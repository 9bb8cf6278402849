"""View models of two experiments next to each other."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class FormattedDifference:
    """A difference with its interval, in words and, for drawing, in percent; `decided` names its colour."""

    effect: str
    interval: str
    estimate: float
    low: float
    high: float
    margin: str
    margin_low: float
    margin_high: float
    decided: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineRow:
    """Change of a response of the baseline between two experiments; `whole`: over all load levels."""

    workload: str
    response: str
    load: str
    whole: bool
    change: FormattedDifference
    verdict: str
    rounds: tuple[int, int]
    trials: tuple[tuple[int, ...], tuple[int, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectRow:
    """Effect of a setting in the first experiment and in the second, and whether they agree."""

    factor: str
    arms: str
    workload: str
    response: str
    first: str
    second: str
    difference: FormattedDifference
    conclusion: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedView:
    """Two experiments; `differences` are name, first and second."""

    title: str
    experiments: str
    headline: str
    first: str
    second: str
    differences: tuple[tuple[str, str, str], ...]
    baseline: tuple[BaselineRow, ...]
    effects: tuple[EffectRow, ...]
    notes: tuple[str, ...]
