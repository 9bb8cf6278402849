"""Every course of the newer methods of proving a password, on real servers: MySQL's and MariaDB's.

    .venv/bin/python proof/databases/logins.py

Both servers are Debian's, of later releases, run where they were unpacked.
"""

import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import packages
from pydantic import SecretStr

from paribus.databases import Instance
from paribus.engine.find import binary
from paribus.engine.protocol import MysqlServer, SqlJob
from paribus.engine.sql import Sql
from paribus.errors import EngineError
from paribus.hosts.local import LocalHost

PASSWORD = "proof of a password"  # noqa: S105  of a server that lives for seconds


@dataclass(frozen=True)
class Method:
    """A server's method: the package, and the statements that make a user who proves a password by it."""

    suite: str
    package: str
    kind: str
    setup: tuple[str, ...]
    user: str
    forget: tuple[str, ...] = ()


METHODS = {
    "caching_sha2_password": Method(
        "sid",
        "mysql-server-core",
        "mysql",
        (),
        "CREATE USER 'proof'@'{host}' IDENTIFIED WITH caching_sha2_password BY '{password}'",
        ("FLUSH PRIVILEGES",),  # the server forgets all hashes, and wants the password itself
    ),
    "parsec": Method(
        "trixie",
        "mariadb-server",
        "mariadb",
        ("INSTALL SONAME 'auth_parsec'",),
        "CREATE USER 'proof'@'{host}' IDENTIFIED VIA parsec USING PASSWORD('{password}')",
    ),
}


def logins(method: Method, program: Path, folder: Path) -> Iterator[tuple[str, str]]:
    """Yield each way in, and who came in by it."""
    one = Instance(LocalHost(), binary(), str(folder / "server"), method.kind, program=str(program), loopback=True)
    one.create()
    try:
        one.start()
        for statement in method.setup:
            one.query(statement)
        for host in ("127.0.0.1", "localhost"):
            one.query(method.user.format(host=host, password=PASSWORD))
        tcp = one.address().model_copy(update={"user": "proof", "password": SecretStr(PASSWORD), "database": ""})
        assert isinstance(tcp, MysqlServer)
        socket = tcp.model_copy(update={"socket": str(folder / "server/run/mysql.sock"), "host": None, "port": None})
        tls = tcp.model_copy(update={"tls": "required"})
        for name, address in (("TCP", tcp), ("TLS", tls), ("socket", socket)):
            for statement in method.forget:
                one.query(statement)
            yield f"{name}, the first time", _who(address)
            yield f"{name}, again", _who(address)
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
    """Print what was found; 1 where a server cannot be had."""
    print("| method | login | outcome |\n|---|---|---|")
    for name, method in METHODS.items():
        with tempfile.TemporaryDirectory(prefix="paribus-logins-", dir="/var/tmp") as path:
            folder = Path(path)
            folder.chmod(0o755)  # the server's user must be able to pass
            try:
                program = packages.debian(folder / "package", method.suite, method.package)
            except packages.NotToBeHad as error:
                print(f"no {method.package} to prove anything with: {error}", file=sys.stderr)
                return 1
            for login, outcome in logins(method, program, folder):
                print(f"| {name} | {login} | {outcome} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
