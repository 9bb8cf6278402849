"""A server's variables as rows of the catalogue, so that a plan is checked against the server's own description."""

from paribus.databases.server import variable_needs
from paribus.databases.server.variable import ServerVariable, TakesEffect, number_of
from paribus.model import Knob, Offer, Value

KIND = "variable"
_TYPES = {"bool": "switch", "enum": "enumerated", "int": "number", "size": "number", "float": "number"}
_DURABILITY = {
    "innodb_flush_log_at_trx_commit", "innodb_doublewrite", "innodb_flush_method", "sync_binlog", "fsync",
    "synchronous_commit", "full_page_writes",
}  # fmt: skip
_AS_THE_SERVER_READS_IT = "raw"
# A new load makes new connections, which a session's variable needs. Data that must be recreated is made once for each
# level, so that a change of level is a restart.
_TAKES_EFFECT = {
    TakesEffect.LIVE: "live",
    TakesEffect.RELOAD: "live",
    TakesEffect.SESSION: "session",
    TakesEffect.RESTART: "restart",
    TakesEffect.REBUILD: "restart",
}


def offer(family: str, server: str, variable: ServerVariable) -> Offer:
    """A variable as a knob `<family>.<name>`, with its value now; `server`: its name and version, for people.

    The name of the server itself, such as mariadb, stands for its family too.
    """
    kind = server.partition(" ")[0]
    takes_effect = variable.takes_effect
    knob = Knob(
        name=f"{family}.{variable.name}",
        kind=KIND,
        addresses=(variable.name,),
        aliases=(f"{kind}.{variable.name}",) if kind != family else (),
        type=_type(variable),
        summary=f"A variable of {server}",
        documentation=f"Type in {server}: {variable.kind}. Takes effect: {takes_effect}."
        + (f" Default: {variable.default}." if variable.default is not None else ""),
        unit=variable.unit,
        allowed=tuple(variable.allowed) if variable.kind == "enum" else (),
        minimum=_bound(variable, variable.minimum),
        maximum=_bound(variable, variable.maximum),
        takes_effect=_TAKES_EFFECT.get(takes_effect, "restart"),
        danger="durability" if variable.name in _DURABILITY else "",
        needs=variable_needs.of(family, variable.name),
    )
    never = takes_effect is TakesEffect.NEVER
    return Offer(
        knob=knob,
        current=_plain(variable),
        allowed=knob.allowed,
        refused=f"{variable.name} of {server} cannot be set" if never else "",
        todo="take it out of the plan" if never else "",
    )


def _bound(variable: ServerVariable, bound: float | None) -> int | None:
    return int(bound) if bound is not None and _type(variable) == "number" else None


def _type(variable: ServerVariable) -> str:
    """The type of its levels; what has a unit or levels that are not told is left to the server."""
    has_own_form = variable.unit or (variable.kind == "enum" and not variable.allowed)
    return _AS_THE_SERVER_READS_IT if has_own_form else _TYPES.get(variable.kind, _AS_THE_SERVER_READS_IT)


def _plain(variable: ServerVariable) -> Value:
    """The value now, in the form of a level."""
    if variable.kind == "bool":
        return "ON" if variable.is_same("on", variable.value) else "OFF"
    if _type(variable) == "number":
        number = number_of(variable.value)
        if number is not None:
            return int(number) if number.is_integer() else number
    return variable.value
