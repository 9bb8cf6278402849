"""A server's variables as rows of the catalogue, so that a plan is checked against what the server itself says."""

from paribus.databases.server.variable import TakesEffect, Variable, number_of
from paribus.model import Knob, Offer, Value

KIND = "variable"
_TYPES = {"bool": "switch", "enum": "enumerated", "int": "number", "size": "number", "float": "number"}
_DURABILITY = {
    "innodb_flush_log_at_trx_commit", "innodb_doublewrite", "innodb_flush_method", "sync_binlog", "fsync",
    "synchronous_commit", "full_page_writes", "commit_delay",
}  # fmt: skip
_AS_THE_SERVER_READS_IT = "raw"
# A new load connects anew, which is what a session's variable asks for; data that must be made anew is made for each
# level once, so that going to another level is a restart.
_TAKES_EFFECT = {
    TakesEffect.LIVE: "live",
    TakesEffect.RELOAD: "live",
    TakesEffect.SESSION: "session",
    TakesEffect.RESTART: "restart",
    TakesEffect.REBUILD: "restart",
}


def offer(family: str, server: str, variable: Variable) -> Offer:
    """A variable as a knob `<family>.<name>`, with its value now; `server` is its name and version, for people."""
    takes_effect = variable.takes_effect
    knob = Knob(
        name=f"{family}.{variable.name}",
        kind=KIND,
        addresses=(variable.name,),
        type=_type(variable),
        summary=f"A variable of {server}",
        documentation=f"{server} calls it a {variable.kind} that takes effect: {takes_effect}."
        + (f" Its default is {variable.default}." if variable.default is not None else ""),
        unit=variable.unit,
        allowed=tuple(variable.allowed) if variable.kind == "enum" else (),
        minimum=_bound(variable, variable.minimum),
        maximum=_bound(variable, variable.maximum),
        takes_effect=_TAKES_EFFECT.get(takes_effect, "restart"),
        danger="durability" if variable.name in _DURABILITY else "",
    )
    never = takes_effect is TakesEffect.NEVER
    return Offer(
        knob=knob,
        current=_plain(variable),
        allowed=knob.allowed,
        refused=f"{variable.name} of {server} cannot be set" if never else "",
        todo="take it out of the plan" if never else "",
    )


def _bound(variable: Variable, bound: float | None) -> int | None:
    return int(bound) if bound is not None and _type(variable) == "number" else None


def _type(variable: Variable) -> str:
    """What its levels look like; a number that has a unit of the server's own is left to the server."""
    return _AS_THE_SERVER_READS_IT if variable.unit else _TYPES.get(variable.kind, _AS_THE_SERVER_READS_IT)


def _plain(variable: Variable) -> Value:
    """The value now, in the form that a level has."""
    if variable.kind == "bool":
        return "ON" if variable.is_same("on", variable.value) else "OFF"
    if _type(variable) == "number":
        number = number_of(variable.value)
        if number is not None:
            return int(number) if number.is_integer() else number
    return variable.value
