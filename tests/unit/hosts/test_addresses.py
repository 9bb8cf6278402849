"""Whether a host name means the machine itself, from the kernel's lists of its addresses."""

import socket

import pytest

from paribus.hosts import addresses
from paribus.hosts.fake import FakeHost
from paribus.hosts.local import LocalHost
from paribus.hosts.transport import Completed

IPV4 = """Main:
  +-- 0.0.0.0/0 3 0 5
     +-- 192.0.2.0/24 2 0 2
        |-- 192.0.2.0
           /24 link UNICAST
        |-- 192.0.2.2
           /32 host LOCAL
        |-- 192.0.2.255
           /32 link BROADCAST
"""
IPV6 = "fe80000000000000fc00fffffe000001 04 40 20 80     eth0\n20010db8000000000000000000000002 04 40 00 82  eth0\n"
NAMES = {"db1": "192.0.2.2", "both": "192.0.2.2 192.0.2.9", "looped": "127.0.1.1", "away": "192.0.2.9"}


class _Named(FakeHost):
    """A machine that resolves these names."""

    def run(self, argv, **_more: object) -> Completed:  # type: ignore[no-untyped-def, override]
        found = NAMES.get(argv[-1], "").split()
        return Completed(0 if found else 2, "".join(f"{one:15} STREAM {argv[-1]}\n" for one in found), "")


HOST = _Named({"/proc/net/fib_trie": IPV4, "/proc/net/if_inet6": IPV6})


@pytest.mark.parametrize(
    "name",
    [
        *("127.0.0.1", "::1", "::ffff:127.0.0.1", "0.0.0.0", "192.0.2.2", "2001:db8::2"),  # noqa: S104
        *("fe80::fc00:ffff:fe00:1%eth0", "db1", "looped"),
    ],
)
def test_a_loopback_address_and_those_of_its_interfaces_are_its_own(name: str) -> None:
    assert addresses.is_own(HOST, name)


@pytest.mark.parametrize("name", ["192.0.2.9", "192.0.2.255", "192.0.2.0", "2001:db8::9", "both", "away", "unknown"])
def test_an_address_of_another_machine_or_an_unknown_name_is_not(name: str) -> None:
    assert not addresses.is_own(HOST, name)


def test_without_a_resolver_only_addresses_are_known() -> None:
    host = FakeHost({"/proc/net/fib_trie": IPV4})
    assert addresses.is_own(host, "192.0.2.2")
    assert not addresses.is_own(host, "db1")


def test_this_machine_knows_its_own_names() -> None:
    host = LocalHost()
    assert addresses.is_own(host, "localhost")
    assert addresses.is_own(host, socket.gethostbyname("localhost"))
    assert not addresses.is_own(host, "192.0.2.77")
