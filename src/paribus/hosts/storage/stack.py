"""The block devices between files and disks: volumes, arrays, encrypted devices.

In: a device, or the number of one. Out: the devices it consists of. Called by the inspection of a machine, and after
a layout was built.
"""

from collections.abc import Iterator

from paribus.errors import HostError
from paribus.hosts.transport import Host
from paribus.model import Stack

_BLOCK = "/sys/class/block"


def stack_of(host: Host, *devices: str) -> Stack:
    """The devices below these, each a path such as /dev/sda1 or a number such as 253:0; `top` is of the first.

    A partition stands for its disk. Raises HostError where there is no block device.
    """
    folders = dict.fromkeys(folder for device in devices for folder in folders_below(host, device))
    whole = [folder for folder in folders if "partition" not in host.names(folder)]
    return Stack(
        top=_node(whole[0]),
        disks=tuple(_node(folder) for folder in whole if not host.names(f"{folder}/slaves")),
        arrays=tuple(_node(folder) for folder in whole if "md" in host.names(folder)),
    )


def folders_below(host: Host, device: str) -> list[str]:
    """The folders under /sys of a device and all that it lies on, the top first; a partition comes before its disk.

    Raises HostError where there is no block device.
    """
    if device.startswith("/dev/"):
        name = host.resolve(device).removeprefix("/dev/").replace("/", "!")
        node = f"{_BLOCK}/{name}"
    else:
        node = f"/sys/dev/block/{device}"
    folder = host.resolve(node)
    if not host.names(folder):
        raise HostError(
            f"{device} is not a block device of this machine",
            "name one of: " + ", ".join(f"/dev/{name}" for name in host.names("/sys/block")),
        )
    return list(dict.fromkeys(_with_all_below(host, folder)))


def lies_on(host: Host, device: str, disk: str) -> bool:
    """Whether a device is a disk, or consists of it among others. Raises HostError where there is no such device."""
    node = host.resolve(disk)
    return any(_node(folder) == node for folder in folders_below(host, device))


def _with_all_below(host: Host, folder: str) -> Iterator[str]:
    yield folder
    if "partition" in host.names(folder):
        yield from _with_all_below(host, folder.rpartition("/")[0])
    for name in host.names(f"{folder}/slaves"):
        yield from _with_all_below(host, host.resolve(f"{_BLOCK}/{name}"))


def _node(folder: str) -> str:
    return f"/dev/{folder.rpartition('/')[2].replace('!', '/')}"
