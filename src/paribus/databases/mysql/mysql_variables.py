"""Variables of MariaDB and MySQL: reading and setting them."""

import re
import time
from collections.abc import Callable, Sequence

from paribus.databases.server.kind import Ask
from paribus.databases.server.variable import ServerVariable, TakesEffect, ValueType, number_of
from paribus.errors import QueryRefused

LOG_BIN = "log_bin"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")
_SIZE_NAMES = ("_size", "_packet", "_memory", "_log_capacity")
_LARGE = 2.0**30  # what may be so large and is called a size counts bytes
_READ_ONLY = "1238"
_RESIZE_S = 600.0

_MARIADB = """SELECT VARIABLE_NAME, GLOBAL_VALUE, DEFAULT_VALUE, VARIABLE_SCOPE, VARIABLE_TYPE, NUMERIC_MIN_VALUE,
NUMERIC_MAX_VALUE, ENUM_VALUE_LIST, READ_ONLY, COMMAND_LINE_ARGUMENT
FROM information_schema.SYSTEM_VARIABLES"""
_MYSQL = """SELECT v.VARIABLE_NAME, v.VARIABLE_VALUE, i.MIN_VALUE, i.MAX_VALUE
FROM performance_schema.global_variables v JOIN performance_schema.variables_info i USING (VARIABLE_NAME)"""

IsBuiltIn = Callable[[str], bool]


def quoted(text: str) -> str:
    """A text as a literal."""
    return "'" + text.replace("\\", "\\\\").replace("'", "''") + "'"


def of_mariadb(ask: Ask, is_built_in: IsBuiltIn) -> dict[str, ServerVariable]:
    """All variables of a MariaDB server."""
    variables = {}
    for row in ask(_MARIADB).rows:
        name, value, default, scope, type_name, low, high, levels, read_only, option = row
        assert name is not None
        name = name.lower()
        minimum, maximum = _bound(low), _bound(high)
        variables[name] = ServerVariable(
            name=name,
            value=value or "",
            default=default,
            kind=_mariadb_type(name, type_name or "", maximum),
            takes_effect=_when(name, scope or "", read_only == "YES", option is not None, is_built_in),
            minimum=minimum,
            maximum=maximum,
            allowed=tuple((levels or "").split(",")) if levels else (),
        )
    return variables


def _when(name: str, scope: str, read_only: bool, is_option: bool, is_built_in: IsBuiltIn) -> TakesEffect:
    if is_built_in(name):
        return TakesEffect.REBUILD
    if name == LOG_BIN:  # MariaDB lists no option for it
        return TakesEffect.RESTART
    if read_only:
        return TakesEffect.RESTART if is_option else TakesEffect.NEVER
    if scope == "SESSION ONLY":
        return TakesEffect.NEVER
    return TakesEffect.SESSION if scope == "SESSION" else TakesEffect.LIVE


def _mariadb_type(name: str, type_name: str, maximum: float | None) -> ValueType:
    match type_name.split(maxsplit=1)[0] if type_name else "":
        case "BOOLEAN":
            return "bool"
        case "ENUM":
            return "enum"
        case "SET" | "FLAGSET":
            return "set"
        case "DOUBLE":
            return "float"
        case "INT" | "BIGINT":
            return "size" if name.endswith(_SIZE_NAMES) and (maximum or 0) >= _LARGE else "int"
        case _:
            return "string"


def of_mysql(ask: Ask, is_built_in: IsBuiltIn) -> dict[str, ServerVariable]:
    """All variables of a MySQL server. It does not say which can be set; that is probed without setting any."""
    variables = {}
    for name, text, low, high in ask(_MYSQL).rows:
        assert name is not None
        value = text or ""
        minimum, maximum = _bound(low), _bound(high)
        if minimum == maximum == 0.0:
            minimum = maximum = None
        value_type = _type_of_value(name, value, maximum)
        variables[name] = ServerVariable(
            name=name,
            value=value,
            default=None,
            kind=value_type,
            takes_effect=TakesEffect.REBUILD if is_built_in(name) else _probed(ask, name),
            minimum=minimum,
            maximum=maximum,
        )
    return variables


def _type_of_value(name: str, value: str, maximum: float | None) -> ValueType:
    if value in ("ON", "OFF"):
        return "bool"
    if number_of(value) is None or maximum is None:
        return "string"
    if "." in value:
        return "float"
    return "size" if name.endswith(_SIZE_NAMES) and maximum >= _LARGE else "int"


def _probed(ask: Ask, name: str) -> TakesEffect:
    refused = refusal(ask, name)
    return TakesEffect.RESTART if refused is not None and refused.code == _READ_ONLY else TakesEffect.LIVE


def refusal(ask: Ask, name: str) -> QueryRefused | None:
    """Return the error that refuses this user a variable, or None; nothing is set, since `version` fails with it."""
    try:
        ask(f"SET GLOBAL {name} = @@GLOBAL.{name}, GLOBAL version = ''")
    except QueryRefused as error:
        of_the_other = error.code == _READ_ONLY and "'version'" in error.words and name != "version"
        return None if of_the_other else error
    return None


def _bound(text: str | None) -> float | None:
    return None if text is None else number_of(text)


def read(ask: Ask, name: str) -> str:
    """A variable's value as the server shows it. Raises QueryRefused where there is none of that name."""
    rows: Sequence[Sequence[str | None]] = []
    if _NAME.fullmatch(name):
        rows = ask(f"SHOW GLOBAL VARIABLES WHERE Variable_name = '{name}'").rows
    if not rows:
        raise QueryRefused("missing", "", f"there is no variable {name}")
    return rows[0][1] or ""


def statement(variable: ServerVariable, value: str) -> str:
    """The statement that sets a variable of the whole server."""
    number = number_of(value) if variable.kind in ("int", "size", "float") else None
    literal = quoted(value)
    if number is not None:
        exact = variable.kind == "float" or value.strip().isdecimal()  # 64 bits are more than a float holds
        literal = value.strip() if exact else f"{number:.0f}"
    elif value.upper() == "DEFAULT":
        literal = "DEFAULT"
    return f"SET GLOBAL {variable.name} = {literal}"


def set_live(ask: Ask, variable: ServerVariable, value: str) -> None:
    """Set a variable of the whole server. Raises QueryRefused with its words."""
    ask(statement(variable, value))
    await_effect(ask, variable.name)


def await_effect(ask: Ask, name: str) -> None:
    """Wait until a variable is in force: the server resizes its buffer pool in the background, and reports the end."""
    if name != "innodb_buffer_pool_size":
        return
    deadline = time.monotonic() + _RESIZE_S
    while time.monotonic() < deadline:
        rows = ask("SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_resize_status'").rows
        status = (rows[0][1] or "") if rows else ""
        if not status or status.startswith(("Completed", "Failed")) or "not" in status.casefold():
            return
        time.sleep(0.05)
