"""Places that settings are made at: the devices and the mount of a machine, and the hypervisor of a guest."""

from dataclasses import dataclass

HYPERVISOR = "host."  # begins the names of settings that the hypervisor of the target has
DOMAIN = "guest."  # begins the names of those in the definition of the target as a guest


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    """A block device `top`, the `disks` that it lies on, and the md `arrays` among all these devices."""

    top: str
    disks: tuple[str, ...]
    arrays: tuple[str, ...] = ()


def is_of_hypervisor(key: str) -> bool:
    """Whether a setting is made on the hypervisor of the target."""
    return key.startswith((HYPERVISOR, DOMAIN))


@dataclass(frozen=True, slots=True)
class DomainPlace:
    """A guest in libvirt: the URI of libvirt, its name, and the name of its disk under test, empty where unknown."""

    uri: str
    name: str
    disk: str


@dataclass(frozen=True, slots=True)
class Location:
    """Part of a machine under test: the disk that `block.*` knobs address, and the mount point of `mount.*`.

    `more_disks` are others that files lie on too: they have the same settings. `top` is what the file system lies on,
    where that is not the disk itself, and `arrays` are the md arrays below it. Of a layout these come and go. `domain`
    is the guest whose hypervisor this is.
    """

    device: str | None = None
    mount: str | None = None
    more_disks: tuple[str, ...] = ()
    top: str | None = None
    arrays: tuple[str, ...] = ()
    is_layout: bool = False
    domain: DomainPlace | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Guest:
    """The virtual machine under test: its name in libvirt, and its hypervisor, whose settings are `host.*`.

    `machine` is `local` or `ssh://…`, `uri` what libvirt's programs connect to on it. `disk` is the file or block
    device behind the disk under test, empty where none is known; `location` is that on the hypervisor.
    """

    name: str
    machine: str
    uri: str
    disk: str = ""
    location: Location = Location()


@dataclass(frozen=True, slots=True, kw_only=True)
class GuestFacts:
    """The guest as inspected; `wrong`: each reason why it is not the plan's target, with its correction."""

    guest: Guest
    wrong: tuple[tuple[str, str], ...] = ()
