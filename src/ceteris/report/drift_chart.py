"""How the machine changed while a comparison was made: its blocks over time, by which arm each began with.

In: what is shown of a drift. Out: a Vega-Lite chart. Called by `charts`.
"""

from typing import TYPE_CHECKING

from ceteris.language import tr
from ceteris.report import numbers
from ceteris.report.chart_data import inline
from ceteris.report.response_chart import SHAPES
from ceteris.report.shown_curves import DriftCurve

if TYPE_CHECKING:
    import altair as alt

_SIGNED = "datum.value === 0 ? '0' : format(datum.value, '+~f')"


def drift_chart(shown: DriftCurve, width: int, height: int) -> "alt.LayerChart | alt.FacetChart":
    """A point for each block, and a smooth line through them."""
    import altair as alt

    names = list(dict.fromkeys(point.first for point in shown.points))
    rows = [
        {
            "time": point.time,
            "value": point.value,
            "smooth": smooth,
            "first": tr("{arm} first", arm=point.first),
            "hint": tr("{text} · trials {trials}", text=point.text, trials=numbers.few(point.trials)),
        }
        for point, smooth in zip(shown.points, shown.course, strict=True)
    ]
    firsts = [tr("{arm} first", arm=name) for name in names]
    shape = alt.Scale(domain=firsts, range=[SHAPES[n % len(SHAPES)] for n in range(len(firsts))])
    fill = alt.Scale(domain=firsts, range=["var(--ink)", *["var(--paper)"] * (len(firsts) - 1)])
    legend = alt.Legend(orient="top", columns=2, labelLimit=130, offset=8)
    base = alt.Chart(inline(rows)).encode(
        x=alt.X(
            "time:Q",
            title=tr("{unit} since the beginning", unit=shown.unit),
            scale=alt.Scale(nice=False, padding=10),
            axis=alt.Axis(tickCount=5, grid=False, format="~g"),
        )
    )
    axis = alt.Axis(tickCount=4, domain=False, ticks=False, labelExpr=_SIGNED)
    dots = base.mark_point(size=30, strokeWidth=1.2, stroke="var(--ink)", opacity=1).encode(
        y=alt.Y("value:Q", title=None, scale=alt.Scale(zero=True, nice=True), axis=axis),
        shape=alt.Shape("first:N", scale=shape, sort=firsts, legend=legend),
        fill=alt.Fill("first:N", scale=fill, sort=firsts, legend=legend),
        tooltip=alt.Tooltip("hint:N"),
    )
    line = base.mark_line(strokeWidth=1.4, stroke="var(--muted)").encode(y=alt.Y("smooth:Q", title=None))
    return alt.layer(line, dots).properties(
        width=width,
        height=height,
        title=alt.TitleParams(
            tr("{title} of all arms over time, %", title=shown.title),
            subtitle=tr("against the usual at the load level"),
        ),
        description=tr(
            "{title} of each block over time, as a deviation from the usual at its load level", title=shown.title
        ),
    )
