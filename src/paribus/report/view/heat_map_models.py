"""The response times of a comparison from trial to trial: part of the view model."""

from dataclasses import dataclass

SHADES = (0.001, 0.01, 0.03, 0.1, 0.3)
"""Shares of the operations of a trial from which on a cell has shade 2, 3 and so on; shade 1 is less, 0 nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeatLane:
    """One arm: the shades of each trial in run order, the shortest times first."""

    arm: str
    trials: str
    columns: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class HeatMap:
    """A lane for each arm on one logarithmic axis; `ticks` are heights, from 0 to 1, with their times."""

    title: str
    lanes: tuple[HeatLane, ...]
    ticks: tuple[tuple[float, str], ...]
