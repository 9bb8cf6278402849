"""Facts about a machine that a plan needs, before the machine is inspected."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from paribus.knobs.catalog import LOAD, SERVER
from paribus.plan.check import knob_keys
from paribus.plan.checks import events, layouts
from paribus.plan.data import loaded_device, named_devices
from paribus.plan.database import DatabaseTable
from paribus.plan.form.parse import Parsed
from paribus.plan.workloads import program_of, works_on_database


@dataclass(frozen=True, slots=True)
class Needs:
    """Subjects of an inspection.

    `device`: the block device under test, empty for the one that holds `path`; `named_devices`: devices of workloads
    and settings; `disks`: those of layouts; `programs`: load tools, and what makes layouts; `modules`: those of the
    kernel that layouts need; `knob_keys`: keys that may name a knob; `database`: None without a server.
    `makes_databases`: whether any is made on a running server. `is_local`: whether the machine under test is this one;
    `dsn_is_invalid`: the address of the server was refused. `guest` and `hypervisor`: as under [target]. `bound`: those
    of the hypervisor where the workload runs there too.
    """

    path: str
    device: str
    named_devices: tuple[str, ...]
    disks: tuple[str, ...]
    programs: frozenset[str]
    modules: frozenset[str]
    knob_keys: tuple[str, ...]
    database: DatabaseTable | None
    makes_databases: bool
    dsn_is_invalid: bool
    is_local: bool
    guest: str | None = None
    hypervisor: str = ""
    bound: "Needs | None" = None


def needs(parsed: Parsed) -> Needs:
    """Return the facts that a parsed plan needs of its machine."""
    table = parsed.table
    database = table.database if table.database and table.database.kind != "sqlite" else None
    database_text = parsed.document.get("database")
    has_dsn = isinstance(database_text, Mapping) and "dsn" in database_text
    of_target = Needs(
        path=table.target.path,
        device=table.target.device or loaded_device(table),
        named_devices=tuple(named_devices(table)),
        disks=tuple(table.target.devices),
        programs=frozenset(
            [
                *(program for workload in table.workload if (program := program_of(workload))),
                *layouts.programs(parsed),
                *events.programs(table),
            ]
        ),
        modules=frozenset(layouts.modules(parsed)),
        knob_keys=tuple(knob_keys(parsed)),
        database=database,
        makes_databases=any(
            works_on_database(workload) and not getattr(workload, "existing", "") for workload in table.workload
        ),
        dsn_is_invalid=database is not None and database.dsn is None and has_dsn,
        is_local=table.target.host == "local",
        guest=table.target.guest,
        hypervisor=table.target.hypervisor,
    )
    bound = table.target.bound
    if bound is None or table.target.guest is None:
        return of_target
    groups = tuple(f"cgroup.{subject}.{limit}" for subject in (LOAD, SERVER) for limit in ("cpus", "memory_max"))
    of_bound = replace(
        of_target,
        path=bound.path,
        device="",
        named_devices=(),
        disks=(),
        modules=frozenset(),
        knob_keys=groups,
        guest=None,
        hypervisor="",
        is_local=not table.target.hypervisor.startswith("qemu+ssh:"),
    )
    return replace(of_target, bound=of_bound)


def condition_subject(parsed: Parsed) -> str:
    """Return the process that a condition without a subject is for: the server where the plan has one."""
    database = parsed.table.database
    return SERVER if database is not None and database.kind != "sqlite" else LOAD
