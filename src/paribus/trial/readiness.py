"""A server that runs with a trial's settings made ready for its load: its data whole, its cache warm, itself at rest.

In: the server, and what reads all of its tables. Out: how long that took and what the cache has, as measurements.
"""

import time
from collections.abc import Callable

from paribus.databases import Instance
from paribus.databases.server import quiescence, row_counts
from paribus.errors import DataDamaged, Interrupted
from paribus.i18n import N_, StoredMessage, stored_message
from paribus.model import Measurement
from paribus.trial.telemetry import measured_once
from paribus.units import show_duration

_PHASE, _SOURCE = "prepare", "start"  # apart from what is counted under load


def warm(instance: Instance, database: str, read: Callable[[], None]) -> tuple[Measurement, ...]:
    """Have the server's cache hold what it can of a database. Raises EngineError, QueryRefused and Interrupted."""
    began = time.monotonic()
    read()
    with instance.inside(database) as ask:
        instance.state.warm(ask)
        took_s = time.monotonic() - began
        cache = instance.state.cache(ask)
    found = [
        ("server_warm_s", "s", took_s),
        ("server_cache_bytes", "B", cache.size_bytes),
        ("server_data_bytes", "B", cache.data_bytes),
        ("server_cached_bytes", "B", cache.held_bytes),
    ]
    return tuple(measured_once(name, unit, value, _PHASE, _SOURCE) for name, unit, value in found if value is not None)


def come_to_rest(
    instance: Instance, trial: int, stopped: Callable[[], bool]
) -> tuple[tuple[Measurement, ...], StoredMessage | None]:
    """Wait until the server has done what was left to do; what the report must say where patience ended first.

    Raises QueryRefused and Interrupted.
    """
    began = time.monotonic()
    instance.state.calm(instance.query)
    found = quiescence.wait(lambda: instance.state.left(instance.query), stopped)
    if stopped():
        raise Interrupted("stopped before the load")
    measured = (
        measured_once("server_rest_s", "s", time.monotonic() - began, _PHASE, _SOURCE),
        measured_once("server_restless", "", float(len(found.restless)), _PHASE, _SOURCE),
    )
    if not found.restless:
        return measured, None
    said = N_("trial {trial} began before the server had come to rest, after {waited}: {what}")
    what = [stored_message(one) for one in found.restless]
    return measured, stored_message(said, trial=trial, waited=show_duration(found.waited_s), what=what)


def check_rows(instance: Instance, database: str, made: row_counts.Contents) -> StoredMessage | None:
    """Raise DataDamaged where the tables of a database that was put back have not the rows that were made.

    Where counting them takes too long, what the report must say of that.
    """
    if made.took_s > row_counts.LONGEST_S:
        said = N_(
            "the rows of {database} were not counted again when it was put back, which takes {duration}: "
            "the name and size of every file were compared"
        )
        return stored_message(said, database=database, duration=show_duration(made.took_s))
    with instance.inside(database) as ask:
        found = row_counts.count(instance.state, ask)
    if wrong := row_counts.difference(made, found):
        raise DataDamaged(
            f"the data of {database} was put back, and is not what was made: {wrong}",
            "see whether the disk under target.path is sound and has room, then run the plan anew",
        )
    return None
