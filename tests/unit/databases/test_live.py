"""Variables and databases on a server in use by others, and their removal, without a server."""

from collections.abc import Callable, Sequence

import pytest

from paribus.databases import LiveServer, ServerVariable, TakesEffect
from paribus.databases.mysql.mysql_variables import refusal
from paribus.databases.server.live_kind import live_kinds
from paribus.engine.protocol import Rows
from paribus.errors import QueryRefused
from paribus.hosts.fake import FakeHost
from paribus.model import RunningServer

Ask = Callable[[str], Rows]
READ_ONLY = "Variable '{}' is a read only variable"


def _variable(name: str, value: str = "1") -> ServerVariable:
    return ServerVariable(name=name, value=value, default=value, kind="int", takes_effect=TakesEffect.LIVE)


def _answers(**by_word: Sequence[Sequence[str | None]]) -> Ask:
    """A server that answers by the first of these words that a query has in it."""

    def ask(text: str) -> Rows:
        rows = next(rows for word, rows in by_word.items() if word in text)
        return Rows(event="rows", columns=[], rows=[list(row) for row in rows])

    return ask


def _refuses(words: str, code: str) -> Ask:
    def ask(text: str) -> Rows:
        assert text.endswith(", GLOBAL version = ''"), "else something would be set"
        raise QueryRefused("refused", code, words)

    return ask


def test_whether_a_variable_may_be_set_is_found_out_without_setting_it() -> None:
    assert refusal(_refuses(READ_ONLY.format("version"), "1238"), "innodb_io_capacity") is None
    for name, words, code in (
        ("innodb_page_size", READ_ONLY.format("innodb_page_size"), "1238"),
        ("version", READ_ONLY.format("version"), "1238"),
        ("innodb_io_capacity", "you need the SUPER privilege", "1227"),
    ):
        refused = refusal(_refuses(words, code), name)
        assert refused is not None and refused.words == words


def test_the_way_back_of_mariadb_knows_the_life_of_the_server() -> None:
    ask = _answers(
        version=[("10.11.6-MariaDB", "Debian 12")], Uptime=[("1700000000",)], SHOW=[("innodb_io_capacity", "200")]
    )
    back = live_kinds.get("mariadb").restore_point(ask, _variable("innodb_io_capacity"))
    assert (back.before, back.statements) == ("200", ("SET GLOBAL innodb_io_capacity = 200",))
    assert back.check.said == "200"
    assert back.started is not None and back.started.said == "1700000000"


@pytest.mark.parametrize(
    ("written", "statement"),
    [(None, 'ALTER SYSTEM RESET "work_mem"'), ("it's", "ALTER SYSTEM SET \"work_mem\" = 'it''s'")],
)
def test_the_way_back_of_postgres_is_what_stood_in_its_file(written: str | None, statement: str) -> None:
    ask = _answers(
        **{
            "SELECT 'set: '": [("set: …; in force: 4MB",)],
            "SELECT (SELECT setting": [(written,)],
            "current": [("4MB",)],
        }
    )
    back = live_kinds.get("postgres").restore_point(ask, _variable("work_mem"))
    assert back.statements == (statement, "SELECT pg_reload_conf()")
    assert (back.before, back.check.said, back.started) == ("4MB", "set: …; in force: 4MB", None)


@pytest.mark.parametrize("kind", ["mariadb", "postgres"])
def test_a_database_is_made_with_a_mark_and_removed_only_with_it(kind: str) -> None:
    live = live_kinds.get(kind)
    assert any("experiment e1" in statement for statement in live.making("paribus_x", "of experiment e1"))
    statements, presence, ours = live.removing(
        _answers(server_version_num=[("150004",)]), "paribus_x", "of experiment e1"
    )
    assert statements[0].startswith("DROP DATABASE IF EXISTS")
    assert presence.said == "no database"
    assert "'of experiment e1'" in ours.query and ours.said == "1"


def test_an_old_postgres_is_rid_of_its_connections_first() -> None:
    statements, _, _ = live_kinds.get("postgres").removing(_answers(server_version_num=[("120003",)]), "x", "m")
    assert "pg_terminate_backend" in statements[0] and "FORCE" not in statements[1]


def test_the_address_in_a_journal_names_the_place_of_the_secret() -> None:
    server = RunningServer(
        protocol="mysql", socket=None, host="db1", port=3307, user="u", prefix="paribus", credential={"env": "PW"}
    )
    live = LiveServer(FakeHost({}), "engine", "mariadb", server)
    assert live.address("paribus_x").model_dump(exclude_none=True, exclude={"outage_s"}) == {
        "driver": "mysql",
        "host": "db1",
        "port": 3307,
        "user": "u",
        "credential": {"env": "PW"},
        "database": "paribus_x",
        "tls": "off",
        "timeout_s": 600.0,
    }


def test_sessions_of_a_lost_machine_are_ended_by_their_numbers() -> None:
    sent: list[str] = []

    def ask(text: str) -> Rows:
        sent.append(text)
        if text == "KILL 8":
            raise QueryRefused("refused", "1094", "Unknown thread id: 8")
        return Rows(event="rows", columns=[], rows=[["8"], ["9"]] if "SELECT" in text else [])

    live_kinds.get("mariadb").end_sessions(ask, "paribus_x")
    assert sent[1:] == ["KILL 8", "KILL 9"]
    assert sent[0].endswith("WHERE DB = 'paribus_x'")
    sent.clear()
    live_kinds.get("postgres").end_sessions(ask, "paribus_x")
    assert not sent, "DROP DATABASE WITH (FORCE) does it"
