"""What findings say: names of metrics, figures as a person reads them, mistakes that a ratio tells of."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from paribus.findings import Breach
from paribus.i18n import N_, gettext
from paribus.plausibility.quantity import TOLD_AGAIN, StatedCell

_FEW = 4
_SPOKEN = {
    "queries_per_s": N_("QPS"),
    "bytes_per_s": N_("throughput"),
    "reads_per_s": N_("reads per second"),
    "writes_per_s": N_("writes per second"),
    "read_bytes_per_s": N_("read throughput"),
    "written_bytes_per_s": N_("written throughput"),
    "duration_s": N_("time"),
    "operations": N_("number of operations"),
    "queries": N_("number of queries"),
    "thread_events_mean": N_("operations of a thread"),
    "thread_time_mean_s": N_("time of a thread"),
    "response_min_s": N_("shortest response time"),
    "response_mean_s": N_("mean response time"),
    "response_max_s": N_("longest response time"),
    "response_sum_s": N_("sum of response times"),
    "load": N_("threads"),
    "load_average": N_("load average"),
}


def named(metric: str, cell: StatedCell) -> str:
    """What a reader calls a metric."""
    metric = metric.removesuffix(TOLD_AGAIN)
    if metric == "throughput_per_s":
        if {"queries_per_s", "queries"} & cell.figures.keys():
            return gettext("TPS")
        return gettext("IOPS") if cell.block_bytes or "bytes_per_s" in cell.figures else gettext("rate")
    return gettext(_SPOKEN[metric]) if metric in _SPOKEN else metric.removesuffix("_s").replace("_", " ")


_SCALES = {
    "B/s": (
        (2**30, "GiB/s"),
        (1e9, "GB/s"),
        (2**20, "MiB/s"),
        (1e6, "MB/s"),
        (2**10, "KiB/s"),
        (1e3, "kB/s"),
        (1.0, "B/s"),
    ),
    "s": ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")),
    "1": ((0.01, "%"), (1.0, "")),
}


def said(cell: StatedCell, metric: str, value: float | None = None) -> str:
    """What a cell says of a metric, as finely and in the unit that it says it; or another value written alike."""
    figure = cell.figures.get(metric)
    value = (figure.value if figure else cell.load or 0.0) if value is None else value
    seen = figure.written if figure else None
    if seen is None or seen.exponent or not seen.scale:
        return shown(metric, value)
    units = _SCALES.get("B/s" if metric.endswith("bytes_per_s") else "1" if metric.endswith("_share") else "")
    if units is None and metric.endswith("_s") and not metric.endswith("per_s"):
        units = _SCALES["s"]
    unit = [name for scale, name in units or ((1.0, ""),) if abs(seen.scale / scale - 1) < 1e-6]
    if not unit:
        return shown(metric, value)
    return f"{value / seen.scale:,.{len(seen.decimals)}f} {unit[0]}".strip()


def shown(metric: str, value: float) -> str:
    """A figure in a unit that a person reads: `1,200`, `378.5 MiB/s`, `17.44 ms`, `65 %`."""
    if metric.endswith("bytes_per_s"):
        return f"{_digits(value / 2**20)} MiB/s"
    if metric.endswith("_share") or metric == "device_utilisation":
        return f"{value * 100:.4g} %"
    if metric.endswith("_s") and not metric.endswith("per_s"):
        return f"{_digits(value)} s" if abs(value) >= 10 else f"{_digits(value * 1000)} ms"
    return f"{value:.3g}" if metric == "load" else _digits(value)


def _digits(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.5g}"


def together(names: Iterable[str]) -> str:
    """The first of many names, and how many more."""
    names = list(dict.fromkeys(names))
    first, more = gettext("; ").join(names[:3]), len(names) - 3
    return gettext("{first} and {n} more", first=first, n=more) if more > 0 else first


_UNITS = (
    (1.024, "bytes_per_s", N_("as if M were 1,000 Ki or 1,024 k")),
    (2**20 / 1e6, "bytes_per_s", N_("as if MB and MiB were mixed up")),
    (8.0, "bytes_per_s", N_("as if bits and bytes were mixed up")),
    (1024.0, "bytes_per_s", N_("as if a binary prefix were lost")),
    (60.0, "_s", N_("as if minutes and seconds were mixed up")),
    (1000.0, "_s", N_("as if ms and s, or thousands, were mixed up")),
    (10.0, "", N_("as if a digit were lost or added")),
    (100.0, "", N_("as if two digits were lost or added")),
    (1000.0, "", N_("as if three digits were lost or added")),
)
UNIT_SLACK = 0.004


def mistaken_unit(metric: str, stated: float, implied: float, slack: float = UNIT_SLACK) -> str:
    """The mistake with such a metric that the ratio of two figures tells of, within 0.4 %; empty where none does."""
    if stated <= 0 or implied <= 0:
        return ""
    ratio = max(stated, implied) / min(stated, implied)
    kind = "_s" if metric.endswith("_s") and not metric.endswith("per_s") else metric
    known = [words for factor, of, words in _UNITS if abs(ratio / factor - 1) < slack and kind.endswith(of)]
    return gettext(known[0]) if known else ""


def sentence(law: str, words: str, where: str) -> str:
    """`queries per transaction: TPS 1,200 does not fit QPS 18,000 at …; TPS 1,000 would [000-T15, OP 15%]`."""
    return gettext("{law}: {words} [{where}]", law=gettext(law), words=words, where=where)


def alike(found: Sequence[Breach], cells: Sequence[StatedCell]) -> list[Breach]:
    """Breaches of one law in half of a table's cells, four at least, as one: one of the usual kind, and how many."""
    size = Counter(cell.table for cell in cells if cell.table)
    groups: dict[tuple[str, str], list[Breach]] = defaultdict(list)
    for breach in found:
        own = len(breach.cells) == 1 and cells[breach.cells[0]].table
        groups[(breach.law, own) if own else (breach.words, "")].append(breach)
    told: list[Breach] = []
    for (_, name), group in groups.items():
        if name and len(group) >= max(_FEW, size[name] / 2):
            ((usual, _),) = Counter(one.metric for one in group).most_common(1)
            first = next(one for one in group if one.metric == usual)
            message = N_("{words} and likewise in {n} of the table's {all} cells")
            words = gettext(message, words=first.words, n=len(group), all=size[name])
            told.append(replace(first, words=words, cells=tuple(one.cells[0] for one in group)))
        else:
            told += group
    return told
