"""Real servers of our own: their life, what they refuse, and that nothing of them is left."""

import functools
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from ssh_target import SshTarget

from paribus.databases import Instance, TakesEffect, abandoned_sockets, remove_sockets
from paribus.engine.find import binary
from paribus.engine.protocol import SqlJob
from paribus.engine.sql import Sql
from paribus.errors import DatabaseError, EngineError, HostError, QueryRefused, ServerGone, ServerWouldNotStart
from paribus.hosts.local import LocalHost
from paribus.hosts.ssh import SshHost
from paribus.trial.databases.recovery import crash

HOST = LocalHost()
POOL = {"mariadb": "innodb_buffer_pool_size", "postgres": "shared_buffers"}  # takes effect at a restart, in postgres
LIVE = {"mariadb": "innodb_io_capacity", "postgres": "effective_io_concurrency"}

Make = Callable[..., Instance]
pytestmark = pytest.mark.parametrize("kind", ["mariadb", "postgres"])


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that other users can pass, under which nothing runs any more at the end."""
    folder = Path(tempfile.mkdtemp(prefix="paribus-test-", dir="/var/tmp"))
    folder.chmod(0o755)
    yield folder
    assert not _running_in(folder)
    assert not list(folder.glob("*/.paribus-instance"))
    shutil.rmtree(folder)


@pytest.fixture
def make(place: Path, kind: str) -> Iterator[Make]:
    """Make an instance in a folder of that name, created unless that is not wanted."""
    made: list[Instance] = []

    def instance(name: str = "db", *, create: bool = True, **more) -> Instance:
        one = Instance(HOST, binary(), str(place / name), kind, **more)
        made.append(one)
        if create:
            one.create()
        return one

    yield instance
    for one in made:
        one.remove()


def test_sockets_of_a_server_whose_folder_is_gone_are_found_and_removed(make: Make, place: Path, kind: str) -> None:
    deep = "d" * 90  # too deep for a socket's address
    instance = make(deep)
    sockets = (place / deep / "run").resolve()
    assert str(sockets) not in abandoned_sockets(HOST)
    shutil.rmtree(place / deep)
    assert str(sockets) in abandoned_sockets(HOST)
    remove_sockets(HOST, str(sockets))
    assert not sockets.exists()
    instance.remove()


def _running_in(folder: Path) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except (OSError, ValueError):
            continue
        if f"{folder}/" in words:
            found.append(words)
    return found


def _script(path: Path, text: str) -> str:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def _table(one: Instance, kind: str) -> str:
    """A table of ours; its name."""
    name = "t.rows" if kind == "mariadb" else "t_rows"
    if kind == "mariadb":
        one.query("CREATE DATABASE t")
    one.query(f"CREATE TABLE {name} (id INT PRIMARY KEY)")
    one.query(f"INSERT INTO {name} VALUES (1), (2), (3)")  # noqa: S608
    return name


def _ids(one: Instance, table: str) -> list[list[str | None]]:
    return one.query(f"SELECT id FROM {table} ORDER BY id").rows  # noqa: S608


@pytest.mark.gate
def test_a_server_lives_from_its_making_to_its_removal(make: Make, place: Path, kind: str) -> None:
    one = make()
    pool = POOL[kind]
    assert not one.is_running()
    found = one.start({pool: "64MiB"})
    variables = one.variables()
    assert variables[pool].is_same("64MiB", found[pool])
    assert one.is_running()
    assert one.query("SELECT 1, NULL").rows == [["1", None]]
    assert one.status()

    live = LIVE[kind]
    before = one.read(live)
    assert one.set_live(live, "300") == "300" == one.read(live)
    found = one.restart({pool: "48MiB"})
    assert variables[pool].is_same("48MiB", found[pool])
    assert one.read(live) == before  # what was set live does not outlive a restart
    with pytest.raises(DatabaseError, match="is running already"):
        one.start()

    one.stop()
    assert not one.is_running()
    assert not _running_in(place)
    one.stop()
    one.kill()
    with pytest.raises(ServerGone, match="is not running"):
        one.query("SELECT 1")
    one.remove()
    one.remove()
    assert not (place / "db").exists()


def test_the_server_is_asked_for_its_variables(make: Make, kind: str) -> None:
    one = make()
    one.start()
    variables = one.variables()
    assert len(variables) > 300
    assert variables[LIVE[kind]].takes_effect in (TakesEffect.LIVE, TakesEffect.RELOAD)
    assert variables["version" if kind == "mariadb" else "block_size"].takes_effect is TakesEffect.NEVER
    built_in = "innodb_page_size" if kind == "mariadb" else "wal_segment_size"
    assert variables[built_in].takes_effect is TakesEffect.REBUILD
    assert len(variables["innodb_flush_method" if kind == "mariadb" else "synchronous_commit"].allowed) > 3
    assert variables["max_connections"].minimum is not None
    for name in ("max_connections", POOL[kind], LIVE[kind]):
        assert one.read(name) == variables[name].value


def test_a_setting_that_it_does_not_start_with_is_named_in_its_words(make: Make, place: Path, kind: str) -> None:
    one = make()
    with pytest.raises(ServerWouldNotStart, match=f"{POOL[kind]} = abc: .*abc") as refused:
        one.start({POOL[kind]: "abc"})
    assert refused.value.last_words
    assert not _running_in(place)
    gone = "innodb_checksums" if kind == "mariadb" else "checkpoint_segments"
    with pytest.raises(ServerWouldNotStart, match=gone) as refused:
        one.start({gone: "1"})
    assert "gone from" in refused.value.todo
    if kind == "mariadb":  # which takes some names only to ignore them
        with pytest.raises(ServerWouldNotStart, match="no variable innodb_buffer_pool_instances"):
            one.start({"innodb_buffer_pool_instances": "8"})
    assert not one.is_running()
    one.start()


def test_a_wrong_value_is_refused_in_its_words_and_a_rounded_one_is_told(make: Make, kind: str) -> None:
    one = make()
    one.start()
    live = LIVE[kind]
    before = one.read(live)
    with pytest.raises(QueryRefused, match=f"{live} = abc: .*{live}") as refused:
        one.set_live(live, "abc")
    assert refused.value.code
    assert one.read(live) == before
    with pytest.raises(QueryRefused, match="no such variable") as unknown:
        one.set_live(live + "x", "1")
    assert live in unknown.value.todo
    with pytest.raises(QueryRefused, match=r"rebuild|restart"):
        one.set_live("innodb_page_size" if kind == "mariadb" else "shared_buffers", "8192")
    with pytest.raises(QueryRefused, match=r"variable|parameter"):
        one.read("no_such' variable")
    with pytest.raises(QueryRefused):
        one.query("SELEKT 1")
    if kind == "mariadb":
        assert one.set_live("innodb_io_capacity", "1") == "100"
        assert one.set_live("innodb_buffer_pool_size", "256MiB") == str(256 << 20)
    else:
        assert one.set_live("work_mem", "8MiB") == "8MB"
        assert one.set_live("effective_io_concurrency", "0") == "0"
        compression = one.variables()["wal_compression"]  # whose levels are new in PostgreSQL 15
        assert compression.is_same("on", one.set_live("wal_compression", "on"))
        assert not compression.is_same("off", one.read("wal_compression"))
    one.query("SELECT 1")


def test_logs_that_exist_only_from_the_start_lie_with_the_data(make: Make, place: Path, kind: str) -> None:
    server = make()
    settings, pattern = {
        "mariadb": ({"log_bin": "ON", "binlog_format": "ROW", "sync_binlog": "1"}, "binlog.0*"),
        "postgres": ({"archive_mode": "on", "wal_level": "logical"}, "archive/*"),
    }[kind]
    in_force = server.start(settings)
    assert in_force == settings
    server.query("CREATE DATABASE d")
    if kind == "postgres":
        server.query("SELECT pg_switch_wal()")
    deadline = time.monotonic() + 60
    while not list((place / "db" / "data").glob(pattern)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert list((place / "db" / "data").glob(pattern))
    server.stop()
    off = {"mariadb": "log_bin", "postgres": "archive_mode"}[kind]
    value = {"mariadb": "OFF", "postgres": "off"}[kind]
    assert server.start({off: value}) == {off: value}


def test_settings_fixed_in_the_data_are_applied_at_its_creation(make: Make, kind: str) -> None:
    name, value, other = (
        ("innodb_page_size", "4KiB", "16KiB") if kind == "mariadb" else ("wal_segment_size", "4MiB", "")
    )
    one = make(create=False)
    one.create({name: value})
    found = one.start({name: value})
    assert one.variables()[name].is_same(value, found[name])
    if other:
        with pytest.raises(DatabaseError, match=name):
            one.restart({name: other})


def test_a_server_that_is_removed_while_it_runs_leaves_no_shared_memory(make: Make, kind: str) -> None:
    one = make()
    one.start()
    server = str(one.pid)
    held = re.findall(r"/dev/shm/\S+", Path(f"/proc/{server}/maps").read_text())  # noqa: S108
    one.remove()
    assert not [path for path in held if Path(path).exists()]
    assert server not in [row.split()[4] for row in Path("/proc/sysvipc/shm").read_text().splitlines()]


def test_a_crash_and_a_server_that_ends_by_itself(make: Make, place: Path, kind: str) -> None:
    one = make()
    one.start()
    table = _table(one, kind)
    one.kill()
    assert not _running_in(place)
    one.start()
    assert _ids(one, table) == [["1"], ["2"], ["3"]]
    assert one._process is not None
    os.kill(one._process.pid, signal.SIGKILL)
    deadline = time.monotonic() + 30
    while one.is_running():  # a backend of PostgreSQL may answer for a moment after its postmaster is gone
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert not _running_in(place)
    with pytest.raises(ServerGone):
        one.query("SELECT 1")
    one.start()
    assert len(_ids(one, table)) == 3


def test_data_is_put_back_as_it_was_copied(make: Make, place: Path, kind: str) -> None:
    one = make()
    one.start()
    table = _table(one, kind)
    with pytest.raises(DatabaseError, match="stop the server"):
        one.snapshot()
    one.stop()
    with pytest.raises(DatabaseError, match="no snapshot"):
        one.restore()
    copied = one.snapshot()
    assert copied.size_bytes > 1 << 20
    assert copied.duration_s > 0
    for _ in range(2):
        one.start()
        one.query(f"DELETE FROM {table}")  # noqa: S608
        assert not _ids(one, table)
        one.stop()
        one.restore()
    one.start()
    assert _ids(one, table) == [["1"], ["2"], ["3"]]
    assert not list((place / "db").glob("*.part")) + list((place / "db").glob("reflink*"))


def test_two_servers_are_side_by_side(make: Make, kind: str) -> None:
    one, other = make("one"), make("other", loopback=True)
    one.start()
    other.start()
    _table(one, kind)
    with pytest.raises(QueryRefused):
        _ids(other, "t.rows" if kind == "mariadb" else "t_rows")
    with pytest.raises(DatabaseError, match="File exists"):
        make("one")
    assert one.is_running()
    other.stop()
    assert one.query("SELECT 1").rows == [["1"]]


def test_the_loopback_is_for_those_with_the_password(make: Make, kind: str) -> None:
    one = make(loopback=True)
    one.start()
    address = one.address()
    assert address.host == "127.0.0.1"
    sql = Sql(HOST, binary(), SqlJob(database=address))
    assert sql.query("SELECT 1").rows == [["1"]]
    sql.close()
    for user in ("root", "postgres", "mysql", address.user):
        nobody = address.model_copy(update={"user": user, "password": None})
        with pytest.raises(EngineError, match=r"denied|password"):
            Sql(HOST, binary(), SqlJob(database=nobody))


def test_a_server_that_hangs_at_its_start_is_given_up(make: Make, place: Path, kind: str) -> None:
    real = make(create=False).program.path
    text = f'case "$*" in *--version*) exec {real} --version;; esac\necho started; exec sleep 600'
    one = make("hung", program=_script(place / "hangs", text))
    began = time.monotonic()
    with pytest.raises(ServerWouldNotStart, match="not ready within 1 s") as late:
        one.start(within_s=1.0)
    assert time.monotonic() - began < 300  # it would have slept for 600 s
    assert late.value.last_words == ("started",)
    assert not one.is_running()


def test_a_long_path_has_its_sockets_elsewhere(make: Make, place: Path, kind: str) -> None:
    name = "an odd, 'long' name " + "a" * 120
    one = make(name)
    sockets = (place / name / "run").resolve()
    assert sockets.parent == Path("/tmp")  # noqa: S108
    one.start()
    assert one.query("SELECT 1").rows == [["1"]]
    one.remove()
    assert not sockets.exists()


def test_many_starts_leave_nothing(make: Make, place: Path, kind: str) -> None:
    one = make()
    one.start()
    one.stop()
    before = sorted(path.name for path in (place / "db").iterdir())
    for _ in range(20):
        one.start()
        one.stop()
        assert not _running_in(place)
    assert sorted(path.name for path in (place / "db").iterdir()) == before
    assert not [path for path in (place / "db" / "run").iterdir() if path.is_socket()]


CONTROLLER = """
import sys, time
from paribus.databases import Instance
from paribus.hosts.local import LocalHost
one = Instance(LocalHost(), sys.argv[1], sys.argv[2], sys.argv[3])
one.create()
one.start()
print("up", flush=True)
time.sleep(600)
"""


@pytest.mark.gate
def test_a_controller_that_is_killed_leaves_no_server(make: Make, place: Path, kind: str) -> None:
    one = make(create=False)
    argv = [sys.executable, "-c", CONTROLLER, binary(), str(place / "db"), kind]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as controller:
        assert controller.stdout is not None
        assert controller.stdout.readline() == "up\n"
        with pytest.raises(DatabaseError, match="still runs"):  # nobody else starts one in its place
            one.start()
        controller.kill()
    one.remove()  # which waits for the server to be gone
    assert not (place / "db").exists()
    assert not _running_in(place)


def test_folders_of_others_are_not_removed(make: Make, place: Path, kind: str) -> None:
    one = make(create=False)
    own = place / "db"
    own.mkdir()
    (own / "data").write_text("precious")
    with pytest.raises(DatabaseError, match="File exists"):
        one.create()
    with pytest.raises(DatabaseError, match="not created by Paribus"):
        one.remove()
    assert (own / "data").read_text() == "precious"
    shutil.rmtree(own)


@pytest.mark.usefixtures("as_root")
def test_a_place_that_the_server_cannot_reach_is_told(make: Make, place: Path, kind: str) -> None:
    closed = place / "closed"
    closed.mkdir(mode=0o700)
    one = make("closed/db", create=False)
    with pytest.raises(DatabaseError, match="cannot reach"):
        one.create()
    assert not list(closed.iterdir())


@pytest.mark.root
@pytest.mark.usefixtures("as_root")
def test_a_server_over_ssh_ends_when_the_link_is_cut(make: Make, place: Path, kind: str, target: SshTarget) -> None:
    make(create=False)
    host = SshHost(target.address, binary())
    one = Instance(host, host.engine, str(place / "far"), kind)
    one.create()
    one.start({POOL[kind]: "64MiB"})
    assert one.set_live(LIVE[kind], "300") == "300"
    target.cut_link()
    deadline = time.monotonic() + 60
    while _running_in(place):
        assert time.monotonic() < deadline, "the server goes on"
        time.sleep(0.2)
    target.mend_link()
    with pytest.raises(HostError, match="lost"):
        one.stop()
    host.reconnect(lambda: False)
    again = Instance(host, host.engine, str(place / "far"), kind)
    again.remove()
    host.close()


LOSING = {"mariadb": {"innodb_flush_log_at_trx_commit": "0"}, "postgres": {"synchronous_commit": "off"}}


def test_a_crash_shows_what_acknowledged_commits_are_worth(make: Make, kind: str) -> None:
    one = make()
    one.start()
    one.query("CREATE DATABASE d")
    lost = {}
    for name, settings in (("safe", {}), ("fast", LOSING[kind])):
        one.restart(settings)
        measured = {each.metric: each.mean for each in crash(one, "d", functools.partial(one.start, settings))}
        assert measured["acknowledged_commits"] > 0
        assert measured["recovery_s"] > 0
        lost[name] = measured["lost_commits"]
        with one.inside("d") as ask, pytest.raises(QueryRefused):
            ask("SELECT * FROM paribus_ledger")
    assert lost["safe"] == 0
    assert lost["fast"] > 0, "what a server has not written is lost"
    one.stop()
