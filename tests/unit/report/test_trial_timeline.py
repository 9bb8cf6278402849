"""Timeline of trials: their fates, reasons, bounds, and the load of other processes."""

import re
from collections.abc import Sequence
from dataclasses import replace

import pytest
from report_samples import Bench, many, typical

from paribus.model import Experiment, ExperimentState, FailureClass, Measurement, TrialState
from paribus.report.charts.timeline import LOAD_HEIGHT, WIDTH, lane_bars, load_paths
from paribus.report.render import html
from paribus.report.view.timeline_models import TrialTimeline


def _bench(trials: int, *states: dict[str, object], step_s: float = 10.0) -> Bench:
    """Trials of 8 s, one every `step_s`; the first have the given fields."""
    bench = Bench()
    start = bench.experiment.started
    for number in range(trials):
        times = {"started": start + number * step_s, "ended": start + number * step_s + 0.8 * step_s}
        changes = times | (states[number] if number < len(states) else {})
        bench.trial("k", "b", baseline=False, workload="w", load=8, **changes)
    return bench


def _with_other_load(bench: Bench, shares: Sequence[float | None]) -> Bench:
    for trial, share in zip(bench.trials, shares, strict=True):
        if share is not None:
            bench.summaries.setdefault(trial.order, {})["other_cpu_share"] = Measurement(
                phase="measure",
                metric="other_cpu_share",
                unit="",
                source="census",
                n=1,
                mean=share,
                low=share,
                high=share,
                total=share,
            )
    return bench


def _timeline(bench: Bench) -> TrialTimeline:
    timeline = bench.view().trust.timeline
    assert timeline is not None
    return timeline


def test_each_fate_has_a_lane_with_its_trials_and_reasons() -> None:
    timeline = _timeline(
        _bench(
            6,
            {"state": TrialState.INVALID, "invalid_because": ("a stall",)},
            {"state": TrialState.SUPERSEDED, "invalid_because": ("foreign I/O",)},
            {"state": TrialState.SUPERSEDED},
            {"state": TrialState.FAILED, "failure": FailureClass.NO_DATA, "failure_message": "nothing came"},
        )
    )
    assert [(lane.kind, lane.count) for lane in timeline.lanes] == [
        ("valid", 2),
        ("invalid", 2),
        ("failed", 1),
        ("rerun", 1),
    ]
    assert timeline.summary == "valid 2, invalid 2, failed 1, rerun with their block 1"
    texts = [[bar.text for bar in lane.bars] for lane in timeline.lanes]
    assert texts[1] == ["trial 1: a stall", "trial 2: foreign I/O"]
    assert texts[2] == ["trial 4: no-data: nothing came"]
    assert texts[0] == ["trial 5", "trial 6"]


def test_places_are_shares_of_the_time_and_ticks_have_a_unit() -> None:
    timeline = _timeline(_bench(6))
    (lane,) = timeline.lanes
    assert (lane.bars[0].start, lane.bars[-1].end) == (0.0, 1.0)
    assert lane.bars[1].start == pytest.approx(10 / 58)
    assert timeline.unit == "seconds since the beginning"
    assert [text for _, text in timeline.ticks] == ["0", "10", "20", "30", "40", "50"]
    assert _timeline(_bench(100)).unit == "minutes since the beginning"
    assert _timeline(_bench(100, step_s=500)).unit == "hours since the beginning"
    assert _timeline(_bench(100, step_s=20_000)).unit == "days since the beginning"


@pytest.mark.parametrize("trials", [1000, 20_000])
def test_of_thousands_of_trials_those_that_begin_together_are_one_bar(trials: int) -> None:
    (lane,) = _timeline(_with_other_load(_bench(trials), [0.1] * trials)).lanes
    assert lane.count == trials
    assert len(lane.bars) <= 401
    assert lane.bars[0].text.startswith("trials 1")


def test_a_single_invalid_trial_among_thousands_stays_visible() -> None:
    fields = [{}] * 500 + [{"state": TrialState.INVALID, "invalid_because": ("a stall",)}]
    _, invalid = _timeline(_bench(9000, *fields)).lanes
    (bar,) = lane_bars(invalid)
    assert bar.width >= 4
    assert bar.text == "trial 501: a stall"


def test_bars_stay_inside_the_picture() -> None:
    for lane in _timeline(_bench(9000, *[{"state": TrialState.SUPERSEDED}] * 4000)).lanes:
        assert all(bar.x >= 0 and bar.x + bar.width <= WIDTH + 0.11 for bar in lane_bars(lane))


def test_the_load_of_others_is_a_line_up_to_its_highest_share() -> None:
    line = _timeline(_with_other_load(_bench(4), [0.0, 0.5, 0.25, None])).other_load
    assert line is not None
    assert line.most == "up to 50 % of the processors"
    assert [share for _, share in line.parts[0]] == [0.0, 1.0, 0.5]
    (path,) = load_paths(line)
    assert path == f"M105.3 {LOAD_HEIGHT}L105.3 40.0L368.4 0.0L631.6 20.0L631.6 {LOAD_HEIGHT}Z"


def test_the_line_ends_at_a_pause() -> None:
    bench = _with_other_load(_bench(20), [0.1] * 20)
    bench.trials = [
        trial if trial.order <= 10 else replace(trial, started=trial.started + 9000, ended=trial.ended + 9000)
        for trial in bench.trials
        if trial.started is not None and trial.ended is not None
    ]
    line = _timeline(bench).other_load
    assert line is not None
    assert len(line.parts) == 2


def test_without_a_census_there_is_no_line_and_without_times_no_picture() -> None:
    assert _timeline(_bench(4)).other_load is None
    for bench in (Bench(), _bench(3, *[{"started": None, "ended": None, "state": TrialState.PLANNED}] * 3)):
        assert bench.view().trust.timeline is None
        assert "timeline" not in _body(html.render(bench.view()))


def test_an_imported_set_has_no_timeline() -> None:
    bench = _bench(4)
    bench.experiment = _imported(bench.experiment)
    assert bench.view().trust.timeline is None


def _imported(experiment: Experiment) -> Experiment:
    return replace(experiment, state=ExperimentState.IMPORTED)


def _body(page: str) -> str:
    return re.sub(r"<(script|style).*?</\1>", "", page, flags=re.DOTALL)


def test_the_page_draws_it_with_descriptions_and_escaped_reasons() -> None:
    evil = "</title></svg><script>alert(1)</script>"
    bench = _with_other_load(_bench(3, {"state": TrialState.INVALID, "invalid_because": (evil,)}), [0.2, 0.3, 0.4])
    body = _body(html.render(bench.view()))
    fold = body.split('class="timeline"', 1)[1].split("</details>", 1)[0]
    assert fold.count('role="img" aria-label="') == 3
    assert "<title>trial 1: &lt;/title&gt;" in fold
    assert evil not in body


def test_a_page_of_many_trials_grows_by_little() -> None:
    bench = _with_other_load(_bench(3000), [0.1] * 3000)
    fold = html.render(bench.view()).split('class="timeline"', 1)[1].split("</details>", 1)[0]
    assert len(fold) < 100_000


def test_typical_reports_have_it() -> None:
    assert _timeline(typical()).summary == "valid 55, invalid 1, failed 2, rerun with their block 2"
    assert _timeline(many(2)).lanes[0].kind == "valid"
