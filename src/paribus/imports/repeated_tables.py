"""Tables that list the cells of an earlier table again; these are no repetitions."""

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

from paribus.i18n import N_, stored_message

_FEWEST = 3  # equal cells; fewer are equal by chance
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


@dataclass(slots=True)
class RepeatedTables:
    """Cells of all tables of a set, by cell and table, in order."""

    _cells: dict[Hashable, dict[TableKey, list[ListedCell]]] = field(default_factory=lambda: defaultdict(dict))

    def note(self, listed: ListedCell) -> None:
        """Note a cell."""
        self._cells[listed.cell].setdefault(listed.table, []).append(listed)

    def unused(self, cells: Sequence[ListedCell]) -> dict[int, str]:
        """Note the cells of a file; return the reason for each trial that repeats another table's cell."""
        pairs: dict[tuple[TableKey, TableKey], list[tuple[ListedCell, ListedCell]]] = defaultdict(list)
        for listed in cells:
            self.note(listed)
            by_table = self._cells[listed.cell]
            position = len(by_table[listed.table]) - 1
            for table, earlier in by_table.items():
                if (
                    table != listed.table
                    and position < len(earlier)
                    and earlier[position].figures.keys() & listed.figures
                ):
                    pairs[table, listed.table].append((earlier[position], listed))
        reasons: dict[int, str] = {}
        for table_pairs in pairs.values():
            equal = [pair for pair in table_pairs if _equal(*pair)]
            distinct = {tuple(sorted(listed.figures.items())) for _, listed in equal}
            if len(distinct) >= _FEWEST and len(equal) >= _SHARE * len(table_pairs):
                reasons |= {listed.trial: _reason(earlier, listed) for earlier, listed in table_pairs}
        return reasons


def _equal(first: ListedCell, second: ListedCell) -> bool:
    return all(first.figures[name] == second.figures[name] for name in first.figures.keys() & second.figures)


def _reason(earlier: ListedCell, listed: ListedCell) -> str:
    if _equal(earlier, listed):
        message = N_("has the same figures as trial {trial}: one run listed twice, counted once")
    else:
        message = N_("differs from trial {trial}, although both tables list the same runs: a misprint, or another run")
    return stored_message(message, trial=earlier.trial)
