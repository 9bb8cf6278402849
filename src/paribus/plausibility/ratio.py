"""Two figures that keep one ratio over all cells of a table: queries per transaction, bytes per operation."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from statistics import median

from paribus.findings import Breach
from paribus.i18n import N_, gettext
from paribus.plausibility.amounts import BLOCK, BLOCK_SLACK, EACH, EACH_LESS, EACH_MORE, unlike_block, unlike_each
from paribus.plausibility.curve import Grid, Place, Setting
from paribus.plausibility.quantity import Range, StatedCell
from paribus.plausibility.table_cell import told
from paribus.plausibility.violation import Misfit
from paribus.plausibility.wording import sentence, together

SLACK = {EACH: EACH_LESS, BLOCK: BLOCK_SLACK}
_STEPS = {EACH: 1.0, BLOCK: 512.0}
_ROUNDED = 0.05  # where an MB may be a MiB as well
_SIZES = [2.0**power for power in range(9, 23)]
_FINEST, _SPREADS = 0.0003, 5.0
_FEWEST = 3  # cells that two tables have in common
_MOST = 0.6  # of the cells must agree before one of them is called odd


def queries_per_transaction(grid: Grid) -> list[Breach]:
    """Every transaction has as many queries: within 0.2 %, or five times what most cells differ by, 0.03 % at least.

    3 % more where retries may be the reason: where no higher load of the same level has as few as usual. Of cells that
    know the number the law within a cell has told.
    """
    return _constant(grid, EACH, "throughput_per_s", "queries_per_s")


def bytes_per_operation(grid: Grid) -> list[Breach]:
    """Every operation moves as many bytes, within 0.1 % or less in the same way, where tables do not tell its size."""
    return _constant(grid, BLOCK, "throughput_per_s", "bytes_per_s")


def in_two_tables(grids: Sequence[Grid]) -> Iterator[Breach]:
    """The same two laws where one table has the one figure, and another of the same settings the other."""
    for one, other in combinations([grid for grid in grids if grid.table], 2):
        shared = [place for place in one.cells if place in other.cells]
        if len(shared) < _FEWEST or one.cells[shared[0]].workload != other.cells[shared[0]].workload:
            continue
        cells = {place: _together(one.cells[place], other.cells[place]) for place in shared}
        here, there = (set().union(*(grid.cells[place].figures for place in shared)) for grid in (one, other))
        joined = Grid(cells, {place: one.at[place] for place in shared})
        second = {one.at[place]: other.at[place] for place in shared}
        found: list[Breach] = []
        for law, metric in ((queries_per_transaction, "queries_per_s"), (bytes_per_operation, "bytes_per_s")):
            if not {metric, "throughput_per_s"} <= here and not {metric, "throughput_per_s"} <= there:
                found += law(joined)
        for breach in found:
            yield replace(breach, cells=(*breach.cells, *(second[at] for at in breach.cells)))


def _together(one: StatedCell, other: StatedCell) -> StatedCell:
    """A cell that has what two tables say of it."""
    return replace(
        one, figures={**other.figures, **one.figures}, table=f"{one.table} + {other.table}", block_bytes=None
    )


def _constant(grid: Grid, law: str, of: str, total: str) -> list[Breach]:
    found: dict[Place, Range] = {}
    for place, cell in grid.cells.items():
        each, whole = cell.range(of), cell.range(total)
        known = cell.queries_each if law == EACH else cell.block_bytes
        if each and whole and each.low > 0 and whole.low > 0 and not known:
            found[place] = whole / each
    if len(found) < 2:
        return []
    usual = _usual(found.values(), _STEPS[law])
    agreeing = {place for place, one in found.items() if _off(one, usual) <= SLACK[law]}
    if len(agreeing) < max(2, _MOST * len(found)):
        return _disagreeing(grid, law, found)
    near = sorted(_off(found[place], usual) for place in agreeing)
    slack = min(max(_SPREADS * near[int(_MOST * len(near))], _FINEST), SLACK[law])
    settled = {place for place, one in found.items() if _off(one, usual) <= slack}
    other = _other_sizes(found, settled) if law == BLOCK else set()
    odd = [
        place
        for place, one in found.items()
        if place[0] not in other and _off(one, usual) > _most(place, one, usual, settled, slack, law)
    ]
    return [_odd(grid, place, law, usual, (of, total), odd) for place in odd]


def _usual(found: Collection[Range], step: float) -> float:
    """The ratio of most cells, by those that are written most finely; a multiple of `step` where it is one."""
    finest = sorted(found, key=lambda one: one.high / one.low)[: max(len(found) // 2, 3)]
    usual = median(one.middle for one in finest)
    whole = Range(round(usual / step) * step, round(usual / step) * step)
    fitting = sum(one.widened(_FINEST).meets(whole) for one in found)
    return whole.low if whole.low > 0 and fitting >= _MOST * len(found) else usual


def _other_sizes(found: Mapping[Place, Range], settled: Collection[Place]) -> set[Setting]:
    """Levels with operations of another size than usual, at all loads: a power of two of sectors, up to 4 MiB."""
    return {
        setting
        for setting, ranges in _by_setting(found).items()
        if setting not in {place[0] for place in settled}
        and any(all(one.widened(BLOCK_SLACK).meets(Range(n, n)) for one in ranges) for n in _SIZES)
    }


def _off(one: Range, usual: float) -> float:
    """How far a ratio lies from the usual one, beyond what rounding explains."""
    return max(one.low / usual - 1, 1 - one.high / usual, 0.0)


def _most(place: Place, one: Range, usual: float, settled: Collection[Place], slack: float, law: str) -> float:
    """How far off is nothing odd."""
    setting, load = place
    retried = law == EACH and one.middle > usual
    return EACH_MORE if retried and not any(s == setting and n > load for s, n in settled) else slack


def _disagreeing(grid: Grid, law: str, found: Mapping[Place, Range]) -> list[Breach]:
    """Too few cells agree to say which are right."""
    low, high = min(found.values(), key=lambda one: one.middle), max(found.values(), key=lambda one: one.middle)
    if high.low <= low.high * (1 + (EACH_MORE if law == EACH else SLACK[law])):
        return []
    if _of_loads_that_differ(found, law):
        return []
    where = together(grid.cells[place].where for place in found)
    said = N_("between {low:.4g} and {high:.4g} queries per transaction; the correct value cannot be determined")
    if law == BLOCK:
        said = N_("between {low:,.0f} and {high:,.0f} bytes per operation; the correct value cannot be determined")
    words = sentence(law, gettext(said, low=low.middle, high=high.middle), where)
    return [Breach(law=law, where=where, cells=tuple(grid.at[place] for place in found), words=words)]


def _of_loads_that_differ(found: Mapping[Place, Range], law: str) -> bool:
    """Whether each level has a ratio of its own that may be: a whole number of queries, a usual size of blocks."""
    mine = _by_setting(found)
    if any(max(one.low for one in all_) > min(one.high for one in all_) * (1 + EACH_MORE) for all_ in mine.values()):
        return False
    if law == EACH:
        return all(one.widened(EACH_LESS).meets(Range(n, n)) for one in found.values() for n in [round(one.middle)])
    return all(any(one.widened(_ROUNDED).meets(Range(n, n)) for n in _SIZES) for one in found.values())


def _by_setting(found: Mapping[Place, Range]) -> Mapping[Setting, list[Range]]:
    mine: dict[Setting, list[Range]] = defaultdict(list)
    for place, one in found.items():
        mine[place[0]].append(one)
    return mine


def _odd(grid: Grid, place: Place, law: str, usual: float, metrics: tuple[str, str], odd: Collection[Place]) -> Breach:
    """A cell unlike the others, and which of its figures its neighbours on the curve bear out."""
    cell, (of, total) = grid.cells[place], metrics
    each, whole = (cell.figures[metric].range(metric) for metric in metrics)
    words = unlike_each(cell, of, total, usual) if law == EACH else unlike_block(cell, (of,), total, usual)
    misfit = Misfit(law=law, words=words, tolerance=SLACK[law])
    implied = {of: whole.times(1 / usual), total: each.times(usual)}
    return told(cell, grid.at[place], [misfit], implied, partial(grid.doubts, odd, place))
