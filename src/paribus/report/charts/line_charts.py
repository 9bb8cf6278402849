"""Lines for the arms of a section: response time over throughput, over percentiles; and any trial over time.

In: what is shown of them. Out: Vega-Lite specs. Called by `charts`. Where there is a choice, of a load level or a
trial, the live chart has it below; the still picture shows what is chosen first.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from paribus.i18n import gettext
from paribus.report.charts.chart_parts import (
    DASHES,
    FROM_ZERO,
    HINT,
    SHAPES,
    Spec,
    hint,
    hint_expression,
    in_turn,
    inline,
    name,
    quantity,
    reach,
    value_axis,
)
from paribus.report.view.curve_models import CurvePoint, PathCurve, QuantileCurve, TimeSeriesChart

_PERCENT = " : ".join(
    f"datum.value === {one_in} ? '{percent}'"
    for one_in, percent in ((1, "0"), (10, "90"), (100, "99"), (1000, "99.9"), (10_000, "99.99"), (100_000, "99.999"))
)
_WIDE = 620


def row(point: CurvePoint, text: str) -> dict[str, Any]:
    """A point of a curve as data of a chart, with its interval where there is one."""
    record = {
        "arm": point.arm,
        "load": point.load.n,
        "value": point.value,
        "hint": hint(text, point.trials),
    }
    if point.low is not None and point.high is not None:
        record |= {"low": point.low, "high": point.high}
    return record


def lines(rows: Sequence[Spec], colours: Mapping[str, str], y: Spec, order: str) -> list[Spec]:
    """A line and points for each arm that is there, told apart by colour, dashes and shapes."""
    present = {row["arm"] for row in rows}
    colours = {arm: colour for arm, colour in colours.items() if arm in present}
    arms = list(colours)
    columns = 3 if sum(map(len, arms)) < 30 else 2
    channel: Spec = {"sort": arms, "legend": {"orient": "top", "columns": columns, "labelLimit": 130, "offset": 8}}
    stroke = name("arm", scale={"domain": arms, "range": list(colours.values())}, **channel)
    return [
        {
            "mark": {"type": "line", "strokeWidth": 1.6},
            "encoding": {
                "y": y,
                "stroke": stroke,
                "strokeDash": name("arm", scale=in_turn(arms, DASHES), **channel),
                "order": quantity(order),
            },
        },
        {
            "mark": {"type": "point", "size": 34, "strokeWidth": 1.4, "fill": "var(--paper)", "opacity": 1},
            "encoding": {
                "y": y,
                "stroke": stroke,
                "shape": name("arm", scale=in_turn(arms, SHAPES), **channel),
                "tooltip": HINT,
            },
        },
    ]


def _told_of_quantile(unit: str) -> str:
    """Return the tooltip as a Vega expression, to keep the page small."""
    values = {
        "arm": "datum.arm",
        "share": "format(100 - 100 / datum.beyond, '.6~r')",
        "time": "format(datum.value, '.4~r')",
        "unit": json.dumps(unit),
    }
    return hint_expression(gettext("{arm}: {share} % within {time} {unit}"), values)


def _short(value: float) -> float:
    """With as many digits as a picture shows."""
    return float(f"{value:.5g}")


def path_chart(path: PathCurve, colours: Mapping[str, str], width: int, height: int) -> Spec:
    """Response time over throughput: it turns up where more load only waits longer."""
    rows = [
        row(
            p.time,
            gettext(
                "{arm} at {load}: {rate:,.0f}/s, {figure}",
                arm=p.time.arm,
                load=p.time.load,
                rate=p.rate,
                figure=p.time.text,
            ),
        )
        | {"rate": p.rate}
        for p in path.points
    ]
    y = quantity("value", title=None, scale=FROM_ZERO, axis=value_axis(",~r", grid=True))
    return {
        "width": width,
        "height": height,
        "title": gettext("mean response time, {unit}, over throughput", unit=path.unit),
        "description": gettext("mean response time over throughput, one line per arm; the numbers are in the table"),
        "data": inline(rows),
        "encoding": {
            "x": quantity(
                "rate",
                title=gettext("throughput, {unit}", unit=path.rate_unit),
                scale=FROM_ZERO,
                axis={"tickCount": 5, "format": ",~f", "grid": False},
            )
        },
        "layer": [*reach(rows), *lines(rows, colours, y, "load")],
    }


def quantile_chart(quantiles: QuantileCurve, colours: Mapping[str, str], width: int, height: int) -> Spec:
    """Response time over percentiles, both so that the slowest have most of the room."""
    levels = sorted({point.load for point in quantiles.points})
    rows: list[Spec] = [
        {"arm": p.arm, "load": p.load.n, "beyond": _short(p.one_in), "value": _short(p.value)} for p in quantiles.points
    ]
    largest = max(point.one_in for point in quantiles.points)
    parameter: Spec = {"name": "level", "value": levels[-1].n}
    if levels[1:]:
        parameter["bind"] = _choice(gettext("load level"), [level.n for level in levels])
    y = quantity(
        "value",
        title=None,
        scale={"type": "log", "nice": False, "padding": 8},
        axis=value_axis(",~r", grid=False),
    )
    at = gettext("at {load}", load=levels[-1]) if len(levels) == 1 else gettext("first at {load}", load=levels[-1])
    return {
        "width": width,
        "height": height,
        "title": {"text": gettext("response time, {unit}, by percentile", unit=quantiles.unit), "subtitle": at},
        "description": gettext("response time by percentile, one line per arm"),
        "params": [parameter],
        "data": inline(rows),
        "transform": [
            {"filter": "datum.load === level"},
            {"calculate": _told_of_quantile(quantiles.unit), "as": "hint"},
        ],
        "encoding": {
            "x": quantity(
                "beyond",
                title=gettext("percentile"),
                scale={"type": "log", "domain": [1, largest], "nice": False, "padding": 8},
                axis={
                    "values": [tick for tick in (1, 10, 100, 1000, 10_000, 100_000) if tick <= largest],
                    "grid": False,
                    "labelExpr": f"{_PERCENT} : ''",
                },
            )
        },
        "layer": lines(rows, colours, y, "beyond"),
    }


def _choice(title: str, options: Sequence[Any]) -> Spec:
    """Return the input element below the live chart."""
    return {"input": "select", "options": list(options), "name": f"{title} "}


def time_series_chart(chart: TimeSeriesChart) -> Spec:
    """A metric of one trial over time; both are chosen."""
    trials = list(dict.fromkeys(series.trial for series in chart.series))
    metrics = list(dict.fromkeys(series.metric for series in chart.series))
    at = gettext(" at ")
    hint_expression = f"format(datum.value, ',.4~r') + '{at}' + format(datum.time, '.3~r') + ' s'"
    title = {"text": gettext("one trial over time"), **({"subtitle": chart.note} if chart.note else {})}
    rows = [
        {"trial": series.trial, "metric": series.metric, "step": series.step_s, "value": series.values}
        for series in chart.series
    ]
    return {
        "width": _WIDE,
        "height": 180,
        "title": title,
        "description": gettext("a metric of the chosen trial, second by second"),
        "params": [
            {"name": "trial", "value": trials[0], "bind": _choice(gettext("trial"), trials)},
            {"name": "metric", "value": metrics[0], "bind": _choice(gettext("of"), metrics)},
        ],
        "data": {"values": rows},
        "transform": [
            {"filter": "datum.trial === trial && datum.metric === metric"},
            {"flatten": ["value"]},
            {"window": [{"op": "row_number", "as": "place"}]},
            {"calculate": "datum.place * datum.step", "as": "time"},
            {"calculate": hint_expression, "as": "hint"},
        ],
        "mark": {
            "type": "line",
            "strokeWidth": 1.4,
            "stroke": "var(--ink)",
            "point": {"size": 18, "fill": "var(--paper)", "stroke": "var(--ink)"},
        },
        "encoding": {
            "x": quantity("time", title=gettext("seconds of the trial"), scale={"zero": True}, axis={"grid": False}),
            "y": quantity("value", title=None, scale=FROM_ZERO, axis=value_axis(",~r", grid=True)),
            "tooltip": HINT,
        },
    }
