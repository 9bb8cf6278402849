"""Cases of the comparison, their figures, and the bars that our engine has set itself.

In: the seconds of a run. Out: cases. Called by `bench/file_engine/run.py`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from contestants import (
    BATCHED,
    BLOCK_BYTES,
    REGISTERED,
    Data,
    Figures,
    Load,
    fio,
    paribus,
    recording,
    sampler,
    sysbench,
)

Contestant = Callable[[Data, Load], Figures]
DEPTHS = (1, 8, 32, 128)
THREADS = (1, 8)
MANY = 1024


@dataclass(frozen=True)
class Spread:
    """A ratio of ours to a rival's: the median over the repetitions, and between which it lay."""

    median: float
    low: float
    high: float


@dataclass(frozen=True)
class Figure:
    """A number of a run, as it is shown; `better` is `min` or `max`, or None where there is no better."""

    name: str
    of: Callable[[Figures], float]
    form: str
    better: Callable[[float, float], float]


@dataclass(frozen=True)
class Bar:
    """Condition on a figure: on our median, and on the ratios to each rival."""

    figure: Figure
    text: str
    holds: Callable[[float, Mapping[str, Spread]], bool]


@dataclass(frozen=True)
class Case:
    """One load and who carries it out; of a rival's several ways the better one counts, figure by figure."""

    name: str
    load: Load
    contestants: Mapping[str, Mapping[str, Contestant]]
    figures: tuple[Figure, ...]
    bars: tuple[Bar, ...]


IOPS = Figure("IOPS", lambda f: f.iops, ",.0f", max)
CPU = Figure("CPU per I/O, µs", lambda f: f.cpu_s_per_io * 1e6, ".2f", min)
MEAN = Figure("mean response, µs", lambda f: f.mean_s * 1e6, ",.1f", min)
P95 = Figure("p95 response, µs", lambda f: f.p95_s * 1e6, ",.1f", min)
MEMORY = Figure(
    "peak RSS beyond buffers, MB", lambda f: (f.usage.peak_rss_bytes - MANY * BLOCK_BYTES) / 1e6, ".1f", min
)
PER_CORE = Figure("M operations per CPU second", lambda f: 1 / f.cpu_s_per_io / 1e6, ".2f", max)
NANOSECONDS = Figure("CPU per operation, ns", lambda f: f.cpu_s_per_io * 1e9, ".1f", min)

NO_SLOWER = Bar(
    IOPS,
    ">= 1.00 within noise, >= 0.95 of each",
    lambda _, to: all(ratio.median >= 0.95 and ratio.high >= 1.0 for ratio in to.values()),
)


def _cheaper(rival: str, share: float) -> Bar:
    return Bar(CPU, f"<= {share:.2f} of {rival}", lambda _, to: to[rival].median <= share)


def all_cases(seconds: float, batched: bool) -> list[Case]:
    """Every case; with `batched`, fio may also submit and reap in batches, which it does not by itself."""
    own = {"paribus": {"": paribus}}
    threads = own | {"fio": {"psync": fio}, "sysbench": {"sync": sysbench}}
    rings = {"plain": fio, "registered": partial(fio, extra=REGISTERED)}
    if batched:
        rings["batched"] = partial(fio, extra=BATCHED)
    ring = own | {"fio": rings}
    usual = (IOPS, CPU, MEAN, P95)

    def deep(mode: str, depth: int) -> Case:
        bars = (NO_SLOWER, _cheaper("fio", 0.80)) if depth == 32 else (NO_SLOWER,)
        return Case(f"io_uring-{mode}-{depth}", Load(mode, "io_uring", depth, seconds), ring, usual, bars)

    def wide(count: int) -> Case:
        bars = (NO_SLOWER, _cheaper("fio", 0.85), _cheaper("sysbench", 1.0)) if count == 8 else (NO_SLOWER,)
        return Case(f"sync-rndrd-{count}", Load("rndrd", "sync", count, seconds), threads, usual, bars)

    def large(engine: str, who: Mapping[str, Mapping[str, Contestant]]) -> Case:
        bar = Bar(MEMORY, "< 100 MB", lambda own, _: own < 100)
        return Case(f"memory-{engine}-{MANY}", Load("rndrd", engine, MANY, seconds), who, (MEMORY,), (bar,))

    def in_huge_pages(case: Case) -> Case:
        """The same with buffers in huge pages, which sysbench cannot do: all have the same memory then.

        In ordinary pages a buffer is in as many pieces as chance has it for each process, which this disk feels.
        """
        who = {
            rival: {way: partial(go, huge_pages=True) for way, go in ways.items()}
            for rival, ways in case.contestants.items()
            if rival != "sysbench"
        }
        bars = tuple(bar for bar in case.bars if not bar.text.endswith("sysbench"))
        return replace(case, name=f"{case.name}-huge", contestants=who, bars=bars)

    null = Case(
        "null-rndrd-1",
        Load("rndrd", "null", 1, seconds),
        own | {"fio": {"null": fio}},
        (PER_CORE, NANOSECONDS),
        (Bar(PER_CORE, ">= 10", lambda own, _: own >= 10),),
    )
    one = Figure("recording one response time, ns", lambda f: f.mean_s * 1e9, ".1f", min)
    counting = Case("recording", Load("rndrd", "null", 0, seconds), {"paribus": {"": recording}}, (one,), ())
    share = Figure("CPU at 1 Hz, % of a core", lambda f: f.usage.cpu_s / seconds * 100, ".2f", min)
    watching = Case(
        "sampler",
        Load("rndrd", "null", 0, seconds),  # nothing but its seconds
        {"paribus": {"": sampler}},
        (share,),
        (Bar(share, "< 1", lambda own, _: own < 1),),
    )
    return [
        *(deep("rndrd", depth) for depth in DEPTHS),
        deep("rndwr", 32),
        *(wide(count) for count in THREADS),
        in_huge_pages(deep("rndrd", 32)),
        in_huge_pages(deep("rndrd", 128)),
        in_huge_pages(wide(8)),
        null,
        large("io_uring", ring),
        large("sync", threads),
        counting,
        watching,
    ]
