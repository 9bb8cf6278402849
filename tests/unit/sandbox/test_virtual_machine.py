"""The command line of QEMU for a sandbox."""

from pathlib import Path

from paribus.sandbox.specification import Specification, parse_disks
from paribus.sandbox.virtual_machine import EMULATION, Files, arguments

FILES = Files(Path("/sandboxes/lab"))


def words(specification: Specification) -> list[str]:
    return arguments(specification, FILES, Path("/kernel"), EMULATION, "a2V5", 2222)


def values_of(option: str, specification: Specification) -> list[str]:
    argv = words(specification)
    return [argv[index + 1] for index, word in enumerate(argv) if word == option]


def test_disks_have_their_bus_serial_and_limits() -> None:
    disks = parse_disks(["ssd:1GiB:iops=8000,bandwidth=500MiB", "sas:1GiB:bus=scsi", "fast:1GiB:bus=nvme"])
    specification = Specification(disks=disks)
    drives = "\n".join(values_of("-drive", specification))
    assert "id=ssd-1,format=raw,discard=unmap,detect-zeroes=unmap,file=/sandboxes/lab/ssd-1.raw" in drives
    assert "throttling.iops-total=8000,throttling.bps-total=524288000" in drives
    devices = values_of("-device", specification)
    assert "virtio-blk-pci,drive=ssd-1,serial=ssd-1,id=disk-ssd-1" in devices
    assert "virtio-scsi-pci,id=scsi" in devices
    assert "scsi-hd,bus=scsi.0,drive=sas-1,serial=sas-1,id=disk-sas-1" in devices
    assert "nvme,drive=fast-1,serial=fast-1,id=disk-fast-1" in devices


def test_a_disk_with_latency_is_served_by_another_process() -> None:
    drives = values_of("-drive", Specification(disks=parse_disks(["slow:1GiB:latency=5ms"])))
    assert any("file.driver=nbd" in drive and "slow-1.socket" in drive for drive in drives)


def test_nodes_share_all_processors_and_all_memory() -> None:
    specification = Specification(disks=(), cores=5, nodes=2, memory_bytes=1025 << 20)
    assert values_of("-numa", specification) == [
        "node,nodeid=0,memdev=memory0,cpus=0-1",
        "node,nodeid=1,memdev=memory1,cpus=2-4",
    ]
    assert values_of("-object", specification) == [
        "memory-backend-ram,id=memory0,size=512M",
        "memory-backend-ram,id=memory1,size=513M",
    ]


def test_only_the_loopback_address_is_listened_to_and_nothing_leaves() -> None:
    [network] = values_of("-netdev", Specification(disks=()))
    assert network == "user,id=net,restrict=on,hostfwd=tcp:127.0.0.1:2222-:22"
