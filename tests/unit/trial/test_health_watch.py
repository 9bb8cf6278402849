"""The health of a machine around a trial."""

import pytest

from paribus.errors import Interrupted, LimitReached
from paribus.hosts.transport import Completed
from paribus.model import CommandLines, HealthCheck
from paribus.trial import health
from paribus.trial.health import HealthWatch

COMMAND = CommandLines(get=("raid", "show"), set=(), pattern="^(.*)$")
BATTERY = HealthCheck(name="raid.battery", command=COMMAND, summary="", sound=("Optimal", "Charging"))
TEMPERATURE = HealthCheck(name="drive.temperature", command=COMMAND, summary="", unit="°C", maximum=70)


class Controller:
    """A program that prints one state after the other; the last stays."""

    def __init__(self, *states: str) -> None:
        self.states = list(states)

    def run(self, _argv: list[str], **_options: object) -> Completed:
        return Completed(0, self.states.pop(0) if len(self.states) > 1 else self.states[0], "")


def watch(check: HealthCheck, *states: str, stopped: bool = False) -> HealthWatch:
    return HealthWatch(Controller(*states), [check], lambda: stopped)  # type: ignore[arg-type]


def test_a_state_that_holds_is_a_condition_of_the_trial() -> None:
    watching = watch(BATTERY, "Optimal")
    assert watching.begin(lambda _reason: None) == {"raid.battery": "Optimal"}
    assert watching.end() == []
    assert watching.measurements() == ()


def test_a_battery_that_falls_back_in_a_trial_voids_it_and_not_the_next() -> None:
    watching = watch(BATTERY, "Optimal", "Optimal", "Learning", "Optimal")
    watching.begin(lambda _reason: None)
    watching.pass_time(5.0)  # too early for another look
    watching.pass_time(10.0)
    watching.pass_time(20.0)
    assert watching.end() == ["raid.battery is Learning, and not Optimal, Charging"]
    watching.begin(lambda _reason: None)
    assert watching.end() == []


def test_a_state_that_cannot_be_read_voids_the_trial() -> None:
    number = HealthCheck(name="t", command=CommandLines(get=("x",), set=(), pattern="([0-9]+)"), summary="")
    watching = watch(number, "45", "no such drive")
    watching.begin(lambda _reason: None)
    [reason] = watching.end()
    assert reason.startswith("t could not be read: `x` (exit code 0) does not print it")


def test_numbers_are_measured() -> None:
    watching = watch(TEMPERATURE, "45", "50", "70")
    assert watching.begin(lambda _reason: None) == {}
    watching.pass_time(10.0)
    assert watching.end() == []
    [measured] = watching.measurements()
    assert (measured.metric, measured.unit) == ("health drive.temperature", "°C")
    assert (measured.n, measured.mean, measured.low, measured.high) == (3, 55.0, 45.0, 70.0)


def test_a_trial_waits_until_it_would_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "_EVERY_S", 0.01)
    heard: list[str] = []
    watching = watch(BATTERY, "Learning", "Learning", "Failed", "Optimal")
    assert watching.begin(heard.append) == {"raid.battery": "Optimal"}
    assert heard == [
        "waiting until trials count again: raid.battery is Learning, and not Optimal, Charging",
        "waiting until trials count again: raid.battery is Failed, and not Optimal, Charging",
    ]


def test_the_last_look_of_a_trial_is_the_first_of_the_next() -> None:
    watching = watch(BATTERY, "Optimal", "Charging", "Optimal", "Learning")
    assert watching.begin(lambda _reason: None) == {"raid.battery": "Optimal"}
    assert watching.end() == []
    assert watching.begin(lambda _reason: None) == {"raid.battery": "Charging"}
    assert watching.end() == []
    watching.begin(lambda _reason: None)
    assert watching.end() == ["raid.battery is Learning, and not Optimal, Charging"]


def test_the_wait_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "_PATIENCE_S", 0.0)
    with pytest.raises(LimitReached, match=r"no trial would count for an hour: raid\.battery is Failed"):
        watch(BATTERY, "Failed").begin(lambda _reason: None)


def test_the_user_ends_the_wait() -> None:
    with pytest.raises(Interrupted, match="stopped while the machine was not fit"):
        watch(BATTERY, "Failed", stopped=True).begin(lambda _reason: None)


def test_a_state_that_is_expected_in_a_trial_voids_it_not_and_delays_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "_EVERY_S", 0.01)
    heard: list[str] = []
    watching = watch(BATTERY, "Optimal", "Failed", "Failed", "Optimal")
    watching.begin(heard.append, ["raid.battery"])
    assert watching.end() == []
    watching.begin(heard.append, ["raid.battery"])
    assert heard == ["waiting until trials count again: raid.battery is Failed, and not Optimal, Charging"]
