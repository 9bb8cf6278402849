"""Laws of one run's response times. Tolerances stand beside what the rounding of figures explains."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise

from paribus.i18n import N_, gettext
from paribus.plausibility.quantity import Range, StatedCell
from paribus.plausibility.violation import Misfit, near, operations, summed
from paribus.plausibility.wording import named, said, shown

LITTLE = N_("Little's law")
SUM = N_("mean x count = sum")
TIME = N_("time available")
ORDER = N_("order of response times")

_MORE, _LESS, _CLIENT_S = 0.05, 0.30, 50e-6
_FEWEST, _MOST = 3, 0.6  # of a table's cells that obey a law, before the others are asked to
_SUM_SLACK = 0.01
_BUCKET = 0.025


def little(cell: StatedCell) -> Iterator[Misfit]:
    """Threads = rate x mean response time in a closed loop (Little 1961).

    5 % more, and as much as the operations that the run's ends cut; 30 % less, or 50 µs an operation, since a client
    works between two of them. Where clients think, less is no breach.
    """
    mean, time, counted = (cell.range(name) for name in ("response_mean_s", "duration_s", "operations"))
    ways, threads = operations(cell), cell.load
    rates = [found for way in ways if (found := summed(cell, way)) and found.high > 0]
    if counted and time and time.low > 0:
        rates.append(counted / time)
    if not cell.closed or not threads or mean is None or not rates:
        return
    cut = _cut(cell)
    if any(
        (one * mean).low <= threads * (1 + _MORE + cut)
        and (
            cell.think
            or (one * mean).high >= threads * (1 - _LESS - cut)
            or threads / one.high - mean.high <= _CLIENT_S
        )
        for one in rates
    ):
        return
    rate, stated = rates[0], Range(threads, threads)
    implied = {"load": rate * mean, "response_mean_s": stated / rate}
    if ways and len(ways[0]) == 1:
        implied[ways[0][0]] = stated / mean
    words = gettext(
        N_("{rate} per second of {mean} each keep {seen:.3g} threads busy, but {threads:g} are stated"),
        rate=shown("throughput_per_s", rate.middle),
        mean=said(cell, "response_mean_s"),
        seen=(rate * mean).middle,
        threads=threads,
    )
    yield Misfit(law=LITTLE, words=words, implied=implied, tolerance=_LESS)


def closed_loops(cells: Sequence[StatedCell]) -> list[StatedCell]:
    """The cells with loops told closed of a table that does not say so, where most of its cells obey Little's law."""
    busy: dict[str, list[float]] = defaultdict(list)
    for cell in cells:
        mean, rates = cell.value("response_mean_s"), [summed(cell, way) for way in operations(cell)[:1]]
        if cell.table and cell.load and mean and rates and rates[0]:
            busy[cell.table].append(rates[0].middle * mean / cell.load)
    tight = {name: sum(1 - _LESS <= one <= 1 + _MORE for one in found) for name, found in busy.items()}
    closed = {name for name, found in busy.items() if tight[name] >= max(_FEWEST, _MOST * len(found))}
    return [replace(cell, closed=True, think=False) if cell.table in closed else cell for cell in cells]


def total_time(cell: StatedCell) -> Iterator[Misfit]:
    """Mean response time x operations = the sum of response times, within 1 %. By definition."""
    names = ("response_mean_s", "operations", "response_sum_s")
    mean, count, total = (cell.range(name) for name in names)
    if mean is None or count is None or total is None or near(mean * count, total, _SUM_SLACK):
        return
    m, n, s = (cell.figures[name].value for name in names)
    words = gettext(
        N_("{mean} on average over {count:,.0f} operations gives {product:,.6g} s, but {total:,.6g} s is stated"),
        mean=said(cell, "response_mean_s"),
        count=n,
        product=m * n,
        total=s,
    )
    implied = {"response_sum_s": mean * count, "response_mean_s": total / count, "operations": total / mean}
    yield Misfit(law=SUM, words=words, implied=implied, tolerance=_SUM_SLACK)


def time_available(cell: StatedCell) -> Iterator[Misfit]:
    """The sum of response times is at most threads x time in a closed loop; 5 % more, and what the ends cut."""
    total, time, threads = cell.range("response_sum_s"), cell.range("duration_s"), cell.load
    if not cell.closed or not threads or total is None or time is None or time.low <= 0:
        return
    if total.low <= threads * time.high * (1 + _MORE + _cut(cell)):
        return
    s, d = cell.figures["response_sum_s"].value, cell.figures["duration_s"].value
    words = gettext(
        N_("operations took {total:,.6g} s in total, but {threads:g} threads have only {all:,.6g} s in {time:,.6g} s"),
        total=s,
        threads=threads,
        all=threads * d,
        time=d,
    )
    implied = {"response_sum_s": time.times(threads), "duration_s": total.times(1 / threads), "load": total / time}
    yield Misfit(law=TIME, words=words, implied=implied, tolerance=_MORE)


def order(cell: StatedCell) -> Iterator[Misfit]:
    """Shortest ≤ percentiles in their order ≤ longest, and the mean where these allow it.

    2.5 %, as tools read percentiles off buckets. A mean may lie above the 95th percentile, but not above 95 % of that
    and 5 % of the longest: so it is for each percentile that is known.
    """
    steps = [(share, name) for name in cell.figures if (share := _quantile(name)) is not None]
    known = [(share, name, cell.figures[name].range(name)) for share, name in sorted(steps) if cell.value(name)]
    for (_, lower, low), (_, upper, high) in pairwise(known):
        if low.low > high.high * (1 + _BUCKET):
            words = gettext(
                N_("{one} {low} is more than {other} {high}"),
                one=named(lower, cell),
                low=said(cell, lower),
                other=named(upper, cell),
                high=said(cell, upper),
            )
            yield Misfit(law=ORDER, words=words, tolerance=_BUCKET)
    mean = cell.range("response_mean_s")
    if mean is None or not known:
        return
    ends = [*(share for share, _, _ in known[1:]), 1.0]
    least = sum((end - share) * one.low for (share, _, one), end in zip(known, ends, strict=True))
    most = float("inf")
    if known[-1][0] == 1.0:
        starts = [0.0, *(share for share, _, _ in known[:-1])]
        most = sum((share - start) * one.high for (share, _, one), start in zip(known, starts, strict=True))
    if not least * (1 - _BUCKET) <= mean.high or not mean.low <= most * (1 + _BUCKET):
        message = N_("the mean {mean} contradicts the shortest and longest times and the percentiles")
        yield Misfit(law=ORDER, words=gettext(message, mean=said(cell, "response_mean_s")), tolerance=_BUCKET)


def _cut(cell: StatedCell) -> float:
    """How much of each thread's time operations may have that the ends of a run cut."""
    longest, time = cell.range("response_max_s"), cell.range("duration_s")
    return longest.high / time.low if longest and time and time.low > 0 else 0.0


@cache
def _quantile(metric: str) -> float | None:
    """The share of operations that are as fast: of `response_p999_s` 0.999."""
    if metric in ("response_min_s", "response_max_s"):
        return float(metric == "response_max_s")
    digits = metric.removeprefix("response_p").removesuffix("_s")
    if not metric.startswith("response_p") or not digits.isdigit():
        return None
    return 1.0 if digits == "100" else int(digits) / 10.0 ** max(len(digits), 2)
