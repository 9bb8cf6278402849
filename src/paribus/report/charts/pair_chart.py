"""The change of each pair over the blocks, a panel per arm, with the margin and the estimated effect as bands.

In: the pairs of one response. Out: a Vega-Lite spec. Called by `charts`.
"""

import json
import math
import statistics
from collections.abc import Sequence

from paribus.i18n import gettext
from paribus.report.charts.chart_parts import HINT, SIGNED, Spec, hint_expression, inline, name, quantity
from paribus.report.view import numbers
from paribus.report.view.pair_models import PairChart, PairPanel

_HEIGHT = 96
_FENCE = 6  # interquartile distances: what lies beyond is drawn at the edge, as it would flatten all other dots
_FEWEST_WITH_FENCES = 4
_FARTHEST = 1e6  # percent: what is stated of a change beyond measure
_SHAPE = "!isValid(datum.far) ? 'circle' : datum.far > datum.value ? 'triangle-up' : 'triangle-down'"


def pair_chart(chart: PairChart, width: int) -> Spec:
    """A dot for each pair over its block; shaded are the margin and the interval of the effect."""
    return {
        "vconcat": [_panel(chart, panel, width) for panel in chart.panels],
        "spacing": 14,
        "resolve": {"scale": {"x": "shared"}},
        "title": {
            "text": gettext("{title} in each pair, change in %", title=chart.title),
            "subtitle": gettext("dotted: margin {margin}; line and band: effect and interval", margin=chart.margin),
        },
        "description": gettext(
            "change of {title} in each pair over its block, with the effect and its interval as a band",
            title=chart.title,
        ),
    }


def _panel(chart: PairChart, panel: PairPanel, width: int) -> Spec:
    """The pairs of one arm."""
    colour = f"var(--{panel.decided or 'ink'})"
    low, high = _reach(chart, panel)
    loads = list(dict.fromkeys(dot.load for dot in panel.dots))
    rows = [
        {
            "block": dot.block,
            "value": float(f"{min(max(dot.value, low), high):.4g}"),
            "load": loads.index(dot.load),
            "trials": numbers.few(dot.trials),
            **({} if low <= dot.value <= high else {"far": min(dot.value, _FARTHEST)}),
        }
        for dot in panel.dots
    ]
    outside = sum(not low <= dot.value <= high for dot in panel.dots)
    edge = [gettext("triangles: {n} beyond the axis", n=outside)] if outside else []
    bands = inline(
        [
            {
                "margin_low": chart.margin_low,
                "margin_high": chart.margin_high,
                "low": max(panel.low, low),
                "high": min(panel.high, high),
                "estimate": panel.estimate,
                "nothing": 0,
            }
        ]
    )
    axis = {"tickCount": 4, "domain": False, "ticks": False, "grid": False, "labelExpr": SIGNED}
    y = {"title": None, "axis": axis, "scale": {"domain": [low, high], "nice": False, "padding": 6}}
    return {
        "width": width - 20,
        "height": _HEIGHT,
        "title": {
            "text": gettext("{arm} instead of {baseline}", arm=panel.arm, baseline=chart.baseline),
            "subtitle": gettext("; ").join([panel.note, *edge]),
            "fontWeight": "normal",
            "limit": width,
        },
        "data": inline(rows),
        "transform": [
            {"calculate": _SHAPE, "as": "shape"},
            {"calculate": _hint(loads), "as": "hint"},
        ],
        "layer": [
            {
                "data": bands,
                "mark": {"type": "rect", "fill": "var(--wash)"},
                "encoding": {"y": quantity("margin_low", **y), "y2": {"field": "margin_high"}},
            },
            {
                "data": bands,
                "mark": {"type": "rect", "fill": colour, "opacity": 0.2},
                "encoding": {"y": quantity("low", title=None), "y2": {"field": "high"}},
            },
            {
                "data": bands,
                "mark": {"type": "rule", "stroke": "var(--muted)", "strokeWidth": 0.75},
                "encoding": {"y": quantity("nothing", title=None)},
            },
            {  # the band of a wide interval covers the margin
                "data": inline([{"edge": chart.margin_low}, {"edge": chart.margin_high}]),
                "mark": {"type": "rule", "stroke": "var(--muted)", "strokeWidth": 0.75, "strokeDash": [2, 3]},
                "encoding": {"y": quantity("edge", title=None)},
            },
            {
                "data": bands,
                "mark": {"type": "rule", "stroke": colour, "strokeWidth": 1.6},
                "encoding": {"y": quantity("estimate", title=None)},
            },
            {
                "mark": {"type": "point", "size": 22, "strokeWidth": 1.1, "stroke": "var(--ink)", "opacity": 1},
                "encoding": {
                    "x": quantity(
                        "block",
                        title=gettext("block"),
                        scale={"zero": False, "nice": False, "padding": 8},
                        axis={"tickCount": 5, "grid": False, "format": ",d", "tickMinStep": 1},
                    ),
                    "y": quantity("value", title=None),
                    "shape": name("shape", scale=None),
                    "tooltip": HINT,
                },
            },
        ],
    }


def _hint(loads: Sequence[str]) -> str:
    """The tooltip of a dot, as an expression; a row has the index of its load level."""
    values = {
        "change": "format(isValid(datum.far) ? datum.far : datum.value, '+,.1f') + ' %'",
        "block": "datum.block",
        "load": f"{json.dumps(loads)}[datum.load]",
        "trials": "datum.trials",
    }
    return hint_expression(gettext("{change} in block {block}, at {load} · trials {trials}"), values)


def _reach(chart: PairChart, panel: PairPanel) -> tuple[float, float]:
    """The ends of the axis: the dots and the interval but for what is far out, the estimate, the margin, no change."""
    values = [dot.value for dot in panel.dots if math.isfinite(dot.value)]
    low, high = _fences(values, 3 * chart.margin_high)
    ends = [min(max(end, low), high) for end in (panel.low, panel.high)]
    drawn = [value for value in (*values, *ends) if low <= value <= high and math.isfinite(value)]
    drawn += [panel.estimate, chart.margin_low, chart.margin_high]
    return min(drawn), max(drawn)


def _fences(values: Sequence[float], least: float) -> tuple[float, float]:
    """The bounds beyond which a dot is a far outlier, `least` from the middle; none where too few dots tell."""
    if len(values) < _FEWEST_WITH_FENCES:
        return -math.inf, math.inf
    first, _, third = statistics.quantiles(values, n=4)
    distance = max(_FENCE * (third - first), least)
    return first - distance, third + distance
