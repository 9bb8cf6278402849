"""What the workloads of a plan work on: their data sets, what making them writes, and what forbids them here.

In: a plan as laid out, facts of the host. Out: data sets by workload, bytes by place, complaints. Called by the
check and by what shows a plan.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pydantic import ValidationError

from paribus.knobs import guard
from paribus.model import BlockDevice, DatabaseFacts, Facts, Plan, Settings, Trial, Workload
from paribus.plan import precondition
from paribus.plan.comparisons import candidates, measured
from paribus.plan.copies import beside_bytes
from paribus.plan.file import PlanTable
from paribus.plan.workloads import data_in
from paribus.registry import DataSet, data_of, parameters_of
from paribus.units import show_size


@dataclass(frozen=True, slots=True)
class Complaint:
    """What forbids a workload's data: at which of its keys, what is wrong, what would be right."""

    workload: str
    key: str
    wrong: str
    right: str = ""


def named_devices(table: PlanTable) -> list[str]:
    """Every block device that a plan has a workload work on, once."""
    found = [data.device for one in table.workload for data in data_in(one)]
    settings = [*table.hold.items(), *(item for one in table.combination for item in one.settings.items())]
    settings += [(key, level) for key, levels in table.factors.items() for level in levels]
    found += [value for key, value in settings if key.endswith(".device") and isinstance(value, str)]
    return list(dict.fromkeys(device for device in found if device))


def loaded_device(table: PlanTable) -> str:
    """The block device that all workloads of a plan work on; empty where there is no such."""
    found = {data.device for one in table.workload for data in data_in(one)}
    return found.pop() if len(found) == 1 else ""


def data_sets(plan: Plan) -> dict[str, list[DataSet]]:
    """By a workload's name in the plan, the data sets of its arms; parameters that do not go together have none."""
    found: dict[str, dict[DataSet, None]] = {workload.plan_name: {} for workload in plan.workloads}
    made = [(one.workload, arm.settings) for one in candidates(plan) for arm in one.arms]
    for workload, settings in [*made, *((workload, plan.baseline) for workload in measured(plan))]:
        try:
            found[workload.plan_name][data_of(workload, settings)] = None
        except ValidationError:
            continue
    return {name: list(sets) for name, sets in found.items()}


def size_bytes(plan: Plan) -> dict[str, int]:
    """Bytes of all data sets side by side, by the device or server they are on; the empty name stands for the path."""
    servers = {workload.plan_name: _server(plan, workload) for workload in plan.workloads}
    sizes = {
        (one.device or servers[name], "" if one.device else name, one.shape): one.size_bytes
        for name, sets in data_sets(plan).items()
        for one in sets
    }
    found: dict[str, int] = defaultdict(int)
    for (device, _, _), size in sizes.items():
        found[device] += size
    return dict(found)


def _server(plan: Plan, workload: Workload) -> str:
    """The running server that a workload's data is made in; empty where there is none."""
    return plan.database.running.address if workload.database and plan.database and plan.database.running else ""


def rows_on_server(plan: Plan) -> int:
    """Rows of all tables that are made in a running server."""
    on_server = {workload.plan_name for workload in plan.workloads if _server(plan, workload)}
    return sum(one.rows for name, sets in data_sets(plan).items() if name in on_server for one in sets)


def made_bytes(plan: Plan, trials: Sequence[Trial]) -> dict[str, int]:
    """Bytes that making the data of these trials writes, by device as above; the load's own writes come on top."""
    workloads = {workload.name: workload for workload in plan.workloads}
    times: dict[tuple[str, str, str, object], int] = {}
    for trial in trials:
        workload = workloads[trial.workload]
        one = data_of(workload, trial.settings)
        age = {"keep": 0, "round": trial.round, "application": trial.block}[workload.data]
        if one.made or workload.data != "keep":
            where = one.device or _server(plan, workload)
            times[where, workload.plan_name, one.shape, age] = one.size_bytes
    found: dict[str, int] = defaultdict(int)
    for (device, _, _, _), size in times.items():
        found[device] += size
    return dict(found)


def complaints(plan: Plan, facts: Facts) -> Iterator[Complaint]:
    """What forbids the data of a plan on this machine."""
    yield from _unfitting(plan)
    needed = size_bytes(plan).get("", 0)
    if (beside := beside_bytes(plan, facts.database or DatabaseFacts())) and not facts.path_refused:
        if needed + beside > facts.free_bytes:
            has = f"{facts.path} has {show_size(facts.free_bytes)} free, data and the servers that have it need about"
            copied = f"{show_size(needed + beside)}, a copy of each server's included where it is put back"
            on_server = next(one for one in plan.workloads if one.database)
            yield Complaint(on_server.plan_name, "", f"{has} {copied}", "make less data, or name a larger disk")
    elif needed > facts.free_bytes and not facts.path_refused:
        has = f"{facts.path} has {show_size(facts.free_bytes)} free, the workloads need {show_size(needed)}"
        yield Complaint(
            plan.workloads[0].plan_name, "total_size", has, "lower total_size, or set target.path to a larger disk"
        )
    for workload in {workload.plan_name: workload for workload in plan.workloads}.values():
        sets = [one for one in data_sets(plan)[workload.plan_name] if one.device]
        for device in dict.fromkeys(one.device for one in sets):
            yield from _on_device(plan, workload, [one for one in sets if one.device == device], facts)
    for said in dict.fromkeys(precondition.complaints(plan, _arms(plan))):  # the series of a matrix say the same
        yield Complaint(*said)


def _arms(plan: Plan) -> dict[str, list[Settings]]:
    """By workload, the settings of everything that is tried under it."""
    found: dict[str, list[Settings]] = {workload.name: [plan.baseline] for workload in plan.workloads}
    for comparison in candidates(plan):
        found[comparison.workload.name] += [arm.settings for arm in comparison.arms]
    return found


def _unfitting(plan: Plan) -> Iterator[Complaint]:
    """Arms whose parameters do not go together, though each alone would."""
    told = set()
    for comparison in candidates(plan):
        for arm in comparison.arms:
            try:
                parameters_of(comparison.workload, arm.settings)
            except ValidationError as error:
                name, words = comparison.workload.plan_name, error.errors()[0]["msg"].removeprefix("Value error, ")
                if (name, words) not in told:
                    told.add((name, words))
                    yield Complaint(name, "", f"with {comparison.factor} = {arm.label}: {words}")


def _on_device(plan: Plan, workload: Workload, sets: Sequence[DataSet], facts: Facts) -> Iterator[Complaint]:
    """What forbids one workload, or all of one matrix, on one device."""
    device = sets[0].device
    unknown = BlockDevice(path=device, refused=f"{device} was not looked at")
    found = facts.block_devices.get(device, unknown)
    largest = max(one.size_bytes for one in sets)
    if not found.refused and largest > found.size_bytes:
        has = f"{device} has {show_size(found.size_bytes)}, the workload needs {show_size(largest)}"
        yield Complaint(workload.plan_name, "total_size", has, "lower total_size")
    if len({one.shape for one in sets}) > 1:
        wrong = f"the arms need other data each, and there is one {device}"
        yield Complaint(
            workload.name, "device", wrong, "compare them on files, or leave size and content of the data alone"
        )
    if found.refused or workload.data != "keep" or any(one.made for one in sets):
        wrong, right = guard.refusal(found, plan.target.may_destroy)
        if wrong:
            yield Complaint(workload.plan_name, "device", wrong, right)
