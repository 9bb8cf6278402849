"""Readers of the statements that servers record: made-up logs in the forms of several servers, and wrong files."""

from pathlib import Path

import pytest

from paribus.parsers.statements.literals import digest_key, without_literals
from paribus.parsers.statements.shortened import expanded
from paribus.parsers.statements.slow_log import read_slow_log
from paribus.parsers.statements.source import read_statements

MARIADB = """\
/usr/sbin/mariadbd, Version: 10.11.6-MariaDB (Debian 12). started with:
Tcp port: 3306  Unix socket: /run/mysqld/mysqld.sock
Time\t\t    Id Command\tArgument
# Time: 261130  1:02:03
# User@Host: app[app] @ localhost []
# Thread_id: 5  Schema: shop  QC_hit: No
# Query_time: 0.000500  Lock_time: 0.000012  Rows_sent: 1  Rows_examined: 4
# Rows_affected: 0  Bytes_sent: 90
SET timestamp=1764460800;
SELECT c FROM account /* of app */
  WHERE id = 5;
# User@Host: app[app] @ localhost []
# Thread_id: 6  Schema: shop  QC_hit: No
# Query_time: 0.001500  Lock_time: 0.000012  Rows_sent: 1  Rows_examined: 2
SET timestamp=1764460800;
select c from account where id = 7;
# User@Host: app[app] @ localhost []
# Thread_id: 6  Schema:   QC_hit: No
# Query_time: 0.001000  Lock_time: 0.000000  Rows_sent: 0  Rows_examined: 0
# administrator command: Quit;
"""
MYSQL = """\
# Time: 2026-11-30T01:02:03.000000Z
# User@Host: app[app] @ localhost []  Id:     8
# Query_time: 0.200000  Lock_time: 0.000002 Rows_sent: 0  Rows_examined: 0
use shop;
SET timestamp=1764460800;
INSERT INTO account VALUES (1, 'it''s \\' mine'), (2, "x");
# Time: 2026-11-30T01:02:03.100000Z
# User@Host: app[app] @ localhost []  Id:     8
# Query_time: 0.300000  Lock_time: 0.000002 Rows_sent: 0  Rows_examined: 0
SET timestamp=1764460800;
INSERT INTO account VALUES (3, 'y');
"""
PERCONA = """\
# User@Host: app[app] @ localhost []  Id:     8
# Schema: shop  Last_errno: 0  Killed: 0
# Query_time: 0.200000  Lock_time: 0.000002  Rows_sent: 1  Rows_examined: 10  Rows_affected: 0
# Bytes_sent: 56
SET timestamp=1764460800;
SELECT a FROM t WHERE b IN (1, 2, 3) AND c BETWEEN 10 AND 30;
"""


def _write(folder: Path, content: str | bytes) -> Path:
    path = folder / "slow.log"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_statements_that_differ_in_literals_only_are_one_digest() -> None:
    record = read_slow_log(MARIADB.splitlines())
    (digest,) = record.digests
    assert (digest.database, digest.calls, digest.rows) == ("shop", 2, 6)
    assert digest.seconds == pytest.approx(0.002)
    assert digest.sql == "SELECT c FROM account WHERE id = ?"
    assert sum(record.left_out.values()) == 1
    assert not record.notes


def test_a_log_of_slow_statements_only_says_what_is_missing() -> None:
    record = read_slow_log(MYSQL.splitlines())
    assert [(digest.database, digest.sql) for digest in record.digests] == [
        ("shop", "INSERT INTO account VALUES (?, ?), (?, ?)"),
        ("shop", "INSERT INTO account VALUES (?, ?)"),
    ]
    assert "0.2 s" in record.notes[0] and "long_query_time = 0" in record.notes[0]
    assert "mine" not in repr(record)


def test_numbers_of_literals_are_kept_and_texts_are_not() -> None:
    (digest,) = read_slow_log(PERCONA.splitlines()).digests
    assert digest.database == "shop"
    assert [digest.number(position) for position in range(5)] == [1, 2, 3, 10, 30]
    assert digest.width(3, 4) == 20
    assert digest.width(0, 9) is None


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT a1, `b 2` FROM t2 -- 5", "SELECT a1, `b 2` FROM t2"),
        ("SELECT 'a\\'b', \"c\", 0xFF, x'00', _utf8'd', -1.5e3", "SELECT ?, ?, ?, ?, ?, -?"),
        ("SELECT '--', '/*' # private", "SELECT ?, ?"),
        ("SELECT 'never ends; DROP", "SELECT ?"),
        ("SELECT 1/* c */+2;", "SELECT ? +?"),
    ],
)
def test_no_text_of_a_literal_or_comment_remains(sql: str, expected: str) -> None:
    assert without_literals(sql).sql == expected


def test_lists_of_any_length_have_one_key() -> None:
    keys = {digest_key(sql) for sql in ("a IN (?)", "a IN (?, ?)", "A in (?,?,?)")}
    assert len(keys) == 2
    assert digest_key("VALUES (?, ?), (?, ?)") == digest_key("VALUES (?, ?), (?, ?), (?, ?)")


def test_an_entry_that_is_cut_off_is_counted(tmp_path: Path) -> None:
    record = read_statements(_write(tmp_path, PERCONA + PERCONA[:-12]))
    assert [digest.calls for digest in record.digests] == [1]
    assert record.left_out == {"incomplete or longer than a megabyte": 1}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        (" \n\n", "is empty"),
        (b"\x7fELF\x00\xff\n" * 50, "is not a slow"),
        ("hello\n", "is not a slow"),
    ],
)
def test_another_file_is_refused(tmp_path: Path, content: str | bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_statements(_write(tmp_path, content))


def test_a_log_without_entries_has_no_digests(tmp_path: Path) -> None:
    assert read_statements(_write(tmp_path, "\n".join(MARIADB.splitlines()[:3]))).digests == ()


POSTGRES = """\
userid,dbid,toplevel,queryid,query,calls,total_exec_time,rows
10,5,t,1,"SELECT a
  FROM ""T"" WHERE b = $1",40,2000.5,80
10,5,t,2,"SELECT a /* 'user ann' */ FROM t -- x
WHERE b IN ($1)",1,1,1
10,5,t,3,"SELECT a FROM t WHERE b IN ($1, $2)",3,1,1
10,5,t,4,"SELECT a FROM t WHERE b IN ($1,$2,$3)",2,1,1
10,5,f,5,SELECT 1,7,1,7
10,5,t,6,<insufficient privilege>,9,1,7
"""
DIGESTS = (
    "SCHEMA_NAME\tDIGEST\tDIGEST_TEXT\tCOUNT_STAR\tSUM_TIMER_WAIT\tSUM_ROWS_AFFECTED\tSUM_ROWS_EXAMINED\n"
    "shop\ta\tSELECT `a` FROM `t`\\nWHERE `b` IN (...)  \t10\t2000000000000\t0\t30\n"
    "shop\tb\tINSERT INTO `t` ( `a` , `b` ) VALUES (...) /* , ... */ \t5\t1000000000000\t10\t0\n"
    "NULL\tNULL\tNULL\t4\t1000000000000\t0\t0\n"
    "shop\tc\tINSERT INTO `t` VALUES (...) \t1\t1\t1\t0\n"
    "shop\td\tSELECT ?, ... FROM `t` WHERE `a` = ? \t1\t1\t0\t1\n"
)


def test_an_export_of_pg_stat_statements_is_read(tmp_path: Path) -> None:
    record = read_statements(_write(tmp_path, POSTGRES))
    assert record.protocol == "postgres"
    first, single, several = record.digests
    assert (first.sql, first.calls, first.rows_of_a_call) == ('SELECT a FROM "T" WHERE b = $1', 40, 2)
    assert first.seconds == pytest.approx(2.0005)
    assert single.sql == "SELECT a FROM t WHERE b IN ($1)"
    assert (single.calls, several.calls, several.sql) == (1, 5, "SELECT a FROM t WHERE b IN ($1, $2)")
    assert sorted(record.left_out.values()) == [7, 9]


@pytest.mark.parametrize(
    ("digest", "sql"),
    [
        ("a IN ( ?, ... )", "a IN (?, ?)"),
        ("INSERT INTO t (a, b, c) VALUES (..., NOW ( ) )", "INSERT INTO t (a, b, c) VALUES (?, ?, NOW( ))"),
        ("INSERT INTO t (a, b, c) VALUES (NOW ( ), ?, ...)", "INSERT INTO t (a, b, c) VALUES (NOW( ), ?, ?)"),
        ("INSERT INTO t (a) VALUES (?) /* , ... */ ON X", "INSERT INTO t (a) VALUES (?), (?) ON X"),
        ("INSERT INTO t (a, b) VALUES (f(?, ...", "INSERT INTO t (a, b) VALUES (f(?, ..)"),
        ("SELECT COALESCE(?, ...) FROM t", "SELECT COALESCE(?, ...) FROM t"),
    ],
)
def test_shortened_lists_are_as_long_as_columns_or_rows(digest: str, sql: str) -> None:
    assert expanded(digest, 2) == sql


@pytest.mark.parametrize("comma", [False, True], ids=["tabs", "CSV"])
def test_digests_of_performance_schema_are_read(tmp_path: Path, comma: bool) -> None:
    text = DIGESTS
    if comma:
        lines = (",".join(f'"{value}"' for value in line.split("\t")) for line in DIGESTS.splitlines())
        text = "\n".join(lines).replace("\\n", "\n") + "\n"
    record = read_statements(_write(tmp_path, text))
    assert record.protocol == "mysql"
    assert [digest.sql for digest in record.digests] == [
        "SELECT `a` FROM `t` WHERE `b` IN (?, ?, ?)",
        "INSERT INTO `t` ( `a` , `b` ) VALUES (?, ?), (?, ?)",
        "INSERT INTO `t` VALUES (...)",
        "SELECT ? FROM `t` WHERE `a` = ?",
    ]
    assert record.digests[0].seconds == pytest.approx(2)
    assert record.left_out == {"without a text, since the server's table of digests is full": 4}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("query,calls\nSELECT 1,2\n", "has no column total_exec_time or total_time"),
        ("query,calls,total_time\nSELECT 1,2\n", "2 values in row 1, and 3 columns: it may be cut off"),
        ("query,calls,total_time\nSELECT 1,many,3\n", "'many' for calls in row 1"),
        ("a,b\n1,2\n", "is not a slow query log .* no export"),
    ],
)
def test_a_broken_export_is_refused_with_its_row(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_statements(_write(tmp_path, content))
