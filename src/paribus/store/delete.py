"""Deletion of experiments from the store, and the size of its files."""

from collections.abc import Mapping

import sqlalchemy as sa
from sqlalchemy.engine import Engine

from paribus.errors import StoreError
from paribus.model import ExperimentState
from paribus.store import schema, spool
from paribus.store.open import failing_as_store_error, file_of, shown_url
from paribus.store.write import transaction


def delete(store: Engine, states: Mapping[str, ExperimentState]) -> None:
    """Delete experiments, given the state of each, with all rows that belong to them, in one transaction.

    Also removes their trials in the spool. Calibrations belong to the machine and stay. Raises StoreError, and deletes
    nothing, if an experiment is missing or has another state.
    """
    experiments = list(states)
    with transaction(store) as connection:
        table = schema.experiment
        query = sa.select(table.c.id, table.c.state).where(table.c.id.in_(experiments)).with_for_update()
        rows = connection.execute(query)
        current = {name: ExperimentState(state) for name, state in rows}
        for name, state in states.items():
            if current.get(name) is not state:
                raise StoreError(
                    f"nothing was deleted: {name} was {state}, and is {current.get(name, 'gone')} now",
                    "see: paribus status",
                )
        for each in reversed(schema.metadata.sorted_tables):  # those that refer to others first
            if "experiment" in each.c:
                connection.execute(sa.delete(each).where(each.c.experiment.in_(experiments)))
        connection.execute(sa.delete(table).where(table.c.id.in_(experiments)))
        used = sa.select(schema.trial.c.fingerprint)  # trials of several experiments share conditions
        connection.execute(sa.delete(schema.conditions).where(schema.conditions.c.digest.not_in(used)))
    for name in experiments:
        spool.discard(store, name)


def size_bytes(store: Engine) -> int | None:
    """Return the size of an SQLite store with its write-ahead log; None for other databases."""
    file = file_of(store.url.render_as_string(hide_password=False))
    if file is None:
        return None
    files = (file, file.with_name(f"{file.name}-wal"))
    return sum(path.stat().st_size for path in files if path.exists())


def compact(store: Engine) -> None:
    """Return the free space of an SQLite store to its file system. Raises StoreError, and StoreLocked while in use."""
    if store.dialect.name != "sqlite":
        return  # other servers reuse the space of deleted rows by themselves
    with failing_as_store_error(shown_url(store.url)), store.connect() as connection:
        autocommitting = connection.execution_options(isolation_level="AUTOCOMMIT")
        autocommitting.exec_driver_sql("VACUUM")
        autocommitting.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").close()
