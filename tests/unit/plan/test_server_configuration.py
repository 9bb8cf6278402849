"""Servers' own files: groups, includes and quotes; the lines that a plan holds, and those that it cannot."""

import os
from pathlib import Path

import pytest
from plan_samples import checked, parsed

from paribus.errors import PlanError, UsageError
from paribus.model import DatabaseFacts, Knob
from paribus.plan.form.server_configuration import read_configuration

OLTP = '[[workload]]\nkind = "oltp_read_write"\ntable_size = 1000\nthreads = [4]\n'


def _row(name: str, family: str = "mysql", type_: str = "number") -> Knob:
    return Knob(
        name=f"{family}.{name}", kind="variable", addresses=(name,), type=type_, summary="", documentation="",
        takes_effect="restart",
    )  # fmt: skip


SERVER = DatabaseFacts(
    name="mariadb 10.11",
    rows=(_row("innodb_buffer_pool_size"), _row("max_connections"), _row("innodb_io_capacity"), _row("sync_binlog")),
    explained={"innodb_locks_unsafe_for_binlog": "it is gone since 10.5"},
    empty_bytes=1,
    copy_bytes_per_s=1e8,
)


def _values(path: Path, family: str = "mysql") -> dict[str, str]:
    return {name: line.value for name, line in read_configuration(str(path), family).settings.items()}


def test_the_servers_groups_are_read_with_what_they_include(tmp_path: Path) -> None:
    (tmp_path / "conf.d").mkdir()
    (tmp_path / "conf.d/b.cnf").write_text("[mysqld]\nmax_connections = 500\n")
    (tmp_path / "conf.d/ignored.txt").write_text("[mysqld]\nmax_connections = 1\n")
    (tmp_path / "my.cnf").write_text(
        "# production\n[client]\nmax_connections = 2\n[mysqld-8.0]\nmax_connections = 3\n[mysqld]\n"
        "max-connections=100\ninnodb-buffer-pool-size = 8G # of 64\nskip-name-resolve\nskip-innodb-doublewrite\n"
        'sql_mode = "A,B"\nlog_bin = "mysql-bin"\ndatadir = /data\nport=3307\n;x = 1\n'
        f"!includedir {tmp_path}/conf.d\n"
    )
    assert _values(tmp_path / "my.cnf") == {
        "max_connections": "500",
        "innodb_buffer_pool_size": "8G",
        "skip_name_resolve": "ON",
        "innodb_doublewrite": "OFF",
        "sql_mode": "A,B",
        "log_bin": "ON",
    }
    assert read_configuration(str(tmp_path / "my.cnf"), "mysql").left_out == ["datadir", "port"]


def test_postgresql_conf_is_read_with_quotes_and_includes(tmp_path: Path) -> None:
    (tmp_path / "conf.d").mkdir()
    (tmp_path / "conf.d/a.conf").write_text("work_mem = 8MB\n")
    (tmp_path / "postgresql.conf").write_text(
        "work_mem = '4MB'\t\t# min 64kB\nShared_Buffers 1GB\n#wal_level = x\narchive_command = 'rm -rf /'\n"
        "default_text_search_config = 'it''s'\ninclude_dir 'conf.d'\ninclude_if_exists = 'absent.conf'\nport = 5433\n"
    )
    assert _values(tmp_path / "postgresql.conf", "postgres") == {
        "work_mem": "8MB",
        "shared_buffers": "1GB",
        "default_text_search_config": "it's",
    }


def test_a_circle_and_a_missing_file_end_in_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "my.cnf"
    path.write_text(f"!include {path}\n")
    with pytest.raises(UsageError, match="remove the circle"):
        read_configuration(str(path), "mysql")
    path.write_text("!include /nosuch/x.cnf\n")
    with pytest.raises(UsageError, match=r"cannot read the configuration /nosuch/x\.cnf"):
        read_configuration(str(path), "mysql")


def _plan_text(path: Path, more: str = "") -> str:
    database = f'[database]\nkind = "mariadb"\nconfig = "{path}"\n{more}'
    return f'name = "n"\n[factors]\n"mysql.innodb_io_capacity" = [200, 2000]\n{database}{OLTP}'


def test_a_plan_holds_the_lines_that_it_leaves_alone(tmp_path: Path) -> None:
    path = tmp_path / "my.cnf"
    path.write_text(
        "[mysqld]\nmax_connections = 500\ninnodb_io_capacity = 300\ninnodb_buffer_pool_size = 1G\nsync_binlog = 1\n"
        "innodb_locks_unsafe_for_binlog = 1\nnosuch = 1\nloose-nosuch-either = 1\nsocket = /run/x\n"
    )
    plan = checked(_plan_text(path, "settings = { sync_binlog = 0 }\n"), database=SERVER)
    assert plan.hold == {
        "mysql.max_connections": 500,
        "mysql.innodb_buffer_pool_size": 1 << 30,
        "mysql.sync_binlog": 0,
    }
    notes = "\n".join(map(str, plan.notes))
    assert "my.cnf:6: innodb_locks_unsafe_for_binlog is not held: it is gone since 10.5" in notes
    assert "my.cnf:7: nosuch is not held: mariadb 10.11 has no such variable" in notes
    assert "loose" not in notes and "nosuch_either" not in notes
    assert "a private server has its own: socket" in notes
    before = parsed(_plan_text(path)).digest
    path.write_text("[mysqld]\nmax_connections = 501\n")
    assert parsed(_plan_text(path)).digest != before


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("innodb_buffer_pool_size = 64G", "innodb_buffer_pool_size = 64 GiB is more than the memory of db1"),
        ("!include /nosuch", "database.config: cannot read the configuration /nosuch"),
    ],
)
def test_a_file_that_this_machine_cannot_hold_is_refused(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "my.cnf"
    path.write_text(f"[mysqld]\n{line}\n")
    with pytest.raises(PlanError, match=message):
        checked(_plan_text(path), database=SERVER)


def test_a_file_is_named_in_full_and_for_a_private_server(tmp_path: Path) -> None:
    for text, message in (
        (_plan_text(Path("my.cnf")), "config must be a full path"),
        (_plan_text(tmp_path / "x").replace("mariadb", "sqlite"), "config is for a server"),
    ):
        with pytest.raises(PlanError, match=message):
            checked(text, database=SERVER)


@pytest.mark.parametrize(
    ("lines", "settings"),
    [
        ("[mysqld] # mine\nsql_mode=\n", {"sql_mode": ""}),
        ('[mysqld]\r\nsql_mode = ""\r\n', {"sql_mode": ""}),
        ('[mysqld]\nft_boolean_syntax = "+ -><()~*:""&|" # all\n', {"ft_boolean_syntax": '+ -><()~*:""&|'}),
        ("[mysqld]\ninnodb_read_only = 1\nskip-grant-tables\nsecure_file_priv=\n", {}),
        ("\ufeff[mysqld]\nmax_connections = 5\n", {"max_connections": "5"}),
        ("[mysqld]\ntransaction-isolation = READ-COMMITTED\n", {"transaction_isolation": "READ-COMMITTED"}),
    ],
)
def test_idioms_of_mysql_are_read_as_the_server_does(tmp_path: Path, lines: str, settings: dict[str, str]) -> None:
    path = tmp_path / "my.cnf"
    path.write_bytes(lines.encode())
    assert _values(path) == settings


def test_lines_that_are_no_settings_are_told(tmp_path: Path) -> None:
    path = tmp_path / "postgresql.conf"
    path.write_text("shared_buffers = 128MB; junk\nwork_mem = 4MB\nmax_connections = 50 60\n")
    assert read_configuration(str(path), "postgres").unread == [f"{path}:1", f"{path}:3"]
    empty = tmp_path / "my.cnf"
    empty.write_text("[client]\nport = 1\n")
    notes = "\n".join(map(str, checked(_plan_text(empty), database=SERVER).notes))
    assert f"of {empty} no setting was read" in notes


def test_a_folder_that_is_missing_and_a_pipe_are_refused(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(UsageError, match="is no regular file"):
        read_configuration(str(pipe), "mysql")
    path = tmp_path / "my.cnf"
    path.write_text(f"!includedir {tmp_path}/none\n")
    with pytest.raises(UsageError, match="no such folder"):
        read_configuration(str(path), "mysql")
