"""The storage layout of the disks under test, which the trial builds and takes apart."""

from paribus.hosts.transport import Host
from paribus.knobs.kinds.kind import Holder, knob_kinds
from paribus.knobs.kinds.workload_parameter import ExternalKind
from paribus.model import Knob, Location, Reading, Value

CLEAN = "clean"
"""The value of disks without a layout."""


class LayoutKind(ExternalKind):
    """Layouts, which are not read: disks that a plan may use for layouts are clean."""

    holder: Holder = "layout"

    def place(self, host: Host, knob: Knob, location: Location) -> Knob:  # noqa: ARG002
        """The plan names the disks."""
        return knob

    def parse(self, knob: Knob, texts: tuple[str, ...]) -> Reading:  # noqa: ARG002
        """Clean."""
        return Reading(CLEAN)

    def set_by_hand(self, knob: Knob, value: Value) -> str:  # noqa: ARG002
        """Several commands, which depend on the disks."""
        return f"# make {value} with the commands that paribus check lists"

    def check_by_hand(self, knob: Knob) -> str:  # noqa: ARG002
        """The tree of devices with their file systems."""
        return "lsblk --output NAME,TYPE,FSTYPE,MOUNTPOINT"

    def persist_by_hand(self, knob: Knob, value: Value) -> str:  # noqa: ARG002
        """A layout lasts; its mount is a line of fstab."""
        return "# add the file system to /etc/fstab"


knob_kinds.register("layout", LayoutKind())
