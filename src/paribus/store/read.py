"""Reading from the store: records out. All raise StoreError; points are read only when asked for."""

import functools
import sys
import zlib
from array import array
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa
from pydantic import TypeAdapter
from sqlalchemy.engine import Connection, Engine, RowMapping

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
    Measurement,
    NotTaken,
    Plan,
    Purpose,
    Settings,
    Trial,
    TrialState,
    Verdict,
)
from paribus.store import schema
from paribus.store.open import failing_as_store_error
from paribus.units import LoadLevel, LoadUnit


@contextmanager
def _connection(store: Engine) -> Iterator[Connection]:
    with failing_as_store_error(store.url.render_as_string(hide_password=True)), store.connect() as connection:
        yield connection


_EXPERIMENT = [column for column in schema.experiment.c if column.name != "plan"]


def _experiment(row: Mapping[str, Any]) -> Experiment:
    return Experiment(**{**row, "state": ExperimentState(row["state"]), "notes": tuple(row["notes"])})


def _with_load(row: Mapping[str, Any] | RowMapping) -> dict[str, Any]:
    """The row with its load level put together."""
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
    """Every experiment, the newest first."""
    table = schema.experiment
    with _connection(store) as connection:
        rows = connection.execute(sa.select(*_EXPERIMENT).order_by(table.c.started.desc(), table.c.id.desc()))
        return [_experiment(dict(row)) for row in rows.mappings()]


def tallies(store: Engine) -> dict[str, Counter[TrialState]]:
    """How many trials of each experiment are in which state."""
    t = schema.trial.c
    found: dict[str, Counter[TrialState]] = {}
    with _connection(store) as connection:
        counted = sa.select(t.experiment, t.state, sa.func.count()).group_by(t.experiment, t.state)
        for experiment, state, number in connection.execute(counted):
            found.setdefault(experiment, Counter())[TrialState(state)] = number
    return found


def signs(store: Engine, state: ExperimentState) -> dict[str, tuple[float, float]]:
    """When trials of experiments in this state last told of themselves, since 1970, and the longest one; seconds."""
    e, t = schema.experiment.c, schema.trial.c
    longest = sa.func.max(t.ended - t.started)
    asked = sa.select(t.experiment, longest, *map(sa.func.max, (t.started, t.applied, t.ended))).group_by(t.experiment)
    with _connection(store) as connection:
        rows = connection.execute(asked.where(t.experiment.in_(sa.select(e.id).where(e.state == state))))
        return {experiment: (max(filter(None, told), default=0.0), most or 0.0) for experiment, most, *told in rows}


def applications(store: Engine, experiments: Sequence[str]) -> list[tuple[str, float]]:
    """The factor of every application of these experiments, and the seconds until its settings were in force."""
    t = schema.trial.c
    place = sa.func.min(t.position)
    with _connection(store) as connection:
        rows = connection.execute(
            sa.select(t.factor, t.applied - t.started, place)
            .where(t.experiment.in_(experiments), t.applied.is_not(None))
            .group_by(t.experiment, t.block, t.attempt, t.application)
        )
        return [(factor, seconds) for factor, seconds, _ in rows]


def find(store: Engine, name: str) -> Experiment:
    """The experiment that an id, a unique start of one, a plan's name (its newest) or `last` names.

    Raises UsageError that lists what there is.
    """
    known = experiments(store)
    if not known:
        raise UsageError(stored_message("the store holds no experiment"), stored_message("run a plan first"))
    if name == "last":
        return known[0]
    exact = [e for e in known if e.id == name] or [e for e in known if e.name == name]
    if exact:
        return exact[0]
    starting = [e for e in known if e.id.startswith(name)]
    if len(starting) == 1:
        return starting[0]
    shown = ", ".join(f"{e.id} ({e.name})" for e in (starting or known)[:5])
    wrong = stored_message("there is no experiment {name}", name=repr(name))
    if starting:
        wrong = stored_message("{n} experiments start with {name}", n=len(starting), name=repr(name))
    raise UsageError(wrong, stored_message("choose one of: {experiments}", experiments=shown))


def plan(store: Engine, experiment: str) -> Plan:
    """The plan of an experiment as it was checked before the first trial."""
    table = schema.experiment
    with _connection(store) as connection:
        checked = connection.scalar(sa.select(table.c.plan).where(table.c.id == experiment))
    return _plans().validate_python(checked)


@functools.cache
def _plans() -> TypeAdapter[Plan]:
    """What makes plans of stored ones; it is slow to make, and a plan is read after every block."""
    return TypeAdapter(Plan)


_AT_A_TIME = 200  # rows; one by one they take twice as long, all at once they are in memory twice


def trials(store: Engine, experiment: str) -> list[Trial]:
    """Every trial of an experiment in order, superseded ones too."""
    table = schema.trial
    wanted = sa.select(table).where(table.c.experiment == experiment).order_by(table.c.order)
    with _connection(store) as connection:
        rows = connection.execution_options(yield_per=_AT_A_TIME).execute(wanted)
        shared: dict[str, Settings] = {}  # many trials have few settings
        found = []
        for row in rows.mappings():
            settings = row["settings"]
            found.append(_trial({**row, "settings": shared.setdefault(repr(settings), settings)}))
        return found


_SUMMARY = [column for column in schema.measurement.c if column.name not in ("points", "histogram", "id", "experiment")]


def summaries(
    store: Engine,
    experiment: str,
    orders: Sequence[int] | None = None,
    metrics: Collection[str] | None = None,
    places: Collection[tuple[str, str]] | None = None,
) -> dict[int, dict[str, Measurement]]:
    """What trials measured, by trial and metric: without points, their times and histograms.

    `orders`, `metrics`: only these trials and metrics; `places`: only trials of these factors and workloads; None: all
    of them.
    """
    c, t = schema.measurement.c, schema.trial.c
    found: dict[int, dict[str, Measurement]] = defaultdict(dict)
    wanted = sa.select(c.trial, c.phase, c.metric, c.unit, c.source, c.n, c.mean, c.low, c.high, c.total).where(
        c.experiment == experiment, c.phase.in_(("prepare", "measure"))
    )
    if orders is not None:
        wanted = wanted.where(c.trial.in_(orders))
    if metrics is not None:
        wanted = wanted.where(c.metric.in_(metrics))
    if places is not None:  # not the orders of their trials: each number of orders would be another statement to keep
        asked_of = sa.or_(*[sa.and_(t.factor == factor, t.workload == workload) for factor, workload in places])
        wanted = wanted.where(c.trial.in_(sa.select(t.order).where(t.experiment == experiment, asked_of)))
    once, numbers = sys.intern, dict[int, int]()  # each row has a few of a few, and there are many rows
    with _connection(store) as connection:
        asked = connection.execution_options(yield_per=_AT_A_TIME)
        for trial, phase, metric, unit, source, n, mean, low, high, total in asked.execute(wanted):
            found[trial][once(metric)] = Measurement(
                phase=once(phase),
                metric=once(metric),
                unit=once(unit),
                source=once(source),
                n=numbers.setdefault(n, n),
                mean=mean,
                low=low,
                high=high,
                total=total,
            )
    return dict(found)


def conditions(store: Engine, experiment: str) -> dict[int, Mapping[str, str]]:
    """What of the machine should be the same in all trials, as each found it; of trials that looked at it."""
    trial, table = schema.trial, schema.conditions
    mine = trial.c.experiment == experiment
    with _connection(store) as connection:
        named = table.c.digest.in_(sa.select(trial.c.fingerprint).where(mine))
        facts = {row.digest: row.facts for row in connection.execute(sa.select(table).where(named))}
        rows = connection.execute(sa.select(trial.c.order, trial.c.fingerprint).where(mine).order_by(trial.c.order))
        return {order: facts[digest] for order, digest in rows if digest in facts}


def devices(store: Engine, experiment: str) -> dict[str, dict[str, Any]]:
    """The identity of each block device that an experiment works on, by its path in the plan."""
    table = schema.device
    with _connection(store) as connection:
        rows = connection.execute(sa.select(table.c.path, table.c.identity).where(table.c.experiment == experiment))
        return {row["path"]: row["identity"] for row in rows.mappings()}


def drive_counters(store: Engine, experiment: str) -> dict[str, list[int]]:
    """What the drives had counted of their errors, each time it was read, the earliest first."""
    table = schema.drive_counter
    found: dict[str, list[int]] = {}
    with _connection(store) as connection:
        rows = connection.execute(
            sa.select(table.c.name, table.c.value).where(table.c.experiment == experiment).order_by(table.c.id)
        )
        for name, value in rows:
            found.setdefault(name, []).append(value)
    return found


def series(store: Engine, experiment: str, metric: str, orders: Sequence[int]) -> dict[int, Measurement]:
    """One metric of some trials, with its points and histogram."""
    return dict(each_series(store, experiment, metric, orders))


def each_series(
    store: Engine, experiment: str, metric: str, orders: Sequence[int]
) -> Iterator[tuple[int, Measurement]]:
    """The same, one after another, so that however many there are, a few are in memory at a time."""
    table = schema.measurement
    asked = sa.select(*_SUMMARY, table.c.points, table.c.histogram).where(
        table.c.experiment == experiment, table.c.metric == metric
    )
    wanted = set(orders)
    if not wanted:
        return
    with _connection(store) as connection:
        for row in connection.execution_options(yield_per=_AT_A_TIME).execute(asked.order_by(table.c.trial)).mappings():
            if row["trial"] in wanted:
                fields = dict(row)
                fields |= {"points": _points(fields["points"]), "histogram": fields["histogram"] or b""}
                trial = fields.pop("trial")
                yield trial, Measurement(**fields)


def histograms(store: Engine, experiment: str, metric: str, orders: Sequence[int]) -> dict[int, bytes]:
    """The histograms behind one metric of some trials, as they were written."""
    table = schema.measurement
    asked = sa.select(table.c.trial, table.c.histogram).where(
        table.c.experiment == experiment, table.c.metric == metric, table.c.histogram.is_not(None)
    )
    wanted = set(orders)
    with _connection(store) as connection:
        return {trial: kept for trial, kept in connection.execute(asked) if trial in wanted}


def each_measurement(store: Engine, experiment: str, *, courses: bool = False) -> Iterator[tuple[int, Measurement]]:
    """Everything that trials measured, one after another in their order; with `courses` only what has points, and them.

    However many there are, a few are in memory at a time.
    """
    table = schema.measurement
    columns = [*_SUMMARY, table.c.points] if courses else _SUMMARY
    asked = sa.select(*columns).where(table.c.experiment == experiment)
    if courses:
        asked = asked.where(table.c.points.is_not(None))
    place = (table.c.trial, table.c.phase, table.c.metric, table.c.source)
    with _connection(store) as connection:
        rows = connection.execution_options(yield_per=_AT_A_TIME).execute(asked.order_by(*place))
        for row in rows.mappings():
            fields = dict(row)
            trial = fields.pop("trial")
            yield trial, Measurement(**fields | {"points": _points(fields.get("points"))})


def _points(stored: bytes | None) -> tuple[float, ...]:
    return tuple(array("d", zlib.decompress(stored))) if stored else ()


def changes(store: Engine, experiment: str) -> list[tuple[int, Change]]:
    """Every change of an experiment with the trial it was made for."""
    table = schema.change
    with _connection(store) as connection:
        rows = connection.execute(sa.select(table).where(table.c.experiment == experiment).order_by(table.c.id))
        found = []
        for row in rows.mappings():
            fields = {name: row[name] for name in ("knob", "address", "before", "wanted", "observed", "refused")}
            became = NotTaken(row["not_taken"]) if row["not_taken"] else None
            found.append((row["trial"], Change(**fields, state=ChangeState(row["state"]), not_taken=became)))
        return found


def looks(store: Engine, experiment: str) -> list[Look]:
    """Every decision point of an experiment in order."""
    table = schema.look
    with _connection(store) as connection:
        rows = connection.execute(sa.select(table).where(table.c.experiment == experiment).order_by(table.c.id))
        return [
            Look(
                **{k: v for k, v in row.items() if k not in ("id", "experiment", "verdict", "purpose")},
                verdict=Verdict(row["verdict"]) if row["verdict"] else None,
                purpose=Purpose(row["purpose"]),
            )
            for row in rows.mappings()
        ]


def calibrations(store: Engine, host: str, now: float) -> list[Calibration]:
    """The noise known of a host and not yet out of date, the newest first."""
    table = schema.calibration
    with _connection(store) as connection:
        rows = connection.execute(
            sa.select(table).where(table.c.host == host, table.c.expires > now).order_by(table.c.made.desc())
        )
        return [Calibration(**{k: v for k, v in _with_load(row).items() if k != "id"}) for row in rows.mappings()]
