"""A plan's workload tables: the workloads they stand for, what these work on, and the parameters they have.

In: tables as validated. Out: records. Called by the check and by what asks for data and devices.
"""

from collections.abc import Sequence
from typing import Any

from paribus.model import OpenLoop, Workload
from paribus.plan import precondition
from paribus.plan.file import MOST_OUTSTANDING, WorkloadTable
from paribus.registry import DataSet, WorkloadKind, workload_kinds


def kind_of(table: WorkloadTable) -> WorkloadKind:
    """The kind of a table."""
    return workload_kinds.get(table.kind)  # type: ignore[attr-defined]  # every table of the form has one


def name_of(table: WorkloadTable) -> str:
    """What the plan calls it."""
    return table.name or kind_of(table).name


def has_parameter(table: WorkloadTable, key: str) -> bool:
    """Whether a key such as `fileio.direct` is a parameter of the table's workloads, one that can be set."""
    owner, _, parameter = key.partition(".")
    kind = kind_of(table)
    return owner in (name_of(table), kind.name) and parameter in kind.parameters.model_fields.keys() - kind.axes


def parameters_in(table: WorkloadTable) -> dict[str, Any]:
    """The parameters as they stand in the table, of the first workload where it stands for several."""
    kind = kind_of(table)
    return kind.series(table)[0].parameters.model_dump(include=set(kind.parameters.model_fields))


def data_in(table: WorkloadTable) -> list[DataSet]:
    """What the table's workloads work on, as it stands there."""
    kind = kind_of(table)
    return [kind.data(series.parameters) for series in kind.series(table)]


def program_of(table: WorkloadTable) -> str:
    """The program of the table's tool; empty where the engine makes the load."""
    kind = kind_of(table)
    return kind.tool.program(kind.series(table)[0].parameters) if kind.tool else ""


def workloads_of(table: WorkloadTable, responses: Sequence[str], database: str) -> list[Workload]:
    """The workloads a table stands for: one, or each series under a name of its own.

    `database` is the family of the plan's database, if any.
    """
    kind, name = kind_of(table), name_of(table)
    written = any(data.written for data in data_in(table))
    return [
        Workload(
            name=f"{name}-{series.name}" if series.name else name,
            kind=kind.name,
            parameters=series.parameters.model_dump(include=set(kind.parameters.model_fields)),
            load_levels=tuple(sorted(set(table.rate or series.threads))),
            response=responses[0],
            also=tuple(responses[1:]),
            data=table.data or ("round" if written and table.precondition is None else "keep"),
            cache=table.cache,
            open_loop=_open_loop(table),
            part_of=name if series.name else "",
            precondition=precondition.precondition_of(table.precondition),
            database=database if kind.on_database else "",
        )
        for series in kind.series(table)
    ]


def _open_loop(table: WorkloadTable) -> OpenLoop | None:
    """How operations start, where the load levels of a workload are rates."""
    if table.rate is None:
        return None
    cap = table.threads[0] if "threads" in table.model_fields_set else MOST_OUTSTANDING
    return OpenLoop(arrivals=table.arrivals, outstanding=cap)
