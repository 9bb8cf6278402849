"""Checks of figures against arithmetic and physics, for imported results and own measurements alike.

`of_cell` checks one run; `of_set` checks all cells of a set and the claims of its text. Each law documents its
tolerance.
"""

from collections import defaultdict
from collections.abc import Sequence
from functools import partial

from paribus.findings import Breach
from paribus.plausibility import amounts, ceiling, duplicates, ratio, response_times, table, text
from paribus.plausibility.curve import CellKey, Grid, grids
from paribus.plausibility.quantity import Claimed, StatedCell, StatedFigure
from paribus.plausibility.table_cell import breaches
from paribus.plausibility.wording import merge_similar

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
    text.WHOLE,
)
"""Names of the laws, translated by `gettext`."""


def of_cell(stated: StatedCell) -> list[Breach]:
    """Return the violations within the figures of one run."""
    return breaches(stated)


def of_set(cells: Sequence[StatedCell], claims: Sequence[Claimed] = ()) -> list[Breach]:
    """Return all violations: within cells, between cells and neighbours on the curve, and across tables.

    A violation of the same kind in most cells of a table is reported once.
    """
    cells = response_times.closed_loops(cells)
    tables = grids(cells)
    violations = _within(cells, tables)
    for grid in tables:
        violations += ratio.queries_per_transaction(grid) + ratio.bytes_per_operation(grid)
    violations += ratio.in_two_tables(tables)
    for grid in tables:
        violations += [*table.gaps(grid), *table.best(grid), *text.changes(grid)]
    suspect_cells = {position for breach in violations for position in breach.cells if breach.metric}
    for grid in tables:
        violations += table.jumps(grid, suspect_cells)
    violations += ceiling.pinned(tables)
    violations += [*duplicates.columns(tables), *duplicates.rows(cells), *duplicates.reports(cells)]
    return merge_similar(violations, cells) + text.percentages(claims, tables)


def _within(cells: Sequence[StatedCell], tables: Sequence[Grid]) -> list[Breach]:
    cell_keys: dict[int, tuple[Grid, CellKey]] = {
        position: (grid, cell_key) for grid in tables for cell_key, position in grid.positions.items()
    }
    inconsistent = [position for position, cell in enumerate(cells) if breaches(cell)]
    odd: dict[int, set[CellKey]] = defaultdict(set)
    for position in inconsistent:
        if position in cell_keys:
            odd[id(cell_keys[position][0])].add(cell_keys[position][1])
    violations: list[Breach] = []
    for position in inconsistent:
        doubts = None
        if position in cell_keys:
            grid, cell_key = cell_keys[position]
            doubts = partial(grid.doubts, odd[id(grid)], cell_key)
        violations += breaches(cells[position], position, doubts)
    return violations
