"""Application of what an experiment recommends to the machines of a fleet, by stages, each read back."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field

from paribus.errors import NotRestored, UsageError
from paribus.lab.fleet.controllers import MOST_AT_ONCE, ControllerCommand, ControllerEnd, Controllers
from paribus.lab.fleet.inventory import FleetHost
from paribus.lab.machine.connection import Report, discard
from paribus.lab.rollout.apply_document import ApplyDocument
from paribus.model import Value
from paribus.units import parse_duration, parse_share

StopRequested = Callable[[], bool]
_POLL_S = 0.2
_CANARIES = "write a number such as 2, or a share such as 5%"


class _Document(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class RolloutState(StrEnum):
    """State of a machine in a rollout."""

    READY = "ready"
    IN_FORCE = "in force"
    REFUSED = "refused"
    FAILED = "failed"
    NOT_BEGUN = "not begun"


class RolloutSetting(_Document):
    """A setting of a machine: its value as last read, null where there is none, and the recommended one."""

    knob: str
    now: Value | None
    recommended: Value


class RolloutMachine(_Document):
    """A machine of a rollout."""

    machine: str
    address: str
    state: RolloutState
    is_canary: bool = Field(description="whether it is one of those that are set first")
    settings: list[RolloutSetting] = Field(description="those that Paribus sets; others are set by hand")
    by_hand: list[str] = Field(description="recommended settings that the program or the server of the load has")
    was_set: bool | None = Field(description="whether this rollout has changed a setting there; null where unknown")
    is_unrestored: bool = Field(description="whether a setting could not be restored there, or its journal not be read")
    undo: str = Field(description="the command that takes back what was set there")
    problem: str


class FleetApplyDocument(_Document):
    """The answer of `paribus fleet apply --json`."""

    experiment: str
    machines: list[RolloutMachine]

    def named(self, *states: RolloutState) -> list[str]:
        """The names of the machines in one of these states."""
        return [each.machine for each in self.machines if each.state in states]


def read_canary(text: str) -> float:
    """Return a number of machines, or a share of them below 1. Raises UsageError."""
    is_share = text.strip().endswith("%")
    try:
        number = parse_share(text) if is_share else float(int(text))
    except ValueError as error:
        raise UsageError(f"--canary {text} is neither a number of machines nor a share", _CANARIES) from error
    if number <= 0 or (is_share and number > 1):
        raise UsageError(f"--canary {text} is not between nothing and all machines", _CANARIES)
    return math.inf if is_share and number == 1 else number


def read_pause(text: str) -> float:
    """Return a duration in seconds, 0 for an empty text. Raises UsageError."""
    try:
        return parse_duration(text) if text else 0.0
    except ValueError as error:
        raise UsageError(f"--pause {text}: {error}", "write a time such as 30min") from error


@dataclass(frozen=True, slots=True)
class Rollout:
    """Settings that an experiment recommends, and the machines that get them.

    Args:
        experiment: Id of the experiment.
        hosts: The machines, in the order in which they are set.
        canary: Number of machines that are set and read back first; below 1 a share of all.
        factor: The only factor to set; empty for all.
        store: The store of the experiment: a file, a URL, or None for the user's.
        at_once: Number of machines that are set at the same time.
        anyway: Whether machines of another kind are set too.
        become: Whether root is reached by sudo, unless the entry of a machine says otherwise.
    """

    experiment: str
    hosts: Sequence[FleetHost]
    canary: float
    factor: str = ""
    store: str | None = None
    at_once: int = MOST_AT_ONCE
    anyway: bool = False
    become: bool = False

    def check(self) -> FleetApplyDocument:
        """Read the settings on every machine; changes nothing."""
        ends = self._run(self.hosts, ["--dry-run"])
        machines = [self._read(host, ends.get(host.name)) for host in self.hosts]
        ready = [each.machine for each in machines if each.state is RolloutState.READY]
        canaries = set(ready[: self._first_stage(len(ready))])
        return FleetApplyDocument(
            experiment=self.experiment,
            machines=[each.model_copy(update={"is_canary": each.machine in canaries}) for each in machines],
        )

    def run(
        self,
        checked: FleetApplyDocument,
        pause_s: float = 0.0,
        report: Report = discard,
        stop_requested: StopRequested = lambda: False,
    ) -> FleetApplyDocument:
        """Set the machines that are ready: first the canaries, then the others if all canaries are in force.

        Args:
            checked: The answer of `check`.
            pause_s: Seconds between the two stages; after them the canaries are read again.
            report: Receiver of each controller's lines, with the name of its machine, and of the stages.
            stop_requested: Whether to stop; machines that were not begun stay as they are.
        """
        machines = {each.machine: each for each in checked.machines}
        ready = [each for each in checked.machines if each.state is RolloutState.READY]
        canaries = [each.machine for each in ready if each.is_canary]
        others = [each.machine for each in ready if not each.is_canary]
        machines |= self._set(canaries, machines, report, stop_requested)
        if others and self._is_good(canaries, machines) and pause_s:
            report(f"{len(canaries)} machines are set and read back; the others follow after the pause")
            self._wait(pause_s, stop_requested)
            machines |= self._verified(canaries, machines)
        if self._is_good(canaries, machines) and not stop_requested():
            machines |= self._set(others, machines, report, stop_requested)
        remaining = {
            name: machine.model_copy(update={"state": RolloutState.NOT_BEGUN})
            for name, machine in machines.items()
            if machine.state is RolloutState.READY
        }
        return checked.model_copy(update={"machines": list((machines | remaining).values())})

    def _first_stage(self, ready: int) -> int:
        """The number of canaries of so many machines: at least one."""
        return max(1, math.ceil(self.canary * ready) if self.canary < 1 else int(min(self.canary, ready)))

    @staticmethod
    def _is_good(names: Sequence[str], machines: dict[str, RolloutMachine]) -> bool:
        return all(machines[name].state is RolloutState.IN_FORCE for name in names)

    @staticmethod
    def _wait(pause_s: float, stop_requested: StopRequested) -> None:
        deadline = time.monotonic() + pause_s
        while time.monotonic() < deadline and not stop_requested():
            time.sleep(_POLL_S)

    def _set(
        self,
        names: Sequence[str],
        machines: dict[str, RolloutMachine],
        report: Report,
        stop_requested: StopRequested,
    ) -> dict[str, RolloutMachine]:
        """Set machines and read them back, also those that failed; those that a stop has kept from beginning stay."""
        hosts = [host for host in self.hosts if host.name in names]
        ends = self._run(hosts, ["--yes"], report, stop_requested)
        begun = {name: end for name, end in ends.items() if not end.was_stopped}
        read = self._verified(list(begun), machines)
        for name, end in begun.items():
            before, now = machines[name].settings, read[name]
            if end.exit_code == 0:
                was_set: bool | None = True
            else:  # it restores what it has set, unless its connection is lost
                was_set = now.settings != before if now.settings else None
                now = now.model_copy(update={"state": RolloutState.FAILED, "problem": end.reason})
            is_unrestored = end.exit_code == NotRestored.exit_code
            read[name] = now.model_copy(update={"was_set": was_set, "is_unrestored": is_unrestored})
        return read

    def _verified(self, names: Sequence[str], machines: dict[str, RolloutMachine]) -> dict[str, RolloutMachine]:
        """Read machines that were set."""
        hosts = [host for host in self.hosts if host.name in names]
        ends = self._run(hosts, ["--dry-run"])
        read: dict[str, RolloutMachine] = {}
        for host in hosts:
            now = self._read(host, ends.get(host.name))
            if now.state is RolloutState.READY:
                differing = [each for each in now.settings if each.now != each.recommended]
                moved = ", ".join(f"{each.knob} is {each.now}" for each in differing)
                now = now.model_copy(update={"problem": f"not in force: {moved}"})
            state = RolloutState.IN_FORCE if now.state is RolloutState.IN_FORCE else RolloutState.FAILED
            earlier = machines[host.name]
            read[host.name] = now.model_copy(
                update={"state": state, "is_canary": earlier.is_canary, "was_set": earlier.was_set}
            )
        return read

    def _run(
        self,
        hosts: Sequence[FleetHost],
        options: Sequence[str],
        report: Report = discard,
        stop_requested: StopRequested = lambda: False,
    ) -> dict[str, ControllerEnd]:
        if not hosts:
            return {}
        commands = {host.name: ControllerCommand(self._arguments(host, options)) for host in hosts}
        return Controllers(min(self.at_once, len(hosts)), report, stop_requested, keeps_output=True).run(commands)

    def _arguments(self, host: FleetHost, options: Sequence[str]) -> list[str]:
        return [
            "apply",
            self.experiment,
            "--json",
            *options,
            f"--target={host.address}",
            *(f"--path={path}" for path in [host.overrides.get("target.path")] if path),
            *(f"--device={device}" for device in [host.overrides.get("target.device")] if device),
            *self._become(host),
            *([f"--factor={self.factor}"] if self.factor else []),
            *(["--anyway"] if self.anyway else []),
            *([] if self.store is None else [f"--store={self.store}"]),
        ]

    def _become(self, host: FleetHost) -> list[str]:
        return ["--become"] if host.becomes_root(by_default=self.become) else []

    def _read(self, host: FleetHost, end: ControllerEnd | None) -> RolloutMachine:
        """The state of a machine by what its controller has read."""
        state, problem = RolloutState.READY, ""
        settings: list[RolloutSetting] = []
        by_hand: list[str] = []
        if end is None or end.exit_code != 0:
            state, problem = RolloutState.REFUSED, end.reason if end else "stopped before it was read"
        else:
            document = ApplyDocument.model_validate_json(end.output)
            by_paribus = [step for step in document.steps if not step.by_hand]
            settings = [RolloutSetting(knob=step.knob, now=step.now, recommended=step.wanted) for step in by_paribus]
            by_hand = [f"{step.knob} = {step.wanted}" for step in document.steps if step.by_hand]
            problem = _refusal(document, anyway=self.anyway)
            if problem:
                state = RolloutState.REFUSED
            elif not document.to_set:
                state = RolloutState.IN_FORCE
        return RolloutMachine(
            machine=host.name,
            address=host.address,
            state=state,
            is_canary=False,
            settings=settings,
            by_hand=by_hand,
            was_set=False,
            is_unrestored=False,
            undo=" ".join(["paribus undo --target", host.address, *self._become(host)]),
            problem=problem,
        )


def _refusal(document: ApplyDocument, *, anyway: bool) -> str:
    """The reason why a machine must not, or cannot, be set; empty where it can."""
    if document.differences and not anyway:
        return "another kind of machine: " + "; ".join(
            f"{each.name} is {each.found}, measured with {each.measured}" for each in document.differences
        )
    refused = [step for step in document.steps if step.refused and step.now != step.wanted]
    return "; ".join(f"{step.knob}: {step.refused}" for step in refused)
