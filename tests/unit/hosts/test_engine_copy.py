"""The engine for a target: chosen by the architecture of that, among those of this machine."""

import hashlib
from pathlib import Path

import pytest

from paribus.errors import HostError
from paribus.hosts import engine_copy

X86_64, AARCH64, RISCV64 = 62, 183, 243


def engine(folder: Path, number: int) -> Path:
    path = folder / f"paribus-engine-{number}"
    path.write_bytes(b"\x7fELF\x02\x01" + bytes(12) + number.to_bytes(2, "little") + b"content")
    return path


class Target:
    """A target that has no engine yet, and puts what it is sent into its folder."""

    def __init__(self, architecture: str) -> None:
        self.architecture = architecture
        self.copies: dict[str, bytes] = {}

    def run(self, argv: list[str], content: bytes, _timeout_s: float) -> str:
        *_, mark, name, digest, architecture = argv
        if content:
            assert hashlib.sha256(content).hexdigest() == digest
            self.copies[name] = content
        is_there = name in self.copies and architecture in ("", self.architecture)
        answer = f"found\n/cache/{name}" if is_there else f"absent\n{self.architecture}"
        return f"\n{mark} {answer}"


def test_a_target_gets_the_engine_of_its_architecture(tmp_path: Path) -> None:
    local, other = engine(tmp_path, X86_64), engine(tmp_path, AARCH64)
    for architecture, expected in (("x86_64", local), ("aarch64", other)):
        target = Target(architecture)
        path = engine_copy.install(target.run, "db1", local, [other])
        assert target.copies == {path.removeprefix("/cache/"): expected.read_bytes()}
        assert engine_copy.install(target.run, "db1", local, [other]) == path


def test_a_shared_home_directory_gives_each_target_its_engine(tmp_path: Path) -> None:
    local, other = engine(tmp_path, X86_64), engine(tmp_path, AARCH64)
    first, second = Target("x86_64"), Target("aarch64")
    second.copies = first.copies
    paths = {engine_copy.install(target.run, "db1", local, [other]) for target in (first, second)}
    assert len(paths) == 2


@pytest.mark.parametrize("others", [[], [RISCV64]])
def test_a_target_of_another_architecture_is_refused(tmp_path: Path, others: list[int]) -> None:
    target = Target("aarch64")
    with pytest.raises(HostError, match="no engine for db1, whose architecture is aarch64"):
        engine_copy.install(target.run, "db1", engine(tmp_path, X86_64), [engine(tmp_path, each) for each in others])
    assert target.copies == {}


def test_an_engine_without_a_header_is_taken_as_it_is(tmp_path: Path) -> None:
    script = tmp_path / "engine"
    script.write_text("#!/bin/sh\n")
    target = Target("aarch64")
    engine_copy.install(target.run, "db1", script)
    assert list(target.copies.values()) == [b"#!/bin/sh\n"]
