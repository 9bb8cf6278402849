"""Web pages: tables in rows, titles, spanning cells, output of tools, and what a reader does not see."""

from pathlib import Path

import pytest

from paribus.imports.files import ImportFile, Unreadable, open_file
from paribus.imports.reading import ImportReader
from paribus.parsers import formats
from paribus.parsers.pages import web_page

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
def test_damaged_pages_end_and_show_no_more_than_they_hold(piece: str) -> None:
    page = "<p>" + piece * 30_000  # the parser of the standard library takes minutes of some
    assert len(web_page.text_of(page)) <= 2 * len(page)


def test_large_spans_are_bounded() -> None:
    text = web_page.text_of("<table>" + "<tr><td colspan=99999 rowspan=99999>x<td>y" * 200)
    assert len(text) < 1_000_000


def _lines(page: str) -> list[str]:
    return [line for line in web_page.text_of(page).splitlines() if line]


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        ("100<br>105<br>110", "100 ; 105 ; 110"),
        ("<p>100</p><p>105</p>", "100 ; 105"),
        ("100 <small>105</small>", "100 ; 105"),
        ("<del>500</del> 600", "600"),
        ("<s>500</s><b>600</b>", "600"),
        ("100<sub>5</sub>", "100_5"),
        ("1,234.5<sup>[1]</sup>", "1,234.5"),
        ("<svg><path d='M1'/><path d='M2'/></svg>90", "90"),
        ("<span title='a > b'>5</span>", "5"),
        ("<p>100</p>", "100"),
    ],
)
def test_a_cell_is_what_it_shows(cell: str, text: str) -> None:
    assert f"| 8 | {text} |" in _lines(f"<table><tr><th>threads<th>TPS<tr><td>8<td>{cell}</table>")


TABLE = "<table><tr><th>threads<th>TPS<tr><td>8<td>90</table>"


@pytest.mark.parametrize(
    "before",
    [
        "<button><svg><path d='M1'/><path d='M2'/></svg></button>",
        "<select><option>a<option>b</select>",
        "<nav><ul><li>a<li>b</ul></nav>",
        "<p hidden>x<p>y",
        "<svg width=1/>",
        "<s>never closed",
        "<head><title>t</title><body>",
        "<head><meta charset=utf-8>",
        "&#" + "9" * 5000 + ";",
        "<a href='&#" + "9" * 5000 + ";'>",
    ],
)
def test_elements_that_are_not_shown_end_where_they_end(before: str) -> None:
    assert _lines(f"<html>{before}{TABLE}")[-2:] == ["| threads | TPS |", "| 8 | 90 |"]


@pytest.mark.parametrize(
    ("page", "line"),
    [
        ("<p align=center><img src=x></p>\n\nNumber of threads: 4\n\n<pre>\n  a\n</pre>", "Number of threads: 4"),
        ("<h1>Title</h1>\n| a | b |\n|---|---|\n| 1 | 2 |\n<table></table>", "| 1 | 2 |"),
        ("<pre>\nsysbench 1.0\nthreads: 4", "threads: 4"),
        ("<html><textarea>\nsysbench 1.0\nthreads: 4</textarea>", "threads: 4"),
    ],
)
def test_lines_of_plain_text_and_output_stay_lines(page: str, line: str) -> None:
    assert line in _lines(page)


@pytest.mark.parametrize(
    ("text", "is_page"),
    [
        ("<!doctype html>", True),
        ("<?xml version='1.0'?>\n<!DOCTYPE html PUBLIC>", True),
        ("<!-- saved from url -->\n<html>", True),
        ("<meta charset=x><table></table>", True),
        ("<p align=center>x</p>\n| a | b |\n", False),
        ("<!--ts-->\n| a | b |\n", False),
        ("<sysstat>", False),
        ("<a@b.c> wrote: <table></table>", False),
    ],
)
def test_pages_are_told_from_texts_that_begin_alike(text: str, is_page: bool) -> None:
    assert web_page.is_page(text) is is_page


def test_pandas_names_its_index_in_a_line_of_its_own() -> None:
    page = (
        "<table><thead><tr><th><th>threads<th>tps<tr><th>scheduler<th><th></thead><tr><th>noop<td>8<td>1234.5</table>"
    )
    assert _lines(page) == ["| scheduler | threads | tps |", "| noop | 8 | 1234.5 |"]
    page = "<table><tr><th><th>scheduler<th>tps<tr><th>0<td>noop<td>12<tr><th>1<td>cfq<td>13</table>"
    assert _lines(page) == ["| scheduler | tps |", "| noop | 12 |", "| cfq | 13 |"]


def test_a_group_row_is_a_title_though_it_does_not_span_the_whole_table() -> None:
    page = (
        "<table><tr><th>threads<th>noop<th>cfq<th>"
        "<tr><td colspan=2>oltp_read<tr><td>8<td>100<td>120<tr><td colspan=3>oltp_write<tr><td>8<td>50<td>60</table>"
    )
    assert [line for line in _lines(page) if "|" not in line] == ["oltp_read", "oltp_write"]


def test_a_figure_of_several_rows_is_not_repeated() -> None:
    page = "<table><tr><th>threads<th>run<th>p95<tr><td rowspan=2>8<td>1<td rowspan=2>5.2<tr><td>2</table>"
    assert _lines(page)[1:] == ["| 8 | 1 | 5.2 |", "| 8 | 2 |  |"]


@pytest.mark.parametrize(
    "page",
    [
        "<dl><dt>Password:</dt><dd>hunter2</dd></dl>",
        "<p>password:<br>hunter2",
        "<div>password =</div><div>hunter2</div>",
        "<pre>sysbench --mysql-password=<br>hunter2</pre>",
        "<table><tr><td>password:</td><td>hunter2</td></table>",
        "<table><tr><td>password</td><td>hunter2</td></table>",
        "<pre>memtier_benchmark -a hunter2 --authenticate=hunter2</pre>",
    ],
)
def test_passwords_that_the_layout_sets_apart_are_hidden(page: str, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(f"<html>{page}</html>")
    assert "hunter2" not in open_file(str(path)).text


def test_a_report_of_paribus_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text('<!doctype html><html><head><meta name="generator" content="paribus"></head>')
    with pytest.raises(Unreadable, match="paribus export"):
        open_file(str(path))


def test_copies_of_spanning_cells_are_bounded() -> None:
    page = f"<table><tr><td colspan=255 rowspan=1000>{'x' * 1000}" + "<tr>" * 999
    assert len(web_page.text_of(page)) < 10_000_000
    titles = "".join(f"<tr><th>{number}" + "<th>b" for number in range(800)) + "<tr><td colspan=2>t" * 800
    assert len(web_page.text_of(f"<table>{titles}")) < 1_000_000


def test_a_load_of_several_rows_stands_in_each() -> None:
    page = (
        "<table><tr><th>Engine<th>Threads<th>TPS<th>p95 (ms)<tr><td>innodb<td rowspan=2>8<td>1100<td>7.1<tr><td>rocksdb"
        "<td>1300<td rowspan=2>6.2<tr><td>aria<td>8<td>900</table>"
    )
    assert _lines(page)[1:] == ["| innodb | 8 | 1100 | 7.1 |", "| rocksdb | 8 | 1300 | 6.2 |", "| aria | 8 | 900 |  |"]


def test_heads_within_a_table_begin_another() -> None:
    rows = "<tr><td>innodb<td>8<td>1200<tr><td>rocksdb<td>8<td>1300"
    heads = "<tr><th>Engine<th>Threads<th>"
    page = f"<table>{heads}TPS{rows}{heads}p95 (ms){rows.replace('00', '')}</table>"
    figures = [
        {reading.metric: reading.value for reading in run.readings} for run in formats.read(web_page.text_of(page)).runs
    ]
    assert figures == [
        {"throughput_per_s": 1200, "response_p95_s": 0.012},
        {"throughput_per_s": 1300, "response_p95_s": 0.013},
    ]


def test_heads_under_a_title_replace_those_above() -> None:
    page = (
        "<table><tr><td colspan=3>Read only<tr><th>Threads<th>5.7 TPS<th>8.0 TPS<tr><td>8<td>1<td>2"
        "<tr><td colspan=3>Write only<tr><th>Threads<th>8.0 TPS<th>5.7 TPS<tr><td>8<td>3<td>4</table>"
    )
    assert [line for line in _lines(page) if "Threads" in line] == [
        "| Threads | 5.7 TPS | 8.0 TPS |",
        "| Threads | 8.0 TPS | 5.7 TPS |",
    ]


def test_heads_of_tables_after_a_prompt_are_no_password() -> None:
    assert "| Engine | Threads |" in web_page.text_of("<html><pre>Enter password:\n| Engine | Threads |</pre>")
    assert "hunter2" not in web_page.text_of("<table><tr><td>db_password<td>hunter2<td>x</table>")


def test_repeated_heads_are_bounded() -> None:
    heads = f"<th>{'x' * 200}" * 250
    page = f"<table><tr>{heads}" + "<tr><td colspan=250>t<tr><td>a<td>b" * 2000
    assert len(web_page.text_of(page)) < 10_000_000
    assert len(web_page.text_of("<html><pre>| password |" + " " * 60_000)) < 100_000
