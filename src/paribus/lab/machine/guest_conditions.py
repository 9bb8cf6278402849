"""Conditions of the guests that run on a machine: settings of theirs that lose data, or cost time.

In: a hypervisor. Out: conditions, each with what to do. Called by `doctor`; changes nothing.
"""

import re
from collections.abc import Iterator

from paribus.errors import HostError, Missing, Unreachable, UsageError
from paribus.hosts.facts import has_program, text_of
from paribus.hosts.guests import definition, hypervisor, qemu
from paribus.hosts.guests import domain as domains
from paribus.hosts.guests.definition import ABSENT, DEFAULT
from paribus.hosts.transport import Host
from paribus.knobs.catalog import load
from paribus.knobs.loss import loss_of
from paribus.lab.machine.connection import LOCAL
from paribus.model import Condition, Fitness

DEFAULT_URI = "qemu:///system"
_FEWEST_EXTENTS = 1000
_SHORT_EXTENT_BYTES = 2**20
_FILEFRAG_S = 30.0
_SLOW_BUSES = ("ide", "sata")
_PLAIN_MODELS = ("qemu64", "qemu32", "kvm64", "kvm32")
_CACHE = "guest.disk.cache"

Note = tuple[str, str]
"""A finding and its remedy."""


def conditions(host: Host, uri: str = "") -> list[Condition]:
    """Return the conditions of each running guest; without a URI none where there is no libvirt.

    Raises UsageError for a URI of another machine, Unreachable, and with a URI Missing and HostError.
    """
    if uri and (address := hypervisor.parse(uri)).machine != LOCAL:
        raise UsageError(
            f"{uri} is the libvirt of another machine", f"examine that one: paribus doctor {address.machine}"
        )
    if not uri and not has_program(host, "virsh"):
        return []
    try:
        names = domains.running(host, uri or DEFAULT_URI)
    except Unreachable:
        raise
    except HostError:
        if uri:
            raise
        return []
    definitions = {name: domains.definition(host, uri or DEFAULT_URI, name) for name in names}
    listed = list(_overcommitted(host, list(definitions.values())))
    for name, text in definitions.items():
        notes = list(_of_guest(host, uri or DEFAULT_URI, name, text))
        listed += [Condition(f"guest {name}", Fitness.NOTE, note, fix) for note, fix in notes]
        if not notes:
            listed.append(Condition(f"guest {name}", Fitness.FIT, "its definition loses no data and costs no time"))
    return listed


def _overcommitted(host: Host, definitions: list[str]) -> Iterator[Condition]:
    virtual = sum(_processors(text) for text in definitions)
    present = len(re.findall(r"^processor\s*:", text_of(host, "/proc/cpuinfo"), re.MULTILINE))
    if present and virtual > present:
        text = f"the guests that run have {virtual} virtual processors together, on {present} real ones"
        fix = "shut down guests that are not measured, or give them fewer"
        yield Condition("guests", Fitness.NOTE, text, fix)


def _processors(text: str) -> int:
    """The number of virtual processors that are plugged in."""
    current = definition.value(text, "vcpu/@current", "")
    return int(definition.value(text, "vcpu", "") if current == DEFAULT else current)


def _of_guest(host: Host, uri: str, name: str, text: str) -> Iterator[Note]:
    """Yield what is to be noted of a guest with this definition."""
    if job := domains.job(host, uri, name, text):
        yield f"a job is in progress: {job}", f"wait for its end; see: virsh domjobinfo {name}"
    if definition.value(text, "./@type", "") == "qemu":
        yield "its processors are emulated: times in it mean nothing", "define it with the type kvm"
    elif _cpu_model(text) in _PLAIN_MODELS:
        hint = "use host-passthrough, or host-model where it migrates"
        yield f"its CPU model, {_cpu_model(text)}, hides instructions of the processor", hint
    yield from _of_memory(host, text)
    for disk in definition.disks(text):
        for note, fix in _of_disk(host, text, disk):
            yield f"disk {disk}: {note}", fix


def _cpu_model(text: str) -> str:
    """The CPU model; QEMU's default is an old one, and libvirt's modes `host-…` are none."""
    mode = definition.value(text, "cpu/@mode", "")
    return definition.value(text, "cpu/model", "") if mode in (DEFAULT, "custom") else mode


def _of_memory(host: Host, text: str) -> Iterator[Note]:
    nodes = [name for name in host.names("/sys/devices/system/node") if re.fullmatch(r"node\d+", name)]
    paths = ("vcpu/@cpuset", "cputune/vcpupin/@cpuset", "numatune/memory/@nodeset")
    if len(nodes) > 1 and all(definition.value(text, path, "") == DEFAULT for path in paths):
        hint = 'try "guest.cpus" and "guest.numa.nodes" of one node'
        yield f"its processors and memory may be on any of {len(nodes)} NUMA nodes", hint
    huge_pages = definition.value(text, "memoryBacking/hugepages?", "")
    if huge_pages == ABSENT and "[never]" in text_of(host, "/sys/kernel/mm/transparent_hugepage/enabled"):
        hint = 'try "guest.memory.hugepages" or "host.thp.enabled"'
        yield "its memory is of small pages: huge ones are off, for it and on the host", hint


def _of_disk(host: Host, text: str, disk: str) -> Iterator[Note]:
    cache = definition.value(text, "devices/disk/driver/@cache", disk)
    in_force = qemu.in_force(host, text, disk).get(qemu.CACHE, cache)
    if cache not in (DEFAULT, in_force):
        yield f"libvirt has the cache mode {cache}, and QEMU uses {in_force}", "see the log of QEMU in /var/log/libvirt"
    if loss := loss_of(load().get(_CACHE), in_force):
        yield f"cache mode {in_force}: {loss}", f'compare it: "{_CACHE}" = ["{cache}", "none"]'
    if below := definition.images_below(text, disk):
        yield f"{below} images lie below its own, and reads of old data search them", "merge them: virsh blockcommit"
    bus = definition.value(text, "devices/disk/target/@bus", disk)
    if bus in _SLOW_BUSES:
        yield f"its bus is {bus}, with one queue and no thread of its own", "define it on the bus virtio"
    if bus == "virtio":
        yield from _of_virtio(text, disk)
    image = definition.value(text, "devices/disk/source/@file", disk)
    if image != DEFAULT and (extents := _extents(host, image)) and extents[0] >= _FEWEST_EXTENTS:
        count, size_bytes = extents
        if size_bytes / count < _SHORT_EXTENT_BYTES:
            hint = "copy it to a new file, or preallocate it"
            yield f"its image has {count} extents of {size_bytes / count / 1024:.0f} KiB on average", hint


def _of_virtio(text: str, disk: str) -> Iterator[Note]:
    if definition.value(text, "devices/disk/driver/@iothread", disk) == DEFAULT:
        hint = 'try "guest.iothreads" = 1 with "guest.disk.iothread" = 1'
        yield "it has no I/O thread: its requests share one with all other devices", hint
    queues, processors = definition.value(text, "devices/disk/driver/@queues", disk), _processors(text)
    if queues != DEFAULT and int(queues) < processors:
        yield f"it has {queues} queues for {processors} virtual processors", f'try "guest.disk.queues" = {processors}'


def _extents(host: Host, image: str) -> tuple[int, int] | None:
    """The number of extents of an image and its bytes on the disk; None where they cannot be counted."""
    try:
        counted = host.run(["filefrag", image], timeout_s=_FILEFRAG_S)
        sized = host.run(["stat", "--format=%b %B", image])
        blocks, block_bytes = (int(number) for number in sized.stdout.split())
    except Unreachable:
        raise
    except (HostError, Missing, ValueError):
        return None
    match = re.search(r": (\d+) extents? found", counted.stdout)
    return (int(match[1]), blocks * block_bytes) if match else None
