"""The network addresses of a machine, and whether a host name means that machine."""

import ipaddress
import re

from paribus.errors import HostError, Unreachable
from paribus.hosts.transport import Host

_IPV4 = re.compile(r"\|-- (\S+)\n +/32 host LOCAL")

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def is_own(host: Host, name: str) -> bool:
    """Whether every address that `name` has on this machine belongs to this machine.

    False where the name cannot be resolved there. Raises Unreachable.
    """
    addresses = _resolved(host, name)
    others = {address for address in addresses if not (address.is_loopback or address.is_unspecified)}
    return bool(addresses) and (not others or others <= _of_interfaces(host))


def _resolved(host: Host, name: str) -> set[Address]:
    """The addresses of a name as this machine resolves it."""
    if (literal := _address(name)) is not None:
        return {literal}
    try:
        answer = host.run(["getent", "ahosts", name]).stdout
    except Unreachable:
        raise
    except HostError:  # it has no getent
        answer = ""
    words = (line.split()[0] for line in answer.splitlines() if line.strip())
    return {address for word in words if (address := _address(word)) is not None}


def _of_interfaces(host: Host) -> set[Address]:
    """The addresses of this machine's network interfaces, as the kernel lists them."""
    ipv4, ipv6 = (text or "" for text in host.read_each(["/proc/net/fib_trie", "/proc/net/if_inet6"]))
    addresses: set[Address] = {ipaddress.IPv4Address(address) for address in _IPV4.findall(ipv4)}
    return addresses | {ipaddress.IPv6Address(int(line.split()[0], 16)) for line in ipv6.splitlines() if line.strip()}


def _address(text: str) -> Address | None:
    """The address that a text is, without the interface of a link-local one; None for a name."""
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address
