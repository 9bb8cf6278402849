"""Tables that list the cells of an earlier table again; these are no repetitions."""

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from paribus.i18n import N_, stored_message

_FEWEST = 3  # equal cells; fewer are equal by chance
_MOST_TABLES = 8  # that are looked up by a figure; more are copies of these
_SHARE = 0.6  # of the common cells; the others hold a misprint, or another run

TableKey = tuple[int, str]
"""Number of the source and name of the table."""


@dataclass(frozen=True, slots=True)
class ListedCell:
    """A trial of a published table, with the figures that two runs of a cell cannot share by chance."""

    table: TableKey
    cell: Hashable
    trial: int
    figures: Mapping[str, float]


Place = tuple[Hashable, int]
"""A cell, and how many times its table has had it before."""


@dataclass(slots=True)
class RepeatedTables:
    """Cells of all tables of a set, by table and place, and the tables that have a figure at a place.

    Only tables that share figures are compared, so that a set takes time in proportion to its size.
    """

    _cells: dict[TableKey, dict[Place, ListedCell]] = field(default_factory=lambda: defaultdict(dict))
    _times: dict[tuple[TableKey, Hashable], int] = field(default_factory=lambda: defaultdict(int))
    _tables: dict[tuple[Place, str, float], list[TableKey]] = field(default_factory=lambda: defaultdict(list))

    def note(self, listed: ListedCell) -> Place:
        """Note a cell, and return its place."""
        place = (listed.cell, self._times[listed.table, listed.cell])
        self._times[listed.table, listed.cell] += 1
        self._cells[listed.table][place] = listed
        for name, value in listed.figures.items():
            tables = self._tables[place, name, value]
            if len(tables) < _MOST_TABLES:
                tables.append(listed.table)
        return place

    def unused(self, cells: Sequence[ListedCell]) -> dict[int, str]:
        """Note the cells of a file; return the reason for each trial that repeats another table's cell."""
        shared: dict[tuple[TableKey, TableKey], set[Place]] = defaultdict(set)
        for listed in cells:
            place = self.note(listed)
            for name, value in listed.figures.items():
                for table in self._tables[place, name, value]:
                    if table != listed.table:
                        shared[table, listed.table].add(place)
        reasons: dict[int, str] = {}
        for (earlier_table, table), places in shared.items():
            if len(places) < _FEWEST:
                continue
            table_pairs = list(self._pairs(earlier_table, table))
            equal = [pair for pair in table_pairs if _equal(*pair)]
            distinct = {tuple(sorted(listed.figures.items())) for _, listed in equal}
            if len(distinct) >= _FEWEST and len(equal) >= _SHARE * len(table_pairs):
                for earlier, listed in table_pairs:
                    if listed.trial not in reasons or _equal(earlier, listed):
                        reasons[listed.trial] = _reason(earlier, listed)
        return reasons

    def _pairs(self, earlier_table: TableKey, table: TableKey) -> Iterator[tuple[ListedCell, ListedCell]]:
        """Yield the cells of two tables at the same places that have figures in common."""
        earlier_cells = self._cells[earlier_table]
        for place, listed in self._cells[table].items():
            earlier = earlier_cells.get(place)
            if earlier and earlier.trial < listed.trial and earlier.figures.keys() & listed.figures:
                yield earlier, listed


def _equal(first: ListedCell, second: ListedCell) -> bool:
    return all(first.figures[name] == second.figures[name] for name in first.figures.keys() & second.figures)


def _reason(earlier: ListedCell, listed: ListedCell) -> str:
    if _equal(earlier, listed):
        message = N_("has the same figures as trial {trial}: one run listed twice, counted once")
    else:
        message = N_("differs from trial {trial}, although both tables list the same runs: a misprint, or another run")
    return stored_message(message, trial=earlier.trial)
