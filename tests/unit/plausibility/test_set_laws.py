"""Laws across the cells of a set, on random sets without errors and with one planted error."""

import random
from collections.abc import Callable
from dataclasses import replace

import pytest
from published import LOADS, log, normalised, printed, scaled, table, with_figure

from paribus.plausibility import Breach, Claimed, StatedCell, StatedFigure, of_set

_SETS = 150
Planted = tuple[list[StatedCell], int, str]  # cells, which of them is wrong, and in what


def _factor(rng: random.Random, least: float = 1.15, most: float = 1.9) -> float:
    factor = rng.uniform(least, most)
    return rng.choice((factor, 1 / factor))


def _off(kind: str, metric: str) -> Callable[[random.Random], Planted]:
    def plant(rng: random.Random) -> Planted:
        cells = table(rng, kind=kind)
        at = rng.randrange(len(cells))
        cells[at] = scaled(cells[at], metric, _factor(rng))
        return cells, at, metric

    return plant


def _digit_lost(rng: random.Random) -> Planted:
    cells = table(rng)
    at, factor = rng.randrange(len(cells)), rng.choice((10, 0.1, 100))
    for metric in {"throughput_per_s", "queries_per_s", "bytes_per_s"} & cells[at].figures.keys():
        cells[at] = scaled(cells[at], metric, factor)
    return [replace(cell, closed=False) for cell in cells], at, "throughput_per_s"


def _seconds_for_ms(rng: random.Random) -> Planted:
    cells = [replace(cell, closed=False) for cell in table(rng)]
    while "response_mean_s" not in cells[0].figures:
        cells = [replace(cell, closed=False) for cell in table(rng)]
    at = rng.randrange(len(cells))
    wrong = cells[at].figures["response_mean_s"].value * rng.choice((0.001, 1000))
    cells[at] = with_figure(cells[at], "response_mean_s", printed(wrong, 1e-3, 6))
    return cells, at, "response_mean_s"


def _zero(rng: random.Random) -> Planted:
    cells = table(rng)
    at = rng.randrange(len(cells))
    cells[at] = with_figure(cells[at], "throughput_per_s", StatedFigure(0.0, "0.00"))
    return cells, at, "throughput_per_s"


def _above_the_best(rng: random.Random) -> Planted:
    cells = normalised(rng)
    at = rng.randrange(len(cells))
    cells[at] = with_figure(cells[at], "normalised", printed(rng.uniform(1.02, 1.6), 1, 3))
    return cells, at, "normalised"


def _copied(rng: random.Random) -> list[StatedCell]:
    cells = table(rng)
    source, copy = rng.sample(sorted({cell.setting for cell in cells}), 2)
    figures = {cell.load: cell.figures for cell in cells if cell.setting == source}
    return [replace(cell, figures=figures[cell.load]) if cell.setting == copy else cell for cell in cells]


def _under_two_headings(rng: random.Random, wrong: bool) -> tuple[list[StatedCell], int]:
    cells = table(rng)
    setting = rng.choice(sorted({cell.setting for cell in cells}))
    copies = [replace(cell, table="T02", levels={"other": "yes"}) for cell in cells if cell.setting == setting]
    index = rng.randrange(len(copies))
    for metric in copies[index].figures if wrong else ():
        copies[index] = scaled(copies[index], metric, _factor(rng))
    return cells + copies, len(cells) + index


def _capped(rng: random.Random) -> tuple[list[StatedCell], float]:
    metrics = ("throughput_per_s", "bytes_per_s")
    cells = [replace(c, figures={m: c.figures[m] for m in metrics}) for c in table(rng, kind="fileio")]
    cap = sorted(cell.figures["bytes_per_s"].value for cell in cells)[len(cells) // 3]
    for index, cell in enumerate(cells):
        factor = cap * rng.uniform(0.998, 1.002) / cell.figures["bytes_per_s"].value
        if factor < 1:
            cells[index] = scaled(scaled(cell, "bytes_per_s", factor), "throughput_per_s", factor)
    return cells, cap


def _breaches_by_seed(plant: Callable[[random.Random], list[StatedCell]]) -> list[list[Breach]]:
    return [of_set(plant(random.Random(seed))) for seed in range(_SETS)]


@pytest.mark.parametrize(
    "draw",
    [
        table,
        normalised,
        lambda rng: table(rng, "T01", "oltp") + table(rng, "T02", "oltp", "other"),
        lambda rng: [log(rng) for _ in range(10)],
        lambda rng: table(rng)[:2],
    ],
    ids=["table", "normalised", "two tables", "logs", "two cells"],
)
def test_sets_without_an_error_give_no_alarm(draw: Callable[[random.Random], list[StatedCell]]) -> None:
    alarms = [breaches for breaches in _breaches_by_seed(draw) if breaches]
    assert len(alarms) < _SETS / 100, [breach.words for breach in alarms[0]]


@pytest.mark.parametrize(
    ("plant", "laws"),
    [
        (_off("oltp", "throughput_per_s"), {"queries per transaction"}),
        (_off("oltp", "queries_per_s"), {"queries per transaction"}),
        (_off("fileio", "throughput_per_s"), {"IOPS x block size"}),
        (_off("fileio", "bytes_per_s"), {"IOPS x block size"}),
        (_digit_lost, {"a jump in the curve", "Little's law"}),
        (_seconds_for_ms, {"Little's law"}),
        (_zero, {"missing or zero cells"}),
        (_above_the_best, {"ratio to the best"}),
    ],
)
def test_one_planted_error_is_found_named_and_singled_out(
    plant: Callable[[random.Random], Planted], laws: set[str]
) -> None:
    named, singled, blamed, others = 0, 0, 0, 0
    for seed in range(_SETS):
        cells, position, metric = plant(random.Random(seed))
        breaches = of_set(cells)
        expected = [breach for breach in breaches if breach.law in laws and breach.cells == (position,)]
        named += bool(expected)
        singled += any(breach.metric == metric for breach in expected)
        blamed += any(breach.metric not in (metric, "") for breach in expected)
        others += any(position not in breach.cells for breach in breaches)
    assert named >= 0.99 * _SETS
    assert singled >= 0.95 * _SETS
    assert blamed <= 0.01 * _SETS
    assert others <= 0.02 * _SETS


def test_a_copied_column_differs_from_one_run_under_two_headings() -> None:
    copies = [
        [breach for breach in breaches if breach.law == "identical figures"] for breaches in _breaches_by_seed(_copied)
    ]
    assert all(len(breaches) == 1 and breaches[0].grave for breaches in copies)
    reused = [of_set(_under_two_headings(random.Random(seed), wrong=False)[0]) for seed in range(_SETS)]
    assert all(
        [breach.law for breach in breaches] == ["identical figures"] and not breaches[0].grave for breaches in reused
    )


def test_one_run_with_two_figures_is_found() -> None:
    hits = 0
    for seed in range(_SETS):
        cells, at = _under_two_headings(random.Random(seed), wrong=True)
        hits += any(breach.law == "one run with two values" and at in breach.cells for breach in of_set(cells))
    assert hits >= 0.95 * _SETS


def test_a_limit_shared_by_settings_is_reported_with_its_value() -> None:
    hits = 0
    for seed in range(_SETS):
        cells, cap = _capped(random.Random(seed))
        ceilings = [breach for breach in of_set(cells) if breach.law == "physical ceiling"]
        hits += any(breach.stated == pytest.approx(cap, rel=0.01) and not breach.grave for breach in ceilings)
    assert hits >= 0.95 * _SETS


def test_a_limit_near_the_capacity_of_a_link_names_the_link() -> None:
    def cell(level: str, load: int, rate: float) -> StatedCell:
        return StatedCell(figures={"bytes_per_s": printed(rate, 1e6)}, table="T", levels={"knob": level}, load=load)

    def message_at(cap: float) -> str:
        rates = [0.5, 0.8, 0.999, 1.0, 1.0]
        cells = [
            cell(level, load, cap * rate * factor)
            for level, factor in (("a", 1.0), ("b", 1.0007))
            for load, rate in zip(LOADS, rates, strict=False)
        ]
        return next(breach.words for breach in of_set(cells) if breach.law == "physical ceiling")

    assert "near the capacity of SATA / SAS 6 Gb/s" in message_at(556e6)
    assert "near the capacity of 1 Gb/s Ethernet" in message_at(117e6)
    assert "near" not in message_at(700e6)


def _oltp(level: str, load: int, tps: float, qps: float) -> StatedCell:
    figures = {"throughput_per_s": printed(tps), "queries_per_s": printed(qps)}
    return StatedCell(figures=figures, table="000-T15", levels={"OP": level}, load=load, workload="oltp")


def test_two_disagreeing_cells_are_reported_together() -> None:
    (breach,) = of_set([_oltp("15%", 8, 1000, 18000), _oltp("15%", 16, 1000, 15000)])
    assert (breach.law, breach.cells, breach.metric) == ("queries per transaction", (0, 1), "")
    assert "the correct value cannot be determined" in breach.words


def _plain() -> list[StatedCell]:
    """Two levels without an error."""
    tps = {8: 600.0, 16: 800.0, 32: 950.0, 64: 1000.0, 128: 1010.0, 256: 1005.0}
    levels = {"0%": 1.0, "15%": 1.03}
    return [_oltp(name, n, t * factor, t * factor * 18) for name, factor in levels.items() for n, t in tps.items()]


def test_the_curve_decides_which_of_two_figures_fits() -> None:
    cells = _plain()
    at = next(n for n, cell in enumerate(cells) if cell.levels["OP"] == "15%" and cell.load == 64)
    cells[at] = with_figure(cells[at], "throughput_per_s", printed(1200))
    (breach,) = of_set(cells)
    assert breach.words == (
        "queries per transaction: TPS 1,200.00 does not fit QPS 18,540.00 at 18 queries a transaction; TPS 1,030.00 "
        "would, as the neighbouring points of the curve suggest [000-T15, OP 15%, 64 threads]"
    )


def test_figures_of_two_tables_are_compared() -> None:
    cells = _plain()
    tps = [with_figure(replace(cell, table="T18"), "queries_per_s", None) for cell in cells]
    qps = [with_figure(replace(cell, table="T19"), "throughput_per_s", None) for cell in cells]
    assert of_set(tps + qps) == []
    position = next(n for n, cell in enumerate(cells) if cell.levels["OP"] == "15%" and cell.load == 64)
    tps[position] = with_figure(tps[position], "throughput_per_s", printed(1200))
    breaches = [breach for breach in of_set(tps + qps) if breach.law == "queries per transaction"]
    assert [(b.where, b.cells, b.metric) for b in breaches] == [
        ("T18 + T19, OP 15%, 64 threads", (position, len(cells) + position), "throughput_per_s")
    ]


def test_retries_at_the_highest_loads_are_no_breach() -> None:
    shares = {8: 1.0, 16: 1.0, 32: 1.0, 64: 1.0, 128: 1.002, 256: 1.008, 512: 1.02}
    cells = [
        _oltp(level, load, 900 + load, (900 + load) * 18 * factor) for level in "ab" for load, factor in shares.items()
    ]
    assert [breach.words for breach in of_set(cells) if breach.law == "queries per transaction"] == []


def test_a_mistake_of_a_whole_table_is_reported_once() -> None:
    cells = [
        scaled(replace(cell, block_bytes=16384), "bytes_per_s", 2**20 / 1e6) for cell in _capless(random.Random(5))
    ]
    (breach,) = of_set(cells)
    assert f"likewise in {len(cells)} of the table's {len(cells)} cells" in breach.words
    assert "MB and MiB" in breach.words


def _capless(rng: random.Random) -> list[StatedCell]:
    return [
        with_figure(cell, "bytes_per_s", printed(cell.figures["throughput_per_s"].value * 16384, 2**20))
        for cell in table(rng, kind="fileio")
    ]


def test_a_level_without_figures_is_reported() -> None:
    rng = random.Random(3)
    cells = table(rng, kind="oltp")
    last = cells[-1].setting
    (breach,) = of_set([with_figure(c, "queries_per_s", None) if c.setting == last else c for c in cells])
    assert (breach.law, breach.grave) == ("missing or zero cells", False)
    assert "QPS is missing" in breach.words
    assert breach.where.startswith("T01, knob")


def test_ratios_to_a_missing_best_are_reported() -> None:
    cells = [scaled(cell, "normalised", 0.93) for cell in normalised(random.Random(1))]
    assert [breach.law for breach in of_set(cells)] == ["ratio to the best"]


def test_a_copied_row_is_reported() -> None:
    def sample(n: int, read: str, written: str) -> StatedCell:
        figures = {
            "read_bytes_per_s": StatedFigure(float(read) * 1e6, read),
            "written_bytes_per_s": StatedFigure(float(written) * 1e6, written),
        }
        return StatedCell(figures=figures, table="T", levels={"raid": "5"}, sample=n)

    rows = [("156.20", "162.23"), ("160.99", "163.99"), ("157.78", "161.77"), ("160.99", "163.99")]
    (breach,) = of_set([sample(n, *row) for n, row in enumerate(rows)])
    assert (breach.law, breach.cells, breach.grave) == ("identical figures", (1, 3), False)


@pytest.mark.parametrize(
    ("percent", "extent", "fits"),
    [("+10", "each", True), ("+10", "mean", True), ("+13", "mean", False), ("+20", "most", True), ("+5", "some", True)],
)
def test_prose_is_compared_with_the_table(percent: str, extent: str, fits: bool) -> None:
    gains = {"each": (10, 10, 10), "mean": (5, 10, 15), "most": (0, 10, 20), "some": (5, 10, 15)}[extent]
    cells = [
        StatedCell(figures={"throughput_per_s": printed(value)}, table="T", levels={"knob": level}, load=load)
        for load, gain in zip(LOADS, gains, strict=False)
        for level, value in (("off", 1000.0), ("on", 1000.0 + 10 * gain))
    ]
    claim = Claimed(
        where="prose",
        factor="knob",
        start="off",
        end="on",
        percent=StatedFigure(float(percent), percent),
        extent=extent,
    )
    breaches = [breach for breach in of_set(cells, [claim]) if breach.law == "percentages in prose"]
    assert (not breaches) is fits


def test_prose_about_threads_and_about_missing_cells() -> None:
    cells = [
        StatedCell(figures={"throughput_per_s": printed(v)}, table="T", levels={"knob": "on"}, load=n)
        for n, v in ((8, 1000), (32, 1371), (64, 1280))
    ]
    threads = Claimed(where="prose", factor="threads", start="8", end="32", percent=StatedFigure(37.1, "+37.1"))
    wrong = replace(threads, start="64", percent=StatedFigure(19.5, "+19.5"))
    untestable = replace(threads, start="16")
    (breach,) = of_set(cells, [threads, wrong, untestable])
    assert breach.implied == pytest.approx(0.071, abs=0.001)
    assert (
        breach.words
        == "percentages in prose: the text states +19.5 % from 64 to 32, but the table gives +7.11 % [prose, T]"
    )
