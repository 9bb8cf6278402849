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


def _plan(workload: str, database: str = MARIADB, factor: str = "mysql.innodb_io_capacity") -> str:
    return simple(f'"{factor}" = [200, 2000]', workload, database)


def test_a_tool_whose_options_name_the_server_is_on_it_and_its_data_is_put_back() -> None:
    (workload,) = _checked(_plan(ON_SERVER)).workloads
    assert (workload.database, workload.data) == ("mysql", "round")
    (elsewhere,) = _checked(simple('"sysbench.prepare" = [false, true]', SYSBENCH.format(""), MARIADB)).workloads
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
