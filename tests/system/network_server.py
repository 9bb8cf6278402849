"""A server that a network reaches: MariaDB or PostgreSQL, at every address of its machine, with a password."""

import contextlib
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from paribus.databases import Instance
from paribus.engine.find import binary
from paribus.hosts.local import LocalHost
from paribus.hosts.ssh import SshHost

LISTEN = {"mariadb": "bind_address", "postgres": "listen_addresses"}
LET_IN = {
    "mariadb": ("CREATE USER bench@'%' IDENTIFIED BY '{password}'", "GRANT ALL ON *.* TO bench@'%'"),
    "postgres": ("CREATE ROLE bench SUPERUSER LOGIN PASSWORD '{password}'",),
}
DATABASES = {"mariadb": "SHOW DATABASES", "postgres": "SELECT datname FROM pg_database"}


@dataclass(frozen=True)
class NetworkServer:
    """A server that somebody else has started, and will end."""

    kind: str
    instance: Instance
    password: str

    def dsn(self, host: str) -> str:
        """The server as it is reached at an address."""
        scheme = "mysql" if self.kind == "mariadb" else "postgres"
        return f"{scheme}://bench@{host}:{self.instance.address().port}/"

    @property
    def databases(self) -> list[str]:
        """The names of the databases of experiments."""
        names = [name or "" for (name,) in self.instance.query(DATABASES[self.kind]).rows]
        return [name for name in names if name.startswith("paribus")]


@contextlib.contextmanager
def network_server(kind: str, ssh: SshHost | None = None) -> Iterator[NetworkServer]:
    """Start it, here or on a machine that shares the file systems; it is removed when the context ends."""
    host, engine = (LocalHost(), binary()) if ssh is None else (ssh, ssh.engine)
    folder = Path(tempfile.mkdtemp(prefix="paribus-others-", dir="/var/tmp"))
    folder.chmod(0o755)
    instance = Instance(host, engine, str(folder / "db"), kind, loopback=True)
    instance.create()
    try:
        if kind == "postgres":
            with (folder / "db/data/pg_hba.conf").open("a") as file:
                file.write("host all bench all scram-sha-256\n")
        instance.start({LISTEN[kind]: "0.0.0.0" if kind == "mariadb" else "*"})  # noqa: S104
        password = secrets.token_urlsafe(12)
        for statement in LET_IN[kind]:
            instance.query(statement.format(password=password))
        yield NetworkServer(kind, instance, password)
    finally:
        instance.remove()
        shutil.rmtree(folder)
