"""Deletion of experiments from the store, and the document of `paribus delete`."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from paribus.errors import StoreError, UsageError
from paribus.knobs.journals import Inspection, inspect, raise_problems
from paribus.lab.machine.connection import LOCAL, Report, discard, inspected_site
from paribus.lab.store.stores import Store, default_report_path, file_of, name_of, open_store
from paribus.model import Experiment, ExperimentState
from paribus.store import read
from paribus.store.delete import compact, size_bytes
from paribus.store.delete import delete as delete_rows
from paribus.units import parse_duration

_BEGUN = {ExperimentState.PLANNED, ExperimentState.RUNNING}


class _Document(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class DeletedExperiment(_Document):
    """An experiment or imported set that is deleted, or would be."""

    id: str
    name: str
    state: ExperimentState
    started: float
    ended: float | None
    trials: int = Field(description="number of trials in the store, superseded ones included")
    report: str = Field(description="path of its HTML report in `reports/` next to the store; empty if there is none")


class KeptExperiment(_Document):
    """An experiment that `--older` or `--all-of` selects, and that must stay."""

    id: str
    name: str
    reason: str


class DeleteDocument(_Document):
    """The answer of `paribus delete --json`."""

    store: str
    deleted: bool = Field(description="whether the experiments are deleted; false with `--dry-run`")
    experiments: list[DeletedExperiment]
    left: list[KeptExperiment] = Field(description="selected experiments that stay, with the reason")
    size_bytes: int | None = Field(description="size of the store before; null for a database server")
    size_after_bytes: int | None = Field(description="size of the store afterwards; null where nothing was deleted")
    notes: list[str] = Field(description="what could not be removed, or not made smaller")


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteRequest:
    """Selection of experiments: by `names`, or by plan and age.

    `all_of` is the name of a plan, `older_s` the least time since the end in seconds. `keep` excludes the newest of
    these. `anyway` includes experiments that may be running where no journal was inspected.
    """

    names: Sequence[str] = ()
    all_of: str = ""
    older_s: float | None = None
    keep: int | None = None
    anyway: bool = False


class _Obstacle(NamedTuple):
    """Reason why an experiment must stay, and what to do."""

    reason: str
    todo: str


def age(text: str, option: str = "--older") -> float | None:
    """Return the seconds of an age such as `90d`, None for an empty text. Raises UsageError."""
    try:
        return parse_duration(text) if text else None
    except ValueError as error:
        raise UsageError(f"{option}: {error}", f"write for example {option} 90d, at most 366d") from error


def delete(
    request: DeleteRequest,
    location: str | None,
    *,
    dry_run: bool = False,
    on_selected: Callable[[DeleteDocument], None] = lambda _document: None,
    confirm: Callable[[DeleteDocument], bool] = lambda _document: True,
    report: Report = discard,
) -> DeleteDocument | None:
    """Delete experiments from a store, with their reports next to it, and shrink the store; None if not confirmed.

    `on_selected` and `confirm` receive the selection before anything is deleted. Raises UsageError where a name is
    wrong or an experiment must stay, NotInspected and NotRestored for the journals of this machine, and StoreError.
    """
    store = open_store(location)
    selected = select_experiments(read.experiments(store), request, time.time())
    inspection = _inspection(selected, report)
    obstacles = _obstacles(store, selected, inspection, anyway=request.anyway)
    if request.names:
        _raise_obstacles(obstacles)
    removable = [experiment for experiment in selected if experiment.id not in obstacles]
    document = DeleteDocument(
        store=name_of(store.url.render_as_string(hide_password=False)),
        deleted=False,
        experiments=_described(store, removable),
        left=[
            KeptExperiment(id=each.id, name=each.name, reason=obstacles[each.id].reason)
            for each in selected
            if each.id in obstacles
        ],
        size_bytes=size_bytes(store),
        size_after_bytes=None,
        notes=[],
    )
    on_selected(document)
    if dry_run or not removable:
        return document
    if not confirm(document):
        return None
    inspection = _inspection(removable, report)  # again: a question may stay open for long
    _raise_obstacles(_obstacles(store, removable, inspection, anyway=request.anyway))
    delete_rows(store, {experiment.id: experiment.state for experiment in removable})
    notes = [*_remove_reports(store, removable), *shrink(store, inspection)]
    return document.model_copy(update={"deleted": True, "size_after_bytes": size_bytes(store), "notes": notes})


def select_experiments(experiments: Sequence[Experiment], request: DeleteRequest, now: float) -> list[Experiment]:
    """Return the experiments of a request, given all of the store, newest first. Raises UsageError."""
    by_rule = bool(request.all_of) or request.older_s is not None
    if request.names and (by_rule or request.keep is not None):
        raise UsageError(
            "experiments by name exclude --all-of, --older and --keep",
            "name experiments, or select them by plan and age",
        )
    if not (request.names or by_rule):
        raise UsageError("no experiment is named", "name experiments, or add --older or --all-of; see: paribus status")
    if request.names:
        return list({each.id: each for each in (_named(experiments, name) for name in request.names)}.values())
    if request.all_of and all(each.name != request.all_of for each in experiments):
        names = ", ".join(dict.fromkeys(each.name for each in experiments)) or "none"
        raise UsageError(f"no experiment has the plan name {request.all_of!r}", f"plan names: {names}")
    selected = [
        each
        for each in experiments
        if request.all_of in ("", each.name)
        and (request.older_s is None or (each.ended is not None and each.ended < now - request.older_s))
    ]
    return selected[request.keep or 0 :]


def _named(experiments: Sequence[Experiment], name: str) -> Experiment:
    """Return the experiment with this name; that of a plan name is refused if there are several. Raises UsageError."""
    experiment = read.find_among(experiments, name)
    same_plan = [each for each in experiments if each.name == name]
    if len(same_plan) > 1 and name not in ("last", experiment.id):
        listing = ", ".join(each.id for each in same_plan[:5])
        raise UsageError(
            f"{len(same_plan)} experiments have the plan name {name!r}",
            f"name one of them ({listing}{', …' if len(same_plan) > 5 else ''}), or all: --all-of {name!r}",
        )
    return experiment


def _inspection(experiments: Sequence[Experiment], report: Report) -> Inspection:
    """Return the open journals of this machine. Raises NotInspected, and NotRestored for a damaged one."""
    with inspected_site(report=report) as here:
        inspection = inspect(here.host, here.engine)
    if any(experiment.state is not ExperimentState.IMPORTED for experiment in experiments):
        raise_problems(inspection.problems)
    return inspection


def _obstacles(
    store: Store, experiments: Sequence[Experiment], inspection: Inspection, *, anyway: bool
) -> dict[str, _Obstacle]:
    """Return the experiments that must stay, by id."""
    obstacles = {}
    for experiment in experiments:
        obstacle = _open_journal(experiment, inspection) or (None if anyway else _unseen(store, experiment, inspection))
        if obstacle:
            obstacles[experiment.id] = obstacle
    return obstacles


def _open_journal(experiment: Experiment, inspection: Inspection) -> _Obstacle | None:
    for journal in inspection.journals:
        if journal.experiment != experiment.id:
            continue
        if journal.owned:
            return _Obstacle("it is running", "wait until it has ended, or stop it with Ctrl-C")
        if journal.is_permanent:
            return _Obstacle("paribus apply has set settings from it", "take them back first: paribus undo")
        return _Obstacle("its settings are not restored", "restore them first: paribus undo")
    return None


def _unseen(store: Store, experiment: Experiment, inspection: Inspection) -> _Obstacle | None:
    """Obstacle of an experiment that may be running, where its journal is not among those inspected."""
    if experiment.state not in _BEGUN:
        return None
    address = read.plan(store, experiment.id).target.address
    is_own_store = file_of(store.url.render_as_string(hide_password=False)) is not None
    if address == LOCAL and is_own_store and not (inspection.folders.of_root or inspection.folders.elsewhere):
        return None
    command = "paribus status" if address == LOCAL else f"paribus status --target {address}"
    return _Obstacle(
        f"it may be running: its state is {experiment.state}, and its journal was not inspected",
        f"see: {command}. If no process works on it any more, add --anyway",
    )


def _raise_obstacles(obstacles: dict[str, _Obstacle]) -> None:
    """Raise UsageError for the first experiment that must stay."""
    for name, obstacle in obstacles.items():
        raise UsageError(f"cannot delete {name}: {obstacle.reason}", obstacle.todo)


def _described(store: Store, experiments: Sequence[Experiment]) -> list[DeletedExperiment]:
    tallies = read.tallies(store)
    return [
        DeletedExperiment(
            id=each.id,
            name=each.name,
            state=each.state,
            started=each.started,
            ended=each.ended,
            trials=tallies[each.id].total() if each.id in tallies else 0,
            report=_report_path(store, each),
        )
        for each in experiments
    ]


def _report_path(store: Store, experiment: Experiment) -> str:
    """Return the path of the HTML report next to an SQLite store; empty if there is none."""
    path = default_report_path(store, experiment.id)
    return str(path) if file_of(store.url.render_as_string(hide_password=False)) and path.is_file() else ""


def _remove_reports(store: Store, experiments: Sequence[Experiment]) -> list[str]:
    """Remove the reports next to the store, and return a note for each that stays."""
    notes = []
    for experiment in experiments:
        if _report_path(store, experiment):
            path = default_report_path(store, experiment.id)
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                notes.append(f"cannot remove the report {path}: {error.strerror}")
    return notes


def shrink(store: Store, inspection: Inspection) -> list[str]:
    """Shrink the store, and return a note where that is not possible now."""
    if running := [journal.experiment for journal in inspection.journals if journal.owned]:
        return [f"the store keeps its size, since {running[0]} is running: shrinking it would disturb the measurement"]
    try:
        compact(store)
    except StoreError as error:
        return [f"the store keeps its size: {error.message}"]
    return []
