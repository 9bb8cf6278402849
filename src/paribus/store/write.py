"""Writing to the store. Each function is one transaction, on disk when it returns; all raise StoreError."""

import zlib
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, fields
from typing import Any

import sqlalchemy as sa
from pydantic import TypeAdapter
from sqlalchemy.engine import Connection, Engine

from paribus.errors import StoreError
from paribus.i18n import StoredMessage
from paribus.model import (
    Calibration,
    Change,
    Experiment,
    ExperimentState,
    Look,
    Measurement,
    Plan,
    Trial,
    TrialState,
)
from paribus.store import schema
from paribus.store.open import failing_as_store_error
from paribus.units import LoadLevel


@contextmanager
def transaction(store: Engine) -> Iterator[Connection]:
    """All that is written within it, or nothing."""
    with failing_as_store_error(store.url.render_as_string(hide_password=True)), store.begin() as connection:
        yield connection


def _load(level: LoadLevel) -> dict[str, Any]:
    return {"load": level.n, "load_unit": level.unit}


_TRIED = tuple(field.name for field in fields(Trial))


def trial_row(trial: Trial) -> dict[str, Any]:
    """A trial as its table has it."""
    return {  # not by asdict, which copies every value
        **{name: getattr(trial, name) for name in _TRIED},
        **_load(trial.load),
        "settings": dict(trial.settings),
        "baseline": int(trial.baseline),
        "invalid_because": list(trial.invalid_because),
    }


_QUICK = 1  # of zlib: points become hardly smaller by more work
_MEASURED = tuple(field.name for field in fields(Measurement))


def measurement_row(measurement: Measurement) -> dict[str, Any]:
    """A measurement as its table has it, but for the trial that it is of."""
    points = zlib.compress(array("d", measurement.points).tobytes(), _QUICK) if measurement.points else None
    return {  # not by asdict, which copies every point
        **{name: getattr(measurement, name) for name in _MEASURED},
        "points": points,
        "histogram": measurement.histogram or None,
    }


def begin(store: Engine, experiment: Experiment, plan: Plan, trials: Sequence[Trial]) -> None:
    """Keep an experiment, its checked plan and every trial of it, before anything is touched."""
    row = asdict(experiment) | {"notes": list(experiment.notes), "plan": checked(plan)}
    with transaction(store) as connection:
        connection.execute(sa.insert(schema.experiment), row)
        if trials:
            connection.execute(sa.insert(schema.trial), [trial_row(trial) for trial in trials])


def set_state(store: Engine, experiment: str, state: ExperimentState, ended: float | None = None) -> None:
    """Keep where an experiment is."""
    table = schema.experiment
    with transaction(store) as connection:
        connection.execute(sa.update(table).where(table.c.id == experiment).values(state=state, ended=ended))


def add_note(store: Engine, experiment: str, note: StoredMessage) -> None:
    """Keep something a reader of the report must know, once."""
    table = schema.experiment
    with transaction(store) as connection:
        notes = connection.scalar(sa.select(table.c.notes).where(table.c.id == experiment)) or []
        if note not in notes:
            connection.execute(sa.update(table).where(table.c.id == experiment).values(notes=[*notes, note]))


def save_trial(
    store: Engine,
    trial: Trial,
    changes: Sequence[Change] = (),
    measurements: Sequence[Measurement] = (),
    conditions: Mapping[str, str] = {},
) -> None:
    """Keep where a trial is, and what came of it; `conditions` are the facts behind its fingerprint."""
    table = schema.trial
    row = trial_row(trial)
    own = {"experiment": trial.experiment, "trial": trial.order}
    with transaction(store) as connection:
        kept = connection.execute(
            sa.update(table)
            .where(table.c.experiment == trial.experiment, table.c.order == trial.order)
            .where(table.c.state != TrialState.SUPERSEDED)
            .values({name: row[name] for name in ("state", "started", "applied", "ended", "invalid_because")})
            .values({name: row[name] for name in ("failure", "failure_message", "fingerprint")})
        )
        if kept.rowcount != 1:
            raise StoreError(
                f"trial {trial.order} of {trial.experiment} was rerun by someone else meanwhile",
                "look at: paribus status",
            )
        if conditions and trial.fingerprint:
            _keep_conditions(connection, trial.fingerprint, conditions)
        if changes:
            connection.execute(sa.insert(schema.change), [asdict(change) | own for change in changes])
        if measurements:
            rows = [measurement_row(m) | own for m in measurements]
            connection.execute(sa.insert(schema.measurement), rows)


def _keep_conditions(connection: Connection, digest: str, facts: Mapping[str, str]) -> None:
    """Once for all trials that have them."""
    table = schema.conditions
    if connection.scalar(sa.select(table.c.digest).where(table.c.digest == digest)) is None:
        connection.execute(sa.insert(table).values(digest=digest, facts=dict(facts)))


def add_drive_counters(store: Engine, experiment: str, counters: Mapping[str, int], at: float) -> None:
    """Keep what the drives had counted of their errors at a time."""
    rows = [{"experiment": experiment, "name": name, "value": value, "at": at} for name, value in counters.items()]
    if rows:
        with transaction(store) as connection:
            connection.execute(sa.insert(schema.drive_counter), rows)


def pin_device(store: Engine, experiment: str, path: str, identity: Mapping[str, Any]) -> None:
    """Keep which device a path of the plan leads to, in place of what was kept before."""
    table = schema.device
    with transaction(store) as connection:
        connection.execute(sa.delete(table).where(table.c.experiment == experiment, table.c.path == path))
        connection.execute(sa.insert(table).values(experiment=experiment, path=path, identity=dict(identity)))


def rerun(store: Engine, old: Sequence[Trial], new: Sequence[Trial]) -> None:
    """Put new trials in the place of a block's old ones, in one step: no arm is lost, none counts twice."""
    table = schema.trial
    with transaction(store) as connection:
        for trial in old:
            connection.execute(
                sa.update(table)
                .where(table.c.experiment == trial.experiment, table.c.order == trial.order)
                .values(state=TrialState.SUPERSEDED)
            )
        connection.execute(sa.insert(table), [trial_row(trial) for trial in new])


def set_plan(store: Engine, experiment: str, plan: Plan) -> None:
    """Keep the plan as it is now followed, before anything is compared by it."""
    table = schema.experiment
    with transaction(store) as connection:
        connection.execute(sa.update(table).where(table.c.id == experiment).values(plan=checked(plan)))


def checked(plan: Plan) -> object:
    """A plan as it is kept."""
    return TypeAdapter(Plan).dump_python(plan, mode="json")


def shorten(store: Engine, experiment: str, rounds: int, schedule_hash: str) -> None:
    """Take back the planned trials of later rounds, none of which was touched, in one step."""
    table, own = schema.trial, schema.experiment
    with transaction(store) as connection:
        connection.execute(
            sa.delete(table).where(
                table.c.experiment == experiment, table.c.round > rounds, table.c.state == TrialState.PLANNED
            )
        )
        connection.execute(
            sa.update(own).where(own.c.id == experiment).values(rounds=rounds, schedule_hash=schedule_hash)
        )


def add_trials(store: Engine, experiment: str, trials: Sequence[Trial], schedule_hash: str) -> None:
    """Plan more trials, after all that there are, in one step."""
    own = schema.experiment
    with transaction(store) as connection:
        connection.execute(sa.insert(schema.trial), [trial_row(trial) for trial in trials])
        connection.execute(sa.update(own).where(own.c.id == experiment).values(schedule_hash=schedule_hash))


def add_looks(store: Engine, experiment: str, looks: Sequence[Look], spared: Sequence[int] = ()) -> None:
    """Keep what was decided on, and which planned trials are not needed for that, in one step.

    A look can be neither repeated nor changed.
    """
    table = schema.trial
    with transaction(store) as connection:
        if looks:
            connection.execute(sa.insert(schema.look), [asdict(k) | {"experiment": experiment} for k in looks])
        connection.execute(
            sa.update(table)
            .where(table.c.experiment == experiment, table.c.order.in_(spared), table.c.state == TrialState.PLANNED)
            .values(state=TrialState.SPARED)
        )


def add_calibrations(store: Engine, calibrations: Sequence[Calibration]) -> None:
    """Keep the noise of a host, for planning what comes later."""
    if calibrations:
        with transaction(store) as connection:
            connection.execute(sa.insert(schema.calibration), [asdict(c) | _load(c.load) for c in calibrations])
