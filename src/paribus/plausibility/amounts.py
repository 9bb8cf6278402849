"""Laws of one run's amounts: rates, counts and bytes. Tolerances stand beside what the rounding of figures explains."""

from collections.abc import Iterator

from paribus.i18n import N_, gettext
from paribus.plausibility.quantity import COUNTS, TOLD_AGAIN, Range, StatedCell
from paribus.plausibility.violation import Misfit, near, operations, summed, value_of
from paribus.plausibility.wording import named, said, shown

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
    """IOPS x block size = throughput, within 0.1 %: of reads, of writes and of both. By definition.

    2.4 % more where throughput is a round number, whose M may be 1,000 Ki as well.
    """
    block = cell.block_bytes
    if not block:
        return
    ways = operations(cell)
    for rates, moved in [(("reads_per_s",), "read_bytes_per_s"), (("writes_per_s",), "written_bytes_per_s")] + [
        (way, "bytes_per_s") for way in ways[:1]
    ]:
        right, ranges = cell.range(moved), [summed(cell, way) for way in (ways if moved == "bytes_per_s" else [rates])]
        if right is None or ranges[0] is None:
            continue
        seen = cell.figures[moved].written
        slack = BLOCK_SLACK + (_ROUND if seen and seen.zeros else 0.0)
        cut = Range(right.low, right.high + cell.figures[moved].half(moved))  # some cut digits off
        if any(one is not None and near(one.times(block), cut, slack) for one in ranges):
            continue
        implied = {moved: ranges[0].times(block)} | ({rates[0]: right.times(1 / block)} if len(rates) == 1 else {})
        yield Misfit(law=BLOCK, words=unlike_block(cell, rates, moved, block), implied=implied, tolerance=slack)


def unlike_block(cell: StatedCell, rates: tuple[str, ...], moved: str, block: float) -> str:
    """`IOPS 24,226.79 does not fit throughput 361.00 MiB/s at 16 KiB an operation`."""
    name, iops = gettext("IOPS"), shown("throughput_per_s", value_of(cell, rates))
    if len(rates) == 1:
        name, iops = named(rates[0], cell), said(cell, rates[0])
    message = N_("{name} {iops} does not fit {other} {throughput} at {kib:.4g} KiB an operation")
    return gettext(
        message, name=name, iops=iops, other=named(moved, cell), throughput=said(cell, moved), kib=block / 1024
    )


def rate(cell: StatedCell) -> Iterator[Misfit]:
    """Rate = events / time, within 0.2 %, 0.1 s for starting and ending, and the operations under way at the end."""
    time = cell.range("duration_s")
    if time is None or time.low <= 0:
        return
    for metric, count in _COUNTED:
        stated, events = cell.range(metric), cell.range(count)
        if stated is None or events is None:
            continue
        slack = _CLOCKS + _EDGES_S / time.low + (cell.load or 0.0) / max(events.low, 1.0)
        rates, counts = [stated], [events]
        if metric == "throughput_per_s" and (synced := cell.range("fsyncs_per_s")):
            rates = [Range(stated.low, stated.high + synced.high)]  # events may have all of them, or not the last ones
        if metric == "queries_per_s" and (besides := cell.range("queries_other")):  # which sysbench 0.5 tells apart
            counts.append(Range(max(events.low - besides.high, 0.0), max(events.high - besides.low, 0.0)))
        if any(near(one, number / time, slack) for one in rates for number in counts):
            continue
        words = gettext(
            N_("{name} {rate} does not fit {count:,.0f} in {time:,.6g} s"),
            name=named(metric, cell),
            rate=said(cell, metric),
            count=cell.figures[count].value,
            time=cell.figures["duration_s"].value,
        )
        implied = {metric: events / time, count: stated * time, "duration_s": events / stated}
        yield Misfit(law=RATE, words=words, implied=implied, tolerance=slack)


def shared(cell: StatedCell) -> Iterator[Misfit]:
    """What a thread has on average x threads = all: of operations, and of their time within 0.5 %. By definition."""
    if not cell.load:
        return
    for mean, total in (("thread_events_mean", "operations"), ("thread_time_mean_s", "response_sum_s")):
        each, whole = cell.range(mean), cell.range(total)
        if each is None or whole is None or near(each.times(cell.load), whole, _SHARED_SLACK if "time" in mean else 0):
            continue
        words = gettext(
            N_("{each} on average in each of {threads:g} threads gives {product:,.6g}, but {total:,.6g} is stated"),
            each=f"{cell.figures[mean].value:,.6g}",
            threads=cell.load,
            product=cell.figures[mean].value * cell.load,
            total=cell.figures[total].value,
        )
        implied = {total: each.times(cell.load), mean: whole.times(1 / cell.load), "load": whole / each}
        yield Misfit(law=SHARED, words=words, implied=implied, tolerance=_SHARED_SLACK)


def again(cell: StatedCell) -> Iterator[Misfit]:
    """What is counted under two names is one number: transactions and events of a report."""
    for metric in ("operations", "queries"):
        one, other = cell.range(metric), cell.range(f"{metric}{TOLD_AGAIN}")
        if one is not None and other is not None and not one.meets(other):
            words = gettext(
                N_("{name} is {here:,.0f} in one place and {there:,.0f} in another"),
                name=named(metric, cell),
                here=cell.figures[metric].value,
                there=cell.figures[f"{metric}{TOLD_AGAIN}"].value,
            )
            yield Misfit(law=AGAIN, words=words, implied={metric: other, f"{metric}{TOLD_AGAIN}": one})


def queries(cell: StatedCell) -> Iterator[Misfit]:
    """Queries read + written + other = total, exactly, since they are counted; old tools leave the others out."""
    names = ("queries_read", "queries_write", "queries_other")
    yield from _parts(cell, QUERIES, names, "queries", 0.0, names[:2])


def queries_each(cell: StatedCell) -> Iterator[Misfit]:
    """Queries = transactions x queries of each: 0.2 % fewer, and 3 % more, as what is tried again is counted."""
    if not cell.queries_each:
        return
    for of, total in (("throughput_per_s", "queries_per_s"), ("operations", "queries")):
        transactions, many = cell.range(of), cell.range(total)
        if many is None or transactions is None:
            continue
        wanted = transactions.times(cell.queries_each)
        if wanted.low * (1 - EACH_LESS) <= many.high and many.low <= wanted.high * (1 + EACH_MORE):
            continue
        yield Misfit(
            law=EACH,
            words=unlike_each(cell, of, total, cell.queries_each),
            implied={of: many.times(1 / cell.queries_each), total: wanted},
            tolerance=EACH_MORE,
        )


def unlike_each(cell: StatedCell, of: str, total: str, each: float) -> str:
    """`TPS 1,200 does not fit QPS 18,000 at 18 queries a transaction`."""
    message = N_("{one} {n} does not fit {other} {m} at {each:.4g} queries a transaction")
    names = {"one": named(of, cell), "other": named(total, cell)}
    return gettext(message, n=said(cell, of), m=said(cell, total), each=each, **names)


def parts(cell: StatedCell) -> Iterator[Misfit]:
    """Reads + writes = operations each second, fsyncs counted or not, and bytes too, within 0.5 %."""
    also = ("reads_per_s", "writes_per_s", "fsyncs_per_s")
    yield from _parts(cell, PARTS, also[:2], "throughput_per_s", _PARTS_SLACK, also)
    yield from _parts(cell, PARTS, ("read_bytes_per_s", "written_bytes_per_s"), "bytes_per_s", _PARTS_SLACK)


def _parts(
    cell: StatedCell, law: str, names: tuple[str, ...], whole: str, slack: float, otherwise: tuple[str, ...] = ()
) -> Iterator[Misfit]:
    """Whether figures add up; `otherwise` are those that a tool may have added up instead."""
    ways, total = [summed(cell, names), summed(cell, otherwise) if otherwise else None], cell.range(whole)
    if ways[0] is None or total is None or any(one is not None and near(one, total, slack) for one in ways):
        return
    words = gettext(
        N_("{parts} give {sum}, but {total} is stated"),
        parts=" + ".join(said(cell, name) for name in names),
        sum=said(cell, whole, value_of(cell, names)),
        total=said(cell, whole),
    )
    implied = {whole: ways[0]} | {name: _rest(cell, names, name, total) for name in names}
    yield Misfit(law=law, words=words, implied=implied, tolerance=slack)


def _rest(cell: StatedCell, names: tuple[str, ...], name: str, total: Range) -> Range:
    """What is left of a total for one of its parts."""
    others = summed(cell, tuple(one for one in names if one != name))
    return total - (others or Range(0.0, 0.0))


def shares(cell: StatedCell) -> Iterator[Misfit]:
    """No share is more than all, within 2 %: tools print a little more than 100 % at times."""
    for metric, figure in cell.figures.items():
        is_share = metric.endswith("_share") or metric == "device_utilisation"
        if is_share and figure.range(metric).low > 1 + _SHARE_SLACK:
            words = gettext(N_("{name} {value} is more than all"), name=named(metric, cell), value=said(cell, metric))
            yield Misfit(law=SHARES, words=words, tolerance=_SHARE_SLACK)


def signs(cell: StatedCell) -> Iterator[Misfit]:
    """Nothing that is counted or timed is negative, and what was done was done at some rate, in a day at most."""
    for metric, figure in cell.figures.items():
        if figure.value < 0 and (metric in COUNTS or metric.endswith(_NEVER_NEGATIVE)):
            words = gettext(N_("{name} {value} is negative"), name=named(metric, cell), value=said(cell, metric))
            yield Misfit(law=SIGNS, words=words)
    for metric, count in (("throughput_per_s", "operations"), ("queries_per_s", "queries")):
        zero, done = cell.range(metric), cell.value(count)
        if zero is None or done is None or cell.value(metric) != 0 or "duration_s" in cell.figures:
            continue
        if done / _LONGEST_RUN_S > zero.high:
            words = gettext(N_("{name} is 0, but {count:,.0f} were counted"), name=named(metric, cell), count=done)
            yield Misfit(law=SIGNS, words=words)
