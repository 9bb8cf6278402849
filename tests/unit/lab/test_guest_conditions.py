"""Conditions of the guests of a machine: what is noted of a definition, and of a machine without libvirt."""

from collections.abc import Sequence

import pytest

from paribus.errors import HostError, UsageError
from paribus.hosts.fake import FakeHost
from paribus.hosts.transport import Completed
from paribus.lab.machine.guest_conditions import conditions
from paribus.model import Fitness

URI = "qemu:///system"
DISK = """<disk type='file' device='disk'><driver name='qemu' type='qcow2' cache='{cache}' {driver}/>
<source file='/images/db1.qcow2'/>{below}<target dev='vda' bus='{bus}'/></disk>
<disk type='file' device='cdrom'><target dev='sda' bus='sata'/></disk>"""
GUEST = """<domain type='{type}'><name>db1</name><uuid>u</uuid><vcpu{cpuset}>4</vcpu>{cpu}{more}
<devices>{disk}</devices></domain>"""
BELOW = "<backingStore type='file'><source file='/a'/><backingStore type='file'><source file='/b'/><backingStore/>"
GOOD = {
    "type": "kvm",
    "cpuset": " cpuset='0-3'",
    "cpu": "<cpu mode='host-passthrough'/>",
    "more": "",
    "cache": "none",
    "driver": "iothread='1'",
    "below": "",
    "bus": "virtio",
}


class Libvirt(FakeHost):
    """A machine with a libvirt; its image has so many extents in one GiB."""

    name = "local"

    def __init__(self, text: str, cores: int = 4, nodes: int = 1, job: str = "None", extents: int = 5) -> None:
        super().__init__(
            {
                "/proc/cpuinfo": "processor\t: 0\n" * cores,
                "/sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n",
            }
        )
        for node in range(nodes):
            self.files[f"/sys/devices/system/node/node{node}/cpulist"] = "0\n"
        answers = {"--name": "db1\n\n", "dumpxml": text, "domjobinfo": f"Job type: {job}\n"}
        self.answers = answers | {"filefrag": f"/images/db1.qcow2: {extents} extents found\n", "stat": "2097152 512\n"}
        self.has_virsh = True

    def run(self, argv: Sequence[str], **_options: object) -> Completed:
        """Answer virsh, filefrag and stat."""
        text = next((self.answers[word] for word in argv if word in self.answers), None)
        if text is None:
            return Completed(0 if self.has_virsh else 1, "/usr/bin/virsh\n" if self.has_virsh else "", "")
        return Completed(0, text, "")


def _text(**changed: str) -> str:
    parts = GOOD | changed
    return GUEST.format(disk=DISK.format(**parts), **parts)


def _notes(text: str, **machine: int | str) -> list[str]:
    host = Libvirt(text, **machine)  # type: ignore[arg-type]
    return [condition.found for condition in conditions(host, URI) if condition.fitness is Fitness.NOTE]


def test_a_guest_without_faults_is_fit() -> None:
    (condition,) = conditions(Libvirt(_text()), URI)
    assert (condition.name, condition.fitness) == ("guest db1", Fitness.FIT)


@pytest.mark.parametrize(
    ("changed", "machine", "note"),
    [
        ({"cache": "unsafe"}, {}, "disk vda: cache mode unsafe: a power cut or a crash of the hypervisor can destroy"),
        ({"cache": "writeback"}, {}, "disk vda: cache mode writeback: a power cut of the hypervisor loses"),
        ({"driver": ""}, {}, "disk vda: it has no I/O thread"),
        ({"driver": "iothread='1' queues='2'"}, {}, "disk vda: it has 2 queues for 4 virtual processors"),
        ({"below": f"{BELOW}</backingStore></backingStore>"}, {}, "disk vda: 2 images lie below its own"),
        ({"bus": "sata"}, {}, "disk vda: its bus is sata"),
        ({}, {"extents": 5000}, "disk vda: its image has 5000 extents of 210 KiB on average"),
        ({"type": "qemu"}, {}, "its processors are emulated"),
        ({"cpu": "<cpu mode='custom'><model>qemu64</model></cpu>"}, {}, "its CPU model, qemu64, hides instructions"),
        ({"cpuset": ""}, {"nodes": 2}, "its processors and memory may be on any of 2 NUMA nodes"),
        ({}, {"cores": 2}, "the guests that run have 4 virtual processors together, on 2 real ones"),
        ({}, {"job": "Unbounded"}, "a job is in progress: unbounded"),
    ],
)
def test_a_fault_is_noted(changed: dict[str, str], machine: dict[str, int | str], note: str) -> None:
    (found,) = _notes(_text(**changed), **machine)
    assert found.startswith(note)


def test_small_pages_are_noted_where_the_host_has_no_huge_ones() -> None:
    host = Libvirt(_text())
    host.files["/sys/kernel/mm/transparent_hugepage/enabled"] = "always madvise [never]\n"
    (condition,) = conditions(host, URI)
    assert condition.found.startswith("its memory is of small pages")
    host.answers["dumpxml"] = _text(more="<memoryBacking><hugepages/></memoryBacking>")
    assert conditions(host, URI)[0].fitness is Fitness.FIT


def test_a_machine_without_libvirt_has_no_guests_and_a_named_one_must_answer() -> None:
    host = Libvirt(_text())
    host.answers.clear()
    host.has_virsh = False
    assert conditions(host) == []
    with pytest.raises(HostError):
        conditions(host, URI)
    with pytest.raises(UsageError, match=r"libvirt of another machine[\s\S]*paribus doctor ssh://kvm1"):
        conditions(host, "qemu+ssh://kvm1/system")
