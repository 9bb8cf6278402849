"""Facts of a server from its own file, my.cnf or postgresql.conf, where no server runs that could be asked."""

import re

from paribus.databases import ServerVariable, TakesEffect
from paribus.databases.server.variable import ValueType, number_of
from paribus.errors import UsageError
from paribus.lab.audit.server_facts import ServerDescription
from paribus.model import FAMILIES
from paribus.plan.form.server_configuration import ConfigurationLine, read_configuration

_SERVER = re.compile(r"(?P<kind>[a-z]+)(?:[ -](?P<version>\d+(?:\.\d+)*))?")
_SIZE = re.compile(r"\d+\s*[kmgt]i?b?", re.IGNORECASE)
_TIME = re.compile(r"\d+\s*(?:us|ms|s|min|h|d)")
_POSTGRES_UNIT = "its own"
_SWITCHES = ("on", "off", "true", "false", "yes", "no")
_SIZE_NAMES = ("_size", "_packet", "_memory", "_log_capacity")
_OWN_UNITS = ("_buffers", "_mem", "_size", "_cost_limit", "_timeout", "_delay", "_interval", "_after", "_kb", "_time")


def configuration_facts(file: str, server: str) -> ServerDescription:
    """The settings of a file, for a server such as `mariadb-10.11`; without a version fewer rules apply.

    A number of PostgreSQL without a unit is left out where it may have a unit of its own. Raises UsageError.
    """
    match = _SERVER.fullmatch(server.strip().lower())
    if match is None or match["kind"] not in FAMILIES or match["kind"] == "sqlite":
        kinds = ", ".join(kind for kind in FAMILIES if kind != "sqlite")
        raise UsageError(f"--server {server!r} is no server", f"name {kinds}, with its version: mariadb-10.11")
    family = FAMILIES[match["kind"]]
    lines = read_configuration(file, family).settings.values()
    if not lines:
        raise UsageError(f"{file} has no setting of a {match['kind']} server", "name its own file, and its kind")
    variables = [_variable(line, family) for line in lines if not _is_ambiguous(line, family)]
    return ServerDescription(
        match["kind"], match["version"] or "", {each.name: each for each in variables}, from_file=file
    )


def _is_ambiguous(line: ConfigurationLine, family: str) -> bool:
    is_automatic = line.value == "-1"
    return family == "postgres" and (is_automatic or (line.value.isdecimal() and line.name.endswith(_OWN_UNITS)))


def _variable(line: ConfigurationLine, family: str) -> ServerVariable:
    kind = _kind(line, family)
    unit = _POSTGRES_UNIT if family == "postgres" and kind in ("size", "time") else ""  # so that a level keeps its unit
    return ServerVariable(
        name=line.name, value=line.value, default=None, kind=kind, unit=unit, takes_effect=TakesEffect.RESTART
    )


def _kind(line: ConfigurationLine, family: str) -> ValueType:
    """The type of a value, as far as its spelling tells."""
    value = line.value.strip()
    if value.casefold() in _SWITCHES:
        return "bool"
    if family == "postgres" and _TIME.fullmatch(value):
        return "time"
    if _SIZE.fullmatch(value) or (family == "mysql" and value.isdecimal() and line.name.endswith(_SIZE_NAMES)):
        return "size"
    number = number_of(value)
    return "string" if number is None else "int" if number.is_integer() else "float"
