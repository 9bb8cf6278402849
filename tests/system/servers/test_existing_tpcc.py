"""TPC-C on a database that was made elsewhere: used only with permission, as it is, and never removed."""

from collections.abc import Callable
from pathlib import Path

import pytest
from command import RUN_ENDED, Done
from others import LIVE, VARIABLE, Others
from served import trials

from paribus.engine.find import binary
from paribus.engine.run import Engine
from paribus.hosts.local import LocalHost
from paribus.model import TrialState, Workload
from paribus.workloads import jobs

Paribus = Callable[..., Done]
DATABASE = "tpcc1"
FAMILY = {"mariadb": "mysql", "postgres": "postgres"}
_TYPES_OF_TPCC_MYSQL = """ALTER TABLE warehouse MODIFY w_id SMALLINT NOT NULL, MODIFY w_tax DECIMAL(4,2);
ALTER TABLE district MODIFY d_id TINYINT NOT NULL, MODIFY d_w_id SMALLINT NOT NULL, MODIFY d_next_o_id INT;
ALTER TABLE customer MODIFY c_d_id TINYINT NOT NULL, MODIFY c_w_id SMALLINT NOT NULL, MODIFY c_credit_lim BIGINT,
  MODIFY c_discount DECIMAL(4,2), MODIFY c_payment_cnt SMALLINT, MODIFY c_data TEXT;
ALTER TABLE orders MODIFY o_d_id TINYINT NOT NULL, MODIFY o_w_id SMALLINT NOT NULL, MODIFY o_carrier_id TINYINT;
ALTER TABLE new_orders MODIFY no_d_id TINYINT NOT NULL, MODIFY no_w_id SMALLINT NOT NULL;
ALTER TABLE order_line MODIFY ol_d_id TINYINT NOT NULL, MODIFY ol_w_id SMALLINT NOT NULL, MODIFY ol_quantity TINYINT;
ALTER TABLE stock MODIFY s_w_id SMALLINT NOT NULL, MODIFY s_quantity SMALLINT, MODIFY s_ytd DECIMAL(8,0)"""


@pytest.fixture
def elsewhere(others: Others) -> Others:
    """A server with a database of TPC-C that no experiment has made; on MariaDB with tpcc-mysql's types."""
    others.instance.query(f"CREATE DATABASE {DATABASE}")
    workload = Workload(
        name="tpcc", kind="tpcc", parameters={"warehouses": 1}, load_levels=(4,), response="throughput_per_s",
        data="keep", cache="warm", database=FAMILY[others.kind],
    )  # fmt: skip
    address = others.instance.address().model_copy(update={"database": DATABASE})
    made = Engine(LocalHost(), binary(), jobs.job(workload, {}, "", "prepare", server=address))
    assert list(made.events())
    if others.kind == "mariadb":
        with others.instance.inside(DATABASE) as ask:
            for statement in _TYPES_OF_TPCC_MYSQL.split(";"):
                ask(statement)
    return others


def _orders(server: Others) -> int:
    with server.instance.inside(DATABASE) as ask:
        return int(ask("SELECT SUM(d_next_o_id) FROM district").rows[0][0] or 0)


def _plan(server: Others, path: Path, allowed: str, warehouses: int = 1) -> str:
    name, first, other = LIVE[server.kind]
    path.write_text(
        f'name = "elsewhere"\n[target]\npath = "{path.parent}"\nallow_live = true\n[database]\nkind = "{server.kind}"\n'
        f'dsn = "{server.dsn}"\npassword_env = "{VARIABLE}"\n{allowed}\n[factors]\n'
        f'"{FAMILY[server.kind]}.{name}" = [{first!r}, {other!r}]\n[[workload]]\nkind = "tpcc"\n'
        f'existing = "{DATABASE}"\nwarehouses = {warehouses}\nthreads = [4]\nverify = true\n[protocol]\n'
        'trial = "500ms"\nsettle = "50ms"\n'
        "rounds = 2\nplacebo = false\n"
    )
    return str(path)


def test_a_database_made_elsewhere_is_used_as_it_is(elsewhere: Others, paribus: Paribus, tmp_path: Path) -> None:
    before = _orders(elsewhere)
    path = _plan(elsewhere, tmp_path / "plan.toml", f'may_write = ["{DATABASE}"]')
    checked = paribus("check", path)
    assert checked.code == 0, checked.err
    assert f"changes rows of {DATABASE}" in " ".join(checked.out.split())
    assert "databases paribus" not in checked.out
    done = paribus("run", path)
    assert done.code in RUN_ENDED, done.err
    valid = [trial for trial in trials() if trial.state is TrialState.DONE and not trial.failure]
    assert valid, [trial.failure_message for trial in trials()]
    assert DATABASE in elsewhere.databases
    assert elsewhere.is_as_before()
    assert _orders(elsewhere) > before


def test_without_permission_or_its_tables_it_is_refused(elsewhere: Others, paribus: Paribus, tmp_path: Path) -> None:
    before = _orders(elsewhere)
    path = tmp_path / "plan.toml"
    refused = paribus("run", _plan(elsewhere, path, ""))
    assert refused.code == 2
    assert f'may_write = ["{DATABASE}"]' in " ".join(refused.err.split())
    refused = paribus("run", _plan(elsewhere, path, f'may_write = ["{DATABASE}"]', warehouses=7))
    assert refused.code == 2
    assert "write warehouses = 1" in " ".join(refused.err.split())
    with elsewhere.instance.inside(DATABASE) as ask:
        ask("ALTER TABLE new_orders RENAME TO new_order")
    refused = paribus("check", _plan(elsewhere, path, f'may_write = ["{DATABASE}"]'))
    assert refused.code == 2
    assert "it has no table new_orders" in " ".join(refused.err.split())
    assert _orders(elsewhere) == before
