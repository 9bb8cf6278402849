"""The curve of an I/O matrix: response time over the rate of small operations, a line for each number of large ones.

In: what is shown of a write share. Out: a Vega-Lite spec, as `charts` makes them. Called by `charts`.
"""

from typing import TYPE_CHECKING

from ceteris.language import tr
from ceteris.report import numbers
from ceteris.report.chart_data import inline
from ceteris.report.shown import MatrixShare

if TYPE_CHECKING:
    import altair as alt

WIDTH, HEIGHT = 420, 240
DASHES = ([1, 0], [5, 3], [2, 2], [8, 3, 2, 3], [1, 3])
SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down")


def response_curve(share: MatrixShare) -> "alt.LayerChart | alt.FacetChart":
    """Response time over the rate, with intervals; along a line more and more small operations are outstanding."""
    import altair as alt

    names = list(dict.fromkeys(point.series for point in share.points))
    rows = [
        {
            "series": p.series,
            "small": p.small,
            "rate": p.rate,
            "value": p.value,
            **({"low": max(p.low, 0.0), "high": p.high} if p.low is not None and p.high is not None else {}),
            "hint": tr("{text} · trials {trials}", text=p.text, trials=numbers.few(p.trials)),
        }
        for p in share.points
    ]
    legend = alt.Legend(orient="top", columns=3, offset=8) if len(names) > 1 else None
    base = alt.Chart(inline(rows)).encode(
        x=alt.X(
            "rate:Q",
            title=tr("small operations per second"),
            scale=alt.Scale(zero=True, nice=True),
            axis=alt.Axis(tickCount=5, format=",~f", grid=False),
        )
    )
    y = alt.Y(
        "value:Q",
        title=None,
        scale=alt.Scale(zero=True, nice=True),
        axis=alt.Axis(tickCount=4, domain=False, ticks=False, format=",~f"),
    )
    dash = alt.Scale(domain=names, range=[list(DASHES[n % len(DASHES)]) for n in range(len(names))])
    shape = alt.Scale(domain=names, range=[SHAPES[n % len(SHAPES)] for n in range(len(names))])
    layers = [
        base.mark_line(strokeWidth=1.6, stroke="var(--ink)").encode(
            y=y,
            strokeDash=alt.StrokeDash("series:N", scale=dash, sort=names, legend=legend),
            order=alt.Order("small:Q"),
        ),
        base.mark_point(size=34, strokeWidth=1.4, stroke="var(--ink)", fill="var(--paper)", opacity=1).encode(
            y=y,
            shape=alt.Shape("series:N", scale=shape, sort=names, legend=legend),
            tooltip=alt.Tooltip("hint:N"),
        ),
    ]
    known = [row for row in rows if "low" in row]
    if known:
        reach = alt.Chart(inline(known)).mark_rule(strokeWidth=1.2, stroke="var(--muted)")
        layers.insert(0, reach.encode(x=alt.X("rate:Q"), y=alt.Y("low:Q", title=None), y2="high:Q"))
    return alt.layer(*layers).properties(
        width=WIDTH,
        height=HEIGHT,
        title=tr("mean response time, {unit}, {share}", unit=share.unit, share=share.title),
        description=tr("mean response time of small operations over their rate; the numbers are in the tables"),
    )
