"""Programs that are spoken to, and do not listen."""

import pytest

from paribus.errors import BadReply, HostError
from paribus.hosts import local
from paribus.hosts.local import LocalProcess


def test_a_program_that_does_not_read_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "_READ_S", 0.2)
    process = LocalProcess(["sleep", "1000"])
    with pytest.raises(BadReply, match="sleep did not read its input"):
        process.send("x" * 10_000_000)
    assert process.close() == -9


def test_a_long_line_reaches_a_program_that_reads_slowly() -> None:
    process = LocalProcess(["sh", "-c", "sleep 0.5; wc -c"])
    process.send("x" * 10_000_000)
    process.end_input()
    assert process.receive(60.0) == "10000001\n"
    assert process.close() == 0


def test_a_program_that_has_ended_is_gone() -> None:
    process = LocalProcess(["true"])
    assert process.exit_code(60.0) == 0
    with pytest.raises(HostError, match="true has ended"):
        process.send("x" * 10_000_000)
    process.close()
