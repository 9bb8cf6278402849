"""View models of one question on several machines."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class PlotMark:
    """An estimate with its interval and the margin about zero, in percent."""

    estimate: float
    low: float
    high: float
    margin_low: float
    margin_high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineRow:
    """An effect on one machine; `decided` names the colour of its verdict."""

    machine: str
    experiment: str
    effect: str
    interval: str
    verdict: str
    decided: str
    mark: PlotMark


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetRow:
    """An effect over machines; `decided` names the colour of its verdict.

    `mean_mark` and `next_mark` are the mean and the next machine in a plot.
    """

    question: str
    under: str
    mean: str
    interval: str
    next_machine: str
    mean_mark: PlotMark
    next_mark: PlotMark
    margin: str
    confidence: str
    verdict: str
    decided: str
    sentences: tuple[str, ...]
    machines: tuple[MachineRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetView:
    """One question, or several, on several machines; `headline` has the answers."""

    title: str
    headline: str
    effects: tuple[FleetRow, ...]
    notes: tuple[str, ...]
