"""The machine that runs a workload and its server: the guest under test, or its hypervisor."""

from paribus.hosts.transport import Host
from paribus.knobs.kinds.kind import Holder, knob_kinds
from paribus.knobs.kinds.workload_parameter import ExternalKind
from paribus.model import Knob, Location, Platform, Reading, Value


class PlatformKind(ExternalKind):
    """Platforms, of which each trial uses one; there is nothing to write."""

    holder: Holder = "platform"

    def place(self, host: Host, knob: Knob, location: Location) -> Knob:  # noqa: ARG002
        """The plan names both machines."""
        return knob

    def parse(self, knob: Knob, texts: tuple[str, ...]) -> Reading:  # noqa: ARG002
        """The guest, which is the target."""
        return Reading(Platform.GUEST)

    def set_by_hand(self, knob: Knob, value: Value) -> str:  # noqa: ARG002
        """A remark: a server is moved by a person."""
        return f"# run the server on the {value}"

    def check_by_hand(self, knob: Knob) -> str:  # noqa: ARG002
        """The program that tells a guest from a host."""
        return "systemd-detect-virt"

    def persist_by_hand(self, knob: Knob, value: Value) -> str:
        """The same remark."""
        return self.set_by_hand(knob, value)


knob_kinds.register("platform", PlatformKind())
