"""Changes for production: the steps of a runbook, and the tasks of playbooks."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from plan_samples import FILEIO, checked, simple
from ruamel.yaml import YAML

from paribus.errors import Inapplicable, UsageError
from paribus.experiment import walk
from paribus.i18n import Language, speaking
from paribus.knobs.kinds.startup import appended, appended_lines, kernel_file, parameter, sysctl, written_at_start
from paribus.lab.rollout.change import ChangedFactor, ChangeStep, ProductionChange, change_of
from paribus.lab.rollout.playbook import playbook, rollback
from paribus.lab.rollout.runbook import runbook
from paribus.model import ExperimentState, WriteFile
from paribus.store import write
from paribus.store.open import open_engine, store_url

SWAPPINESS = ChangeStep(
    knob="vm.swappiness",
    before=60,
    after=10,
    set="echo 10 > /proc/sys/vm/swappiness",
    check="cat /proc/sys/vm/swappiness  # or: sysctl vm.swappiness",
    keep=sysctl([WriteFile("/proc/sys/vm/swappiness", "10")]),
    roll_back="echo 60 > /proc/sys/vm/swappiness",
    takes_effect="live",
)
COMMITS = ChangeStep(
    knob="mysql.innodb_flush_log_at_trx_commit",
    before=1,
    after=2,
    set="SET GLOBAL innodb_flush_log_at_trx_commit = 2;",
    check="SHOW GLOBAL VARIABLES LIKE 'innodb_flush_log_at_trx_commit';",
    keep="innodb_flush_log_at_trx_commit = 2    # below [mysqld]",
    roll_back="SET GLOBAL innodb_flush_log_at_trx_commit = 1;",
    takes_effect="live",
    loss="a power cut loses up to 1 s of commits",
)
BUFFERS = ChangeStep(
    knob="postgres.shared_buffers",
    before="128MB",
    after="4GB",
    set="shared_buffers = 4GB    # in the server's configuration, then restart it",
    check="SHOW shared_buffers;",
    keep="ALTER SYSTEM SET shared_buffers = '4GB';",
    roll_back="shared_buffers = 128MB",
    takes_effect="restart",
)
LAYOUT = ChangeStep(knob="layout", before="a", after="b", set="mkfs.xfs /dev/sdb", by_hand=True, takes_effect="rebuild")


def _change(*steps: ChangeStep) -> ProductionChange:
    factors = tuple(
        ChangedFactor(factor=step.knob, arm=str(step.after), text="set it", verdicts=("better",), steps=(step,))
        for step in steps
    )
    return ProductionChange(
        experiment="20260101-000000-aaaa",
        name="plan",
        host="db1",
        system="Debian",
        measured="2026-01-01",
        factors=factors,
        open_questions=("block.scheduler: undecided",),
    )


def _tasks(text: str) -> list[dict[str, Any]]:
    (play,) = YAML(typ="safe").load(text)
    assert play["hosts"] == "{{ target | default('db1') }}"
    tasks: list[dict[str, Any]] = play["tasks"]
    return tasks


def test_a_setting_of_the_machine_is_set_between_two_readings_and_kept() -> None:
    setting, lasting = _tasks(playbook(_change(SWAPPINESS)))
    script = setting["ansible.builtin.shell"]["cmd"].splitlines()
    assert script[1:4] == [f"before=$({SWAPPINESS.check}", ")", SWAPPINESS.set]
    assert lasting["ansible.builtin.lineinfile"] == {
        "path": "/etc/sysctl.d/90-paribus.conf",
        "line": "vm.swappiness = 10",
        "state": "present",
        "create": True,
        "mode": "0644",
    }


def test_a_rollback_sets_the_values_before_in_reverse_order_and_keeps_nothing() -> None:
    names = [task["name"] for task in _tasks(rollback(_change(SWAPPINESS, COMMITS)))]
    assert names == [
        "Set innodb_flush_log_at_trx_commit in the server that runs",
        "Remove innodb_flush_log_at_trx_commit in the configuration",
        "Set vm.swappiness to 60",
        "Do not keep vm.swappiness",
    ]


@pytest.mark.parametrize(("step", "is_restarted"), [(COMMITS, False), (BUFFERS, True), (SWAPPINESS, False)])
def test_a_server_is_restarted_only_for_what_takes_effect_then(step: ChangeStep, is_restarted: bool) -> None:
    text = playbook(_change(step))
    assert ("restart_database | default(false)" in text) is is_restarted


def test_a_postgres_parameter_is_written_by_the_server_itself() -> None:
    task, reminder = _tasks(playbook(_change(BUFFERS)))
    assert "ON_ERROR_STOP=1" in task["ansible.builtin.shell"]["cmd"]
    assert "after the next start" in reminder["ansible.builtin.debug"]["msg"]
    assert "ALTER SYSTEM SET shared_buffers = '\"'\"'4GB'\"'\"''" in task["ansible.builtin.shell"]["cmd"]
    assert task["become_user"] == "postgres"


def test_a_setting_that_no_playbook_can_make_is_left_to_a_person() -> None:
    (task,) = _tasks(playbook(_change(LAYOUT)))
    assert task["ansible.builtin.debug"] == {"msg": "mkfs.xfs /dev/sdb"}


def test_a_rollback_of_what_has_no_value_before_is_left_to_a_person() -> None:
    (task,) = _tasks(rollback(_change(replace(SWAPPINESS, before=None, roll_back=""))))
    message = "restore vm.swappiness by hand to its value before, which was not recorded"
    assert task["ansible.builtin.debug"] == {"msg": message}
    (task,) = _tasks(rollback(_change(LAYOUT)))
    assert "which was a" in task["ansible.builtin.debug"]["msg"]


def test_text_of_a_machine_is_no_template() -> None:
    task, _ = _tasks(playbook(_change(replace(SWAPPINESS, set="echo '{{ lookup(1) }}'"))))
    assert "{% raw %}echo '{{ lookup(1) }}'{% endraw %}" in task["ansible.builtin.shell"]["cmd"]
    with pytest.raises(UsageError, match="cannot be written into a playbook"):
        playbook(_change(replace(SWAPPINESS, set="{% endraw %}{{ 1 }}")))


def test_the_name_of_a_host_is_written_only_where_it_is_one() -> None:
    text = playbook(replace(_change(SWAPPINESS), host="db1') }}\n{{ 7 * 7"))
    assert 'hosts: "{{ target }}"' in text and "7 * 7" not in text


def test_a_runbook_has_risk_steps_and_open_questions() -> None:
    text = runbook(_change(COMMITS, LAYOUT))
    assert "| risk | a power cut loses up to 1 s of commits |" in text
    assert "the disks are wiped, so move the data away first" in text
    assert "- block.scheduler: undecided" in text
    assert text.index("SHOW GLOBAL VARIABLES") < text.index("SET GLOBAL") < text.index("below [mysqld]")


def test_a_runbook_is_there_in_chinese() -> None:
    with speaking(Language.ZH):
        text = runbook(_change(SWAPPINESS))
    assert "# 变更" in text and "风险" in text


@pytest.mark.parametrize(
    ("command", "lines"),
    [
        (appended("/etc/a", "b c", "d'e"), [("/etc/a", "b c"), ("/etc/a", "d'e")]),
        (
            " && ".join([appended("/etc/a", "b"), appended("/etc/c", "d")]) + "  # a remark",
            [("/etc/a", "b"), ("/etc/c", "d")],
        ),
        (
            kernel_file("/sys/block/sda/queue/scheduler", "none"),
            [
                (
                    "/etc/udev/rules.d/90-paribus.rules",
                    'ACTION=="add|change", SUBSYSTEM=="block", KERNEL=="sda", ATTR{queue/scheduler}="none"',
                )
            ],
        ),
        (parameter("zfs", "zfs_arc_max", "1"), [("/etc/modprobe.d/90-paribus.conf", "options zfs zfs_arc_max=1")]),
        (
            written_at_start([WriteFile("/sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "performance")]),
            [
                (
                    "/etc/tmpfiles.d/90-paribus.conf",
                    "w /sys/devices/system/cpu/cpufreq/policy*/scaling_governor - - - - performance",
                )
            ],
        ),
        ("in /etc/fstab, among the options of /: give noatime", []),
        ("systemctl edit SERVICE  # below [Service]: X=1", []),
        ("", []),
    ],
)
def test_lines_to_append_are_read_back(command: str, lines: list[tuple[str, str]]) -> None:
    assert appended_lines(command) == lines


@pytest.mark.parametrize(
    ("state", "todo"),
    [
        (ExperimentState.RUNNING, "wait until it has ended"),
        (ExperimentState.INTERRUPTED, "paribus resume"),
        (ExperimentState.DONE, "paribus report"),
    ],
)
def test_an_experiment_that_has_not_ended_recommends_nothing_yet(
    tmp_path: Path, state: ExperimentState, todo: str
) -> None:
    store = open_engine(store_url(str(tmp_path / "s.db")), create=True)
    plan = checked(simple('"vm.swappiness" = [60, 1]', FILEIO, '[protocol]\nbudget = "48h"'))
    begun = walk.begin(plan, {}, {}, {}, store)
    write.set_state(store, begun.id, state)
    with pytest.raises(Inapplicable, match=todo) as refused:
        change_of(begun.id, store.url.database)
    assert ("yet" in str(refused.value)) == (state is not ExperimentState.DONE)
