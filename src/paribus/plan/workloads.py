"""Workloads that the tables of a plan stand for, with their data and parameters."""

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from paribus.model import OpenLoop, Workload
from paribus.plan import precondition
from paribus.plan.form.file import MOST_OUTSTANDING, PlanTable, WorkloadTable
from paribus.plan.form.key_paths import KeyPath
from paribus.registry import DataSet, WorkloadKind, workload_kinds


def kind_of(table: WorkloadTable) -> WorkloadKind:
    """Returns the kind of a table."""
    return workload_kinds.get(table.kind)  # type: ignore[attr-defined]  # plan_form() gives every table a kind


def name_of(table: WorkloadTable) -> str:
    """Returns the table's name in the plan."""
    return table.name or kind_of(table).name


def has_parameter(table: WorkloadTable, key: str) -> bool:
    """Returns whether a key such as `fileio.direct` is a parameter of the table's workloads that can be set."""
    owner, _, parameter = key.partition(".")
    kind = kind_of(table)
    return owner in (name_of(table), kind.name) and parameter in kind.parameters.model_fields.keys() - kind.axes


def parameters_in(table: WorkloadTable) -> dict[str, Any]:
    """Returns the parameters of a table's first workload."""
    kind = kind_of(table)
    return kind.series(table)[0].parameters.model_dump(include=set(kind.parameters.model_fields))


def data_in(table: WorkloadTable) -> list[DataSet]:
    """Returns the data sets of a table's workloads."""
    kind = kind_of(table)
    return [kind.data(series.parameters) for series in kind.series(table)]


def program_of(table: WorkloadTable) -> str:
    """Returns the program of the table's tool; empty if the engine makes the load."""
    kind = kind_of(table)
    return kind.tool.program(kind.series(table)[0].parameters) if kind.tool else ""


def placeholders_of(table: WorkloadTable) -> Sequence[str]:
    """Returns the placeholders of a server that the table's tool has filled in."""
    kind = kind_of(table)
    return kind.tool.placeholders(kind.series(table)[0].parameters) if kind.tool else ()


def works_on_database(table: WorkloadTable) -> bool:
    """Returns whether the table's workloads are on the plan's database: by their kind, or by their placeholders."""
    return kind_of(table).on_database or bool(placeholders_of(table))


def workloads_of(table: WorkloadTable, responses: Sequence[str], database: str) -> list[Workload]:
    """Returns the workloads of a table: one, or one for each series.

    `database` is the family of the plan's database, empty without one.
    """
    kind, name = kind_of(table), name_of(table)
    restored = any(data.written and not data.existing for data in data_in(table))
    return [
        Workload(
            name=f"{name}-{series.name}" if series.name else name,
            kind=kind.name,
            parameters=series.parameters.model_dump(include=set(kind.parameters.model_fields)),
            load_levels=tuple(sorted(set(table.rate or series.threads))),
            response=responses[0],
            also=tuple(responses[1:]),
            data=table.data or ("round" if restored and table.precondition is None else "keep"),
            cache=table.cache,
            open_loop=_open_loop(table),
            part_of=name if series.name else "",
            precondition=precondition.precondition_of(table.precondition),
            database=database if works_on_database(table) else "",
        )
        for series in kind.series(table)
    ]


def _open_loop(table: WorkloadTable) -> OpenLoop | None:
    """Returns the open loop of a table whose load levels are rates; None for a closed loop."""
    if table.rate is None:
        return None
    return OpenLoop(arrivals=table.arrivals, outstanding=fewest_connections(table))


def fewest_connections(table: WorkloadTable) -> int:
    """Returns the connections of the lowest load level; of an open loop all that it may use."""
    if table.rate is not None and "threads" not in table.model_fields_set:
        return MOST_OUTSTANDING
    return min(table.threads)


def places_of(table: PlanTable, kinds: Collection[str], key: str) -> Iterator[KeyPath]:
    """Yields where a plan sets this parameter of these kinds, to another value than false."""
    owners = set(kinds)
    for number, workload in enumerate(table.workload):
        if kind_of(workload).name in kinds:
            owners.add(name_of(workload))
            if getattr(workload, key, False):
                yield "workload", number, key
    names = {f"{owner}.{key}" for owner in owners}
    yield from (("factors", name) for name in names & table.factors.keys())
    yield from (("hold", name) for name in names & table.hold.keys() if table.hold[name])
    for number, combination in enumerate(table.combination):
        chosen = (name for name in names & combination.settings.keys() if combination.settings[name])
        yield from (("combination", number, "settings", name) for name in chosen)
