"""Laws within a cell: each example violates one, or just satisfies it."""

import random
from dataclasses import replace

import pytest
from published import log, printed, scaled, with_figure

from paribus.plausibility import NAMES, Breach, StatedCell, StatedFigure, of_cell

_SETS = 600
_PUBLISHED = {  # a run of sysbench 1.0.20 as a field report prints it
    "throughput_per_s": StatedFigure(491.43, "491.43"),
    "queries_per_s": StatedFigure(2948.62, "2948.62"),
    "operations": StatedFigure(147483, "147483"),
    "queries": StatedFigure(884902, "884902"),
    "queries_read": StatedFigure(0, "0"),
    "queries_write": StatedFigure(589934, "589934"),
    "queries_other": StatedFigure(294968, "294968"),
    "duration_s": StatedFigure(300.105, "300.1050"),
    "response_min_s": StatedFigure(0.00258, "2.58"),
    "response_mean_s": StatedFigure(0.01627, "16.27"),
    "response_p95_s": StatedFigure(0.03559, "35.59"),
    "response_max_s": StatedFigure(2.60834, "2608.34"),
    "response_sum_s": StatedFigure(2399.41558, "2399415.58"),
}
_RUN = StatedCell(figures=_PUBLISHED, source="run.log", line=3, load=8, closed=True)


def _stated(**figures: str) -> StatedCell:
    return StatedCell(
        figures={name: StatedFigure(float(text), text) for name, text in figures.items()}, table="T", load=8
    )


def _laws(cell: StatedCell) -> set[str]:
    return {breach.law for breach in of_cell(cell)}


def test_a_published_run_breaks_no_law() -> None:
    assert of_cell(_RUN) == []


@pytest.mark.parametrize(
    ("metric", "written", "law", "implied"),
    [
        ("duration_s", StatedFigure(30.0105, "30.0105s"), "rate = events / time", 300.11),
        ("response_mean_s", StatedFigure(0.1627, "162.7"), "mean x count = sum", 0.01627),
        ("throughput_per_s", StatedFigure(941.43, "941.43"), "rate = events / time", 491.44),
        ("queries", StatedFigure(848902, "848902"), "read + write + other = total", 884902),
        ("operations", StatedFigure(174483, "174483"), "rate = events / time", 147481),
        ("response_sum_s", StatedFigure(2399415.58, "2399415.58s"), "mean x count = sum", 2399.5),
    ],
)
def test_the_figure_that_alone_would_explain_it_is_singled_out(
    metric: str, written: StatedFigure, law: str, implied: float
) -> None:
    (breach,) = of_cell(with_figure(_RUN, metric, written))
    assert (breach.law, breach.metric, breach.stated) == (law, metric, written.value)
    assert breach.implied == pytest.approx(implied, rel=1e-3)
    assert breach.grave


def test_an_impossible_thread_count_violates_littles_law() -> None:
    (breach,) = of_cell(replace(_RUN, load=16))
    assert (breach.law, breach.metric) == ("Little's law", "load")
    assert breach.implied == pytest.approx(8, rel=0.01)


def test_no_operation_ends_before_the_shortest_one() -> None:
    figures = {name: _PUBLISHED[name] for name in ("throughput_per_s", "response_min_s")}
    stated = StatedCell(figures=figures, source="run.log", line=3, load=8, closed=True)
    assert of_cell(stated) == []
    assert of_cell(replace(stated, load=2)) == [], "491/s of 2.58 ms each keep 1.27 threads busy"
    (breach,) = of_cell(replace(stated, load=1))
    assert breach.law == "Little's law"
    assert (
        "operations of 2.58 ms or longer make at most 387.6 per second in 1 thread, but 491.43 is stated"
        in breach.words
    )
    assert of_cell(replace(stated, load=1, closed=False)) == []


def test_clients_that_think_keep_fewer_threads_busy_and_never_more() -> None:
    assert of_cell(replace(_RUN, load=16, think=True)) == []
    assert _laws(replace(_RUN, load=4, think=True)) == {"time available"}
    assert of_cell(replace(_RUN, load=16, closed=False)) == []


def test_an_operation_that_a_short_window_cuts_is_no_breach() -> None:
    """Four operations outstanding; one of 44 ms was in flight at the start of the 50 ms window."""
    figures = {"throughput_per_s": 200.0, "response_mean_s": 0.027, "response_max_s": 0.044, "duration_s": 0.05}
    cut = StatedCell(figures={name: StatedFigure(value) for name, value in figures.items()}, load=4, closed=True)
    assert of_cell(cut) == []
    assert _laws(with_figure(cut, "response_max_s", StatedFigure(0.028))) == set()
    assert _laws(with_figure(replace(cut, load=2), "response_max_s", StatedFigure(0.03))) == {"Little's law"}


def test_figures_that_may_each_be_wrong_are_reported_together() -> None:
    cell = replace(_stated(throughput_per_s="1200", queries_per_s="18000"), queries_each=18)
    cell = replace(cell, table="000-T15", levels={"OP": "15%"}, load=64)
    (breach,) = of_cell(cell)
    assert breach.words == (
        "queries per transaction: TPS 1,200 does not fit QPS 18,000 at 18 queries a transaction; "
        "TPS 1,000 or QPS 21,600 would [000-T15, OP 15%, 64 threads]"
    )
    assert (breach.metric, breach.implied) == ("", None)


def test_the_precision_of_a_figure_is_that_of_its_text() -> None:
    within = replace(_stated(throughput_per_s="34", bytes_per_s="557056"), block_bytes=16384)
    assert of_cell(within) == []
    assert of_cell(with_figure(within, "throughput_per_s", StatedFigure(33.6, "34"))) == []
    assert _laws(with_figure(within, "throughput_per_s", StatedFigure(34.9, "34.90"))) == {"IOPS x block size"}


@pytest.mark.parametrize(
    ("factor", "mistake"), [(2**20 / 1e6, "MB and MiB"), (8, "bits and bytes"), (1024, "binary prefix")]
)
def test_a_mistaken_unit_is_named_and_singles_out_the_throughput(factor: float, mistake: str) -> None:
    cell = StatedCell(
        figures={
            "throughput_per_s": StatedFigure(24226.79, "24226.79"),
            "bytes_per_s": printed(24226.79 * 16384 * factor, 2**20),
        },
        table="T",
        block_bytes=16384,
    )
    (breach,) = of_cell(cell)
    assert mistake in breach.words
    assert breach.metric == "bytes_per_s"


@pytest.mark.parametrize(
    ("figures", "law"),
    [
        ({"iowait_share": "1.3"}, "shares"),
        ({"throughput_per_s": "-5"}, "signs"),
        ({"throughput_per_s": "0.00", "operations": "100000"}, "signs"),
        ({"response_p95_s": "5.0", "response_p99_s": "4.0"}, "order of response times"),
        ({"response_min_s": "3.0", "response_mean_s": "2.0"}, "order of response times"),
        (
            {"response_min_s": "1", "response_mean_s": "9", "response_p95_s": "5", "response_max_s": "20"},
            "order of response times",
        ),
        ({"reads_per_s": "60.00", "writes_per_s": "40.00", "throughput_per_s": "120.00"}, "reads + writes = total"),
        (
            {"read_bytes_per_s": "160.99", "written_bytes_per_s": "163.99", "bytes_per_s": "334.98"},
            "reads + writes = total",
        ),
    ],
)
def test_impossible_figures_are_reported(figures: dict[str, str], law: str) -> None:
    assert _laws(_stated(**figures)) == {law}


@pytest.mark.parametrize(
    "figures",
    [
        {"iowait_share": "1.004"},  # tools print a little more than 100 %
        {"response_min_s": "1", "response_mean_s": "9", "response_p95_s": "5", "response_max_s": "200"},  # a long tail
        {"response_p95_s": "4.05", "response_max_s": "4.00"},  # read off a bucket
        {"reads_per_s": "60.00", "writes_per_s": "40.00", "fsyncs_per_s": "20.00", "throughput_per_s": "120.00"},
        {"throughput_per_s": "0.00", "operations": "100"},  # 100 in a day
        {"response_p95_s": "0.00", "response_min_s": "0.10"},  # percentiles turned off
    ],
)
def test_possible_figures_are_not_reported(figures: dict[str, str]) -> None:
    assert of_cell(_stated(**figures)) == []


def test_runs_without_an_error_give_no_alarm() -> None:
    alarms = [breach.words for seed in range(_SETS) for breach in of_cell(log(random.Random(seed)))]
    assert len(alarms) < _SETS / 100, alarms[:5]


def test_one_wrong_figure_is_found_and_no_other_is_blamed() -> None:
    metrics = ("throughput_per_s", "operations", "queries", "duration_s", "response_mean_s", "response_sum_s")
    singled = 0
    for seed in range(_SETS):
        rng = random.Random(seed)
        metric = rng.choice(metrics)
        wrong = scaled(log(rng), metric, rng.choice((rng.uniform(1.1, 2), rng.uniform(0.5, 0.9), 10, 0.1)))
        breaches = of_cell(wrong)
        assert breaches, (seed, metric)
        assert {breach.metric for breach in breaches} <= {metric, ""}, (seed, metric, breaches)
        singled += any(breach.metric == metric for breach in breaches)
    assert singled >= 0.95 * _SETS


def test_every_breach_has_a_name_that_is_listed() -> None:
    breaches: list[Breach] = [
        breach for metric in _PUBLISHED for breach in of_cell(scaled(_RUN, metric, 7)) if _PUBLISHED[metric].value
    ]
    assert {breach.law for breach in breaches} <= set(NAMES)
    assert all(breach.words.startswith(breach.law) and breach.where in breach.words for breach in breaches)


def _report(**figures: tuple[float, str]) -> StatedCell:
    stated = {
        name.replace("_again", ":again"): StatedFigure(*value_and_text) for name, value_and_text in figures.items()
    }
    return StatedCell(figures=stated, source="log", load=8)


def test_means_per_thread_give_the_total() -> None:
    fits = {"operations": (147483, "147483"), "thread_events_mean": (18435.375, "18435.3750")}
    times = {"response_sum_s": (2399.41558, "2399415.58"), "thread_time_mean_s": (299.9269, "299.9269")}
    assert of_cell(_report(**fits, **times)) == []
    (breach,) = of_cell(_report(**{**fits, "thread_events_mean": (18935.375, "18935.3750")}))
    assert (breach.law, "18,435.375" in breach.words) == ("mean of threads x threads = total", True)
    (breach,) = of_cell(_report(**{**times, "response_sum_s": (2899.41558, "2899415.58")}))
    assert breach.law == "mean of threads x threads = total"


def test_a_count_under_two_names_is_one_number() -> None:
    counts = {"operations": (1000002.0, "1000002"), "operations_again": (1000002.0, "1000002")}
    assert of_cell(_report(**counts)) == []
    (breach,) = of_cell(_report(**{**counts, "operations_again": (1300002.0, "1300002")}))
    assert (breach.law, "1,300,002 in another" in breach.words) == ("one count with two values", True)


def test_bytes_and_duration_give_the_throughput() -> None:
    figures = {"written_bytes_per_s": (427.24 * 2**20, "427.24 MiB/s"), "duration_s": (47.94, "47.94")}
    assert of_cell(_report(bytes_written=(21474836480.0, "21474836480"), **figures)) == []
    (breach,) = of_cell(_report(bytes_written=(21874836480.0, "21874836480"), **figures))
    assert breach.law == "rate = events / time"
