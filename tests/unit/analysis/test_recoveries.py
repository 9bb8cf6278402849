"""Crashes of servers and flushes of guests by arm, and what a report says of them."""

from trial_samples import measured, trial

from paribus.analysis.diagnostics.recovery import flushes, recoveries
from paribus.findings import ArmFlushes, ArmRecovery
from paribus.model import Measurement
from paribus.report.sections.recovery import flushed, recovery


def _crash(seconds: float, acknowledged: float, lost: float) -> dict[str, Measurement]:
    values = {"recovery_s": seconds, "acknowledged_commits": acknowledged, "lost_commits": lost}
    return {metric: measured(value, metric) for metric, value in values.items()}


def test_crashes_are_counted_and_told_by_arm() -> None:
    trials = [trial(1, "1"), trial(2, "0"), trial(3, "0"), trial(4, "0")]
    summaries = {1: _crash(2.0, 500.0, 0.0), 2: _crash(1.0, 4000.0, 1500.0), 3: _crash(4.0, 6000.0, 2000.0), 4: {}}
    arms = recoveries(trials, summaries, 0.95)
    safe, fast = arms
    assert (safe.acknowledged, safe.lost, safe.trials) == (500, 0, (1,))
    assert (fast.acknowledged, fast.lost, fast.trials) == (10_000, 3500, (2, 3))
    assert fast.restart_s.value == 2.0
    assert safe.restart_s.low is None

    class Inputs:
        def of(self, kind: type) -> tuple[ArmRecovery, ...]:
            return arms if kind is ArmRecovery else ()

    [table] = recovery(Inputs())  # type: ignore[arg-type]
    assert table.rows[0][2:] == ("2 s", "0 of 500", "1")
    assert table.rows[1][3:] == ("3,500 of 10,000", "2")
    assert recoveries([trial(1)], {1: {}}, 0.95) == ()


def test_server_that_a_power_cut_has_spoilt_has_no_restart_and_is_counted() -> None:
    def cut(acknowledged: float, lost: float, spoilt: float) -> dict[str, Measurement]:
        values = {"acknowledged_commits": acknowledged, "lost_commits": lost, "power_cut_spoilt": spoilt}
        return {metric: measured(value, metric) for metric, value in values.items()}

    trials = [trial(1, "on"), trial(2, "off"), trial(3, "off")]
    summaries = {
        1: _crash(2.0, 500.0, 0.0) | cut(500.0, 0.0, 0.0),
        2: cut(900.0, 900.0, 1.0),
        3: cut(800.0, 800.0, 1.0),
    }
    arms = recoveries(trials, summaries, 0.95)
    assert [(arm.power_cut, arm.spoilt, arm.lost) for arm in arms] == [(True, 0, 0), (True, 2, 1700)]
    assert arms[1].restart_s is None

    class Inputs:
        def of(self, kind: type) -> tuple[ArmRecovery, ...]:
            return arms if kind is ArmRecovery else ()

    [table] = recovery(Inputs())  # type: ignore[arg-type]
    assert table.head[-2:] == ("spoilt", "trials")
    assert table.rows[1][2:] == ("–", "1,700 of 1,700", "2", "2")


def test_flushes_that_ended_in_memory_are_counted_by_arm() -> None:
    mib = float(1 << 20)

    def flush(unwritten: float) -> dict[str, Measurement]:
        values = {"flushed_bytes": mib, "unwritten_bytes": unwritten}
        return {metric: measured(value, metric) for metric, value in values.items()}

    trials = [trial(1, "none"), trial(2, "unsafe"), trial(3, "unsafe"), trial(4, "unsafe")]
    arms = flushes(trials, {1: flush(0.0), 2: flush(mib), 3: flush(0.0), 4: {}})
    assert [(arm.arm, arm.exposed, arm.trials) for arm in arms] == [("none", 0, (1,)), ("unsafe", 1, (2, 3))]

    class Inputs:
        def of(self, kind: type) -> tuple[ArmFlushes, ...]:
            return arms if kind is ArmFlushes else ()

    [table] = flushed(Inputs())  # type: ignore[arg-type]
    assert [row[2:] for row in table.rows] == [("1 MiB", "0 B", "0 of 1"), ("2 MiB", "1 MiB", "1 of 2")]
