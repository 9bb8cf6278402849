"""Engine jobs of workloads. Called by trials.

The registered kind provides its part of the job, and the measurements of its results.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal, Protocol, cast

from pydantic import BaseModel

from paribus.engine.protocol import (
    Database,
    DatabaseServer,
    Interval,
    Job,
    Load,
    Result,
    SqliteFile,
    WorkloadJob,
)
from paribus.model import Measurement, Settings, Workload
from paribus.registry import CREATION_SETTINGS, WorkloadKind, data_of, database_settings, parameters_of, workload_kinds
from paribus.units import LoadLevel


@dataclass(frozen=True, slots=True, kw_only=True)
class DataLocation:
    """Location of a load's data: a `directory` of its own, and for a load on a database that."""

    directory: str
    database: Database | None = None


class LoadKind(WorkloadKind, Protocol):
    """Contract of a workload kind with trials, in addition to that with plans."""

    def job(self, parameters: BaseModel, location: DataLocation) -> WorkloadJob:
        """The workload's part of an engine job."""
        ...

    def measurements(self, result: Result, intervals: Sequence[Interval]) -> tuple[Measurement, ...]:
        """Measurements of a window."""
        ...


def kind_of(name: str) -> LoadKind:
    """The registered kind of this name."""
    return cast("LoadKind", workload_kinds.get(name))  # each file here registers one with both halves


def _load(workload: Workload, level: LoadLevel | None) -> Load:
    """The load level in the form of an engine job; phases without a level have one operation outstanding."""
    if level is None:
        return Load(outstanding=1)
    if workload.open_loop is None:
        return Load(outstanding=level.n)
    loop = workload.open_loop
    return Load(outstanding=loop.outstanding, rate_per_s=level.n, arrivals=loop.arrivals)


def _database_file(workload: Workload, settings: Settings, directory: str, phase: str) -> SqliteFile | None:
    """The SQLite file of a workload, with the pragmas of a trial; it is created with those of the data."""
    if workload.database != "sqlite":
        return None
    pragma_settings = database_settings(workload, settings)
    pragmas = {
        name: str(pragma_settings[name]).lower()
        for name in sorted(pragma_settings)
        if phase == "run" or name in CREATION_SETTINGS
    }
    return SqliteFile(path=f"{directory}/data.db", pragmas=pragmas)


def job(
    workload: Workload,
    settings: Settings,
    folder: str,
    phase: Literal["prepare", "warm", "run", "verify", "cleanup"],
    *,
    load: LoadLevel | None = None,
    settle_s: float = 0.0,
    measure_s: float | None = None,
    interval_s: float = 1.0,
    seed: int = 1,
    server: DatabaseServer | None = None,
) -> Job:
    """The engine's job for one phase; each workload and each shape of its data has a folder below `folder`.

    `server` is the server of a workload on one.
    """
    kind, parameters = kind_of(workload.kind), parameters_of(workload, settings)
    directory = str(PurePosixPath(folder) / f"{workload.plan_name}-{data_of(workload, settings).shape}")
    location = DataLocation(
        directory=directory, database=server or _database_file(workload, settings, directory, phase)
    )
    return Job(
        phase=phase,
        workload=kind.job(parameters, location),
        load=_load(workload, load),
        cache="cold" if workload.cache == "cold" or phase == "verify" else "warm",
        settle_s=settle_s,
        measure_s=measure_s,
        interval_s=interval_s,
        seed=seed,
    )
