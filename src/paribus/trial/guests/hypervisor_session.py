"""The machine that the target is a guest of: settings of both, `host.*` and `guest.*`, its journal and conditions.

In: the settings of trials. Out: what was applied there, and whether it is still so. Called by the bench and the runner.
"""

from collections.abc import Collection, Mapping
from typing import Self

from paribus.errors import HostError
from paribus.hosts.guests import domain as domains
from paribus.knobs.apply import Applier
from paribus.knobs.conditions import Conditions
from paribus.knobs.discovery import place, touched
from paribus.knobs.journal import Journal
from paribus.model import DOMAIN, Change, ChangeState, Guest, Knob, Settings
from paribus.trial.experiment_session import ExperimentSession
from paribus.trial.guests.domain_session import DomainSession, GuestRestart
from paribus.trial.settings import of_hypervisor
from paribus.trial.target_session import Site


class HypervisorSession:
    """Settings of a hypervisor during one experiment, in a journal that its own keeper restores."""

    def __init__(self, site: Site, guest: Guest, keys: Collection[str], experiment: str, restart: GuestRestart) -> None:
        """Open the journal; `keys`: the settings that trials may make. Raises JournalError and HostError."""
        self.site = site
        location, knobs = guest.location, _of_domain(site, guest, keys)
        addresses = touched(site.host, site.catalogue, keys, location)
        self._conditions = Conditions.of(site.host, site.catalogue, location, addresses, {})
        claimed = sorted({*addresses, *([f"{guest.uri} {guest.name}"] if knobs else [])})
        journal = Journal(site.host, site.engine, experiment, claimed, volatile=not claimed)
        self.without_copy = journal.without_copy
        self.applier = Applier(site.host, site.catalogue, location, journal)
        self._domain = DomainSession(site.host, guest, knobs, journal, experiment, restart) if knobs else None

    @classmethod
    def of(cls, session: ExperimentSession, restart: GuestRestart) -> Self | None:
        """The session of an experiment; None where the target is no guest, or nothing of its hypervisor is set.

        Raises HostError where the target is not that guest now, such as after a migration.
        """
        site, guest = session.site.hypervisor, session.plan.target.guest
        keys = dict.fromkeys(key for trial in session.trials for key in of_hypervisor(trial.settings))
        if site is None or guest is None or not keys:
            return None
        refuse_other(session.site, guest)
        return cls(site, guest, list(keys), session.experiment, restart)

    @property
    def restarts_guest(self) -> bool:
        """Whether restoring the settings restarts the guest."""
        return self._domain is not None and self._domain.was_changed

    def apply(self, settings: Settings, tested: Collection[str]) -> tuple[Change, ...]:
        """Set those of the settings that the hypervisor has, as `Applier.apply` does, then those of the domain."""
        knobs = of_hypervisor(settings)
        changes = self.applier.apply(knobs, [key for key in tested if key in knobs])
        if self._domain is None or any(change.state is ChangeState.MISMATCHED for change in changes):
            return changes
        return changes + self._domain.apply(knobs, tested)

    def verify(self) -> tuple[Change, ...]:
        """The settings that changed since they were applied."""
        return self.applier.verify() + (self._domain.verify() if self._domain is not None else ())

    def conditions(self) -> dict[str, str]:
        """The conditions of this machine, under names of their own. Raises Unreachable and HostError."""
        return {f"hypervisor: {name}": value for name, value in self._conditions.read().items()}


def refuse_other(site: Site, guest: Guest) -> None:
    """Raise HostError where the target is not that guest now, or has another disk."""
    assert site.hypervisor is not None
    domain = domains.read(site.hypervisor.host, guest.uri, guest.name)
    for message, todo in domains.problems(site.host, domain):
        raise HostError(message, todo)
    if guest.disk and guest.disk not in {disk.source for disk in domain.disks}:
        raise HostError(f"the domain {guest.name} has no disk {guest.disk} any more", "check the plan again")


def _of_domain(site: Site, guest: Guest, keys: Collection[str]) -> Mapping[str, Knob]:
    """The placed knobs of the guest's definition."""
    named = [key for key in keys if key.startswith(DOMAIN)]
    return {key: place(site.host, site.catalogue.get(key), guest.location) for key in named}
