"""Tools of the user on the plan's server: what makes them work on it, and what cannot be reached."""

import pytest
from plan_samples import checked, facts, parsed, simple

from paribus.errors import PlanError
from paribus.knobs.catalog import load
from paribus.model import DatabaseFacts, Knob, Offer, Plan, RunningServer
from paribus.plan.check import check, knob_keys

MARIADB = '[database]\nkind = "mariadb"\n'
POSTGRES = '[database]\nkind = "postgres"\n'
SYSBENCH = '[[workload]]\nkind = "sysbench"\ntest = "oltp_insert"\noptions = {{ {} }}\n'
ON_SERVER = SYSBENCH.format('mysql-socket = "{socket}", mysql-db = "{database}"')
PGBENCH = '[[workload]]\nkind = "pgbench"\n'
KNOB = Knob(
    name="mysql.innodb_io_capacity", kind="variable", addresses=("innodb_io_capacity",), type="number", summary="",
    documentation="", takes_effect="live", aliases=("mariadb.innodb_io_capacity",),
)  # fmt: skip
OFFERS = {KNOB.name: Offer(knob=KNOB, current=200, allowed=())}


def _checked(text: str, running: RunningServer | None = None, **found: object) -> Plan:
    return checked(text, offers=OFFERS, database=DatabaseFacts(name="mariadb 10.11", rows=(KNOB,), running=running))


@pytest.mark.parametrize(
    ("database", "address"),
    [
        (MARIADB, {"db-driver": "mysql", "mysql-socket": "{socket}"}),
        (MARIADB + 'dsn = "mysql://u@h/?socket=/run/s"\n', {"db-driver": "mysql", "mysql-socket": "{socket}"}),
        (
            MARIADB + 'dsn = "mysql://u@h:3306"\n',
            {"db-driver": "mysql", "mysql-host": "{host}", "mysql-port": "{port}"},
        ),
        (POSTGRES, {"db-driver": "pgsql", "pgsql-host": "{host}", "pgsql-port": "{port}"}),
    ],
)
def test_sysbench_gets_the_address_of_the_plans_server(database: str, address: dict[str, str]) -> None:
    [table] = parsed(simple("", SYSBENCH.format("tables = 4"), database)).table.workload
    prefix = address["db-driver"]
    user = {f"{prefix}-user": "{user}", f"{prefix}-db": "{database}"}
    assert table.options == {**address, **user, "tables": 4}
    assert table.prepare


@pytest.mark.parametrize(
    ("test", "options", "database"),
    [
        ("oltp_insert", 'mysql-socket = "{socket}"', MARIADB),
        ("oltp_insert", 'db-driver = "pgsql"', MARIADB),
        ("cpu", "cpu-max-prime = 100", MARIADB),
        ("oltp_insert", "tables = 4", ""),
        ("oltp_insert", "tables = 4", '[database]\nkind = "sqlite"\n'),
        ("oltp_insert", "tables = 4", '[database]\nkind = "oracle"\n'),
        ("oltp_insert", "tables = 4", MARIADB + 'dsn = "nonsense"\n'),
        ("oltp_insert", "tables = 4", "database = 7\n"),
    ],
)
def test_sysbench_with_an_address_or_without_a_server_stays_as_it_is(test: str, options: str, database: str) -> None:
    workload = SYSBENCH.format(options).replace("oltp_insert", test)
    [table] = parsed(database + simple("", workload)).table.workload
    assert len(table.options) == 1
    assert not table.prepare


def test_a_script_on_the_plans_server_prepares_nothing_by_itself() -> None:
    workload = SYSBENCH.format("tables = 4").replace("oltp_insert", "/home/u/own.lua")
    [table] = parsed(simple("", workload, MARIADB)).table.workload
    assert table.options["db-driver"] == "mysql"
    assert not table.prepare


def _plan(workload: str, database: str = MARIADB, factor: str = "mysql.innodb_io_capacity") -> str:
    return simple(f'"{factor}" = [200, 2000]', workload, database)


def test_a_tool_whose_options_name_the_server_is_on_it_and_its_data_is_put_back() -> None:
    (workload,) = _checked(_plan(ON_SERVER)).workloads
    assert (workload.database, workload.data) == ("mysql", "round")
    (elsewhere,) = _checked(
        simple('"sysbench.prepare" = [false, true]', SYSBENCH.format('mysql-host = "db2"'), MARIADB)
    ).workloads
    assert (elsewhere.database, elsewhere.data) == ("", "keep")


def test_the_name_of_the_server_stands_for_its_family() -> None:
    text = _plan(ON_SERVER, factor="mariadb.innodb_io_capacity")
    assert knob_keys(parsed(text)) == ["mysql.innodb_io_capacity"]
    (factor,) = _checked(text).factors
    assert (factor.key, factor.scope) == ("mysql.innodb_io_capacity", ("sysbench",))


def test_a_held_variable_needs_no_other_workload() -> None:
    held = f'{MARIADB}[hold]\n"mysql.innodb_io_capacity" = 500\n'
    plan = _checked(simple('"sysbench.prepare" = [false, true]', ON_SERVER, held))
    assert plan.hold == {"mysql.innodb_io_capacity": 500}


def test_a_cold_cache_is_possible_on_a_private_server() -> None:
    assert _checked(_plan(f'{ON_SERVER}cache = "cold"\n')).workloads[0].cache == "cold"


BY_HOST = RunningServer(protocol="mysql", socket=None, host="db1", port=3306, user="", prefix="paribus")
BY_SOCKET = RunningServer(protocol="mysql", socket="/run/s", host=None, port=None, user="u", prefix="paribus")
DSN = f'{MARIADB}dsn = "mysql://db1:3306/"\n'


@pytest.mark.parametrize(
    ("workload", "database", "running", "words"),
    [
        (ON_SERVER, "", None, "sysbench works on a database ({socket} in its options), and the plan has none"),
        (SYSBENCH.format("tables = 4"), "", None, "sysbench works on a database, and neither the plan nor its options"),
        (ON_SERVER, '[database]\nkind = "sqlite"\n', None, "needs a server, and SQLite is a file"),
        (PGBENCH, MARIADB, None, 'pgbench drives postgres, and the database of the plan has kind = "mariadb"'),
        ('[[workload]]\nkind = "hammerdb"\nhome = "/h"\n', DSN, BY_SOCKET, "hammerdb needs a private server"),
        (SYSBENCH.format('mysql-port = "{port}"'), MARIADB, None, "the server is reached by its socket"),
        (SYSBENCH.format('mysql-port = "{port}"'), DSN, BY_SOCKET, "the server is reached by its socket"),
        (ON_SERVER, DSN, BY_HOST, "{socket} is used, and dsn names a host"),
        (SYSBENCH.format('mysql-user = "{user}"'), DSN, BY_HOST, "a tool needs the user's name, and dsn has none"),
    ],
)
def test_unreachable_database_of_a_tool_is_refused(
    workload: str, database: str, running: RunningServer | None, words: str
) -> None:
    with pytest.raises(PlanError) as refused:
        _checked(simple('"vm.swappiness" = [10, 60]', workload, database), running)
    assert words in str(refused.value)


def test_a_missing_program_is_named_with_its_package() -> None:
    found = facts(database=DatabaseFacts(name="postgres 15"), missing_programs=frozenset({"pgbench"}))
    with pytest.raises(PlanError) as refused:
        check(parsed(simple('"vm.swappiness" = [10, 60]', PGBENCH, POSTGRES)), load(), found)
    assert "has no program 'pgbench'" in str(refused.value)
    assert "apt install postgresql" in str(refused.value)
