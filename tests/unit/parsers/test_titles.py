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
        ("The average results in NOTPM", "", "average results"),
        ("There I show average throughput", "", "There I show average"),
        ("results are in transactions per second", "", "results are"),
        ("TPS with the performance governor", "performance governor", ""),
        ("buffer pool 100G", "", "buffer pool 100G"),
        ("Pagesize=16k", "", "Pagesize=16k"),
        ("TPS with NUMA off", "NUMA off", ""),
    ],
)
def test_a_title_names_a_factor_or_a_condition(title: str, factor: str, workload: str) -> None:
    titles = titles_of(title, "", needs_factor=True)
    assert (titles.factor, titles.workload) == (factor, workload)


@pytest.mark.parametrize(
    "titles",
    [
        ("The following table shows TPS of MySQL 5.7.44:", "The following table shows TPS of MySQL 8.0.36:"),
        ("## With this patch", "## Without this patch"),
        ("## Average results for point select", "## Median results for point select"),
        ("## Test results with tuned kernel", "## Raw results with tuned kernel"),
        ("TPS with 10 GB (buffer pool is 1G):", "TPS with 10 GB (buffer pool is 8G):"),
    ],
)
def test_tables_under_sentences_that_differ_are_never_one_test(titles: tuple[str, str]) -> None:
    table = ["| threads | TPS |", "|---|---|", "| 8 | 100.5 |", "| 16 | 190.5 |"]
    runs = formats.read("\n".join([titles[0], "", *table, "", titles[1], "", *table]) + "\n").runs
    assert len({run.workload for run in runs}) == 2


def test_the_heading_above_a_sentence_names_the_factor() -> None:
    table = ["| threads | InnoDB | RocksDB |", "|---|---|---|", "| 8 | 100.5 | 90.5 |", "| 16 | 190.5 | 180.5 |"]
    lines = ["## Storage engine", "### Write-only: RocksDB is slower", "", *table, "", "### Read-only", "", *table]
    runs = formats.read("\n".join(lines) + "\n").runs
    assert {name for run in runs for name in run.labels} == {"Storage engine"}
    assert len({run.workload for run in runs}) == 2


@pytest.mark.parametrize("name", ["TpmC", "NOPM", "NOTPM", "New Order Transactions per Minute"])
def test_new_orders_in_a_minute_are_a_throughput(name: str) -> None:
    (run, *_) = formats.read("\n".join([f"The results in {name}", "", *TABLE]) + "\n").runs
    assert [(reading.metric, reading.value) for reading in run.readings] == [("throughput_per_s", 100.5 / 60)]


def test_pictures_links_and_escapes_are_no_words() -> None:
    title = r"[TPS](https://x.invalid/a_b) by innodb\_page\_size ![](files/chunk-2-1.png)"
    runs = formats.read("\n".join([title, "", TABLE[0].replace("on", r"o\_n \| p"), *TABLE[1:]]) + "\n").runs
    assert {name for run in runs for name in run.labels} == {"innodb_page_size"}
    assert {level for run in runs for level in run.labels.values()} == {"off", "o_n | p"}
