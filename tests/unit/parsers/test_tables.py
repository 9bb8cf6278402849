"""Individual rules for reading tables; complete tables are golden files."""

import pytest

from paribus.parsers import formats
from paribus.parsers.log import Log, LogRun


def read(*lines: str) -> Log:
    return formats.read("\n".join(lines) + "\n")


def figures(run: LogRun) -> dict[str, float]:
    return {reading.metric: reading.value for reading in run.readings}


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (("1,234", "12,345"), (1234, 12345)),  # rates have no three decimals with a comma
        (("1.234,5", "12.345,25"), (1234.5, 12345.25)),
        (("1'234.5", "12'345"), (1234.5, 12345)),
        (("1\u202f234,5", "12\u202f345,5"), (1234.5, 12345.5)),
        (("24.2k", "1.37M"), (24_200, 1_370_000)),
        (("801k IOPS", "1.37M IOPS"), (801_000, 1_370_000)),
        (("**5,119**", "`787,094`"), (5119, 787094)),
    ],
)
def test_numbers_in_every_notation(cells: tuple[str, str], values: tuple[float, float]) -> None:
    log = read("| threads | noop IOPS | cfq IOPS |", "|---|---|---|", f"| 8 | {cells[0]} | {cells[1]} |")
    assert [figures(run)["throughput_per_s"] for run in log.runs] == list(values)


@pytest.mark.parametrize(
    "lines",
    [
        ("threads\tnoop\tcfq", "8\t1,234\t2,345", "16\t3,456\t4,567"),  # of what?
        ("threads;noop TPS;cfq TPS", "8;1,234;2,345", "16;3,456;4,567"),  # a locale with decimal commas?
        ("threads\tnoop\tcfq", "16\t1.234\t1.155", "32\t2.234\t2.155", "8\t987\t955"),
    ],
    ids=["nothing said", "semicolons", "points beside whole hundreds"],
)
def test_an_ambiguous_separator_omits_the_number(lines: tuple[str, ...]) -> None:
    log = read(*lines)
    assert any("are left out" in remark for remark in log.remarks)
    assert all(reading.value > 900 for run in log.runs for reading in run.readings)
    assert len(log.not_understood) > 1


def test_a_setting_whose_name_has_a_measure_in_it_is_a_setting() -> None:
    log = read("RAID write policy,threads,IOPS", "WriteBack,8,1000.5", "WriteThrough,8,900.5")
    assert [dict(run.labels) for run in log.runs] == [
        {"RAID write policy": "WriteBack"},
        {"RAID write policy": "WriteThrough"},
    ]


KINDS = {"oltp_read_only": 1608, "oltp_write_only": 603}


def test_kinds_of_load_are_workloads_and_not_levels_of_a_factor() -> None:
    rows = ["| Name | Threads | TPS | QPS |", "|---|---|---|---|"]
    rows += [f"| {kind} | 8 | 100.5 | {queries} |" for kind, queries in KINDS.items()]
    assert [(run.workload, dict(run.labels)) for run in read(*rows).runs] == [
        ("oltp_read_only", {}),
        ("oltp_write_only", {}),
    ]


def test_the_title_of_each_table_names_its_workload() -> None:
    table = ["| threads | v1 TPS | v2 TPS |", "|---|---|---|", "| 8 | 100.5 | 110.5 |"]
    log = read("## Results", "### Point select performance", *table, "", "### Update index performance", *table)
    assert [run.workload for run in log.runs] == [
        *["Point select performance"] * 2,
        *["Update index performance"] * 2,
    ]
    assert {name for run in log.runs for name in run.labels} == {"level"}


def _under(heading: str, *rates: float) -> list[str]:
    rows = [f"| {threads} | {rate} | {rate + 1} |" for threads, rate in zip((8, 16, 32), rates, strict=True)]
    return [heading, "## connection by socket", "| threads | tps no-fix | tps fix |", "|---|---|---|", *rows]


def test_headings_above_the_title_are_other_workloads() -> None:
    log = read(*_under("# buffer pool 50G", 487.3, 960.9, 3726.2), *_under("# buffer pool 25G", 296.3, 597.3, 2219.5))
    assert {run.workload for run in log.runs} == {"buffer pool 50G", "buffer pool 25G"}
    assert {tuple(run.labels) for run in log.runs} == {("connection socket",)}


@pytest.mark.parametrize(
    ("headings", "rates"),
    [
        (("# Run 1", "# Run 2"), (497.3, 970.9, 3736.2)),  # repetitions
        (("# Summary", "# Details"), (487.3, 960.9, 3762.2)),  # one figure is a misprint
        (("# Old binary", "# Old binary"), (497.3, 970.9, 3736.2)),
    ],
)
def test_headings_above_the_title_of_one_test_are_no_workloads(headings: list[str], rates: list[float]) -> None:
    log = read(*_under(headings[0], 487.3, 960.9, 3726.2), *_under(headings[1], *rates))
    assert {run.workload for run in log.runs} == {""}


def test_a_unit_behind_every_number_is_no_second_line_of_heads() -> None:
    rows = ["| Old | 845 MB/s | 969 MB/s |", "| New | 2,100 MB/s | 17,700 MB/s |"]
    log = read("| Server | Write | Read |", "|---|---|---|", *rows)
    assert [(dict(run.labels), figures(run)) for run in log.runs] == [
        ({"Server": "Old"}, {"written_bytes_per_s": 845e6, "read_bytes_per_s": 969e6}),
        ({"Server": "New"}, {"written_bytes_per_s": 2100e6, "read_bytes_per_s": 17700e6}),
    ]


def test_numeric_levels_are_heads_above_their_metrics() -> None:
    log = read(",0,,128,", "threads,TPS,QPS,TPS,QPS", "8,100.5,2010,101.5,2030", "16,190.5,3810,191.5,3830")
    assert [(run.load, *run.labels.values(), *figures(run).values()) for run in log.runs] == [
        (8, "0", 100.5, 2010),
        (8, "128", 101.5, 2030),
        (16, "0", 190.5, 3810),
        (16, "128", 191.5, 3830),
    ]


@pytest.mark.parametrize("head", ["change", "TPS improvement (%)", "提升", "ratio", "vs noop"])
def test_a_change_column_is_read_as_the_change_of_two_levels(head: str) -> None:
    rows = ["| 8 | 100.5 | 110.5 | 10% |", "| 16 | 190.5 | 210.5 | 10% |"]
    log = read(f"| threads | noop TPS | cfq TPS | {head} |", "|---|---|---|---|", *rows)
    assert [set(run.labels.values()) for run in log.runs] == [{"noop"}, {"cfq"}] * 2
    assert [figures(run).get("throughput_per_s:change") for run in log.runs] == [None, 0.1] * 2
    assert log.remarks == ()


def test_a_column_derived_from_several_levels_is_reported_unread() -> None:
    rows = ["| 8 | 100.5 | 110.5 | 99.5 | 10% |", "| 16 | 190.5 | 210.5 | 189.5 | 10% |"]
    log = read("| threads | noop TPS | cfq TPS | none TPS | gain |", "|---|---|---|---|---|", *rows)
    assert {level for run in log.runs for level in run.labels.values()} == {"noop", "cfq", "none"}
    assert log.remarks == ("the column gain is not read: it follows from others",)


def test_equal_conditions_in_a_long_table_are_repetitions() -> None:
    rows = [f"x,{level},tps,1/s,{value}" for level in "ab" for value in (100.5, 101.5, 99.5)]
    log = read("factor,level,metric,unit,value", *rows)
    assert [(run.labels["x"], figures(run)["throughput_per_s"]) for run in log.runs] == [
        (level, value) for level in "ab" for value in (100.5, 101.5, 99.5)
    ]


def test_a_text_without_runs_in_its_format_is_read_as_a_table() -> None:
    words = ["**queries read**", "**total number of events**", "**General statistics**", "Threads fairness"]
    log = read(*words, "", "| threads | noop TPS | cfq TPS |", "|---|---|---|", "| 8 | 100.5 | 110.5 |")
    assert log.format == "table"
    assert len(log.runs) == 2


def test_conflicting_values_of_two_tables_are_distinguished_by_title() -> None:
    heads = ["| scheduler | threads | TPS |", "|---|---|---|"]
    log = read("## OLTP", *heads, "| noop | 8 | 100.5 |", "", *heads, "| noop | 8 | 200.5 |")
    assert [run.options["title"] for run in log.runs] == ["OLTP", "OLTP, from line 6"]


def test_everyday_words_after_a_known_level_are_metrics() -> None:
    heads = "| threads | noop TPS | cfq TPS | noop events | cfq events |"
    log = read(heads, "|---|---|---|---|---|", "| 8 | 10.5 | 11.5 | 3150 | 3450 |")
    assert [(run.labels["level"], figures(run)) for run in log.runs] == [
        ("noop", {"throughput_per_s": 10.5, "operations": 3150}),
        ("cfq", {"throughput_per_s": 11.5, "operations": 3450}),
    ]


def test_table_that_stands_twice_is_read_once() -> None:
    table = "Throughput (TPS)\n\n| threads | noop | cfq |\n|---|---|---|\n| 8 | 100 | 90 |\n| 16 | 150 | 140 |\n"
    once, twice = formats.read(table), formats.read(f"{table}\n{table}")
    assert len(twice.runs) == len(once.runs) == 4
    assert twice.remarks[-1] == "the table from line 10 on is the same as that from line 3 on"
    other = formats.read(f"{table}\n{table.replace('150', '151')}")
    assert len(other.runs) == 8, "which of the two is right is not known"
