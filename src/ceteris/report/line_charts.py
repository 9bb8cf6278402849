"""Lines for the arms of a section: response time over throughput, over percentiles; and any trial over time.

In: what is shown of them. Out: Vega-Lite charts. Called by `charts`. Where there is a choice, of a load level or a
trial, the live chart has it below; the still picture shows what is chosen first.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ceteris.language import tr
from ceteris.report import numbers
from ceteris.report.chart_data import inline
from ceteris.report.response_chart import DASHES, SHAPES
from ceteris.report.shown_curves import Courses, CurvePoint, PathCurve, QuantileCurve

if TYPE_CHECKING:
    import altair as alt

_PERCENT = " : ".join(
    f"datum.value === {one_in} ? '{percent}'"
    for one_in, percent in ((1, "0"), (10, "90"), (100, "99"), (1000, "99.9"), (10_000, "99.99"), (100_000, "99.999"))
)
_WIDE = 620


def hint(text: str, trials: Sequence[int]) -> str:
    """What is told of a point where one points at it."""
    return tr("{text} · trials {trials}", text=text, trials=numbers.few(trials))


def row(point: CurvePoint, text: str) -> dict[str, Any]:
    """A point of a curve as data of a chart, with its interval where there is one."""
    found = {
        "arm": point.arm,
        "load": point.load.n,
        "value": point.value,
        "hint": hint(text, point.trials),
    }
    if point.low is not None and point.high is not None:
        found |= {"low": point.low, "high": point.high}
    return found


def lines(chart: "alt.Chart", colours: Mapping[str, str], y: "alt.Y", order: str) -> list["alt.Chart"]:
    """A line and points for each arm that is there, told apart by colour, dashes and shapes."""
    import altair as alt

    there = {one["arm"] for one in chart.data.values}
    colours = {name: colour for name, colour in colours.items() if name in there}
    names = list(colours)
    legend = alt.Legend(orient="top", columns=3 if sum(map(len, names)) < 30 else 2, labelLimit=130, offset=8)
    stroke = alt.Stroke("arm:N", scale=alt.Scale(domain=names, range=list(colours.values())), sort=names, legend=legend)
    dashes = [list(DASHES[n % len(DASHES)]) for n in range(len(names))]
    shapes = [SHAPES[n % len(SHAPES)] for n in range(len(names))]
    dash = alt.StrokeDash("arm:N", scale=alt.Scale(domain=names, range=dashes), sort=names, legend=legend)
    shape = alt.Shape("arm:N", scale=alt.Scale(domain=names, range=shapes), sort=names, legend=legend)
    return [
        chart.mark_line(strokeWidth=1.6).encode(y=y, stroke=stroke, strokeDash=dash, order=alt.Order(order)),
        chart.mark_point(size=34, strokeWidth=1.4, fill="var(--paper)", opacity=1).encode(
            y=y, stroke=stroke, shape=shape, tooltip=alt.Tooltip("hint:N")
        ),
    ]


def _told_of_quantile(unit: str) -> str:
    """What is told of a point, as an expression: told with each, it would be most of the page."""
    written = {
        "arm": "datum.arm",
        "share": "format(100 - 100 / datum.beyond, '.6~r')",
        "time": "format(datum.value, '.4~r')",
        "unit": json.dumps(unit),
    }
    pieces = re.split(r"{(\w+)}", tr("{arm}: {share} % within {time} {unit}"))
    return " + ".join(written[piece] if place % 2 else json.dumps(piece) for place, piece in enumerate(pieces))


def _short(value: float) -> float:
    """With as many digits as a picture shows."""
    return float(f"{value:.5g}")


def _value(*, zero: bool) -> "alt.Y":
    import altair as alt

    scale = alt.Scale(zero=True, nice=True) if zero else alt.Scale(type="log", nice=False, padding=8)
    axis = alt.Axis(tickCount=4, domain=False, ticks=False, format=",~r", grid=zero)
    return alt.Y("value:Q", title=None, scale=scale, axis=axis)


def path_chart(
    shown: PathCurve, colours: Mapping[str, str], width: int, height: int
) -> "alt.LayerChart | alt.FacetChart":
    """Response time over throughput: it turns up where more load only waits longer."""
    import altair as alt

    rows = [
        row(
            p.time,
            tr(
                "{arm} at {load}: {rate:,.0f}/s, {figure}",
                arm=p.time.arm,
                load=p.time.load,
                rate=p.rate,
                figure=p.time.text,
            ),
        )
        | {"rate": p.rate}
        for p in shown.points
    ]
    x = alt.X(
        "rate:Q",
        title=tr("throughput, {unit}", unit=shown.rate_unit),
        scale=alt.Scale(zero=True, nice=True),
        axis=alt.Axis(tickCount=5, format=",~f", grid=False),
    )
    known = [row for row in rows if "low" in row]
    reach = alt.Chart(inline(known)).mark_rule(strokeWidth=1.2, stroke="var(--muted)")
    layers = [reach.encode(x=x, y=alt.Y("low:Q", title=None), y2="high:Q")] if known else []
    base = alt.Chart(inline(rows)).encode(x=x)
    return alt.layer(*layers, *lines(base, colours, _value(zero=True), "load:Q")).properties(
        width=width,
        height=height,
        title=tr("mean response time, {unit}, over throughput", unit=shown.unit),
        description=tr("mean response time over throughput, one line per arm; the numbers are in the table"),
    )


def quantile_chart(
    shown: QuantileCurve, colours: Mapping[str, str], width: int, height: int
) -> "alt.LayerChart | alt.FacetChart":
    """Response time over percentiles, both so that the slowest have most of the room."""
    import altair as alt

    levels = sorted({point.load for point in shown.points})
    rows: list[dict[str, Any]] = [
        {"arm": p.arm, "load": p.load.n, "beyond": _short(p.one_in), "value": _short(p.value)} for p in shown.points
    ]
    most = max(point.one_in for point in shown.points)
    ticks = [tick for tick in (1, 10, 100, 1000, 10_000, 100_000) if tick <= most]
    bound = (
        alt.binding_select(options=[one.n for one in levels], name=tr("load level") + " ")
        if levels[1:]
        else alt.Undefined
    )
    chosen = alt.param(name="level", value=levels[-1].n, bind=bound)
    base = (
        alt.Chart(inline(rows))
        .transform_filter("datum.load === level")
        .transform_calculate(hint=_told_of_quantile(shown.unit))
        .encode(
            x=alt.X(
                "beyond:Q",
                title=tr("percentile"),
                scale=alt.Scale(type="log", domain=[1, most], nice=False, padding=8),
                axis=alt.Axis(values=ticks, grid=False, labelExpr=f"{_PERCENT} : ''"),
            )
        )
    )
    at = tr("at {load}", load=levels[-1]) if len(levels) == 1 else tr("first at {load}", load=levels[-1])
    return (
        alt.layer(*lines(base, colours, _value(zero=False), "beyond:Q"))
        .add_params(chosen)
        .properties(
            width=width,
            height=height,
            title=alt.TitleParams(tr("response time, {unit}, by percentile", unit=shown.unit), subtitle=at),
            description=tr("response time by percentile, one line per arm"),
        )
    )


def course_rows(shown: Courses) -> list[dict[str, Any]]:
    """The data of the chart below, which is too much to be copied while that is made."""
    return [
        {"trial": course.trial, "metric": course.metric, "step": course.step_s, "value": course.values}
        for course in shown.courses
    ]


def course_chart(shown: Courses) -> "alt.Chart":
    """A metric of one trial over time, without its data; both are chosen."""
    import altair as alt

    trials = list(dict.fromkeys(course.trial for course in shown.courses))
    metrics = list(dict.fromkeys(course.metric for course in shown.courses))
    at = tr(" at ")
    trial = alt.param(name="trial", value=trials[0], bind=alt.binding_select(options=trials, name=tr("trial") + " "))
    metric = alt.param(name="metric", value=metrics[0], bind=alt.binding_select(options=metrics, name=tr("of") + " "))
    chart: alt.Chart = (
        alt.Chart(inline([]))
        .transform_filter("datum.trial === trial && datum.metric === metric")
        .transform_flatten(["value"])
        .transform_window(place="row_number()")
        .transform_calculate(
            time="datum.place * datum.step",
            hint=f"format(datum.value, ',.4~r') + '{at}' + format(datum.time, '.3~r') + ' s'",
        )
        .mark_line(
            strokeWidth=1.4, stroke="var(--ink)", point={"size": 18, "fill": "var(--paper)", "stroke": "var(--ink)"}
        )
        .encode(
            x=alt.X("time:Q", title=tr("seconds of the trial"), scale=alt.Scale(zero=True), axis=alt.Axis(grid=False)),
            y=_value(zero=True),
            tooltip=alt.Tooltip("hint:N"),
        )
        .add_params(trial, metric)
        .properties(
            width=_WIDE,
            height=180,
            title=alt.TitleParams(tr("one trial over time"), subtitle=shown.note or alt.Undefined),
            description=tr("a metric of the chosen trial, second by second"),
        )
    )
    return chart
