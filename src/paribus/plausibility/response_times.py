"""Laws of one run's response times; tolerances are added to the rounding of the figures."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise

from paribus.i18n import N_, gettext
from paribus.plausibility.quantity import Range, StatedCell
from paribus.plausibility.violation import Misfit, near, operations, summed
from paribus.plausibility.wording import as_written, format_figure, metric_name
from paribus.units import LoadLevel

LITTLE = N_("Little's law")
SUM = N_("mean x count = sum")
TIME = N_("time available")
ORDER = N_("order of response times")

_MORE, _LESS, _CLIENT_S = 0.05, 0.30, 50e-6
_FEWEST, _AGREEING_SHARE = 3, 0.6  # cells of a table that must obey a law before it is applied to the others
_SUM_SLACK = 0.01
_BUCKET = 0.025


def little(cell: StatedCell) -> Iterator[Misfit]:
    """Threads = rate x mean response time in a closed loop (Little 1961).

    Tolerance: 5 % more plus the operations cut at the ends of the run; 30 % less, or 50 µs per operation, since a
    client works between two operations. With think times, less is no violation.
    """
    mean, time, operations_range = (cell.range(name) for name in ("response_mean_s", "duration_s", "operations"))
    alternatives, threads = operations(cell), cell.load
    rates = [total for names in alternatives if (total := summed(cell, names)) and total.high > 0]
    if operations_range and time and time.low > 0:
        rates.append(operations_range / time)
    if not cell.closed or not threads or mean is None or not rates:
        return
    cut_share = _cut(cell)
    if any(
        (rate_range * mean).low <= threads * (1 + _MORE + cut_share)
        and (
            cell.think
            or (rate_range * mean).high >= threads * (1 - _LESS - cut_share)
            or threads / rate_range.high - mean.high <= _CLIENT_S
        )
        for rate_range in rates
    ):
        return
    rate, stated = rates[0], Range(threads, threads)
    implied = {"load": rate * mean, "response_mean_s": stated / rate}
    if alternatives and len(alternatives[0]) == 1:
        implied[alternatives[0][0]] = stated / mean
    message = gettext(
        N_("{rate} per second of {mean} each keep {seen:.3g} threads busy, but {threads:g} are stated"),
        rate=format_figure("throughput_per_s", rate.middle),
        mean=as_written(cell, "response_mean_s"),
        seen=(rate * mean).middle,
        threads=threads,
    )
    yield Misfit(law=LITTLE, message=message, implied=implied, tolerance=_LESS)


def closed_loops(cells: Sequence[StatedCell]) -> list[StatedCell]:
    """Mark the loops of a table as closed if most of its cells obey Little's law."""
    busy: dict[str, list[float]] = defaultdict(list)
    for cell in cells:
        mean, rates = cell.value("response_mean_s"), [summed(cell, names) for names in operations(cell)[:1]]
        if cell.table and cell.load and mean and rates and rates[0]:
            busy[cell.table].append(rates[0].middle * mean / cell.load)
    tight = {name: sum(1 - _LESS <= ratio <= 1 + _MORE for ratio in ratios) for name, ratios in busy.items()}
    closed = {name for name, ratios in busy.items() if tight[name] >= max(_FEWEST, _AGREEING_SHARE * len(ratios))}
    return [replace(cell, closed=True, think=False) if cell.table in closed else cell for cell in cells]


def shortest(cell: StatedCell) -> Iterator[Misfit]:
    """Rate x minimum response time ≤ threads in a closed loop, plus 5 % and cut operations: none ends sooner.

    Only where no mean is stated, which Little's law holds against the rate. Think time only lowers the rate.
    """
    minimum, threads = cell.range("response_min_s"), cell.load
    if not cell.closed or not threads or minimum is None or cell.range("response_mean_s") is not None:
        return
    rates = [total for names in operations(cell) if (total := summed(cell, names)) and total.high > 0]
    if not rates or any((rate * minimum).low <= threads * (1 + _MORE + _cut(cell)) for rate in rates):
        return
    rate = rates[0]
    message = gettext(
        N_("operations of {minimum} or longer make at most {most} per second in {load}, but {rate} is stated"),
        load=LoadLevel(round(threads)),
        most=format_figure("throughput_per_s", threads / minimum.middle),
        minimum=as_written(cell, "response_min_s"),
        rate=format_figure("throughput_per_s", rate.middle),
    )
    yield Misfit(law=LITTLE, message=message, tolerance=_MORE)


def total_time(cell: StatedCell) -> Iterator[Misfit]:
    """Mean response time x operations = sum of response times, within 1 %. By definition."""
    names = ("response_mean_s", "operations", "response_sum_s")
    mean, count, total = (cell.range(name) for name in names)
    if mean is None or count is None or total is None or near(mean * count, total, _SUM_SLACK):
        return
    m, n, s = (cell.figures[name].value for name in names)
    message = gettext(
        N_("{mean} on average over {count:,.0f} operations gives {product:,.6g} s, but {total:,.6g} s is stated"),
        mean=as_written(cell, "response_mean_s"),
        count=n,
        product=m * n,
        total=s,
    )
    implied = {"response_sum_s": mean * count, "response_mean_s": total / count, "operations": total / mean}
    yield Misfit(law=SUM, message=message, implied=implied, tolerance=_SUM_SLACK)


def time_available(cell: StatedCell) -> Iterator[Misfit]:
    """In a closed loop the sum of response times is at most threads x time, plus 5 % and cut operations."""
    total, time, threads = cell.range("response_sum_s"), cell.range("duration_s"), cell.load
    if not cell.closed or not threads or total is None or time is None or time.low <= 0:
        return
    if total.low <= threads * time.high * (1 + _MORE + _cut(cell)):
        return
    s, d = cell.figures["response_sum_s"].value, cell.figures["duration_s"].value
    message = gettext(
        N_("operations took {total:,.6g} s in total, but {threads:g} threads have only {all:,.6g} s in {time:,.6g} s"),
        total=s,
        threads=threads,
        all=threads * d,
        time=d,
    )
    implied = {"response_sum_s": time.times(threads), "duration_s": total.times(1 / threads), "load": total / time}
    yield Misfit(law=TIME, message=message, implied=implied, tolerance=_MORE)


def order(cell: StatedCell) -> Iterator[Misfit]:
    """Minimum ≤ percentiles in order ≤ maximum, and a mean that is compatible with them.

    Tolerance 2.5 %, since tools read percentiles from buckets. The mean may exceed the 95th percentile, but not 95 % of
    it plus 5 % of the maximum; likewise for each known percentile.
    """
    steps = [(share, name) for name in cell.figures if (share := _quantile(name)) is not None]
    quantiles = [(share, name, cell.figures[name].range(name)) for share, name in sorted(steps) if cell.value(name)]
    for (_, lower, low), (_, upper, high) in pairwise(quantiles):
        if low.low > high.high * (1 + _BUCKET):
            message = gettext(
                N_("{one} {low} is more than {other} {high}"),
                one=metric_name(lower, cell),
                low=as_written(cell, lower),
                other=metric_name(upper, cell),
                high=as_written(cell, upper),
            )
            yield Misfit(law=ORDER, message=message, tolerance=_BUCKET)
    mean = cell.range("response_mean_s")
    if mean is None or not quantiles:
        return
    ends = [*(share for share, _, _ in quantiles[1:]), 1.0]
    least = sum((end - share) * time.low for (share, _, time), end in zip(quantiles, ends, strict=True))
    most = float("inf")
    if quantiles[-1][0] == 1.0:
        starts = [0.0, *(share for share, _, _ in quantiles[:-1])]
        most = sum((share - start) * time.high for (share, _, time), start in zip(quantiles, starts, strict=True))
    if not least * (1 - _BUCKET) <= mean.high or not mean.low <= most * (1 + _BUCKET):
        message = N_("the mean {mean} contradicts the shortest and longest times and the percentiles")
        yield Misfit(law=ORDER, message=gettext(message, mean=as_written(cell, "response_mean_s")), tolerance=_BUCKET)


def _cut(cell: StatedCell) -> float:
    """Return the share of a thread's time that operations cut at the ends of the run may take."""
    longest, time = cell.range("response_max_s"), cell.range("duration_s")
    return longest.high / time.low if longest and time and time.low > 0 else 0.0


@cache
def _quantile(metric: str) -> float | None:
    """Return the quantile of a metric: 0.999 for `response_p999_s`; None for other metrics."""
    if metric in ("response_min_s", "response_max_s"):
        return float(metric == "response_max_s")
    digits = metric.removeprefix("response_p").removesuffix("_s")
    if not metric.startswith("response_p") or not digits.isdigit():
        return None
    return 1.0 if digits == "100" else int(digits) / 10.0 ** max(len(digits), 2)
