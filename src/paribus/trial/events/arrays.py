"""The md arrays of a layout: which of them a disk belongs to, and whether they are whole.

In: nodes of arrays and the name of a disk. Out: the array with its member, or their state.
"""

from collections.abc import Sequence

from paribus.errors import HostError
from paribus.hosts.storage.stack import folders_below
from paribus.hosts.transport import Host

_BLOCK = "/sys/class/block"
_IDLE = ("idle", "frozen")


def member_of(host: Host, arrays: Sequence[str], disk: str) -> tuple[str, str]:
    """The array that a disk is in, and the device that is its member: the disk, or what lies on it.

    `arrays` come from the top down; where one lies on another, the disk is in the lower one. Raises HostError where it
    is in none.
    """
    node = host.resolve(disk)
    for array in reversed(arrays):
        for name in host.names(f"{_folder(array)}/slaves"):
            member = f"/dev/{name.replace('!', '/')}"
            if node in (f"/dev/{folder.rpartition('/')[2]}" for folder in folders_below(host, member)):
                return array, member
    raise HostError(f"{disk} is in no array of this layout", "name a disk of an array, or remove the event")


def is_whole(host: Host, arrays: Sequence[str]) -> bool:
    """Whether no array lacks a member, and none synchronises, rebuilds or checks."""
    return all(_of(host, array, "degraded") in ("0", "") and is_idle(host, array) for array in arrays)


def is_idle(host: Host, array: str) -> bool:
    """Whether an array neither synchronises nor rebuilds nor checks; one of level 0 never does."""
    return _of(host, array, "sync_action") in (*_IDLE, "")


def mismatches(host: Host, arrays: Sequence[str]) -> int:
    """Sectors that the last check found to differ between copies, or from their parity."""
    return sum(int(_of(host, array, "mismatch_cnt") or 0) for array in arrays)


def sync_action_of(array: str) -> str:
    """The file that starts a check."""
    return f"{_folder(array)}/md/sync_action"


def _folder(array: str) -> str:
    return f"{_BLOCK}/{array.removeprefix('/dev/').replace('/', '!')}"


def _of(host: Host, array: str, name: str) -> str:
    """An attribute of an array; empty where its level has none."""
    folder = f"{_folder(array)}/md"
    return host.read(f"{folder}/{name}").strip() if name in host.names(folder) else ""
