"""Admission of an experiment to its target: one at a time, and with a word about what would spoil it."""

import enum
import time

from paribus.errors import TargetBusy
from paribus.knobs.journals import inspect, machine_name
from paribus.lab.machine.connection import Report
from paribus.lab.machine.doctor import unfit
from paribus.model import Plan
from paribus.trial.target_session import Site

_POLL_S = 2.0


class Admission(enum.Enum):
    """Reaction to another experiment on the target: refuse to begin, wait for its end, or run beside it."""

    ALONE = "alone"
    WAIT = "wait"
    ANYWAY = "anyway"


def admit(site: Site, admission: Admission, report: Report) -> bool:
    """Return whether another experiment ran on the target meanwhile, so that its settings must be read again.

    `report` receives what is waited for. Raises TargetBusy, JournalOpen where an experiment was cut off, NotInspected
    and NotRestored.
    """
    announced: tuple[str, ...] = ()
    while running := () if admission is Admission.ANYWAY else inspect(site.host, site.engine).running:
        which = f"{' and '.join(running)} on {machine_name(site.host.name)}"
        if admission is Admission.ALONE:
            raise TargetBusy(
                f"an experiment is running: {which}; two at once would measure each other's load",
                "begin after its end with --wait, or beside it with --anyway",
            )
        if running != announced:
            report(f"waiting for the end of {which}")
            announced = running
        time.sleep(_POLL_S)
        site.refuse_open_journals()  # that end may be a crash
    return bool(announced)


def warn(site: Site, plan: Plan, report: Report) -> None:
    """Report each condition of the target that would spoil the measurement. Raises EngineError and HostError."""
    settled = {*plan.hold, *(factor.key for factor in plan.factors)}
    for condition in unfit(site, plan.target.path):
        if not (condition.name == "governor" and "cpu.governor" in settled):
            report(f"{condition.name}: {condition.found}\n  {condition.fix}")
