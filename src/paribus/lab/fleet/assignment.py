"""Assignment of a plan to each machine of a fleet, and what the store already has of it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from paribus import workloads as _workloads  # noqa: F401  registers the kinds that a plan may name
from paribus.errors import PlanError, UsageError
from paribus.hosts.address import machine_name, machine_of
from paribus.lab.fleet.inventory import FleetHost
from paribus.lab.store.stores import open_store, read, store_exists, store_url
from paribus.model import Experiment, ExperimentState
from paribus.plan.form.file import PlanTable
from paribus.plan.form.parse import parse, read_file

_MOST_AT_ONCE = 16  # a controller takes about 130 MB


@dataclass(frozen=True, slots=True)
class Assignment:
    """A plan for one machine, the machines beside it that its trials use, and its newest experiment so far."""

    host: FleetHost
    overrides: Mapping[str, str]
    digest: str
    uses: frozenset[str]
    earlier: Experiment | None

    @property
    def is_done(self) -> bool:
        """Whether the store has a finished experiment with this plan, these keys and this machine."""
        return self.earlier is not None and self.earlier.state is ExperimentState.DONE

    def arguments(self, verb: str) -> list[str]:
        """Return the words of a command line that carry out a verb with this plan, but for its file."""
        return [verb, *(f"--set={key}={value}" for key, value in self.overrides.items())]


def assign(
    plan_file: str, overrides: Mapping[str, str], hosts: Sequence[FleetHost], store: str | None, *, anew: bool
) -> list[Assignment]:
    """Return the plan of each machine, named after plan and machine.

    Args:
        plan_file: The plan, a TOML file.
        overrides: Plan keys for all machines; those of one machine come before them.
        hosts: The machines.
        store: The store, where experiments of these plans may be.
        anew: Whether to pass over experiments that the store has.

    Raises:
        PlanError: The plan has problems of form, with the machine named that it has them on.
        UsageError: The plan cannot be read.
        StoreError: The store is damaged.
    """
    text = read_file(plan_file)
    experiments = [] if anew or not store_exists(store_url(store)) else read.experiments(open_store(store))
    assignments = []
    for host in hosts:
        keys = {**overrides, **host.overrides, "target.host": host.address}
        parsed = parse(plan_file, text, keys)
        if not parsed.problems:
            keys["name"] = f"{parsed.table.name}-{host.name}"
            parsed = parse(plan_file, text, keys)
        if parsed.problems:
            raise PlanError(f"{plan_file} on {host.name}", parsed.problems)
        earlier = next((each for each in experiments if each.plan_digest == parsed.digest), None)
        assignments.append(Assignment(host, keys, parsed.digest, _uses(parsed.table), earlier))
    return assignments


def _uses(table: PlanTable) -> frozenset[str]:
    """Machines beside the target whose state its trials depend on: load hosts, and the hypervisor of a guest."""
    load = table.load
    load_hosts = [*load.hosts, *([load.host] if load.host else [])] if load else []
    hypervisor = [table.target.hypervisor] if table.target.guest else []
    return frozenset([*map(machine_of, load_hosts), *hypervisor])


def number_at_once(assignments: Sequence[Assignment], requested: int | None) -> int:
    """Return how many machines are measured at once: all, but one after another where they share a load host.

    Raises UsageError where more are requested than such machines allow.
    """
    counts = Counter(machine for assignment in assignments for machine in assignment.uses)
    shared = next((machine for machine, n in counts.items() if n > 1), None)
    if shared is None:
        return requested or max(1, min(_MOST_AT_ONCE, len(assignments)))
    if requested is not None and requested > 1:
        message = f"{counts[shared]} machines use {machine_name(shared)} for their load or run on it"
        raise UsageError(message, "leave --at-once out, or give each machine another one in the file of machines")
    return 1
