"""The md arrays of a layout in a trial: disks that fail and are replaced, checks, and whether the arrays are whole."""

from collections.abc import Sequence

from paribus.errors import HostError, Unreachable
from paribus.hosts.storage.stack import lies_on
from paribus.hosts.transport import Host
from paribus.trial.events.raid import IDLE, no_failure
from paribus.trial.layouts.session import LayoutSession

_BLOCK = "/sys/class/block"
_MDADM = "mdadm"


class MdArrays:
    """The arrays of the layout that is made, by mdadm and the files of the kernel."""

    def __init__(self, host: Host, layouts: LayoutSession) -> None:
        """Start without failed disks."""
        self._host = host
        self._layouts = layouts
        self._members: dict[str, tuple[str, str]] = {}  # by failed disk: its array, and what of it was the member
        self._broken: set[str] = set()  # disks whose failure the kernel may not have noticed

    def fail(self, disk: str) -> None:
        """Take a disk out of its array, as if it had been pulled."""
        self._members[disk] = array, member = self._member_of(disk)
        self._expel(array, member)

    def expect_failure(self, disk: str) -> None:
        """Remember the place of a disk that fails from now on; the kernel throws it out when it notices."""
        self._members[disk] = self._member_of(disk)
        self._broken.add(disk)

    def replace(self, disk: str) -> None:
        """Put a blank disk in the place of a failed one: its own, or that of the one that failed last."""
        array, member = self._take_place(disk)
        self._join_blank(array, member)

    def add(self, disk: str) -> None:
        """Bring a failed disk back with its old content; without a bitmap it is rebuilt as a blank one."""
        array, member = self._take_place(disk)
        try:
            self._layouts.run(_MDADM, array, "--re-add", member)
        except Unreachable:
            raise
        except HostError:
            self._join_blank(array, member)

    def scrub(self, action: str) -> None:
        """Begin a `check` or `repair` of every array."""
        for array in self._arrays:
            self._layouts.write(f"{_folder(array)}/md/sync_action", action)

    def has_redundancy(self) -> bool:
        """Whether any array could do without a disk."""
        return any(self._of(array, "degraded") for array in self._arrays)

    def is_whole(self) -> bool:
        """Whether no array lacks a member, and none synchronises, rebuilds or checks."""
        return self.is_idle() and all(self._of(array, "degraded") in ("0", "") for array in self._arrays)

    def is_idle(self) -> bool:
        """Whether no array synchronises, rebuilds or checks; one of level 0 never does."""
        return all(self._of(array, "sync_action") in (*IDLE, "") for array in self._arrays)

    def mismatches(self) -> int:
        """Sectors that the last check found to differ between copies, or from their parity."""
        return sum(int(self._of(array, "mismatch_cnt") or 0) for array in self._arrays)

    @property
    def _arrays(self) -> Sequence[str]:
        """Nodes of the arrays, from the top down."""
        return self._layouts.stack.arrays if self._layouts.stack is not None else ()

    def _member_of(self, disk: str) -> tuple[str, str]:
        """The array that a disk is in, the lower one of several, and its member: the disk, or what lies on it."""
        for array in reversed(self._arrays):
            for name in self._host.names(f"{_folder(array)}/slaves"):
                member = f"/dev/{name.replace('!', '/')}"
                if lies_on(self._host, member, disk):
                    return array, member
        raise HostError(f"{disk} is in no array of this layout", "name a disk of an array, or remove the event")

    def _take_place(self, disk: str) -> tuple[str, str]:
        """The array that a disk joins, and what of it does; a failure that the kernel missed is told to it."""
        if not self._members:
            raise no_failure()
        failed = disk if disk in self._members else list(self._members)[-1]
        array, member = self._members.pop(failed)
        if failed in self._broken:
            self._broken.remove(failed)
            self._expel(array, member)
        return array, member if failed == disk else disk

    def _expel(self, array: str, member: str) -> None:
        self._layouts.run(_MDADM, array, "--fail", member)
        self._layouts.run(_MDADM, array, "--remove", member)

    def _join_blank(self, array: str, disk: str) -> None:
        self._layouts.run("wipefs", "--all", "--quiet", disk)
        self._layouts.run(_MDADM, array, "--add", disk)

    def _of(self, array: str, name: str) -> str:
        """An attribute of an array; empty where its level has none."""
        folder = f"{_folder(array)}/md"
        return self._host.read(f"{folder}/{name}").strip() if name in self._host.names(folder) else ""


def _folder(array: str) -> str:
    return f"{_BLOCK}/{array.removeprefix('/dev/').replace('/', '!')}"
