"""The document of `paribus sandbox status` as text."""

from rich.console import Console
from rich.table import Table

from paribus.lab.sandboxing import SandboxDisk, SandboxDocument, SandboxStatus
from paribus.units import show_size, show_time


def show(document: SandboxDocument, console: Console) -> None:
    """Print the document for a person."""
    if not document.sandboxes:
        console.print("no sandbox: paribus sandbox up makes one")
    for sandbox in document.sandboxes:
        console.print(_title(sandbox), markup=False, soft_wrap=True)
        table = Table(box=None, pad_edge=False, show_header=False)
        for disk in sandbox.disks:
            table.add_row(f"  {disk.serial}", show_size(disk.size_bytes), disk.bus, _limits(disk))
        console.print(table)


def _title(sandbox: SandboxStatus) -> str:
    nodes = f", {sandbox.nodes} NUMA nodes" if sandbox.nodes > 1 else ""
    emulated = ", emulated" if sandbox.emulated else ""
    packages = f", with {', '.join(sandbox.packages)}" if sandbox.packages else ""
    return (
        f"{sandbox.name} is {sandbox.state.value}: {sandbox.address}, {sandbox.cores} cores{nodes}, "
        f"{show_size(sandbox.memory_bytes)}{emulated}{packages}"
    )


def _limits(disk: SandboxDisk) -> str:
    limits = [
        f"{disk.iops:,}/s" if disk.iops else "",
        f"{show_size(disk.bytes_per_s)}/s" if disk.bytes_per_s else "",
        f"{show_time(disk.latency_s)} later" if disk.latency_s else "",
    ]
    return ", ".join(filter(None, limits))
