"""From cells and effects to the tables and curves of one factor under one workload.

In: the cells and effects of that factor and workload. Out: LevelTable, Curve, DriftCurve and EffectTable, in one
unit per column. Called by the view.
"""

import math
from collections.abc import Mapping, Sequence

from paribus.findings import Drift, Estimate, Scaling
from paribus.i18n import N_, gettext
from paribus.model import Cell, Effect
from paribus.report.sections import verdicts
from paribus.report.view import numbers
from paribus.report.view.curve_models import CurvePoint, DriftCurve, DriftMark, LoadCurve
from paribus.report.view.numbers import METRICS, MetricKind, Scale
from paribus.report.view.view_models import (
    EffectPoint,
    EffectTable,
    LevelColumn,
    LevelRow,
    LevelTable,
    TableFigure,
)
from paribus.units import LoadUnit

_LONG_H = 2.0
_DRAWN = ("throughput_per_s", "response_p95_s")


def drift_curve(drift: Drift | None, anchor: str) -> DriftCurve | None:
    """A drift in minutes, or in hours where it is long."""
    if drift is None:
        return None
    unit, factor = (gettext("hours"), 1.0) if drift.points[-1].hours >= _LONG_H else (gettext("minutes"), 60.0)
    return DriftCurve(
        key=f"{anchor}-drift",
        title=verdicts.title(drift.response),
        unit=unit,
        points=tuple(
            DriftMark(
                time=point.hours * factor,
                value=numbers.percent_of(point.log_ratio),
                first=point.first,
                trials=point.trials,
            )
            for point in drift.points
        ),
        trend=tuple(numbers.percent_of(log_ratio) for log_ratio in drift.course),
    )


def _scales(cells: Sequence[Cell]) -> dict[str, Scale]:
    """The unit of each metric; operations that move bytes are I/O operations."""
    present = {cell.metric for cell in cells}
    scales = {}
    for name, metric in METRICS.items():
        if name in present:
            scale = numbers.scale(metric.kind, (cell.mean for cell in cells if cell.metric == name))
            moves = metric.kind is MetricKind.RATE and "bytes_per_s" in present
            scales[name] = Scale("IOPS", 1.0) if moves else scale
    return scales


def figure(cell: Cell, scale: Scale) -> TableFigure:
    """A cell in its column's unit: `24,230` and `± 310`, or the interval itself where it is lopsided."""
    return estimated(Estimate(cell.mean, cell.low, cell.high), scale, cell.trials)


def estimated(estimate: Estimate, scale: Scale, trials: tuple[int, ...]) -> TableFigure:
    """The same of any mean and the trials behind it."""
    value = estimate.value * scale.factor
    if estimate.low is None or estimate.high is None:
        decimals = numbers.decimals(value, None)
        return TableFigure(text=numbers.number(value, decimals), spread="", places=decimals, trials=trials)
    low, high = estimate.low * scale.factor, estimate.high * scale.factor
    half = (high - low) / 2
    decimals = numbers.decimals(value, half)
    text = numbers.number(value, decimals)
    if abs((high + low) / 2 - value) <= 0.2 * half:
        spread = f"± {numbers.number(half, decimals)}"
    else:
        spread = f"[{numbers.number(low, decimals)}, {numbers.number(high, decimals)}]"
    return TableFigure(text=text, spread=spread, places=decimals, trials=trials)


def level_table(cells: Sequence[Cell], arms: Sequence[str]) -> LevelTable | None:
    """Load levels down, metrics and arms across; None where nothing was measured."""
    scales = _scales(cells)
    if not scales:
        return None
    by_place = {(cell.load, cell.metric, cell.arm): cell for cell in cells if cell.metric in scales}
    columns = tuple(LevelColumn(metric=m, title=gettext(METRICS[m].title), unit=s.unit) for m, s in scales.items())
    rows = []
    for load in sorted({load for load, _, _ in by_place}):
        figures = tuple(
            tuple(figure(cell, scale) if (cell := by_place.get((load, metric, arm))) else None for arm in arms)
            for metric, scale in scales.items()
        )
        rows.append(LevelRow(load=load, figures=figures))
    return LevelTable(columns=columns, rows=tuple(rows))


def curves(
    cells: Sequence[Cell], arms: Sequence[str], key: str, scalings: Sequence[Scaling] = ()
) -> tuple[LoadCurve, ...]:
    """Throughput and p95 response time over the load levels, where they were measured."""
    scales = _scales(cells)
    load_curves = []
    for metric in _DRAWN:
        stated = [cell for cell in cells if cell.load.unit is not LoadUnit.NOT_STATED]
        metric_cells = [cell for cell in stated if cell.metric == metric and cell.arm in arms]
        if not metric_cells:
            continue
        unit = scales[metric]
        points = tuple(
            curve_point(cell, unit) for cell in sorted(metric_cells, key=lambda c: (arms.index(c.arm), c.load))
        )
        name = "throughput" if metric == "throughput_per_s" else "p95"
        within = [scaling for scaling in scalings if name == "throughput" and scaling.drive_at < scaling.highest]
        levels_to_use = tuple((scaling.arm, scaling.drive_at) for scaling in within)
        load_curves.append(
            LoadCurve(
                key=f"{key}-{name}",
                title=gettext(METRICS[metric].title),
                unit=unit.unit,
                points=points,
                to_use=levels_to_use,
            )
        )
    return tuple(load_curves)


def curve_point(cell: Cell, scale: Scale) -> CurvePoint:
    """A cell in the unit of its curve."""
    cell_figure = figure(cell, scale)
    return CurvePoint(
        arm=cell.arm,
        load=cell.load,
        value=cell.mean * scale.factor,
        low=None if cell.low is None else cell.low * scale.factor,
        high=None if cell.high is None else cell.high * scale.factor,
        text=f"{cell_figure.text} {cell_figure.spread} {scale.unit}".replace("  ", " "),
        trials=cell.trials,
    )


_SHRUNK = N_(
    "At single load levels the estimates are shrunk towards the effect over all levels; their"
    " intervals are not. An estimate may therefore lie off-centre."
)


def reading(effects: Sequence[Effect]) -> str:
    """Return a note for readers of several load levels; empty where there is one."""
    return gettext(_SHRUNK) if len({effect.load for effect in effects} - {None}) > 1 else ""


def effect_tables(effects: Sequence[Effect], key: str) -> tuple[EffectTable, ...]:
    """One table per response, the judged ones first."""
    by_response: dict[str, list[Effect]] = {}
    for effect in effects:
        by_response.setdefault(effect.response, []).append(effect)
    tables = [
        _effect_table(response, response_effects, f"{key}-effect-{number}")
        for number, (response, response_effects) in enumerate(by_response.items(), 1)
    ]
    return tuple(sorted(tables, key=lambda table: not table.judged))


def _effect_table(response: str, effects: Sequence[Effect], key: str) -> EffectTable:
    first = effects[0]
    return EffectTable(
        key=key,
        response=response,
        title=verdicts.title(response),
        baseline=first.baseline,
        margin=numbers.margin(first.margin),
        margin_low=numbers.percent_of(-first.margin),
        margin_high=numbers.percent_of(first.margin),
        confidence=f"{first.confidence * 100:.3g} %",
        judged=any(effect.verdict is not None for effect in effects),
        points=tuple(_effect_point(effect) for effect in effects),
    )


def _effect_point(effect: Effect) -> EffectPoint:
    text = numbers.effect(effect.estimate, effect.low, effect.high)
    unknown = effect.low == -math.inf and effect.high == math.inf  # drawn as a point, and said in words
    low, high = (effect.estimate, effect.estimate) if unknown else (effect.low, effect.high)
    return EffectPoint(
        arm=effect.arm,
        load=effect.load,
        effect=text.estimate,
        interval=text.interval,
        estimate=numbers.percent_of(effect.estimate),
        low=numbers.percent_of(low),
        high=numbers.percent_of(high),
        decided=verdicts.decided(effect),
        trials=effect.trials,
    )


def decided_arms(effects: Sequence[Effect]) -> Mapping[str, str]:
    """For each arm, `better` or `worse` where its first judged response says so."""
    decided: dict[str, str] = {}
    for effect in effects:
        if effect.verdict is not None:
            decided.setdefault(effect.arm, verdicts.decided(effect))
    return decided
