"""Synthetic tables whose measurements obey every law, in the layouts of published tables."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

LOADS = (8, 16, 32, 64, 128, 256)
Number = Callable[[str], str]
Rows = list[list[str]]

HEADS: Mapping[str, tuple[str, str]] = {  # what a measure is called, and its unit
    "tps": ("TPS", ""),
    "qps": ("QPS", ""),
    "iops": ("IOPS", ""),
    "throughput": ("throughput", "MiB/s"),
    "reads": ("reads/s", ""),
    "writes": ("writes/s", ""),
    "latency_min": ("min latency", "ms"),
    "latency_avg": ("avg latency", "ms"),
    "latency_p95": ("95% latency", "ms"),
    "latency_max": ("max latency", "ms"),
    "latency_sum": ("latency sum", "s"),
    "events": ("events", ""),
    "total_time": ("total time", "s"),
    "queries_read": ("queries read", ""),
    "queries_write": ("queries write", ""),
    "queries_other": ("queries other", ""),
    "queries_total": ("queries total", ""),
    "normalised_throughput": ("normalised throughput", ""),
}
_LONG_UNITS = {"events": "count", "normalised_throughput": "ratio"}


@dataclass
class Study:
    """Contents of a table: measures by level and load, written with a decimal point and no thousands separator."""

    factor: str
    workload: str
    levels: Sequence[str]
    loads: Sequence[int]
    cells: dict[tuple[str, int], dict[str, str]]

    @property
    def title(self) -> str:
        return f"{self.factor} under {self.workload}"

    @property
    def measures(self) -> list[str]:
        return list(next(iter(self.cells.values())))

    def get(self, level: str, load: int, measure: str, number: Number, absent: str = "") -> str:
        text = self.cells[level, load][measure]
        return number(text) if text else absent


def oltp(rng: random.Random) -> Study:
    """Transactions: rates, queries and response times in a closed loop."""
    cells, base = {}, rng.uniform(300, 900)
    for n, level in enumerate(("noop", "deadline", "cfq")):
        for load in LOADS:
            tps = base * (1 - 0.07 * n) * load / (1 + load / 40) / (1 + (load / 600) ** 2) * rng.uniform(0.985, 1.015)
            mean = load / tps * 1000 * rng.uniform(0.985, 0.999)
            parts = {"tps": tps, "qps": round(tps, 2) * 20 * rng.uniform(1, 1.0002), "latency_avg": mean}
            parts |= {"latency_p95": mean * 1.6, "latency_max": mean * 14, "latency_min": mean * 0.2}
            cells[level, load] = {name: f"{value:.2f}" for name, value in parts.items()}
    return Study("IO scheduler", "sysbench OLTP", ("noop", "deadline", "cfq"), LOADS, cells)


def fileio(rng: random.Random) -> Study:
    """Operations of 16 KiB: rates, throughput, reads and writes."""
    cells, base = {}, rng.uniform(4000, 6000)
    for n, level in enumerate(("WriteBack", "WriteThrough")):
        for load in LOADS:
            iops = round(base * (1 - 0.3 * n) * load / (1 + load / 12) * rng.uniform(0.985, 1.015), 2)
            reads = round(iops * 0.6, 2)
            parts = {"throughput": iops / 64, "iops": iops, "reads": reads, "writes": iops - reads}
            parts |= {"latency_avg": load / iops * 1000 * rng.uniform(0.985, 0.999)}
            cells[level, load] = {name: f"{value:.2f}" for name, value in parts.items()}
    workload = "sysbench fileio rndrw, 16 KiB blocks"
    return Study("RAID write policy", workload, ("WriteBack", "WriteThrough"), LOADS, cells)


def ratios(rng: random.Random) -> Study:
    """Ratios to the best."""
    levels = {"combo 1": 0.12, "combo 2": 0.7, "combo 10": 1.0}
    cells = {
        (level, load): {"normalised_throughput": f"{of if of == 1 else of * rng.uniform(0.95, 1.05):.3f}"}
        for level, of in levels.items()
        for load in LOADS
    }
    return Study("storage", "tpcc-mysql", list(levels), LOADS, cells)


def reports(rng: random.Random) -> Study:
    """All metrics of a sysbench report, at one load."""
    cells = {}
    for level in ("O_DIRECT", "fsync", "O_DSYNC"):
        events, time = rng.randint(300_000, 500_000), round(rng.uniform(299.9, 300.2), 4)
        mean = 24 * time / events * 1000 * 0.998
        counts = {"queries_read": events * 14, "queries_write": events * 4, "queries_other": events * 2}
        whole = counts | {"queries_total": events * 20, "events": events}
        parts = {"tps": events / time, "qps": events * 20 / time, "latency_sum": mean * events / 1000}
        parts |= {"latency_p95": mean * 1.7, "latency_min": mean * 0.2, "latency_max": mean * 20}
        cells[level, 24] = {name: str(value) for name, value in whole.items()}
        cells[level, 24] |= {"total_time": f"{time:.4f}", "latency_avg": f"{mean:.3f}"}
        cells[level, 24] |= {name: f"{value:.2f}" for name, value in parts.items()}
    return Study("innodb_flush_method", "sysbench oltp_read_write", ("O_DIRECT", "fsync", "O_DSYNC"), (24,), cells)


def plain(number: str) -> str:
    return number


def english(number: str) -> str:
    whole, point, fraction = number.partition(".")
    return f"{int(whole):,}{point}{fraction}"


def german(number: str) -> str:
    return english(number).translate({ord(","): ".", ord("."): ","})


def spaced(number: str) -> str:
    return english(number).replace(",", " ")


def french(number: str) -> str:
    return english(number).replace(",", "\u202f").replace(".", ",")


def decimal_comma(number: str) -> str:
    return number.replace(".", ",")


def head(measure: str, brackets: str = "()") -> str:
    name, unit = HEADS[measure]
    return f"{name} {brackets[0]}{unit}{brackets[1]}" if unit else name


def markdown(rows: Rows) -> str:
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([lines[0], "|" + "---:|" * len(rows[0]), *lines[1:]]) + "\n"


def separated(rows: Rows, mark: str = ",") -> str:
    return "".join(mark.join(f'"{cell}"' if mark in cell else cell for cell in row) + "\n" for row in rows)


def long(study: Study, mark: str = ",", number: Number = plain, name: str = "T1") -> str:
    rows = [["table", "factor", "level", "workload", "threads", "sample", "metric", "unit", "value"]]
    for (level, load), cell in study.cells.items():
        for measure, text in cell.items():
            kind = "count" if measure.startswith("queries_") else "1/s"
            unit = HEADS[measure][1] or _LONG_UNITS.get(measure, kind)
            value = number(text) if text else ""
            rows.append([name, study.factor, level, study.workload, str(load), "", measure, unit, value])
    return separated(rows, mark)


def _wide(study: Study, measure: str, number: Number) -> Rows:
    down = [
        [str(load), *(study.get(level, load, measure, number, "-") for level in study.levels)] for load in study.loads
    ]
    return [["threads", *study.levels], *down]


def wide(study: Study, number: Number = english) -> str:
    tables = (f"### {head(measure)}\n\n{markdown(_wide(study, measure, number))}\n" for measure in study.measures)
    return f"# {study.title}\n\n" + "".join(tables)


def blanks(study: Study, number: Number = plain) -> str:
    tables = []
    for measure in study.measures:
        rows = _wide(study, measure, number)
        widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
        lines = ("   ".join(cell.rjust(wide) for cell, wide in zip(row, widths, strict=True)) for row in rows)
        tables.append(head(measure) + "\n" + "\n".join(lines) + "\n\n")
    return f"{study.title}\n\n" + "".join(tables)


def transposed(study: Study, number: Number = spaced) -> str:
    tables = []
    for measure in study.measures:
        down = [[level, *(study.get(level, n, measure, number, "–") for n in study.loads)] for level in study.levels]
        tables.append(f"**{head(measure)}**\n\n{markdown([[study.factor, *map(str, study.loads)], *down])}\n")
    return f"# {study.title}\n\n" + "".join(tables)


def records(study: Study, number: Number, brackets: str = "()", absent: str = "n/a") -> Rows:
    heads = [study.factor, "threads", *(head(measure, brackets) for measure in study.measures)]
    return [heads] + [
        [level, str(load), *(study.get(level, load, measure, number, absent) for measure in study.measures)]
        for level, load in study.cells
    ]


def box(study: Study, number: Number = plain) -> str:
    rows = records(study, number)
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    bar = "+" + "+".join("-" * (wide + 2) for wide in widths) + "+"
    lines = ["| " + " | ".join(cell.ljust(wide) for cell, wide in zip(row, widths, strict=True)) + " |" for row in rows]
    return "\n".join([study.title, bar, lines[0], bar.replace("-", "="), *lines[1:], bar]) + "\n* one run each\n"


def in_cells(study: Study, number: Number = english) -> str:
    rows = records(study, number, absent="")
    for row in rows[1:]:
        row[1] += " threads"
        row[2:] = [f"{cell} {HEADS[measure][1]}".strip() for cell, measure in zip(row[2:], study.measures, strict=True)]
    rows[0] = [study.factor, "threads", *(HEADS[measure][0] for measure in study.measures)]
    return f"## {study.title}\n\n{markdown(rows)}"


def two_heads(study: Study, number: Number = plain) -> str:
    above, below = [""], ["threads"]
    for level in study.levels:
        above += [level, *[""] * (len(study.measures) - 1)]
        below += [head(measure) for measure in study.measures]
    down = [
        [str(n), *(study.get(level, n, measure, number) for level in study.levels for measure in study.measures)]
        for n in study.loads
    ]
    return separated([[study.title, *[""] * (len(below) - 1)], above, below, *down])


def measures_over_levels(study: Study, number: Number = english) -> str:
    above, below = [""], ["threads"]
    for measure in study.measures:
        above += [head(measure), *[""] * (len(study.levels) - 1)]
        below += study.levels
    down = [
        [str(n), *(study.get(level, n, measure, number) for measure in study.measures for level in study.levels)]
        for n in study.loads
    ]
    return f"{study.title}\n\n" + separated([above, below, *down], "\t")


def levels_in_heads(study: Study, number: Number = english) -> str:
    pairs = [(level, measure) for measure in study.measures for level in study.levels]
    rows = [["Threads", *(f"{level} {head(measure)}" for level, measure in pairs)]]
    rows += [[str(n), *(study.get(level, n, measure, number) for level, measure in pairs)] for n in study.loads]
    return f"## {study.title}\n\n{markdown(rows)}"


def measures_down(study: Study, number: Number = english) -> str:
    tables = []
    for n in study.loads:
        down = [
            [head(measure), *(study.get(level, n, measure, number) for level in study.levels)]
            for measure in study.measures
        ]
        tables.append(f"### {n} threads\n\n{markdown([['metric', *study.levels], *down])}\n")
    return f"## {study.title}\n\n" + "".join(tables)


SHAPES: Mapping[str, Callable[[Study], str | bytes]] = {
    "long": long,
    "long, tabs": lambda study: long(study, "\t", english),
    "long, semicolons": lambda study: long(study, ";", german),
    "Markdown": wide,
    "Markdown, spaces": lambda study: wide(study, spaced),
    "records, Markdown": lambda study: f"## {study.title}\n\n{markdown(records(study, english))}",
    "records, tabs, byte order mark": lambda s: "\ufeff" + separated(records(s, english), "\t").replace("\n", "\r\n"),
    "records, semicolons": lambda study: separated(records(study, german, "[]"), ";").replace("\n", "\r\n"),
    "records, Windows-1252": lambda s: ("Größe µ\n" + separated(records(s, decimal_comma), ";")).encode("cp1252"),
    "records, narrow spaces": lambda study: separated(records(study, french), "\t"),
    "two heads": two_heads,
    "measures over levels": measures_over_levels,
    "transposed": transposed,
    "blanks": blanks,
    "box": box,
    "units in cells": in_cells,
    "levels in heads": levels_in_heads,
    "measures down": measures_down,
}
