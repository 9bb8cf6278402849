"""A password in the environment reaches no program that connects to no database."""

from collections.abc import Callable

import pytest
from command import RUN_ENDED, Running
from processes import programs_until_end

SECRET = "a-secret-of-the-test"  # noqa: S105


def test_no_program_has_a_password_where_no_server_is_logged_in_to(
    plan: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("MYSQL_PWD", "PGPASSWORD"):
        monkeypatch.setenv(variable, SECRET)
    running = Running("run", plan())
    having, lacking = programs_until_end(running, SECRET)
    done = running.end()
    assert done.code in RUN_ENDED, done.err
    assert not having
    assert {"run", "sample", "journal"} <= lacking
