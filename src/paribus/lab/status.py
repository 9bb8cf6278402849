"""Experiments of a store and open changes of a machine, and the document of `paribus status`."""

from pydantic import BaseModel, ConfigDict

from paribus.errors import ParibusError
from paribus.knobs.journals import inspect, raise_problems
from paribus.lab.machine.connection import LOCAL, Report, discard, inspected_site
from paribus.model import Experiment, ExperimentState, Trial, TrialState, Value
from paribus.store import read
from paribus.store.open import file_of, name_of, open_engine, store_url

__all__ = ["ExperimentStatus", "OpenChange", "StatusDocument", "document", "raise_problems"]


class _Document(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ExperimentStatus(_Document):
    """State and progress of one experiment.

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
    `journals_elsewhere`: folders of other state folders where this user has open journals.
    `problems`: journals that are damaged, or whose owner may not restore them.
    """

    store: str
    journals: str
    other_journals: str
    journals_elsewhere: list[str]
    experiments: list[ExperimentStatus]
    open_changes: list[OpenChange]
    problems: list[str]


def running_here() -> frozenset[str] | None:
    """Ids of the experiments that run on this machine; None where the journals of some user cannot be read."""
    try:
        with inspected_site() as here:
            inspection = inspect(here.host, here.engine)
    except ParibusError:
        return None
    return None if inspection.folders.of_root else frozenset(inspection.running)


def document(
    store: str | None, target: str = LOCAL, *, become: bool = False, report: Report = discard
) -> StatusDocument:
    """Read the store and the journals of a machine.

    Raises NotInspected if the journals cannot be read, StoreError for a damaged store.
    """
    url = store_url(store)
    file = file_of(url)
    with inspected_site(target, become=become, report=report) as here:
        inspection = inspect(here.host, here.engine)
    journals = inspection.journals
    owned = {journal.experiment for journal in journals if journal.owned}
    experiments = []
    if store or file is None or file.exists():  # before the first experiment there is no store, and no fault in that
        opened = open_engine(url, create=False)
        for experiment in read.experiments(opened):
            ownerless = experiment.state is ExperimentState.RUNNING and experiment.id not in owned
            cut_off = ownerless and read.plan(opened, experiment.id).target.address == target
            experiments.append(_status(experiment, read.trials(opened, experiment.id), cut_off=cut_off))
    changes = [
        OpenChange(
            experiment=journal.experiment,
            journal=journal.path,
            running=journal.owned,
            applied=journal.is_permanent,
            expired=change["expired"],
            knob=change["knob"],
            before=change["before"],
            wanted=change["wanted"],
        )
        for journal in journals
        for change in journal.changes
    ]
    return StatusDocument(
        store=name_of(url),
        journals=inspection.folders.inspected,
        other_journals=inspection.folders.of_root,
        journals_elsewhere=list(inspection.folders.elsewhere),
        experiments=experiments,
        open_changes=changes,
        problems=list(inspection.problems),
    )


def _status(experiment: Experiment, trials: list[Trial], *, cut_off: bool) -> ExperimentStatus:
    counted = [trial for trial in trials if trial.state not in (TrialState.SUPERSEDED, TrialState.SPARED)]
    active = [trial for trial in counted if trial.state in (TrialState.APPLYING, TrialState.SETTLING)]
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
