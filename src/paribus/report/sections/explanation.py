"""Sections on why a comparison came out so: counters that moved, what limits each arm, and how the arms scale."""

import math
from collections.abc import Iterator

from paribus.findings import Bounded, Contrast, Estimate, Limit, Moved, Scaling
from paribus.i18n import gettext
from paribus.model import Cell
from paribus.report.inputs import ReportInput
from paribus.report.section import findings_field, section
from paribus.report.sections.counter_names import TITLES
from paribus.report.sections.verdicts import title
from paribus.report.view import numbers
from paribus.report.view.blocks import Place, WordTable
from paribus.report.view.numbers import MetricKind
from paribus.report.view.terms import word
from paribus.units import show_percent

_MOST_ROWS = 10
_MANY_ARMS = 3
_NOTHING = 0.0001  # percent
_RATES = ("throughput_per_s", "bytes_per_s", "queries_per_s")
_UNITS = {"s": MetricKind.TIME, "s/s": MetricKind.TIME, "B": MetricKind.SIZE, "B/s": MetricKind.SIZE}


@section(Place.COMPARISON, 1)
def relative_throughput(comparison: ReportInput) -> Iterator[WordTable]:
    """Three or more arms, each relative to the best at its load level; two arms are an effect."""
    cells, arms = comparison.cells, comparison.arms
    judged = {effect.response for effect in comparison.effects}
    metric = next((rate for rate in _RATES if rate in judged), _RATES[0])
    rates = {(cell.load, cell.arm): cell for cell in cells if cell.metric == metric and cell.arm in arms}
    if len(arms) < _MANY_ARMS or not rates:
        return
    rows = []
    for load in sorted({load for load, _ in rates}):
        best = max((cell for (at, _), cell in rates.items() if at == load), key=lambda cell: cell.mean)
        rows.append((load.figure, *(_over(rates.get((load, arm)), best) for arm in arms)))
    yield WordTable(
        title=gettext("Each relative to the best"),
        note=gettext(
            "{metric} relative to the best arm at the load level; intervals treat arms as independent",
            metric=title(metric),
        ),
        head=(gettext("load level"), *arms),
        figures=(True,) * (1 + len(arms)),
        rows=tuple(rows),
    )


def _over(cell: Cell | None, best: Cell) -> str:
    if cell is None or best.mean <= 0:
        return numbers.DASH
    if cell is best:
        return "1"
    ratio = cell.mean / best.mean
    shares = [
        (ratio_cell.high - ratio_cell.low) / 2 / ratio_cell.mean
        for ratio_cell in (cell, best)
        if ratio_cell.high is not None and ratio_cell.low is not None
    ]
    half = ratio * math.hypot(*shares) if len(shares) == 2 else None
    places = numbers.decimals(ratio, half)
    return f"{numbers.number(ratio, places)}" + (f" ± {numbers.number(half, places)}" if half is not None else "")


@section(Place.COMPARISON, 2, findings_field("contrasts", Contrast, "which counters moved with each comparison"))
def counters(comparison: ReportInput) -> Iterator[WordTable]:
    """The counters that moved with each arm."""
    yield from map(_moved, comparison.of(Contrast))


def _moved(contrast: Contrast) -> WordTable:
    rows = contrast.moved[:_MOST_ROWS]
    falsely = gettext("at most {share:.0%} of these are expected to be false alarms", share=1 - contrast.confidence)
    omitted = len(contrast.moved) - len(rows)
    notes = [
        gettext("{n} of {examined} counters moved", n=len(contrast.moved), examined=contrast.examined),
        *([gettext("{n} moved less", n=omitted)] if omitted else []),
        falsely,
    ]
    return WordTable(
        title=gettext(
            "Counters that moved with {arm} instead of {baseline}", arm=contrast.arm, baseline=contrast.baseline
        ),
        note=gettext("; ").join(notes)
        if contrast.moved
        else gettext("none of {examined} counters moved beyond its noise", examined=contrast.examined),
        head=(gettext("counter"), contrast.baseline, contrast.arm, gettext("change")),
        figures=(False, True, True, True),
        rows=tuple(_row(moved) for moved in rows),
        trials=contrast.trials,
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


@section(
    Place.COMPARISON, 3, findings_field("bounds", Bounded, "what bounds each arm at each load level, by rules of thumb")
)
def bottlenecks(comparison: ReportInput) -> Iterator[WordTable]:
    """Yield the table of the bottleneck of each arm at each load level."""
    by_level = {(bounded.load, bounded.arm): bounded for bounded in comparison.of(Bounded)}
    if not by_level:
        return
    yield WordTable(
        title=gettext("Bottlenecks"),
        note=gettext("taken from the means at each load level; not tested"),
        head=(gettext("load level"), *comparison.arms),
        figures=(True, *[False] * len(comparison.arms)),
        rows=tuple(
            (load.figure, *(_bounded(by_level.get((load, arm))) for arm in comparison.arms))
            for load in sorted({load for load, _ in by_level})
        ),
    )


def _bounded(bounded: Bounded | None) -> str:
    if bounded is None:
        return numbers.DASH
    limit = gettext("no resource is saturated") if bounded.limit is Limit.NOTHING else word(bounded.limit)
    return gettext("{limit} ({evidence})", limit=limit, evidence=bounded.evidence)


@section(
    Place.COMPARISON,
    4,
    findings_field("scalings", Scaling, "how each arm's throughput follows the operations outstanding"),
)
def scaling(comparison: ReportInput) -> Iterator[WordTable]:
    """Yield the table of scaling: throughput of each arm against the operations outstanding."""
    scalings = comparison.of(Scaling)
    if not scalings:
        return
    yield WordTable(
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
        rows=tuple(map(_scaled, scalings)),
        trials=tuple(sorted({trial for arm_scaling in scalings for trial in arm_scaling.trials})),
    )


def _scaled(scaling: Scaling) -> tuple[str, ...]:
    knee = f"{_level(scaling.knee)}" if scaling.knee else gettext("beyond")
    drive = gettext("{level} ({share:.0%} of the peak)", level=scaling.drive_at, share=scaling.drive_share)
    if scaling.drive_at == scaling.highest:
        drive = gettext("{level} or more: the highest tried", level=scaling.drive_at)
    law = ("", "", gettext("needs 4 load levels in 2 rounds"))
    if scaling.law:
        shares = (_share(scaling.law.contention), _share(scaling.law.coherency))
        maximum = (
            gettext("maximum at {level:,.0f}", level=scaling.law.peak_at)
            if scaling.law.peak_at
            else gettext("no maximum")
        )
        missed = gettext(
            "deviates {miss} at {level}", miss=show_percent(math.log1p(scaling.law.miss)), level=scaling.law.miss_at
        )
        holds = gettext("holds, {missed}, {maximum}", missed=missed, maximum=maximum)
        law = (*shares, holds if scaling.law.holds else gettext("does not hold: {missed}", missed=missed))
    peak = gettext("{rate}/s at {level}", rate=_rate(scaling.peak_per_s), level=scaling.peak_at)
    return (scaling.arm, peak, knee, drive, *law)


def _rate(estimate: Estimate) -> str:
    half = (estimate.high - estimate.low) / 2 if estimate.low is not None and estimate.high is not None else None
    places = numbers.decimals(estimate.value, half)
    spread = f" ± {numbers.number(half, places)}" if half is not None else ""
    return f"{numbers.number(estimate.value, places)}{spread}"


def _level(estimate: Estimate) -> str:
    interval = (
        f" [{estimate.low:.3g}, {estimate.high:.3g}]" if estimate.low is not None and estimate.high is not None else ""
    )
    return f"{estimate.value:.3g}{interval}"


def _share(estimate: Estimate) -> str:
    low, high = (estimate.value if bound is None else bound for bound in (estimate.low, estimate.high))
    return f"{_percent(estimate.value)} % [{_percent(low)}, {_percent(high)}]"


def _percent(share: float) -> str:
    percent = 100 * share
    if percent < _NOTHING:
        return "0"
    return f"{percent:.2g}" if percent < 100 else f"{percent:,.0f}"
