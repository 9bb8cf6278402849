"""Flushes of a guest: counted where their place is known, and else unknown for a stated reason."""

import dataclasses
import json
from collections.abc import Sequence
from typing import Any

import pytest

from paribus.errors import HostError, Unreachable
from paribus.hosts.fake import FakeHost
from paribus.hosts.transport import Completed
from paribus.knobs.catalog import load
from paribus.model import Guest, Target
from paribus.trial.guests.flush_probe import FlushProbe
from paribus.trial.target_session import Site

EXTENT = {"offset": 4096, "length": 1 << 20}
FLUSHED = {"event": "flushed", "bytes": 1 << 20, "disk": "/dev/vda", "extents": [EXTENT]}
DISK = (
    "<disk><driver type='{}'/><source file='/images/db1'/><target dev='vda'/><address type='pci' slot='0x04'/></disk>"
)


class _Machine(FakeHost):
    """A machine whose programs answer as they are told to."""

    def __init__(self, answers: dict[str, Any]) -> None:
        super().__init__({})
        self.answers = answers
        self.asked: list[Sequence[str]] = []

    def run(self, argv: Sequence[str], **_options: object) -> Completed:
        self.asked.append(argv)
        for word, answer in self.answers.items():
            if word in argv:
                if isinstance(answer, Exception):
                    raise answer
                return Completed(0, answer if isinstance(answer, str) else json.dumps(answer), "")
        return Completed(0, "", "")


def probe(
    flushed: object, cached: object, image_format: str = "raw", mapped: object = (), info: object = None
) -> tuple[FlushProbe, _Machine]:
    definition = f"<domain><name>db1</name><uuid>1</uuid><devices>{DISK.format(image_format)}</devices></domain>"
    above = _Machine(
        {"dominfo": "State: running", "dumpxml": definition, "page-cache": cached, "map": mapped, "info": info or {}}
    )
    catalogue = load()
    site = Site(_Machine({"flush": flushed}), "engine", catalogue, hypervisor=Site(above, "engine", catalogue))
    guest = Guest(name="db1", machine="local", uri="qemu:///system", disk="/images/db1")
    target = Target(address="ssh://db1", path="/data", device="/dev/vda", guest=guest)
    made = FlushProbe.of(site, target, "/data/x")
    assert made is not None
    return made, above


def cached(unwritten: int | None, unknown: str | None = None) -> dict[str, object]:
    return {"event": "page-cache", "bytes": 1 << 20, "unwritten_bytes": unwritten, "unknown": unknown}


def test_bytes_that_only_memory_has_are_measured() -> None:
    probing, above = probe(FLUSHED, cached(8192))
    assert {each.metric: each.mean for each in probing.measure()} == {"flushed_bytes": 1 << 20, "unwritten_bytes": 8192}
    assert list(above.asked[-1]) == ["engine", "page-cache", "/images/db1", json.dumps([EXTENT])]
    assert probing.note() is None


def test_the_place_in_an_image_that_is_not_raw_is_looked_up() -> None:
    mapped = [{"depth": 0, "offset": 65536, "length": 1 << 20}]
    probing, above = probe(FLUSHED, cached(0), "qcow2", mapped)
    assert len(probing.measure()) == 2
    assert json.loads(above.asked[-1][-1]) == [{"offset": 65536, "length": 1 << 20}]


def test_an_image_with_its_data_elsewhere_is_unknown() -> None:
    info = {"format-specific": {"data": {"data-file": "/images/data"}}}
    probing, _ = probe(FLUSHED, cached(0), "qcow2", [], info)
    assert probing.measure() == ()
    assert "keeps its data in another file" in str(probing.note())


def test_a_disk_without_an_image_is_unknown() -> None:
    guest = Guest(name="db1", machine="local", uri="qemu:///system")
    target = Target(address="ssh://db1", path="/data", device="/dev/vda", guest=guest)
    site = Site(_Machine({}), "engine", load())
    assert FlushProbe.of(site, target, "/data/x") is None
    probing = FlushProbe.of(dataclasses.replace(site, hypervisor=site), target, "/data/x")
    assert probing is not None and probing.measure() == ()
    assert "is not known" in str(probing.note())


@pytest.mark.parametrize(
    ("flushed", "cache", "reason"),
    [
        (FLUSHED | {"disk": None, "extents": []}, cached(0), "the place of /data/x/flushed on /dev/vda is unknown"),
        (FLUSHED | {"disk": "/dev/vdb"}, cached(0), "the place of /data/x/flushed on /dev/vda is unknown"),
        (FLUSHED, cached(None, "the kernel is old"), "/images/db1: the kernel is old"),
        (HostError("no program"), cached(0), "no program"),
        (FLUSHED | {"extents": [{"offset": -1, "length": 1}]}, cached(0), "the engine sent an unknown event: "),
        (FLUSHED | {"extents": [EXTENT] * 1025}, cached(0), "the engine sent an unknown event: "),
    ],
)
def test_an_unknown_place_is_stated_once(flushed: object, cache: object, reason: str) -> None:
    probing, _ = probe(flushed, cache)
    assert probing.measure() == probing.measure() == ()
    note = probing.note()
    assert note is not None
    assert f"is unknown: {reason}" in note


def test_a_lost_machine_is_not_a_reason() -> None:
    probing, _ = probe(FLUSHED, Unreachable("lost"))
    with pytest.raises(Unreachable):
        probing.measure()
