"""Writing to the store. Each function is one transaction, durable when it returns; all raise StoreError."""

import zlib
from array import array
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, fields
from typing import Any

import sqlalchemy as sa
from pydantic import TypeAdapter
from sqlalchemy.dialects import postgresql, sqlite
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
from paribus.store.open import enter, failing_as_store_error, shown_url
from paribus.units import LoadLevel


@contextmanager
def transaction(store: Engine) -> Iterator[Connection]:
    """Run the block as one transaction. Raises StoreError, and StoreLocked before the block."""
    with failing_as_store_error(shown_url(store.url)), ExitStack() as stack:
        yield enter(store, stack, store.begin)


def _load(level: LoadLevel) -> dict[str, Any]:
    return {"load": level.n, "load_unit": level.unit}


_TRIAL_FIELDS = tuple(field.name for field in fields(Trial))


def trial_row(trial: Trial) -> dict[str, Any]:
    """Return the row of a trial."""
    return {  # asdict would copy every value
        **{name: getattr(trial, name) for name in _TRIAL_FIELDS},
        **_load(trial.load),
        "settings": dict(trial.settings),
        "baseline": int(trial.baseline),
        "invalid_because": list(trial.invalid_because),
    }


_ZLIB_LEVEL = 1  # higher levels hardly shrink points further
_MEASUREMENT_FIELDS = tuple(field.name for field in fields(Measurement))


def measurement_row(measurement: Measurement) -> dict[str, Any]:
    """Return the row of a measurement, without the columns that name its trial."""
    points = zlib.compress(array("d", measurement.points).tobytes(), _ZLIB_LEVEL) if measurement.points else None
    return {  # asdict would copy every point
        **{name: getattr(measurement, name) for name in _MEASUREMENT_FIELDS},
        "points": points,
        "histogram": measurement.histogram or None,
    }


def begin(store: Engine, experiment: Experiment, plan: Plan, trials: Sequence[Trial]) -> None:
    """Insert an experiment, its checked plan and all its trials, before the target is changed."""
    row = asdict(experiment) | {"notes": list(experiment.notes), "plan": plan_json(plan)}
    with transaction(store) as connection:
        connection.execute(sa.insert(schema.experiment), row)
        if trials:
            connection.execute(sa.insert(schema.trial), [trial_row(trial) for trial in trials])


def set_state(store: Engine, experiment: str, state: ExperimentState, ended: float | None = None) -> None:
    """Update the state of an experiment."""
    table = schema.experiment
    with transaction(store) as connection:
        connection.execute(sa.update(table).where(table.c.id == experiment).values(state=state, ended=ended))


def add_note(store: Engine, experiment: str, note: StoredMessage) -> None:
    """Add a note for the reader of the report, unless the experiment has it."""
    table = schema.experiment
    with transaction(store) as connection:
        notes = connection.scalar(sa.select(table.c.notes).where(table.c.id == experiment).with_for_update()) or []
        if note not in notes:
            connection.execute(sa.update(table).where(table.c.id == experiment).values(notes=[*notes, note]))


@dataclass(frozen=True, slots=True)
class TrialRows:
    """The rows of a trial and its results; `conditions` are the facts behind its fingerprint."""

    trial: dict[str, Any]
    changes: list[dict[str, Any]]
    measurements: list[dict[str, Any]]
    conditions: dict[str, str]

    @property
    def name(self) -> str:
        """The name of the trial in messages."""
        return f"trial {self.trial['order']} of {self.trial['experiment']}"


def trial_rows(
    trial: Trial,
    changes: Sequence[Change] = (),
    measurements: Sequence[Measurement] = (),
    conditions: Mapping[str, str] = {},
) -> TrialRows:
    """Return the rows of a trial."""
    key = {"experiment": trial.experiment, "trial": trial.order}
    return TrialRows(
        trial_row(trial),
        [asdict(change) | key for change in changes],
        [measurement_row(measurement) | key for measurement in measurements],
        dict(conditions),
    )


def save_trial(
    store: Engine,
    trial: Trial,
    changes: Sequence[Change] = (),
    measurements: Sequence[Measurement] = (),
    conditions: Mapping[str, str] = {},
) -> None:
    """Update the state of a trial and insert its results."""
    save_rows(store, trial_rows(trial, changes, measurements, conditions))


def save_rows(store: Engine, rows: TrialRows) -> None:
    """Update the state of a trial and insert its results, given their rows."""
    table, row = schema.trial, rows.trial
    with transaction(store) as connection:
        updated = connection.execute(
            sa.update(table)
            .where(table.c.experiment == row["experiment"], table.c.order == row["order"])
            .where(table.c.state != TrialState.SUPERSEDED)
            .values({name: row[name] for name in ("state", "started", "applied", "ended", "invalid_because")})
            .values({name: row[name] for name in ("failure", "failure_message", "fingerprint")})
        )
        if updated.rowcount != 1:
            raise StoreError(f"{rows.name} was rerun by another process", "see: paribus status")
        if rows.conditions and row["fingerprint"]:
            insert_conditions(connection, row["fingerprint"], rows.conditions)
        if rows.changes:
            connection.execute(sa.insert(schema.change), rows.changes)
        if rows.measurements:
            connection.execute(sa.insert(schema.measurement), rows.measurements)


def insert_conditions(connection: Connection, digest: str, facts: Mapping[str, str]) -> None:
    """Insert conditions unless a trial with the same digest has inserted them."""
    insert = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
    row = insert(schema.conditions).values(digest=digest, facts=dict(facts))
    connection.execute(row.on_conflict_do_nothing())


def add_drive_counters(store: Engine, experiment: str, counters: Mapping[str, int], at: float) -> None:
    """Insert the error counters of the drives, read `at` seconds since 1970."""
    rows = [{"experiment": experiment, "name": name, "value": value, "at": at} for name, value in counters.items()]
    if rows:
        with transaction(store) as connection:
            connection.execute(sa.insert(schema.drive_counter), rows)


def pin_device(store: Engine, experiment: str, path: str, identity: Mapping[str, Any]) -> None:
    """Insert or replace the identity of the device behind a path of the plan."""
    table = schema.device
    with transaction(store) as connection:
        connection.execute(sa.delete(table).where(table.c.experiment == experiment, table.c.path == path))
        connection.execute(sa.insert(table).values(experiment=experiment, path=path, identity=dict(identity)))


def rerun(store: Engine, old: Sequence[Trial], new: Sequence[Trial]) -> None:
    """Supersede the old trials of a block and insert the new ones: no arm is lost, none counts twice."""
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
    """Replace the stored plan: by what was learned before anything is compared, or with another budget."""
    table = schema.experiment
    with transaction(store) as connection:
        connection.execute(sa.update(table).where(table.c.id == experiment).values(plan=plan_json(plan)))


def plan_json(plan: Plan) -> object:
    """Return the plan as its column stores it."""
    return TypeAdapter(Plan).dump_python(plan, mode="json")


def drop(store: Engine, experiment: str, orders: Collection[int], rounds: int, schedule_hash: str) -> None:
    """Delete planned trials by their order; `rounds` of the experiment remain."""
    table, experiment_table = schema.trial, schema.experiment
    with transaction(store) as connection:
        connection.execute(
            sa.delete(table).where(
                table.c.experiment == experiment, table.c.order.in_(orders), table.c.state == TrialState.PLANNED
            )
        )
        connection.execute(
            sa.update(experiment_table)
            .where(experiment_table.c.id == experiment)
            .values(rounds=rounds, schedule_hash=schedule_hash)
        )


def add_trials(store: Engine, experiment: str, trials: Sequence[Trial], schedule_hash: str) -> None:
    """Insert planned trials after the existing ones."""
    experiment_table = schema.experiment
    with transaction(store) as connection:
        connection.execute(sa.insert(schema.trial), [trial_row(trial) for trial in trials])
        connection.execute(
            sa.update(experiment_table).where(experiment_table.c.id == experiment).values(schedule_hash=schedule_hash)
        )


def add_looks(store: Engine, experiment: str, looks: Sequence[Look], unneeded: Sequence[int] = ()) -> None:
    """Insert looks and mark the planned trials that they make unnecessary as spared.

    A look can be neither repeated nor changed.
    """
    table = schema.trial
    with transaction(store) as connection:
        if looks:
            connection.execute(sa.insert(schema.look), [asdict(look) | {"experiment": experiment} for look in looks])
        connection.execute(
            sa.update(table)
            .where(table.c.experiment == experiment, table.c.order.in_(unneeded), table.c.state == TrialState.PLANNED)
            .values(state=TrialState.SPARED)
        )


def add_calibrations(store: Engine, calibrations: Sequence[Calibration]) -> None:
    """Insert the measured noise of a host, for planning later experiments."""
    if calibrations:
        with transaction(store) as connection:
            connection.execute(sa.insert(schema.calibration), [asdict(c) | _load(c.load) for c in calibrations])
