"""The reason of a server that ended, in the error of the load that it left."""

import pytest

from paribus.errors import EngineError
from paribus.trial.databases.server_log import with_server_log

LOST = EngineError("connection-lost", "server closed the connection", "run again")


@pytest.mark.parametrize(
    ("log", "todo"),
    [
        ("PANIC: write failed: No space left on device", "free space where the server has its data"),
        ("FATAL: data directory was removed", "remove the cause that it names"),
    ],
)
def test_the_fix_follows_the_servers_reason(log: str, todo: str) -> None:
    explained = with_server_log(LOST, lambda: log)
    assert explained.failure == "connection-lost"
    assert explained.message == f"server closed the connection; it ended: {log}"
    assert explained.todo == todo


def test_a_server_that_runs_adds_nothing() -> None:
    assert with_server_log(LOST, lambda: "") is LOST


def test_other_errors_do_not_ask_the_server() -> None:
    error = EngineError("disk-full", "the data has no room", "free space")

    def asked() -> str:
        raise AssertionError("the log was read")

    assert with_server_log(error, asked) is error
