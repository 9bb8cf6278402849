"""Why it came out so: what moved beside the response, what bounds each arm, and how the arms scale.

In: contrasts, bounds and scalings of one factor under one workload. Out: tables of words. Called by the view.
"""

import math
from collections.abc import Sequence

from paribus.findings import Bounded, Contrast, Estimate, Limit, Moved, Scaling
from paribus.i18n import gettext
from paribus.model import Cell
from paribus.report.inputs import ReportInput
from paribus.report.sections.counter_names import TITLES
from paribus.report.view import numbers
from paribus.report.view.explanation_models import WordTable
from paribus.report.view.numbers import MetricKind
from paribus.report.view.terms import word
from paribus.units import show_percent

_MOST_ROWS = 10
_MANY_ARMS = 3
_NOTHING = 0.0001  # percent
_UNITS = {"s": MetricKind.TIME, "s/s": MetricKind.TIME, "B": MetricKind.SIZE, "B/s": MetricKind.SIZE}


def tables(comparison: ReportInput, arms: Sequence[str]) -> list[WordTable]:
    """Return the tables of one factor under one workload that have content; `arms` in the order shown."""
    relative = normalised(comparison.cells, arms)
    return [
        *([relative] if relative else []),
        *map(_moved, comparison.contrasts),
        *([_bounds(comparison.bounds, arms)] if comparison.bounds else []),
        *([_scaling(comparison.scalings)] if comparison.scalings else []),
    ]


def normalised(cells: Sequence[Cell], arms: Sequence[str]) -> WordTable | None:
    """The matrix of many arms: each over the best at its load level; None of fewer than three, which is an effect."""
    rates = {(cell.load, cell.arm): cell for cell in cells if cell.metric == "throughput_per_s" and cell.arm in arms}
    if len(arms) < _MANY_ARMS or not rates:
        return None
    rows = []
    for load in sorted({load for load, _ in rates}):
        best = max((cell for (at, _), cell in rates.items() if at == load), key=lambda cell: cell.mean)
        rows.append((load.figure, *(_over(rates.get((load, arm)), best) for arm in arms)))
    return WordTable(
        title=gettext("Each relative to the best"),
        note=gettext("throughput relative to the best arm at the load level; intervals treat arms as independent"),
        head=(gettext("load level"), *arms),
        figures=(True,) * (1 + len(arms)),
        rows=tuple(rows),
        trials=(),
    )


def _over(cell: Cell | None, best: Cell) -> str:
    if cell is None or best.mean <= 0:
        return numbers.DASH
    if cell is best:
        return "1"
    ratio = cell.mean / best.mean
    shares = [
        (one.high - one.low) / 2 / one.mean for one in (cell, best) if one.high is not None and one.low is not None
    ]
    half = ratio * math.hypot(*shares) if len(shares) == 2 else None
    places = numbers.decimals(ratio, half)
    return f"{numbers.number(ratio, places)}" + (f" ± {numbers.number(half, places)}" if half is not None else "")


def _moved(one: Contrast) -> WordTable:
    shown = one.moved[:_MOST_ROWS]
    falsely = gettext("at most {share:.0%} of these are expected to be false alarms", share=1 - one.confidence)
    left = len(one.moved) - len(shown)
    said = [
        gettext("{n} of {examined} counters moved", n=len(one.moved), examined=one.examined),
        *([gettext("{n} moved less", n=left)] if left else []),
        falsely,
    ]
    return WordTable(
        title=gettext("Counters that moved with {arm} instead of {baseline}", arm=one.arm, baseline=one.baseline),
        note=gettext("; ").join(said)
        if one.moved
        else gettext("none of {examined} counters moved beyond its noise", examined=one.examined),
        head=(gettext("counter"), one.baseline, one.arm, gettext("change")),
        figures=(False, True, True, True),
        rows=tuple(_row(moved) for moved in shown),
        trials=one.trials,
    )


def _row(moved: Moved) -> tuple[str, str, str, str]:
    return (_title(moved), *_values(moved), _change(moved))


def _title(moved: Moved) -> str:
    name = gettext(TITLES.get(moved.metric, moved.metric.replace("_", " ")))
    return gettext("{name} per operation", name=name) if moved.per_operation else name


def _values(moved: Moved) -> tuple[str, str]:
    """Both means in one unit; of processor time per operation only the ratio means anything."""
    if moved.metric == "cpu_busy_share":
        return "", ""
    share = not moved.unit and moved.metric.endswith(("_share", "_utilisation"))
    kind = MetricKind.SHARE if share else _UNITS.get(moved.unit, MetricKind.PLAIN)
    scale = numbers.scale(kind, (moved.baseline, moved.compared))
    first, second = (value * scale.factor for value in (moved.baseline, moved.compared))
    unit = f" {scale.unit}" if scale.unit else ""
    texts = [numbers.number(value, numbers.decimals(value, None)) for value in (first, second)]
    return f"{texts[0]}{unit}", f"{texts[1]}{unit}"


def _change(moved: Moved) -> str:
    if moved.is_ratio:
        return str(numbers.effect(moved.estimate, moved.low, moved.high))
    if not moved.unit and moved.metric.endswith(("_share", "_utilisation")):
        factor, unit = 100.0, gettext(" points")
    else:
        scale = numbers.scale(_UNITS.get(moved.unit, MetricKind.PLAIN), (moved.baseline, moved.compared))
        factor, unit = scale.factor, f" {scale.unit}" if scale.unit else ""
    middle, low, high = (value * factor for value in (moved.estimate, moved.low, moved.high))
    places = min(max(numbers.decimals(middle, (high - low) / 2), 0), 4)
    texts = [numbers.signed(value, places) for value in (middle, low, high)]
    return f"{texts[0]}{unit} [{texts[1]}, {texts[2]}]"


def _bounds(bounds: Sequence[Bounded], arms: Sequence[str]) -> WordTable:
    by_place = {(one.load, one.arm): one for one in bounds}
    return WordTable(
        title=gettext("Bottlenecks"),
        note=gettext("taken from the means at each load level; not tested"),
        head=(gettext("load level"), *arms),
        figures=(True, *[False] * len(arms)),
        rows=tuple(
            (load.figure, *(_bounded(by_place.get((load, arm))) for arm in arms))
            for load in sorted({one.load for one in bounds})
        ),
        trials=(),
    )


def _bounded(one: Bounded | None) -> str:
    if one is None:
        return numbers.DASH
    limit = gettext("no resource is saturated") if one.limit is Limit.NOTHING else word(one.limit)
    return gettext("{limit} ({evidence})", limit=limit, evidence=one.evidence)


def _scaling(scalings: Sequence[Scaling]) -> WordTable:
    return WordTable(
        title=gettext("How it scales"),
        note=gettext(
            "at the knee, more load begins to add waiting instead of throughput; contention and "
            "coherency are the coefficients of the Universal Scalability Law"
        ),
        head=(
            gettext("arm"),
            gettext("peak"),
            gettext("knee"),
            gettext("recommended load"),
            gettext("contention"),
            gettext("coherency"),
            gettext("the law"),
        ),
        figures=(False, True, True, True, True, True, False),
        rows=tuple(_scaled(one) for one in scalings),
        trials=tuple(sorted({trial for one in scalings for trial in one.trials})),
    )


def _scaled(one: Scaling) -> tuple[str, ...]:
    knee = f"{_level(one.knee)}" if one.knee else gettext("beyond")
    drive = gettext("{level} ({share:.0%} of the peak)", level=one.drive_at, share=one.drive_share)
    if one.drive_at == one.highest:
        drive = gettext("{level} or more: the highest tried", level=one.drive_at)
    law = ("", "", gettext("needs 4 load levels in 2 rounds"))
    if one.law:
        shares = (_share(one.law.contention), _share(one.law.coherency))
        maximum = (
            gettext("maximum at {level:,.0f}", level=one.law.peak_at) if one.law.peak_at else gettext("no maximum")
        )
        missed = gettext(
            "deviates {miss} at {level}", miss=show_percent(math.log1p(one.law.miss)), level=one.law.miss_at
        )
        holds = gettext("holds, {missed}, {maximum}", missed=missed, maximum=maximum)
        law = (*shares, holds if one.law.holds else gettext("does not hold: {missed}", missed=missed))
    peak = gettext("{rate}/s at {level}", rate=_rate(one.peak_per_s), level=one.peak_at)
    return (one.arm, peak, knee, drive, *law)


def _rate(found: Estimate) -> str:
    half = (found.high - found.low) / 2 if found.low is not None and found.high is not None else None
    places = numbers.decimals(found.value, half)
    spread = f" ± {numbers.number(half, places)}" if half is not None else ""
    return f"{numbers.number(found.value, places)}{spread}"


def _level(found: Estimate) -> str:
    interval = f" [{found.low:.3g}, {found.high:.3g}]" if found.low is not None and found.high is not None else ""
    return f"{found.value:.3g}{interval}"


def _share(found: Estimate) -> str:
    low, high = (found.value if bound is None else bound for bound in (found.low, found.high))
    return f"{_percent(found.value)} % [{_percent(low)}, {_percent(high)}]"


def _percent(share: float) -> str:
    percent = 100 * share
    if percent < _NOTHING:
        return "0"
    return f"{percent:.2g}" if percent < 100 else f"{percent:,.0f}"
