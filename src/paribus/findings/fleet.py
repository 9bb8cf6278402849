"""Records of one effect on several machines."""

from dataclasses import dataclass

from paribus.findings.estimate import Estimate
from paribus.model import Effect, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineEffect:
    """An effect on one machine: a log ratio and its interval, and the verdict there.

    `counted` in the mean: not where the setting cannot act. `apart` where it is not to be expected from the others;
    `only_here` are then the facts in which this machine alone differs from all others: name, value.
    """

    experiment: str
    machine: str
    effect: Estimate
    verdict: Verdict
    suspect: bool = False
    counted: bool = True
    apart: bool = False
    only_here: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetEffect:
    """An effect over machines: its mean with the interval, the deviation between machines, and the next machine.

    All are log ratios. `confidence` is that of the mean's interval. `beside` counts the machines whose own intervals do
    not hold the mean. `unjudged` are machines that were asked the same and have no verdict.
    """

    factor: str
    baseline: str
    arm: str
    workload: str
    response: str
    margin: float
    confidence: float
    mean: Estimate
    next_machine: Estimate
    deviation: float
    beside: int
    verdict: Verdict
    machines: tuple[MachineEffect, ...]
    unjudged: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """A question that no three machines have judged in the same way, or that machines asked in several ways.

    `effect` is one of its effects. `machines` judged it, grouped by the way in which they asked; `inert` are those
    among them whose verdict is that the setting cannot act.
    """

    effect: Effect
    machines: tuple[tuple[str, ...], ...]
    inert: tuple[str, ...] = ()
