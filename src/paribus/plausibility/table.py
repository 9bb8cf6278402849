"""What a table as a whole lacks: cells, its own best, a curve without jumps."""

import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from paribus.findings import Breach
from paribus.i18n import N_, gettext
from paribus.plausibility.curve import Grid, GridCurve, Place, Setting
from paribus.plausibility.quantity import StatedCell
from paribus.plausibility.wording import mistaken_unit, named, said, sentence, shown, together
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
    """A cell without a figure, or with a zero, where its level has one at other loads, and most levels at this one.

    Or a level without a figure that most others have. Of tables; logs need not make a whole one.
    """
    if not grid.table:
        return
    lacking: dict[tuple[Setting, tuple[float, ...]], list[str]] = defaultdict(list)
    for metric in dict.fromkeys(metric for cell in grid.cells.values() for metric in cell.figures):
        if metric.endswith(_DERIVED):
            continue
        known = {place: cell.figures[metric].value for place, cell in grid.cells.items() if metric in cell.figures}
        there = {place for place, value in known.items() if value > 0 or metric not in _RATES}
        for setting in grid.settings:
            absent = [
                load for load in grid.loads if (setting, load) not in there and _expected(grid, there, setting, load)
            ]
            zero = [load for load in absent if (setting, load) in known]
            if zero:
                yield _gap(grid, setting, absent, [metric], zero)
            elif absent:
                lacking[setting, tuple(absent)].append(metric)
    for (setting, loads), metrics in lacking.items():
        yield _gap(grid, setting, loads, metrics, [])


def _expected(grid: Grid, there: Collection[Place], setting: Setting, load: float) -> bool:
    others = [(other, load) in there for other in grid.settings if other != setting]
    own = [one for one in grid.loads if (setting, one) in there]
    if not own:
        return sum(others) * 2 > len(others) and _like_others(grid, setting, load)
    return sum(others) * 2 > len(others) or (not others and own[0] < load < own[-1])


def _like_others(grid: Grid, setting: Setting, load: float) -> bool:
    """Whether a level tells something there that most others tell too; else it is told of something else."""
    cell = grid.cells.get((setting, load))
    others = [one.figures for (other, at), one in grid.cells.items() if other != setting and at == load]
    usual = {name for one in others for name in one if sum(name in each for each in others) * 2 > len(others)}
    return cell is None or not usual.isdisjoint(cell.figures)


def _gap(
    grid: Grid, setting: Setting, absent: Sequence[float], metrics: Sequence[str], zero: Sequence[float]
) -> Breach:
    like = next(iter(grid.cells.values()))
    places = [
        grid.cells.get((setting, load)) or replace(like, levels=dict(setting), load=load or None, figures={})
        for load in absent
    ]
    where = together(cell.where for cell in places)
    message = N_("{name} is 0, although its neighbours have figures") if zero else N_("{name} is missing")
    name = gettext(", ").join(named(metric, _fullest(grid)) for metric in metrics)
    words = sentence(GAP, gettext(message, name=name), where)
    cells = tuple(grid.at[setting, load] for load in absent if (setting, load) in grid.at)
    only = metrics[0] if zero else ""
    return Breach(
        law=GAP, where=where, cells=cells, words=words, metric=only, stated=0.0 if zero else None, grave=bool(zero)
    )


def _fullest(grid: Grid) -> StatedCell:
    return max(grid.cells.values(), key=lambda cell: len(cell.figures))


def best(grid: Grid) -> Iterator[Breach]:
    """A ratio to the best of its table is 1 at most, within 0.5 %, and one of them is 1: at each load, or in all."""
    ratios = {place: cell.figures["normalised"] for place, cell in grid.cells.items() if "normalised" in cell.figures}
    for place, figure in ratios.items():
        if figure.range("normalised").low > 1 + _BEST_SLACK:
            message = N_("a ratio of {value} to the best is more than 1")
            words = sentence(BEST, gettext(message, value=shown("normalised", figure.value)), grid.cells[place].where)
            yield Breach(
                law=BEST,
                where=grid.cells[place].where,
                cells=(grid.at[place],),
                words=words,
                metric="normalised",
                stated=figure.value,
                implied=1.0,
                tolerance=_BEST_SLACK,
            )
    loads = {load for _, load in ratios} - {load for (_, load), one in ratios.items() if one.value == 0}
    without = [
        load
        for load in sorted(loads)
        if all(one.range("normalised").high < 1 - _BEST_SLACK for (_, at), one in ratios.items() if at == load)
    ]
    if not without or len(grid.settings) < 2 or len(loads) / 2 < len(without) < len(loads):
        return
    cells = tuple(grid.at[place] for place in ratios if place[1] in without)
    where = together(
        gettext(", ").join(filter(None, (grid.table, str(LoadLevel(round(load))) if load else ""))) for load in without
    )
    words = sentence(BEST, gettext(N_("ratios to the best, but none of them is 1")), where)
    yield Breach(law=BEST, where=where, cells=cells, words=words, tolerance=_BEST_SLACK)


def jumps(grid: Grid, known: Collection[int] = ()) -> Iterator[Breach]:
    """A cell three times off what its neighbours let expect, or a peak or dip of 10 %; eight times the scatter.

    `known` are the positions of cells of which a figure is called wrong already. At most a tenth of a
    table's cells are. Tools do not mistype, so logs are left alone.
    """
    if not grid.table or len(grid.cells) > _MANY:
        return
    told = {place for place, at in grid.at.items() if at in known}
    for metric in _CURVES:
        curve = grid.curve(metric)
        found: set[Place] = set()
        for _ in range(max(1, int(_MOST_JUMPS * len(grid.cells)))):
            left = grid.curve(metric, found)
            far = _farthest(left)
            if far is None:
                break
            found.add(far)
            if far in told:
                continue
            told.add(far)
            yield _jump(grid, far, metric, curve, grid.curve(metric, found))


def _farthest(curve: GridCurve) -> Place | None:
    """The cell that lies off too much, and without which the others lie off least."""
    off = _distances(curve)
    rest = {
        far: _without(curve, far) for far in sorted(off, key=lambda place: -off[place])[:_SUSPECTS] if off[far] > _SPIKE
    }
    if not rest:
        return None
    far = min(rest, key=lambda place: sum(_distances(rest[place]).values()))
    limit = max(_SPIKE if _spike(curve, far) else _LARGE, _SCATTERS * rest[far].scatter)
    return far if off[far] > limit else None


def _distances(curve: GridCurve) -> dict[Place, float]:
    return {
        (setting, load): abs(value - at)
        for setting, column in curve.columns.items()
        for load, value in column.items()
        if (at := curve.expected((setting, load))) is not None
    }


def _without(curve: GridCurve, place: Place) -> GridCurve:
    columns = {s: {n: v for n, v in column.items() if (s, n) != place} for s, column in curve.columns.items()}
    return GridCurve({setting: column for setting, column in columns.items() if column})


def _spike(curve: GridCurve, place: Place) -> bool:
    """Whether a cell lies above both neighbours of its own level, or below both."""
    setting, load = place
    column = curve.columns[setting]
    below, above = [one for one in column if one < load], [one for one in column if one > load]
    if not below or not above:
        return False
    beside = column[max(below)], column[min(above)]
    return column[load] > max(beside) + _SPIKE or column[load] < min(beside) - _SPIKE


def _jump(grid: Grid, place: Place, metric: str, curve: GridCurve, left: GridCurve) -> Breach:
    cell = grid.cells[place]
    stated = cell.figures[metric].value
    implied = math.exp(left.expected(place) or curve.columns[place[0]][place[1]])
    off = max(stated, implied) / min(stated, implied)
    words = gettext(
        N_("{name} {value} differs {times} from the {implied} that its neighbours suggest"),
        name=named(metric, cell),
        value=said(cell, metric),
        times=gettext("{n} times", n=f"{off:.3g}") if off >= _TWICE else f"{off - 1:.0%}",
        implied=shown(metric, implied),
    )
    unit = mistaken_unit(metric, stated, implied, _UNIT_SLACK)
    words += f" ({unit})" if unit else ""
    return Breach(
        law=JUMP,
        where=cell.where,
        cells=(grid.at[place],),
        words=sentence(JUMP, words, cell.where),
        metric=metric,
        stated=stated,
        implied=implied,
        tolerance=math.expm1(_LARGE),
        grave=bool(unit),
    )
