"""The machine that the target is a guest of: its settings `host.*`, its journal and its conditions.

In: the settings of trials. Out: what was applied there, and whether it is still so. Called by the bench and the runner.
"""

from collections.abc import Collection
from typing import Self

from paribus.errors import HostError
from paribus.hosts.guests import domain as domains
from paribus.knobs.apply import Applier
from paribus.knobs.conditions import Conditions
from paribus.knobs.discovery import touched
from paribus.knobs.journal import Journal
from paribus.model import Change, Location, Settings
from paribus.trial.experiment_session import ExperimentSession
from paribus.trial.settings import of_hypervisor
from paribus.trial.target_session import Site


class HypervisorSession:
    """Settings of a hypervisor during one experiment, in a journal that its own keeper restores."""

    def __init__(self, site: Site, location: Location, keys: Collection[str], experiment: str) -> None:
        """Open the journal; `keys`: the settings that trials may make. Raises JournalError and HostError."""
        self.site = site
        addresses = touched(site.host, site.catalogue, keys, location)
        self._conditions = Conditions.of(site.host, site.catalogue, location, addresses, {})
        journal = Journal(site.host, site.engine, experiment, sorted(addresses), volatile=not addresses)
        self.without_copy = journal.without_copy
        self.applier = Applier(site.host, site.catalogue, location, journal)

    @classmethod
    def of(cls, session: ExperimentSession) -> Self | None:
        """The session of an experiment; None where the target is no guest, or nothing of its hypervisor is set.

        Raises HostError where the target is not that guest now, such as after a migration.
        """
        site, guest = session.site.hypervisor, session.plan.target.guest
        keys = dict.fromkeys(key for trial in session.trials for key in of_hypervisor(trial.settings))
        if site is None or guest is None or not keys:
            return None
        domain = domains.read(site.host, guest.uri, guest.name)
        for message, todo in domains.problems(session.site.host, domain):
            raise HostError(message, todo)
        if guest.disk and guest.disk not in {disk.source for disk in domain.disks}:
            raise HostError(f"the domain {guest.name} has no disk {guest.disk} any more", "check the plan again")
        return cls(site, guest.location, list(keys), session.experiment)

    def apply(self, settings: Settings, tested: Collection[str]) -> tuple[Change, ...]:
        """Set those of the settings that the hypervisor has, as `Applier.apply` does."""
        knobs = of_hypervisor(settings)
        return self.applier.apply(knobs, [key for key in tested if key in knobs])

    def verify(self) -> tuple[Change, ...]:
        """The settings that changed since they were applied."""
        return self.applier.verify()

    def conditions(self) -> dict[str, str]:
        """The conditions of this machine, under names of their own. Raises Unreachable and HostError."""
        return {f"hypervisor: {name}": value for name, value in self._conditions.read().items()}
