"""Saving of trials: where the store is locked, a trial is in the spool until it can be saved.

In: a trial and its results. Out: the trial in the store, or in a file and an error. Called by the walk.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from sqlalchemy.engine import Engine as Store

from paribus.errors import StoreError, StoreLocked
from paribus.model import Change, Measurement, Trial
from paribus.store import spool, write
from paribus.store.write import OnLocked

_MOST_ATTEMPTS = 60  # of ten seconds each


def wait_for_store(report: Callable[[str], None], stopped: Callable[[], bool]) -> OnLocked:
    """Return a function that waits for a locked store for some minutes, or until `stopped`."""

    def on_locked(error: StoreLocked, attempts: int) -> bool:
        if attempts == 1:
            report(f"{error.message}; waiting for it")
        return attempts < _MOST_ATTEMPTS and not stopped()

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

    def keep(error: StoreLocked, attempts: int) -> bool:
        if not files:
            files.append(spool.put(store, write.trial_rows(trial, changes, measurements, conditions)))
        return on_locked(error, attempts)

    try:
        write.save_trial(write.waiting(store, keep), trial, changes, measurements, conditions)
    except StoreLocked as error:
        raise StoreError(
            f"{error.message}; trial {trial.order} of {trial.experiment} is kept in {files[0]}",
            f"end that program, then continue with: paribus resume {trial.experiment}",
        ) from error
    for path in files:
        spool.remove(path)
