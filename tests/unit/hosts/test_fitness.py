"""Conditions of a machine: what is found, and what it is taken for."""

import pytest

from paribus.hosts.fake import FakeHost
from paribus.hosts.fitness import IdleSample, conditions
from paribus.model import Fitness

CPU = "/sys/devices/system/cpu"
CLOCK = "/sys/devices/system/clocksource/clocksource0"
QUIET = IdleSample(busy=0.01, stolen=0.0, busiest=(), free_bytes=50, total_bytes=100)
GOOD = {
    "/proc/cpuinfo": "flags\t: fpu sse\n",
    f"{CPU}/cpufreq/policy0/scaling_governor": "performance\n",
    f"{CPU}/intel_pstate/no_turbo": "1\n",
    f"{CPU}/cpu0/thermal_throttle/core_throttle_count": "0\n",
    f"{CLOCK}/current_clocksource": "tsc\n",
    "/sys/class/thermal/thermal_zone0/temp": "48000\n",
    "/proc/meminfo": "SwapTotal:  1000 kB\nSwapFree:  1000 kB\n",
    "/proc/1/comm": "systemd\n",
}


def _conditions_by_name(files: dict[str, str], look: IdleSample = QUIET) -> dict[str, Fitness]:
    return {condition.name: condition.fitness for condition in conditions(FakeHost(files), look)}


def test_a_machine_as_it_should_be_is_fit_in_everything() -> None:
    assert set(_conditions_by_name(GOOD).values()) == {Fitness.FIT}


@pytest.mark.parametrize(
    ("name", "fitness", "files"),
    [
        ("hardware", Fitness.NOTE, {"/proc/cpuinfo": "flags\t: fpu hypervisor\n"}),
        ("governor", Fitness.UNFIT, {f"{CPU}/cpufreq/policy1/scaling_governor": "powersave\n"}),
        ("turbo", Fitness.NOTE, {f"{CPU}/intel_pstate/no_turbo": "0\n"}),
        ("turbo", Fitness.NOTE, {f"{CPU}/cpufreq/boost": "1\n"}),
        ("clock", Fitness.UNFIT, {f"{CLOCK}/current_clocksource": "hpet\n"}),
        ("swap", Fitness.UNFIT, {"/proc/meminfo": "SwapTotal:  1000 kB\nSwapFree:  10 kB\n"}),
        ("heat", Fitness.UNFIT, {f"{CPU}/cpu0/thermal_throttle/core_throttle_count": "7\n"}),
        ("power-profiles-daemon", Fitness.UNFIT, {"/proc/7/comm": "power-profiles-\n"}),
        ("irqbalance", Fitness.UNFIT, {"/proc/7/comm": "irqbalance\n"}),
        ("RAID battery", Fitness.NOTE, {"/sys/bus/pci/devices/0000:01:00.0/class": "0x010400\n"}),
    ],
)
def test_each_condition_is_found_and_told_with_what_mends_it(
    name: str, fitness: Fitness, files: dict[str, str]
) -> None:
    wrong = [
        condition for condition in conditions(FakeHost(GOOD | files), QUIET) if condition.fitness is not Fitness.FIT
    ]
    assert [(condition.name, condition.fitness) for condition in wrong] == [(name, fitness)]
    assert wrong[0].found
    assert wrong[0].fix


@pytest.mark.parametrize(
    ("look", "name", "word"),
    [
        (IdleSample(0.4, 0.0, (("mysqld", 0.3), ("sh", 0.001)), 50, 100), "other load", "mysqld 30%"),
        (IdleSample(0.0, 0.2, (), 50, 100), "neighbours", "20.0%"),
        (IdleSample(0.0, 0.0, (), 5, 100), "space", "5%"),
    ],
)
def test_idle_samples_are_judged(look: IdleSample, name: str, word: str) -> None:
    (wrong,) = [condition for condition in conditions(FakeHost(GOOD), look) if condition.fitness is Fitness.UNFIT]
    assert wrong.name == name
    assert word in wrong.found


def test_a_machine_that_shows_nothing_is_told_of_without_a_crash() -> None:
    assert _conditions_by_name({}, QUIET)["governor"] is Fitness.NOTE
    assert _conditions_by_name({}, QUIET)["heat"] is Fitness.NOTE
