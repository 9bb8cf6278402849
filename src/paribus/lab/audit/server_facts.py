"""Facts of a running database server for an audit: its kind, its version and its variables; nothing is set."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from paribus.audit import Lack, Scalar, SettingInForce
from paribus.audit.facts import BYTES, MILLISECONDS
from paribus.databases import LiveServer, ServerVariable, TakesEffect, offer
from paribus.databases.server import removed_variables
from paribus.databases.server.variable import number_of
from paribus.errors import UsageError
from paribus.hosts.transport import Host
from paribus.lab.machine.connection import LOCAL
from paribus.lab.machine.server_inspection import with_credential
from paribus.model import FAMILIES, Offer
from paribus.plan import dsn
from paribus.plan.database import DatabaseTable

_KINDS = {"mysql": "mariadb", "postgres": "postgres"}  # by protocol, the kind that is asked for its identity


@dataclass(frozen=True, slots=True)
class ServerDescription:
    """A server as it describes itself: kind, version and variables; empty without a server.

    `from_file`: the file that these are from, which leaves others at their defaults.
    """

    kind: str = ""
    version: str = ""
    variables: dict[str, ServerVariable] = field(default_factory=dict)
    from_file: str = ""

    @property
    def name(self) -> str:
        """Kind and version."""
        return f"{self.kind} {self.version}".strip()

    def facts(self) -> dict[str, Scalar]:
        """Kind and version as rules name them; without a server there is no version."""
        facts: dict[str, Scalar] = {"server": self.kind}
        return facts | ({"version": self.version} if self.version else {})

    def settings(self) -> dict[str, SettingInForce]:
        """All variables by the names that rules use."""
        family = FAMILIES.get(self.kind, "")
        return {f"{family}.{name}": _in_force(variable) for name, variable in self.variables.items()}

    def offers(self) -> dict[str, Offer]:
        """The variables as knobs, but for those that need the data to be made anew."""
        family = FAMILIES.get(self.kind, "")
        settable = [each for each in self.variables.values() if each.takes_effect is not TakesEffect.REBUILD]
        offers = (offer(family, self.name, variable) for variable in settable)
        return {each.knob.name: each for each in offers}

    def lacks(self, names: Iterable[str]) -> dict[str, Lack]:
        """The variables among these names that the server does not have."""
        family = FAMILIES.get(self.kind)
        missing = [
            name for name in names if name.partition(".")[0] == family and name.partition(".")[2] not in self.variables
        ]
        return {name: self._lack(name.partition(".")[2]) for name in missing}

    def _lack(self, variable: str) -> Lack:
        """Return the reason for no value: the server does not have it, or the file does not set it."""
        explained = removed_variables.explain(self.kind, self.version, variable) if self.version else ""
        if self.from_file and not explained:
            return Lack(why=f"{self.from_file} does not set it, or not with a unit")
        return Lack(why=explained or f"{self.name} has no {variable}", is_absent=True)


def server_facts(host: Host, engine: str, address: str) -> ServerDescription:
    """Ask the server at an address without a password. Raises UsageError, DatabaseError and QueryRefused."""
    live = running_server(host, engine, address)
    try:
        kind, version = live.identity()
        return ServerDescription(kind, version, live.variables())
    finally:
        live.close()


def running_server(host: Host, engine: str, address: str) -> LiveServer:
    """Return the server at an address, of the kind that it states. Raises UsageError, DatabaseError, QueryRefused."""
    try:
        protocol = dsn.parse(address).protocol
    except ValueError as error:
        raise UsageError(f"--database {error}", "see docs/how-to/audit.md") from error
    table = DatabaseTable(kind="mariadb" if protocol == "mysql" else "postgres", dsn=address)
    server = with_credential(host, table, address, local=host.name == LOCAL)
    unidentified = LiveServer(host, engine, _KINDS[protocol], server)
    try:
        kind, _ = unidentified.identity()
    finally:
        unidentified.close()
    return LiveServer(host, engine, kind, server)


def _in_force(variable: ServerVariable) -> SettingInForce:
    number = number_of(variable.value, variable.unit, time=variable.kind == "time")
    match variable.kind:
        case "int" | "float" | "size" | "time" if number is not None:
            scaled = number * 1000 if variable.kind == "time" else number
            unit = {"size": BYTES, "time": MILLISECONDS}.get(variable.kind, "")
            return SettingInForce(value=int(scaled) if scaled.is_integer() else scaled, unit=unit)
        case _:
            return SettingInForce(value=variable.value)
