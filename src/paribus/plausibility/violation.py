"""A violation of a law within a cell, and arithmetic shared by the laws."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from paribus.plausibility.quantity import Range, StatedCell


@dataclass(frozen=True, slots=True, kw_only=True)
class Misfit:
    """Figures that contradict each other by a `law` (its English name), with a message.

    `implied` holds, for each figure, the range that would satisfy the law if the others are right. `tolerance` is a
    share in addition to rounding.
    """

    law: str
    message: str
    implied: Mapping[str, Range] = field(default_factory=dict)
    tolerance: float = 0.0


def near(first: Range, second: Range, slack: float) -> bool:
    """Return whether the ranges overlap, with slack."""
    return first.widened(slack).meets(second)


def summed(cell: StatedCell, names: tuple[str, ...]) -> Range | None:
    """Return the sum of figures; None if one is not stated."""
    total = Range(0.0, 0.0)
    for name in names:
        figure_range = cell.range(name)
        if figure_range is None:
            return None
        total += figure_range
    return total


def value_of(cell: StatedCell, names: tuple[str, ...]) -> float:
    """Return the sum of stated figures as written."""
    return sum(cell.figures[name].value for name in names)


def operations(cell: StatedCell) -> list[tuple[str, ...]]:
    """Return the sets of figures that may sum to all operations: reads and writes, or the rate; with fsyncs or not."""
    alternatives = [("reads_per_s", "writes_per_s"), ("throughput_per_s",)]
    stated = [names for names in alternatives if all(name in cell.figures for name in names)]
    return [*stated, *((*names, "fsyncs_per_s") for names in stated if "fsyncs_per_s" in cell.figures)]
