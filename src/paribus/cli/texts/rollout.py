"""The documents of `paribus fleet apply` as text."""

import shlex
from pathlib import Path

from paribus.cli.store_hints import with_store
from paribus.cli.terminal import say
from paribus.lab.rollout.change import ProductionChange
from paribus.lab.rollout.fleet_rollout import FleetApplyDocument, RolloutMachine, RolloutState
from paribus.lab.rollout.fleet_undo import FleetUndoDocument, UndoMachine, UndoState


def show_check(document: FleetApplyDocument, change: ProductionChange, *, err: bool = False) -> None:
    """Print each machine with the settings that it would get, what they risk, and the machines that are set first."""
    for machine in document.machines:
        say(f"{_name(machine)}: {_present(machine)}", err=err)
    for step in change.steps:
        if step.loss:
            say(f"{step.knob} = {step.after} trades safety for speed: {step.loss}", err=err)
    by_hand = sorted({setting for machine in document.machines for setting in machine.by_hand})
    for setting in by_hand:
        say(with_store(f"by hand on each machine: {setting}; see how: paribus ticket {document.experiment}"), err=err)
    ready = document.named(RolloutState.READY)
    canaries = [machine.machine for machine in document.machines if machine.is_canary]
    if ready:
        others = len(ready) - len(canaries)
        then = f"; then {others} {'other' if others == 1 else 'others'}" if others else ""
        say(f"to be set first: {', '.join(canaries)}{then}", err=err)


def show_end(document: FleetApplyDocument, hosts: Path) -> None:
    """Print what became of each machine, and how to take back what was set; `hosts` is the file of the machines."""
    for machine in document.machines:
        what = "set and read back" if machine.was_set and not machine.problem else str(machine.state)
        say(f"{_name(machine)}: {what}" + (f": {machine.problem}" if machine.problem else ""))
    if document.named(RolloutState.NOT_BEGUN):
        say("\nto continue, give the same command again")
    for machine in document.machines:
        if machine.was_set is None:
            say(f"{machine.machine} may be set or not; see: paribus status --target {machine.address}")
    changed = [machine for machine in document.machines if machine.was_set]
    if changed:
        names = ",".join(machine.machine for machine in changed)
        limit = "" if len(changed) == len(document.machines) else f" --limit {shlex.quote(names)}"
        say(f"\nto take a machine back: {changed[0].undo}")
        say(f"to take all back: paribus fleet undo --hosts {shlex.quote(str(hosts))}{limit}")


def show_undone(checked: FleetUndoDocument, document: FleetUndoDocument) -> None:
    """Print what became of the machines that had something to restore, and the number of all that are not restored."""
    tried = [each.machine for each in checked.machines if each.is_open]
    show_undo(document.model_copy(update={"machines": [each for each in document.machines if each.machine in tried]}))
    restored = len(document.named(UndoState.RESTORED))
    others = len(document.named(UndoState.FAILED, UndoState.NOT_BEGUN))
    say(f"\n{restored} restored" + (f", {others} not" if others else ""))


def show_undo(document: FleetUndoDocument) -> None:
    """Print each machine with the settings that it gets back, or got back, and what stays there."""
    for machine in document.machines:
        is_ahead = document.dry_run or machine.state is UndoState.NOT_BEGUN
        settings = ", ".join(
            f"{each.knob} reset by the last start"
            if each.before is None
            else f"{each.knob} {'back to' if is_ahead else 'restored, now'} {each.before}"
            for each in machine.settings
        )
        parts = [settings, machine.problem, str(machine.state) if machine.state is UndoState.NOT_BEGUN else ""]
        say(f"{_name(machine)}: {'; '.join(filter(None, parts)) or machine.state}")
        for experiment in machine.running:
            say(f"  experiment {experiment} is still running there and was left alone")
        for experiment in machine.applied:
            again = "to restore that too, give the same command again"
            say(f"  what was applied from {experiment} stays; {again}")


def _name(machine: RolloutMachine | UndoMachine) -> str:
    return machine.machine if machine.machine == machine.address else f"{machine.machine} ({machine.address})"


def _present(machine: RolloutMachine) -> str:
    if machine.state is RolloutState.REFUSED:
        return f"refused: {machine.problem}"
    if machine.state is RolloutState.IN_FORCE:
        return "all is in force" if machine.settings else "nothing is to be set"
    return ", ".join(
        f"{each.knob} now {each.now}, then {each.recommended}"
        for each in machine.settings
        if each.now != each.recommended
    )
