"""Data sets of a plan's workloads: sizes, bytes that creating them writes, and what forbids them on this host.

The check and the preview of a plan call this.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pydantic import ValidationError

from paribus.knobs import guard
from paribus.model import BlockDevice, DatabaseFacts, Facts, Plan, Settings, Trial, Workload
from paribus.plan import precondition
from paribus.plan.form.file import PlanTable
from paribus.plan.schedule.comparisons import candidates, measured
from paribus.plan.schedule.copies import extra_bytes
from paribus.plan.workloads import data_in
from paribus.registry import DataSet, data_of, parameters_of
from paribus.units import show_size


@dataclass(frozen=True, slots=True)
class Complaint:
    """A reason against a workload's data, at one of its keys (empty: at the workload itself), and what to do."""

    workload: str
    key: str
    message: str
    hint: str = ""


def named_devices(table: PlanTable) -> list[str]:
    """Returns every block device that a plan gives to a workload, once."""
    devices = [data.device for table in table.workload for data in data_in(table)]
    settings = [*table.hold.items(), *(item for table in table.combination for item in table.settings.items())]
    settings += [(key, level) for key, levels in table.factors.items() for level in levels]
    devices += [value for key, value in settings if key.endswith(".device") and isinstance(value, str)]
    devices += table.target.devices
    return list(dict.fromkeys(device for device in devices if device))


def loaded_device(table: PlanTable) -> str:
    """Returns the block device that all workloads of a plan use; empty if there is no such device."""
    devices = {data.device for table in table.workload for data in data_in(table)}
    return devices.pop() if len(devices) == 1 else ""


def data_sets(plan: Plan) -> dict[str, list[DataSet]]:
    """Returns the data sets of all arms by the workload's name in the plan.

    Arms whose parameters exclude each other have none.
    """
    by_workload: dict[str, dict[DataSet, None]] = {workload.plan_name: {} for workload in plan.workloads}
    arms = [(comparison.workload, arm.settings) for comparison in candidates(plan) for arm in comparison.arms]
    for workload, settings in [*arms, *((workload, plan.baseline) for workload in measured(plan))]:
        try:
            by_workload[workload.plan_name][data_of(workload, settings)] = None
        except ValidationError:
            continue
    return {name: list(sets) for name, sets in by_workload.items()}


def size_bytes(plan: Plan) -> dict[str, int]:
    """Returns the bytes of all data sets together, by their device or server; the empty name stands for the path."""
    servers = {workload.plan_name: _server(plan, workload) for workload in plan.workloads}
    sizes = {
        (data_set.device or servers[name], "" if data_set.device else name, data_set.shape): data_set.size_bytes
        for name, sets in data_sets(plan).items()
        for data_set in sets
    }
    by_device: dict[str, int] = defaultdict(int)
    for (device, _, _), size in sizes.items():
        by_device[device] += size
    return dict(by_device)


def _server(plan: Plan, workload: Workload) -> str:
    """Returns the address of the running server that holds a workload's data; empty if there is none."""
    return plan.database.running.address if workload.database and plan.database and plan.database.running else ""


def rows_on_server(plan: Plan) -> int:
    """Returns the rows of all tables that are created in a running server."""
    on_server = {workload.plan_name for workload in plan.workloads if _server(plan, workload)}
    return sum(data_set.rows for name, sets in data_sets(plan).items() if name in on_server for data_set in sets)


def creation_bytes(plan: Plan, trials: Sequence[Trial]) -> dict[str, int]:
    """Returns the bytes that creating the data of these trials writes, by device; the load's writes are extra."""
    workloads = {workload.name: workload for workload in plan.workloads}
    sizes: dict[tuple[str, str, str, object], int] = {}
    for trial in trials:
        workload = workloads[trial.workload]
        data_set = data_of(workload, trial.settings)
        generation = {"keep": 0, "round": trial.round, "application": trial.block}[workload.data]
        if data_set.made or workload.data != "keep":
            device = data_set.device or _server(plan, workload)
            sizes[device, workload.plan_name, data_set.shape, generation] = data_set.size_bytes
    by_device: dict[str, int] = defaultdict(int)
    for (device, _, _, _), size in sizes.items():
        by_device[device] += size
    return dict(by_device)


def _what_fits(workload: Workload, share: float) -> str:
    """Returns the size of the data that would fit, of this share of the present one."""
    for key in ("warehouses", "table_size"):
        if isinstance(size := workload.parameters.get(key), int) and size * share >= 1:
            return f", such as {key} = {int(size * share)}"
    return ""


def complaints(plan: Plan, facts: Facts) -> Iterator[Complaint]:
    """Yields every reason against the data of a plan on this host."""
    yield from _conflicting_parameters(plan)
    needed_bytes = size_bytes(plan).get("", 0)
    if (servers_bytes := extra_bytes(plan, facts.database or DatabaseFacts())) and facts.path_refusal is None:
        if needed_bytes + servers_bytes > facts.free_bytes:
            message = (
                f"{facts.path} has {show_size(facts.free_bytes)} free, data and the servers that have it need about"
            )
            needs = (
                f"{show_size(needed_bytes + servers_bytes)}, including a copy of each server's data that is restored"
            )
            on_server = next(workload for workload in plan.workloads if workload.database)
            fits = _what_fits(on_server, facts.free_bytes / (needed_bytes + servers_bytes))
            hint = f"make less data{fits}, or name a larger disk"
            yield Complaint(on_server.plan_name, "", f"{message} {needs}", hint)
    elif needed_bytes > facts.free_bytes and facts.path_refusal is None:
        message = f"{facts.path} has {show_size(facts.free_bytes)} free, the workloads need {show_size(needed_bytes)}"
        yield Complaint(
            plan.workloads[0].plan_name, "total_size", message, "lower total_size, or set target.path to a larger disk"
        )
    for workload in {workload.plan_name: workload for workload in plan.workloads}.values():
        sets = [data_set for data_set in data_sets(plan)[workload.plan_name] if data_set.device]
        for device in dict.fromkeys(data_set.device for data_set in sets):
            yield from _on_device(plan, workload, [data_set for data_set in sets if data_set.device == device], facts)
    for complaint in dict.fromkeys(
        precondition.complaints(plan, _arms(plan))
    ):  # the series of a matrix have the same complaints
        yield Complaint(*complaint)


def _arms(plan: Plan) -> dict[str, list[Settings]]:
    """Returns the settings of every arm, and the baseline, by workload."""
    by_workload: dict[str, list[Settings]] = {workload.name: [plan.baseline] for workload in plan.workloads}
    for comparison in candidates(plan):
        by_workload[comparison.workload.name] += [arm.settings for arm in comparison.arms]
    return by_workload


def _conflicting_parameters(plan: Plan) -> Iterator[Complaint]:
    """Yields arms whose parameters exclude each other although each alone is possible."""
    reported = set()
    for comparison in candidates(plan):
        for arm in comparison.arms:
            try:
                parameters_of(comparison.workload, arm.settings)
            except ValidationError as error:
                name, message = comparison.workload.plan_name, error.errors()[0]["msg"].removeprefix("Value error, ")
                if (name, message) not in reported:
                    reported.add((name, message))
                    yield Complaint(name, "", f"with {comparison.factor} = {arm.label}: {message}")


def _on_device(plan: Plan, workload: Workload, sets: Sequence[DataSet], facts: Facts) -> Iterator[Complaint]:
    """Yields the reasons against the data of one workload, or of all series of one matrix, on one device."""
    device = sets[0].device
    unknown = BlockDevice(path=device, refused=f"{device} was not looked at")
    block_device = facts.block_devices.get(device, unknown)
    largest = max(data_set.size_bytes for data_set in sets)
    if not block_device.refused and largest > block_device.size_bytes:
        message = f"{device} has {show_size(block_device.size_bytes)}, the workload needs {show_size(largest)}"
        yield Complaint(workload.plan_name, "total_size", message, "lower total_size")
    if len({data_set.shape for data_set in sets}) > 1:
        message = f"each arm needs data of its own, and there is only one {device}"
        yield Complaint(
            workload.name, "device", message, "compare them on files, or leave size and content of the data alone"
        )
    is_examined = block_device.refused or workload.data != "keep" or any(data_set.made for data_set in sets)
    if is_examined and (refusal := guard.refusal(block_device, plan.target.may_destroy)) is not None:
        yield Complaint(workload.plan_name, "device", refusal.message, refusal.remedy)
