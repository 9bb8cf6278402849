"""A plan's limits: what is still allowed, what ends the experiment, and how that is told."""

import pytest

from paribus.engine.protocol import Interval
from paribus.errors import LimitReached
from paribus.hosts.fake import FakeHost
from paribus.model import Limits
from paribus.trial.limits import refuse_load, refuse_machine

SECOND = Interval(
    event="interval",
    window="w",
    start_s=0.0,
    duration_s=0.5,
    operations=100,
    reads=100,
    writes=0,
    fsyncs=0,
    read_bytes=1,
    written_bytes=0,
    errors={"io-error": 3},
    mean_s=0.001,
    p50_s=0.001,
    p95_s=0.002,
    p99_s=0.010,
    max_s=0.011,
    offered=None,
    backlog=None,
)


@pytest.mark.parametrize(
    "limits", [Limits(), Limits(response_p99_s=0.010, errors_per_s=6), Limits(free_bytes=1, temperature_c=0)]
)
def test_load_within_its_limits_continues(limits: Limits) -> None:
    refuse_load(limits, SECOND)


def test_a_second_in_which_nothing_ended_has_no_response_time() -> None:
    refuse_load(Limits(response_p99_s=0.001), SECOND.model_copy(update={"p99_s": None}))


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        (Limits(response_p99_s=0.009), "the p99 response time was 10 ms, over 9 ms"),
        (Limits(errors_per_s=5), "the workload reported 6 errors per second, over 5"),
    ],
)
def test_a_load_beyond_its_limit_is_told_with_the_key(limits: Limits, words: str) -> None:
    with pytest.raises(LimitReached, match=words) as reached:
        refuse_load(limits, SECOND)
    assert "change limits." in reached.value.todo


def test_a_machine_that_is_too_hot_makes_no_further_trial() -> None:
    host = FakeHost(
        {"/sys/class/thermal/thermal_zone0/temp": "91000\n", "/sys/class/thermal/cooling_device0/temp": "9"}
    )
    refuse_machine(Limits(temperature_c=91), host, "engine", "/")
    with pytest.raises(LimitReached, match="at 91 °C, over 90 °C"):
        refuse_machine(Limits(temperature_c=90), host, "engine", "/")
    refuse_machine(Limits(temperature_c=1), FakeHost({}), "engine", "/")
