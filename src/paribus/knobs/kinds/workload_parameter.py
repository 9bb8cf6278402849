"""A setting that is no file of the machine: the load or a server takes it and reads it back."""

from paribus.knobs.kinds.kind import FileKind
from paribus.model import Action, Knob, Reading, Value
from paribus.registry import DATABASE_DEFAULT


class ExternalKind(FileKind):
    """Knobs outside of the machine's files: no reads and no writes."""

    def reads(self, knob: Knob) -> tuple[str, ...]:  # noqa: ARG002
        """No file."""
        return ()

    def parse(self, knob: Knob, texts: tuple[str, ...]) -> Reading:  # noqa: ARG002
        """The default, which holds while nobody sets it."""
        return Reading(DATABASE_DEFAULT)

    def writes(self, knob: Knob, value: Value) -> tuple[Action, ...]:  # noqa: ARG002
        """No action."""
        return ()
