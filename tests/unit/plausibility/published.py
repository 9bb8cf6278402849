"""Random error-free sets as people publish them, in which tests plant errors."""

import math
import random
from dataclasses import replace

from paribus.plausibility import StatedCell, StatedFigure

LOADS = (8, 16, 32, 64, 128, 256, 512, 1024)
EACH = (6, 16, 18, 19, 20)
BLOCKS = (4096, 8192, 16384, 131072)


def printed(value: float, scale: float = 1.0, decimals: int = 2) -> StatedFigure:
    """A figure as a tool prints it."""
    text = f"{value / scale:.{decimals}f}"
    return StatedFigure(float(text) * scale, text)


def _rate(rng: random.Random, peak: float, half: float, load: float, noise: float) -> float:
    return peak * load / (load + half) * math.exp(rng.gauss(0, noise))


def table(rng: random.Random, name: str = "T01", kind: str = "", factor: str = "knob") -> list[StatedCell]:
    """One table: levels across, threads down; `kind` is oltp or fileio."""
    kind = kind or rng.choice(("oltp", "fileio"))
    loads = LOADS[: rng.randint(5, 8)]
    peak, half, noise = rng.uniform(800, 60_000), rng.uniform(4, 60), rng.uniform(0.003, 0.03)
    queries_each, block, decimals = rng.choice(EACH), rng.choice(BLOCKS), rng.choice((1, 2, 2, 2))
    response_stated, blocks_known = rng.random() < 0.5, rng.random() < 0.5
    cells = []
    for level in range(rng.randint(2, 6)):
        level_peak = peak * math.exp(rng.gauss(0, 0.08)) * (1 + 0.035 * level)
        level_half = half * math.exp(rng.gauss(0, 0.1))
        for load in loads:
            rate = _rate(rng, level_peak, level_half, load, noise)
            figures = {"throughput_per_s": printed(rate, 1, decimals)}
            if kind == "oltp":
                figures["queries_per_s"] = printed(rate * queries_each, 1, decimals)
            else:
                figures["bytes_per_s"] = printed(rate * block, 2**20, decimals)
            if response_stated:
                figures["response_mean_s"] = printed(load / rate * rng.uniform(0.97, 1), 1e-3)
                figures["load_average"] = printed(load * rng.uniform(1, 2), 1, 0)
                figures["iowait_share"] = printed(rng.uniform(0.01, 0.7), 0.01, 1)
            cells.append(
                StatedCell(
                    figures=figures,
                    table=name,
                    workload=kind,
                    levels={factor: str(level)},
                    load=load,
                    closed=response_stated,
                    block_bytes=block if kind == "fileio" and blocks_known else None,
                )
            )
    return cells


def log(rng: random.Random) -> StatedCell:
    """One run as reported by sysbench 1.0."""
    threads, duration = rng.choice(LOADS[:6]), rng.choice((10, 60, 180, 300, 3600)) + rng.uniform(0, 0.1)
    mean = rng.uniform(0.3e-3, 40e-3)
    sigma = rng.uniform(0.2, 1.2)  # of response times, log-normal
    count = int(threads * duration / mean * rng.uniform(0.97, 1.0))
    middle = mean / math.exp(sigma**2 / 2)
    smallest, p95 = middle * math.exp(-3 * sigma), middle * math.exp(1.645 * sigma)
    largest = middle * math.exp(rng.uniform(4, 6) * sigma)
    each = rng.choice(EACH)
    late = rng.randint(0, threads)  # still under way when rates are worked out
    read, other = count * (each - 6), count * 2
    write = count * each - read - other
    figures = {
        "throughput_per_s": printed((count - late) / duration),
        "operations": StatedFigure(count, str(count)),
        "queries": StatedFigure(count * each, str(count * each)),
        "queries_read": StatedFigure(read, str(read)),
        "queries_write": StatedFigure(write, str(write)),
        "queries_other": StatedFigure(other, str(other)),
        "queries_per_s": printed(count * each / duration),
        "duration_s": printed(duration, 1, 4),
        "response_min_s": printed(smallest, 1e-3),
        "response_mean_s": printed(mean, 1e-3),
        "response_p95_s": printed(p95 * rng.uniform(0.99, 1.01), 1e-3),
        "response_max_s": printed(max(largest, p95 * 1.1), 1e-3),
        "response_sum_s": printed(mean * count * rng.uniform(0.9999, 1.0001), 1e-3),
    }
    return StatedCell(
        figures=figures, source="run.log", line=1, workload="oltp", load=threads, closed=True, queries_each=each
    )


def normalised(rng: random.Random) -> list[StatedCell]:
    """Ratios to the best level, as some tables are published."""
    cells = [cell for cell in table(rng, kind="oltp") if cell.load]
    best = {
        load: max(c.figures["throughput_per_s"].value for c in cells if c.load == load)
        for load in LOADS
        if any(c.load == load for c in cells)
    }
    return [
        replace(
            cell, figures={"normalised": printed(cell.figures["throughput_per_s"].value / best[cell.load or 0], 1, 3)}
        )
        for cell in cells
    ]


def with_figure(cell: StatedCell, metric: str, figure: StatedFigure | None) -> StatedCell:
    """The cell with another figure, or without it."""
    figures = {name: old for name, old in cell.figures.items() if name != metric}
    return replace(cell, figures=figures | ({metric: figure} if figure else {}))


def scaled(cell: StatedCell, metric: str, factor: float) -> StatedCell:
    """The cell with a figure scaled by a factor, at the same precision."""
    old = cell.figures[metric]
    decimals = len(old.stated.partition(".")[2])
    unit = old.value / float(old.stated) if float(old.stated) else 1.0
    return with_figure(cell, metric, printed(old.value * factor, unit, decimals))
