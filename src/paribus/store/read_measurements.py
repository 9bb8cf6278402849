"""Reading of measurements from the store. All functions raise StoreError; points are read only on request."""

import sys
import zlib
from array import array
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence

import sqlalchemy as sa
from sqlalchemy.engine import Engine

from paribus.model import Measurement
from paribus.store import schema
from paribus.store.open import connected

ROWS_PER_FETCH = 200
"""Single rows take twice the time; all rows at once take twice the memory."""

_SETTLE = "settle"
_SUMMARY_COLUMNS = [
    column for column in schema.measurement.c if column.name not in ("points", "histogram", "id", "experiment")
]


def summaries(
    store: Engine,
    experiment: str,
    orders: Sequence[int] | None = None,
    metrics: Collection[str] | None = None,
    comparisons: Collection[tuple[str, str]] | None = None,
) -> dict[int, dict[str, Measurement]]:
    """Return measurements by trial order and metric, without points and histograms.

    `orders` and `metrics` select trials and metrics, `comparisons` trials by (factor, workload); None selects all.
    """
    c, t = schema.measurement.c, schema.trial.c
    by_trial: dict[int, dict[str, Measurement]] = defaultdict(dict)
    query = sa.select(c.trial, c.phase, c.metric, c.unit, c.source, c.n, c.mean, c.low, c.high, c.total).where(
        c.experiment == experiment, c.phase.in_(("prepare", "measure"))
    )
    if orders is not None:
        query = query.where(c.trial.in_(orders))
    if metrics is not None:
        query = query.where(c.metric.in_(metrics))
    if comparisons is not None:  # a list of orders would need a new cached statement for each length
        comparison = sa.or_(*[sa.and_(t.factor == factor, t.workload == workload) for factor, workload in comparisons])
        query = query.where(c.trial.in_(sa.select(t.order).where(t.experiment == experiment, comparison)))
    intern, shared_counts = sys.intern, dict[int, int]()  # many rows share few values
    with connected(store) as connection:
        streamed = connection.execution_options(yield_per=ROWS_PER_FETCH)
        for trial, phase, metric, unit, source, n, mean, low, high, total in streamed.execute(query):
            by_trial[trial][intern(metric)] = Measurement(
                phase=intern(phase),
                metric=intern(metric),
                unit=intern(unit),
                source=intern(source),
                n=shared_counts.setdefault(n, n),
                mean=mean,
                low=low,
                high=high,
                total=total,
            )
    return dict(by_trial)


def series(store: Engine, experiment: str, metric: str, orders: Sequence[int]) -> dict[int, Measurement]:
    """Return one metric of some trials by trial order, with points and histogram."""
    return dict(each_series(store, experiment, metric, orders))


def each_series(
    store: Engine, experiment: str, metric: str, orders: Sequence[int]
) -> Iterator[tuple[int, Measurement]]:
    """Yield what `series` returns, with a bounded number in memory.

    The throughput while the load settled has no points, and is not in the place of that of the measured time.
    """
    table = schema.measurement
    query = sa.select(*_SUMMARY_COLUMNS, table.c.points, table.c.histogram).where(
        table.c.experiment == experiment, table.c.metric == metric, table.c.phase != _SETTLE
    )
    selected = set(orders)
    if not selected:
        return
    with connected(store) as connection:
        for row in (
            connection.execution_options(yield_per=ROWS_PER_FETCH).execute(query.order_by(table.c.trial)).mappings()
        ):
            if row["trial"] in selected:
                fields = dict(row)
                fields |= {"points": _points(fields["points"]), "histogram": fields["histogram"] or b""}
                trial = fields.pop("trial")
                yield trial, Measurement(**fields)


def histograms(store: Engine, experiment: str, metric: str, orders: Sequence[int]) -> dict[int, bytes]:
    """Return the encoded histograms of one metric by trial order."""
    table = schema.measurement
    query = sa.select(table.c.trial, table.c.histogram).where(
        table.c.experiment == experiment, table.c.metric == metric, table.c.histogram.is_not(None)
    )
    selected = set(orders)
    with connected(store) as connection:
        return {trial: histogram for trial, histogram in connection.execute(query) if trial in selected}


def settling_rates(store: Engine, experiment: str) -> dict[int, float]:
    """Return the throughput while the load settles, by trial order."""
    c = schema.measurement.c
    query = sa.select(c.trial, c.mean).where(
        c.experiment == experiment, c.phase == _SETTLE, c.metric == "throughput_per_s"
    )
    with connected(store) as connection:
        return {row.trial: row.mean for row in connection.execute(query)}


def each_measurement(
    store: Engine, experiment: str, *, only_time_series: bool = False
) -> Iterator[tuple[int, Measurement]]:
    """Yield every measurement with its trial order, in that order, without histograms and with bounded memory.

    With `only_time_series`: only measurements that have points, with their points; otherwise without points.
    """
    table = schema.measurement
    columns = [*_SUMMARY_COLUMNS, table.c.points] if only_time_series else _SUMMARY_COLUMNS
    query = sa.select(*columns).where(table.c.experiment == experiment)
    if only_time_series:
        query = query.where(table.c.points.is_not(None))
    order = (table.c.trial, table.c.phase, table.c.metric, table.c.source)
    with connected(store) as connection:
        rows = connection.execution_options(yield_per=ROWS_PER_FETCH).execute(query.order_by(*order))
        for row in rows.mappings():
            fields = dict(row)
            trial = fields.pop("trial")
            yield trial, Measurement(**fields | {"points": _points(fields.get("points"))})


def _points(blob: bytes | None) -> tuple[float, ...]:
    return tuple(array("d", zlib.decompress(blob))) if blob else ()
