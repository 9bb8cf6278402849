"""The answer of `paribus status`, as one document and as text."""

import time
from typing import Literal

from pydantic import BaseModel, ConfigDict
from rich.console import Console
from rich.table import Table
from rich.text import Text

from paribus.cli.target import LOCAL, inspected_site
from paribus.knobs.journal import inspect
from paribus.model import Experiment, ExperimentState, Trial, TrialState, Value
from paribus.store import read
from paribus.store.open import file_of, open_engine, store_url


class _Document(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ExperimentStatus(_Document):
    """Where one experiment is.

    `cut_off`: by its state it runs, on the machine that was looked at, and nothing there works on it any more.
    """

    id: str
    name: str
    state: str
    cut_off: bool
    started: float
    done: int
    planned: int
    spared: int
    invalid: int
    trial: str


class OpenChange(_Document):
    """A setting that is changed right now, and what it was before.

    `applied`: on purpose, from what the experiment showed; `expired`: a boot has ended it.
    """

    experiment: str
    journal: str
    running: bool
    applied: bool
    expired: bool
    knob: str
    before: Value
    wanted: Value


class StatusDocument(_Document):
    """The answer of `paribus status --json`.

    `journals`: the folder that was looked at; `other_journals`: that of root, where another user looked.
    `problems`: journals that are damaged, or whose owner may not restore them.
    """

    store: str
    journals: str
    other_journals: str
    experiments: list[ExperimentStatus]
    open_changes: list[OpenChange]
    problems: list[str]


def document(store: str | None, target: str = LOCAL, *, become: bool = False) -> StatusDocument:
    """Look at the store and at the journals of a machine.

    Raises NotInspected where the journals cannot be read, StoreError for a damaged store.
    """
    url = store_url(store)
    file = file_of(url)
    with inspected_site(target, become=become) as here:
        found = inspect(here.host, here.engine)
    journals = found.journals
    owned = {journal.experiment for journal in journals if journal.owned}
    experiments = []
    if store or file is None or file.exists():  # before the first experiment there is no store, and no fault in that
        opened = open_engine(url, create=False)
        for one in read.experiments(opened):
            lost = one.state is ExperimentState.RUNNING and one.id not in owned
            cut_off = lost and read.plan(opened, one.id).target.address == target
            experiments.append(_status(one, read.trials(opened, one.id), cut_off=cut_off))
    changes = [
        OpenChange(
            experiment=journal.experiment,
            journal=journal.path,
            running=journal.owned,
            applied=journal.kept,
            expired=change["expired"],
            knob=change["knob"],
            before=change["before"],
            wanted=change["wanted"],
        )
        for journal in journals
        for change in journal.changes
    ]
    return StatusDocument(
        store=str(file or url),
        journals=found.folder,
        other_journals=found.other_folder,
        experiments=experiments,
        open_changes=changes,
        problems=list(found.problems),
    )


def _status(experiment: Experiment, trials: list[Trial], *, cut_off: bool) -> ExperimentStatus:
    counted = [trial for trial in trials if trial.state not in (TrialState.SUPERSEDED, TrialState.SPARED)]
    active = [t for t in counted if t.state in (TrialState.APPLYING, TrialState.SETTLING)]
    return ExperimentStatus(
        id=experiment.id,
        name=experiment.name,
        state=experiment.state,
        cut_off=cut_off,
        started=experiment.started,
        done=sum(trial.state is TrialState.DONE for trial in counted),
        planned=len(counted),
        spared=sum(trial.state is TrialState.SPARED for trial in trials),
        invalid=sum(trial.state in (TrialState.INVALID, TrialState.FAILED) for trial in counted),
        trial=f"{active[0].subject} at {active[0].load}" if active else "",
    )


def show(found: StatusDocument, console: Console) -> None:
    """Print the document for a person."""
    console.print(f"store: {found.store}", markup=False, soft_wrap=True)
    if not found.experiments:
        console.print("no experiment yet: paribus run PLAN")
    else:
        table = Table(box=None, pad_edge=False)
        for title in ("experiment", "plan", "state", "trials done", "invalid", "started"):
            justify: Literal["left", "right"] = "right" if title in ("trials done", "invalid") else "left"
            table.add_column(title, justify=justify, no_wrap=title == "experiment", overflow="fold")
        for one in found.experiments:
            started = time.strftime("%Y-%m-%d %H:%M", time.localtime(one.started))
            running = one.state + (f" ({one.trial})" if one.trial and one.state == "running" else "")
            state = "cut off" if one.cut_off else running
            done = f"{one.done} of {one.planned}" + (f", {one.spared} spared" if one.spared else "")
            table.add_row(one.id, Text(one.name), Text(state), done, str(one.invalid), started)
        console.print(table)
    for one in found.experiments:
        if one.cut_off:
            console.print(f"go on with what was cut off: paribus resume {one.id}", markup=False, soft_wrap=True)
    for change in found.open_changes:
        console.print(_words(change), markup=False)
    if any(not change.running and not change.applied for change in found.open_changes):
        console.print("restore the machine with: paribus undo", style="bold")
    elif any(change.applied for change in found.open_changes):
        console.print("take back what was applied with: paribus undo")
    elif not found.open_changes and not found.problems:
        console.print(nothing_changed(found.journals, found.other_journals), markup=False, soft_wrap=True)


def nothing_changed(folder: str, other_folder: str) -> str:
    """The words for a machine where no journal is open, with the place that was looked at."""
    words = f"no setting is changed (journals: {folder})"
    if other_folder:
        words += f"; those of root in {other_folder} were not looked at: sudo paribus status"
    return words


def _words(change: OpenChange) -> str:
    if change.applied:
        ended = ", gone with the last boot" if change.expired else ""
        return f"applied from {change.experiment}: {change.knob} = {change.wanted}, before {change.before}{ended}"
    owner = "a running experiment" if change.running else "an experiment that was cut off"
    return f"changed by {owner} ({change.experiment}): {change.knob}, before {change.before}"
