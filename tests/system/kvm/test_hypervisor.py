"""Settings of a guest and of its hypervisor in one plan: applied, read back and restored on both machines."""

import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from command import RUN_ENDED, Done, Running, settings_of
from waiting import wait_for

from guest.hypervisor import Hypervisor
from paribus.store import read
from paribus.store.open import open_engine, store_url

pytestmark = [pytest.mark.root, pytest.mark.usefixtures("as_root")]

Paribus = Callable[..., Done]
Plan = Callable[..., str]
FACTORS = '"host.block.read_ahead_kb" = [64, 256]'
IN_GUEST = "cat /sys/block/vda/queue/read_ahead_kb"


def test_one_plan_has_settings_of_guest_and_hypervisor(
    paribus: Paribus, plan: Plan, hypervisor: Hypervisor, disk: str
) -> None:
    before = settings_of(disk)
    hypervisor.run("echo 32 > /sys/block/vda/queue/read_ahead_kb")
    done = paribus("run", plan(FACTORS))
    assert done.code in RUN_ENDED, done.err
    store = open_engine(store_url(None), create=False)
    changes = [change for _, change in read.changes(store, read.find(store, "last").id)]
    store.dispose()
    seen = {(change.knob, change.before, change.observed) for change in changes if change.wanted == 256}
    on_disk = int(before["read_ahead_kb"])
    assert seen == {("host.block.read_ahead_kb", on_disk, 256), ("block.read_ahead_kb", 32, 256)}
    assert settings_of(disk) == before
    assert hypervisor.run(IN_GUEST) == "32\n"
    fingerprint = paribus("report", "last", "--json").json["fingerprint"]
    assert fingerprint["hypervisor_kernel"] and fingerprint["hypervisor"] != fingerprint["host"]


def test_check_names_both_machines(paribus: Paribus, plan: Plan, hypervisor: Hypervisor, disk: str) -> None:
    checked = paribus("check", plan(FACTORS))
    assert checked.code == 0, checked.err
    assert f"the guest {hypervisor.name} of this machine" in checked.out
    assert f"/{Path(disk).name}/queue/read_ahead_kb  # on the hypervisor" in checked.out


def test_doctor_examines_the_guests(paribus: Paribus, hypervisor: Hypervisor) -> None:
    done = paribus("doctor", "--libvirt", hypervisor.uri, "--json")
    assert done.code == 0, done.err
    notes = [each["found"] for each in done.json["conditions"] if each["name"] == f"guest {hypervisor.name}"]
    assert notes == [
        "its processors are emulated: times in it mean nothing",
        "disk vda: it has no I/O thread: its requests share one with all other devices",
    ]


def test_a_killed_controller_leaves_both_machines_as_they_were(plan: Plan, hypervisor: Hypervisor, disk: str) -> None:
    before, in_guest = settings_of(disk), hypervisor.run(IN_GUEST)
    running = Running("run", plan(FACTORS, trial="500ms"))
    wait_for(lambda: settings_of(disk) != before and hypervisor.run(IN_GUEST) != in_guest, "no setting was changed")
    running.signal(signal.SIGKILL)
    running.end()
    wait_for(lambda: settings_of(disk) == before, "the hypervisor was not restored")
    wait_for(lambda: hypervisor.run(IN_GUEST) == in_guest, "the guest was not restored")


def test_a_hypervisor_is_restored_while_its_guest_is_lost(plan: Plan, hypervisor: Hypervisor, disk: str) -> None:
    before = settings_of(disk)
    running = Running("run", plan(FACTORS, trial="500ms", more=""))
    wait_for(lambda: settings_of(disk) != before, "no setting was changed")
    hypervisor.cut_power()
    wait_for(lambda: settings_of(disk) == before, "the hypervisor was not restored")
    assert running.goes_on()
    hypervisor.boot()
    done = running.end(300)
    assert done.code in RUN_ENDED, done.err
    assert settings_of(disk) == before


@pytest.mark.parametrize(
    ("change", "cause", "remedy"),
    [
        ({"guest": "db2"}, "has no domain 'db2'", "list --all"),
        ({"host": "local", "path": "."}, "the domain db1: ", "correct target.host"),
    ],
)
def test_a_target_that_is_not_the_guest_is_refused(
    paribus: Paribus, plan: Plan, disk: str, change: dict[str, str], cause: str, remedy: str
) -> None:
    before = settings_of(disk)
    done = paribus("run", plan(FACTORS, **change, more=""))
    assert done.code == 2 and cause in done.err and remedy in done.err, done.err
    assert settings_of(disk) == before


def test_a_guest_with_a_snapshot_keeps_its_definition(paribus: Paribus, plan: Plan, hypervisor: Hypervisor) -> None:
    live = hypervisor.virsh("dumpxml", "--security-info", hypervisor.name)
    state = "<name>before</name><state>shutoff</state><creationTime>1</creationTime>"
    snapshot = f"<domainsnapshot>{state}{live}</domainsnapshot>"
    hypervisor.virsh("snapshot-create", hypervisor.name, "/dev/stdin", "--redefine", input=snapshot)
    try:
        done = paribus("check", plan('"guest.vcpus" = [2, 1]', more=""))
    finally:
        hypervisor.virsh("snapshot-delete", hypervisor.name, "before", "--metadata")
    assert done.code == 2 and "the domain has snapshots" in done.err and "snapshot-delete db1" in done.err, done.err
