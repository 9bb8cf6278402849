"""TPC-C in plans: what is refused, and what its verification changes."""

import re

import pytest
from plan_samples import checked, offer

from paribus.errors import PlanError
from paribus.model import DatabaseFacts, Plan
from paribus.plan import dsn as dsns

SQLITE = '[database]\nkind = "sqlite"\n'
FACTOR = '[factors]\n"sqlite.cache_size" = [-2000, -8000]\n'
TPCC = '[[workload]]\nkind = "tpcc"\nwarehouses = 2\nthreads = [4]\n'


def _plan(text: str) -> Plan:
    return checked(f'name = "n"\n{text}', offers={"sqlite.cache_size": offer("sqlite.cache_size", "-2000")})


def test_verified_tables_need_a_load_of_their_own_in_every_trial() -> None:
    assert _plan(f"{SQLITE}{FACTOR}{TPCC}").protocol.in_flight
    plan = _plan(f"{SQLITE}{FACTOR}{TPCC}verify = true\n")
    assert not plan.protocol.in_flight
    assert not _plan(f'{SQLITE}[factors]\n"tpcc.verify" = [true, false]\n{TPCC}').protocol.in_flight
    assert plan.workloads[0].responses == ("throughput_per_s",)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"{SQLITE}{FACTOR}{TPCC}foreign_keys = true\n", "tables of SQLite have no foreign keys here"),
        (f'{SQLITE}{FACTOR}[hold]\n"tpcc.foreign_keys" = true\n{TPCC}', "tables of SQLite have no foreign keys here"),
        (f"{SQLITE}{FACTOR}{TPCC}partitions = 4\n", "tables of SQLite have no partitions here"),
        (
            f'[database]\nkind = "mariadb"\n[factors]\n"tpcc.partitions" = [0, 4]\n{TPCC}foreign_keys = true\n',
            "tables with partitions have no foreign keys on MySQL",
        ),
        (f"{SQLITE}{FACTOR}{TPCC}mix = [0, 0, 0, 0, 0]\n", "mix has no card"),
        (f"{SQLITE}{FACTOR}{TPCC}terminals = 3\n", "unknown key"),
        (
            f"{SQLITE}{FACTOR}{TPCC}think = true\n".replace("[4]", "[4, 25]"),
            "25 terminals think, and 2 warehouses have 20 (clause 4.2.2 of TPC-C); use 20 at most, or 3 warehouses",
        ),
        (f"{SQLITE}{FACTOR}{TPCC}think = true\nrate = [20]\n", "terminals that think set the rate themselves"),
        (
            f'{SQLITE}{FACTOR}[[workload]]\nkind = "oltp_read_write"\nresponse = "new_orders_per_s"\n',
            "new_orders_per_s is measured under TPC-C, and oltp_read_write is another workload",
        ),
        (
            f'{SQLITE}{FACTOR}[[workload]]\nkind = "oltp_read_write"\nthreads = [2]\nverify = true\n',
            "tables of SQLite are verified under tpcc only",
        ),
    ],
)
def test_impossible_plans_are_refused(text: str, said: str) -> None:
    with pytest.raises(PlanError) as error:
        _plan(text)
    assert said in str(error.value)
    assert "no workload uses" not in str(error.value)


EXISTING = '[[workload]]\nkind = "tpcc"\nexisting = "tpcc9"\nwarehouses = 9\nthreads = [4]\n'


def _on_running(allowed: str = 'may_write = ["tpcc9"]', workload: str = EXISTING, **facts: object) -> Plan:
    running = dsns.parse("mysql://u@db1/")
    server = DatabaseFacts(name="mariadb 10.11", running=running, **facts)  # type: ignore[arg-type]
    database = f'[database]\nkind = "mariadb"\ndsn = "mysql://u@db1/"\n{allowed}\n'
    return checked(f'name = "n"\n{database}[factors]\n"tpcc.home" = ["random", "fixed"]\n{workload}', database=server)


def test_an_existing_database_is_kept_as_the_load_leaves_it() -> None:
    plan = _on_running(warehouses={"tpcc9": 9})
    assert plan.workloads[0].data == "keep"
    assert any("changes rows of tpcc9" in note for note in plan.notes)


@pytest.mark.parametrize(
    ("problem", "said"),
    [
        ({"allowed": ""}, 'write under [database]: may_write = ["tpcc9"]'),
        ({"warehouses": {"tpcc9": 8}}, "9 warehouses are asked for, and tpcc9 has 8; write warehouses = 8"),
        ({"unusable": {"tpcc9": "it has no table stock"}}, "it has no table stock; name a database"),
        ({"workload": f'{EXISTING}data = "round"\n'}, "the rows of tpcc9 cannot be put back"),
        ({"workload": f"{EXISTING}partitions = 4\n"}, "existing tables keep their keys and partitions"),
        ({"workload": EXISTING.replace("tpcc9", "tpcc`9")}, "existing"),
    ],
)
def test_plans_unfit_for_an_existing_database_are_refused(problem: dict[str, object], said: str) -> None:
    with pytest.raises(PlanError) as error:
        _on_running(**problem)  # type: ignore[arg-type]
    assert said in str(error.value)


def test_an_existing_database_is_one_of_a_running_server() -> None:
    with pytest.raises(PlanError) as error:
        _plan(f"{SQLITE}{FACTOR}{EXISTING}")
    assert "database tpcc9 is looked for on a running server" in str(error.value)


def _on_mariadb(rest: str, **facts: object) -> Plan:
    server = DatabaseFacts(name="mariadb 10.11", in_force={"max_connections": 151}, empty_bytes=100_000_000)
    text = f'name = "n"\n[database]\nkind = "mariadb"\n[factors]\n"tpcc.home" = ["random", "fixed"]\n{rest}'
    return checked(text, database=server, **facts)


def test_warehouses_that_do_not_fit_are_refused_with_the_number_that_does() -> None:
    with pytest.raises(PlanError) as error:
        _on_mariadb(TPCC.replace("warehouses = 2", "warehouses = 9000"), free_bytes=2**36)
    number = re.search(r"make less data, such as warehouses = (\d+), or name a larger disk", str(error.value))
    assert number and 100 < int(number[1]) < 600
    assert _on_mariadb(TPCC.replace("warehouses = 2", f"warehouses = {int(0.99 * int(number[1]))}"), free_bytes=2**36)


@pytest.mark.parametrize(("threads", "fits"), [(148, True), (149, False)])
def test_a_server_with_too_few_connections_is_refused_with_the_number_that_would_do(threads: int, fits: bool) -> None:
    text = TPCC.replace("[4]", f"[4, {threads}]")
    if fits:
        assert _on_mariadb(text)
        return
    with pytest.raises(PlanError) as error:
        _on_mariadb(text)
    assert (
        "149 connections and 3 of our own are needed, and the server allows 151; "
        'hold "mysql.max_connections" = 152, or make at most 148' in str(error.value)
    )
