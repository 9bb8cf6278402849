"""Imported sets: writing and reading of their sources and trials. All functions raise StoreError."""

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Engine

from paribus.model import ExperimentState, Origin, Plan, Source, Trial
from paribus.store import schema
from paribus.store.open import connected
from paribus.store.write import plan_json, transaction, trial_row

_ZLIB_LEVEL = 1  # text shrinks to a fifth, in a third of the time of the default level


@dataclass(frozen=True, slots=True)
class Addition:
    """A source with its compressed content, and its trials."""

    source: Source
    content: bytes
    trials: Sequence["AddedTrial"]


@dataclass(frozen=True, slots=True)
class AddedTrial:
    """A trial of a source: its lines there, missing fields, stated values (compressed JSON), and measurement rows."""

    trial: Trial
    lines: tuple[int, int]
    missing: str
    statements: bytes
    rows: Sequence[Mapping[str, Any]]


def compressed(content: bytes) -> bytes:
    """Return compressed bytes."""
    return zlib.compress(content, _ZLIB_LEVEL)


def compressed_json(value: object) -> bytes:
    """Return the value as compressed JSON."""
    return compressed(json.dumps(value).encode())


def add(store: Engine, experiment: str, plan: Plan, additions: Sequence[Addition], now: float) -> None:
    """Add sources to a set in one transaction; `plan` is the plan of the extended set."""
    experiment_table = schema.experiment
    sources, trials, origins, measurements = [], [], [], []
    for addition in additions:
        lines = addition.source.not_understood
        row = asdict(addition.source) | {"experiment": experiment, "content": addition.content}
        sources.append(
            row | {"not_understood": compressed_json(lines) if lines else None, "remarks": [*addition.source.remarks]}
        )
        for added in addition.trials:
            trial_key = {"experiment": experiment, "trial": added.trial.order}
            trials.append(trial_row(added.trial))
            first, last = added.lines
            location = {
                "source": addition.source.number,
                "first_line": first,
                "last_line": last,
                "missing": added.missing,
            }
            origins.append(trial_key | location | {"said": added.statements})
            measurements += [{**row, **trial_key} for row in added.rows]
    with transaction(store) as connection:
        for table, rows in ((schema.source, sources), (schema.trial, trials), (schema.origin, origins)):
            if rows:
                connection.execute(sa.insert(table), rows)
        if measurements:
            connection.execute(sa.insert(schema.measurement), measurements)
        connection.execute(
            sa.update(experiment_table)
            .where(experiment_table.c.id == experiment, experiment_table.c.state == ExperimentState.IMPORTED)
            .values(plan=plan_json(plan), plan_text=plan.text, plan_digest=plan.digest, started=now, ended=now)
        )


def set_baseline(store: Engine, experiment: str, factor: str, level: str) -> None:
    """Make `level` the baseline of a factor."""
    t = schema.trial
    with transaction(store) as connection:
        for baseline, condition in ((1, t.c.arm == level), (0, t.c.arm != level)):
            conditions = (t.c.experiment == experiment, t.c.factor == factor, condition)
            connection.execute(sa.update(t).where(*conditions).values(baseline=baseline))


def sources(store: Engine, experiment: str) -> list[Source]:
    """Return the sources of a set in import order."""
    t = schema.source.c
    names = [column for column in t if column.name not in ("experiment", "content")]
    with connected(store) as connection:
        rows = connection.execute(sa.select(*names).where(t.experiment == experiment).order_by(t.number))
        return [_source(dict(row)) for row in rows.mappings()]


def _source(row: dict[str, Any]) -> Source:
    lines = json.loads(zlib.decompress(row["not_understood"])) if row["not_understood"] else []
    row["not_understood"] = tuple((number, line) for number, line in lines)
    return Source(**row | {"remarks": tuple(row["remarks"])})


def origins(store: Engine, experiment: str) -> dict[int, Origin]:
    """Return the origin of each trial of a set, by trial order."""
    t = schema.origin.c
    with connected(store) as connection:
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


def content(store: Engine, experiment: str, number: int) -> bytes:
    """Return the content of a source as imported, with passwords removed; empty if unknown."""
    t = schema.source.c
    with connected(store) as connection:
        content_blob = connection.scalar(sa.select(t.content).where(t.experiment == experiment, t.number == number))
    return zlib.decompress(content_blob) if content_blob else b""
