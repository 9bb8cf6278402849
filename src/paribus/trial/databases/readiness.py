"""Readiness of a server for a trial's load: its data whole, its cache warm, its background work done.

In: the server, and a function that reads all of its tables. Out: the time this took and the cached bytes, as
measurements.
"""

import time
from collections.abc import Callable

from paribus.databases import Instance
from paribus.databases.server import quiescence, row_counts
from paribus.errors import DataDamaged, Interrupted
from paribus.i18n import N_, StoredMessage, stored_message
from paribus.model import Measurement
from paribus.units import show_duration

_PHASE, _SOURCE = "prepare", "start"  # distinct from measurements under load


def warm(instance: Instance, database: str, read: Callable[[], None]) -> tuple[Measurement, ...]:
    """Fill the server's cache from a database, as far as it fits. Raises EngineError, QueryRefused and Interrupted."""
    began = time.monotonic()
    read()
    with instance.inside(database) as ask:
        instance.state.warm(ask)
        took_s = time.monotonic() - began
        cache = instance.state.cache(ask)
    values = [
        ("server_warm_s", "s", took_s),
        ("server_cache_bytes", "B", cache.size_bytes),
        ("server_data_bytes", "B", cache.data_bytes),
        ("server_cached_bytes", "B", cache.held_bytes),
    ]
    return tuple(
        Measurement.of_value(name, unit, value, _PHASE, _SOURCE) for name, unit, value in values if value is not None
    )


def wait_until_idle(
    instance: Instance, trial: int, stopped: Callable[[], bool]
) -> tuple[tuple[Measurement, ...], StoredMessage | None]:
    """Wait until the server's background work is done; a note where the patience ended first.

    Raises QueryRefused and Interrupted.
    """
    began = time.monotonic()
    instance.state.flush(instance.query)
    outcome = quiescence.wait(lambda: instance.state.pending_work(instance.query), stopped)
    if stopped():
        raise Interrupted("stopped before the load")
    measured = (
        Measurement.of_value("server_rest_s", "s", time.monotonic() - began, _PHASE, _SOURCE),
        Measurement.of_value("server_restless", "", float(len(outcome.busy)), _PHASE, _SOURCE),
    )
    if not outcome.busy:
        return measured, None
    text = N_("trial {trial} started before the server was idle, after waiting {waited}: {what}")
    remaining = [stored_message(name) for name in outcome.busy]
    return measured, stored_message(text, trial=trial, waited=show_duration(outcome.waited_s), what=remaining)


def check_rows(instance: Instance, database: str, expected: row_counts.RowCounts) -> StoredMessage | None:
    """Raise DataDamaged where the tables of a restored database do not have the rows that were made.

    Returns a note for the report where counting them takes too long.
    """
    if expected.took_s > row_counts.LONGEST_S:
        text = N_(
            "the rows of {database} were not recounted after it was restored, which takes {duration}:"
            " the name and size of every file were compared"
        )
        return stored_message(text, database=database, duration=show_duration(expected.took_s))
    with instance.inside(database) as ask:
        counted = row_counts.count(instance.state, ask)
    if difference := row_counts.difference(expected, counted):
        raise DataDamaged(
            f"the data of {database} was restored, and differs from the created data: {difference}",
            "check the disk under target.path for errors and free space, then run the plan again",
        )
    return None
