"""Removal of data that experiments left on a machine, and the document of `paribus clean`."""

import re
import shutil
from collections.abc import Collection, Sequence
from enum import StrEnum
from pathlib import PurePosixPath

from pydantic import BaseModel, ConfigDict, Field

from paribus.databases import abandoned_sockets, remove_sockets
from paribus.engine import folder
from paribus.engine.protocol import DataFolder
from paribus.engine.run import probe
from paribus.errors import UsageError
from paribus.hosts.ssh import end_abandoned
from paribus.hosts.transport import Host
from paribus.knobs.journals import inspect
from paribus.lab.machine.connection import LOCAL, Report, discard, site
from paribus.model import ExperimentState
from paribus.store import read
from paribus.store.open import file_of, open_engine, store_url
from paribus.temporary import abandoned
from paribus.trial.target_session import Site


class LeftoverState(StrEnum):
    """Whether the data of an experiment is still needed."""

    RUNNING = "running"
    NOT_RESTORED = "not restored"
    RESUMABLE = "can be resumed"
    DONE = "done"
    UNKNOWN = "not in this store"
    OTHERS = "of another user or machine"
    FOREIGN = "not made by an experiment"


REMOVABLE = {LeftoverState.RESUMABLE, LeftoverState.DONE, LeftoverState.UNKNOWN, LeftoverState.OTHERS}
_ID = re.compile(r"[0-9]{8}-[0-9]{6}-[0-9a-f]{4}")
_NOT_NEEDED = {LeftoverState.DONE, LeftoverState.UNKNOWN}


class _Document(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Leftover(_Document):
    """A folder of data below the place that was looked at."""

    path: str
    experiment: str = Field(description="empty where no experiment made the folder")
    plan: str
    controller: str = Field(description="the user and the machine that ran the experiment")
    made: float | None = Field(description="in seconds since 1970")
    size_bytes: int
    state: LeftoverState
    removed: bool


class TemporaryLeftover(_Document):
    """A temporary folder that a killed program has left on this machine or on the target."""

    path: str
    removed: bool


class CleanDocument(_Document):
    """The answer of `paribus clean --json`."""

    path: str
    leftovers: list[Leftover]
    temporary: list[TemporaryLeftover]


def clean(
    path: str,
    store: str | None,
    *,
    target: str = LOCAL,
    become: bool = False,
    names: Sequence[str] = (),
    unneeded: bool = False,
    report: Report = discard,
) -> CleanDocument:
    """List the data left under a folder, and remove that of the named experiments or all that is `unneeded`.

    The temporary folders of killed programs are listed too, and removed with all that is `unneeded`.

    Raises UsageError where the folder does not exist, a named experiment has no data there or its data must stay;
    EngineError and StoreError.
    """
    with site(target, become=become, report=report) as connected:
        directory = probe(connected.host, connected.engine, path).directory
        folder_path = directory.path
        if not directory.exists:
            raise UsageError(
                f"the folder {folder_path} does not exist", "name the folder that the plan calls target.path"
            )
        remaining = leftovers(connected, folder_path, store)
        removed = select_leftovers(remaining, names, unneeded=unneeded)
        remove(connected, folder_path, removed)
        temporary = _temporary(connected.host, is_removed=unneeded)
    return CleanDocument(
        path=folder_path,
        leftovers=[leftover.model_copy(update={"removed": leftover in removed}) for leftover in remaining],
        temporary=temporary,
    )


def _temporary(host: Host, *, is_removed: bool) -> list[TemporaryLeftover]:
    folders, sockets = abandoned(), abandoned_sockets(host)
    if is_removed:
        for folder_path in folders:
            end_abandoned(folder_path)
            shutil.rmtree(folder_path, ignore_errors=True)
        for folder_name in sockets:
            remove_sockets(host, folder_name)
    return [TemporaryLeftover(path=str(path), removed=is_removed) for path in (*folders, *sockets)]


def leftovers(site: Site, path: str, store: str | None) -> list[Leftover]:
    """The data folders below a path, with the state of each. Raises EngineError, StoreError and JournalProblem."""
    journals = inspect(site.host, site.engine).journals
    owned = {journal.experiment for journal in journals if journal.owned}
    cut_off = {journal.experiment for journal in journals if journal.is_cut_off}
    states = _states(store)
    return [
        _leftover(data_folder, _state(data_folder, owned, cut_off, states))
        for data_folder in folder.folders(site.host, site.engine, path)
    ]


def _states(store: str | None) -> dict[str, ExperimentState]:
    """State of each experiment in the store, by id; empty if the default store does not exist."""
    url = store_url(store)
    file = file_of(url)
    if file is not None and not file.exists() and not store:
        return {}
    return {experiment.id: experiment.state for experiment in read.experiments(open_engine(url, create=False))}


def _state(
    data_folder: DataFolder, owned: Collection[str], cut_off: Collection[str], states: dict[str, ExperimentState]
) -> LeftoverState:
    name = _experiment_of(data_folder)
    if not name:
        return LeftoverState.FOREIGN
    if data_folder.in_use or name in owned:
        return LeftoverState.RUNNING
    if name in cut_off:
        return LeftoverState.NOT_RESTORED
    if name not in states:  # where another user runs it, neither journal nor store are seen here
        manifest = data_folder.manifest
        is_needless = manifest is None or manifest.about.get("controller", "") == folder.controller()
        return LeftoverState.UNKNOWN if is_needless else LeftoverState.OTHERS
    return LeftoverState.DONE if states[name] is ExperimentState.DONE else LeftoverState.RESUMABLE


def _experiment_of(data_folder: DataFolder) -> str:
    """The experiment of a folder by its manifest, or by the name of an empty folder; empty if there is none."""
    if data_folder.manifest is not None:
        return data_folder.manifest.experiment
    name = PurePosixPath(data_folder.path).name
    return name if data_folder.empty and _ID.fullmatch(name) else ""


def _leftover(data_folder: DataFolder, state: LeftoverState) -> Leftover:
    manifest = data_folder.manifest
    about = manifest.about if manifest else {}
    return Leftover(
        path=data_folder.path,
        experiment=_experiment_of(data_folder),
        plan=about.get("plan", ""),
        controller=about.get("controller", ""),
        made=manifest.made_unix_s if manifest else None,
        size_bytes=data_folder.size_bytes,
        state=state,
        removed=False,
    )


def select_leftovers(remaining: Sequence[Leftover], names: Sequence[str], *, unneeded: bool) -> list[Leftover]:
    """The data of the named experiments, or with `unneeded` all data that no experiment needs.

    Raises UsageError if a named experiment has no data here, or if its data must stay.
    """
    if unneeded:
        return [leftover for leftover in remaining if leftover.state in _NOT_NEEDED]
    by_name = {leftover.experiment: leftover for leftover in remaining if leftover.experiment}
    for name in names:
        if name not in by_name:
            present = ", ".join(by_name) or "none"
            raise UsageError(f"{name!r} has no data in this folder", f"experiments with data: {present}")
        if by_name[name].state not in REMOVABLE:
            todo = "restore the machine first: paribus undo"
            running = by_name[name].state is LeftoverState.RUNNING
            raise UsageError(
                f"cannot remove the data of {name}: the experiment is {by_name[name].state}",
                "wait until it has ended, or stop it with Ctrl-C" if running else todo,
            )
    return [by_name[name] for name in dict.fromkeys(names)]


def remove(site: Site, path: str, removed: Sequence[Leftover]) -> None:
    """Remove the folders. Raises EngineError."""
    for leftover in removed:
        folder.remove(site.host, site.engine, path, leftover.experiment)
