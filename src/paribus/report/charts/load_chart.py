"""A metric over the load levels: a line for each arm, and the level to use where the analysis names one.

In: what is shown of the metric. Out: a Vega-Lite spec. Called by `charts`.
"""

from collections.abc import Mapping, Sequence

from paribus.i18n import N_, gettext
from paribus.report.charts.chart_parts import (
    FROM_ZERO,
    HINT,
    KNOWN,
    SHAPES,
    Spec,
    in_turn,
    inline,
    name,
    quantity,
    value_axis,
)
from paribus.report.charts.line_charts import lines, row
from paribus.report.view.curve_models import LoadCurve
from paribus.units import LoadUnit

_LOADS = {
    LoadUnit.OUTSTANDING: N_("outstanding operations"),
    LoadUnit.RATE_PER_S: N_("operations per second"),
    LoadUnit.NOT_STATED: N_("not stated"),
}


def load_chart(load_curve: LoadCurve, colours: Mapping[str, str], width: int, height: int) -> Spec:
    """A metric over the load levels: a line per arm, its interval as a band (as a bar where there is one level)."""
    rows = [
        row(p, gettext("{arm} at {load}: {figure}", arm=p.arm, load=p.load, figure=p.text))
        | {"colour": colours[p.arm]}
        | ({"use": 1} if (p.arm, p.load.n) in load_curve.to_use else {})
        for p in load_curve.points
    ]
    loads = sorted({p.load.n for p in load_curve.points})
    y = quantity("value", title=None, scale=FROM_ZERO, axis=value_axis(",~f"))
    return {
        "width": width,
        "height": height,
        "title": {
            "text": f"{load_curve.title}, {load_curve.unit}",
            **({"subtitle": gettext("filled: the load level to use")} if load_curve.to_use else {}),
        },
        "description": gettext(
            "{title} over load level, one line per arm; the numbers are in the table", title=load_curve.title
        ),
        "data": inline(rows),
        "encoding": {
            "x": quantity(
                "load",
                title=gettext("load level ({unit})", unit=gettext(_LOADS[load_curve.points[0].load.unit])),
                scale={"type": "log", "base": 2, "padding": 14, "nice": False},
                axis={"values": loads, "format": "d", "grid": False, "labelOverlap": "greedy"},
            )
        },
        "layer": [*_intervals(rows), *lines(rows, colours, y, "load"), *_levels_to_use(rows, colours, y)],
    }


def _levels_to_use(rows: Sequence[Spec], colours: Mapping[str, str], y: Spec) -> list[Spec]:
    """The layer of filled points; nothing where no load level is advised."""
    if not any("use" in row for row in rows):
        return []
    present = [arm for arm in colours if any(row["arm"] == arm for row in rows)]
    return [
        {
            "transform": [{"filter": "datum.use"}],
            "mark": {"type": "point", "size": 40, "filled": True, "opacity": 1},
            "encoding": {
                "y": y,
                "color": name("colour", scale=None),
                "shape": name("arm", scale=in_turn(present, SHAPES), sort=present),
                "tooltip": HINT,
            },
        }
    ]


def _intervals(rows: Sequence[Spec]) -> list[Spec]:
    """The layer of intervals: bands, or bars at the only load level; nothing where no interval is known."""
    bounded = [row for row in rows if "low" in row]
    if not bounded:
        return []
    bar = len({row["load"] for row in bounded}) == 1
    return [
        {
            "transform": [KNOWN],
            "mark": {"type": "rule", "strokeWidth": 1.6} if bar else {"type": "area", "opacity": 0.14},
            "encoding": {
                "y": quantity("low", title=None),
                "y2": {"field": "high"},
                "detail": name("arm"),
                "stroke" if bar else "fill": name("colour", scale=None),
            },
        }
    ]
