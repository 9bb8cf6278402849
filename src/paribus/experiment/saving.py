"""Saving of trials: where the store is locked, a trial is in the spool until it can be saved.

In: a trial and its results. Out: the trial in the store, or in a file and an error. Called by the walk.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from sqlalchemy.engine import Engine as Store

from paribus.errors import StoreError, StoreLocked
from paribus.model import Change, Measurement, Trial
from paribus.store import spool, write
from paribus.store.open import OnLocked, waiting

_PATIENCE_S = 600.0


def wait_for_store(report: Callable[[str], None], stopped: Callable[[], bool]) -> OnLocked:
    """Return a function that waits for a store, locked or without its server, for ten minutes or until `stopped`."""
    begun_at = 0.0

    def on_locked(error: StoreLocked, attempts: int) -> bool:
        nonlocal begun_at
        if attempts == 1:
            begun_at = time.monotonic()
            report(f"{error.message}; waiting for it")
        return time.monotonic() < begun_at + _PATIENCE_S and not stopped()

    return on_locked


def save(
    store: Store,
    trial: Trial,
    changes: Sequence[Change],
    measurements: Sequence[Measurement],
    conditions: Mapping[str, str],
    on_locked: OnLocked,
) -> None:
    """Save a trial. Raises StoreError, which names the file of a trial that the store could not take."""
    files: list[Path] = []
    has_given_up = False

    def keep_file() -> None:
        if not files:
            files.append(spool.put(store, write.trial_rows(trial, changes, measurements, conditions)))

    def keep(error: StoreLocked, attempts: int) -> bool:
        nonlocal has_given_up
        keep_file()
        has_given_up = not on_locked(error, attempts)
        return not has_given_up

    patient = waiting(store, keep)
    try:
        try:
            write.save_trial(patient, trial, changes, measurements, conditions)
        except StoreLocked:
            if has_given_up:
                raise
            keep_file()  # its server was lost within the transaction, which may have been committed or not
            spool.deliver(patient, trial.experiment)
    except StoreLocked as error:
        raise StoreError(
            f"{error.message}; trial {trial.order} of {trial.experiment} is kept in {files[0]}",
            f"end that program, then continue with: paribus resume {trial.experiment}",
        ) from error
    for path in files:
        spool.remove(path)
