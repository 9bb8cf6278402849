"""AdviceRules held against facts: what differs, why others do not apply, and what a measurement here says."""

import pytest

from paribus.audit import (
    AdviceItem,
    AdviceRule,
    AdviceRules,
    AdviceSource,
    AdviceStatus,
    AuditFacts,
    Evidence,
    Lack,
    LocalMeasurement,
    Scalar,
    SettingInForce,
    assess,
)
from paribus.model import Verdict

SOURCE = AdviceSource(title="A manual", author="A maker", url="https://example.org/", evidence=Evidence.DOCUMENTATION)
FACTS = AuditFacts(
    facts={"memory": 16 * 2**30, "kernel": "6.1.0", "device_kind": "ssd", "server": "mariadb", "version": "10.11.6"},
    settings={
        "block.scheduler": SettingInForce(value="mq-deadline"),
        "block.read_ahead_kb": SettingInForce(value=128, unit="KiB"),
        "vm.dirty": SettingInForce(value="20%", unit="bytes"),
        "mysql.innodb_buffer_pool_size": SettingInForce(value=2**27, unit="bytes"),
        "mysql.sync_binlog": SettingInForce(value="OFF"),
    },
    lacks={"block.wbt_lat_usec": Lack(why="this device does not have it", is_absent=True)},
)


def _rule(setting: str, **more: object) -> AdviceRule:
    return AdviceRule.model_validate({"id": "r", "setting": setting, "reason": "So.", "source": "s", **more})


def _item(setting: str, facts: AuditFacts = FACTS, **more: object) -> AdviceItem:
    (advice,) = assess(AdviceRules(sources={"s": SOURCE}, rules=(_rule(setting, **more),)), facts)
    assert advice.setting == setting
    return advice.items[0]


@pytest.mark.parametrize(
    ("setting", "advice", "status", "advised", "value"),
    [
        ("block.scheduler", {"advised": ["none", "kyber"]}, "differs", "none or kyber", "none"),
        ("block.scheduler", {"advised": ["MQ-Deadline"]}, "agrees", "MQ-Deadline", None),
        ("block.read_ahead_kb", {"at_least": "256"}, "differs", "at least 256 KiB", 256),
        ("block.read_ahead_kb", {"at_most": "16"}, "differs", "at most 16 KiB", 16),
        ("block.read_ahead_kb", {"at_least": "64", "at_most": "256"}, "agrees", "64 KiB to 256 KiB", None),
        ("vm.dirty", {"at_most": "memory * 0.1"}, "differs", "at most 10%", "10%"),
        ("vm.dirty", {"advised": ["20%"]}, "agrees", "20%", None),
        ("mysql.innodb_buffer_pool_size", {"at_least": "memory * 0.5"}, "differs", "at least 8 GiB", 8 * 2**30),
        ("mysql.sync_binlog", {"advised": [False]}, "agrees", "off", None),
        ("mysql.sync_binlog", {"direction": "raise"}, "no value", "raise", None),
    ],
)
def test_a_value_is_held_against_the_advice(
    setting: str, advice: dict[str, object], status: str, advised: str, value: object
) -> None:
    item = _item(setting, **advice)
    assert (item.status, item.advised, item.value) == (status, advised, value)


@pytest.mark.parametrize(
    ("setting", "more", "status", "why"),
    [
        ("block.scheduler", {"when": "device_kind == 'nvme'"}, "does not apply", "device_kind = ssd"),
        ("block.scheduler", {"when": "numa_nodes > 1"}, "not read", "numa_nodes is unknown"),
        ("block.wbt_lat_usec", {}, "does not apply", "this device does not have it"),
        ("raid.write_policy", {}, "not read", "raid.write_policy is not read by an audit"),
        ("postgres.shared_buffers", {}, "does not apply", "the server is mariadb"),
        (
            "block.scheduler",
            {"outdated": [{"when": "kernel >= '5.0'", "since": "Linux 5.0", "instead": "none"}]},
            "outdated",
            "since Linux 5.0; instead: none",
        ),
        ("block.scheduler", {"outdated": [{"when": "kernel >= '7.0'", "since": "Linux 7.0"}]}, "differs", ""),
    ],
)
def test_advice_that_cannot_be_held_against_the_machine_has_its_reason(
    setting: str, more: dict[str, object], status: str, why: str
) -> None:
    item = _item(setting, advised=["none"], **more)
    assert (item.status, item.why) == (status, why)


def test_a_value_that_an_expression_cannot_compare_leaves_its_advice_open() -> None:
    item = _item("block.scheduler", advised=["none"], when="device_kind > 3")
    assert item.status is AdviceStatus.NOT_READ
    assert "has no value here" in item.why


@pytest.mark.parametrize(
    ("value", "advised", "status"), [(1, "ON", "agrees"), (0, "ON", "differs"), ("t", "on", "agrees")]
)
def test_a_number_is_a_switch_where_a_switch_is_advised(value: Scalar, advised: str, status: str) -> None:
    facts = AuditFacts(facts={"server": "mariadb"}, settings={"mysql.slow_query_log": SettingInForce(value=value)})
    assert _item("mysql.slow_query_log", facts, advised=[advised]).status == status


def test_minus_one_leaves_a_size_to_the_server() -> None:
    settings = {"mysql.sync_binlog": SettingInForce(value=-1)}
    facts = AuditFacts(facts={"server": "mariadb", "memory": 1}, settings=settings)
    item = _item("mysql.sync_binlog", facts, at_least="16")
    assert (item.status, item.value) == (AdviceStatus.NOT_APPLICABLE, None)
    assert "leaves it to the server" in item.why


def test_a_limit_below_nothing_has_no_value_to_set() -> None:
    facts = AuditFacts(facts={"memory": 10}, settings={"vm.nr_hugepages": SettingInForce(value=5)})
    item = _item("vm.nr_hugepages", facts, at_most="memory - 32")
    assert (item.status, item.value, item.advised) == (AdviceStatus.DIFFERS, None, "at most 0")


def test_a_bound_may_be_another_setting_that_is_a_share() -> None:
    settings = {
        "vm.dirty_background": SettingInForce(value="30%", unit="bytes"),
        "vm.dirty": FACTS.settings["vm.dirty"],
    }
    facts = AuditFacts(facts=FACTS.facts, settings=settings)
    item = _item("vm.dirty_background", facts, at_most="vm.dirty")
    assert (item.status, item.value) == (AdviceStatus.DIFFERS, "20%")


def test_a_size_within_a_step_of_its_bound_agrees() -> None:
    settings = {"mysql.innodb_log_file_size": SettingInForce(value=999_292_928, unit="bytes")}
    facts = AuditFacts(facts={"server": "mariadb"}, settings=settings)
    assert _item("mysql.innodb_log_file_size", facts, at_least="1000000000", at_most="1000000000").status == "agrees"


def test_bounds_of_advice_that_does_not_apply_are_not_computed() -> None:
    zero = AuditFacts(facts={"device_kind": "ssd"}, settings={"block.read_ahead_kb": SettingInForce(value=0)})
    item = _item("block.read_ahead_kb", zero, when="device_kind == 'nvme'", at_least="128 // block.read_ahead_kb")
    assert item.status is AdviceStatus.NOT_APPLICABLE


def test_variables_of_a_server_that_was_not_named_are_not_read() -> None:
    facts = AuditFacts(facts={"server": ""})
    assert _item("mysql.sync_binlog", facts, advised=[1]).status is AdviceStatus.NOT_READ


def _with_measurement(baseline: str, arm: str, verdict: Verdict) -> AuditFacts:
    measured = LocalMeasurement(
        experiment="20260101-000000-aaaa",
        workload="fileio",
        baseline=SettingInForce(value=baseline),
        arm=SettingInForce(value=arm),
        verdict=verdict,
        change="+9.0 % [+8.0 %, +10.0 %]",
    )
    return FACTS.model_copy(update={"measurements": {"block.scheduler": [measured]}})


@pytest.mark.parametrize(
    ("baseline", "arm", "verdict", "status"),
    [
        ("mq-deadline", "none", Verdict.BETTER, AdviceStatus.DIFFERS),
        ("mq-deadline", "none", Verdict.WORSE, AdviceStatus.CONTRADICTED),
        ("none", "mq-deadline", Verdict.BETTER, AdviceStatus.CONTRADICTED),
        ("none", "bfq", Verdict.WORSE, AdviceStatus.DIFFERS),
        ("mq-deadline", "none", Verdict.EQUIVALENT, AdviceStatus.DIFFERS),
    ],
)
def test_a_measurement_here_can_contradict_advice(
    baseline: str, arm: str, verdict: Verdict, status: AdviceStatus
) -> None:
    item = _item("block.scheduler", _with_measurement(baseline, arm, verdict), advised=["none"])
    assert item.status is status
    assert len(item.measured) == 1 and f"{arm} instead of {baseline} is {verdict}" in item.measured[0]


def test_a_measurement_of_other_values_is_left_out() -> None:
    facts = _with_measurement("bfq", "mq-deadline", Verdict.WORSE)
    assert _item("block.scheduler", facts, advised=["none"]).measured == []


def test_settings_that_differ_come_first_and_disagreeing_sources_are_marked() -> None:
    rules = (
        _rule("block.read_ahead_kb", id="a", advised=[128]),
        _rule("block.scheduler", id="b", advised=["none"]),
        _rule("block.scheduler", id="c", advised=["mq-deadline"]),
    )
    first, second = assess(AdviceRules(sources={"s": SOURCE}, rules=rules), FACTS)
    assert (first.setting, first.status, first.disagree) == ("block.scheduler", AdviceStatus.DIFFERS, True)
    assert (second.setting, second.status, second.disagree) == ("block.read_ahead_kb", AdviceStatus.AGREES, False)
