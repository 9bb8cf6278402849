"""View models of one question on several machines."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineRow:
    """An effect on one machine."""

    machine: str
    experiment: str
    effect: str
    verdict: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetRow:
    """An effect over machines; `decided` names the colour of its verdict."""

    question: str
    under: str
    mean: str
    margin: str
    confidence: str
    verdict: str
    decided: str
    sentences: tuple[str, ...]
    machines: tuple[MachineRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetView:
    """One question, or several, on several machines."""

    title: str
    effects: tuple[FleetRow, ...]
    notes: tuple[str, ...]
