"""A plan's running server: how it is named, that no secret is, and what is refused before anything is touched."""

import dataclasses
from pathlib import Path

import plan_samples
import pytest
from plan_samples import checked, parsed

from paribus.errors import PlanError
from paribus.knobs import recipe
from paribus.knobs.catalog import load
from paribus.model import DatabaseFacts, ExpectedAnswer, Knob, Offer, Plan, PutStatements, RunningServer
from paribus.plan import data, dsn
from paribus.plan.check import knob_keys

EXAMPLE = Path(__file__).parents[3] / "examples/running-server.toml"
DSN = "mysql://bench@db1:3306/?tls=required"
OLTP = '[[workload]]\nkind = "oltp_read_write"\ntable_size = 1000\nthreads = [1, 4]\n'


@pytest.mark.parametrize(
    ("written", "place", "user", "database"),
    [
        ("mysql://bench@db1:3307/?tls=required", "mysql://db1:3307", "bench", "information_schema"),
        ("mariadb://be%40nch@db1", "mysql://db1:3306", "be@nch", "information_schema"),
        ("mysql://root@localhost/?socket=/run/my.sock", "mysql:///run/my.sock", "root", "information_schema"),
        ("mysql://localhost", "mysql://localhost:3306", "", "information_schema"),
        ("postgres://bench@db1/", "postgres://db1:5432", "bench", "postgres"),
        ("postgresql://bench@[::1]:5433/admin", "postgres://[::1]:5433", "bench", "admin"),
        ("postgres://u@localhost/?socket=/run/pg", "postgres:///run/pg/.s.PGSQL.5432", "u", "postgres"),
        ("postgres://u@h:7/?socket=/pg/.s.PGSQL.7", "postgres:///pg/.s.PGSQL.7", "u", "postgres"),
    ],
)
def test_an_address_names_the_server_and_who_connects(written: str, place: str, user: str, database: str) -> None:
    found = dsn.parse(written)
    assert (found.address, found.user, found.database) == (place, user, database)
    assert (found.socket is None) is (found.host is not None)


def test_tls_is_part_of_the_address() -> None:
    found = dsn.parse("postgres://u@db1/?tls=verified&tls_ca=/etc/ca.pem")
    assert (found.tls, found.tls_ca) == ("verified", "/etc/ca.pem")


@pytest.mark.parametrize(
    "written",
    [
        "mysql://u:hidden@h/",
        "mysql://u:hid/hidden@h/",
        "mysql://u:[hidden@h/",
        "mysql://u:h#hidden@h/",
        "mysql://u:h?hidden@h/",
        "mysql://h/?password=hidden",
        "mysql://h/?Pwd=hidden",
        "mysql://h/?pwd=hidden",
        "mysql://h/hidden",
        "mysql://h/?other=hidden",
        "mysql://h/#hidden",
        "mysql://h:hidden/",
        "mysql://h/?socket=hidden",
        "mysql://h/?socket=/run/x&tls=required",
        "mysql://h/?tls=hidden",
        "mysql://h/?tls_ca=/hidden",
        "mysql:///",
        "oracle://hidden@h/",
        "hidden",
    ],
)
def test_invalid_address_is_refused_without_repeating_its_password(written: str) -> None:
    with pytest.raises(PlanError) as refused:
        checked(_text(f'dsn = "{written}"'))
    assert "database.dsn" in str(refused.value)
    assert "hidden" not in str(refused.value)
    if "u:" in written or "p" in written.partition("?")[2].partition("=")[0].lower():
        assert "password_env" in str(refused.value)


def _text(database: str, target: str = "", rest: str = "") -> str:
    factors = '[factors]\n"mysql.innodb_io_capacity" = [200, 2000]\n'
    return f'name = "n"\n[target]\n{target}\n[database]\nkind = "mariadb"\n{database}\n{factors}{OLTP}{rest}'


def _server(**changed: object) -> RunningServer:
    return dataclasses.replace(dsn.parse(DSN), prefix="paribus", **changed)  # type: ignore[arg-type]


def _offer(name: str, current: object, refused: str = "", todo: str = "") -> Offer:
    knob = Knob(
        name=f"mysql.{name}", kind="variable", addresses=(name,), type="raw", summary="A variable", documentation=""
    )
    back = PutStatements(
        name=name,
        server={"driver": "mysql"},
        statements=(f"SET GLOBAL {name} = {current}",),
        check=ExpectedAnswer("SELECT 1", str(current)),
    )
    return Offer(knob=knob, current=current, allowed=(), undo=(back,), refused=refused, todo=todo)  # type: ignore[arg-type]


OFFERS = {
    f"mysql.{name}": _offer(name, value)
    for name, value in {"innodb_io_capacity": 200, "innodb_max_dirty_pages_pct": 90}.items()
}


MACHINE_OFFERS = plan_samples.OFFERS | {
    "process.load.cpus": plan_samples.offer("process.load.cpus", "default"),
    "cgroup.load.cpu_quota": plan_samples.offer("cgroup.load.cpu_quota", "max"),
}


def _checked(text: str, offers: dict[str, Offer] | None = None, **said: object) -> Plan:
    offers = offers or OFFERS
    rows = tuple(one.knob for name, one in offers.items() if name.startswith("mysql."))
    facts = DatabaseFacts(name="mariadb 10.11.6", rows=rows, running=_server(), **said)  # type: ignore[arg-type]
    return checked(text, offers=offers, database=facts)


def test_the_example_is_a_plan() -> None:
    found = parsed(EXAMPLE.read_text())
    assert not found.problems
    assert sorted(knob_keys(found)) == sorted(OFFERS)
    plan = _checked(EXAMPLE.read_text())
    assert plan.database is not None and plan.database.running is not None
    assert plan.factors[0].labels == ("200", "2000")
    assert load().find("mysql.innodb_io_capacity") is None  # its rows are the server's own


def test_without_leave_no_variable_is_changed_and_load_alone_needs_none() -> None:
    with pytest.raises(PlanError) as refused:
        _checked(_text(f'dsn = "{DSN}"'))
    assert 'line 8, factors."mysql.innodb_io_capacity"' in str(refused.value)
    assert "write under [target]: allow_live = true" in str(refused.value)
    assert _checked(_text(f'dsn = "{DSN}"', "allow_live = true")).database
    load_alone = f'name = "n"\n[database]\nkind = "mariadb"\ndsn = "{DSN}"\n[factors]\n"oltp_read_write.prepared" = '
    assert _checked(f"{load_alone}[true, false]\n{OLTP}").database


OTHER_MACHINE = (
    "would be set on db1, and the server mysql://db1:3306 runs on another machine, which the setting would not reach; "
    "set target.host to the server's host, or remove the setting"
)


@pytest.mark.parametrize(
    ("rest", "key"),
    [
        ('"vm.swappiness" = [10, 60]\n', 'factors."vm.swappiness": vm.swappiness'),
        ('"vm.dirty_ratio" = [10, 20]\n', 'factors."vm.dirty_ratio": vm.dirty'),
        ('[hold]\n"block.scheduler" = "none"\n', 'hold."block.scheduler": block.scheduler'),
        (
            '[[combination]]\nname = "c"\nsettings = { "vm.swappiness" = 1, "mysql.innodb_io_capacity" = 200 }\n',
            'combination[0].settings."vm.swappiness": vm.swappiness',
        ),
    ],
)
def test_a_setting_of_the_machine_is_refused_where_the_server_runs_elsewhere(rest: str, key: str) -> None:
    text = _text(f'dsn = "{DSN}"', "allow_live = true").replace(OLTP, rest + OLTP)
    offers = OFFERS | MACHINE_OFFERS
    with pytest.raises(PlanError) as refused:
        _checked(text, offers, is_remote=True)
    assert f"{key} {OTHER_MACHINE}" in str(refused.value)
    assert len(refused.value.problems) == 1
    assert _checked(text, offers).database


def test_settings_of_the_load_and_of_the_server_are_taken_where_the_server_runs_elsewhere() -> None:
    factors = '"process.load.cpus" = ["default", "0"]\n"cgroup.load.cpu_quota" = ["max", 1]\n'
    factors += '"oltp_read_write.prepared" = [true, false]\n'
    text = _text(f'dsn = "{DSN}"', "allow_live = true").replace(OLTP, factors + OLTP)
    plan = _checked(text, OFFERS | MACHINE_OFFERS, is_remote=True)
    assert len(plan.factors) == 4


def test_everything_that_forbids_it_is_told_at_once() -> None:
    restart = _offer("innodb_io_capacity", 200, "it takes effect at a restart", "leave out the dsn")
    with pytest.raises(PlanError) as refused:
        _checked(
            _text(f'dsn = "{DSN}"\nsettings = {{ innodb_io_capacity = 5 }}'),
            {"mysql.innodb_io_capacity": restart},
            wrong=(("no rights", "give them"),),
        )
    told = str(refused.value)
    assert "database.dsn: no rights; give them" in told
    assert told.count("it takes effect at a restart; leave out the dsn") == 2
    assert "allow_live" in told


@pytest.mark.parametrize(
    ("database", "words"),
    [
        (f'dsn = "{DSN}"\npassword_env = "A"\npassword_file = "/b"', "both name a password"),
        (f'dsn = "{DSN}"\npassword_file = "secret"', "full path"),
        (f'dsn = "{DSN}"\nprogram = "/usr/sbin/mysqld"', "program is for a private server"),
        (f'dsn = "{DSN}"\nrestart_every = 8', "restart_every is for a private server"),
        ('dsn = "postgres://u@h/"', 'another kind of server than kind = "mariadb"'),
        ('password_file = "/secret"', "is for a running server"),
        ('schema = "x"', "is for a running server"),
        (f'dsn = "{DSN}"\nschema = "Über"', "schema"),
        (f'dsn = "{DSN}"\npassword_env = "A B"', "password_env"),
    ],
)
def test_conflicting_keys_are_refused(database: str, words: str) -> None:
    with pytest.raises(PlanError) as refused:
        checked(_text(database, "allow_live = true"))
    assert words in str(refused.value)


def test_data_on_the_server_takes_no_room_at_the_path() -> None:
    plan = _checked(_text(f'dsn = "{DSN}"', "allow_live = true"))
    assert data.size_bytes(plan) == {"mysql://db1:3306": 260_000}
    assert data.rows_on_server(plan) == 1000


def test_the_way_back_is_shown_as_a_person_would_type_it() -> None:
    assert recipe.commands(OFFERS["mysql.innodb_io_capacity"].undo) == "SET GLOBAL innodb_io_capacity = 200;"
