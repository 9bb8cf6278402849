"""The address of a target over SSH."""

import re
from dataclasses import dataclass

from paribus.errors import UsageError

_ADDRESS = re.compile(
    r"ssh://(?:(?P<user>[^\s/@:]+)@)?(?:\[(?P<ipv6>[0-9A-Fa-f:.]+(?:%[\w.-]+)?)\]|(?P<name>[^\s/@:\[\]]+))"
    r"(?::(?P<port>[0-9]{1,5}))?/?"
)
_INVALID = re.compile(r"""[\x00-\x20\x7f-\x9f'"`$\\;&<>|(){}*?#!]""")  # ssh expands %, and older ones more
_LAST_PORT, _USUAL_PORT = 65535, 22
_FORM = "write local, or ssh://[user@]host[:port]"


@dataclass(frozen=True, slots=True)
class SshAddress:
    """Address of a host for ssh; `port` and `user` are empty where its configuration decides."""

    user: str
    host: str
    port: str

    @property
    def destination(self) -> str:
        """The argument of ssh that names user and host."""
        return f"{self.user}@{self.host}" if self.user else self.host


def machine_name(address: str) -> str:
    """The machine as a message names it."""
    return "this machine" if address == "local" else address


def machine_of(address: str) -> str:
    """The machine that an address names, whoever connects to it."""
    if not address.startswith("ssh://"):
        return address
    parts = parse(address)
    return f"{parts.host}:{parts.port or _USUAL_PORT}"


def parse(text: str) -> SshAddress:
    """`ssh://[user@]host[:port]`, taken apart. Raises UsageError."""
    parts = _ADDRESS.fullmatch(text)
    if parts is None:
        raise UsageError(f"{text!r} is not a target", _FORM)
    user, host, port = parts["user"] or "", parts["ipv6"] or parts["name"], parts["port"] or ""
    for name, role in ((user, "user"), (host, "host")):
        if name.startswith("-"):
            raise UsageError(f"{text!r} is not a target: the name of a {role} does not begin with -", _FORM)
        if invalid := _INVALID.search(name):
            raise UsageError(f"{text!r} is not a target: the name of a {role} cannot contain {invalid[0]!r}", _FORM)
    if port and not 1 <= int(port) <= _LAST_PORT:
        raise UsageError(f"{text!r} is not a target: a port is a number from 1 to {_LAST_PORT}", _FORM)
    return SshAddress(user, host, port)
