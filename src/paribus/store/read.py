"""Reading of records from the store. All functions raise StoreError.

The readers of measurements are those of `read_measurements`.
"""

import functools
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from pydantic import TypeAdapter
from sqlalchemy.engine import Engine, RowMapping

from paribus.errors import UsageError
from paribus.i18n import stored_message
from paribus.model import (
    Calibration,
    Change,
    ChangeState,
    Experiment,
    ExperimentState,
    FailureClass,
    Look,
    NotTaken,
    Plan,
    Purpose,
    Settings,
    Trial,
    TrialState,
    Verdict,
)
from paribus.store import schema
from paribus.store.open import connected
from paribus.store.read_measurements import (
    ROWS_PER_FETCH,
    each_measurement,
    each_series,
    histograms,
    series,
    settling_rates,
    summaries,
)
from paribus.units import LoadLevel, LoadUnit

__all__ = [
    "applications",
    "calibrations",
    "changes",
    "conditions",
    "devices",
    "drive_counters",
    "each_measurement",
    "each_series",
    "experiments",
    "find",
    "find_among",
    "histograms",
    "looks",
    "plan",
    "series",
    "settling_rates",
    "signs",
    "summaries",
    "tallies",
    "trials",
]

_EXPERIMENT_COLUMNS = [column for column in schema.experiment.c if column.name != "plan"]


def _experiment(row: Mapping[str, Any]) -> Experiment:
    return Experiment(**{**row, "state": ExperimentState(row["state"]), "notes": tuple(row["notes"])})


def _with_load(row: Mapping[str, Any] | RowMapping) -> dict[str, Any]:
    """Return the fields of a row, with its two load columns combined."""
    fields = dict(row)
    return fields | {"load": LoadLevel(fields["load"], LoadUnit(fields.pop("load_unit")))}


def _trial(row: Mapping[str, Any]) -> Trial:
    return Trial(
        **{
            **_with_load(row),
            "baseline": bool(row["baseline"]),
            "purpose": Purpose(row["purpose"]),
            "state": TrialState(row["state"]),
            "invalid_because": tuple(row["invalid_because"]),
            "failure": FailureClass(row["failure"]) if row["failure"] else None,
        }
    )


def experiments(store: Engine) -> list[Experiment]:
    """Return every experiment, newest first."""
    table = schema.experiment
    with connected(store) as connection:
        rows = connection.execute(sa.select(*_EXPERIMENT_COLUMNS).order_by(table.c.started.desc(), table.c.id.desc()))
        return [_experiment(dict(row)) for row in rows.mappings()]


def tallies(store: Engine) -> dict[str, Counter[TrialState]]:
    """Return the number of trials per experiment and state."""
    t = schema.trial.c
    counts: dict[str, Counter[TrialState]] = {}
    with connected(store) as connection:
        query = sa.select(t.experiment, t.state, sa.func.count()).group_by(t.experiment, t.state)
        for experiment, state, number in connection.execute(query):
            counts.setdefault(experiment, Counter())[TrialState(state)] = number
    return counts


def signs(store: Engine, state: ExperimentState) -> dict[str, tuple[float, float]]:
    """Return, for experiments in a state, the last time stamp of a trial (s since 1970) and the longest trial (s)."""
    e, t = schema.experiment.c, schema.trial.c
    longest_trial = sa.func.max(t.ended - t.started)
    query = sa.select(t.experiment, longest_trial, *map(sa.func.max, (t.started, t.applied, t.ended))).group_by(
        t.experiment
    )
    with connected(store) as connection:
        rows = connection.execute(query.where(t.experiment.in_(sa.select(e.id).where(e.state == state))))
        return {
            experiment: (max(filter(None, times), default=0.0), longest_s or 0.0)
            for experiment, longest_s, *times in rows
        }


def applications(store: Engine, experiments: Sequence[str]) -> list[tuple[str, float]]:
    """Return the factor of every application of these experiments, and the seconds until its settings were in force."""
    t = schema.trial.c
    application = (t.experiment, t.block, t.attempt, t.application)
    place = sa.func.row_number().over(partition_by=application, order_by=t.position).label("place")
    applied = (
        sa.select(t.factor, (t.applied - t.started).label("seconds"), place)
        .where(t.experiment.in_(experiments), t.applied.is_not(None))
        .subquery()
    )
    with connected(store) as connection:
        rows = connection.execute(sa.select(applied.c.factor, applied.c.seconds).where(applied.c.place == 1))
        return [(factor, seconds) for factor, seconds in rows]


def find(store: Engine, name: str) -> Experiment:
    """Return the experiment with this id, unique prefix of an id, plan name (the newest), or `last`.

    Raises UsageError that lists the experiments.
    """
    return find_among(experiments(store), name)


def find_among(all_experiments: Sequence[Experiment], name: str) -> Experiment:
    """Return the experiment that `find` does, of experiments that are read, newest first. Raises UsageError."""
    if not all_experiments:
        raise UsageError(stored_message("the store holds no experiment"), stored_message("run a plan first"))
    if name == "last":
        return all_experiments[0]
    exact = [e for e in all_experiments if e.id == name] or [e for e in all_experiments if e.name == name]
    if exact:
        return exact[0]
    matching = [e for e in all_experiments if name and e.id.startswith(name)]
    if len(matching) == 1:
        return matching[0]
    listing = ", ".join(f"{e.id} ({e.name})" for e in (matching or all_experiments)[:5])
    message = stored_message("there is no experiment {name}", name=repr(name))
    if matching:
        message = stored_message("{n} experiments start with {name}", n=len(matching), name=repr(name))
    raise UsageError(message, stored_message("choose one of: {experiments}", experiments=listing))


def plan(store: Engine, experiment: str) -> Plan:
    """Return the plan of an experiment as checked before the first trial."""
    table = schema.experiment
    with connected(store) as connection:
        checked = connection.scalar(sa.select(table.c.plan).where(table.c.id == experiment))
    if checked and (load_host := checked.get("load_host")):  # of stores written before there could be several
        checked = {**checked, "load_hosts": [load_host]}
    return _plans().validate_python(checked)


@functools.cache
def _plans() -> TypeAdapter[Plan]:
    """Return the parser of stored plans; cached, as it is slow to build and used after every block."""
    return TypeAdapter(Plan)


def trials(store: Engine, experiment: str) -> list[Trial]:
    """Return every trial of an experiment in order, including superseded ones."""
    table = schema.trial
    query = sa.select(table).where(table.c.experiment == experiment).order_by(table.c.order)
    with connected(store) as connection:
        rows = connection.execution_options(yield_per=ROWS_PER_FETCH).execute(query)
        shared_settings: dict[str, Settings] = {}  # many trials have few settings
        records = []
        for row in rows.mappings():
            settings = row["settings"]
            records.append(_trial({**row, "settings": shared_settings.setdefault(repr(settings), settings)}))
        return records


def conditions(store: Engine, experiment: str) -> dict[int, Mapping[str, str]]:
    """Return the conditions that should be equal in all trials, by order of the trials that recorded them."""
    trial, table = schema.trial, schema.conditions
    of_experiment = trial.c.experiment == experiment
    with connected(store) as connection:
        referenced = table.c.digest.in_(sa.select(trial.c.fingerprint).where(of_experiment))
        facts = {row.digest: row.facts for row in connection.execute(sa.select(table).where(referenced))}
        rows = connection.execute(
            sa.select(trial.c.order, trial.c.fingerprint).where(of_experiment).order_by(trial.c.order)
        )
        return {order: facts[digest] for order, digest in rows if digest in facts}


def devices(store: Engine, experiment: str) -> dict[str, dict[str, Any]]:
    """Return the identity of each block device of an experiment, by its path in the plan."""
    table = schema.device
    with connected(store) as connection:
        rows = connection.execute(sa.select(table.c.path, table.c.identity).where(table.c.experiment == experiment))
        return {row["path"]: row["identity"] for row in rows.mappings()}


def drive_counters(store: Engine, experiment: str) -> dict[str, list[int]]:
    """Return the readings of each error counter of the drives, earliest first."""
    table = schema.drive_counter
    counts: dict[str, list[int]] = {}
    with connected(store) as connection:
        rows = connection.execute(
            sa.select(table.c.name, table.c.value).where(table.c.experiment == experiment).order_by(table.c.id)
        )
        for name, value in rows:
            counts.setdefault(name, []).append(value)
    return counts


def changes(store: Engine, experiment: str) -> list[tuple[int, Change]]:
    """Return every change of an experiment with the order of its trial."""
    table = schema.change
    with connected(store) as connection:
        rows = connection.execute(sa.select(table).where(table.c.experiment == experiment).order_by(table.c.id))
        records = []
        for row in rows.mappings():
            fields = {name: row[name] for name in ("knob", "address", "before", "wanted", "observed", "refused")}
            not_taken = NotTaken(row["not_taken"]) if row["not_taken"] else None
            records.append((row["trial"], Change(**fields, state=ChangeState(row["state"]), not_taken=not_taken)))
        return records


def looks(store: Engine, experiment: str) -> list[Look]:
    """Return every decision point of an experiment in order."""
    table = schema.look
    with connected(store) as connection:
        rows = connection.execute(sa.select(table).where(table.c.experiment == experiment).order_by(table.c.id))
        return [
            Look(
                **{
                    name: value for name, value in row.items() if name not in ("id", "experiment", "verdict", "purpose")
                },
                verdict=Verdict(row["verdict"]) if row["verdict"] else None,
                purpose=Purpose(row["purpose"]),
            )
            for row in rows.mappings()
        ]


def calibrations(store: Engine, host: str, now: float) -> list[Calibration]:
    """Return the unexpired calibrations of a host, newest first; `now` in seconds since 1970."""
    table = schema.calibration
    with connected(store) as connection:
        rows = connection.execute(
            sa.select(table).where(table.c.host == host, table.c.expires > now).order_by(table.c.made.desc())
        )
        return [
            Calibration(**{name: value for name, value in _with_load(row).items() if name != "id"})
            for row in rows.mappings()
        ]
