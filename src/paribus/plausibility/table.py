"""Defects of whole tables: missing cells, wrong ratios to the best, jumps in curves."""

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from paribus.findings import Breach
from paribus.i18n import N_, gettext
from paribus.plausibility.curve import CellKey, Grid, GridCurve, Setting
from paribus.plausibility.quantity import StatedCell
from paribus.plausibility.wording import as_written, format_figure, join_names, metric_name, mistaken_unit, sentence
from paribus.units import LoadLevel

GAP = N_("missing or zero cells")
BEST = N_("ratio to the best")
JUMP = N_("a jump in the curve")

_RATES = ("throughput_per_s", "queries_per_s", "bytes_per_s", "reads_per_s", "writes_per_s", "normalised")
_CURVES = ("throughput_per_s", "queries_per_s", "bytes_per_s", "normalised", "response_mean_s", "response_p95_s")
_DERIVED = ("ratio", "change")
_BEST_SLACK = 0.005
_LARGE, _SPIKE = math.log(3), math.log(1.1)
_SCATTERS = 8.0
_TWICE = 2.0
_MOST_JUMPS = 0.1
_UNIT_SLACK = 0.08
_SUSPECTS = 4
_MANY = 2000  # cells


def gaps(grid: Grid) -> Iterator[Breach]:
    """Find cells without a figure, or with zero, where the level has others and most levels have one at that load.

    Also levels without a metric that most others have. Applies to tables only; logs may be incomplete.
    """
    if not grid.table:
        return
    lacking: dict[tuple[Setting, tuple[float, ...]], list[str]] = defaultdict(list)
    for metric in dict.fromkeys(metric for cell in grid.cells.values() for metric in cell.figures):
        if metric.endswith(_DERIVED):
            continue
        figures = {
            cell_key: cell.figures[metric].value for cell_key, cell in grid.cells.items() if metric in cell.figures
        }
        present = {cell_key for cell_key, value in figures.items() if value > 0 or metric not in _RATES}
        settings_at = Counter(load for _, load in present)
        loads_of = defaultdict(list)
        for setting, load in present:
            loads_of[setting].append(load)
        for setting in grid.settings:
            absent = [
                load
                for load in grid.loads
                if (setting, load) not in present
                and _expected(grid, setting, load, settings_at[load], loads_of.get(setting, ()))
            ]
            zero = [load for load in absent if (setting, load) in figures]
            if zero:
                yield _gap(grid, setting, absent, [metric], zero)
            elif absent:
                lacking[setting, tuple(absent)].append(metric)
    for (setting, loads), metrics in lacking.items():
        yield _gap(grid, setting, loads, metrics, [])


def _expected(grid: Grid, setting: Setting, load: float, present: int, setting_loads: Sequence[float]) -> bool:
    """Whether a cell should have a figure that `present` others at its load have, and its level at `setting_loads`."""
    others = len(grid.settings) - 1
    if not setting_loads:
        return present * 2 > others and _like_others(grid, setting, load)
    return present * 2 > others or (not others and min(setting_loads) < load < max(setting_loads))


def _like_others(grid: Grid, setting: Setting, load: float) -> bool:
    """Return whether the cell has a metric that most others have; otherwise it describes something else."""
    cell = grid.cells.get((setting, load))
    others = [
        other_cell.figures
        for (other, other_load), other_cell in grid.cells.items()
        if other != setting and other_load == load
    ]
    usual = {
        name
        for figures in others
        for name in figures
        if sum(name in other_figures for other_figures in others) * 2 > len(others)
    }
    return cell is None or not usual.isdisjoint(cell.figures)


def _gap(
    grid: Grid, setting: Setting, absent: Sequence[float], metrics: Sequence[str], zero: Sequence[float]
) -> Breach:
    template = next(iter(grid.cells.values()))
    gap_cells = [
        grid.cells.get((setting, load)) or replace(template, levels=dict(setting), load=load or None, figures={})
        for load in absent
    ]
    where = join_names(cell.where for cell in gap_cells)
    message = N_("{name} is 0, although its neighbours have figures") if zero else N_("{name} is missing")
    name = gettext(", ").join(metric_name(metric, _fullest(grid)) for metric in metrics)
    text = sentence(GAP, gettext(message, name=name), where)
    cells = tuple(grid.positions[setting, load] for load in absent if (setting, load) in grid.positions)
    metric = metrics[0] if zero else ""
    return Breach(
        law=GAP, where=where, cells=cells, words=text, metric=metric, stated=0.0 if zero else None, grave=bool(zero)
    )


def _fullest(grid: Grid) -> StatedCell:
    return max(grid.cells.values(), key=lambda cell: len(cell.figures))


def best(grid: Grid) -> Iterator[Breach]:
    """A ratio to the best is at most 1, within 0.5 %, and one of them is 1: at each load, or overall."""
    ratios = {
        cell_key: cell.figures["normalised"] for cell_key, cell in grid.cells.items() if "normalised" in cell.figures
    }
    for cell_key, figure in ratios.items():
        if figure.range("normalised").low > 1 + _BEST_SLACK:
            message = N_("a ratio of {value} to the best is more than 1")
            text = sentence(
                BEST, gettext(message, value=format_figure("normalised", figure.value)), grid.cells[cell_key].where
            )
            yield Breach(
                law=BEST,
                where=grid.cells[cell_key].where,
                cells=(grid.positions[cell_key],),
                words=text,
                metric="normalised",
                stated=figure.value,
                implied=1.0,
                tolerance=_BEST_SLACK,
            )
    loads = {load for _, load in ratios} - {load for (_, load), figure in ratios.items() if figure.value == 0}
    loads_without_best = [
        load
        for load in sorted(loads)
        if all(
            figure.range("normalised").high < 1 - _BEST_SLACK
            for (_, other_load), figure in ratios.items()
            if other_load == load
        )
    ]
    if not loads_without_best or len(grid.settings) < 2 or len(loads) / 2 < len(loads_without_best) < len(loads):
        return
    cells = tuple(grid.positions[cell_key] for cell_key in ratios if cell_key[1] in loads_without_best)
    where = join_names(
        gettext(", ").join(filter(None, (grid.table, str(LoadLevel(round(load))) if load else "")))
        for load in loads_without_best
    )
    text = sentence(BEST, gettext(N_("ratios to the best, but none of them is 1")), where)
    yield Breach(law=BEST, where=where, cells=cells, words=text, tolerance=_BEST_SLACK)


def jumps(grid: Grid, suspect_cells: Collection[int] = ()) -> Iterator[Breach]:
    """Find cells a factor of 3 off their predicted value, or peaks and dips of 10 %, beyond 8 scatters.

    `suspect_cells` are positions of cells with a figure already reported. At most a tenth of the cells are reported.
    Logs are not checked, since tools do not mistype.
    """
    if not grid.table or len(grid.cells) > _MANY:
        return
    suspects = {cell_key for cell_key, position in grid.positions.items() if position in suspect_cells}
    for metric in _CURVES:
        curve = grid.curve(metric)
        odd: set[CellKey] = set()
        for _ in range(max(1, int(_MOST_JUMPS * len(grid.cells)))):
            remaining = grid.curve(metric, odd)
            farthest = _farthest(remaining)
            if farthest is None:
                break
            odd.add(farthest)
            if farthest in suspects:
                continue
            suspects.add(farthest)
            yield _jump(grid, farthest, metric, curve, grid.curve(metric, odd))


def _farthest(curve: GridCurve) -> CellKey | None:
    """Return the outlier whose removal leaves the smallest distances among the others; None without one."""
    distances = _distances(curve)
    remaining = {
        farthest: _without(curve, farthest)
        for farthest in sorted(distances, key=lambda cell_key: -distances[cell_key])[:_SUSPECTS]
        if distances[farthest] > _SPIKE
    }
    if not remaining:
        return None
    farthest = min(remaining, key=lambda cell_key: sum(_distances(remaining[cell_key]).values()))
    limit = max(_SPIKE if _spike(curve, farthest) else _LARGE, _SCATTERS * remaining[farthest].scatter)
    return farthest if distances[farthest] > limit else None


def _distances(curve: GridCurve) -> dict[CellKey, float]:
    return {
        (setting, load): abs(value - expected)
        for setting, column in curve.columns.items()
        for load, value in column.items()
        if (expected := curve.expected((setting, load))) is not None
    }


def _without(curve: GridCurve, cell_key: CellKey) -> GridCurve:
    columns = {s: {n: v for n, v in column.items() if (s, n) != cell_key} for s, column in curve.columns.items()}
    return GridCurve({setting: column for setting, column in columns.items() if column})


def _spike(curve: GridCurve, cell_key: CellKey) -> bool:
    """Return whether a cell lies above both neighbours of its level, or below both."""
    setting, load = cell_key
    column = curve.columns[setting]
    below, above = (
        [other_load for other_load in column if other_load < load],
        [other_load for other_load in column if other_load > load],
    )
    if not below or not above:
        return False
    neighbours = column[max(below)], column[min(above)]
    return column[load] > max(neighbours) + _SPIKE or column[load] < min(neighbours) - _SPIKE


def _jump(grid: Grid, cell_key: CellKey, metric: str, curve: GridCurve, remaining: GridCurve) -> Breach:
    cell = grid.cells[cell_key]
    stated = cell.figures[metric].value
    implied = math.exp(remaining.expected(cell_key) or curve.columns[cell_key[0]][cell_key[1]])
    factor = max(stated, implied) / min(stated, implied)
    text = gettext(
        N_("{name} {value} differs {times} from the {implied} that its neighbours suggest"),
        name=metric_name(metric, cell),
        value=as_written(cell, metric),
        times=gettext("{n} times", n=f"{factor:.3g}") if factor >= _TWICE else f"{factor - 1:.0%}",
        implied=format_figure(metric, implied),
    )
    unit = mistaken_unit(metric, stated, implied, _UNIT_SLACK)
    text += f" ({unit})" if unit else ""
    return Breach(
        law=JUMP,
        where=cell.where,
        cells=(grid.positions[cell_key],),
        words=sentence(JUMP, text, cell.where),
        metric=metric,
        stated=stated,
        implied=implied,
        tolerance=math.expm1(_LARGE),
        grave=bool(unit),
    )
