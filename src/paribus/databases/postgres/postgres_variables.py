"""Variables of PostgreSQL: reading and setting them."""

import time
from collections.abc import Callable

from paribus.databases.server.kind import Ask
from paribus.databases.server.variable import ServerVariable, TakesEffect, ValueType, number_of
from paribus.errors import QueryRefused

_VARIABLES = """SELECT name, current_setting(name), boot_val, unit, vartype, min_val, max_val,
array_to_string(enumvals, ','), context FROM pg_settings"""
# `on` is one of several levels, and may be shown as another: wal_compression as pglz. Set for this statement alone.
_SHOWN_AS = """SELECT name, level, set_config(name, level, true) FROM pg_settings, unnest(enumvals) AS level
WHERE vartype = 'enum' AND context IN ('user', 'superuser') AND 'on' = ANY(enumvals)"""
_WHEN = {
    "user": TakesEffect.LIVE,
    "superuser": TakesEffect.LIVE,
    "sighup": TakesEffect.RELOAD,
    "backend": TakesEffect.SESSION,
    "superuser-backend": TakesEffect.SESSION,
    "postmaster": TakesEffect.RESTART,
    "internal": TakesEffect.NEVER,
}
_TYPES: dict[str, ValueType] = {"bool": "bool", "integer": "int", "real": "float", "enum": "enum", "string": "string"}
_TIME_UNITS = ("us", "ms", "s", "min", "h", "d")
# Whose values are lists of names, each quoted by itself.
_LISTS = {
    "search_path",
    "temp_tablespaces",
    "unix_socket_directories",
    "shared_preload_libraries",
    "session_preload_libraries",
    "local_preload_libraries",
}
_RELOAD_S = 30.0
_RELOAD = "SELECT pg_reload_conf()"

IsBuiltIn = Callable[[str], bool]


def quoted(text: str) -> str:
    """A text as a literal, in SQL and in the configuration alike."""
    return "'" + text.replace("'", "''") + "'"


def variables(ask: Ask, is_built_in: IsBuiltIn) -> dict[str, ServerVariable]:
    """All variables."""
    variables_by_name = {}
    synonyms = _synonyms(ask)
    for name, value, default, unit, type_name, low, high, levels, context in ask(_VARIABLES).rows:
        assert name is not None
        kind = _value_type(type_name or "", unit or "")
        variables_by_name[name] = ServerVariable(
            name=name,
            value=value or "",
            default=default,
            kind=kind,
            takes_effect=TakesEffect.REBUILD if is_built_in(name) else _WHEN[context or ""],
            unit=unit or "",
            minimum=_bound(low, unit, kind),
            maximum=_bound(high, unit, kind),
            allowed=tuple((levels or "").split(",")) if levels else (),
            synonyms=synonyms.get(name, {}),
        )
    return variables_by_name


def _synonyms(ask: Ask) -> dict[str, dict[str, str]]:
    """By variable, the levels that the server shows as another; none where it does not let us ask."""
    synonyms: dict[str, dict[str, str]] = {}
    try:
        rows = ask(_SHOWN_AS).rows
    except QueryRefused:
        return {}
    for name, level, shown_as in rows:
        if name and level and shown_as and level != shown_as:
            synonyms.setdefault(name, {})[level] = shown_as
    return synonyms


def _value_type(type_name: str, unit: str) -> ValueType:
    if unit:
        return "time" if unit in _TIME_UNITS else "size"
    return _TYPES[type_name]


def _bound(text: str | None, unit: str | None, kind: ValueType) -> float | None:
    return None if text is None else number_of(text, unit or "", time=kind == "time")


def read(ask: Ask, name: str) -> str:
    """A variable's value as the server shows it. Raises QueryRefused where there is none of that name."""
    rows = ask(f"SELECT current_setting({quoted(name)})").rows
    return rows[0][0] or ""


def statements(name: str, value: str | None) -> tuple[str, ...]:
    """The statements that set a variable for all connections; None resets it."""
    if value is None:
        return f'ALTER SYSTEM RESET "{name}"', _RELOAD
    items = [item.strip().strip('"') for item in value.split(",")] if name in _LISTS else [value]
    return f'ALTER SYSTEM SET "{name}" = {", ".join(quoted(item) for item in items)}', _RELOAD


def set_live(ask: Ask, variable: ServerVariable, value: str) -> None:
    """Put a value in force for all connections. Raises QueryRefused with the server's message."""
    before = loaded(ask)
    for statement in statements(variable.name, value):
        ask(statement)
    await_reload(ask, before)


def await_reload(ask: Ask, before: str | None) -> None:
    """Wait until this connection has read the configuration again. Raises QueryRefused where it does not."""
    deadline = time.monotonic() + _RELOAD_S
    while loaded(ask) == before:
        if time.monotonic() > deadline:
            raise QueryRefused("refused", "", f"the configuration was not read again within {_RELOAD_S:.0f} s")
        time.sleep(0.005)


def loaded(ask: Ask) -> str | None:
    """The time at which this connection has read the configuration."""
    return ask("SELECT pg_conf_load_time()").rows[0][0]
