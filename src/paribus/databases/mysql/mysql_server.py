"""MariaDB, MySQL and Percona Server: how they are found, created and run."""

import re
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Literal

from paribus.databases.mysql import mysql_variables
from paribus.databases.mysql.mysql_state import MysqlState
from paribus.databases.server import counters
from paribus.databases.server.data_directory import DataDirectory
from paribus.databases.server.kind import (
    Ask,
    Program,
    Settings,
    database_kinds,
    first_of,
    require_program,
    version_output,
)
from paribus.databases.server.state import State
from paribus.databases.server.variable import ServerVariable, number_of
from paribus.engine.protocol import MysqlServer
from paribus.errors import DatabaseError
from paribus.hosts.transport import Host

_PLACES = ("/usr/sbin", "/usr/libexec", "/usr/bin", "/usr/local/sbin", "/usr/local/mysql/bin", "/opt/mysql/bin")
_VERSION = re.compile(r"Ver\s+([0-9]+(?:\.[0-9]+)+)")
_SIZE = re.compile(r"[0-9.]+\s*[KMGTPE]i?B", re.IGNORECASE)
_COMPLAINT = re.compile(r"\[ERROR\]\s*(.*)")
_LOOPBACK_USER = "paribus"
_BUILT_IN = {
    "innodb_page_size",
    "innodb_data_file_path",
    "innodb_data_home_dir",
    "innodb_undo_directory",
    "innodb_undo_tablespaces",
    "lower_case_table_names",
}


class MySql:
    """One of the three, identified by the version text of the program."""

    stop_signal: Literal["TERM", "INT"] = "TERM"
    abort_signal = ""
    accounts: Sequence[str] = ("mysql", "nobody")
    opening = "SET SESSION wait_timeout = 31536000"  # else an idle one is closed after hours
    stale: Sequence[str] = ()
    state: State = MysqlState()

    def __init__(self, name: str, programs: Sequence[str]) -> None:
        self.name = name
        self._programs = programs

    def find(self, host: Host, named: str) -> Program:
        """The program, at the path that is named, on PATH or in the usual places. Raises DatabaseError."""
        if named:
            require_program(host, named)
            candidates = [[named]]
        else:
            candidates = [[name, *(f"{place}/{name}" for place in _PLACES)] for name in self._programs]
        others = []
        for names in candidates:
            path = first_of(host, names)
            if not path:
                continue
            version_text = version_output(host, path)
            version = _VERSION.search(version_text)
            if version is not None and flavour(version_text) == self.name:
                return Program(path, version[1], _base(host, path))
            others.append(f"{path} is {version_text}")
        rejected = f"; {'; '.join(others)}" if others else ""
        raise DatabaseError(
            f"{host.name} has no {self.name} server{rejected}",
            "install it, or set database.program to the path of mysqld or mariadbd",
        )

    def making(self, host: Host, program: Program, directory: DataDirectory, settings: Settings) -> list[str]:
        """Return the command that makes the data folder. Raises DatabaseError where a program for it is missing."""
        built_in = _options({name: value for name, value in settings.items() if self.is_built_in(name)})
        data = f"--datadir={directory.data}"
        if self.name != "mariadb":
            return [program.path, "--no-defaults", "--initialize-insecure", *_basedir(program), data, *built_in]
        base = program.base or "/usr"
        names = ("mariadb-install-db", "mysql_install_db")
        places = [f"{base}/{folder}" for folder in ("bin", "scripts")]
        installer = first_of(host, [*(f"{folder}/{name}" for folder in places for name in names), *names])
        if not installer:
            raise DatabaseError(f"{host.name} has no mariadb-install-db", "install the rest of the MariaDB server")
        options = ["--skip-test-db", "--skip-name-resolve", "--auth-root-authentication-method=normal"]
        return [installer, "--no-defaults", *_basedir(program), data, *options, *built_in]

    def files(self, directory: DataDirectory, settings: Settings, port: int | None) -> dict[str, str]:  # noqa: ARG002
        """None: everything is an option."""
        return {}

    def running(self, program: Program, directory: DataDirectory, settings: Settings, port: int | None) -> list[str]:
        """The argument list that runs the server without a configuration file and host names; TCP has its own users."""
        network = ["--skip-networking"] if port is None else ["--bind-address=127.0.0.1", f"--port={port}"]
        return [
            program.path, "--no-defaults", *_basedir(program), f"--datadir={directory.data}",
            f"--tmpdir={directory.temporary}",
            f"--socket={self._socket(directory)}", f"--pid-file={directory.sockets()}/mysql.pid", "--skip-name-resolve",
            f"--secure-file-priv={directory.temporary}",  # packages compile one in that need not be there
            "--loose-mysqlx=OFF", *network, *self._log_options(settings),
            *_options({name: value for name, value in settings.items() if name != mysql_variables.LOG_BIN}),
        ]  # fmt: skip

    def _log_options(self, settings: Settings) -> list[str]:
        """The options for the binary log, whose files are in the data directory; its option names them."""
        value = settings.get(mysql_variables.LOG_BIN, "").casefold()
        if value in ("on", "1", "true"):
            return ["--log-bin=binlog"]
        return ["--skip-log-bin"] if value and self.name != "mariadb" else []  # MariaDB has none by default

    def _socket(self, directory: DataDirectory) -> str:
        return f"{directory.sockets()}/mysql.sock"

    def address(self, directory: DataDirectory, port: int | None) -> MysqlServer:  # noqa: ARG002
        """Its socket, and the administrator by whom all is asked."""
        return MysqlServer(socket=self._socket(directory), user="root", database="mysql")

    def let_in(self, ask: Ask, password: str) -> str:
        """Let a user with this password in by the loopback, and nobody else; the user's name."""
        for name, origin in ask("SELECT User, Host FROM mysql.user WHERE Host <> 'localhost'").rows:
            ask(f"DROP USER {mysql_variables.quoted(name or '')}@{mysql_variables.quoted(origin or '')}")
        user = f"'{_LOOPBACK_USER}'@'127.0.0.1'"
        ask(f"CREATE USER {user} IDENTIFIED BY {mysql_variables.quoted(password)}")
        ask(f"GRANT ALL ON *.* TO {user} WITH GRANT OPTION")
        return _LOOPBACK_USER

    def spell(self, value: str) -> str:
        """A value as this server reads it: sizes with a unit as bytes."""
        number = number_of(value) if _SIZE.fullmatch(value.strip()) else None
        return value if number is None else f"{number:.0f}"

    def is_built_in(self, name: str) -> bool:
        """Whether a setting is taken when the data is made, and never again."""
        return name in _BUILT_IN

    def complaints(self, log: Sequence[str]) -> list[str]:
        """Its errors, without the time and without the last one, which only announces the end."""
        errors = [match[1].strip() for line in log if (match := _COMPLAINT.search(line))]
        return [line for line in errors if not line.endswith("Aborting")]

    def variables(self, ask: Ask) -> dict[str, ServerVariable]:
        """All variables, as the server describes them."""
        if self.name == "mariadb":
            return mysql_variables.of_mariadb(ask, self.is_built_in)
        return mysql_variables.of_mysql(ask, self.is_built_in)

    def read(self, ask: Ask, name: str) -> str:
        """A variable's value. Raises QueryRefused where there is none of that name."""
        return mysql_variables.read(ask, name)

    def set_live(self, ask: Ask, variable: ServerVariable, value: str) -> None:
        """Set a variable for all connections made from now on, and for the server. Raises QueryRefused."""
        mysql_variables.set_live(ask, variable, value)

    def counting(self, ask: Ask) -> str:  # noqa: ARG002
        """The statement that reads the counters of SHOW GLOBAL STATUS that metrics use."""
        counter_names = ", ".join(mysql_variables.quoted(name) for name in counters.names("mysql"))
        return f"SHOW GLOBAL STATUS WHERE Variable_name IN ({counter_names})"


def flavour(version_text: str) -> str:
    """Return the kind of server that a version text names: mariadb, percona or mysql."""
    if "MariaDB" in version_text:
        return "mariadb"
    return "percona" if "Percona" in version_text else "mysql"


def _options(settings: Settings) -> list[str]:
    return [f"--{name}={value}" for name, value in settings.items()]


def _base(host: Host, path: str) -> str:
    """Return the base folder of an installation that is not the system's; empty for the system's."""
    parent = PurePosixPath(host.resolve(path)).parent
    base = str(parent.parent)
    elsewhere = parent.name in ("bin", "sbin", "libexec") and base not in ("/", "/usr", "/usr/local")
    return base if elsewhere and "share" in host.names(base) else ""


def _basedir(program: Program) -> list[str]:
    return [f"--basedir={program.base}"] if program.base else []


database_kinds.register("mariadb", MySql("mariadb", ("mariadbd", "mysqld")))
database_kinds.register("mysql", MySql("mysql", ("mysqld",)))
database_kinds.register("percona", MySql("percona", ("mysqld",)))
