"""The curve of an I/O matrix: response time over the rate of small operations, a line for each number of large ones.

In: what is shown of a write share. Out: a Vega-Lite spec, as `charts` makes them. Called by `charts`.
"""

from paribus.i18n import gettext
from paribus.report.charts.chart_parts import (
    DASHES,
    FROM_ZERO,
    HINT,
    SHAPES,
    Spec,
    hint,
    in_turn,
    inline,
    name,
    quantity,
    reach,
    value_axis,
)
from paribus.report.view.view_models import MatrixShare

WIDTH, HEIGHT = 420, 240


def response_curve(share: MatrixShare) -> Spec:
    """Response time over the rate, with intervals; along a line more and more small operations are outstanding."""
    names = list(dict.fromkeys(point.series for point in share.points))
    rows = [
        {
            "series": p.series,
            "small": p.small,
            "rate": p.rate,
            "value": p.value,
            **({"low": max(p.low, 0.0), "high": p.high} if p.low is not None and p.high is not None else {}),
            "hint": hint(p.text, p.trials),
        }
        for p in share.points
    ]
    legend = {"orient": "top", "columns": 3, "offset": 8} if len(names) > 1 else None
    y = quantity("value", title=None, scale=FROM_ZERO, axis=value_axis(",~f"))
    line = {
        "mark": {"type": "line", "strokeWidth": 1.6, "stroke": "var(--ink)"},
        "encoding": {
            "y": y,
            "strokeDash": name("series", scale=in_turn(names, DASHES), sort=names, legend=legend),
            "order": quantity("small"),
        },
    }
    points = {
        "mark": {
            "type": "point",
            "size": 34,
            "strokeWidth": 1.4,
            "stroke": "var(--ink)",
            "fill": "var(--paper)",
            "opacity": 1,
        },
        "encoding": {
            "y": y,
            "shape": name("series", scale=in_turn(names, SHAPES), sort=names, legend=legend),
            "tooltip": HINT,
        },
    }
    return {
        "width": WIDTH,
        "height": HEIGHT,
        "title": gettext("mean response time, {unit}, {share}", unit=share.unit, share=share.title),
        "description": gettext("mean response time of small operations over their rate; the numbers are in the tables"),
        "data": inline(rows),
        "encoding": {
            "x": quantity(
                "rate",
                title=gettext("small operations per second"),
                scale=FROM_ZERO,
                axis={"tickCount": 5, "format": ",~f", "grid": False},
            )
        },
        "layer": [*reach(rows), line, points],
    }
