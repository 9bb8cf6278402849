"""Cells of one set as tables, and what a cell's neighbours let expect of it."""

import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median

from paribus.plausibility.quantity import StatedCell

Setting = tuple[tuple[str, str], ...]
Place = tuple[Setting, float]  # levels and a load

NO_LOAD = 0.0  # the place of the only column of a table that tells none
_LEAST_SCATTER = 0.01
_FEWEST = 3  # cells whose distance from the curve tells how far cells usually lie from it
_CLEAR = 6.0  # of squares, in scatters: odds of twenty to one where distances are normal
_FAR = 4.0
_REACH = 2.0  # how far a curve is thought on, in steps between its last two loads from their middle
_NEAREST = 3  # loads
_MANY = 100  # levels: the first of them tell how the others go


@dataclass(frozen=True)
class Grid:
    """The cells of one table and workload by level and load, and their positions among all that were given."""

    cells: Mapping[Place, StatedCell]
    at: Mapping[Place, int]

    @cached_property
    def settings(self) -> list[Setting]:
        """The levels, in their order in the table."""
        return list(dict.fromkeys(setting for setting, _ in self.cells))

    @cached_property
    def loads(self) -> list[float]:
        """From the lowest."""
        return sorted({load for _, load in self.cells})

    @property
    def table(self) -> str:
        """The name of the table; empty where these are runs of logs."""
        return next(iter(self.cells.values())).table

    def column(self, setting: Setting, metric: str) -> dict[float, float]:
        """A level's figures by load, as far as they are more than zero."""
        cells = {load: self.cells[setting, load] for load in self.loads if (setting, load) in self.cells}
        return {load: value for load, cell in cells.items() if (value := cell.value(metric)) is not None and value > 0}

    def curve(self, metric: str, without: Collection[Place] = ()) -> "GridCurve":
        """A metric over the grid, but for some cells."""
        columns = {
            setting: {
                load: math.log(value)
                for load, value in self.column(setting, metric).items()
                if (setting, load) not in without
            }
            for setting in self.settings
        }
        return GridCurve({setting: column for setting, column in columns.items() if column})

    def doubts(self, odd: Collection[Place], place: Place, metric: str, stated: float, implied: float) -> bool | None:
        """Whether neighbours that are not odd themselves bear out what is implied rather than what is stated."""
        return self.curve(metric, odd).doubts(place, stated, implied)


def grids(cells: Sequence[StatedCell]) -> list[Grid]:
    """The cells that are read together: those of a table, or the runs of logs of the same factors and workload.

    Of runs that repeat a cell the first is taken; points of a series, and of logs those without a load, are in none.
    """
    found: dict[tuple[str, str, tuple[str, ...], bool], dict[Place, int]] = defaultdict(dict)
    for position, cell in enumerate(cells):
        stated = cell.load is not None and cell.load > 0
        if cell.sample is None and (stated or cell.table):
            key = (cell.table, cell.workload, tuple(sorted(cell.levels)), stated)
            found[key].setdefault((cell.setting, cell.load if cell.load and stated else NO_LOAD), position)
    return [Grid({place: cells[at] for place, at in one.items()}, one) for one in found.values()]


@dataclass(frozen=True)
class GridCurve:
    """Natural logarithms of a metric by level and load."""

    columns: Mapping[Setting, Mapping[float, float]]

    @cached_property
    def scatter(self) -> float:
        """How far a cell usually lies from what its neighbours let expect, at least 1 %; infinite where few tell it."""
        places = [(setting, load) for setting, column in self.columns.items() for load in column]
        off = [abs(self.columns[s][n] - guess) for s, n in places if (guess := self.expected((s, n))) is not None]
        return max(1.5 * median(off), _LEAST_SCATTER) if len(off) >= _FEWEST else math.inf

    def expected(self, place: Place) -> float | None:
        """What the same level's curve and the other levels' at that load let expect; None where neither tells it."""
        found = [*self._within(*place), *self._across(*place)]
        return median(found) if found else None

    def doubts(self, place: Place, stated: float, implied: float) -> bool | None:
        """Whether what is stated lies off the curve and what is implied on it; None where that is not clear."""
        at = self.expected(place)
        if at is None or stated <= 0 or implied <= 0 or self.scatter == math.inf:
            return None
        off, would_be = (abs(math.log(value) - at) / self.scatter for value in (stated, implied))
        return None if abs(off**2 - would_be**2) < _CLEAR or min(off, would_be) > _FAR else off > would_be

    def _within(self, setting: Setting, load: float) -> Iterator[float]:
        """Between the next loads below and above; beyond the last of them as the last two go on."""
        column = self.columns.get(setting, {})
        loads = sorted(one for one in column if one != load)
        if len(loads) < 2:
            return
        above = min(max(sum(one < load for one in loads), 1), len(loads) - 1)
        low, high = loads[above - 1], loads[above]
        share = math.log(load / low) / math.log(high / low)
        if abs(share - 0.5) < _REACH:
            yield column[low] * (1 - share) + column[high] * share

    def _across(self, setting: Setting, load: float) -> Iterator[float]:
        """As other levels go from the next loads to this one."""
        column = self.columns.get(setting, {})
        near = sorted((one for one in column if one != load), key=lambda one: abs(math.log(one / load)))[:_NEAREST]
        for other, theirs in list(self.columns.items())[:_MANY]:
            shifts = [column[one] - theirs[one] for one in near if one in theirs]
            if other != setting and load in theirs and shifts:
                yield theirs[load] + median(shifts)
