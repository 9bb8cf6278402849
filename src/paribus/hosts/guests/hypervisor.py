"""The address of a hypervisor: the machine, and the URI of libvirt on that machine."""

import re
from dataclasses import dataclass

from paribus.errors import UsageError

_LOCAL = re.compile(r"qemu(\+unix)?:///(system|session)(\?socket=/[^?&#\s]+)?")
_REMOTE = re.compile(r"qemu\+ssh://(?P<place>[^/?#\s]+)/(?P<daemon>system|session)")


@dataclass(frozen=True, slots=True)
class HypervisorAddress:
    """`machine` is `local` or `ssh://[user@]host[:port]`; `uri` is what libvirt's programs connect to on it."""

    machine: str
    uri: str


def parse(text: str) -> HypervisorAddress:
    """The machine and the URI in `qemu:///system`, `qemu+unix:///system?socket=…` or `qemu+ssh://host/system`.

    Raises UsageError.
    """
    if _LOCAL.fullmatch(text):
        return HypervisorAddress("local", text)
    if remote := _REMOTE.fullmatch(text):
        return HypervisorAddress(f"ssh://{remote['place']}", f"qemu:///{remote['daemon']}")
    raise UsageError(
        f"{text!r} is not a hypervisor",
        "write qemu:///system for this machine, or qemu+ssh://[user@]host[:port]/system",
    )
