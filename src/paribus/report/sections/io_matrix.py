"""From an I/O matrix to what is shown of it: sentences, the tables that Orion prints, and the curve.

In: the matrices that the analysis read. Out: MatrixSection. Called by the view; computes nothing but units.
"""

from collections.abc import Sequence

from paribus.findings import Bound, Ceiling, Estimate, Matrix, MatrixPoint, MatrixSeries
from paribus.i18n import N_, gettext
from paribus.report.sections.tables import estimated
from paribus.report.view import numbers
from paribus.report.view.numbers import MetricKind, Scale
from paribus.report.view.view_models import MatrixSection, MatrixShare, MatrixTable, ResponsePoint, TableFigure
from paribus.units import show_size, show_time

_BEYOND = {
    Bound.IOPS: N_("beyond it the device is IOPS-bound"),
    Bound.BANDWIDTH: N_("beyond it the device is bandwidth-bound"),
    Bound.BOTH: N_("beyond it small and large operations together saturate the device"),
}
_WORDS = {
    Bound.IOPS: "IOPS",
    Bound.BANDWIDTH: N_("bandwidth"),
    Bound.BOTH: N_("both"),
    Bound.NOTHING: N_("not bound"),
}
_ORDERS = (N_("sequential"), N_("random"))
_IOPS = Scale("IOPS", 1.0)
_READING = N_(
    "Bound: one more step of small operations adds less than half of its proportional gain. The device is also "
    "within {near} of its highest rate of small operations alone, or of its highest bandwidth with large operations. "
    "Both: the two shares add up to that."
)
_TABLES = (
    ("small_per_s", N_("small operations"), MetricKind.RATE),
    ("bytes_per_s", N_("bandwidth of all"), MetricKind.BYTES),
    ("small_response_mean_s", N_("mean response time of small operations"), MetricKind.TIME),
    ("small_response_p99_s", N_("p99 response time of small operations"), MetricKind.TIME),
    ("large_response_mean_s", N_("mean response time of large operations"), MetricKind.TIME),
)


def operations(size_bytes: int, order: str, write_share: float) -> str:
    """Return the name of operations: `8 KiB random reads`, `1 MiB sequential I/O, 20 % writes`."""
    size = show_size(size_bytes)
    if write_share in (0.0, 1.0):
        pattern = N_("{size} {order} writes") if write_share else N_("{size} {order} reads")
        return gettext(pattern, size=size, order=gettext(order))
    return gettext("{size} {order} I/O, {share} writes", size=size, order=gettext(order), share=_percent(write_share))


def _percent(share: float) -> str:
    return f"{share * 100:.3g} %"


def _beside(large: int) -> str:
    return gettext("with {n} large", n=large) if large else gettext("no large")


def _level(level: float) -> str:
    return f"{level:.0f}" if level >= 9.5 else f"{level:.2g}"


def _knee_text(series: MatrixSeries) -> str:
    knee = series.knee
    if knee is None:
        return gettext("no knee up to there: more outstanding operations still raise throughput")
    low, high = knee.level.low, knee.level.high
    between = "" if low is None or high is None else f" [{_level(low)}, {_level(high)}]"
    return gettext(
        "knee at {level}{between}, {rate} at {time}",
        level=_level(knee.level.value),
        between=between,
        rate=_rate(knee.per_s),
        time=show_time(knee.response_s),
    )


def _rate(per_s: float) -> str:
    return f"{numbers.number(per_s, numbers.decimals(per_s, None) if per_s < 100 else 0)}/s"


def _estimated(estimate: Estimate) -> str:
    """A rate with the digits its interval supports."""
    if estimate.low is None or estimate.high is None:
        return _rate(estimate.value)
    return f"{numbers.number(estimate.value, numbers.decimals(estimate.value, (estimate.high - estimate.low) / 2))}/s"


def _small(series: MatrixSeries, matrix: Matrix) -> str:
    """A series of small operations in one sentence; empty where there are none."""
    peak = next((p for p in series.points if p.small == series.peak_at and p.small > 0), None)
    if peak is None or series.peak_per_s is None:
        return ""
    subject = operations(matrix.small_block_bytes, N_("random"), series.write_share)
    if series.large:
        subject += gettext(", with {n} large {order}", n=series.large, order=gettext(matrix.large_order))
    mean = peak.measured.get("small_response_mean_s")
    at = gettext(" at {time}", time=show_time(mean.value)) if mean else ""
    pattern = N_("{what}: {rate}{at} with {n} outstanding")
    parts = [gettext(pattern, what=subject, rate=_estimated(series.peak_per_s), at=at, n=peak.small)]
    if len([point for point in series.points if point.small > 0]) > 1:
        parts.append(_knee_text(series))
        if peak.bound in _BEYOND and series.knee:
            parts.append(gettext(_BEYOND[peak.bound]))
    return gettext("; ").join(parts)


def _large(points: Sequence[MatrixPoint], share: float, matrix: Matrix) -> str:
    """Large operations alone in one sentence; empty where they were never alone."""
    alone = [point for point in points if point.small == 0 and "large_bytes_per_s" in point.measured]
    if not alone:
        return ""
    best = max(alone, key=lambda point: point.measured["large_bytes_per_s"].value)
    bandwidth = f"{show_size(best.measured['large_bytes_per_s'].value)}/s"
    subject = operations(matrix.large_block_bytes, matrix.large_order, share)
    bounds = {Bound.BANDWIDTH: gettext(", bandwidth-bound"), Bound.NOTHING: gettext(", not at a limit yet")}
    bound = bounds.get(best.bound or Bound.BOTH, "")
    pattern = N_("{what} alone: {bandwidth} with {n} outstanding{bound}")
    return gettext(pattern, what=subject, bandwidth=bandwidth, n=best.large, bound=bound)


def _figures(points: Sequence[MatrixPoint], metric: str, kind: MetricKind, title: str) -> MatrixTable | None:
    measured = [(point, point.measured[metric]) for point in points if metric in point.measured]
    if not measured:
        return None
    scale = _IOPS if kind is MetricKind.RATE else numbers.scale(kind, (mean.value for _, mean in measured))
    figures = {(point.small, point.large): estimated(mean, scale, point.trials) for point, mean in measured}
    return _table(points, gettext(title), scale.unit, figures)


def _bounds(points: Sequence[MatrixPoint]) -> MatrixTable | None:
    figures = {
        (p.small, p.large): TableFigure(text=gettext(_WORDS[p.bound]), spread="", places=0, trials=())
        for p in points
        if p.bound
    }
    return _table(points, gettext("bound by"), "", figures) if figures else None


def _table(
    points: Sequence[MatrixPoint], title: str, unit: str, figures: dict[tuple[int, int], TableFigure]
) -> MatrixTable:
    smalls, larges = sorted({p.small for p in points}), tuple(sorted({p.large for p in points}))
    rows = tuple((small, tuple(figures.get((small, large)) for large in larges)) for small in smalls)
    return MatrixTable(title=title, unit=unit, columns=larges, rows=rows)


def _curve(series: Sequence[MatrixSeries]) -> tuple[str, tuple[ResponsePoint, ...]]:
    """The unit of the response times, and the points of every series over its rate."""
    measured = [
        (point, point.measured["small_per_s"], point.measured["small_response_mean_s"])
        for one_series in series
        for point in one_series.points
        if point.small > 0 and {"small_per_s", "small_response_mean_s"} <= set(point.measured)
    ]
    scale = numbers.scale(MetricKind.TIME, (time.value for _, _, time in measured))
    return scale.unit, tuple(_point(point, rate, time, scale) for point, rate, time in measured)


def _point(point: MatrixPoint, rate: Estimate, time: Estimate, scale: Scale) -> ResponsePoint:
    response = estimated(time, scale, point.trials)
    time_text = f"{response.text} {response.spread} {scale.unit}".replace("  ", " ")
    series = _beside(point.large)
    return ResponsePoint(
        series=series,
        small=point.small,
        rate=rate.value,
        value=time.value * scale.factor,
        low=None if time.low is None else time.low * scale.factor,
        high=None if time.high is None else time.high * scale.factor,
        text=gettext(
            "{n} small, {beside}: {rate} at {time}",
            n=point.small,
            beside=series,
            rate=_rate(rate.value),
            time=time_text,
        ),
        trials=point.trials,
    )


def _share(ceiling: Ceiling, matrix: Matrix, key: str) -> MatrixShare:
    series = [
        one_series
        for one_series in matrix.series
        if one_series.write_share == ceiling.write_share and one_series.points
    ]
    points = [point for one_series in series for point in one_series.points]
    tables = [_figures(points, metric, kind, title) for metric, title, kind in _TABLES] + [_bounds(points)]
    sentences = [*(_small(one_series, matrix) for one_series in series), _large(points, ceiling.write_share, matrix)]
    unit, curve = _curve(series)
    return MatrixShare(
        key=key,
        title=gettext("reads only")
        if ceiling.write_share == 0
        else gettext("{share} writes", share=_percent(ceiling.write_share)),
        sentences=tuple(sentence for sentence in sentences if sentence),
        tables=tuple(table for table in tables if table),
        unit=unit,
        points=curve if len(curve) > 1 else (),
    )


def section(matrix: Matrix, anchor: str) -> MatrixSection:
    """A matrix as it is shown; the answer is its first sentence."""
    shares = tuple(_share(ceiling, matrix, f"{anchor}-{n}") for n, ceiling in enumerate(matrix.ceilings, 1))
    shares = tuple(share for share in shares if share.tables)
    rounds = numbers.count(matrix.rounds, "round")
    spread = (
        gettext(" with {confidence} intervals", confidence=f"{matrix.confidence * 100:.3g} %")
        if matrix.rounds > 1
        else ""
    )
    return MatrixSection(
        anchor=anchor,
        name=matrix.name,
        answer=next((sentence for share in shares for sentence in share.sentences), ""),
        reading=gettext(
            "Means over {rounds}{spread}. {reading}",
            rounds=rounds,
            spread=spread,
            reading=gettext(_READING, near="10 %"),
        ),
        shares=shares,
        empty="" if shares else gettext("no point was measured validly yet"),
    )
