"""Assignment of a plan to each machine of a fleet, and what the store already has of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from paribus import workloads as _workloads  # noqa: F401  registers the kinds that a plan may name
from paribus.errors import PlanError, UsageError
from paribus.hosts.address import machine_of
from paribus.lab.fleet.inventory import FleetHost
from paribus.lab.machine.guest_inspection import hypervisor_of
from paribus.model import Experiment, ExperimentState
from paribus.plan.form.file import PlanTable
from paribus.plan.form.parse import Parsed, parse, read_file


@dataclass(frozen=True, slots=True)
class Assignment:
    """A plan for one machine.

    Args:
        host: The machine.
        overrides: Plan keys that differ from the file.
        digest: Digest of plan and overrides.
        uses: Machines whose state its trials depend on: the target, load hosts, and the hypervisor of a guest.
        earlier: Its newest experiment so far.
        of_other_plan: The newest experiment of that name with another text or other keys, if that is unfinished.
    """

    host: FleetHost
    overrides: Mapping[str, str]
    digest: str
    uses: frozenset[str]
    earlier: Experiment | None
    of_other_plan: Experiment | None

    @property
    def is_done(self) -> bool:
        """Whether the store has a finished experiment with this plan, these keys and this machine."""
        return self.earlier is not None and self.earlier.state is ExperimentState.DONE

    def options(self) -> list[str]:
        """Return the options of `check` and `run` that make the plan that of this machine."""
        return [f"--set={key}={value}" for key, value in self.overrides.items()]


def assign(
    plan_file: str, overrides: Mapping[str, str], hosts: Sequence[FleetHost], experiments: Sequence[Experiment]
) -> list[Assignment]:
    """Return the plan of each machine, named after plan and machine.

    Args:
        plan_file: The plan, a TOML file.
        overrides: Plan keys for all machines; where a machine has its own value, that counts.
        hosts: The machines.
        experiments: Those that may be of these plans, the newest first.

    Raises:
        PlanError: The plan has problems of form, with the machine named that it has them on.
        UsageError: The plan cannot be read, or `overrides` name the target.
    """
    if "target.host" in overrides:
        raise UsageError("--set target.host names one machine", "leave it out: the file of machines has the addresses")
    text = read_file(plan_file)
    assignments = []
    for host in hosts:
        keys = {**overrides, **host.overrides, "target.host": host.address}
        keys["name"] = f"{_parsed(plan_file, text, keys, host).table.name}-{host.name}"
        parsed = _parsed(plan_file, text, keys, host)
        named = [each for each in experiments if each.name == keys["name"]]
        earlier = next((each for each in named if each.plan_digest == parsed.digest), None)
        other = named[0] if named and earlier is None and named[0].state is not ExperimentState.DONE else None
        assignments.append(Assignment(host, keys, parsed.digest, _uses(parsed.table), earlier, other))
    return assignments


def _parsed(plan_file: str, text: str, keys: Mapping[str, str], host: FleetHost) -> Parsed:
    """Return the plan with these keys. Raises PlanError, with the name of the machine."""
    where = f"{plan_file} on {host.name}" + (", with its own keys of the file of machines" if host.overrides else "")
    try:
        parsed = parse(plan_file, text, keys)
    except PlanError as error:
        raise PlanError(where, error.problems) from error
    if parsed.problems:
        raise PlanError(where, parsed.problems)
    return parsed


def _uses(table: PlanTable) -> frozenset[str]:
    hypervisor = hypervisor_of(table)
    addresses = [
        table.target.host,
        *(table.load.addresses if table.load else ()),
        *([hypervisor] if hypervisor else ()),
    ]
    return frozenset(machine_of(address.rstrip("/")) for address in addresses)
