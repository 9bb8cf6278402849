"""A setting in the definition of a guest in libvirt, which takes effect when the guest is started again."""

import dataclasses
import shlex
from typing import NamedTuple

from paribus.errors import UsageError
from paribus.hosts.guests import definition
from paribus.hosts.programs import full_path
from paribus.hosts.transport import Host
from paribus.knobs.kinds.kind import FileKind, Holder, knob_kinds
from paribus.knobs.kinds.sysfs import number_or_text
from paribus.model import Action, Knob, Location, Reading, Refusal, Value

_DISK = "devices/disk"


class DomainAddress(NamedTuple):
    """The addresses of a placed knob: the path in the definition, the disk under test, the domain and `virsh`."""

    path: str
    disk: str
    name: str
    uri: str
    virsh: str


class DomainKind(FileKind):
    """A value in libvirt's XML; `DomainSession` sets all of a trial with one restart of the guest."""

    holder: Holder = "guest"

    def place(self, host: Host, knob: Knob, location: Location) -> Knob:
        """The knob with the domain and its disk under test.

        Raises UsageError without a guest, or without the disk that it needs.
        """
        domain = location.domain
        if domain is None:
            raise UsageError(
                f"{knob.name} is a setting of a virtual machine", 'name it, under [target]: guest = "NAME"'
            )
        [path] = knob.addresses
        if path.startswith(_DISK) and not domain.disk:
            raise UsageError(f"{knob.name} needs the guest's disk under test", "set target.device")
        place = DomainAddress(path, domain.disk, domain.name, domain.uri, full_path(host, "virsh"))
        return dataclasses.replace(knob, addresses=tuple(place))

    def reads(self, knob: Knob) -> tuple[str, ...]:  # noqa: ARG002
        """No file."""
        return ()

    def runs(self, knob: Knob) -> tuple[tuple[str, ...], ...]:
        """The program that prints the definition for the next start."""
        return (_virsh(knob, "dumpxml", "--inactive"),)

    def parse(self, knob: Knob, texts: tuple[str, ...]) -> Reading:
        """The value in the definition."""
        return Reading(value_in(texts[0], knob))

    def writes(self, knob: Knob, value: Value) -> tuple[Action, ...]:  # noqa: ARG002
        """No action: one definition has all settings of a trial."""
        return ()

    def conflict(self, host: Host, knob: Knob) -> Refusal | None:
        """Return a refusal where the running guest has another value than its definition for the next start."""
        programs = _virsh(knob, "dumpxml"), _virsh(knob, "dumpxml", "--inactive")
        now, later = (value_in(host.run(argv).stdout, knob) for argv in programs)
        if now == later:
            return None
        domain = shlex.quote(DomainAddress(*knob.addresses).name)
        return Refusal(
            f"{knob.name} is {now} in the running guest, and {later} in its definition for the next start",
            f"decide between them: virsh shutdown {domain}, then virsh start {domain}; or virsh edit {domain}",
        )

    def set_by_hand(self, knob: Knob, value: Value) -> str:
        """The command that opens the definition in an editor, and the place of the value."""
        place = DomainAddress(*knob.addresses)
        where, domain = place.path.replace(_DISK, f"{_DISK}[{place.disk}]"), shlex.quote(place.name)
        todo = f"{where}: {value}; then: virsh shutdown {domain}; virsh start {domain}"
        return f"{shlex.join(_virsh(knob, 'edit'))}  # {todo}"

    def check_by_hand(self, knob: Knob) -> str:
        """The program that prints the definition of the running guest."""
        return shlex.join(_virsh(knob, "dumpxml"))

    def persist_by_hand(self, knob: Knob, value: Value) -> str:
        """The same: a definition lasts."""
        return self.set_by_hand(knob, value)


def value_in(text: str, knob: Knob) -> Value:
    """The value of a placed knob in a definition. Raises Missing and BadReply."""
    place = DomainAddress(*knob.addresses)
    return number_or_text(definition.value(text, place.path, place.disk))


def _virsh(knob: Knob, command: str, *options: str) -> tuple[str, ...]:
    """A command of virsh about the domain of a placed knob."""
    place = DomainAddress(*knob.addresses)
    return (place.virsh, "--connect", place.uri, command, "--domain", place.name, *options)


knob_kinds.register("domain", DomainKind())
