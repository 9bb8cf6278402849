"""Tables of cells as curves, and the values that a cell's neighbours predict."""

import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median

from paribus.plausibility.quantity import StatedCell

Setting = tuple[tuple[str, str], ...]
CellKey = tuple[Setting, float]  # levels and load

NO_LOAD = 0.0  # load of the only column of a table that states none
_LEAST_SCATTER = 0.01
_FEWEST = 3  # cells needed to estimate the scatter around the curve
_CLEAR = 6.0  # of squares, in scatters: odds of twenty to one where distances are normal
_FAR = 4.0
_REACH = 2.0  # extrapolation limit, in steps between the last two loads, from their middle
_NEAREST = 3  # loads
_MANY = 100  # levels that are compared


@dataclass(frozen=True)
class Grid:
    """Cells of one table and workload by level and load, with their positions in the input."""

    cells: Mapping[CellKey, StatedCell]
    positions: Mapping[CellKey, int]

    @cached_property
    def settings(self) -> list[Setting]:
        """The levels, in table order."""
        return list(dict.fromkeys(setting for setting, _ in self.cells))

    @cached_property
    def loads(self) -> list[float]:
        """The loads in ascending order."""
        return sorted({load for _, load in self.cells})

    @property
    def table(self) -> str:
        """The name of the table; empty for runs of logs."""
        return next(iter(self.cells.values())).table

    def column(self, setting: Setting, metric: str) -> dict[float, float]:
        """Return a level's positive figures by load."""
        cells = {load: self.cells[setting, load] for load in self.loads if (setting, load) in self.cells}
        return {load: value for load, cell in cells.items() if (value := cell.value(metric)) is not None and value > 0}

    def curve(self, metric: str, without: Collection[CellKey] = ()) -> "GridCurve":
        """Return a metric over the grid, without some cells."""
        columns = {
            setting: {
                load: math.log(value)
                for load, value in self.column(setting, metric).items()
                if (setting, load) not in without
            }
            for setting in self.settings
        }
        return GridCurve({setting: column for setting, column in columns.items() if column})

    def doubts(
        self, odd: Collection[CellKey], cell_key: CellKey, metric: str, stated: float, implied: float
    ) -> bool | None:
        """Return whether neighbours, except odd ones, support the implied value rather than the stated one."""
        return self.curve(metric, odd).doubts(cell_key, stated, implied)


def grids(cells: Sequence[StatedCell]) -> list[Grid]:
    """Group cells into grids: those of a table, or the runs of logs with the same factors and workload.

    Only the first run of a repeated cell is used. Points of a series, and log runs without a load, are in no grid.
    """
    positions_by_key: dict[tuple[str, str, tuple[str, ...], bool], dict[CellKey, int]] = defaultdict(dict)
    for position, cell in enumerate(cells):
        has_load = cell.load is not None and cell.load > 0
        if cell.sample is None and (has_load or cell.table):
            key = (cell.table, cell.workload, tuple(sorted(cell.levels)), has_load)
            positions_by_key[key].setdefault((cell.setting, cell.load if cell.load and has_load else NO_LOAD), position)
    return [
        Grid({cell_key: cells[position] for cell_key, position in positions.items()}, positions)
        for positions in positions_by_key.values()
    ]


@dataclass(frozen=True)
class GridCurve:
    """Natural logarithms of a metric by level and load."""

    columns: Mapping[Setting, Mapping[float, float]]

    @cached_property
    def scatter(self) -> float:
        """Usual distance of a cell from its predicted value, at least 1 %; infinite if too few cells show it."""
        cell_keys = [(setting, load) for setting, column in self.columns.items() for load in column]
        distances = [
            abs(self.columns[s][n] - expected) for s, n in cell_keys if (expected := self.expected((s, n))) is not None
        ]
        return max(1.5 * median(distances), _LEAST_SCATTER) if len(distances) >= _FEWEST else math.inf

    def expected(self, cell_key: CellKey) -> float | None:
        """Return the median prediction from the level's own curve and other levels; None without one."""
        estimates = [*self._within(*cell_key), *self._across(*cell_key)]
        return median(estimates) if estimates else None

    def doubts(self, cell_key: CellKey, stated: float, implied: float) -> bool | None:
        """Return whether the stated value lies off the curve and the implied one on it; None if unclear."""
        expected = self.expected(cell_key)
        if expected is None or stated <= 0 or implied <= 0 or self.scatter == math.inf:
            return None
        stated_distance, implied_distance = (
            abs(math.log(value) - expected) / self.scatter for value in (stated, implied)
        )
        return (
            None
            if abs(stated_distance**2 - implied_distance**2) < _CLEAR or min(stated_distance, implied_distance) > _FAR
            else stated_distance > implied_distance
        )

    def _within(self, setting: Setting, load: float) -> Iterator[float]:
        """Interpolate between the adjacent loads, or extrapolate the last two."""
        column = self.columns.get(setting, {})
        loads = sorted(other_load for other_load in column if other_load != load)
        if len(loads) < 2:
            return
        above = min(max(sum(other_load < load for other_load in loads), 1), len(loads) - 1)
        low, high = loads[above - 1], loads[above]
        share = math.log(load / low) / math.log(high / low)
        if abs(share - 0.5) < _REACH:
            yield column[low] * (1 - share) + column[high] * share

    def _across(self, setting: Setting, load: float) -> Iterator[float]:
        """Predict from the change of other levels between the nearest loads and this one."""
        column = self.columns.get(setting, {})
        near = sorted(
            (other_load for other_load in column if other_load != load),
            key=lambda other_load: abs(math.log(other_load / load)),
        )[:_NEAREST]
        for other_setting, other_column in list(self.columns.items())[:_MANY]:
            shifts = [
                column[other_load] - other_column[other_load] for other_load in near if other_load in other_column
            ]
            if other_setting != setting and load in other_column and shifts:
                yield other_column[load] + median(shifts)
