"""Checks of workloads whose load is a tool of the user: its program, and the server that it drives."""

from paribus.model import FEWEST_SECONDS
from paribus.plan.form.file import WorkloadTable
from paribus.plan.form.key_paths import KeyPath
from paribus.plan.settings import Settings
from paribus.plan.workloads import kind_of, name_of, placeholders_of, program_of, works_on_database

# Debian's packages of programs that `command` workloads often name.
_PACKAGES = {
    "mysqlslap": "mariadb-client",
    "mariadb-slap": "mariadb-client",
    "psql": "postgresql-client",
    "pgbench": "postgresql",
    "sysbench": "sysbench",
    "fio": "fio",
}


class ToolChecks(Settings):
    """The part of a check that concerns tools, and the database that a workload needs."""

    def database_of(self, table: WorkloadTable, key_path: KeyPath) -> None:
        """Checks that the plan has the database that a workload needs, and that a tool can reach it."""
        name, database, tool = name_of(table), self.table.database, kind_of(table).tool
        if not works_on_database(table):
            if tool and database is None and tool.needs_database(kind_of(table).series(table)[0].parameters):
                message = f"{name} works on a database, and neither the plan nor its options name one"
                self.complain((*key_path, "kind"), message, 'add for example: [database] kind = "mariadb"')
            return
        is_tool = tool is not None
        if database is None:
            used = "".join(f" ({{{placeholder}}} in its options)" for placeholder in placeholders_of(table)[:1])
            message = f"{name} works on a database{used}, and the plan has none"
            hint = f'add for example: [database] kind = "{"mariadb" if is_tool else "sqlite"}"'
            self.complain((*key_path, "kind"), message, hint)
        elif is_tool and self.family == "sqlite":
            message = f"{name} needs a server, and SQLite is a file that the load engine itself opens"
            self.complain((*key_path, "kind"), message, 'choose a server, for example: [database] kind = "mariadb"')
        elif tool and tool.kinds and database.kind not in tool.kinds:
            message = (
                f'{name} drives {" or ".join(tool.kinds)}, and the database of the plan has kind = "{database.kind}"'
            )
            self.complain(
                (*key_path, "kind"), message, f'write [database] kind = "{tool.kinds[0]}", or use another workload'
            )
        elif tool and tool.private_because and database.dsn:
            self.complain((*key_path, "kind"), f"{name} needs a private server: {tool.private_because}", "remove dsn")
        elif is_tool:
            for placeholder, (message, hint) in self.unreachable().items():
                if placeholder in placeholders_of(table) or (kind_of(table).on_database and placeholder == "user"):
                    self.complain((*key_path, "kind"), message, hint)

    def unreachable(self) -> dict[str, tuple[str, str]]:
        """Returns the placeholders that have no value for the plan's server, with a problem and its solution."""
        running, is_private = self.server.running, self.starts_server()
        socket = is_private or bool(running and running.socket)
        problems: dict[str, tuple[str, str]] = {}
        if socket and self.family == "mysql":
            problems["port"] = ("{port} is used, and the server is reached by its socket", "write {socket}")
        if running and not running.socket:
            problems["socket"] = ("{socket} is used, and dsn names a host", "write {host} and {port}")
        if running and not running.user:
            message = "a tool needs the user's name, and dsn has none"
            problems["user"] = (message, "write it into dsn: mysql://USER@…, postgres://USER@…")
        return problems

    def single_seconds(self, response: str, table: WorkloadTable, key_path: KeyPath) -> None:
        """Checks that single seconds of a workload are known, and enough of them, for a response that needs them."""
        protocol = self.table.protocol
        if kind_of(table).tool is not None:
            message = f"{response} needs single seconds, which {name_of(table)} does not report"
            self.complain((*key_path, "kind"), message, "judge another response, or use a load of Paribus")
        key = "segment" if protocol.segment is not None and protocol.segment < protocol.trial else "trial"
        if getattr(protocol, key) < FEWEST_SECONDS:
            message = f"{response} needs {FEWEST_SECONDS} seconds or more of each"
            self.complain(("protocol", key), message, f'set {key} = "60s", or judge another response')

    def tool(self, table: WorkloadTable, key_path: KeyPath) -> None:
        """Checks that a tool is installed, and that no limit depends on figures that it prints only at its end."""
        tool, program, limits = kind_of(table).tool, program_of(table), self.table.limits
        if tool is None:
            return
        if program in self.facts.missing_programs:
            hint = "install it there, or give its full path"
            if package := tool.package or _PACKAGES.get(program, ""):
                hint = f"install it there; on Debian and Ubuntu: apt install {package}"
            self.complain((*key_path, "kind"), f"{self.facts.hostname} has no program {program!r}", hint)
        for key in ("response_p99_s", "errors_per_s"):
            if getattr(limits, key) is not None:
                message = f"{name_of(table)} tells of it only when it has ended"
                self.complain(("limits", key), message, "take it out, or use a load of Paribus")
        if tool.note and tool.note not in self.notes:
            self.notes.append(tool.note)
