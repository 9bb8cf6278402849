"""Titles of tables: the factor and the workload that they name, and the marks that they do not."""

import pytest

from paribus.parsers import formats
from paribus.parsers.tables.titles import titles_of

TABLE = ["| threads | off | on |", "|---|---|---|", "| 8 | 100.5 | 110.5 |", "| 16 | 190.5 | 210.5 |"]


@pytest.mark.parametrize(
    ("title", "factor", "workload"),
    [
        ("# TPS by I/O scheduler", "I/O scheduler", ""),
        ("Results by I/O scheduler", "I/O scheduler", ""),
        ("The average results in NOTPM", "", ""),
        ("There I show average throughput", "", ""),
        ("results are in transactions per second, more is better", "", ""),
        ("buffer pool 100G", "", "buffer pool 100G"),
        ("Pagesize=16k", "", "Pagesize=16k"),
        ("TPS with NUMA off", "NUMA off", ""),
    ],
)
def test_a_title_names_a_factor_or_a_condition(title: str, factor: str, workload: str) -> None:
    titles = titles_of(title, "", needs_factor=True)
    assert (titles.factor, titles.workload) == (factor, workload)


@pytest.mark.parametrize("name", ["TpmC", "NOPM", "NOTPM", "New Order Transactions per Minute"])
def test_new_orders_in_a_minute_are_a_throughput(name: str) -> None:
    (run, *_) = formats.read("\n".join([f"The results in {name}", "", *TABLE]) + "\n").runs
    assert [(reading.metric, reading.value) for reading in run.readings] == [("throughput_per_s", 100.5 / 60)]


def test_pictures_links_and_escapes_are_no_words() -> None:
    title = r"[TPS](https://x.invalid/a_b) by innodb\_page\_size ![](files/chunk-2-1.png)"
    runs = formats.read("\n".join([title, "", TABLE[0].replace("on", r"o\_n \| p"), *TABLE[1:]]) + "\n").runs
    assert {name for run in runs for name in run.labels} == {"innodb_page_size"}
    assert {level for run in runs for level in run.labels.values()} == {"off", "o_n | p"}
