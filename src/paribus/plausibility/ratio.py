"""Ratios that are constant over the cells of a table: queries per transaction, bytes per operation."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from statistics import median

from paribus.findings import Breach
from paribus.i18n import N_, gettext
from paribus.plausibility.amounts import BLOCK, BLOCK_SLACK, EACH, EACH_LESS, EACH_MORE, unlike_block, unlike_each
from paribus.plausibility.curve import CellKey, Grid, Setting
from paribus.plausibility.quantity import Range, StatedCell
from paribus.plausibility.table_cell import breach_of
from paribus.plausibility.violation import Misfit
from paribus.plausibility.wording import join_names, sentence

SLACK = {EACH: EACH_LESS, BLOCK: BLOCK_SLACK}
_STEPS = {EACH: 1.0, BLOCK: 512.0}
_ROUNDED = 0.05  # tolerance if MB may mean MiB
_SIZES = [2.0**power for power in range(9, 23)]
_FINEST, _SPREADS = 0.0003, 5.0
_FEWEST = 3  # common cells of two tables
_AGREEING_SHARE = 0.6  # share of cells that must agree before another is odd


def queries_per_transaction(grid: Grid) -> list[Breach]:
    """Queries per transaction are constant: within 0.2 %, or five times the usual spread, at least 0.03 %.

    The tolerance is 3 % larger if retries can explain the excess, that is if no higher load of the level has the usual
    ratio. Cells with a known number are checked by the law within a cell.
    """
    return _constant(grid, EACH, "throughput_per_s", "queries_per_s")


def bytes_per_operation(grid: Grid) -> list[Breach]:
    """Bytes per operation are constant, within 0.1 % or less, in tables that do not state the block size."""
    return _constant(grid, BLOCK, "throughput_per_s", "bytes_per_s")


def in_two_tables(grids: Sequence[Grid]) -> Iterator[Breach]:
    """Apply both laws to two tables of the same settings that hold one figure each."""
    for first, second in combinations([grid for grid in grids if grid.table], 2):
        shared = [cell_key for cell_key in first.cells if cell_key in second.cells]
        if len(shared) < _FEWEST or first.cells[shared[0]].workload != second.cells[shared[0]].workload:
            continue
        cells = {cell_key: _joined(first.cells[cell_key], second.cells[cell_key]) for cell_key in shared}
        here, there = (set().union(*(grid.cells[cell_key].figures for cell_key in shared)) for grid in (first, second))
        joined = Grid(cells, {cell_key: first.positions[cell_key] for cell_key in shared})
        position_in_second = {first.positions[cell_key]: second.positions[cell_key] for cell_key in shared}
        violations: list[Breach] = []
        for law, metric in ((queries_per_transaction, "queries_per_s"), (bytes_per_operation, "bytes_per_s")):
            if not {metric, "throughput_per_s"} <= here and not {metric, "throughput_per_s"} <= there:
                violations += law(joined)
        for breach in violations:
            yield replace(breach, cells=(*breach.cells, *(position_in_second[position] for position in breach.cells)))


def _joined(first: StatedCell, second: StatedCell) -> StatedCell:
    """Return a cell with the figures of both tables."""
    return replace(
        first, figures={**second.figures, **first.figures}, table=f"{first.table} + {second.table}", block_bytes=None
    )


def _constant(grid: Grid, law: str, base_metric: str, total: str) -> list[Breach]:
    ratios: dict[CellKey, Range] = {}
    for cell_key, cell in grid.cells.items():
        base, total_range = cell.range(base_metric), cell.range(total)
        stated_ratio = cell.queries_each if law == EACH else cell.block_bytes
        if base and total_range and base.low > 0 and total_range.low > 0 and not stated_ratio:
            ratios[cell_key] = total_range / base
    if len(ratios) < 2:
        return []
    usual = _usual(ratios.values(), _STEPS[law])
    agreeing = {cell_key for cell_key, ratio in ratios.items() if _distance(ratio, usual) <= SLACK[law]}
    if len(agreeing) < max(2, _AGREEING_SHARE * len(ratios)):
        return _disagreeing(grid, law, ratios)
    distances = sorted(_distance(ratios[cell_key], usual) for cell_key in agreeing)
    slack = min(max(_SPREADS * distances[int(_AGREEING_SHARE * len(distances))], _FINEST), SLACK[law])
    settled = {cell_key for cell_key, ratio in ratios.items() if _distance(ratio, usual) <= slack}
    other_settings = _other_sizes(ratios, settled) if law == BLOCK else set()
    odd = [
        cell_key
        for cell_key, ratio in ratios.items()
        if cell_key[0] not in other_settings
        and _distance(ratio, usual) > _limit(cell_key, ratio, usual, settled, slack, law)
    ]
    return [_odd(grid, cell_key, law, usual, (base_metric, total), odd) for cell_key in odd]


def _usual(ratios: Collection[Range], step: float) -> float:
    """Return the ratio of most cells, from the most precise ones; a multiple of `step` if it fits."""
    finest = sorted(ratios, key=lambda ratio: ratio.high / ratio.low)[: max(len(ratios) // 2, 3)]
    usual = median(ratio.middle for ratio in finest)
    whole = Range(round(usual / step) * step, round(usual / step) * step)
    fitting = sum(ratio.widened(_FINEST).meets(whole) for ratio in ratios)
    return whole.low if whole.low > 0 and fitting >= _AGREEING_SHARE * len(ratios) else usual


def _other_sizes(ratios: Mapping[CellKey, Range], settled: Collection[CellKey]) -> set[Setting]:
    """Return levels with another operation size at all loads: a power of two sectors, up to 4 MiB."""
    return {
        setting
        for setting, ranges in _by_setting(ratios).items()
        if setting not in {cell_key[0] for cell_key in settled}
        and any(all(ratio.widened(BLOCK_SLACK).meets(Range(n, n)) for ratio in ranges) for n in _SIZES)
    }


def _distance(ratio: Range, usual: float) -> float:
    """Return the relative distance of a ratio from the usual one, beyond rounding."""
    return max(ratio.low / usual - 1, 1 - ratio.high / usual, 0.0)


def _limit(
    cell_key: CellKey, ratio: Range, usual: float, settled: Collection[CellKey], slack: float, law: str
) -> float:
    """Return the largest distance that is not odd."""
    setting, load = cell_key
    retried = law == EACH and ratio.middle > usual
    return EACH_MORE if retried and not any(s == setting and n > load for s, n in settled) else slack


def _disagreeing(grid: Grid, law: str, ratios: Mapping[CellKey, Range]) -> list[Breach]:
    """Report that too few cells agree to tell which are correct."""
    low, high = (
        min(ratios.values(), key=lambda ratio: ratio.middle),
        max(ratios.values(), key=lambda ratio: ratio.middle),
    )
    if high.low <= low.high * (1 + (EACH_MORE if law == EACH else SLACK[law])):
        return []
    if _workloads_differ(ratios, law):
        return []
    where = join_names(grid.cells[cell_key].where for cell_key in ratios)
    message = N_("between {low:.4g} and {high:.4g} queries per transaction; the correct value cannot be determined")
    if law == BLOCK:
        message = N_("between {low:,.0f} and {high:,.0f} bytes per operation; the correct value cannot be determined")
    text = sentence(law, gettext(message, low=low.middle, high=high.middle), where)
    return [Breach(law=law, where=where, cells=tuple(grid.positions[cell_key] for cell_key in ratios), words=text)]


def _workloads_differ(ratios: Mapping[CellKey, Range], law: str) -> bool:
    """Return whether each level has its own plausible ratio: a whole number of queries, or a usual block size."""
    ratios_by_setting = _by_setting(ratios)
    if any(
        max(ratio.low for ratio in ranges) > min(ratio.high for ratio in ranges) * (1 + EACH_MORE)
        for ranges in ratios_by_setting.values()
    ):
        return False
    if law == EACH:
        return all(
            ratio.widened(EACH_LESS).meets(Range(n, n)) for ratio in ratios.values() for n in [round(ratio.middle)]
        )
    return all(any(ratio.widened(_ROUNDED).meets(Range(n, n)) for n in _SIZES) for ratio in ratios.values())


def _by_setting(ratios: Mapping[CellKey, Range]) -> Mapping[Setting, list[Range]]:
    by_setting: dict[Setting, list[Range]] = defaultdict(list)
    for cell_key, ratio in ratios.items():
        by_setting[cell_key[0]].append(ratio)
    return by_setting


def _odd(
    grid: Grid, cell_key: CellKey, law: str, usual: float, metrics: tuple[str, str], odd: Collection[CellKey]
) -> Breach:
    """Report a cell that differs from the others, and the figure that neighbours on the curve contradict."""
    cell, (base_metric, total) = grid.cells[cell_key], metrics
    base, total_range = (cell.figures[metric].range(metric) for metric in metrics)
    message = (
        unlike_each(cell, base_metric, total, usual)
        if law == EACH
        else unlike_block(cell, (base_metric,), total, usual)
    )
    misfit = Misfit(law=law, message=message, tolerance=SLACK[law])
    implied = {base_metric: total_range.times(1 / usual), total: base.times(usual)}
    return breach_of(cell, grid.positions[cell_key], [misfit], implied, partial(grid.doubts, odd, cell_key))
