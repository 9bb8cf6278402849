"""From the figures of single runs to a table: medians, ratios of neighbours, and whether the bars hold.

In: a case and its runs. Out: rows, and text of them. Called by `bench/file_engine/run.py`.
"""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cases import Case, Figure, Spread
from contestants import Figures

OURS = ("paribus", "")
HEAD = ("case", "figure", "paribus", "fio", "sysbench", "to fio", "to sysbench", "limit")


@dataclass(frozen=True)
class Row:
    """One figure of one case, as it is shown, and whether a bar of it does not hold."""

    cells: tuple[str, ...]
    missed: bool


def rows(case: Case, runs: Mapping[tuple[str, str], Sequence[Figures]]) -> list[Row]:
    """A row for each figure of the case."""
    return [_row(case, figure, runs) for figure in case.figures]


def _row(case: Case, figure: Figure, runs: Mapping[tuple[str, str], Sequence[Figures]]) -> Row:
    values = {entry: [figure.of(run) for run in all_] for entry, all_ in runs.items()}
    medians = {entry: statistics.median(all_) for entry, all_ in values.items()}
    shown = {"paribus": format(medians[OURS], figure.form)}
    ratios: dict[str, Spread] = {}
    for rival, ways in case.contestants.items():
        if rival == "paribus":
            continue
        way = figure.better(ways, key=lambda way: medians[rival, way])
        shown[rival] = format(medians[rival, way], figure.form) + (f" ({way})" if len(ways) > 1 else "")
        pairs = [ours / theirs for ours, theirs in zip(values[OURS], values[rival, way], strict=True)]
        ratios[rival] = Spread(statistics.median(pairs), min(pairs), max(pairs))
    bars = [bar for bar in case.bars if bar.figure is figure]
    held = [bar.holds(medians[OURS], ratios) for bar in bars]
    said = "; ".join(f"{bar.text}: {'pass' if holds else '**FAIL**'}" for bar, holds in zip(bars, held, strict=True))
    to = {rival: f"{ratio.median:.2f} [{ratio.low:.2f}, {ratio.high:.2f}]" for rival, ratio in ratios.items()}
    rivals = ("fio", "sysbench")
    cells = (shown["paribus"], *(shown.get(r, "") for r in rivals), *(to.get(r, "") for r in rivals), said)
    return Row((case.name, figure.name, *cells), not all(held))


def markdown(where: str, found: Sequence[Row]) -> str:
    """The table for a document."""
    lines = [HEAD, ("---",) * len(HEAD), *(row.cells for row in found)]
    return "\n".join([where, "", *(f"| {' | '.join(line)} |" for line in lines)])


def aligned(where: str, found: Sequence[Row]) -> str:
    """The table for a terminal."""
    lines = [HEAD, *(row.cells for row in found)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEAD))]
    return "\n".join(
        [where, "", *("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines)]
    )
