"""Opening a store: where it is, whether it can be read, and bringing it up to this release."""

import os
import re
import shutil
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.engine import URL, Connection, Engine, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, SQLAlchemyError

from paribus.errors import StoreError, UsageError
from paribus.files import distrust, distrust_entry
from paribus.i18n import N_, stored_message
from paribus.store import schema
from paribus.store.migrations import HEAD
from paribus.units import show_size

_BESIDE = ("journal", "wal", "shm")  # what SQLite has beside a store
_LEAST_FREE_BYTES = 2**20
_PATIENCE_S = 10.0
_READING_PATIENCE_S = 1.0
_DAMAGED = stored_message(
    "move it aside and keep it (sqlite3's .recover may save what it holds), or name another with --store"
)


def store_url(named: str | None) -> str:
    """The URL of the store: as named, else $PARIBUS_STORE, else the default; a file's path is made a URL.

    The default is /var/lib/paribus/paribus.db for root, else paribus/paribus.db in the user's data folder.
    Raises UsageError.
    """
    data = Path(os.environ.get("XDG_DATA_HOME") or "~/.local/share") / "paribus"
    default = Path("/var/lib/paribus") if os.geteuid() == 0 else data
    text = named or os.environ.get("PARIBUS_STORE") or str(default / "paribus.db")
    file = str(Path(text).expanduser().absolute())  # which may have what means something in a URL
    url = text if "://" in text else URL.create("sqlite", database=file).render_as_string()
    try:
        make_url(url)
    except (ArgumentError, ValueError) as error:
        raise UsageError(
            f"{_shown(text)} is no store", "use a file's path, or a URL such as sqlite:///paribus.db"
        ) from error
    return url


def _shown(url: str) -> str:
    """A URL without what may be a password."""
    return re.sub(r"://[^@/]*@", "://…@", url)


def file_of(url: str) -> Path | None:
    """The file of an SQLite store."""
    parsed = make_url(url)
    return Path(parsed.database) if parsed.get_backend_name() == "sqlite" and parsed.database else None


def name_of(url: str) -> str:
    """A store as it is called before people: its file, or its URL without a password."""
    return str(file_of(url) or make_url(url).render_as_string(hide_password=True))


def _prepare_sqlite(connection: sqlite3.Connection, _record: object) -> None:
    """Write-ahead log, so that reports are read while an experiment writes; every trial survives a power cut."""
    for pragma in (f"busy_timeout = {_PATIENCE_S * 1000:.0f}", "synchronous = FULL", "foreign_keys = ON"):
        connection.execute(f"PRAGMA {pragma}")
    given_up = time.monotonic() + _PATIENCE_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:  # here alone SQLite does not wait for another who opens it first
            if "locked" not in str(error) or time.monotonic() > given_up:
                raise
            time.sleep(0.01)
        else:
            return


@contextmanager
def failing_as_store_error(shown: str) -> Iterator[None]:
    """Turn what the database says into a StoreError that names the store."""
    try:
        yield
    except DBAPIError as error:
        cause = str(error.orig)
        if "not a database" in cause or "malformed" in cause:
            said = stored_message("the store {store} is damaged: {cause}", store=shown, cause=cause)
            raise StoreError(said, _DAMAGED) from error
        if "full" in cause:
            raise StoreError(f"the store {shown} cannot grow: {cause}", "free some space, then resume") from error
        if "locked" in cause:
            said = stored_message("the store {store} is locked by another program: {cause}", store=shown, cause=cause)
            raise StoreError(said, stored_message("try again later")) from error
        said = stored_message("the store {store} failed: {cause}", store=shown, cause=cause)
        raise StoreError(said, stored_message("name another with --store")) from error
    except SQLAlchemyError as error:
        raise StoreError(stored_message("the store {store} failed: {cause}", store=shown, cause=str(error))) from error


def _refuse_stranger(file: Path) -> None:
    """Raise StoreError where another user could have SQLite write to a file of ours: it opens the store, and what it
    puts beside it, by name."""
    try:
        why = distrust(file.parent)
        beside = [file, *(file.with_name(f"{file.name}-{suffix}") for suffix in _BESIDE)]
        why = why or next((found for one in beside if (found := distrust_entry(one))), "")
    except OSError as error:
        raise StoreError(f"cannot look at the store {file}: {error.strerror}", "name another with --store") from error
    if why:
        raise StoreError(
            f"the store {file} is not safe from other users: {why}", "name one in a folder of your own with --store"
        )


def _refuse_full_disk(file: Path) -> None:
    """Raise StoreError where SQLite could not even open its log: it maps a file into memory, and a page that
    finds no room on the disk would end the program with SIGBUS instead of an error."""
    free = shutil.disk_usage(file.parent).free
    if free < _LEAST_FREE_BYTES:
        raise StoreError(
            f"the store {file} cannot grow: its disk has {show_size(free)} free", "free some space, or use --store"
        )


def _make_engine(url: str, **options: type[sa.Pool]) -> Engine:
    try:
        engine = sa.create_engine(url, **options)
    except (ArgumentError, NoSuchModuleError, ImportError) as error:
        raise UsageError(
            f"{_shown(url)} is no store: {error}", "use a file's path, or a URL such as sqlite:///paribus.db"
        ) from error
    if engine.dialect.name == "sqlite":
        sa.event.listen(engine, "connect", _prepare_sqlite)
    return engine


def _bring_up_to_date(connection: Connection, shown: str) -> None:
    """Make the tables where there are none, else bring them to this release with Alembic; others wait meanwhile."""
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("BEGIN IMMEDIATE")
    found = _version(connection, shown)  # again: another may just have done it
    if found is None:
        schema.metadata.create_all(connection)
        connection.exec_driver_sql("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY)")
        connection.execute(sa.text("INSERT INTO alembic_version VALUES (:head)"), {"head": HEAD})
    elif found != HEAD:
        _upgrade(connection)


def _upgrade(connection: Connection) -> None:
    from alembic import command  # slow to import, and rarely needed
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def open_engine(url: str, *, create: bool) -> Engine:
    """Connect to the store and see that its tables are of this release.

    Raises StoreError for a store that is missing (unless `create`), damaged, unwritable, or newer.
    """
    file = file_of(url)
    shown = name_of(url)
    if file is not None and not file.exists():
        if not create:
            raise _missing(shown)
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"cannot make {file.parent}: {error.strerror}", "name another with --store") from error
    if file is not None:
        _refuse_stranger(file)
        _refuse_full_disk(file)
    engine = _make_engine(url)
    with failing_as_store_error(shown), engine.begin() as connection:
        if _version(connection, shown) != HEAD:
            _bring_up_to_date(connection, shown)
    if file is not None:
        _refuse_replacement(engine, file)
    return engine


def _refuse_replacement(engine: Engine, file: Path) -> None:
    """From now on raise StoreError where the file is gone or another: what SQLite writes to it then, nobody finds."""
    opened = file.stat()

    def check(_connection: Connection) -> None:
        try:
            found = file.stat()
        except OSError:
            found = None
        if found is None or (found.st_dev, found.st_ino) != (opened.st_dev, opened.st_ino):
            raise StoreError(
                f"the store {file} was {'replaced' if found else 'deleted'} meanwhile, and what was in it is lost",
                "keep others out of its folder; put a copy back, or begin anew",
            )

    sa.event.listen(engine, "begin", check)


def open_for_reading(url: str) -> Engine:
    """Connect to a store that others write, without a way to change it; no connection outlives its reading.

    Raises StoreError for a store that is missing, locked, damaged, or not of this release.
    """
    file, shown = file_of(url), name_of(url)
    if file is None:
        engine = _make_engine(url, poolclass=sa.NullPool)
    elif not file.exists():
        raise _missing(shown)
    else:
        _refuse_stranger(file)
        address = f"{file.absolute().as_uri()}?mode=ro"
        engine = sa.create_engine(
            url, poolclass=sa.NullPool, creator=lambda: sqlite3.connect(address, uri=True, timeout=_READING_PATIENCE_S)
        )
    with failing_as_store_error(shown), engine.connect() as connection:
        if _version(connection, shown) != HEAD:
            said = stored_message("the store {store} is of an older Paribus", store=shown)
            raise StoreError(said, stored_message("bring it up to this one: paribus status"))
    return engine


def _missing(shown: str) -> StoreError:
    said = stored_message("there is no store at {store}", store=shown)
    return StoreError(said, stored_message("run a plan first, or name the store with --store"))


def _version(connection: Connection, shown: str) -> str | None:
    """The release of a store's tables, None where it has none. Raises StoreError where they are newer than this."""
    if not sa.inspect(connection).has_table("alembic_version"):
        return None
    version: str | None = connection.scalar(sa.text("SELECT version_num FROM alembic_version"))
    if version is not None and version > HEAD:
        newer = N_("the store {store} was written by a newer Paribus (its tables are {version}, known here: {known})")
        said = stored_message(newer, store=shown, version=version, known=HEAD)
        raise StoreError(said, stored_message("upgrade Paribus, or name another store with --store"))
    return version
