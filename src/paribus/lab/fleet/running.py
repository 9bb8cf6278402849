"""Checking and running a plan on the machines of a fleet, without a terminal."""

import heapq
import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from paribus.errors import NotRestored
from paribus.experiment.budget_cap import needed_budget
from paribus.hosts.address import machine_name
from paribus.lab.fleet.assignment import Assignment, assign
from paribus.lab.fleet.controllers import ControllerCommand, ControllerEnd, Controllers
from paribus.lab.fleet.fleet_documents import (
    CheckedMachine,
    FleetCheckDocument,
    FleetRunDocument,
    MachineState,
    MeasuredMachine,
)
from paribus.lab.fleet.inventory import FleetHost
from paribus.lab.fleet.reporting import identity
from paribus.lab.machine.connection import Report, discard
from paribus.lab.store.stores import open_store, read, store_exists, store_url
from paribus.model import Experiment, ExperimentState

StopRequested = Callable[[], bool]
_MAX_AT_ONCE = 16  # a controller takes about 130 MB
_MAX_CHECKED = 8  # at once: none of the machines works for it, but this one starts a program for each
_USED_UP = "is used up"  # of a budget, in the refusal to resume
_REPORTED_CHECKS = 10  # a line for so many


@dataclass(frozen=True, slots=True)
class Fleet:
    """A plan with the machines that it is meant for.

    Args:
        plan_file: The plan, a TOML file.
        assignments: The plan for each machine.
        store: The store of all experiments: a file, a URL, or None for the user's.
        at_once: Number of machines that are measured at the same time.
        passed_over: Ids of experiments that do not count, since all machines are measured anew.
    """

    plan_file: str
    assignments: Sequence[Assignment]
    store: str | None
    at_once: int
    passed_over: frozenset[str]

    @classmethod
    def of(
        cls,
        plan_file: str,
        overrides: Mapping[str, str],
        hosts: Sequence[FleetHost],
        store: str | None,
        at_once: int | None = None,
        *,
        anew: bool = False,
    ) -> "Fleet":
        """Assign a plan to machines; `anew` passes over the experiments of the store.

        Raises as `assign`, and StoreError.
        """
        experiments = _experiments(store)
        assignments = assign(plan_file, overrides, hosts, [] if anew else experiments)
        passed_over = frozenset(each.id for each in experiments if anew)
        return cls(plan_file, assignments, store, min(at_once or _MAX_AT_ONCE, len(hosts)), passed_over)

    def check(self, report: Report = discard, *, beside_others: bool = False) -> FleetCheckDocument:
        """Check the plan on every machine that is not done with it; changes nothing.

        Args:
            report: Receiver of how many are checked so far.
            beside_others: Whether machines on which an experiment runs are not refused for it.
        """
        open_assignments = [each for each in self.assignments if not each.is_done]
        commands = {
            each.host.name: self._command("check", each, ["--json", "--no-trials"]) for each in open_assignments
        }
        checked: list[str] = []

        def on_end(name: str, _end: ControllerEnd) -> None:
            checked.append(name)
            if len(checked) % _REPORTED_CHECKS == 0:
                report(f"checked {len(checked)} of {len(commands)} machines")

        ends = Controllers(min(_MAX_CHECKED, len(self.assignments)), discard, keeps_output=True).run(commands, on_end)
        machines: list[CheckedMachine] = []
        names: dict[tuple[str, ...], str] = {}
        for assignment in self.assignments:
            machine, fingerprint = _checked(assignment, ends.get(assignment.host.name), beside_others=beside_others)
            if fingerprint and (twin := names.setdefault(identity(fingerprint), machine.machine)) != machine.machine:
                problem = f"{twin} is the same machine: host name, processors, memory and disk are equal"
                machine = machine.model_copy(update={"state": MachineState.REFUSED, "problem": problem})
            machines.append(machine)
        return FleetCheckDocument(at_once=self.at_once, duration_s=self._duration_s(machines), machines=machines)

    def run(
        self,
        checked: FleetCheckDocument,
        options: Sequence[str] = (),
        report: Report = discard,
        stop_requested: StopRequested = lambda: False,
    ) -> FleetRunDocument:
        """Begin or continue the experiment of each machine that the check did not refuse, and wait for the end of all.

        Args:
            checked: The answer of `check`.
            options: Further options of `paribus run` and `paribus resume`, the same for all.
            report: Receiver of each controller's lines, with the name of its machine.
            stop_requested: Whether to stop: every machine is restored, and a later run continues.

        Raises:
            StoreError: The store cannot be read after the end.
        """
        refused = {each.machine: each.problem for each in checked.machines if each.state is MachineState.REFUSED}
        commands = {
            each.host.name: self._command("run", each, [f"--digest={each.digest}", *options])
            if each.earlier is None
            else ControllerCommand(["resume", *self._store_option(), *options, each.earlier.id], each.uses)
            for each in self.assignments
            if not each.is_done and each.host.name not in refused
        }
        ends = Controllers(self.at_once, report, stop_requested).run(commands)
        newest = {each.plan_digest: each for each in reversed(_experiments(self.store))}
        machines = []
        for each in self.assignments:
            experiment = newest.get(each.digest)
            if experiment is not None and experiment.id in self.passed_over:
                experiment = None
            machine = _measured(each, ends.get(each.host.name), experiment, refused.get(each.host.name))
            end = ends.get(each.host.name)
            stopped_by_budget = end is not None and (end.exit_code == 0 or _USED_UP in end.message)
            machines.append(self._with_larger_budget(machine) if stopped_by_budget else machine)
        return FleetRunDocument(machines=machines)

    def _with_larger_budget(self, machine: MeasuredMachine) -> MeasuredMachine:
        """Name the command that continues an experiment which has used up its budget."""
        if machine.experiment is None or machine.state is MachineState.DONE:
            return machine
        opened = open_store(self.store)
        needed = needed_budget(read.plan(opened, machine.experiment), read.trials(opened, machine.experiment))
        if not needed:
            return machine
        problem = f"its budget is used up; continue with: paribus resume {machine.experiment} --budget {needed}"
        return machine.model_copy(update={"state": MachineState.INTERRUPTED, "problem": problem})

    def _command(self, verb: str, assignment: Assignment, options: Sequence[str]) -> ControllerCommand:
        arguments = [verb, *assignment.options(), *self._store_option(), *options, "--", self.plan_file]
        return ControllerCommand(arguments, assignment.uses if verb == "run" else frozenset())

    def _store_option(self) -> list[str]:
        return [] if self.store is None else [f"--store={self.store}"]

    def _duration_s(self, machines: Sequence[CheckedMachine]) -> float:
        """Return the time until all have ended: so many at once, and one after another where they use one machine."""
        ends, by_used = [0.0] * self.at_once, defaultdict[str, float](float)
        for assignment, machine in zip(self.assignments, machines, strict=True):
            if machine.duration_s is not None and machine.state is not MachineState.REFUSED:
                heapq.heapreplace(ends, ends[0] + machine.duration_s)
                for used in assignment.uses:
                    by_used[used] += machine.duration_s
        return max([*ends, *by_used.values()])


def _experiments(store: str | None) -> list[Experiment]:
    """Return the experiments of a store, the newest first; none where it does not exist. Raises StoreError."""
    return read.experiments(open_store(store)) if store_exists(store_url(store)) else []


def _checked(
    assignment: Assignment, end: ControllerEnd | None, *, beside_others: bool
) -> tuple[CheckedMachine, Mapping[str, str]]:
    """Return the answer for a machine, and its fingerprint where that is known."""
    earlier = assignment.earlier
    preview: dict[str, Any] = {}
    state, problem = MachineState.READY, ""
    if end is None:
        state = MachineState.DONE if assignment.is_done else MachineState.NOT_BEGUN
    elif end.exit_code != 0:
        state, problem = MachineState.REFUSED, end.reason
    else:
        preview = json.loads(end.output)
        state = MachineState.INTERRUPTED if earlier is not None else MachineState.READY
        if problem := _obstacle(preview, assignment.host, beside_others=beside_others):
            state = MachineState.REFUSED
    machine = CheckedMachine(
        machine=assignment.host.name,
        address=assignment.host.address,
        state=state,
        experiment=earlier.id if earlier else None,
        other_experiment=assignment.of_other_plan.id if assignment.of_other_plan else None,
        trials=preview.get("trials"),
        duration_s=preview.get("duration_s"),
        problem=problem,
    )
    return machine, preview.get("fingerprint") or (earlier.fingerprint if earlier and not problem else {})


def _obstacle(preview: Mapping[str, Any], host: FleetHost, *, beside_others: bool) -> str:
    """Return what keeps an experiment from beginning on a machine; empty where nothing does."""
    if preview["cut_off"]:
        names = ", ".join(preview["cut_off"])
        return (
            f"{names} was cut off and may have left settings changed\nrestore it: paribus undo --target {host.address}"
        )
    if preview["running"] and not beside_others:
        return f"{', '.join(preview['running'])} is running there\nto begin after its end: paribus fleet run … --wait"
    return ""


def _measured(
    assignment: Assignment, end: ControllerEnd | None, experiment: Experiment | None, refusal: str | None
) -> MeasuredMachine:
    problem = ""
    if refusal is not None:
        state, problem = MachineState.REFUSED, refusal
    elif experiment is not None and experiment.state is ExperimentState.DONE:
        state = MachineState.DONE
    elif end is None:
        state = MachineState.NOT_BEGUN if experiment is None else MachineState.INTERRUPTED
    elif end.was_stopped:
        state = MachineState.INTERRUPTED if experiment is not None else MachineState.NOT_BEGUN
    else:
        state, problem = MachineState.FAILED, end.reason
        if end.exit_code < 0:
            target = machine_name(assignment.host.address)
            problem += f"; see what is left on {target}: paribus status --target {assignment.host.address}"
    return MeasuredMachine(
        machine=assignment.host.name,
        address=assignment.host.address,
        state=state,
        experiment=experiment.id if experiment else None,
        exit_code=end.exit_code if end is not None else None,
        problem=problem,
        is_unrestored=end is not None and end.exit_code == NotRestored.exit_code,
    )
