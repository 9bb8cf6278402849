"""Opening of stores: URL, checks, and schema upgrade to this release."""

import contextlib
import os
import re
import shutil
import sqlite3
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.engine import URL, Connection, Engine, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, OperationalError, SQLAlchemyError

from paribus.errors import StoreError, StoreLocked, UsageError
from paribus.files import distrust, distrust_entry, make_folder
from paribus.i18n import N_, stored_message
from paribus.store import schema
from paribus.store.lock_holders import lock_holders
from paribus.store.migrations import HEAD
from paribus.units import show_size
from paribus.user_folders import data_folder

_POSTGRES, _POSTGRES_DRIVER = ("postgres", "postgresql"), "postgresql+psycopg"
_SECRET = ("password", "sslpassword")
_HEADER = b"SQLite format 3\0"
_UPGRADE_LOCK = 0x7061726962  # of PostgreSQL's advisory locks: "parib"
_EXAMPLES = "name a file, or a URL such as sqlite:///paribus.db or postgresql://dba@db1/paribus"
_PAUSE_S = 1.0  # between two attempts to reach a server
OnLocked = Callable[[StoreLocked, int], bool]
"""Whether to try again where a program has locked the store, or its server is gone; with the number of attempts."""
_COMPANION_SUFFIXES = ("journal", "wal", "shm")  # of the files that SQLite creates next to a store
_MIN_FREE_BYTES = 2**20
_LOCK_TIMEOUT_S = 10.0
_READING_LOCK_TIMEOUT_S = 1.0
_DAMAGED = stored_message(
    "move it aside and keep it (sqlite3's .recover may save what it holds), or name another with --store"
)


def default_file() -> Path:
    """Return the file of the default store of this user, which may not exist. Raises UsageError."""
    return data_folder() / "paribus.db"


def store_url(name: str | None) -> str:
    """Return the URL of the store: `name`, else $PARIBUS_STORE, else the default; a path becomes a URL.

    The default is /var/lib/paribus/paribus.db for root, else paribus/paribus.db in the user's data folder.
    Raises UsageError.
    """
    text = name or os.environ.get("PARIBUS_STORE") or str(default_file())
    file = str(Path(text).expanduser().absolute())  # characters such as ? and # must be escaped
    url = text if "://" in text else URL.create("sqlite", database=file).render_as_string()
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError) as error:
        raise UsageError(f"{_without_password(text)} is not a store", _EXAMPLES) from error
    if parsed.get_backend_name() == "sqlite" and parsed.database in (None, "", ":memory:"):
        raise UsageError(f"{text} keeps nothing: it is a database in memory", _EXAMPLES)
    if parsed.drivername in _POSTGRES:
        return parsed.set(drivername=_POSTGRES_DRIVER).render_as_string(hide_password=False)
    return url


def _without_password(url: str) -> str:
    """Return the URL with user and password masked."""
    return re.sub(r"://[^@/]*@", "://…@", url)


def file_of(url: str) -> Path | None:
    """Return the file of an SQLite store, None for other databases."""
    parsed = make_url(url)
    return Path(parsed.database) if parsed.get_backend_name() == "sqlite" and parsed.database else None


def name_of(url: str) -> str:
    """Return the displayed name of a store: its file, or its URL without the password."""
    return str(file_of(url) or shown_url(make_url(url)))


def shown_url(url: URL) -> str:
    """Return the URL of a store as a person writes it, with the password masked."""
    name = url.get_backend_name() if url.drivername == _POSTGRES_DRIVER else url.drivername
    masked = url.set(drivername=name, query={key: "***" if key in _SECRET else text for key, text in url.query.items()})
    return masked.render_as_string(hide_password=True).replace("%2F", "/").replace("%2A", "*")


def _prepare_sqlite(connection: sqlite3.Connection, _record: object) -> None:
    """Set WAL mode, so that reports can read during an experiment; full sync makes trials survive a power cut."""
    for pragma in (f"busy_timeout = {_LOCK_TIMEOUT_S * 1000:.0f}", "synchronous = FULL", "foreign_keys = ON"):
        connection.execute(f"PRAGMA {pragma}")
    deadline = time.monotonic() + _LOCK_TIMEOUT_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:  # SQLite ignores busy_timeout for this pragma
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return


@contextlib.contextmanager
def failing_as_store_error(store_name: str) -> Iterator[None]:
    """Convert database errors to StoreErrors that name the store."""
    try:
        yield
    except DBAPIError as error:
        cause = str(error.orig)
        if "not a database" in cause or "malformed" in cause:
            message = stored_message("the store {store} is damaged: {cause}", store=store_name, cause=cause)
            raise StoreError(message, _DAMAGED) from error
        if "full" in cause:
            raise StoreError(f"the store {store_name} cannot grow: {cause}", "free some space, then resume") from error
        if "locked" in cause:
            if holders := lock_holders(_with_companions(Path(store_name.removeprefix("sqlite:///")))):
                cause = f"{cause} ({holders})"
            message = stored_message(
                "the store {store} is locked by another program: {cause}", store=store_name, cause=cause
            )
            raise StoreLocked(message, stored_message("try again later")) from error
        if isinstance(error, OperationalError) and not isinstance(error.orig, sqlite3.Error):
            unusable = N_("cannot use the store {store}: {cause}")
            todo = stored_message("start its server, or correct the user, the database or the password")
            raise StoreLocked(stored_message(unusable, store=store_name, cause=cause.strip()), todo) from error
        message = stored_message("the store {store} failed: {cause}", store=store_name, cause=cause)
        raise StoreError(message, stored_message("name another with --store")) from error
    except SQLAlchemyError as error:
        raise StoreError(
            stored_message("the store {store} failed: {cause}", store=store_name, cause=str(error))
        ) from error


def waiting(store: Engine, on_locked: OnLocked) -> Engine:
    """Return the store with connections that wait for a lock, or for a server, as long as `on_locked` says."""
    return store.execution_options(on_locked=on_locked)


@contextlib.contextmanager
def connected(store: Engine) -> Iterator[Connection]:
    """Connect for reading. Raises StoreError, and StoreLocked where a server does not answer."""
    with failing_as_store_error(shown_url(store.url)), contextlib.ExitStack() as stack:
        yield enter(store, stack, store.connect)


def enter(
    store: Engine, stack: contextlib.ExitStack, connect: Callable[[], contextlib.AbstractContextManager[Connection]]
) -> Connection:
    """Connect until the stack ends, with the lock of a file where that is a transaction. Raises StoreLocked.

    It waits for the lock, so that no statement can find the file locked, or for a server that does not answer.
    """
    on_locked: OnLocked = store.get_execution_options().get("on_locked", lambda _error, _attempts: False)
    attempt = 0
    while True:
        attempt += 1
        try:
            with failing_as_store_error(shown_url(store.url)), contextlib.ExitStack() as entered:
                connection = entered.enter_context(connect())
                if connection.in_transaction() and connection.dialect.name == "sqlite":
                    connection.exec_driver_sql("BEGIN IMMEDIATE")
                stack.push(entered.pop_all())
                return connection
        except StoreLocked as error:
            if not on_locked(error, attempt):
                raise
            if store.dialect.name != "sqlite":  # which has waited for the lock already
                time.sleep(_PAUSE_S)


def _refuse_unsafe_file(file: Path) -> None:
    """Raise StoreError if another user could replace the store or its companion files, which SQLite opens by name."""
    try:
        reason = distrust(file.parent)
        reason = reason or next(filter(None, map(distrust_entry, _with_companions(file))), "")
    except OSError as error:
        raise StoreError(f"cannot examine the store {file}: {error.strerror}", "name another with --store") from error
    if reason:
        raise StoreError(
            f"the store {file} is not safe from other users: {reason}", "name one in a folder of your own with --store"
        )


def _with_companions(file: Path) -> list[Path]:
    return [file, *(file.with_name(f"{file.name}-{suffix}") for suffix in _COMPANION_SUFFIXES)]


def _make_private(file: Path) -> None:
    """Create the file, or take it from other users: whoever can read a store of SQLite can also lock it.

    Raises StoreError.
    """
    try:
        with contextlib.suppress(FileExistsError):
            os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except OSError as error:
        raise StoreError(f"cannot make the store {file}: {error.strerror}", "name another with --store") from error
    _refuse_other_content(file)
    for path in _with_companions(file):
        with contextlib.suppress(OSError):  # it is not there, or belongs to another trusted user
            if stat.S_IMODE(path.stat().st_mode) & 0o077:
                path.chmod(0o600)


def _refuse_other_content(file: Path) -> None:
    """Raise StoreError for a file of another program, which must stay as it is. An empty one is a new store."""
    try:
        with file.open("rb") as content:
            beginning = content.read(len(_HEADER))
    except OSError as error:
        raise StoreError(f"cannot read the store {file}: {error.strerror}", "name another with --store") from error
    if beginning and beginning != _HEADER:
        message = stored_message(
            "the store {store} is damaged: {cause}", store=str(file), cause="file is not a database"
        )
        raise StoreError(message, _DAMAGED)


def _refuse_full_disk(file: Path) -> None:
    """Raise StoreError if the disk is too full for SQLite's log.

    SQLite maps the shared-memory file: a page without disk space would end the program with SIGBUS, not an error.
    """
    free = shutil.disk_usage(file.parent).free
    if free < _MIN_FREE_BYTES:
        raise StoreError(
            f"the store {file} cannot grow: its disk has {show_size(free)} free", "free some space, or use --store"
        )


def _make_engine(url: str, **options: type[sa.Pool]) -> Engine:
    try:
        engine = sa.create_engine(url, pool_pre_ping=True, **options)  # a server may have been started again
    except ImportError as error:
        needed = "install the driver: pip install 'paribus[postgresql]'" if _POSTGRES_DRIVER in url else _EXAMPLES
        raise UsageError(f"{_without_password(url)} needs a driver that is not installed: {error}", needed) from error
    except (ArgumentError, NoSuchModuleError) as error:
        raise UsageError(f"{_without_password(url)} is not a store: {error}", _EXAMPLES) from error
    if engine.dialect.name == "sqlite":
        sa.event.listen(engine, "connect", _prepare_sqlite)
    return engine


def _bring_up_to_date(connection: Connection, store_name: str) -> None:
    """Create the tables, or upgrade them to this release with Alembic, under an exclusive lock."""
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("BEGIN IMMEDIATE")
    else:
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_UPGRADE_LOCK)))
    version = _version(connection, store_name)  # read again under the lock: another process may have upgraded it
    if version is None:
        schema.metadata.create_all(connection)
        connection.exec_driver_sql("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY)")
        connection.execute(sa.text("INSERT INTO alembic_version VALUES (:head)"), {"head": HEAD})
    elif version != HEAD:
        _upgrade(connection)


def _upgrade(connection: Connection) -> None:
    from alembic import command  # slow to import, and rarely needed
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def open_engine(url: str, *, create: bool) -> Engine:
    """Connect to the store and bring its tables to this release.

    Raises StoreError for a store that is missing (unless `create`), damaged, unwritable, or newer.
    """
    file = file_of(url)
    store_name = name_of(url)
    if file is not None and not file.exists():
        if not create:
            raise _missing(store_name)
        try:
            make_folder(file.parent)
        except OSError as error:
            raise StoreError(f"cannot make {file.parent}: {error.strerror}", "name another with --store") from error
    if file is not None:
        _refuse_unsafe_file(file)
        _refuse_full_disk(file)
        _make_private(file)
    engine = _make_engine(url)
    with failing_as_store_error(store_name), engine.begin() as connection:
        if _version(connection, store_name) != HEAD:
            _bring_up_to_date(connection, store_name)
    if file is not None:
        _refuse_replacement(engine, file)
    return engine


def _refuse_replacement(engine: Engine, file: Path) -> None:
    """Make each later transaction raise StoreError if the file was deleted or replaced: its writes would be lost."""
    opened = file.stat()

    def check(_connection: Connection) -> None:
        try:
            current = file.stat()
        except OSError:
            current = None
        if current is None or (current.st_dev, current.st_ino) != (opened.st_dev, opened.st_ino):
            raise StoreError(
                f"the store {file} was {'replaced' if current else 'deleted'} while open, and its content is lost",
                "protect its folder from other users; restore a copy, or begin a new store",
            )

    sa.event.listen(engine, "begin", check)


def open_for_reading(url: str) -> Engine:
    """Connect to a store read-only while others write it; connections are not pooled.

    Raises StoreError for a store that is missing, locked, damaged, or not of this release.
    """
    file, store_name = file_of(url), name_of(url)
    if file is None:
        engine = _make_engine(url, poolclass=sa.NullPool)
    elif not file.exists():
        raise _missing(store_name)
    else:
        _refuse_unsafe_file(file)
        address = f"{file.absolute().as_uri()}?mode=ro"
        engine = sa.create_engine(
            url,
            poolclass=sa.NullPool,
            creator=lambda: sqlite3.connect(address, uri=True, timeout=_READING_LOCK_TIMEOUT_S),
        )
    with failing_as_store_error(store_name), engine.connect() as connection:
        if _version(connection, store_name) != HEAD:
            message = stored_message("the store {store} was written by an older Paribus", store=store_name)
            raise StoreError(message, stored_message("upgrade it with: paribus status"))
    return engine


def _missing(store_name: str) -> StoreError:
    message = stored_message("there is no store at {store}", store=store_name)
    return StoreError(message, stored_message("run a plan first, or name the store with --store"))


def _version(connection: Connection, store_name: str) -> str | None:
    """Return the schema version of a store, None if it has no tables. Raises StoreError for a newer one."""
    if not sa.inspect(connection).has_table("alembic_version"):
        return None
    version: str | None = connection.scalar(sa.text("SELECT version_num FROM alembic_version"))
    if version is not None and version > HEAD:
        pattern = N_("the store {store} was written by a newer Paribus (schema {version}, this version reads {known})")
        message = stored_message(pattern, store=store_name, version=version, known=HEAD)
        raise StoreError(message, stored_message("upgrade Paribus, or name another store with --store"))
    return version
