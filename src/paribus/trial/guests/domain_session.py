"""The definition of the guest under test: changed with a restart of the guest, and put back as it was.

In: settings of trials. Out: changes, each read back from the running guest. Called by `HypervisorSession`.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from paribus.errors import HostError, Unreachable
from paribus.hosts.guests import definition, qemu
from paribus.hosts.guests import domain as domains
from paribus.hosts.transport import Host
from paribus.knobs.journal import Journal
from paribus.knobs.kinds.domain import DomainAddress, value_in
from paribus.knobs.kinds.sysfs import number_or_text
from paribus.model import DOMAIN, Change, ChangeState, DefineGuest, Guest, Knob, NotTaken, Settings, Value

_SUBJECT = DOMAIN.removesuffix(".")


@dataclass(frozen=True, slots=True)
class GuestRestart:
    """Preparations for a restart of the guest under test.

    `leave` ends and restores everything in the guest. `come_back` waits for the guest, and begins anew in it; it raises
    Unreachable as soon as its argument returns true.
    """

    leave: Callable[[], None]
    come_back: Callable[[Callable[[], bool]], None]


class DomainSession:
    """The settings `guest.*` during one experiment; `knobs` are placed."""

    def __init__(
        self,
        host: Host,
        guest: Guest,
        knobs: Mapping[str, Knob],
        journal: Journal,
        experiment: str,
        restart: GuestRestart,
    ) -> None:
        """Read the definition as it is. Raises HostError."""
        self._host = host
        self._guest = guest
        self._knobs = knobs
        self._journal = journal
        self._experiment = experiment
        self._restart = restart
        self._disk = guest.location.domain.disk if guest.location.domain else ""
        self._virsh = next(DomainAddress(*knob.addresses).virsh for knob in knobs.values())
        self._original = domains.definition(host, guest.uri, guest.name, for_next_start=True)
        self._before = {key: value_in(self._original, knob) for key, knob in knobs.items()}
        self._in_force: dict[str, Value] | None = None
        self.was_changed = False

    def apply(self, settings: Settings, tested: Collection[str]) -> tuple[Change, ...]:
        """Restart the guest with its settings of a trial, where they differ or are tested; what it has then.

        A definition that libvirt, QEMU or the guest refuses is a mismatched change, and the guest runs as it was found.
        Raises HostError where that fails too, JournalError and Unreachable.
        """
        values = self._before | {key: number_or_text(str(settings[key])) for key in self._knobs if key in settings}
        self._in_force = self._read()
        if self._in_force == values and not any(key in self._knobs for key in tested):
            return tuple(self._change(key, values[key], self._in_force[key]) for key in self._knobs)
        self._restart.leave()
        refusal = self._start_as(values) or self._come_back()
        if refusal is not None:
            self._make(self._original, running=False)
            self._make(self._original, running=True)
            self._restart.come_back(lambda: False)
        self._in_force = self._read()
        reason = refusal.message if refusal is not None else ""
        return tuple(self._change(key, values[key], self._in_force[key], reason) for key in self._knobs)

    def verify(self) -> tuple[Change, ...]:
        """The settings that changed since they were applied."""
        if self._in_force is None:
            return ()
        present = self._read()
        return tuple(
            self._change(key, value, present[key], outcome=NotTaken.RESET)
            for key, value in self._in_force.items()
            if present[key] != value
        )

    def _start_as(self, values: Mapping[str, Value]) -> HostError | None:
        """Define the guest with these values and start it again; the refusal, if there is one.

        The mark distinguishes the definition from the original, so that an undo always restarts the guest.
        """
        texts = {DomainAddress(*knob.addresses).path: str(values[key]) for key, knob in self._knobs.items()}
        text = definition.edited(self._original, texts, self._disk, self._experiment)
        if not self.was_changed:
            undo = [self._action(self._original, running=True)]
            self._journal.intend(_SUBJECT, self._guest.name, "as found", "with other settings", undo, persistent=True)
            self.was_changed = True
        try:
            self._make(text, running=None)
        except Unreachable:
            raise
        except HostError as error:
            return error
        self._make(text, running=False)
        try:
            self._make(text, running=True)
        except Unreachable:
            raise
        except HostError as error:
            return error
        return None

    def _come_back(self) -> HostError | None:
        """Wait for the started guest; the reason where it ends instead, such as by a panic of its kernel."""
        uri, name = self._guest.uri, self._guest.name
        try:
            self._restart.come_back(lambda: domains.is_off(self._host, uri, name))
        except Unreachable:
            if not domains.is_off(self._host, uri, name):
                raise
            return HostError(f"the guest {name} ended before it could be reached")
        return None

    def _make(self, text: str, *, running: bool | None) -> None:
        self._journal.make(_SUBJECT, self._action(text, running=running))

    def _action(self, text: str, *, running: bool | None) -> DefineGuest:
        return DefineGuest((self._virsh, "--connect", self._guest.uri), self._guest.name, text, running)

    def _read(self) -> dict[str, Value]:
        """The values of the running guest: those that its process shows, else what libvirt says."""
        text = domains.definition(self._host, self._guest.uri, self._guest.name)
        of_process = qemu.in_force(self._host, text, self._disk) if self._disk else {}
        return {key: self._value(text, knob, of_process) for key, knob in self._knobs.items()}

    def _value(self, text: str, knob: Knob, of_process: Mapping[str, str]) -> Value:
        value = value_in(text, knob)
        path = DomainAddress(*knob.addresses).path
        return value if value == definition.DEFAULT else of_process.get(path, value)

    def _change(
        self, key: str, value: Value, observed: Value, refused: str = "", outcome: NotTaken = NotTaken.IGNORED
    ) -> Change:
        is_taken = observed == value
        return Change(
            knob=key,
            address=self._knobs[key].addresses[0],
            before=self._before[key],
            wanted=value,
            observed=observed,
            state=ChangeState.VERIFIED if is_taken else ChangeState.MISMATCHED,
            not_taken=None if is_taken else NotTaken.REFUSED if refused else outcome,
            refused="" if is_taken else refused,
        )
