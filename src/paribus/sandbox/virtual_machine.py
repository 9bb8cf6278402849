"""The command line of QEMU for a sandbox.

In: a `Specification` and the files of the sandbox. Out: arguments. Pure.
"""

from collections.abc import Iterator
from pathlib import Path

from paribus.sandbox.image import ROOT_PARTITION
from paribus.sandbox.specification import Disk, Specification
from paribus.units import MIB

PROGRAM = "qemu-system-x86_64"


class Files:
    """The files of one sandbox, in its folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.specification = folder / "sandbox.json"
        self.root = folder / "root.qcow2"
        self.console = folder / "console"
        self.monitor = folder / "monitor"
        self.pid = folder / "pid"
        self.key = folder / "key"
        self.configuration = folder / "ssh_config"
        self.log = folder / "log"

    def disk(self, disk: Disk) -> Path:
        """The content of a disk."""
        return self.folder / f"{disk.serial}.raw"

    def socket(self, disk: Disk) -> Path:
        """The socket of the process that serves a disk with latency."""
        return self.folder / f"{disk.serial}.socket"


KVM = ("-accel", "kvm", "-cpu", "host")
EMULATION = ("-accel", "tcg,thread=multi", "-cpu", "max")


def arguments(
    specification: Specification, files: Files, kernel: Path, accelerator: tuple[str, ...], public_key: str, port: int
) -> list[str]:
    """The arguments that start the machine in the background, with SSH at `port` of the loopback address.

    `public_key` is in base64, since the parameters of a kernel are separated by blanks.
    """
    parameters = (
        f"root=PARTUUID={ROOT_PARTITION} rw console=ttyS0 quiet mitigations=off paribus.key={public_key}"
        " systemd.show_status=0"
    )
    memory = specification.memory_bytes // MIB
    return [
        *(PROGRAM, "-nodefaults", "-no-user-config", "-display", "none", "-daemonize"),
        *("-machine", "pc", *accelerator),
        *("-smp", str(specification.cores), "-m", f"{memory}M", *_nodes(specification)),
        *("-kernel", str(kernel), "-append", parameters),
        *("-serial", f"file:{files.console}", "-pidfile", str(files.pid)),
        *("-qmp", f"unix:{files.monitor},server=on,wait=off"),
        *("-netdev", f"user,id=net,restrict=on,hostfwd=tcp:127.0.0.1:{port}-:22"),
        *("-device", "virtio-net-pci,netdev=net,romfile=", "-device", "virtio-rng-pci"),
        *("-drive", f"if=none,id=root,format=qcow2,file={files.root}", "-device", "nvme,drive=root,serial=root"),
        *(["-device", "virtio-scsi-pci,id=scsi"] if any(disk.bus == "scsi" for disk in specification.disks) else []),
        *(argument for disk in specification.disks for argument in _disk(disk, files)),
    ]


def _nodes(specification: Specification) -> Iterator[str]:
    """NUMA nodes with equal shares of memory and processors; none where there is one."""
    if specification.nodes == 1:
        return
    memory = specification.memory_bytes // MIB // specification.nodes
    last = specification.nodes - 1
    for node in range(specification.nodes):
        first, after = (specification.cores * n // specification.nodes for n in (node, node + 1))
        share = memory if node < last else specification.memory_bytes // MIB - memory * last
        yield from ("-object", f"memory-backend-ram,id=memory{node},size={share}M")
        yield from ("-numa", f"node,nodeid={node},memdev=memory{node},cpus={first}-{after - 1}")


def _disk(disk: Disk, files: Files) -> Iterator[str]:
    """A disk, with its limits; one with latency is served by another process."""
    place = f"file={files.disk(disk)}"
    if disk.latency_s:
        place = f"file.driver=nbd,file.server.type=unix,file.server.path={files.socket(disk)}"
    limits = "".join(
        f",throttling.{name}-total={value}" for name, value in (("iops", disk.iops), ("bps", disk.bytes_per_s)) if value
    )
    yield from ("-drive", f"if=none,id={disk.serial},format=raw,discard=unmap,detect-zeroes=unmap,{place}{limits}")
    device = {"virtio": "virtio-blk-pci", "scsi": "scsi-hd,bus=scsi.0", "nvme": "nvme"}[disk.bus]
    yield from ("-device", f"{device},drive={disk.serial},serial={disk.serial},id={device_id(disk.serial)}")


def device_id(serial: str) -> str:
    """The name of a disk's device in QEMU."""
    return f"disk-{serial}"


def delaying(disk: Disk, files: Files) -> list[str]:
    """The process that serves a disk with latency."""
    milliseconds = f"{disk.latency_s * 1000:.3f}ms"
    return [
        *("nbdkit", "--pidfile", f"{files.socket(disk)}.nbdkit", "--filter=delay", "--unix", str(files.socket(disk))),
        *("file", str(files.disk(disk)), f"delay-read={milliseconds}", f"delay-write={milliseconds}"),
    ]


def kvm_trial(kernel: Path, console: Path) -> list[str]:
    """Arguments of a machine without disks: where KVM works, its kernel writes to the console at once."""
    return [
        *(PROGRAM, "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", *KVM, "-m", "256M"),
        *("-kernel", str(kernel), "-append", "earlyprintk=serial console=ttyS0 panic=-1"),
        *("-serial", f"file:{console}"),
    ]
