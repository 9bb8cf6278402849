"""Removal of data that experiments left on a machine, and the document of `paribus clean`."""

from collections.abc import Collection, Sequence
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field

from paribus.engine import folder
from paribus.engine.protocol import DataFolder
from paribus.engine.run import probe
from paribus.errors import UsageError
from paribus.knobs.journals import inspect
from paribus.lab.inspection import LOCAL, Report, discard, site
from paribus.model import ExperimentState
from paribus.store import read
from paribus.store.open import file_of, open_engine, store_url
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
_NOT_NEEDED = {LeftoverState.DONE, LeftoverState.UNKNOWN}


class _Document(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Leftover(_Document):
    """A folder of data below the place that was looked at."""

    path: str
    experiment: str = Field(description="empty where the folder has no manifest")
    plan: str
    controller: str = Field(description="the user and the machine that ran the experiment")
    made: float | None = Field(description="in seconds since 1970")
    size_bytes: int
    state: LeftoverState
    removed: bool


class CleanDocument(_Document):
    """The answer of `paribus clean --json`."""

    path: str
    leftovers: list[Leftover]


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

    Raises UsageError where a named experiment has no data there or its data must stay, EngineError and StoreError.
    """
    with site(target, become=become, report=report) as connected:
        folder_path = probe(connected.host, connected.engine, path).directory.path
        remaining = leftovers(connected, folder_path, store)
        removed = chosen(remaining, names, unneeded=unneeded)
        remove(connected, folder_path, removed)
    return CleanDocument(
        path=folder_path,
        leftovers=[leftover.model_copy(update={"removed": leftover in removed}) for leftover in remaining],
    )


def leftovers(site: Site, path: str, store: str | None) -> list[Leftover]:
    """What is there, and whether it is needed. Raises EngineError, StoreError and what a journal raises."""
    journals = inspect(site.host, site.engine).journals
    owned = {one.experiment for one in journals if one.owned}
    cut_off = {one.experiment for one in journals if one.is_cut_off}
    states = _states(store)
    return [_leftover(one, _state(one, owned, cut_off, states)) for one in folder.folders(site.host, site.engine, path)]


def _states(store: str | None) -> dict[str, ExperimentState]:
    """The state of each experiment of the store; without one there is none."""
    url = store_url(store)
    file = file_of(url)
    if file is not None and not file.exists() and not store:
        return {}
    return {one.id: one.state for one in read.experiments(open_engine(url, create=False))}


def _state(
    one: DataFolder, owned: Collection[str], cut_off: Collection[str], states: dict[str, ExperimentState]
) -> LeftoverState:
    if one.manifest is None:
        return LeftoverState.FOREIGN
    name = one.manifest.experiment
    if one.in_use or name in owned:
        return LeftoverState.RUNNING
    if name in cut_off:
        return LeftoverState.NOT_RESTORED
    if name not in states:  # where another user runs it, neither journal nor store are seen here
        ours = one.manifest.about.get("controller", "") == folder.controller()
        return LeftoverState.UNKNOWN if ours else LeftoverState.OTHERS
    return LeftoverState.DONE if states[name] is ExperimentState.DONE else LeftoverState.RESUMABLE


def _leftover(one: DataFolder, state: LeftoverState) -> Leftover:
    manifest = one.manifest
    about = manifest.about if manifest else {}
    return Leftover(
        path=one.path,
        experiment=manifest.experiment if manifest else "",
        plan=about.get("plan", ""),
        controller=about.get("controller", ""),
        made=manifest.made_unix_s if manifest else None,
        size_bytes=one.size_bytes,
        state=state,
        removed=False,
    )


def chosen(found: Sequence[Leftover], names: Sequence[str], *, unneeded: bool) -> list[Leftover]:
    """Those of these names, or with `unneeded` all that nothing needs any more.

    Raises UsageError where a name is not there, or its data must stay.
    """
    if unneeded:
        return [one for one in found if one.state in _NOT_NEEDED]
    by_name = {one.experiment: one for one in found if one.experiment}
    for name in names:
        if name not in by_name:
            there = ", ".join(by_name) or "none"
            raise UsageError(f"there is no data of experiment {name!r} here", f"there is: {there}")
        if by_name[name].state not in REMOVABLE:
            todo = "restore the machine first: paribus undo"
            running = by_name[name].state is LeftoverState.RUNNING
            raise UsageError(
                f"the data of {name} stays: the experiment is {by_name[name].state}",
                "wait until it has ended, or stop it" if running else todo,
            )
    return [by_name[name] for name in dict.fromkeys(names)]


def remove(site: Site, path: str, found: Sequence[Leftover]) -> None:
    """Remove the folders. Raises EngineError."""
    for one in found:
        folder.remove(site.host, site.engine, path, one.experiment)
