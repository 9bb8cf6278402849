"""A plan that compares a guest with its hypervisor: how small that is made, and what is refused."""

import dataclasses
from pathlib import Path

import pytest
from plan_samples import OFFERS, checked, facts, offer

from paribus.errors import PlanError
from paribus.model import DatabaseFacts, Guest, GuestFacts, Knob, Location, Offer, Plan, Platform, Refusal
from paribus.plan.schedule import comparisons

EXAMPLE = Path(__file__).parents[3] / "examples/guest-or-host.toml"
GUEST = GuestFacts(guest=Guest(name="db1", machine="ssh://kvm1", uri="qemu:///system"))
BOUND = '[target]\nguest = "db1"\n[target.bound]\npath = "/srv"\n'
HEALTH = '[health."any.hot"]\nget = ["x"]\npattern = "(.*)"\nsummary = "any"\n'
FACTORS = '[factors]\nplatform = ["host", "guest"]\n'
WORKLOAD = '[[workload]]\nkind = "fileio"\ntotal_size = "1MiB"\n'
OLTP = '[database]\nkind = "mysql"\n[[workload]]\nkind = "oltp_read_write"\n'
GROUPS = {
    name: offer(name, "max") for name in ("cgroup.load.cpus", "cgroup.load.memory_max", "cgroup.server.memory_max")
}
THERE = {"hostname": "kvm1", "path": "/srv", "device": "/dev/sdb", "cores": 8, "memory_bytes": 2**36, "offers": GROUPS}


def _checked(
    target: str = BOUND,
    factors: str = FACTORS,
    workload: str = WORKLOAD,
    here: dict[str, object] | None = None,
    **there: object,
) -> Plan:
    on_target = OFFERS | {"platform": offer("platform", "guest")}
    bound = facts(**(THERE | there)) if "bound" in target else None
    return checked(
        f'name = "n"\n{target}{factors}{workload}', offers=on_target, guest=GUEST, bound=bound, **(here or {})
    )


def _variable(name: str) -> Knob:
    return Knob(name=name, kind="variable", addresses=(name,), type="word", summary="", documentation="")


def _refused(**parts: object) -> str:
    with pytest.raises(PlanError) as error:
        _checked(**parts)  # type: ignore[arg-type]
    return str(error.value)


def test_a_hypervisor_is_as_small_as_the_guest() -> None:
    plan = _checked()
    assert plan.bound is not None
    assert plan.bound.settings == {"cgroup.load.cpus": "0-1", "cgroup.load.memory_max": 2**33}
    on_host = plan.on(Platform.HOST).target
    assert (on_host.address, on_host.path, on_host.device, on_host.guest) == ("ssh://kvm1", "/srv", "/dev/sdb", None)
    assert plan.on(Platform.GUEST) is plan


@pytest.mark.parametrize(("limits", "cpus"), [("cores = 1", "0"), ("cores = 4", "0-3"), ('cpus = "4-7"', "4-7")])
def test_a_plan_can_name_the_size(limits: str, cpus: str) -> None:
    plan = _checked(target=f'{BOUND}{limits}\nmemory = "5GiB"\n')
    assert plan.bound is not None
    assert plan.bound.settings == {"cgroup.load.cpus": cpus, "cgroup.load.memory_max": 5 * 2**30}


def test_a_server_has_the_memory_and_shares_the_processors_with_its_load() -> None:
    server = DatabaseFacts(name="MariaDB 10.11.19")
    plan = _checked(workload=OLTP, here={"database": server}, database=server)
    assert plan.bound is not None
    assert plan.bound.settings == {
        "cgroup.load.cpus": "0-1",
        "cgroup.server.cpus": "0-1",
        "cgroup.server.memory_max": 2**33,
    }


def test_a_platform_is_in_no_screen() -> None:
    plan = _checked(factors=f'{FACTORS}"fileio.engine" = ["sync", "io_uring"]\n')
    free = [factor.key for factor in plan.factors if comparisons._is_free(factor, plan, plan.workloads[0])]
    assert free == ["fileio.engine"]


def test_two_disks_are_noted() -> None:
    place = Location("/dev/nvme0n1")
    guest = GuestFacts(guest=dataclasses.replace(GUEST.guest, location=place))
    on_target = OFFERS | {"platform": offer("platform", "guest")}
    plan = checked(f'name = "n"\n{BOUND}{FACTORS}{WORKLOAD}', offers=on_target, guest=guest, bound=facts(**THERE))
    assert any("is on /dev/nvme0n1, and the host's data on /dev/sdb" in note for note in plan.notes)
    assert any("cache mode none or directsync" in note for note in plan.notes)


def test_a_platform_can_be_held_as_after_its_question_was_answered() -> None:
    plan = _checked(factors='[factors]\n"fileio.block_size" = ["4KiB", "16KiB"]\n[hold]\nplatform = "host"\n')
    assert plan.baseline["platform"] == "host" and plan.bound is not None


def test_the_example_compares_a_server_on_both() -> None:
    name = "mysql.innodb_flush_method"
    settings = (
        "innodb_buffer_pool_size",
        "innodb_flush_log_at_trx_commit",
        "innodb_io_capacity",
        "innodb_flush_method",
    )
    rows = tuple(_variable(f"mysql.{setting}") for setting in settings)
    offers = {row.name: Offer(knob=row, current="fsync", allowed=()) for row in rows}
    server = DatabaseFacts(name="MariaDB 10.11.19", rows=rows)
    on_target = OFFERS | offers | {"platform": offer("platform", "guest")}
    there = facts(**(THERE | {"database": server, "path": "/var/lib/test"}))
    plan = checked(EXAMPLE.read_text(), offers=on_target, guest=GUEST, bound=there, database=server)
    assert [factor.key for factor in plan.factors] == ["platform", name]
    assert plan.combinations[0].settings == {"platform": "guest", name: "O_DIRECT"}
    assert plan.bound is not None and plan.bound.cpus == "0-3"


def test_two_versions_of_a_server_are_refused() -> None:
    message = _refused(
        workload=OLTP,
        here={"database": DatabaseFacts(name="MariaDB 10.11.19")},
        database=DatabaseFacts(name="MariaDB 11.4.1"),
    )
    assert (
        "target.bound: the hypervisor has MariaDB 11.4.1, and the guest MariaDB 10.11.19; install the same" in message
    )


@pytest.mark.parametrize(
    ("there", "message"),
    [
        (
            {"path_refusal": Refusal("/srv does not exist", "make it")},
            "bound.path: on the hypervisor, /srv does not exist",
        ),
        ({"cores": 1}, "bound.cores: the hypervisor has 1 processors, and not 2"),
        (
            {"memory_bytes": 2**33},
            "bound.memory: the hypervisor has 8 GiB of memory: 8 GiB do not fit beside the guest",
        ),
        ({"missing_programs": frozenset({"fio"})}, "target.bound: the hypervisor has no fio; install it there"),
        ({"free_bytes": 2**10}, "on the hypervisor, /srv has 1 KiB free"),
        (
            {"offers": {"cgroup.load.cpus": offer("cgroup.load.cpus", None, refused="no controller")}},
            "target.bound: on the hypervisor, cgroup.load.cpus: no controller",
        ),
    ],
)
def test_a_hypervisor_that_cannot_run_the_workload_is_refused(there: dict[str, object], message: str) -> None:
    assert message in _refused(**there)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"target": ""}, "factors.platform: the target is no guest"),
        ({"target": '[target]\nguest = "db1"\n'}, "factors.platform: the folder on the hypervisor is unknown"),
        ({"factors": '[factors]\n"vm.swappiness" = [60, 1]\n'}, "target.bound: the plan has no platform"),
        ({"factors": f'{FACTORS}"vm.swappiness" = [60, 1]\n'}, "vm.swappiness would be set on one of two machines"),
        ({"factors": '[factors]\nplatform = ["host", "moon"]\n'}, "'moon' is not a value of platform"),
        ({"target": f'{BOUND}cores = 1\ncpus = "0"\n'}, "cores and cpus name the processors twice"),
        ({"target": f'{BOUND}cpus = "0-8"\n'}, "target.bound.cpus: the hypervisor has no processor 8"),
        ({"workload": f'{WORKLOAD}[protocol]\ndesign = "screen"\n'}, "a screen does not compare platforms"),
        ({"workload": f"{WORKLOAD}[workload.precondition]\n"}, "precondition: only one of two machines"),
        ({"workload": f"{WORKLOAD}{HEALTH}"}, 'health."any.hot": states of one machine'),
        ({"workload": f'{WORKLOAD}[[event]]\nat = "1s"\ndo = "run"\nprogram = ["/bin/true"]\n'}, "one machine"),
    ],
)
def test_a_plan_that_cannot_be_carried_out_on_both_machines_is_refused(parts: dict[str, object], message: str) -> None:
    assert message in _refused(**parts)
