"""Whether an event of the plan happens in a trial; the trial knows, and nothing of the machine is set."""

from paribus.knobs.kinds.kind import Holder, knob_kinds
from paribus.knobs.kinds.workload_parameter import ExternalKind
from paribus.model import Knob, Reading, Value

KIND = "event"


class EventKind(ExternalKind):
    """Off, where nobody plans it."""

    holder: Holder = "trial"

    def parse(self, knob: Knob, texts: tuple[str, ...]) -> Reading:  # noqa: ARG002
        """Return OFF: no event happens by itself."""
        return Reading("OFF")

    def set_by_hand(self, knob: Knob, value: Value) -> str:
        """Return an instruction: no command makes the event happen."""
        return f"# {'let' if value == 'ON' else 'do not let'} {knob.addresses[0]} happen beside the load"

    def check_by_hand(self, knob: Knob) -> str:
        """Return an instruction: no file shows the event."""
        return f"# see whether {knob.addresses[0]} happens"

    def persist_by_hand(self, knob: Knob, value: Value) -> str:
        """A matter of whoever schedules it."""
        return self.set_by_hand(knob, value)


knob_kinds.register(KIND, EventKind())
