"""A server's own configuration: my.cnf with its groups and includes, or postgresql.conf.

In: the path of a file. Out: its settings (the last line of a name counts), and what is left out. Sources: the
manuals of MySQL and MariaDB (option files) and of PostgreSQL (setting parameters).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from paribus.errors import UsageError

_GROUPS = ("mysqld", "server", "mariadb", "mariadbd")
_REMEDY = "correct the name of the file, in a plan database.config"
_MAX_DEPTH = 10  # of includes
_MAX_BYTES = 1 << 20
_POSTGRES_LINE = re.compile(r"(?P<name>[A-Za-z_][\w.]*)(?:\s*=\s*|\s+)(?P<value>'(?:[^']|'')*'|[^\s#']+)\s*(?:#.*)?")
_GROUP = re.compile(r"\[(?P<name>[^\]]*)\].*")
_QUOTED = re.compile(r"""(?P<quote>['"])(?P<value>.*)(?P=quote)\s*(?:#.*)?""")
_OF_SKIP = (
    "name_resolve",
    "networking",
    "grant_tables",
    "slave_start",
    "replica_start",
    "show_database",
    "external_locking",
)
_MYSQL_INCLUDE = re.compile(r"!include(?P<is_folder>dir)?\s+(?P<path>.+)")
_POSTGRES_INCLUDES = ("include", "include_if_exists", "include_dir")
_OWN_TO_A_SERVER = re.compile(  # of a server: files, addresses, keys, replicas, and what lets nobody write
    r"(?:.*_(?:dir|directory|file|path|socket|address|cert|key|crl|crlpath|ca|capath|command|conninfo|slot_name)"
    r"|datadir|basedir|.*tmpdir|.*_dirs|innodb_directories|secure_file_priv|socket|port|user|chroot|hba_file|ident_file|listen_addresses|log_error|log_basename"
    r"|bind_address|skip_networking|skip_grant_tables|skip_slave_start|skip_replica_start|daemonize|tls_version"
    r"|innodb_read_only|read_only|super_read_only|default_transaction_read_only|transaction_read_only|innodb_force_.*"
    r"|max_user_connections|defaults_.*|plugin_load.*|early_plugin_load"
    r"|innodb_data_home_dir|innodb_log_group_home_dir|unix_socket_.*|ssl|ssl_.*|admin_.*|mysqlx_.*|report_.*|wsrep_.*"
    r"|log_destination|logging_collector|log_filename|cluster_name|event_source|recovery_.*|primary_.*|hot_standby"
    r"|synchronous_standby_names|archive_mode|archive_library|init_connect|init_slave|init_replica|require_secure_transport"
    r"|log_bin_index|log_line_prefix|log_timezone|lc_messages|relay_log.*|pid_file|syslog_.*|server_uuid|gtid_.*|password_.*|default_authentication_plugin)"
)


@dataclass(frozen=True, slots=True)
class ConfigurationLine:
    """A setting of a file with its place; `is_loose`: a server that lacks it ignores it."""

    name: str
    value: str
    place: str
    is_loose: bool = False


@dataclass(slots=True)
class ServerConfiguration:
    """The settings of a server's file by name, and the names that are left out since a private server has its own.

    `unread` are the places of lines that are no setting.
    """

    settings: dict[str, ConfigurationLine] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)

    def add(self, line: ConfigurationLine) -> None:
        """Add a line; a later one of the same name takes its place. One without a name could not be read."""
        if not line.name:
            self.unread.append(line.place)
            return
        if _OWN_TO_A_SERVER.fullmatch(line.name):
            if line.name not in self.left_out:
                self.left_out.append(line.name)
            return
        self.settings[line.name] = line


def read_configuration(path: str, family: str) -> ServerConfiguration:
    """Read the file of a server of a family, `mysql` or `postgres`, with all that it includes. Raises UsageError."""
    configuration = ServerConfiguration()
    lines = _postgres if family == "postgres" else _mysql
    for line in lines(Path(path), 0):
        configuration.add(line)
    return configuration


def _text(path: Path, depth: int) -> str:
    if depth > _MAX_DEPTH:
        raise UsageError(f"{path} is included more than {_MAX_DEPTH} deep", "remove the circle of includes")
    try:
        if path.exists() and not path.is_file():
            raise UsageError(f"the configuration {path} is no regular file", _REMEDY)
        with path.open("rb") as file:
            content = file.read(_MAX_BYTES + 1)
        if len(content) > _MAX_BYTES:
            raise UsageError(f"{path} is larger than 1 MiB", "name a server's configuration file")
        return content.decode("utf-8-sig", errors="replace")
    except OSError as error:
        cause = f"cannot read the configuration {path}: {error.strerror}"
        raise UsageError(cause, f"{_REMEDY}, or run as a user who may read it") from error


def _mysql(path: Path, depth: int) -> Iterator[ConfigurationLine]:
    """The lines of the server's groups; those of clients and of single versions are passed over."""
    group = ""
    for number, written in enumerate(_text(path, depth).splitlines(), start=1):
        text = written.strip()
        if not text or text[0] in "#;":
            continue
        if include := _MYSQL_INCLUDE.fullmatch(text):
            other = Path(include["path"].strip())
            for each in _in_folder(other, "*.cnf") if include["is_folder"] else [other]:
                yield from _mysql(each, depth + 1)
        elif match := _GROUP.fullmatch(text):
            group = match["name"].strip()
        elif group in _GROUPS:
            name, equals, value = (part.strip() for part in text.partition("="))
            yield _mysql_line(
                name if equals else _unquoted(name), _unquoted(value) if equals else None, f"{path}:{number}"
            )


def _in_folder(folder: Path, pattern: str) -> list[Path]:
    """The files of a folder that is included. Raises UsageError where there is no such folder, as the server does."""
    if not folder.is_dir():
        raise UsageError(f"cannot read the configuration {folder}: no such folder", "correct the line that includes it")
    return sorted(folder.glob(pattern))


def _mysql_line(written: str, value: str | None, place: str) -> ConfigurationLine:
    """A line of a server's group; `value` is None for a name alone, which switches on."""
    name = written.replace("-", "_").lower()
    is_loose = name.startswith("loose_")
    name = name.removeprefix("loose_")
    if value is None and name.startswith("skip_") and name.removeprefix("skip_") not in _OF_SKIP:
        return ConfigurationLine(name.removeprefix("skip_"), "OFF", place, is_loose)
    if name == "log_bin" and (value is None or value.casefold() not in ("0", "off", "false")):
        value = "ON"  # the name of its files is the private server's
    return ConfigurationLine(name, "ON" if value is None else value, place, is_loose)


def _unquoted(value: str) -> str:
    """A value without the comment after it and without its quotes."""
    quoted = _QUOTED.fullmatch(value)
    return quoted["value"] if quoted else value.partition("#")[0].strip()


def _postgres(path: Path, depth: int) -> Iterator[ConfigurationLine]:
    for number, written in enumerate(_text(path, depth).splitlines(), start=1):
        text = written.strip()
        if not text or text.startswith("#"):
            continue
        match = _POSTGRES_LINE.fullmatch(text)
        if match is None:
            yield ConfigurationLine("", "", f"{path}:{number}")
            continue
        name, value = match["name"].lower(), match["value"]
        value = value[1:-1].replace("''", "'") if value.startswith("'") else value
        if name in _POSTGRES_INCLUDES:
            other = path.parent / value
            for each in _in_folder(other, "*.conf") if name == "include_dir" else [other]:
                if name != "include_if_exists" or each.exists():
                    yield from _postgres(each, depth + 1)
        else:
            yield ConfigurationLine(name, value, f"{path}:{number}")
