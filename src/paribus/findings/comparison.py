"""Records of a comparison of two experiments."""

from dataclasses import dataclass

from paribus.findings.estimate import Estimate
from paribus.model import Verdict
from paribus.units import LoadLevel


@dataclass(frozen=True, slots=True, kw_only=True)
class Between:
    """The baseline of one experiment compared with that of another, over all load levels (`load` None) or at one.

    The estimate and its interval are log ratios, second over first; `rounds` counts the units of each experiment.
    """

    workload: str
    response: str
    load: LoadLevel | None
    estimate: float
    low: float
    high: float
    confidence: float
    margin: float
    rounds: tuple[int, int]
    verdict: Verdict | None
    trials: tuple[tuple[int, ...], tuple[int, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectBetween:
    """An effect in two experiments, and the difference, second minus first: log ratios with their intervals.

    `alike` is True where the difference lies within the margin, False where it excludes zero, else None.
    """

    factor: str
    baseline: str
    arm: str
    workload: str
    response: str
    first: Estimate
    second: Estimate
    difference: Estimate
    margin: float
    alike: bool | None
