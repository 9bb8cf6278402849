"""Charts as Vega-Lite specs, and their still pictures.

In: curves and effect tables of a view. Out: spec dicts (drawn live in the HTML) and SVG text (still in HTML and
Markdown). Colours are names of CSS variables, so that a picture inside a page follows its light or dark scheme; a
picture in a file of its own gets the light palette. An arm is coloured only where it is decided better or worse.
"""

import html
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from paribus.files import write_whole
from paribus.i18n import gettext
from paribus.report.charts import chart_worker
from paribus.report.charts.chart_parts import (
    HINT,
    SIGNED,
    Spec,
    hint,
    inline,
    name,
    quantity,
)
from paribus.report.charts.drift_chart import drift_chart
from paribus.report.charts.line_charts import path_chart, quantile_chart, time_series_chart
from paribus.report.charts.load_chart import load_chart
from paribus.report.charts.pair_chart import pair_chart
from paribus.report.charts.response_chart import response_curve
from paribus.report.view.view_models import EffectPoint, EffectTable, MatrixSection, ReportView, Section, SectionArm

LIGHT = {
    "paper": "#ffffff",
    "ink": "#1c1d1f",
    "muted": "#66686c",
    "line": "#e4e4e1",
    "wash": "#f1f1ee",
    "better": "#0a66a8",
    "worse": "#b34a06",
}
DARK = {
    "paper": "#16181b",
    "ink": "#e6e5e2",
    "muted": "#9c9ea1",
    "line": "#303338",
    "wash": "#212429",
    "better": "#74b6f0",
    "worse": "#f39c5c",
}
"""Blue and orange: told apart with every common colour blindness. Text keeps a contrast of 4.5 or more."""

_FONT = "system-ui, sans-serif, 'Noto Sans CJK SC', 'PingFang SC', 'Microsoft YaHei'"
_TEXT = {"labelFont": _FONT, "titleFont": _FONT, "labelColor": "var(--muted)", "titleColor": "var(--muted)"}
CONFIG: Spec = {
    "background": "transparent",
    "font": _FONT,
    "view": {"stroke": None},
    "mark": {"aria": False},
    "axis": {
        **_TEXT,
        "labelFontSize": 11,
        "titleFontSize": 11,
        "titleFontWeight": "normal",
        "gridColor": "var(--line)",
        "domainColor": "var(--line)",
        "tickColor": "var(--line)",
        "labelPadding": 5,
    },
    "legend": {**_TEXT, "labelColor": "var(--ink)", "labelFontSize": 11, "title": None, "symbolSize": 60},
    "title": {
        "color": "var(--ink)",
        "subtitleColor": "var(--muted)",
        "fontSize": 12,
        "subtitleFontSize": 11,
        "fontWeight": 600,
        "anchor": "start",
        "frame": "bounds",
        "offset": 10,
    },
}
_WIDTH, _HEIGHT, _ROW = 272, 168, 22
_MOST_ROWS = 64  # of a panel; with more load levels it has the effect over all of them


_PLACES = re.compile(r' (?:d|transform)="[^"]*"')
_DIGITS = re.compile(r"(\.\d)\d+")  # a tenth of a pixel is enough


def _colour(arm: SectionArm) -> str:
    return f"var(--{arm.decided or ('ink' if arm.baseline else 'muted')})"


def _clamped(point: EffectPoint, limit: float) -> Spec:
    def within(value: float) -> float:
        return min(max(value, -limit), limit)

    return {
        "load": gettext("all levels") if point.load is None else point.load.figure,
        "estimate": within(point.estimate),
        "low": within(point.low),
        "high": within(point.high),
        "colour": f"var(--{point.decided or 'ink'})",
        "filled": f"var(--{point.decided or 'ink'})" if point.load is None else "var(--paper)",
        "hint": hint(f"{point.effect} {point.interval}", point.trials),
    }


def forest(effects: EffectTable) -> Spec:
    """Effects with intervals, a row per load level and a panel per arm; the band is what is too small to matter."""
    estimates = [abs(p.estimate) for p in effects.points if math.isfinite(p.estimate)]
    limit = max(3 * effects.margin_high, 2.5 * max(estimates, default=0.0))
    loads = effects.loads if len(effects.loads) <= _MOST_ROWS else [None]
    labels = [gettext("all levels") if load is None else load.figure for load in loads]
    return {
        "vconcat": [_panel(effects, arm, labels, limit) for arm in effects.arms],
        "spacing": 14,
        "resolve": {"scale": {"x": "shared"}},
        "title": {
            "text": gettext("effect on {title}, %", title=effects.title),
            "subtitle": gettext("shaded: within {margin}", margin=effects.margin),
        },
        "description": gettext(
            "effect on {title} with intervals by load level; the numbers are in the table", title=effects.title
        ),
    }


def _panel(effects: EffectTable, arm: str, labels: Sequence[str], limit: float) -> Spec:
    """The effects of one arm."""
    rows = [_clamped(point, limit) for point in effects.points if point.arm == arm and not math.isnan(point.estimate)]
    rows = [row for row in rows if row["load"] in labels]
    axis = {"tickCount": 5, "grid": False, "domain": False, "labelFlush": False, "labelExpr": SIGNED}
    margin = inline([{"low": effects.margin_low, "high": effects.margin_high, "nothing": 0}])
    encoding = {
        "y": name(
            "load",
            sort=labels,
            title=None,
            scale={"domain": labels},
            axis={"domain": False, "ticks": False, "labelColor": "var(--ink)"},
        ),
        "color": name("colour", scale=None),
    }
    return {
        "width": _WIDTH - 20,
        "height": _ROW * len(labels),
        "title": {
            "text": gettext("{arm} instead of {baseline}", arm=arm, baseline=effects.baseline),
            "fontWeight": "normal",
            "limit": _WIDTH,
        },
        "data": inline(rows),
        "layer": [
            {
                "data": margin,
                "mark": {"type": "rect", "fill": "var(--wash)"},
                "encoding": {
                    "x": quantity("low", title=None, axis=axis, scale={"zero": True, "padding": 10}),
                    "x2": {"field": "high"},
                },
            },
            {
                "data": margin,
                "mark": {"type": "rule", "stroke": "var(--muted)", "strokeWidth": 0.75},
                "encoding": {"x": quantity("nothing")},
            },
            {
                "mark": {"type": "rule", "strokeWidth": 1.6},
                "encoding": {**encoding, "x": quantity("low"), "x2": {"field": "high"}},
            },
            {
                "mark": {"type": "point", "size": 44, "strokeWidth": 1.4, "opacity": 1},
                "encoding": {
                    **encoding,
                    "x": quantity("estimate"),
                    "fill": name("filled", scale=None),
                    "tooltip": HINT,
                },
            },
        ],
    }


def of_section(section: Section) -> dict[str, Spec]:
    """All charts of a section by key: the effects of judged responses and their pairs, the curves, the drift."""
    specs = {table.key: forest(table) for table in section.effects if table.judged}
    specs |= {chart.key: pair_chart(chart, _WIDTH) for chart in section.pairs}
    colours = {arm.name: _colour(arm) for arm in section.arms}
    size = (_WIDTH, _HEIGHT)
    specs |= {load_curve.key: load_chart(load_curve, colours, *size) for load_curve in section.curves}
    if section.path:
        specs[section.path.key] = path_chart(section.path, colours, *size)
    if section.quantiles:
        specs[section.quantiles.key] = quantile_chart(section.quantiles, colours, *size)
    if section.drift:
        specs[section.drift.key] = drift_chart(section.drift, *size)
    return specs


def of_matrix(section: MatrixSection) -> dict[str, Spec]:
    """The curve of each write share of a matrix by key."""
    return {share.key: response_curve(share) for share in section.shares if share.points}


def of_view(view: ReportView) -> dict[str, dict[str, Spec]]:
    """All charts of a report by anchor and key, in the order in which they are shown."""
    specs = {matrix.anchor: of_matrix(matrix) for matrix in view.matrices}
    return specs | {section.anchor: of_section(section) for section in view.sections}


def of_trials(view: ReportView) -> dict[str, Spec]:
    """The chart of any trial over time by key: to choose from, so for pages alone."""
    return {} if view.time_series is None else {view.time_series.key: time_series_chart(view.time_series)}


def still(picture: str, description: str) -> str:
    """A picture as SVG for the inside of a page; colours are the page's CSS variables."""
    svg = picture.replace("<svg ", f'<svg role="img" aria-label="{html.escape(description)}" ', 1)
    return _PLACES.sub(lambda attribute: _DIGITS.sub(r"\1", attribute[0]), svg)


def standalone(picture: str) -> str:
    """The same for a file of its own, in the light palette on white."""
    svg = re.sub(r"var\(--(\w+)\)", lambda name: LIGHT[name[1]], picture)
    return re.sub("(<svg [^>]*>)", rf'\1<rect width="100%" height="100%" fill="{LIGHT["paper"]}"/>', svg, count=1)


def write_pictures(view: ReportView, folder: Path) -> Mapping[str, str]:
    """Draw every chart of a view into `folder` as SVG; returns file names by chart key, as Markdown wants them."""
    folder.mkdir(parents=True, exist_ok=True)
    specs = {key: spec for specs_of_section in of_view(view).values() for key, spec in specs_of_section.items()}
    names = {key: f"{key}.svg" for key in specs}
    with chart_worker.drawing(list(specs.values()), CONFIG) as pictures:
        for (key, name), picture in zip(names.items(), pictures, strict=True):
            write_whole(folder / name, standalone(still(picture(), specs[key]["description"])))
    return names
