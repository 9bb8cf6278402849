"""Violations within one cell, and the single figure that would explain them."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from paribus.findings import Breach
from paribus.i18n import N_, gettext
from paribus.plausibility import amounts, response_times
from paribus.plausibility.quantity import Range, StatedCell, StatedFigure
from paribus.plausibility.violation import Misfit
from paribus.plausibility.wording import UNIT_SLACK, as_written, metric_name, mistaken_unit, sentence

_ROUGH = 0.08  # tolerance for time that threads spend elsewhere
Doubts = Callable[[str, float, float], bool | None]
"""Whether other cells support the implied value of a metric rather than the stated one; None if unclear."""

LAWS = (
    amounts.signs,
    amounts.shares,
    amounts.block_size,
    amounts.queries_each,
    amounts.queries,
    amounts.parts,
    amounts.rate,
    amounts.thread_totals,
    amounts.repeated_counts,
    response_times.total_time,
    response_times.time_available,
    response_times.little,
    response_times.shortest,
    response_times.order,
)


def misfits_of(cell: StatedCell) -> list[Misfit]:
    """Return the violations of all laws."""
    return [misfit for law in LAWS for misfit in law(cell)]


def breaches(cell: StatedCell, position: int = 0, doubts: Doubts | None = None) -> list[Breach]:
    """Return the violations; a single one if correcting one figure resolves all of them."""
    misfits = misfits_of(cell)
    if not misfits:
        return []
    corrections = _corrections(cell, misfits)
    if not corrections:
        return [breach_of(cell, position, [misfit], {}) for misfit in misfits]
    return [breach_of(cell, position, misfits, corrections, doubts)]


def stated(cell: StatedCell, metric: str) -> float:
    """Return the stated value of a metric, or of the load."""
    value = cell.load if metric == "load" else cell.value(metric)
    return value or 0.0


def _corrections(cell: StatedCell, misfits: Sequence[Misfit]) -> dict[str, Range]:
    """Return the figures whose change would satisfy every law, with their implied ranges."""
    corrections: dict[str, Range] = {}
    for misfit in misfits:
        for metric, implied in misfit.implied.items():
            least = 1.0 if metric == "load" else 0.0  # at least one thread
            if metric not in corrections and least < implied.high < math.inf and _mends(cell, metric, implied.middle):
                corrections[metric] = implied
    return corrections


def _mends(cell: StatedCell, metric: str, value: float) -> bool:
    """Return whether another value of a figure, or another unit of all response times, satisfies every law."""
    if not misfits_of(_with(cell, metric, value)):
        return True
    mean = cell.value("response_mean_s")
    if metric != "response_mean_s" or not mean or not mistaken_unit(metric, mean, value, _ROUGH):
        return False
    figures = {
        name: StatedFigure(figure.value * value / mean) if name.startswith("response_") else figure
        for name, figure in cell.figures.items()
    }
    return not misfits_of(replace(cell, figures=figures))


def _with(cell: StatedCell, metric: str, value: float) -> StatedCell:
    if metric == "load":
        return replace(cell, load=value)
    return replace(cell, figures={**cell.figures, metric: StatedFigure(value)})


def breach_of(
    cell: StatedCell,
    position: int,
    misfits: Sequence[Misfit],
    corrections: Mapping[str, Range],
    doubts: Doubts | None = None,
) -> Breach:
    """Describe misfits, their possible corrections, and the wrong figure if it is unique.

    It is unique if only it can resolve all, if neighbours on the curve support the others, or if one digit resolves
    all.
    """
    law, values = misfits[0].law, {metric: implied.middle for metric, implied in corrections.items()}
    reason = ""
    metrics = list(values)
    if len(metrics) > 1:
        on_curve = [metric for metric in metrics if doubts and doubts(metric, stated(cell, metric), values[metric])]
        typos = {
            m: v for m in metrics if m in cell.figures and (v := cell.figures[m].mistyped(corrections[m])) is not None
        }
        unit_errors = [metric for metric in metrics if mistaken_unit(metric, stated(cell, metric), values[metric])]
        if len(on_curve) == 1:
            metrics, reason = on_curve, gettext(N_(", as the neighbouring points of the curve suggest"))
        elif len(typos) == 1 and not on_curve:
            metrics, reason = list(typos), gettext(N_(", one digit or a swap of two away"))
            values |= typos
        elif len(unit_errors) == 1 and not on_curve:
            metrics = unit_errors
    text = misfits[0].message
    if metrics:
        suggestions = gettext(" or ").join(
            f"{metric_name(metric, cell)} {as_written(cell, metric, values[metric])}" for metric in metrics
        )
        text += gettext(N_("; {values} would"), values=suggestions) + reason
        if other_laws := dict.fromkeys(gettext(misfit.law) for misfit in misfits if misfit.law != law):
            text += gettext(N_(", by {laws} too"), laws=gettext(", ").join(other_laws))
        slack = _ROUGH if law == response_times.LITTLE else UNIT_SLACK
        if unit := mistaken_unit(metrics[0], stated(cell, metrics[0]), values[metrics[0]], slack):
            text += f" ({unit})"
    single = metrics[0] if len(metrics) == 1 else ""
    return Breach(
        law=law,
        where=cell.where,
        cells=(position,),
        words=sentence(law, text, cell.where),
        metric=single,
        stated=stated(cell, single) if single else None,
        implied=values.get(single),
        tolerance=misfits[0].tolerance,
    )
