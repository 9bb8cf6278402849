"""A real MySQL server: experiments on it carried to their end, and every course of caching_sha2_password.

The machine's own database is MariaDB, which is near MySQL and is not MySQL: other variables, another way of making
data, another method of proving a password. The server is Debian's from sid, run where it was unpacked.

    .venv/bin/python proof/mysql/run.py
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from package import PACKAGE, NotToBeHad, fetch
from pydantic import SecretStr

from paribus.databases import Instance
from paribus.engine.find import binary
from paribus.engine.protocol import MysqlServer, SqlJob
from paribus.engine.sql import Sql
from paribus.errors import EngineError
from paribus.hosts.local import LocalHost

PLAN = """
name = "mysql"
[target]
path = "{path}"
[database]
kind = "mysql"
program = "{program}"
[database.settings]
innodb_buffer_pool_size = "64MiB"
[factors]
"mysql.innodb_flush_log_at_trx_commit" = {levels}
{load}
rounds = 2
margin = "50%"
placebo = false
"""
OLTP = """
[[workload]]
kind = "oltp_read_write"
table_size = 5000
threads = [2]
[protocol]
trial = "300ms"
settle = "100ms"
"""
TPCC = """
[[event]]
at = "1s"
do = "kill-server"
[[workload]]
kind = "tpcc"
warehouses = 1
partitions = 2
threads = [8]
verify = true
[protocol]
trial = "4s"
settle = "1s"
"""
ATTEMPTS = 3  # other work on this machine may make too many trials invalid
PASSWORD = "proof of a password"  # noqa: S105  of a server that lives for seconds
USER = "CREATE USER 'sha2'@'{host}' IDENTIFIED WITH caching_sha2_password BY '{password}'"


def experiment(program: Path, folder: Path) -> Iterator[tuple[str, str]]:
    """Yield each comparison on this server, and its verdict."""
    for effect in _report_of(program, folder / "oltp", [1, 2], OLTP)["effects"]:
        yield f"{effect['factor']}: {effect['baseline']} -> {effect['arm']}", effect["verdict"]


def crash(program: Path, folder: Path) -> Iterator[tuple[str, str]]:
    """TPC-C on a server that is killed in each trial: the acknowledged orders that each level loses."""
    arms = _report_of(program, folder / "tpcc", [1, 0], TPCC)["tpcc"]
    lost = {arm["arm"]: arm["lost"] for arm in arms}
    if lost["1"] or not lost["0"]:
        raise AssertionError(f"acknowledged New-Orders that were lost, by level: {lost}")
    for arm in arms:
        rate = f"{arm['new_orders_per_minute']['value']:,.0f} New-Orders a minute"
        yield f"{arm['factor']} = {arm['arm']}", f"{rate}, {arm['lost']:,} lost in {len(arm['trials'])} crashes"


def _report_of(program: Path, folder: Path, levels: list[int], load: str) -> dict[str, Any]:
    """Run a plan to its end; its report."""
    folder.mkdir(mode=0o755)
    plan = folder / "plan.toml"
    plan.write_text(PLAN.format(path=folder / "data", program=program, levels=levels, load=load))
    (folder / "data").mkdir()
    own = {"PARIBUS_STATE": "state", "PARIBUS_REGISTER": "register", "PARIBUS_STORE": "paribus.db"}
    environment = os.environ | {name: str(folder / file) for name, file in own.items()}
    command = [sys.executable, "-m", "paribus.cli.main", "run", str(plan), "--json"]
    for _ in range(ATTEMPTS):
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode != 3:
            break
    if done.returncode != 0:
        raise AssertionError(f"paribus run ended with {done.returncode}: {done.stderr[-2000:]}")
    if left := list((folder / "data").iterdir()):
        raise AssertionError(f"left behind: {left}")
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def logins(program: Path, folder: Path) -> Iterator[tuple[str, str]]:
    """Each way in with caching_sha2_password, and who came in by it."""
    one = Instance(LocalHost(), binary(), str(folder / "server"), "mysql", program=str(program), loopback=True)
    one.create()
    try:
        one.start()
        for host in ("127.0.0.1", "localhost"):
            one.query(USER.format(host=host, password=PASSWORD))
        tcp = one.address().model_copy(update={"user": "sha2", "password": SecretStr(PASSWORD), "database": ""})
        assert isinstance(tcp, MysqlServer)
        socket = tcp.model_copy(update={"socket": str(folder / "server/run/mysql.sock"), "host": None, "port": None})
        tls = tcp.model_copy(update={"tls": "required"})
        for name, address in (("TCP", tcp), ("TLS", tls), ("socket", socket)):
            one.query("FLUSH PRIVILEGES")  # the server forgets all hashes, and wants the password itself
            yield f"{name}, the password itself", _who(address)
            yield f"{name}, its hash remembered", _who(address)
            yield f"{name}, a wrong password", _refused(address.model_copy(update={"password": SecretStr("wrong")}))
    finally:
        one.remove()


def _who(address: MysqlServer) -> str:
    sql = Sql(LocalHost(), binary(), SqlJob(database=address))
    try:
        (user,) = sql.query("SELECT CURRENT_USER()").rows[0]
        _, cipher = sql.query("SHOW SESSION STATUS LIKE 'Ssl_cipher'").rows[0]
    finally:
        sql.close()
    if bool(cipher) != (address.tls != "off"):
        raise AssertionError(f"{address.tls}, and encrypted by {cipher!r}")
    return f"{user}{f', by {cipher}' if cipher else ''}"


def _refused(address: MysqlServer) -> str:
    try:
        who = _who(address)
    except EngineError as error:
        if error.failure != "access-denied":
            raise
        return "denied"
    raise AssertionError(f"a wrong password let in {who}")


def main() -> int:
    """Print what was found; 1 where there is no server to try."""
    with tempfile.TemporaryDirectory(prefix="paribus-mysql-", dir="/var/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)  # the server's user must be able to pass
        try:
            program = fetch(folder / "package")
        except NotToBeHad as error:
            print(f"no {PACKAGE} to prove anything with: {error}", file=sys.stderr)
            return 1
        print(subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.strip())
        for proof in (logins, experiment, crash):
            print(f"\n| {proof.__name__} | outcome |\n| --- | --- |")
            for asked, outcome in proof(program, folder):
                print(f"| {asked} | {outcome} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
