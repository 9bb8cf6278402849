"""Bytes written to a layout's top device and to its disks, from the counters of both.

In: the devices of a layout. Out: counts since the layout was built, and measurements of a trial. Called by the session
of layouts.

Source: the kernel's Documentation/block/stat.rst (the seventh field is the sectors written).
"""

from dataclasses import dataclass

from paribus.hosts.storage.devices import written_in
from paribus.hosts.transport import Host
from paribus.model import Measurement, Stack


@dataclass(frozen=True, slots=True)
class LayerCounts:
    """Bytes written to the device below the files, and to all disks below it."""

    top_bytes: int
    disk_bytes: int


def layer_counts(host: Host, stack: Stack) -> LayerCounts | None:
    """The counts of a layout's devices; None where one of them is gone. Raises Unreachable."""
    names = [device.removeprefix("/dev/").replace("/", "!") for device in (stack.top, *stack.disks)]
    texts = host.read_each([f"/sys/class/block/{name}/stat" for name in names])
    try:
        top, *disks = [written_in(text or "") for text in texts]
    except (IndexError, ValueError):
        return None
    return LayerCounts(top, sum(disks))


def measurements(before: LayerCounts | None, after: LayerCounts | None) -> tuple[Measurement, ...]:
    """The bytes that a trial wrote to both; none where the counters are those of other devices."""
    if before is None or after is None or after.top_bytes < before.top_bytes or after.disk_bytes < before.disk_bytes:
        return ()
    amounts = {
        "layout_top_written_bytes": after.top_bytes - before.top_bytes,
        "layout_disks_written_bytes": after.disk_bytes - before.disk_bytes,
    }
    return tuple(
        Measurement.of_value(metric, "B", float(amount), "measure", "sysfs") for metric, amount in amounts.items()
    )
