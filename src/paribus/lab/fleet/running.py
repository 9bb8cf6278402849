"""Checking and running a plan on the machines of a fleet, without a terminal."""

import heapq
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from paribus.errors import Interrupted, NotRestored
from paribus.lab.fleet.assignment import Assignment, assign, number_at_once
from paribus.lab.fleet.controllers import ControllerEnd, Controllers
from paribus.lab.fleet.fleet_documents import (
    CheckedMachine,
    FleetCheckDocument,
    FleetRunDocument,
    MachineState,
    MeasuredMachine,
)
from paribus.lab.fleet.inventory import FleetHost
from paribus.lab.machine.connection import Report, discard
from paribus.lab.store.stores import open_store, read, store_exists, store_url
from paribus.model import Experiment, ExperimentState

StopRequested = Callable[[], bool]
_MOST_CHECKED = 8  # at once: none of the machines works for it, but this one starts a program for each


@dataclass(frozen=True, slots=True)
class Fleet:
    """A plan with the machines that it is meant for.

    Args:
        plan_file: The plan, a TOML file.
        assignments: The plan for each machine.
        store: The store of all experiments: a file, a URL, or None for the user's.
        at_once: Number of machines that are measured at the same time.
    """

    plan_file: str
    assignments: Sequence[Assignment]
    store: str | None
    at_once: int

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
        """Assign a plan to machines. Raises as `assign` and `number_at_once`."""
        assignments = assign(plan_file, overrides, hosts, store, anew=anew)
        return cls(plan_file, assignments, store, number_at_once(assignments, at_once))

    def check(self, report: Report = discard) -> FleetCheckDocument:
        """Check the plan on every machine that has no experiment with it; changes nothing.

        `report` receives the reason for each machine that is refused.
        """
        at_once = min(_MOST_CHECKED, len(self.assignments))
        commands = {
            each.host.name: [*each.arguments("check"), *self._store_option(), "--json", self.plan_file]
            for each in self.assignments
            if each.earlier is None
        }
        ended = Controllers(at_once, discard).run(commands)
        machines = [_checked(each, ended.get(each.host.name)) for each in self.assignments]
        for machine in machines:
            if machine.problem:
                report(f"{machine.machine}: {machine.problem}")
        durations = [machine.duration_s for machine in machines if machine.duration_s is not None]
        return FleetCheckDocument(at_once=self.at_once, duration_s=_whole_s(durations, self.at_once), machines=machines)

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
        commands = {}
        for each in self.assignments:
            if each.earlier is None:
                commands[each.host.name] = [*each.arguments("run"), *self._store_option(), *options, self.plan_file]
            elif not each.is_done:
                commands[each.host.name] = ["resume", *self._store_option(), *options, each.earlier.id]
        commands = {name: words for name, words in commands.items() if name not in refused}
        ended = Controllers(self.at_once, report, stop_requested).run(commands)
        newest = self._newest()
        machines = [
            _refused(each, refused[each.host.name])
            if each.host.name in refused
            else _measured(each, ended.get(each.host.name), newest.get(each.digest, each.earlier))
            for each in self.assignments
        ]
        left = [name for name, each in ended.items() if each.exit_code == NotRestored.exit_code]
        return FleetRunDocument(machines=machines, settings_left=left)

    def _newest(self) -> dict[str, Experiment]:
        """Return the newest experiment of each plan, by its digest."""
        if not store_exists(store_url(self.store)):
            return {}
        return {each.plan_digest: each for each in reversed(read.experiments(open_store(self.store)))}

    def _store_option(self) -> list[str]:
        return [] if self.store is None else [f"--store={self.store}"]


def _checked(assignment: Assignment, ended: ControllerEnd | None) -> CheckedMachine:
    trials, duration_s, problem, state = None, None, "", MachineState.READY
    if ended is None:
        state = MachineState.DONE if assignment.is_done else MachineState.INTERRUPTED
    elif ended.exit_code != 0:
        state, problem = MachineState.REFUSED, ended.message or f"the check ended with code {ended.exit_code}"
    else:
        checked = json.loads(ended.output)
        trials, duration_s = checked["trials"], checked["duration_s"]
    return CheckedMachine(
        machine=assignment.host.name,
        address=assignment.host.address,
        state=state,
        experiment=assignment.earlier.id if assignment.earlier else None,
        trials=trials,
        duration_s=duration_s,
        problem=problem,
    )


def _refused(assignment: Assignment, problem: str) -> MeasuredMachine:
    host, state = assignment.host, MachineState.REFUSED
    return MeasuredMachine(machine=host.name, address=host.address, state=state, experiment=None, problem=problem)


def _measured(assignment: Assignment, ended: ControllerEnd | None, experiment: Experiment | None) -> MeasuredMachine:
    problem = ended.message if ended is not None and ended.exit_code != 0 else ""
    if experiment is not None and experiment.state is ExperimentState.DONE:
        state = MachineState.DONE
    elif ended is None and experiment is None:
        state = MachineState.NOT_BEGUN
    elif ended is None or ended.exit_code == Interrupted.exit_code:
        state = MachineState.INTERRUPTED
    else:
        state = MachineState.FAILED
    return MeasuredMachine(
        machine=assignment.host.name,
        address=assignment.host.address,
        state=state,
        experiment=experiment.id if experiment else None,
        problem=problem,
    )


def _whole_s(durations: Sequence[float], at_once: int) -> float:
    """Return the time until all have ended that begin in this order, so many at once."""
    ends = [0.0] * at_once
    for duration_s in durations:
        heapq.heapreplace(ends, ends[0] + duration_s)
    return max(ends)
