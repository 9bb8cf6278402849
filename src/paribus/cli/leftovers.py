"""The data that experiments have left on a machine, and what becomes of it: the answer of `paribus clean`."""

import time
from collections.abc import Collection, Sequence
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field
from rich.console import Console
from rich.table import Table
from rich.text import Text

from paribus.engine import folder
from paribus.engine.protocol import DataFolder
from paribus.errors import UsageError
from paribus.knobs.journal import inspect
from paribus.model import ExperimentState
from paribus.store import read
from paribus.store.open import file_of, open_engine, store_url
from paribus.trial.target_session import Site
from paribus.units import show_size


class LeftoverState(StrEnum):
    """Whether the data of an experiment is still needed."""

    RUNNING = "running"
    NOT_RESTORED = "not restored"
    RESUMABLE = "can be resumed"
    DONE = "done"
    UNKNOWN = "not in this store"
    OTHERS = "of another user or machine"
    FOREIGN = "not made by an experiment"


_REMOVABLE = {LeftoverState.RESUMABLE, LeftoverState.DONE, LeftoverState.UNKNOWN, LeftoverState.OTHERS}
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
        if by_name[name].state not in _REMOVABLE:
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


def show(found: CleanDocument, console: Console) -> None:
    """Print the document for a person."""
    removed = [one for one in found.leftovers if one.removed]
    for one in removed:
        console.print(f"removed {one.path} ({show_size(one.size_bytes)})", markup=False, soft_wrap=True)
    left = [one for one in found.leftovers if not one.removed]
    if not left:
        console.print(f"no data of experiments is {'left ' if removed else ''}in {found.path}", markup=False)
        return
    table = Table(box=None, pad_edge=False)
    for title in ("experiment", "plan", "size", "made", "by", "state"):
        table.add_column(title, justify="right" if title == "size" else "left", overflow="fold")
    for one in left:
        made = time.strftime("%Y-%m-%d %H:%M", time.localtime(one.made)) if one.made else ""
        name = one.experiment or one.path
        table.add_row(*map(Text, (name, one.plan, show_size(one.size_bytes), made, one.controller, one.state)))
    console.print(table)
    for one in left:
        if one.state is LeftoverState.RESUMABLE:
            console.print(f"go on with: paribus resume {one.experiment}", markup=False, soft_wrap=True)
    if any(one.state in _REMOVABLE for one in left):
        console.print(
            "remove the data of one with --remove EXPERIMENT; --all takes those done, or yours and not in the store"
        )
