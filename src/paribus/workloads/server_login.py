"""Placeholders for the plan's server in the options and arguments of a tool, and the tool's way to the password.

In: texts of a plan, and a server's address. Out: texts with the address filled in, variables of the environment, and
the file that holds the password. The password itself is never part of them: the engine writes it.
"""

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from paribus.engine.protocol import DatabaseServer, ToolLogin
from paribus.model import SERVER_PLACEHOLDERS

_MYSQL_PORT = 3306
_SSL_MODES = {"off": "disable", "required": "require", "verified": "verify-full"}


def placeholders(value: Any) -> list[str]:
    """The placeholders of a server in a value of a plan, each once, in the order of `SERVER_PLACEHOLDERS`."""
    texts = list(_texts(value))
    return [name for name in SERVER_PLACEHOLDERS if any(f"{{{name}}}" in text for text in texts)]


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)


def address_values(server: DatabaseServer, password_file: str) -> dict[str, str]:
    """The value of each placeholder. PostgreSQL's clients take the folder of the socket as the host."""
    socket, host, port = server.socket or "", server.host or "localhost", server.port or _MYSQL_PORT
    if server.driver == "postgres":
        path = PurePosixPath(socket)
        socket = str(path.parent) if server.socket else ""
        host = socket or host
        port = server.port or int(path.suffix.removeprefix(".") or 5432)
    values = (socket, host, str(port), server.user, server.database, password_file)
    return dict(zip(SERVER_PLACEHOLDERS, values, strict=True))


def filled(text: str, values: Mapping[str, object]) -> str:
    """The text with known names in braces replaced; other braces are kept."""
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", str(value))
    return text


def login(server: DatabaseServer, password_file: str, *, form: str = "", variable: str | None = None) -> ToolLogin:
    """The file with the password; `form` is the server's usual one where none is named."""
    usual = "option_file" if server.driver == "mysql" else "pass_file"
    return ToolLogin.model_validate(
        {"database": server, "path": password_file, "form": form or usual, "variable": variable}
    )


def environment(server: DatabaseServer, password_file: str) -> dict[str, str]:
    """The variables by which PostgreSQL's client library finds the password file and its encryption."""
    if server.driver != "postgres":
        return {}
    authority = {"PGSSLROOTCERT": server.tls_ca} if server.tls_ca else {}
    return {"PGPASSFILE": password_file, "PGSSLMODE": _SSL_MODES[server.tls], **authority}
