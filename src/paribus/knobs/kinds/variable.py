"""A variable of a database server, set by the server's own means; the machine stays as it is.

Addresses: the variable's name.
"""

from paribus.knobs.kinds.kind import Holder, knob_kinds
from paribus.knobs.kinds.workload_parameter import ExternalKind
from paribus.model import Knob, Value

KIND = "variable"


class VariableKind(ExternalKind):
    """Set at the server."""

    holder: Holder = "server"

    def set_by_hand(self, knob: Knob, value: Value) -> str:
        """The statement that sets it, or the line of the server's configuration."""
        family, name = knob.name.split(".", 1)
        if knob.takes_effect == "restart":
            return f"{name} = {value}    # in the server's configuration, then restart it"
        literal = _literal(value)
        if family == "postgres":
            return f"ALTER SYSTEM SET {name} = {literal}; SELECT pg_reload_conf();"
        return f"SET GLOBAL {name} = {literal};"

    def check_by_hand(self, knob: Knob) -> str:
        """The statement that shows it."""
        family, name = knob.name.split(".", 1)
        return f"SHOW {name};" if family == "postgres" else f"SHOW GLOBAL VARIABLES LIKE '{name}';"

    def persist_by_hand(self, knob: Knob, value: Value) -> str:
        """The statement or line of configuration that the server reads when it starts."""
        family, name = knob.name.split(".", 1)
        if family == "postgres":
            return f"ALTER SYSTEM SET {name} = {_literal(value)};  -- in postgresql.auto.conf, which the server keeps"
        where = "below [mysqld] in the server's configuration, such as /etc/mysql/conf.d/paribus.cnf"
        return f"{name} = {value}    # {where} (MySQL, not MariaDB: or SET PERSIST {name} = {_literal(value)};)"


def _literal(value: Value) -> str:
    """The value as an SQL literal."""
    if not isinstance(value, str) or value.replace(".", "").isdigit():
        return str(value)
    return "'" + value.replace("'", "''") + "'"


knob_kinds.register(KIND, VariableKind())
