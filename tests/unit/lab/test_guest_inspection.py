"""Proof that a target is the domain that the plan names, and the hypervisor's devices below its disk."""

from collections.abc import Sequence

import pytest

from paribus.hosts.fake import FakeHost
from paribus.hosts.transport import Completed
from paribus.knobs.catalog import load
from paribus.lab.machine.guest_inspection import inspect_guest
from paribus.model import DomainPlace, GuestFacts, Location, Offer
from paribus.plan.form.parse import parse
from paribus.plan.needs import needs
from paribus.trial.target_session import Site

UUID = "00e2445c-b6d1-4bd1-bc71-bb3059678503"
PLAN = """
name = "n"
[target]
host = "ssh://db1"
guest = "db1"
[factors]
"host.block.read_ahead_kb" = [64, 256]
"host.vm.swappiness" = [60, 10]
"vm.swappiness" = [60, 10]
"guest.disk.cache" = ["none", "writeback"]
"guest.vcpus" = [2, 4]
[[workload]]
kind = "fileio"
"""
XML = f"""<domain><name>db1</name><uuid>{UUID}</uuid><vcpu>2</vcpu><devices><disk type="block">
<driver cache="none"/><source dev="/dev/sdb"/>
<target dev="vda" bus="virtio"/><address type="pci" domain="0x0000" bus="0x00" slot="0x02" function="0x0"/>
</disk><controller type="pci" index="0" model="pci-root"/></devices></domain>"""
BYTES = 256 << 20


class _Hypervisor(FakeHost):
    name = "local"

    def __init__(
        self, state: str = "running", capacity: int = BYTES, user: str = "0", persistent: str = "yes", later: str = XML
    ) -> None:
        super().__init__(
            {
                "/sys/class/block/sdb/size": "",
                "/sys/block/sdb/queue/read_ahead_kb": "128\n",
                "/proc/sys/vm/swappiness": "60\n",
            }
        )
        self._answers = {
            "dominfo": f"State:  {state}\nPersistent:  {persistent}\n",
            "dumpxml": XML,
            "domjobinfo": "Job type:  None\n",
            "domblkinfo": f"Capacity:  {capacity}\nAllocation:  0\n",
            "id": user,
        }
        self._later = later
        self.others = ""

    def has_snapshot(self, name: str) -> "_Hypervisor":
        """Give the domain a snapshot."""
        self._answers["snapshot-list"] = f"{name}\n\n"
        return self

    def run(self, argv: Sequence[str], **_options: object) -> Completed:
        """Answer virsh and id."""
        if "--inactive" in argv:
            return Completed(0, self._later, "")
        if "list" in argv:
            return Completed(0, self.others and f"db1\n{self.others}\n", "")
        command = argv[argv.index("--domain") - 1] if "--domain" in argv else argv[0]
        return Completed(0, self._answers.get(command, ""), "")


class _Guest(FakeHost):
    name = "ssh://db1"

    def __init__(self, uuid: str = UUID) -> None:
        files = {"/sys/class/block/vda/size": str(BYTES // 512)}
        super().__init__(files | ({"/sys/class/dmi/id/product_uuid": f"{uuid.upper()}\n"} if uuid else {}))

    def resolve(self, path: str) -> str:
        """Its disk is a virtio device on the PCI bus."""
        return path.replace("/sys/class/block/vda", "/sys/devices/pci0000:00/0000:00:02.0/virtio0/block/vda")


def _inspected(
    guest: FakeHost, hypervisor: FakeHost, device: str | None = "/dev/vda"
) -> tuple[GuestFacts, dict[str, Offer]]:
    catalogue = load()
    site = Site(guest, "engine", catalogue, hypervisor=Site(hypervisor, "engine", catalogue))
    return inspect_guest(site, needs(parse("plan.toml", PLAN, {})), device)


def test_the_hypervisor_offers_its_own_settings() -> None:
    facts, offers = _inspected(_Guest(), _Hypervisor())
    assert facts.wrong == ()
    place = DomainPlace("qemu:///system", "db1", "vda")
    assert (facts.guest.disk, facts.guest.location) == ("/dev/sdb", Location("/dev/sdb", domain=place))
    assert {name: (offer.current, offer.refused) for name, offer in offers.items()} == {
        "host.block.read_ahead_kb": (128, ""),
        "host.vm.swappiness": (60, ""),
        "guest.disk.cache": ("none", ""),
        "guest.vcpus": (2, ""),
    }


@pytest.mark.parametrize(
    ("guest", "hypervisor", "message"),
    [
        (_Guest(), _Hypervisor(state="shut off"), "the domain db1 is shut off"),
        (_Guest(uuid="11111111-b6d1-4bd1-bc71-bb3059678503"), _Hypervisor(), "ssh://db1 is not the domain db1"),
        (_Guest(uuid=""), _Hypervisor(), "nothing proves that ssh://db1 is the domain db1"),
    ],
)
def test_another_machine_than_the_domain_is_refused(guest: FakeHost, hypervisor: FakeHost, message: str) -> None:
    facts, offers = _inspected(guest, hypervisor)
    [(problem, remedy)] = facts.wrong
    assert problem.startswith(message) and remedy
    assert offers == {}


@pytest.mark.parametrize(
    ("hypervisor", "device", "cause"),
    [
        (
            _Hypervisor(capacity=BYTES - 512),
            "/dev/vda",
            f"/dev/vda has {BYTES} bytes in the guest, and vda of db1 {BYTES - 512} bytes",
        ),
        (_Hypervisor(), "/dev/vdb", "no disk of the domain db1 has the address of /dev/vdb"),
        (_Hypervisor(), None, "the disk under test is unknown"),
    ],
)
def test_without_its_disk_only_settings_of_disks_are_refused(
    hypervisor: FakeHost, device: str | None, cause: str
) -> None:
    facts, offers = _inspected(_Guest(), hypervisor, device)
    place = DomainPlace("qemu:///system", "db1", "")
    assert facts.wrong == () and facts.guest.location == Location(domain=place)
    assert {offers[name].refused for name in ("host.block.read_ahead_kb", "guest.disk.cache")} == {cause}
    assert {offers[name].refused for name in ("host.vm.swappiness", "guest.vcpus")} == {""}


def test_only_root_sets_a_hypervisor() -> None:
    _, offers = _inspected(_Guest(), _Hypervisor(user="1000"))
    assert offers["host.vm.swappiness"].refused == "only root may set it"


def test_a_transient_domain_keeps_its_definition() -> None:
    _, offers = _inspected(_Guest(), _Hypervisor(persistent="no"))
    refused = {name for name, offer in offers.items() if "transient" in offer.refused and "virsh define" in offer.todo}
    assert refused == {"guest.disk.cache", "guest.vcpus"}


def test_a_definition_that_waits_for_the_next_start_is_refused() -> None:
    _, offers = _inspected(_Guest(), _Hypervisor(later=XML.replace("<vcpu>2", "<vcpu>4")))
    message = "guest.vcpus is 2 in the running guest, and 4 in its definition for the next start"
    assert offers["guest.vcpus"].refused == message
    assert offers["guest.disk.cache"].refused == ""


def test_an_image_that_another_guest_uses_is_refused() -> None:
    hypervisor = _Hypervisor()
    hypervisor.others = "db2"  # of the same definition
    facts, offers = _inspected(_Guest(), hypervisor)
    ((message, remedy),) = facts.wrong
    assert message == "/dev/sdb, the disk of db1, is in use by another guest too: db2"
    assert remedy.startswith("shut that one down") and offers == {}


def test_a_domain_with_snapshots_keeps_its_definition() -> None:
    facts, offers = _inspected(_Guest(), _Hypervisor().has_snapshot("before-upgrade"))
    assert facts.wrong == ()
    refused = {name: offer.refused for name, offer in offers.items() if offer.refused}
    assert set(refused) == {"guest.disk.cache", "guest.vcpus"}
    assert refused["guest.vcpus"].endswith("fit its present definition only: before-upgrade")
