"""Stores opened for the application layer, and the experiments in them."""

import contextlib
from collections.abc import Callable
from pathlib import Path

from sqlalchemy.engine import Engine as Store

from paribus.errors import UsageError
from paribus.model import Experiment, ExperimentState
from paribus.store import read
from paribus.store.copy import Copied, copy
from paribus.store.open import file_of, name_of, open_engine, open_for_reading, store_url

__all__ = ["Store", "file_of", "name_of", "open_for_reading", "open_store", "read", "store_exists", "store_url"]


def open_store(location: str | None, *, create: bool = False) -> Store:
    """Open the store at a file or URL, by default the user's own. Raises StoreError and UsageError."""
    return open_engine(store_url(location), create=create)


def copy_store(source: str, target: str, report: Callable[[str], None]) -> Copied:
    """Copy the finished experiments that the target lacks.

    Raises StoreError, and UsageError where both are the same store.
    """
    if store_url(source) == store_url(target):
        raise UsageError(f"{name_of(store_url(source))} is both stores", "name another one to copy to")
    return copy(open_store(source), open_store(target, create=True), report)


def store_exists(url: str) -> bool:
    """Return False where the store is a file that does not exist."""
    file = file_of(url)
    return file is None or file.exists()


def store_to_name(store: Store) -> str:
    """Return the name of a store that commands must name; empty for the one that they use without `--store`."""
    name = name_of(store.url.render_as_string(hide_password=False))
    with contextlib.suppress(UsageError):  # a user without a folder for data has no default
        return "" if name == name_of(store_url(None)) else name
    return name


def open_experiment(location: str | None, name: str) -> tuple[Store, Experiment]:
    """Open a store and find an experiment by id, start of an id, plan name or `last`. Raises StoreError, UsageError."""
    store = open_store(location)
    return store, read.find(store, name)


def experiment_names() -> list[str]:
    """Ids of the experiments in the default store, the newest first, then plan names. Raises StoreError, UsageError."""
    experiments = read.experiments(open_for_reading(store_url(None)))
    return list(dict.fromkeys([*(each.id for each in experiments), *(each.name for each in experiments)]))


def imported_set_ids() -> list[str]:
    """Ids of the imported sets in the default store. Raises StoreError and UsageError."""
    store = open_for_reading(store_url(None))
    return [each.id for each in read.experiments(store) if each.state is ExperimentState.IMPORTED]


def default_report_path(store: Store, experiment: str) -> Path:
    """Path of the HTML report of an experiment: in the folder `reports` next to the store's file."""
    file = file_of(store.url.render_as_string())
    return (file.parent / "reports" if file else Path()) / f"{experiment}.html"
