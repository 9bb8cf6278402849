"""Admission of an experiment to its target: one at a time, and with a word about what would spoil it.

The journals of the target tell which experiment runs. A lock of this machine is held while one begins or runs: it keeps
those apart that begin at the same moment, and lets them in one after the other.
"""

import contextlib
import enum
import fcntl
import hashlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

from paribus.errors import TargetBusy, UsageError
from paribus.files import make_folder
from paribus.hosts.address import machine_name
from paribus.knobs.journals import inspect
from paribus.lab.machine.connection import Report
from paribus.lab.machine.doctor import unfit
from paribus.model import Plan
from paribus.trial.target_session import Site
from paribus.user_folders import data_folder

_POLL_S = 2.0
_UNNAMED = ("another run",)  # one that begins, or that writes its report
_TODO = "begin after its end with --wait, or beside it with --anyway"


class Admission(enum.Enum):
    """Reaction to another experiment on the target: refuse to begin, wait for its end, or run beside it."""

    ALONE = "alone"
    WAIT = "wait"
    ANYWAY = "anyway"


@contextlib.contextmanager
def turn(site: Site, admission: Admission, report: Report) -> Iterator[bool]:
    """Hold the turn of an experiment on the target; yield whether its settings must be read again, after a wait.

    `report` receives what is waited for. Raises TargetBusy, JournalOpen where an experiment was cut off, NotInspected
    and NotRestored.
    """
    with contextlib.ExitStack() as held:
        has_waited = admission is not Admission.ANYWAY and held.enter_context(_lock(site, admission, report))
        yield _wait_for_others(site, admission, report) or has_waited


@contextlib.contextmanager
def _lock(site: Site, admission: Admission, report: Report) -> Iterator[bool]:
    """Lock the target for the experiments that this user begins from here; yield whether that took a wait."""
    with contextlib.ExitStack() as held:
        try:
            path = _lock_file(site.host.name)
            make_folder(path.parent)
            file = held.enter_context(path.open("w"))
        except (OSError, UsageError):  # a user without a home, or a full disk: the journals alone tell
            yield False
            return
        has_waited = False
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if admission is Admission.ALONE:
                _refuse(site, _running(site) or _UNNAMED)
            report(f"waiting for {_named(site, _running(site) or _UNNAMED)}")
            fcntl.flock(file, fcntl.LOCK_EX)
            has_waited = True
            site.refuse_open_journals()  # its end may be a crash
        yield has_waited


def _lock_file(target: str) -> Path:
    """Return the lock of a target: in $PARIBUS_REGISTER, else in the folder of data. Raises UsageError."""
    named = os.environ.get("PARIBUS_REGISTER")
    name = hashlib.sha256(target.encode(errors="surrogateescape")).hexdigest()[:16]
    return (Path(named).expanduser() if named else data_folder() / "turns") / f"{name}.turn"


def _wait_for_others(site: Site, admission: Admission, report: Report) -> bool:
    """Wait until no experiment runs on the target, such as one of another machine; whether one did."""
    announced: tuple[str, ...] = ()
    while running := () if admission is Admission.ANYWAY else _running(site):
        if admission is Admission.ALONE:
            _refuse(site, running)
        if running != announced:
            report(f"waiting for {_named(site, running)}")
            announced = running
        time.sleep(_POLL_S)
        site.refuse_open_journals()  # that end may be a crash
    return bool(announced)


def _running(site: Site) -> tuple[str, ...]:
    running = (name for machine in site.machines for name in inspect(machine.host, machine.engine).running)
    return tuple(dict.fromkeys(running))


def _refuse(site: Site, running: tuple[str, ...]) -> None:
    """Raise TargetBusy."""
    which = f"an experiment is running: {_named(site, running)}"
    raise TargetBusy(f"{which}; two at once would measure each other's load", _TODO)


def _named(site: Site, running: tuple[str, ...]) -> str:
    return f"{' and '.join(running)} on {machine_name(site.host.name)}"


def warn(site: Site, plan: Plan, report: Report) -> None:
    """Report each condition of the target that would spoil the measurement, and of a hypervisor that has trials too.

    Raises EngineError and HostError.
    """
    settled = {*plan.hold, *(factor.key for factor in plan.factors)}
    for condition in unfit(site, plan.target.path):
        if not (condition.name == "governor" and "cpu.governor" in settled):
            report(f"{condition.name}: {condition.found}\n  {condition.fix}")
    if plan.bound is not None and site.hypervisor is not None:
        for condition in unfit(site.hypervisor, plan.bound.target.path):
            report(f"on the hypervisor, {condition.name}: {condition.found}\n  {condition.fix}")
