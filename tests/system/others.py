"""A server that somebody else has started: experiments leave it as it was."""

from dataclasses import dataclass
from pathlib import Path

from paribus.databases import Instance

VARIABLE = "LAB_PASSWORD"
LIVE = {"mariadb": ("innodb_io_capacity", 200, 5000), "postgres": ("work_mem", "4MB", "1MB")}
DATABASES = {"mariadb": "SHOW DATABASES", "postgres": "SELECT datname FROM pg_database"}


@dataclass
class Others:
    """A server that somebody else has started, and will end."""

    kind: str
    folder: Path
    instance: Instance
    password: str

    @property
    def dsn(self) -> str:
        at = self.instance.address()
        place = f"localhost/?socket={at.socket}" if at.socket else f"127.0.0.1:{at.port}/"
        return f"{'mysql' if self.kind == 'mariadb' else 'postgres'}://{at.user}@{place}"

    @property
    def databases(self) -> list[str]:
        return [name or "" for (name,) in self.instance.query(DATABASES[self.kind]).rows]

    @property
    def value(self) -> str:
        return self.instance.read(LIVE[self.kind][0])

    def is_as_before(self) -> bool:
        """No database of ours is there, the variable has its value, and nothing stands in postgresql.auto.conf."""
        auto = self.folder / "db/data/postgresql.auto.conf"
        written = auto.read_text() if auto.exists() else ""
        ours = [name for name in self.databases if name.startswith("paribus")]
        moved = self.kind == "mariadb" and self.instance.read("innodb_io_capacity_max") != "2000"
        return not (ours or moved or LIVE[self.kind][0] in written) and self.value == str(LIVE[self.kind][1])
