"""Laws of published tables: cells without a load, number notation, and closed loops."""

from dataclasses import replace

import pytest

from paribus.plausibility import StatedCell, StatedFigure, of_set


def cell(level: str, load: float | None, table: str = "T", **figures: tuple[float, str]) -> StatedCell:
    return StatedCell(
        figures={name: StatedFigure(*value_and_text) for name, value_and_text in figures.items()},
        table=table,
        levels={"knob": level},
        load=load,
    )


@pytest.mark.parametrize(
    ("value", "stated", "half"),
    [
        (89372.03, "89 372.03", 0.005),
        (89372.03, "89\u202f372,03", 0.005),
        (1555.47, "1.555,47", 0.005),
        (12.5, "12,5", 0.05),
        (1000.0, "1 000", 50.0),  # zeros from the third digit on may be rounding
        (378.6 * 2**20, "378,6 MiB/s", 0.05 * 2**20),
        (0.0125, "12,50", 0.000005),
        (1234.0, "1,234", 0.5),
    ],
)
def test_precision_follows_every_number_notation(value: float, stated: str, half: float) -> None:
    assert StatedFigure(value, stated).half("bytes_per_s") == pytest.approx(half)


def test_a_table_without_loads_obeys_the_laws_of_tables() -> None:
    rows = {"a": (1000.0, 18_000.0), "b": (1200.0, 21_600.0), "c": (1200.0, 18_000.0), "d": (900.0, 16_200.0)}
    cells = [
        cell(level, None, throughput_per_s=(tps, f"{tps:.1f}"), queries_per_s=(qps, f"{qps:.1f}"))
        for level, (tps, qps) in rows.items()
    ]
    (breach,) = of_set(cells)
    assert (breach.law, breach.where) == ("queries per transaction", "T, knob c")
    assert "TPS 1,000" in breach.words or "QPS 21,600" in breach.words


def test_kinds_of_load_under_one_heading_do_not_contradict_each_other() -> None:
    rows = {"point select": (9000.0, 9000.0), "read only": (600.0, 9600.0), "read write": (400.0, 8000.0)}
    cells = [
        cell(level, None, throughput_per_s=(tps, f"{tps:.1f}"), queries_per_s=(qps, f"{qps:.1f}"))
        for level, (tps, qps) in rows.items()
    ]
    assert of_set(cells) == []
    sizes = {"small": 4096, "small too": 4096, "and this": 4096, "large": 2**20}
    assert (
        of_set(
            [
                cell(level, None, throughput_per_s=(500.5, "500.5"), bytes_per_s=(500.5 * size, f"{500.5 * size:.0f}"))
                for level, size in sizes.items()
            ]
        )
        == []
    )


def test_an_unrelated_row_is_complete_and_a_short_one_is_not() -> None:
    whole = {"throughput_per_s": (100.5, "100.5"), "response_p95_s": (0.0105, "10.5")}
    alike = [cell(level, None, **whole) for level in "abc"]
    assert of_set([*alike, cell("other", None, capacity=(5.0, "5"))]) == []
    (breach,) = of_set([*alike, cell("short", None, response_p95_s=(0.0105, "10.5"))])
    assert (breach.law, breach.grave) == ("missing or zero cells", False)


def test_a_cell_stated_twice_is_reported_and_repetitions_are_not() -> None:
    once = [cell(level, n, throughput_per_s=(n * 10.5, f"{n * 10.5}")) for level in "ab" for n in (8.0, 16.0, 32.0)]
    copies = [replace(stated_cell, levels={"knob": "c"}) for stated_cell in once[:3]] + [
        replace(stated_cell, levels={"knob": "d"}) for stated_cell in once
    ]
    repeated = replace(cell("a", 16.0, throughput_per_s=(191.0, "191.0")), line=14)
    breaches = [breach for breach in of_set([*once, *copies[:6], repeated]) if breach.law == "one run with two values"]
    assert [(breach.where, breach.grave) for breach in breaches] == [("T, knob a, 16 threads, lines 0 and 14", False)]
    rounds = [
        replace(stated_cell, figures={"throughput_per_s": StatedFigure(n, str(n))})
        for n in (100.5, 101.5)
        for stated_cell in once
    ]
    assert [breach for breach in of_set(rounds) if breach.law == "one run with two values"] == []


@pytest.mark.parametrize(
    ("stated", "share", "wrong"),
    [("-30%", -0.3, 0), ("43%", 0.43, 0), ("0.7x", -0.3, 0), ("1.43x", 0.43, 0), ("-20%", -0.2, 1), ("1.3x", 0.3, 1)],
)
def test_a_stated_change_equals_that_between_two_levels(stated: str, share: float, wrong: int) -> None:
    first = cell("a", 8.0, throughput_per_s=(13000.5, "13,000.5"))
    second = cell("b", 8.0, throughput_per_s=(9100.75, "9,100.75"))
    second = replace(second, figures={**second.figures, "throughput_per_s:change": StatedFigure(share, stated)})
    breaches = of_set([first, second])
    assert [(breach.law, breach.where) for breach in breaches] == [
        ("percentages in prose", "T, knob b, 8 threads")
    ] * wrong
    assert all("-30 %" in breach.words for breach in breaches)


def loop(level: str, load: float, rate: float, mean_s: float) -> StatedCell:
    figures = {"throughput_per_s": (rate, f"{rate:.2f}"), "response_mean_s": (mean_s, f"{mean_s * 1e3:.2f}")}
    return cell(level, load, **figures)


def test_littles_law_applies_if_most_cells_obey_it() -> None:
    cells = [loop("a", n, n / 0.0103, 0.01) for n in (4.0, 8.0, 16.0, 32.0, 64.0, 128.0)]
    assert of_set(cells) == []
    (breach,) = of_set([*cells[:3], loop("a", 32.0, 32 / 0.0103, 0.1), *cells[4:]])
    assert (breach.law, breach.metric) == ("Little's law", "response_mean_s")
    open_loops = [loop("a", n, n / 0.0103, 0.0035 * (1 + n / 64)) for n in (8.0, 16.0, 32.0, 64.0)]
    assert of_set(open_loops) == []


def test_times_in_another_unit_are_reported_as_such() -> None:
    def of(load: float, unit: float) -> StatedCell:
        times = {"min": 2.0, "mean": 9.9, "p95": 15.0, "max": 90.0}
        figures = {f"response_{name}_s": (ms / unit, f"{ms}") for name, ms in times.items()}
        rate = load / 0.01
        stated_cell = cell("a", load, throughput_per_s=(rate, f"{rate:.2f}"), **figures)
        return StatedCell(figures=stated_cell.figures, table="T", levels=stated_cell.levels, load=load, closed=True)

    assert of_set([of(n, 1e3) for n in (8.0, 16.0)]) == []
    assert all("as if ms and s" in breach.words for breach in of_set([of(n, 1e6) for n in (8.0, 16.0)]))


def test_truncated_digits_are_no_contradiction() -> None:
    def of(stated: str) -> StatedCell:
        figures = {
            "throughput_per_s": StatedFigure(13_044, "13,044"),
            "bytes_per_s": StatedFigure(float(stated) * 2**20, stated),
        }
        return StatedCell(figures=figures, table="T", levels={"knob": "a"}, load=128, block_bytes=4096.0)

    assert of_set([of("50")]) == []  # 50.95 without its decimals
    assert [breach.law for breach in of_set([of("49")])] == ["IOPS x block size"]


def test_a_curve_is_not_extrapolated_to_distant_loads() -> None:
    rates = {1.0: 43e3, 256.0: 1642e3, 512.0: 1600e3, 1024.0: 1581e3}
    assert of_set([cell("a", n, throughput_per_s=(rate, f"{rate:.0f}")) for n, rate in rates.items()]) == []
