"""Laws of one run's amounts: rates, counts and bytes; tolerances are added to the rounding of the figures."""

from collections.abc import Iterator

from paribus.i18n import N_, gettext
from paribus.plausibility.quantity import COUNTS, SECOND_COUNT, Range, StatedCell
from paribus.plausibility.violation import Misfit, near, operations, summed, value_of
from paribus.plausibility.wording import as_written, format_figure, metric_name

BLOCK = N_("IOPS x block size")
RATE = N_("rate = events / time")
QUERIES = N_("read + write + other = total")
EACH = N_("queries per transaction")
PARTS = N_("reads + writes = total")
SHARES = N_("shares")
SIGNS = N_("signs")
SHARED = N_("mean of threads x threads = total")
AGAIN = N_("one count with two values")

BLOCK_SLACK, _ROUND = 0.001, 0.024
_CLOCKS, _EDGES_S = 0.002, 0.1
EACH_LESS, EACH_MORE = 0.002, 0.03
_PARTS_SLACK = 0.005
_SHARE_SLACK = 0.02
_SHARED_SLACK = 0.005
_COUNTED = (
    ("throughput_per_s", "operations"),
    ("queries_per_s", "queries"),
    ("written_bytes_per_s", "bytes_written"),
    ("read_bytes_per_s", "bytes_read"),
)
_LONGEST_RUN_S = 86400.0
_NEVER_NEGATIVE = ("_s", "_share", "normalised", "load_average", "_utilisation")


def block_size(cell: StatedCell) -> Iterator[Misfit]:
    """IOPS x block size = throughput, within 0.1 %: for reads, writes and both. By definition.

    The tolerance is 2.4 % larger if throughput is a round number, whose M may mean 1,000 Ki.
    """
    block = cell.block_bytes
    if not block:
        return
    alternatives = operations(cell)
    for rates, bytes_metric in [(("reads_per_s",), "read_bytes_per_s"), (("writes_per_s",), "written_bytes_per_s")] + [
        (names, "bytes_per_s") for names in alternatives[:1]
    ]:
        stated, ranges = (
            cell.range(bytes_metric),
            [summed(cell, names) for names in (alternatives if bytes_metric == "bytes_per_s" else [rates])],
        )
        if stated is None or ranges[0] is None:
            continue
        written = cell.figures[bytes_metric].written
        slack = BLOCK_SLACK + (_ROUND if written and written.zeros else 0.0)
        allowed = Range(
            stated.low, stated.high + cell.figures[bytes_metric].half(bytes_metric)
        )  # some tools truncate digits
        if any(rate_range is not None and near(rate_range.times(block), allowed, slack) for rate_range in ranges):
            continue
        implied = {bytes_metric: ranges[0].times(block)} | (
            {rates[0]: stated.times(1 / block)} if len(rates) == 1 else {}
        )
        yield Misfit(
            law=BLOCK, message=unlike_block(cell, rates, bytes_metric, block), implied=implied, tolerance=slack
        )


def unlike_block(cell: StatedCell, rates: tuple[str, ...], bytes_metric: str, block: float) -> str:
    """Return the message `IOPS 24,226.79 does not fit throughput 361.00 MiB/s at 16 KiB an operation`."""
    name, iops = gettext("IOPS"), format_figure("throughput_per_s", value_of(cell, rates))
    if len(rates) == 1:
        name, iops = metric_name(rates[0], cell), as_written(cell, rates[0])
    message = N_("{name} {iops} does not fit {other} {throughput} at {kib:.4g} KiB an operation")
    return gettext(
        message,
        name=name,
        iops=iops,
        other=metric_name(bytes_metric, cell),
        throughput=as_written(cell, bytes_metric),
        kib=block / 1024,
    )


def rate(cell: StatedCell) -> Iterator[Misfit]:
    """Rate = events / time, within 0.2 % plus 0.1 s for start and end plus the operations in flight at the end."""
    time = cell.range("duration_s")
    if time is None or time.low <= 0:
        return
    for metric, count in _COUNTED:
        stated, events = cell.range(metric), cell.range(count)
        if stated is None or events is None:
            continue
        slack = _CLOCKS + _EDGES_S / time.low + (cell.load or 0.0) / max(events.low, 1.0)
        rates, counts = [stated], [events]
        if metric == "throughput_per_s" and (fsyncs := cell.range("fsyncs_per_s")):
            rates = [
                Range(stated.low, stated.high + fsyncs.high)
            ]  # events may include all fsyncs, or lack the last ones
        if metric == "queries_per_s" and (
            other_queries := cell.range("queries_other")
        ):  # sysbench 0.5 counts them separately
            counts.append(Range(max(events.low - other_queries.high, 0.0), max(events.high - other_queries.low, 0.0)))
        if any(near(rate_range, count_range / time, slack) for rate_range in rates for count_range in counts):
            continue
        message = gettext(
            N_("{name} {rate} does not fit {count:,.0f} in {time:,.6g} s"),
            name=metric_name(metric, cell),
            rate=as_written(cell, metric),
            count=cell.figures[count].value,
            time=cell.figures["duration_s"].value,
        )
        implied = {metric: events / time, count: stated * time, "duration_s": events / stated}
        yield Misfit(law=RATE, message=message, implied=implied, tolerance=slack)


def thread_totals(cell: StatedCell) -> Iterator[Misfit]:
    """Mean per thread x threads = total: of operations exactly, of their time within 0.5 %. By definition.

    sysbench resets both counts one after the other: after a warm-up, they may differ by an operation of each thread.
    """
    if not cell.load:
        return
    in_flight = cell.load / max(cell.value("operations") or 0.0, 1.0) if cell.was_reset else 0.0
    for mean, total in (("thread_events_mean", "operations"), ("thread_time_mean_s", "response_sum_s")):
        per_thread, total_range = cell.range(mean), cell.range(total)
        if (
            per_thread is None
            or total_range is None
            or near(per_thread.times(cell.load), total_range, (_SHARED_SLACK if "time" in mean else 0) + in_flight)
        ):
            continue
        message = gettext(
            N_("{each} on average in each of {threads:g} threads gives {product:,.6g}, but {total:,.6g} is stated"),
            each=f"{cell.figures[mean].value:,.6g}",
            threads=cell.load,
            product=cell.figures[mean].value * cell.load,
            total=cell.figures[total].value,
        )
        implied = {
            total: per_thread.times(cell.load),
            mean: total_range.times(1 / cell.load),
            "load": total_range / per_thread,
        }
        yield Misfit(law=SHARED, message=message, implied=implied, tolerance=_SHARED_SLACK)


def repeated_counts(cell: StatedCell) -> Iterator[Misfit]:
    """A count reported under two names has one value, such as transactions and events."""
    for metric in ("operations", "queries"):
        first, second = cell.range(metric), cell.range(f"{metric}{SECOND_COUNT}")
        if first is not None and second is not None and not first.meets(second):
            message = gettext(
                N_("{name} is {here:,.0f} in one place and {there:,.0f} in another"),
                name=metric_name(metric, cell),
                here=cell.figures[metric].value,
                there=cell.figures[f"{metric}{SECOND_COUNT}"].value,
            )
            yield Misfit(law=AGAIN, message=message, implied={metric: second, f"{metric}{SECOND_COUNT}": first})


def queries(cell: StatedCell) -> Iterator[Misfit]:
    """Queries read + written + other = total, exactly, since they are counts; old tools omit the others."""
    names = ("queries_read", "queries_write", "queries_other")
    yield from _parts(cell, QUERIES, names, "queries", 0.0, names[:2])


def queries_each(cell: StatedCell) -> Iterator[Misfit]:
    """Queries = transactions x queries per transaction: 0.2 % less, and 3 % more, since retries are counted."""
    if not cell.queries_each:
        return
    for metric, total in (("throughput_per_s", "queries_per_s"), ("operations", "queries")):
        transactions, queries = cell.range(metric), cell.range(total)
        if queries is None or transactions is None:
            continue
        expected = transactions.times(cell.queries_each)
        if expected.low * (1 - EACH_LESS) <= queries.high and queries.low <= expected.high * (1 + EACH_MORE):
            continue
        yield Misfit(
            law=EACH,
            message=unlike_each(cell, metric, total, cell.queries_each),
            implied={metric: queries.times(1 / cell.queries_each), total: expected},
            tolerance=EACH_MORE,
        )


def unlike_each(cell: StatedCell, metric: str, total: str, each: float) -> str:
    """Return the message `TPS 1,200 does not fit QPS 18,000 at 18 queries a transaction`."""
    message = N_("{one} {n} does not fit {other} {m} at {each:.4g} queries a transaction")
    names = {"one": metric_name(metric, cell), "other": metric_name(total, cell)}
    return gettext(message, n=as_written(cell, metric), m=as_written(cell, total), each=each, **names)


def parts(cell: StatedCell) -> Iterator[Misfit]:
    """Reads + writes = operations per second, with or without fsyncs, and likewise bytes, within 0.5 %."""
    with_fsyncs = ("reads_per_s", "writes_per_s", "fsyncs_per_s")
    yield from _parts(cell, PARTS, with_fsyncs[:2], "throughput_per_s", _PARTS_SLACK, with_fsyncs)
    yield from _parts(cell, PARTS, ("read_bytes_per_s", "written_bytes_per_s"), "bytes_per_s", _PARTS_SLACK)


def _parts(
    cell: StatedCell, law: str, names: tuple[str, ...], whole: str, slack: float, alternative: tuple[str, ...] = ()
) -> Iterator[Misfit]:
    """Check that figures add up; `alternative` are the parts that some tools add up instead."""
    sums, total = [summed(cell, names), summed(cell, alternative) if alternative else None], cell.range(whole)
    if (
        sums[0] is None
        or total is None
        or any(candidate is not None and near(candidate, total, slack) for candidate in sums)
    ):
        return
    message = gettext(
        N_("{parts} give {sum}, but {total} is stated"),
        parts=" + ".join(as_written(cell, name) for name in names),
        sum=as_written(cell, whole, value_of(cell, names)),
        total=as_written(cell, whole),
    )
    implied = {whole: sums[0]} | {name: _remainder(cell, names, name, total) for name in names}
    yield Misfit(law=law, message=message, implied=implied, tolerance=slack)


def _remainder(cell: StatedCell, names: tuple[str, ...], name: str, total: Range) -> Range:
    """Return the rest of a total for one of its parts."""
    others = summed(cell, tuple(other_name for other_name in names if other_name != name))
    return total - (others or Range(0.0, 0.0))


def shares(cell: StatedCell) -> Iterator[Misfit]:
    """A share is at most 1, within 2 %, since tools sometimes print slightly more than 100 %."""
    for metric, figure in cell.figures.items():
        is_share = metric.endswith("_share") or metric == "device_utilisation"
        if is_share and figure.range(metric).low > 1 + _SHARE_SLACK:
            message = gettext(
                N_("{name} {value} is more than all"), name=metric_name(metric, cell), value=as_written(cell, metric)
            )
            yield Misfit(law=SHARES, message=message, tolerance=_SHARE_SLACK)


def signs(cell: StatedCell) -> Iterator[Misfit]:
    """Counts and times are not negative, and a positive count implies a positive rate, for runs of up to a day."""
    for metric, figure in cell.figures.items():
        if figure.value < 0 and (metric in COUNTS or metric.endswith(_NEVER_NEGATIVE)):
            message = gettext(
                N_("{name} {value} is negative"), name=metric_name(metric, cell), value=as_written(cell, metric)
            )
            yield Misfit(law=SIGNS, message=message)
    for metric, count in (("throughput_per_s", "operations"), ("queries_per_s", "queries")):
        rate_range, counted = cell.range(metric), cell.value(count)
        if rate_range is None or counted is None or cell.value(metric) != 0 or "duration_s" in cell.figures:
            continue
        if counted / _LONGEST_RUN_S > rate_range.high:
            message = gettext(
                N_("{name} is 0, but {count:,.0f} were counted"), name=metric_name(metric, cell), count=counted
            )
            yield Misfit(law=SIGNS, message=message)
