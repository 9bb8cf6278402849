"""Sets of what others measured: their sources and trials in, and out again. All raise StoreError."""

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Engine

from paribus.model import ExperimentState, Origin, Plan, Source, Trial
from paribus.store import schema
from paribus.store.open import failing_as_store_error
from paribus.store.write import checked, transaction, trial_row

_QUICK = 1  # of zlib: text becomes a fifth, in a third of the usual time


@dataclass(frozen=True, slots=True)
class Addition:
    """A source with its content as kept, and its trials."""

    source: Source
    content: bytes
    trials: Sequence["AddedTrial"]


@dataclass(frozen=True, slots=True)
class AddedTrial:
    """A trial of a source, its lines there, what it lacks, what it states as kept, and its rows of measurements."""

    trial: Trial
    lines: tuple[int, int]
    missing: str
    said: bytes
    rows: Sequence[Mapping[str, Any]]


def packed(content: bytes) -> bytes:
    """Bytes as they are kept."""
    return zlib.compress(content, _QUICK)


def as_json(value: object) -> bytes:
    """A value as it is kept."""
    return packed(json.dumps(value).encode())


def add(store: Engine, experiment: str, plan: Plan, additions: Sequence[Addition], now: float) -> None:
    """Keep more of a set, in one step; `plan` is what it amounts to then."""
    table = schema.experiment
    sources, trials, origins, measured = [], [], [], []
    for one in additions:
        lines = one.source.not_understood
        row = asdict(one.source) | {"experiment": experiment, "content": one.content}
        sources.append(row | {"not_understood": as_json(lines) if lines else None, "remarks": [*one.source.remarks]})
        for added in one.trials:
            own = {"experiment": experiment, "trial": added.trial.order}
            trials.append(trial_row(added.trial))
            first, last = added.lines
            place = {"source": one.source.number, "first_line": first, "last_line": last, "missing": added.missing}
            origins.append(own | place | {"said": added.said})
            measured += [{**row, **own} for row in added.rows]
    with transaction(store) as connection:
        for into, rows in ((schema.source, sources), (schema.trial, trials), (schema.origin, origins)):
            if rows:
                connection.execute(sa.insert(into), rows)
        if measured:
            connection.execute(sa.insert(schema.measurement), measured)
        connection.execute(
            sa.update(table)
            .where(table.c.id == experiment, table.c.state == ExperimentState.IMPORTED)
            .values(plan=checked(plan), plan_text=plan.text, plan_digest=plan.digest, started=now, ended=now)
        )


def set_baseline(store: Engine, experiment: str, factor: str, level: str) -> None:
    """Compare a factor's levels with this one."""
    t = schema.trial
    with transaction(store) as connection:
        for is_it, condition in ((1, t.c.arm == level), (0, t.c.arm != level)):
            place = (t.c.experiment == experiment, t.c.factor == factor, condition)
            connection.execute(sa.update(t).where(*place).values(baseline=is_it))


def sources(store: Engine, experiment: str) -> list[Source]:
    """The sources of a set in the order in which they were imported."""
    t = schema.source.c
    names = [column for column in t if column.name not in ("experiment", "content")]
    with failing_as_store_error(store.url.render_as_string(hide_password=True)), store.connect() as connection:
        rows = connection.execute(sa.select(*names).where(t.experiment == experiment).order_by(t.number))
        return [_source(dict(row)) for row in rows.mappings()]


def _source(row: dict[str, Any]) -> Source:
    lines = json.loads(zlib.decompress(row["not_understood"])) if row["not_understood"] else []
    row["not_understood"] = tuple((number, line) for number, line in lines)
    return Source(**row | {"remarks": tuple(row["remarks"])})


def origins(store: Engine, experiment: str) -> dict[int, Origin]:
    """Where each trial of a set comes from, by its order."""
    t = schema.origin.c
    with failing_as_store_error(store.url.render_as_string(hide_password=True)), store.connect() as connection:
        rows = connection.execute(sa.select(schema.origin).where(t.experiment == experiment).order_by(t.trial))
        return {
            row["trial"]: Origin(
                trial=row["trial"],
                source=row["source"],
                lines=(row["first_line"], row["last_line"]),
                missing=row["missing"],
                said=json.loads(zlib.decompress(row["said"])),
            )
            for row in rows.mappings()
        }


def source_of(store: Engine, experiment: str) -> dict[int, int]:
    """The number of each trial's source, by its order."""
    t = schema.origin.c
    with failing_as_store_error(store.url.render_as_string(hide_password=True)), store.connect() as connection:
        rows = connection.execute(sa.select(t.trial, t.source).where(t.experiment == experiment))
        return {row.trial: row.source for row in rows}


def content(store: Engine, experiment: str, number: int) -> bytes:
    """The bytes of a source as they were read: without passwords."""
    t = schema.source.c
    with failing_as_store_error(store.url.render_as_string(hide_password=True)), store.connect() as connection:
        kept = connection.scalar(sa.select(t.content).where(t.experiment == experiment, t.number == number))
    return zlib.decompress(kept) if kept else b""
