"""Columns of tables that are no factor: times of points, notes, row numbers."""

from collections.abc import Sequence

import pytest

from paribus.parsers import formats
from paribus.parsers.log import Log, LogRun


def _read(heads: str, *rows: str) -> Log:
    return formats.read("\n".join([heads, *rows]) + "\n")


def _figures(run: LogRun) -> dict[str, float]:
    return {reading.metric: reading.value for reading in run.readings}


POINTS = ("100.5", "101.5", "99.5", "98.5", "102.5", "100.0")
TIMES = {
    "Time (seconds)": ("0", "5", "10", "15", "20", "25"),
    "second": ("1", "2", "3", "4", "6", "7"),  # a point is missing
    "time_s": ("10", "20", "30", "40", "50", "60"),
    "elapsed": ("1.0", "2.0", "3.0", "4.0", "5.0", "6.0"),
    "Elapsed time [ms]": ("1000", "2000", "3000", "4000", "5000", "6000"),
    "sample_index": ("0", "1", "2", "3", "4", "5"),
    "index": ("1", "2", "3", "4", "5", "6"),
    "seq": ("1", "2", "3", "4", "5", "6"),
    "row": ("1", "2", "3", "4", "5", "6"),
    "id": ("11", "12", "13", "14", "15", "16"),
    "timestamp": (*(f"2024-05-06 23:59:{55 + n}" for n in range(5)), "2024-05-07 00:00:00"),
    "ts": tuple(f"{1715000000 + 2 * n}" for n in range(6)),
    "epoch": tuple(f"{1715000000000 + 2000 * n}" for n in range(6)),
    "date": tuple(f"07:08:0{n}" for n in range(6)),
}


@pytest.mark.parametrize("name", TIMES)
def test_times_of_points_make_one_run(name: str) -> None:
    rows = [f"{at},8,{value}" for at, value in zip(TIMES[name], POINTS, strict=True)]
    (run,) = _read(f"{name},threads,TPS", *rows).runs
    (series,) = run.courses
    assert series.values == tuple(map(float, POINTS))
    assert list(series.at_s) == sorted(set(series.at_s))
    assert series.at_s[-1] < 90000
    assert (run.labels, run.readings) == ({}, ())


@pytest.mark.parametrize("name", TIMES)
def test_times_of_points_make_one_run_of_each_level_in_a_long_table(name: str) -> None:
    rows = [f"x,{level},{at},tps,1/s,{value}" for level in "ab" for at, value in zip(TIMES[name], POINTS, strict=True)]
    log = _read(f"factor,level,{name},metric,unit,value", *rows)
    assert [(run.labels, [len(series.values) for series in run.courses]) for run in log.runs] == [
        ({"x": "a"}, [6]),
        ({"x": "b"}, [6]),
    ]


def test_times_that_begin_again_are_another_run() -> None:
    rows = [f"{at},{first}{value}" for first in "12" for at, value in zip(TIMES["second"], POINTS, strict=True)]
    assert [len(run.courses[0].values) for run in _read("second,TPS", *rows).runs] == [6, 6]


def test_short_runs_that_begin_again_are_runs() -> None:
    rows = [f"{at},8,{run}0{at}.5" for run in range(1, 6) for at in (1, 2, 3)]
    assert [len(run.courses[0].values) for run in _read("second,threads,TPS", *rows).runs] == [3] * 5


@pytest.mark.parametrize("heads", ["clock,threads,TPS", "clock,threads,metric,value"])
def test_midnight_is_no_beginning_of_a_run(heads: str) -> None:
    times = ("23:59:50", "23:59:55", "00:00:00", "00:00:05", "00:00:10", "00:00:15")
    metric = "tps," if "metric" in heads else ""
    (run,) = _read(heads, *(f"{at},8,{metric}10{n}.5" for n, at in enumerate(times))).runs
    (series,) = run.courses
    assert [at - series.at_s[0] for at in series.at_s] == [0, 5, 10, 15, 20, 25]


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("timestamp", ("2024-05-06 07:00:00", "2024-05-06 08:00:00", "2024-05-06 09:10:00", "2024-05-06 10:00:00")),
        ("seq", ("1", "2", "3", "4")),
        ("Notes", ("first", "after a reboot", "", "again")),
        ("source_line", ("10", "20", "30", "40")),
        ("row", ("1", "2", "3", "4")),
        ("source", ("a.txt:10", "a.txt:20", "b.txt:10", "b.txt:20")),
        ("page", ("p. 3", "p. 4", "pp. 5-6", "7")),
        ("remark", ("a", "b", "c", "d")),
        ("#", ("1", "2", "3", "4")),
        ("kernel messages", ("none that we saw in dmesg", "one page allocation failure again", "no word", "")),
    ],
)
def test_notes_and_row_numbers_are_no_factor(name: str, cells: Sequence[str]) -> None:
    settings = ("noop,8", "noop,16", "cfq,8", "cfq,16")
    plain = _read("scheduler,threads,TPS", *(f"{setting},10{n}.5" for n, setting in enumerate(settings)))
    rows = (f"{setting},{cell},10{n}.5" for n, (setting, cell) in enumerate(zip(settings, cells, strict=True)))
    log = _read(f"scheduler,threads,{name},TPS", *rows)
    assert log.runs == plain.runs
    assert log.remarks == (f"the column {name} is not read: it holds notes or numbers of rows",)


@pytest.mark.parametrize(
    ("name", "cells"),
    [("file", ("noop1.log", "noop1.log", "cfq1.log", "cfq1.log")), ("file", ("a1.log", "a2.log", "b1.log", "b2.log"))],
)
def test_names_of_files_are_levels(name: str, cells: Sequence[str]) -> None:
    rows = (f"{load},{cell},10{n}.5,9" for n, (load, cell) in enumerate(zip((8, 16, 8, 16), cells, strict=True)))
    assert [run.labels for run in _read(f"threads,{name},TPS,p95 (ms)", *rows).runs] == [{name: cell} for cell in cells]


def test_rows_that_are_numbered_throughout_stay_repetitions() -> None:
    rows = [f"{row},{('noop', 'cfq')[row % 2]},8,10{row}.5" for row in range(1, 7)]
    assert [len(run.readings) for run in _read("row,scheduler,threads,TPS", *rows).runs] == [1] * 6


def test_an_index_that_is_on_or_off_is_a_factor() -> None:
    rows = [f"{index},{threads},{100 + index + threads}.5" for index in (0, 1) for threads in (8, 16, 32)]
    assert [run.labels["index"] for run in _read("index,threads,TPS", *rows).runs] == ["0"] * 3 + ["1"] * 3


def test_start_times_of_repetitions_leave_repetitions() -> None:
    rows = [f"2024-05-06 0{n}:00:00,noop,8,10{n}.5" for n in range(5)]
    log = _read("timestamp,scheduler,threads,TPS", *rows)
    assert [(run.labels, _figures(run)) for run in log.runs] == [
        ({"scheduler": "noop"}, {"throughput_per_s": 100.5 + n}) for n in range(5)
    ]


def test_notes_in_a_long_table_are_no_option() -> None:
    rows = ["x,a,first,tps,100.5", "x,a,second,tps,101.5", "x,b,,tps,99.5"]
    log = _read("factor,level,note,metric,value", *rows)
    assert [(run.labels, run.options) for run in log.runs] == [({"x": "a"}, {}), ({"x": "a"}, {}), ({"x": "b"}, {})]


def test_three_points_from_zero_are_points() -> None:
    assert [len(run.courses) for run in _read("time (s),TPS", "0,100.5", "10,190.5", "20,101.5").runs] == [1]
    assert [run.courses for run in _read("threads,time (s),TPS", "8,60.1,1.5", "8,60.2,1.6", "8,60.3,1.7").runs] == [
        ()
    ] * 3


def test_a_measured_time_is_no_time_of_a_point() -> None:
    log = _read("threads,TPS,time (s)", "1,100.5,60.1", "2,190.5,60.3", "4,300.5,60.2", "8,400.5,60.4")
    assert [(run.load, run.courses) for run in log.runs] == [(1, ()), (2, ()), (4, ()), (8, ())]
