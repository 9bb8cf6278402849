"""Disk space of private servers: one server for each way in which data is made, and one copy to restore each from.

The check and the preview of a plan call this.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pydantic import ValidationError

from paribus.model import DatabaseFacts, Plan, Settings, Trial, Workload
from paribus.plan.schedule.comparisons import candidates, measured
from paribus.registry import DataSet, data_of, database_settings

_Server = tuple[tuple[str, str], ...]  # names and values of the settings that are fixed in the data
_Served = dict[_Server, dict[tuple[str, str], DataSet]]  # data sets by server, then by workload and shape


@dataclass(frozen=True, slots=True)
class Copies:
    """Data of a plan's servers, the bytes that copies of it need, and the number of times that a server is copied."""

    servers: int
    data_bytes: int
    copy_bytes: int
    times: int
    largest_bytes: int

    def each_s(self, facts: DatabaseFacts) -> float:
        """Returns the seconds that one copy of the largest server takes, extrapolated from the copy of a small file."""
        return self.largest_bytes / facts.copy_bytes_per_s if facts.copy_bytes_per_s else 0.0


def copies(plan: Plan, facts: DatabaseFacts, trials: Sequence[Trial]) -> Copies | None:
    """Returns the copies for these trials; None if no workload uses a private server."""
    data_by_server = _served(plan)
    if not data_by_server:
        return None
    sizes = [
        facts.empty_bytes + sum(data_set.size_bytes for data_set in data_sets.values())
        for data_sets in data_by_server.values()
    ]
    copied = any(workload.data != "keep" for workload in plan.workloads if workload.database)
    copy_count = len(data_by_server) + _restore_count(plan, trials) if copied else 0
    copy_bytes = sum(sizes) if copied and not facts.reflink else 0
    return Copies(len(data_by_server), sum(sizes), copy_bytes, copy_count, max(sizes))


def extra_bytes(plan: Plan, facts: DatabaseFacts) -> int:
    """Returns the bytes of further servers, their own data and copies, next to one data set of each shape."""
    total = copies(plan, facts, ())
    if total is None:
        return 0
    distinct = {key: data_set.size_bytes for data_sets in _served(plan).values() for key, data_set in data_sets.items()}
    return total.data_bytes + total.copy_bytes - sum(distinct.values())


def _served(plan: Plan) -> _Served:
    data_by_server: _Served = {}
    if plan.database is None or not plan.database.is_server or plan.database.running is not None:
        return data_by_server
    for workload, settings in _arms(plan):
        if workload.database:
            try:
                data_set = data_of(workload, settings)
            except ValidationError:  # the check reports it
                continue
            data_by_server.setdefault(_server(plan, workload, settings), {})[workload.plan_name, data_set.shape] = (
                data_set
            )
    return data_by_server


def _arms(plan: Plan) -> Iterable[tuple[Workload, Settings]]:
    yield from ((comparison.workload, arm.settings) for comparison in candidates(plan) for arm in comparison.arms)
    yield from ((workload, plan.baseline) for workload in measured(plan))


def _server(plan: Plan, workload: Workload, settings: Settings) -> _Server:
    built_in = plan.database.built_in if plan.database else ()
    variables = database_settings(workload, settings)
    return tuple(sorted((name, str(value)) for name, value in variables.items() if name in built_in))


def _restore_count(plan: Plan, trials: Sequence[Trial]) -> int:
    """Returns how often these trials restore the data of a server: at each new round or block of a workload."""
    workloads = {workload.name: workload for workload in plan.workloads}
    blocks: dict[tuple[str, int], dict[_Server, None]] = {}
    for trial in trials:
        workload = workloads[trial.workload]
        if workload.database and workload.data != "keep":
            servers = blocks.setdefault((trial.workload, trial.block), {})
            servers[_server(plan, workload, trial.settings)] = None
    ages = {(trial.workload, trial.block): trial.round for trial in trials}
    count = 0
    last_ages: dict[str, int] = {}
    for (name, block), servers in blocks.items():
        age = ages[name, block] if workloads[name].data == "round" else block
        if last_ages.setdefault(name, age) != age:
            count += len(servers)
        last_ages[name] = age
    return count
