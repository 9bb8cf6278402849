"""Spool: measured trials that a locked store could not take, a file each beside it, until it can."""

import base64
import contextlib
import json
import os
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Engine

from paribus.errors import StoreError
from paribus.files import make_folder
from paribus.model import TrialState
from paribus.store import schema
from paribus.store.message_column import messages_from_json, messages_to_json
from paribus.store.open import connected, default_file, file_of, store_url
from paribus.store.write import TrialRows, save_rows

_BYTES = ("points", "histogram")
_OPEN = (TrialState.PLANNED, TrialState.APPLYING, TrialState.SETTLING, TrialState.MEASURING)


def put(store: Engine, rows: TrialRows) -> Path:
    """Write a trial to a file, durably. Raises StoreError."""
    path = _folder(store) / f"{rows.trial['experiment']}-{rows.trial['order']}.json"
    document = {
        "trial": rows.trial | {"invalid_because": messages_to_json(rows.trial["invalid_because"])},
        "changes": rows.changes,
        "measurements": [_encoded(row) for row in rows.measurements],
        "conditions": rows.conditions,
    }
    try:
        make_folder(path.parent)
        path.parent.chmod(0o700)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(document, file)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise StoreError(f"cannot write {rows.name} to {path}: {error.strerror}", "free some space") from error
    return path


def deliver(store: Engine, experiment: str) -> None:
    """Save the trials of an experiment that are in files. Raises StoreError."""
    for path in sorted(_folder(store).glob(f"{experiment}-*.json")):
        try:
            rows = _rows(json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, LookupError, TypeError):
            continue  # it was cut off while it was written: the trial is measured again
        if _lacks(store, rows):
            save_rows(store, rows)
        remove(path)


def remove(path: Path) -> None:
    """Remove the file of a trial that the store has, and the folder with the last one."""
    path.unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # others are in it, or it is gone already
        path.parent.rmdir()


def discard(store: Engine, experiment: str) -> None:
    """Remove the files of an experiment that is deleted."""
    for path in _folder(store).glob(f"{experiment}-*.json"):
        with contextlib.suppress(OSError):  # without its experiment it is never read
            remove(path)


def _folder(store: Engine) -> Path:
    """Return the folder next to the store's file, or for a database server next to the default store."""
    if store.dialect.name == "sqlite":
        file = Path(store.url.database or "")
    else:  # $PARIBUS_STORE may name the server itself
        file = file_of(store_url(None)) or default_file()
    return file.with_name(f"{file.name}.spool")


def _lacks(store: Engine, rows: TrialRows) -> bool:
    """Whether the trial is still to be made, as far as the store knows."""
    table = schema.trial
    key = (table.c.experiment == rows.trial["experiment"], table.c.order == rows.trial["order"])
    with connected(store) as connection:
        return connection.scalar(sa.select(table.c.state).where(*key)) in _OPEN


def _encoded(row: dict[str, Any]) -> dict[str, Any]:
    binary = {name: base64.b64encode(row[name]).decode() for name in _BYTES if row[name] is not None}
    return row | binary


def _rows(document: dict[str, Any]) -> TrialRows:
    """Return the rows of a file. Raises ValueError, LookupError and TypeError."""
    trial = document["trial"]
    measurements = [
        row | {name: base64.b64decode(row[name]) for name in _BYTES if row[name] is not None}
        for row in document["measurements"]
    ]
    return TrialRows(
        trial | {"invalid_because": messages_from_json(trial["invalid_because"])},
        document["changes"],
        measurements,
        document["conditions"],
    )
