"""Web pages: tables in rows, titles, spanning cells, output of tools, and what a reader does not see."""

import time
from pathlib import Path

import pytest

from paribus.imports.files import ImportFile, open_file
from paribus.imports.reading import ImportReader
from paribus.parsers import formats, web_page

PAGE = """<!DOCTYPE html><html><head><title>A page</title><style>td { color: red }</style></head><body>
<nav><a href="/">Home</a></nav><h1>Schedulers</h1><p>Measured &amp; written <b>down</b>.</p>
<h2>OLTP read write</h2>
<table><caption>TPS by scheduler</caption>
<thead><tr><th rowspan=2>Threads<th colspan="2">TPS</tr><tr><th>noop</th><th>deadline</th></tr></thead>
<tr><td>8<td>1,234.5<td>1,300<tr><td>16<td>2,234.5<td>2,300
<tr><td colspan=3>read only</td></tr>
<tr><td>8<td>3,234.5<td>3,300<span hidden>9</span><tr><td>16<td>4,234.5<td>4,300<sup>1</sup>
</table><!-- <table><tr><td>8<td>1 --><script>if (a < b) { "<table>" }</script></body></html>"""


def test_a_page_becomes_the_lines_that_it_shows() -> None:
    lines = [line for line in web_page.text_of(PAGE).splitlines() if line]
    assert lines == [
        "# Schedulers",
        "Measured & written down.",
        "## OLTP read write",
        "TPS by scheduler",
        "| Threads | TPS | TPS |",
        "| Threads | noop | deadline |",
        "| 8 | 1,234.5 | 1,300 |",
        "| 16 | 2,234.5 | 2,300 |",
        "TPS by scheduler (read only)",
        "| Threads | TPS | TPS |",
        "| Threads | noop | deadline |",
        "| 8 | 3,234.5 | 3,300 |",
        "| 16 | 4,234.5 | 4,300^1 |",
    ]


def test_a_table_of_a_page_is_read_like_any_other() -> None:
    runs = formats.read(web_page.text_of(PAGE)).runs
    assert len(runs) == 7  # 4,300 with its footnote is no number
    assert {run.labels["scheduler"] for run in runs} == {"noop", "deadline"}
    assert {run.workload for run in runs} == {"OLTP read write", "read only"}
    read_only = [run for run in runs if run.workload == "read only"]
    assert [run.readings[0].value for run in read_only] == [3234.5, 3300, 4234.5]


def test_cells_that_span_rows_stand_in_each() -> None:
    page = "<table><tr><th>file system<th>threads<th>TPS<tr><td rowspan=2>xfs<td>1<td>90<tr><td>8<td>500</table>"
    assert "| xfs | 8 | 500 |" in web_page.text_of(page)


def test_tables_that_only_place_others_are_not_shown() -> None:
    page = "<table><tr><td>left<td>before<table><tr><th>a<th>b<tr><td>1<td>2</table>after</table>"
    lines = [line for line in web_page.text_of(page).splitlines() if line]
    assert lines == ["left", "before", "| a | b |", "| 1 | 2 |", "after"]


def test_output_of_a_tool_keeps_its_lines() -> None:
    page = "<p>x<table><tr><td><pre>1\n2</pre><td><pre>procs <b>memory</b>\n r  b  &lt;\n</pre></table>"
    assert "procs memory\n r  b  <\n" in web_page.text_of(page)


def test_files_are_pages_by_their_content(tmp_path: Path) -> None:
    path = tmp_path / "page.txt"
    path.write_text(PAGE.replace("Schedulers", "--mysql-<i>password</i>=secret"))
    opened = open_file(str(path))
    assert "secret" not in opened.text
    assert "secret" not in opened.content.decode()
    read = ImportReader().take(ImportFile(str(path), walked=False))
    assert (len(read.runs), read.format) == (7, "table")
    assert "it is a web page: numbers of lines are those of the text that it shows" in read.remarks
    path.write_text("a < b\n<table>")
    assert open_file(str(path)).text == "a < b\n<table>"


def test_a_page_in_another_encoding_is_legible(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_bytes("<table><tr><th>线程数<th>TPS<tr><td>8<td>1234 &eacute;</table>".encode("gb18030"))
    assert "| 线程数 | TPS |" in open_file(str(path)).text


@pytest.mark.parametrize(
    "piece",
    ["<", "<!--", "<a ", "<![CDATA[", "<table><tr><td>", "<td>x", "<pre><p>", "&", "<script></s", '<p a="', "</table>"],
)
def test_damaged_pages_take_time_in_proportion_to_their_length(piece: str) -> None:
    began = time.process_time()
    web_page.text_of("<p>" + piece * 30_000)
    assert time.process_time() - began < 5  # the parser of the standard library takes minutes of some


def test_large_spans_are_bounded() -> None:
    text = web_page.text_of("<table>" + "<tr><td colspan=99999 rowspan=99999>x<td>y" * 200)
    assert len(text) < 1_000_000
