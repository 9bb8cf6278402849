"""Limits of connections: which one is dropped, reports of hostile requests, and the events that a stream gets."""

import asyncio
import json
import os
import socket
from typing import Any

import pytest

from paribus.web.connections.limits import ConnectionLimits, ConnectionTable
from paribus.web.connections.notices import Event, Notices, describe, printable
from paribus.web.connections.peer import Arrivals, Peer, peer_of
from paribus.web.feed import Feed


class Visitor:
    """A connection that knows whether it was dropped."""

    def __init__(self) -> None:
        self.dropped = False

    def drop(self) -> None:
        self.dropped = True

    def check(self, now: float) -> None:
        pass


def table(admitted: int = 2, strangers: int = 4, of_peer: int = 3) -> ConnectionTable:
    return ConnectionTable(ConnectionLimits(admitted=admitted, strangers=strangers, strangers_of_peer=of_peer))


def test_the_oldest_stranger_makes_room() -> None:
    connections, peers = table(), [Visitor() for _ in range(5)]
    dropped = [connections.add(peer, "a") for peer in peers]
    assert dropped == [0, 0, 0, 1, 1]
    assert [peer.dropped for peer in peers] == [True, True, False, False, False]


def test_a_peer_with_few_connections_loses_none_to_a_peer_with_many() -> None:
    connections, one, many = table(), Visitor(), [Visitor() for _ in range(50)]
    connections.add(one, "owner")
    for peer in many:
        connections.add(peer, "other")
    assert not one.dropped
    assert sum(not peer.dropped for peer in many) == 3


def test_owner_connections_are_limited_but_never_dropped_for_strangers() -> None:
    connections, owner = table(), [Visitor() for _ in range(3)]
    for peer in owner:
        connections.add(peer, "a")
    assert [connections.admit(peer) for peer in owner] == [True, True, False]
    for _ in range(20):
        connections.add(Visitor(), "a")
    assert [peer.dropped for peer in owner] == [False, False, True]
    connections.remove(owner[0])
    late = Visitor()
    connections.add(late, "a")
    assert connections.admit(late)
    assert connections.admit(late)


def test_no_connection_is_dropped_without_strangers() -> None:
    connections, owner = table(), Visitor()
    connections.add(owner, "a")
    connections.admit(owner)
    assert not connections.drop_oldest()


@pytest.mark.parametrize(("family", "address"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")])
def test_a_peer_on_this_machine_has_a_user(family: socket.AddressFamily, address: str) -> None:
    with socket.socket(family) as listening:
        listening.bind((address, 0))
        listening.listen()
        with socket.create_connection((address, listening.getsockname()[1])):
            accepted, _ = listening.accept()
            with accepted:
                assert peer_of(accepted) == Peer(address, os.geteuid())
    assert not Peer(address, os.geteuid()).is_other
    assert not Peer(address, None).is_other
    assert Peer(address, os.geteuid() + 1).is_other
    assert Peer("192.0.2.7", None).is_other


def test_arrivals_are_counted_for_each_peer_and_second() -> None:
    arrivals, one, another = Arrivals(2), Peer("127.0.0.1", 1), Peer("127.0.0.1", 2)
    assert [arrivals.are_too_many(one, 7.1) for _ in range(4)] == [False, False, True, True]
    assert not arrivals.are_too_many(another, 7.9)
    assert not arrivals.are_too_many(one, 8.0)


def test_a_summary_is_one_printable_line_and_counts_anew() -> None:
    notices = Notices()
    notices.count(Event.MALFORMED, "127.0.0.1: \x1b[2J\x9b\u202e\nGET")
    notices.count(Event.DROPPED, times=3)
    said = notices.summary()
    assert said.isprintable()
    assert said.isascii()
    assert "malformed requests: 1 (last: 127.0.0.1: \\x1b[2J" in said
    assert "to make room for others: 3" in said
    assert "malformed" not in notices.summary()


def test_a_long_detail_is_cut_and_an_exception_is_one_line() -> None:
    assert len(printable(b"\xff" * 10_000)) < 300
    try:
        raise ValueError("first\nsecond")
    except ValueError as error:
        assert printable(describe(error)).startswith("ValueError at test_connection_limits.py:")


def test_streams_share_what_is_made() -> None:
    async def follow() -> list[Any]:
        stamps, made = [1], []

        async def make() -> dict[str, str]:
            made.append(len(made))
            return {"fixed": "x", "counts": str(len(made))}

        feed = Feed(lambda: stamps[0], make)
        first = await asyncio.gather(*(feed.since(0) for _ in range(20)))
        assert len(made) == 1
        version = first[0][0]
        assert await feed.since(version) == (version, "")
        stamps[0] = 2
        after = await asyncio.gather(*(feed.since(version) for _ in range(20)), feed.since(0))
        assert len(made) == 2
        return [json.loads(event.removeprefix("data: ")) for _, event in (first[0], after[0], after[-1])]

    whole, change, later = asyncio.run(follow())
    assert whole == {"fixed": "x", "counts": "1"}
    assert change == {"counts": "2"}
    assert later == {"fixed": "x", "counts": "2"}
