"""Phases of arms from the phases of their trials, and what a report says of them."""

import pytest
from trial_samples import measured, trial

from paribus.analysis.diagnostics.event_phases import arm_phases
from paribus.findings import ArmPhases
from paribus.model import Measurement, PlannedEvent
from paribus.report.sections.event_phases import event_phases
from paribus.report.view.blocks import ItemList, WordTable

EVENTS = (
    PlannedEvent(at_s=10.0, action="fail-member", disk="ssd-2"),
    PlannedEvent(at_s=20.0, action="replace", disk="ssd-2"),
)


def _trial(share: float, rebuild_s: float | None) -> dict[str, Measurement]:
    values = {
        "before_per_s": 1000.0,
        "before_stall_s": 0.01,
        "degraded_per_s": 1000.0 * share,
        "degraded_share": share,
        "degraded_stall_s": 2.5,
        "rebuilding_per_s": 500.0,
        "rebuilding_share": 0.5,
        "rebuilding_stall_s": 0.5,
        "event_1_s": 10.0,
        "event_2_s": 20.0,
        "outage_s": 4.0,
        **({"rebuild_s": rebuild_s, "impaired_s": rebuild_s + 10.0, "rebuilt_bytes": 2.0**30} if rebuild_s else {}),
    }
    return {metric: measured(value, metric) for metric, value in values.items()}


@pytest.fixture
def arms() -> tuple[ArmPhases, ...]:
    trials = [trial(1, "RAID 5"), trial(2, "RAID 5"), trial(3, "RAID 10"), trial(4, "RAID 10")]
    summaries = {1: _trial(0.5, 15.0), 2: _trial(0.6, None), 3: _trial(0.9, 10.0), 4: _trial(0.9, 10.0)}
    course = [1000.0, 1001.0] * 5 + [500.0, 501.0] * 5 + [300.0, 301.0] * 5 + [900.0, 901.0] * 5
    courses = {order: measured(1.0, points=tuple(course), start_s=0.0, step_s=1.0) for order in summaries}
    return arm_phases(trials, summaries, courses, EVENTS, 0.95)


def test_trials_are_the_unit_of_each_phase(arms: tuple[ArmPhases, ...]) -> None:
    five, ten = arms
    assert [phase.phase for phase in five.phases] == ["before", "degraded", "rebuilding"]
    share = five.phases[1].share
    assert share is not None and share.low is not None and share.high is not None
    assert share.value == pytest.approx((0.5 * 0.6) ** 0.5)
    assert share.low < 0.5
    assert share.high > 0.6
    assert five.phases[0].share is None
    assert (five.rebuilt, ten.rebuilt) == (1, 2)
    assert five.course[:2] == (1000.0, 1001.0)
    assert ten.outage_s is not None and ten.outage_s.value == pytest.approx(4.0)
    assert (five.impaired, ten.impaired) == (1, 0)
    assert ten.impaired_s is not None and ten.impaired_s.value == pytest.approx(20.0)
    assert ten.rebuild_s is not None and ten.rebuild_s.value == pytest.approx(10.0)
    assert ten.rebuilt_bytes is not None and ten.rebuilt_bytes.value == pytest.approx(2.0**30)
    assert arm_phases([trial(1)], {1: {}}, {}, EVENTS, 0.95) == ()


def test_changes_of_the_course_match_events(arms: tuple[ArmPhases, ...]) -> None:
    """The course changes at 10, 20 and 30 s; the first arm rebuilt until 35 s, in one of two trials."""
    five, ten = arms
    seen = {change.phase: (change.seen, change.trials) for change in five.changes}
    assert seen == {"degraded": (2, 2), "rebuilding": (2, 2), "rebuilt": (0, 1)}
    assert (five.unmatched, ten.unmatched) == (2, 0)
    degraded, _, rebuilt = ten.changes
    assert degraded.ratio is not None and degraded.ratio.value == pytest.approx(0.5, abs=0.01)
    assert degraded.delay_s == 0.0
    assert rebuilt.ratio is not None and rebuilt.ratio.value == pytest.approx(3.0, abs=0.01)


def test_a_report_says_what_an_arm_keeps(arms: tuple[ArmPhases, ...]) -> None:
    class Inputs:
        def of(self, kind: type) -> tuple[ArmPhases, ...]:
            return arms if kind is ArmPhases else ()

    table, changes, courses = event_phases(Inputs())  # type: ignore[arg-type]
    assert isinstance(table, WordTable) and isinstance(changes, WordTable) and isinstance(courses, ItemList)
    assert changes.rows[0][2:] == ("degraded", "2 of 2", "+0.0 s", "−50 % [−50 %, −50 %]")
    assert "trials that match nothing: 2." in changes.note
    assert len(table.rows) == 6
    assert table.rows[4][2:] == ("degraded", "900 [900, 900]", "90 % [90 %, 90 %]", "2.5 s", "2")
    first = courses.items[0]
    assert first.text.startswith("k = RAID 5 (w, 1 thread): keeps 55 % [")
    assert "the rebuild takes 15 s" in first.text
    assert "1 GiB are written to the rebuilt disk meanwhile" in first.text
    assert "in 1 of 2 trials the rebuild did not end" in first.text
    assert first.sparkline is not None
