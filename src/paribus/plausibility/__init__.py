"""Arithmetic and physics: figures in, what does not fit out; for other people's results and our own alike.

`of_cell` is for one run, `of_set` for all cells of a set with what its prose claims. Tolerances stand beside each law.
"""

from collections import defaultdict
from collections.abc import Sequence
from functools import partial

from paribus.findings import Breach
from paribus.plausibility import amounts, ceiling, duplicates, ratio, response_times, table, text
from paribus.plausibility.curve import Grid, Place, grids
from paribus.plausibility.quantity import Claimed, StatedCell, StatedFigure
from paribus.plausibility.table_cell import breaches
from paribus.plausibility.wording import alike

__all__ = ["NAMES", "Breach", "Claimed", "StatedCell", "StatedFigure", "of_cell", "of_set"]

NAMES = (
    amounts.BLOCK,
    amounts.RATE,
    amounts.QUERIES,
    amounts.EACH,
    amounts.PARTS,
    amounts.SHARED,
    amounts.AGAIN,
    response_times.SUM,
    response_times.TIME,
    response_times.LITTLE,
    response_times.ORDER,
    amounts.SHARES,
    amounts.SIGNS,
    ceiling.CEILING,
    duplicates.COPY,
    duplicates.TWICE,
    table.GAP,
    table.BEST,
    table.JUMP,
    text.PROSE,
)
"""The laws, as `tr` translates them."""


def of_cell(stated: StatedCell) -> list[Breach]:
    """What does not fit within the figures of one run."""
    return breaches(stated)


def of_set(cells: Sequence[StatedCell], claims: Sequence[Claimed] = ()) -> list[Breach]:
    """All that does not fit: within each cell, as its neighbours on the curve bear it out, and across cells.

    What goes wrong in the same way in most cells of a table is told once.
    """
    cells = response_times.closed_loops(cells)
    tables = grids(cells)
    found = _within(cells, tables)
    for grid in tables:
        found += ratio.queries_per_transaction(grid) + ratio.bytes_per_operation(grid)
    found += ratio.in_two_tables(tables)
    for grid in tables:
        found += [*table.gaps(grid), *table.best(grid), *text.changes(grid)]
    known = {at for breach in found for at in breach.cells if breach.metric}
    for grid in tables:
        found += table.jumps(grid, known)
    found += ceiling.pinned(tables)
    found += [*duplicates.columns(tables), *duplicates.rows(cells), *duplicates.reports(cells)]
    return alike(found, cells) + text.percentages(claims, tables)


def _within(cells: Sequence[StatedCell], tables: Sequence[Grid]) -> list[Breach]:
    places: dict[int, tuple[Grid, Place]] = {at: (grid, place) for grid in tables for place, at in grid.at.items()}
    wrong = [position for position, cell in enumerate(cells) if breaches(cell)]
    odd: dict[int, set[Place]] = defaultdict(set)
    for position in wrong:
        if position in places:
            odd[id(places[position][0])].add(places[position][1])
    found: list[Breach] = []
    for position in wrong:
        doubts = None
        if position in places:
            grid, place = places[position]
            doubts = partial(grid.doubts, odd[id(grid)], place)
        found += breaches(cells[position], position, doubts)
    return found
