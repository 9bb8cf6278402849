"""The documents of `paribus fleet check` and `paribus fleet run` as text."""

import functools
import shlex
from collections.abc import Sequence

from paribus.cli.delivery import as_on_terminal, deliver
from paribus.cli.store_hints import with_store
from paribus.cli.terminal import say
from paribus.errors import UsageError
from paribus.i18n import of_environment, speaking
from paribus.lab.fleet.fleet_documents import CheckedMachine, FleetCheckDocument, FleetRunDocument, MachineState
from paribus.lab.fleet.reporting import FEWEST, fleet_document
from paribus.lab.store.stores import open_store, read
from paribus.report import fleet_view
from paribus.report.render import fleet_text
from paribus.units import show_duration


def show_check(document: FleetCheckDocument, *, err: bool = False) -> None:
    """Print the machine time of each machine, what the store has of it, or why it was refused."""
    rows = [(each.machine, each.address, _plan_on(each), each.problem) for each in document.machines]
    _rows(rows, err=err)
    if document.duration_s:
        to_measure = sum(each.state in (MachineState.READY, MachineState.INTERRUPTED) for each in document.machines)
        at_once, duration = min(to_measure, document.at_once), show_duration(document.duration_s)
        say(f"{to_measure} to be measured, up to {at_once} at once: about {duration}", err=err)


def _plan_on(machine: CheckedMachine) -> str:
    text = f"{machine.state} ({machine.experiment})" if machine.experiment else str(machine.state)
    if machine.state is MachineState.READY and machine.duration_s is not None:
        text = f"{machine.trials} trials, at most {show_duration(machine.duration_s)}"
    if machine.other_experiment:
        text += f"; {machine.other_experiment} of an earlier form of this plan was not finished"
    return text


def show_run(document: FleetRunDocument, store: str | None) -> None:
    """Print how each machine ended, and the effects over those that are done where they are enough."""
    _rows([(each.machine, str(each.state), each.experiment or "", each.problem) for each in document.machines])
    unfinished = (MachineState.INTERRUPTED, MachineState.NOT_BEGUN)
    if any(each.state in unfinished and not each.problem for each in document.machines):
        say("\nto continue, give the same command again")
    done = [each.experiment for each in document.machines if each.experiment and each.state is MachineState.DONE]
    if len(done) < FEWEST:
        say(f"\nthe effects over machines need {FEWEST} machines that are done")
        for experiment in done:
            say(with_store(f"  see one: paribus report {experiment}"))
        return
    opened = open_store(store)
    with speaking(of_environment()):
        try:
            view = fleet_view.view(fleet_document(opened, [read.find(opened, experiment) for experiment in done]))
        except UsageError as error:  # such as two experiments of one machine, made at different times
            say(f"\n{error}")
            return
        say("")
        deliver(as_on_terminal(functools.partial(fleet_text.render, view), to_file=False), None)
    option = "" if store is None else f" --store {shlex.quote(store)}"
    say(f"\nagain: paribus fleet report {' '.join(done)}{option}")


def _rows(rows: Sequence[tuple[str, str, str, str]], *, err: bool = False) -> None:
    """Print rows in columns; the last cell may have lines, which stand below."""
    widths = [max(len(row[column]) for row in rows) for column in range(2)]
    for *cells, last in rows:
        say(f"  {cells[0]:{widths[0]}}  {cells[1]:{widths[1]}}  {cells[2]}", err=err)
        for line in last.splitlines():
            say(with_store(f"    {line}"), err=err)
