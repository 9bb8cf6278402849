"""Verification on machines that what an experiment recommends is still in force."""

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict

from paribus.errors import ParibusError
from paribus.hosts.transport import described
from paribus.knobs.apply import is_same_value
from paribus.knobs.discovery import offer
from paribus.lab.audit.server_facts import ServerDescription, server_facts
from paribus.lab.fleet.inventory import FleetHost
from paribus.lab.machine.connection import Report, discard, site
from paribus.lab.rollout.change import ChangeStep, ProductionChange, change_of
from paribus.lab.rollout.other_machine import OtherMachine, location_at, with_stated_device
from paribus.lab.store.stores import open_experiment, read
from paribus.model import Experiment, Location, Plan, Value
from paribus.trial.target_session import Site

_FAMILIES = ("mysql", "postgres")  # of variables that only a server knows


class _Document(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class VerifiedSetting(_Document):
    """A recommended setting on a machine; `now` is None where it could not be read, and `why` says so."""

    setting: str
    recommended: Value
    now: Value | None
    in_force: bool
    why: str


class VerifiedMachine(_Document):
    """A machine with its settings; `problem` is the reason why it was not reached."""

    machine: str
    target: str
    settings: list[VerifiedSetting]
    problem: str


class VerifyDocument(_Document):
    """The answer of `paribus verify --json`."""

    experiment: str
    machines: list[VerifiedMachine]

    @property
    def in_force(self) -> bool:
        """Whether every setting is in force on every machine."""
        return all(
            not machine.problem and all(setting.in_force for setting in machine.settings) for machine in self.machines
        )


def verify(
    experiment: str,
    store: str | None,
    targets: Sequence[FleetHost],
    *,
    path: str = "",
    database: str = "",
    become: bool = False,
    report: Report = discard,
) -> VerifyDocument:
    """Read the recommended settings on machines, by default on that of the plan; changes nothing.

    `path` is the folder with the data, by default that of the machine, else of the plan; `database` is the address of a
    server as each machine sees it. A machine may have its own `target.path`, `target.device` and `target.become`.
    Raises as `change_of`; a machine that is not reached is part of the answer.
    """
    change = change_of(experiment, store)
    opened, recorded = open_experiment(store, change.experiment)
    plan = read.plan(opened, recorded.id)
    machines = [
        _machine(
            target,
            change,
            recorded,
            plan,
            path or target.overrides.get("target.path", ""),
            database,
            become=become or target.overrides.get("target.become") == "true",
            report=report,
        )
        for target in targets or [FleetHost(plan.target.address, plan.target.address)]
    ]
    return VerifyDocument(experiment=change.experiment, machines=machines)


def _machine(
    host: FleetHost,
    change: ProductionChange,
    recorded: Experiment,
    plan: Plan,
    path: str,
    database: str,
    *,
    become: bool,
    report: Report,
) -> VerifiedMachine:
    device = host.overrides.get("target.device", "")
    is_measured_place = host.address == plan.target.address and not path and not device
    machine = with_stated_device(OtherMachine(host.address, path, device), recorded)
    try:
        with site(host.address, become=become, report=report) as connected, described(host.address):
            elsewhere = location_at(connected, path or plan.target.path, machine.device)
            location = plan.target.location if is_measured_place else elsewhere
            server = server_facts(connected.host, connected.engine, database) if database else ServerDescription()
            settings = [_setting(step, connected, plan, location, server) for step in change.steps]
    except ParibusError as error:
        return VerifiedMachine(machine=host.name, target=host.address, settings=[], problem=str(error))
    return VerifiedMachine(machine=host.name, target=host.address, settings=settings, problem="")


def _setting(
    step: ChangeStep, site: Site, plan: Plan, location: Location, server: ServerDescription
) -> VerifiedSetting:
    family, _, name = step.knob.partition(".")
    if family in _FAMILIES:
        variable = server.variables.get(name)
        if variable is not None:
            is_same = variable.is_same(str(step.after), variable.value)
            return _verified(step, variable.value, is_same)
        return _verified(step, None, why=f"{server.name} has no {name}" if server.kind else "add --database DSN")
    if step.by_hand:
        return _verified(step, None, why="it is set by hand: check it by the runbook of paribus ticket")
    rows = [knob for knob in plan.knobs if knob.command is not None]
    offered = offer(site.host, site.catalogue.with_rows(rows), step.knob, location, root=True)
    is_same = is_same_value(offered.knob, step.after, offered.current)
    return _verified(step, offered.current, is_same, "" if offered.current is not None else offered.refused)


def _verified(step: ChangeStep, now: Value | None, is_same: bool = False, why: str = "") -> VerifiedSetting:
    return VerifiedSetting(setting=step.knob, recommended=step.after, now=now, in_force=is_same, why=why)
