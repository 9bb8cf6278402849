"""Wording of findings: metric names, formatted figures, and mistakes that a ratio suggests."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from paribus.findings import Breach
from paribus.i18n import N_, gettext
from paribus.plausibility.quantity import SECOND_COUNT, StatedCell

_FEW = 4
_METRIC_NAMES = {
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


def metric_name(metric: str, cell: StatedCell) -> str:
    """Return a metric's name for readers."""
    metric = metric.removesuffix(SECOND_COUNT)
    if metric == "throughput_per_s":
        if {"queries_per_s", "queries"} & cell.figures.keys():
            return gettext("TPS")
        return gettext("IOPS") if cell.block_bytes or "bytes_per_s" in cell.figures else gettext("rate")
    return gettext(_METRIC_NAMES[metric]) if metric in _METRIC_NAMES else metric.removesuffix("_s").replace("_", " ")


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


def as_written(cell: StatedCell, metric: str, value: float | None = None) -> str:
    """Format a figure with the unit and decimals of the cell, or another value in the same way."""
    figure = cell.figures.get(metric)
    value = (figure.value if figure else cell.load or 0.0) if value is None else value
    written = figure.written if figure else None
    if written is None or written.exponent or not written.scale:
        return format_figure(metric, value)
    units = _SCALES.get("B/s" if metric.endswith("bytes_per_s") else "1" if metric.endswith("_share") else "")
    if units is None and metric.endswith("_s") and not metric.endswith("per_s"):
        units = _SCALES["s"]
    unit = [name for scale, name in units or ((1.0, ""),) if abs(written.scale / scale - 1) < 1e-6]
    if not unit:
        return format_figure(metric, value)
    return f"{value / written.scale:,.{len(written.decimals)}f} {unit[0]}".strip()


def format_figure(metric: str, value: float) -> str:
    """Format a figure in a readable unit: `1,200`, `378.5 MiB/s`, `17.44 ms`, `65 %`."""
    if metric.endswith("bytes_per_s"):
        return f"{_digits(value / 2**20)} MiB/s"
    if metric.endswith("_share") or metric == "device_utilisation":
        return f"{value * 100:.4g} %"
    if metric.endswith("_s") and not metric.endswith("per_s"):
        return f"{_digits(value)} s" if abs(value) >= 10 else f"{_digits(value * 1000)} ms"
    return f"{value:.3g}" if metric == "load" else _digits(value)


def _digits(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.5g}"


def join_names(names: Iterable[str]) -> str:
    """Return the first three names and the number of the others."""
    names = list(dict.fromkeys(names))
    first, remaining = gettext("; ").join(names[:3]), len(names) - 3
    return gettext("{first} and {n} more", first=first, n=remaining) if remaining > 0 else first


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
    """Return the unit mistake that the ratio of two figures suggests, within 0.4 %; empty without one."""
    if stated <= 0 or implied <= 0:
        return ""
    ratio = max(stated, implied) / min(stated, implied)
    kind = "_s" if metric.endswith("_s") and not metric.endswith("per_s") else metric
    descriptions = [
        description
        for factor, suffix, description in _UNITS
        if abs(ratio / factor - 1) < slack and kind.endswith(suffix)
    ]
    return gettext(descriptions[0]) if descriptions else ""


def sentence(law: str, text: str, where: str) -> str:
    """Return `queries per transaction: TPS 1,200 does not fit QPS 18,000 at …; TPS 1,000 would [000-T15, OP 15%]`."""
    return gettext("{law}: {words} [{where}]", law=gettext(law), words=text, where=where)


def merge_similar(breaches: Sequence[Breach], cells: Sequence[StatedCell]) -> list[Breach]:
    """Merge violations of one law in at least half of a table's cells, and four, into one with a count."""
    size = Counter(cell.table for cell in cells if cell.table)
    groups: dict[tuple[str, str], list[Breach]] = defaultdict(list)
    for breach in breaches:
        table = len(breach.cells) == 1 and cells[breach.cells[0]].table
        groups[(breach.law, table) if table else (breach.words, "")].append(breach)
    merged: list[Breach] = []
    for (_, name), group in groups.items():
        if name and len(group) >= max(_FEW, size[name] / 2):
            ((usual, _),) = Counter(breach.metric for breach in group).most_common(1)
            first = next(breach for breach in group if breach.metric == usual)
            message = N_("{words} and likewise in {n} of the table's {all} cells")
            text = gettext(message, words=first.words, n=len(group), all=size[name])
            merged.append(replace(first, words=text, cells=tuple(breach.cells[0] for breach in group)))
        else:
            merged += group
    return merged
