"""What is wrong within one cell, and which of its figures alone would explain it."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from paribus.findings import Breach
from paribus.i18n import N_, gettext
from paribus.plausibility import amounts, response_times
from paribus.plausibility.quantity import Range, StatedCell, StatedFigure
from paribus.plausibility.violation import Misfit
from paribus.plausibility.wording import UNIT_SLACK, mistaken_unit, named, said, sentence

_ROUGH = 0.08  # as far as threads do other things too
Doubts = Callable[[str, float, float], bool | None]
"""Whether a metric's stated value is borne out by what else is known less than the implied one."""

LAWS = (
    amounts.signs,
    amounts.shares,
    amounts.block_size,
    amounts.queries_each,
    amounts.queries,
    amounts.parts,
    amounts.rate,
    amounts.shared,
    amounts.again,
    response_times.total_time,
    response_times.time_available,
    response_times.little,
    response_times.order,
)


def broken(cell: StatedCell) -> list[Misfit]:
    """What does not fit."""
    return [misfit for law in LAWS for misfit in law(cell)]


def breaches(cell: StatedCell, position: int = 0, doubts: Doubts | None = None) -> list[Breach]:
    """What does not fit; as one breach where another value of one figure would mend all of it."""
    wrong = broken(cell)
    if not wrong:
        return []
    mending = _mending(cell, wrong)
    if not mending:
        return [told(cell, position, [misfit], {}) for misfit in wrong]
    return [told(cell, position, wrong, mending, doubts)]


def stated(cell: StatedCell, metric: str) -> float:
    """What a cell says of a metric, or of its load."""
    value = cell.load if metric == "load" else cell.value(metric)
    return value or 0.0


def _mending(cell: StatedCell, wrong: Sequence[Misfit]) -> dict[str, Range]:
    """The figures that, being another one, would make every law hold; and which one they would be."""
    found: dict[str, Range] = {}
    for misfit in wrong:
        for metric, implied in misfit.implied.items():
            least = 1.0 if metric == "load" else 0.0  # no fewer threads than one
            if metric not in found and least < implied.high < math.inf and _mends(cell, metric, implied.middle):
                found[metric] = implied
    return found


def _mends(cell: StatedCell, metric: str, value: float) -> bool:
    """Whether another value of a figure makes every law hold, or another unit of all response times."""
    if not broken(_with(cell, metric, value)):
        return True
    mean = cell.value("response_mean_s")
    if metric != "response_mean_s" or not mean or not mistaken_unit(metric, mean, value, _ROUGH):
        return False
    figures = {
        name: StatedFigure(figure.value * value / mean) if name.startswith("response_") else figure
        for name, figure in cell.figures.items()
    }
    return not broken(replace(cell, figures=figures))


def _with(cell: StatedCell, metric: str, value: float) -> StatedCell:
    if metric == "load":
        return replace(cell, load=value)
    return replace(cell, figures={**cell.figures, metric: StatedFigure(value)})


def told(
    cell: StatedCell, position: int, wrong: Sequence[Misfit], mending: Mapping[str, Range], doubts: Doubts | None = None
) -> Breach:
    """What is wrong in words: what would mend it, and the one figure that is called wrong where one is singled out.

    It is where it alone can mend all, where neighbours on the curve bear out the others, or where one digit mends it.
    """
    law, values = wrong[0].law, {metric: implied.middle for metric, implied in mending.items()}
    why = ""
    ways = list(values)
    if len(ways) > 1:
        on_curve = [metric for metric in ways if doubts and doubts(metric, stated(cell, metric), values[metric])]
        typed = {m: v for m in ways if m in cell.figures and (v := cell.figures[m].mistyped(mending[m])) is not None}
        slips = [metric for metric in ways if mistaken_unit(metric, stated(cell, metric), values[metric])]
        if len(on_curve) == 1:
            ways, why = on_curve, gettext(N_(", as the neighbouring points of the curve suggest"))
        elif len(typed) == 1 and not on_curve:
            ways, why = list(typed), gettext(N_(", one digit or a swap of two away"))
            values |= typed
        elif len(slips) == 1 and not on_curve:
            ways = slips
    words = wrong[0].words
    if ways:
        said_so = gettext(" or ").join(f"{named(metric, cell)} {said(cell, metric, values[metric])}" for metric in ways)
        words += gettext(N_("; {values} would"), values=said_so) + why
        if also := dict.fromkeys(gettext(misfit.law) for misfit in wrong if misfit.law != law):
            words += gettext(N_(", by {laws} too"), laws=gettext(", ").join(also))
        slack = _ROUGH if law == response_times.LITTLE else UNIT_SLACK
        if unit := mistaken_unit(ways[0], stated(cell, ways[0]), values[ways[0]], slack):
            words += f" ({unit})"
    only = ways[0] if len(ways) == 1 else ""
    return Breach(
        law=law,
        where=cell.where,
        cells=(position,),
        words=sentence(law, words, cell.where),
        metric=only,
        stated=stated(cell, only) if only else None,
        implied=values.get(only),
        tolerance=wrong[0].tolerance,
    )
