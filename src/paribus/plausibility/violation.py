"""What a law finds wrong in a cell, and arithmetic that laws share."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from paribus.plausibility.quantity import Range, StatedCell


@dataclass(frozen=True, slots=True, kw_only=True)
class Misfit:
    """Figures that do not fit each other, by the law that they break (its English name), in words.

    `implied` is what a figure would have to be for the others to be right, one at a time; `tolerance` the slack beside
    rounding, as a share.
    """

    law: str
    words: str
    implied: Mapping[str, Range] = field(default_factory=dict)
    tolerance: float = 0.0


def near(one: Range, other: Range, slack: float) -> bool:
    """Whether two can be equal, but for slack."""
    return one.widened(slack).meets(other)


def summed(cell: StatedCell, names: tuple[str, ...]) -> Range | None:
    """What figures make together, None where one is not stated."""
    total = Range(0.0, 0.0)
    for name in names:
        one = cell.range(name)
        if one is None:
            return None
        total += one
    return total


def value_of(cell: StatedCell, names: tuple[str, ...]) -> float:
    """What figures that are stated make together, as they are written."""
    return sum(cell.figures[name].value for name in names)


def operations(cell: StatedCell) -> list[tuple[str, ...]]:
    """Which figures may make up all operations: reads and writes, or the rate, and with fsyncs, which some count."""
    ways = [("reads_per_s", "writes_per_s"), ("throughput_per_s",)]
    stated = [way for way in ways if all(name in cell.figures for name in way)]
    return [*stated, *((*way, "fsyncs_per_s") for way in stated if "fsyncs_per_s" in cell.figures)]
