"""A plan's guest: settings of its hypervisor, and what is refused."""

import plan_samples
import pytest
from plan_samples import checked

from paribus.errors import PlanError
from paribus.model import Guest, GuestFacts, Location, Plan

GUEST = Guest(name="db1", machine="local", uri="qemu:///system", disk="/dev/vg0/db1", location=Location("/dev/sdb"))
TARGET = '[target]\nguest = "db1"\n'
FACTORS = '[factors]\n"host.vm.swappiness" = [60, 10]\n'
WORKLOAD = '[[workload]]\nkind = "fileio"\n'
OFFERS = plan_samples.OFFERS | {
    "host.vm.swappiness": plan_samples.offer("host.vm.swappiness", 60),
    "guest.disk.cache": plan_samples.offer("guest.disk.cache", "none"),
}
CACHE = '[factors]\n"guest.disk.cache" = ["none", "writeback"]\n'


def _checked(target: str = TARGET, factors: str = FACTORS, facts: GuestFacts | None = None, database: str = "") -> Plan:
    return checked(f'name = "n"\n{target}{factors}{WORKLOAD}{database}', offers=OFFERS, guest=facts)


def _refused(**parts: object) -> str:
    with pytest.raises(PlanError) as error:
        _checked(**parts)  # type: ignore[arg-type]
    return str(error.value)


def test_a_setting_of_the_hypervisor_is_a_factor() -> None:
    plan = _checked(facts=GuestFacts(guest=GUEST))
    assert [factor.key for factor in plan.factors] == ["host.vm.swappiness"]
    assert plan.target.guest == GUEST
    assert plan.target.location_of("host.block.scheduler") == GUEST.location
    assert plan.target.location_of("block.scheduler") == plan.target.location


def test_a_setting_of_a_hypervisor_needs_a_guest() -> None:
    message = _refused(target="")
    assert "host.vm.swappiness is a setting of a guest's hypervisor, and the plan names no guest" in message
    assert 'guest = "NAME"; for the target itself write vm.swappiness' in message


def test_a_hypervisor_without_a_guest_is_refused() -> None:
    message = _refused(target='[target]\nhypervisor = "qemu:///system"\n')
    assert "target.hypervisor: target.hypervisor is set, and target.guest is not" in message


def test_problems_of_the_guest_are_said_at_its_name() -> None:
    facts = GuestFacts(guest=GUEST, wrong=(("the domain db1 is shut off", "start it"),))
    assert "target.guest: the domain db1 is shut off; start it" in _refused(facts=facts)


@pytest.mark.parametrize("hypervisor", ["qemu+ssh://a b/system", "xen:///", "qemu:///system;reboot"])
def test_an_address_of_no_hypervisor_is_refused(hypervisor: str) -> None:
    assert "target.hypervisor" in _refused(target=f'{TARGET}hypervisor = "{hypervisor}"\n')


@pytest.mark.parametrize(
    "key", ["host.mount.noatime", "host.process.load.cpus", "host.layout", "host.no.such", "host."]
)
def test_only_kernel_and_devices_of_a_hypervisor_are_settings(key: str) -> None:
    message = _refused(factors=f'[factors]\n"{key}" = ["a", "b"]\n', facts=GuestFacts(guest=GUEST))
    assert "is neither a knob nor a parameter" in message


def test_a_setting_of_the_guest_itself_is_a_factor() -> None:
    plan = _checked(factors=CACHE, facts=GuestFacts(guest=GUEST))
    assert [factor.key for factor in plan.factors] == ["guest.disk.cache"]
    assert plan.target.location_of("guest.disk.cache") == GUEST.location


def test_a_setting_of_a_guest_needs_its_name() -> None:
    message = _refused(target="", factors=CACHE)
    assert "guest.disk.cache is a setting of a virtual machine, and the plan names none" in message
    assert 'under [target]: guest = "NAME"' in message


def test_a_server_in_use_by_others_is_not_restarted_with_the_guest() -> None:
    database = '[database]\nkind = "mysql"\ndsn = "mysql://u@db1/"\n'
    message = _refused(factors=CACHE, facts=GuestFacts(guest=GUEST), database=database)
    assert "guest.disk.cache restarts the guest, and others use its server; have Paribus start" in message


def test_layouts_do_not_outlive_a_restart_of_the_guest() -> None:
    target = TARGET + 'devices = ["/dev/vdb"]\n'
    message = _refused(target=target, factors=CACHE, facts=GuestFacts(guest=GUEST))
    assert "guest.disk.cache restarts the guest, which layouts do not outlive; compare them in two plans" in message
