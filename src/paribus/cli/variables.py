"""Variables of database servers as knobs, for people who have no plan yet: a private server is asked for one."""

import secrets

from paribus.cli.server import briefly
from paribus.databases import Instance, offer
from paribus.databases.server import removed_variables
from paribus.engine.find import binary
from paribus.errors import UsageError
from paribus.hosts.local import LocalHost
from paribus.model import FAMILIES, Knob
from paribus.registry import nearest

_READY_S = 120.0
KINDS = {"mysql": "mariadb", "postgres": "postgres"}  # by the family in a knob's name, the server that is asked
# What no catalogue lists, since the server or the file itself says what there is.
ELSEWHERE = {
    "mysql.*": "any variable of MariaDB, MySQL or Percona Server, such as mysql.innodb_io_capacity",
    "postgres.*": "any parameter of PostgreSQL, such as postgres.shared_buffers",
    "sqlite.*": "any pragma of SQLite that can be read back, such as sqlite.journal_mode",
}


def is_variable(name: str) -> bool:
    """Whether a server is to be asked for it."""
    return name.partition(".")[0] in KINDS


def look_up(name: str, kind: str, path: str) -> Knob:
    """The variable as a server of that kind, started below `path` for this and removed, describes it.

    Raises UsageError for a name that it does not have, DatabaseError where there is no such server.
    """
    family, _, variable = name.partition(".")
    kind = kind or KINDS[family]
    if FAMILIES.get(kind) != family:
        raise UsageError(f"{kind} has no variables {family}.*", "name mariadb, mysql or percona; or postgres")
    one = Instance(LocalHost(), binary(), f"{path.rstrip('/')}/paribus-asking-{secrets.token_hex(4)}", kind)
    with briefly(one, _READY_S):
        variables = one.variables()
    if variable not in variables:
        version = one.program.version
        hint = removed_variables.explain(kind, version, variable) or nearest(variable, variables)
        raise UsageError(f"{kind} {version} has no variable {variable}", hint)
    return offer(family, f"{kind} {one.program.version}", variables[variable]).knob
