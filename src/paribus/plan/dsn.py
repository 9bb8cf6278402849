"""Address of a running server as a plan writes it: `mysql://bench@db1:3306/?tls=required`.

Errors never repeat the text, which may hold a password.
"""

from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from paribus.model import FAMILIES, RunningServer

_SCHEMES = {"mysql": "mysql", "mariadb": "mysql", "percona": "mysql", "postgres": "postgres", "postgresql": "postgres"}
_KEYS = ("socket", "tls", "tls_ca")
_TLS = ("off", "required", "verified")
_USUAL_PORT = 5432
_EXAMPLES = "mysql://bench@db1:3306/?tls=required, postgres://bench@localhost/?socket=/run/postgresql"
NOT_IN_A_PLAN = (
    "an address must not hold a password: set it in the environment, in the variable that password_env names; or in "
    "a file that only you can read, at password_file; or in ~/.my.cnf or ~/.pgpass"
)


def parse(dsn: str) -> RunningServer:
    """Returns the server that a dsn names. Raises ValueError, whose message holds no part of the dsn."""
    try:
        parts = urlsplit(dsn)
        port = parts.port
        options = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
    except ValueError:
        if "@" in dsn:  # a password that holds a slash or a bracket may be the cause
            raise ValueError(f"is no address of a server, for example {_EXAMPLES}; {NOT_IN_A_PLAN}") from None
        raise ValueError(f"is no address of a server, for example {_EXAMPLES}") from None
    query = dict(options)
    if parts.password is not None or any(word in key.casefold() for key in query for word in ("pass", "pwd")):
        raise ValueError(NOT_IN_A_PLAN)
    if parts.scheme not in _SCHEMES:
        raise ValueError(f"begins with none of {', '.join(f'{scheme}://' for scheme in _SCHEMES)}")
    if "@" in parts.path or parts.fragment or len(options) > len(query) or not query.keys() <= set(_KEYS):
        raise ValueError(f"has a part that no address has; the host may be followed by ?{'=…&'.join(_KEYS)}=…")
    return _server(parts, port, query)


def _server(parts: SplitResult, port: int | None, query: dict[str, str]) -> RunningServer:
    protocol = _SCHEMES[parts.scheme]
    socket, tls, database = query.get("socket"), query.get("tls", "off"), unquote(parts.path.strip("/"))
    if tls not in _TLS:
        raise ValueError(f"tls is one of {', '.join(_TLS)}")
    if any(path is not None and not path.startswith("/") for path in (socket, query.get("tls_ca"))):
        raise ValueError("socket and tls_ca are full paths on the target")
    if socket is None and not parts.hostname:
        raise ValueError("names neither a host nor a socket: add a host, or ?socket=/run/…")
    if socket is not None and tls != "off":
        raise ValueError("tls is for a host, not for a socket: remove it")
    if "tls_ca" in query and tls != "verified":
        raise ValueError("tls_ca needs tls=verified: add it, or remove tls_ca")
    if protocol == "mysql" and database:
        raise ValueError("names a database: remove it, since Paribus makes databases whose names begin with schema")
    if protocol == "postgres" and socket is not None and ".s.PGSQL." not in socket:
        socket = f"{socket.rstrip('/')}/.s.PGSQL.{port or _USUAL_PORT}"
    return RunningServer(
        protocol="mysql" if protocol == "mysql" else "postgres",
        socket=socket,
        host=None if socket else parts.hostname,
        port=port if socket is None or protocol == "postgres" else None,
        user=unquote(parts.username or ""),
        tls="off" if tls == "off" else "required" if tls == "required" else "verified",
        tls_ca=query.get("tls_ca"),
        database=database or ("information_schema" if protocol == "mysql" else "postgres"),
    )


def refuse_other_kind(dsn: str, kind: str) -> None:
    """Raises ValueError if the dsn names another kind of server than the plan."""
    if kind == "sqlite":
        raise ValueError("SQLite has no server: remove the dsn, and Paribus makes a file below target.path")
    if parse(dsn).protocol != FAMILIES[kind]:
        raise ValueError(f'the dsn names another kind of server than kind = "{kind}": correct one of them')
