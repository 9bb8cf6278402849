"""Chart of the machine's drift during a comparison: blocks over time, by the arm that each began with.

In: what is shown of a drift. Out: a Vega-Lite spec. Called by `charts`.
"""

import json

from paribus.i18n import gettext
from paribus.report.charts.chart_parts import (
    FROM_ZERO,
    HINT,
    SHAPES,
    SIGNED,
    Spec,
    hint_expression,
    in_turn,
    inline,
    name,
    quantity,
)
from paribus.report.view import numbers
from paribus.report.view.curve_models import DriftCurve


def drift_chart(drift: DriftCurve, width: int, height: int) -> Spec:
    """A point for each block, and a smooth line through them."""
    firsts = [gettext("{arm} first", arm=arm) for arm in dict.fromkeys(point.first for point in drift.points)]
    rows = [
        {
            "time": point.time,
            "value": point.value,
            "smooth": smooth,
            "first": gettext("{arm} first", arm=point.first),
            "trials": numbers.few(point.trials),
        }
        for point, smooth in zip(drift.points, drift.trend, strict=True)
    ]
    fills = {"domain": firsts, "range": ["var(--ink)", *["var(--paper)"] * (len(firsts) - 1)]}
    legend = {"orient": "top", "columns": 2, "labelLimit": 130, "offset": 8}
    axis = {"tickCount": 4, "domain": False, "ticks": False, "labelExpr": SIGNED}
    line = {
        "mark": {"type": "line", "strokeWidth": 1.4, "stroke": "var(--muted)"},
        "encoding": {"y": quantity("smooth", title=None)},
    }
    dots = {
        "mark": {"type": "point", "size": 30, "strokeWidth": 1.2, "stroke": "var(--ink)", "opacity": 1},
        "encoding": {
            "y": quantity("value", title=None, scale=FROM_ZERO, axis=axis),
            "shape": name("first", scale=in_turn(firsts, SHAPES), sort=firsts, legend=legend),
            "fill": name("first", scale=fills, sort=firsts, legend=legend),
            "tooltip": HINT,
        },
    }
    return {
        "width": width,
        "height": height,
        "title": {
            "text": gettext("{title} of all arms over time, %", title=drift.title),
            "subtitle": gettext("relative to the typical value at the load level"),
        },
        "description": gettext(
            "{title} of each block over time, as a deviation from the typical value at its load level",
            title=drift.title,
        ),
        "data": inline(rows),
        "transform": [{"calculate": _hint(drift.unit), "as": "hint"}],
        "encoding": {
            "x": quantity(
                "time",
                title=gettext("{unit} since the beginning", unit=drift.unit),
                scale={"nice": False, "padding": 10},
                axis={"tickCount": 5, "grid": False, "format": ",~f"},
            )
        },
        "layer": [line, dots],
    }


def _hint(unit: str) -> str:
    """The tooltip of a block, as an expression."""
    values = {
        "change": "format(datum.value, '+,.1f') + ' %'",
        "time": "format(datum.time, ',.3~r')",
        "unit": json.dumps(unit),
        "trials": "datum.trials",
    }
    return hint_expression(gettext("{change} after {time} {unit} · trials {trials}"), values)
