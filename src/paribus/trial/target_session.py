"""A target ready for trials: host, engine and data folder, and the machines beside it."""

import dataclasses
from collections.abc import Callable

from paribus.errors import Interrupted, JournalOpen, Unreachable
from paribus.hosts.address import machine_name
from paribus.hosts.transport import Host
from paribus.knobs import journals
from paribus.knobs.catalog import Catalogue
from paribus.model import is_of_hypervisor

DATA_FOLDER = "paribus-data"


@dataclasses.dataclass(frozen=True, slots=True)
class Site:
    """The host, the engine's path on it, and the knobs it may have.

    `load_hosts` are the machines that make the load, none where this one does. `hypervisor` is the machine that this
    one is a guest of, where the plan has settings for both.
    """

    host: Host
    engine: str
    catalogue: Catalogue
    load_hosts: tuple["Site", ...] = ()
    hypervisor: "Site | None" = None

    @property
    def driver(self) -> "Site":
        """The machine that makes the load, or the first of several; it makes the data."""
        return self.load_hosts[0] if self.load_hosts else self

    @property
    def machines(self) -> tuple["Site", ...]:
        """The machines whose settings may be changed; the hypervisor comes last."""
        return (self,) if self.hypervisor is None else (self, self.hypervisor)

    def machine_of(self, key: str) -> "Site":
        """The machine that has a setting: the hypervisor for `host.*` and `guest.*`, else the target."""
        return self.hypervisor if self.hypervisor is not None and is_of_hypervisor(key) else self

    def engine_version(self) -> str:
        """The engine's name and version. Raises HostError."""
        return self.host.run([self.engine, "--version"]).stdout.strip()

    def refuse_open_journals(self) -> None:
        """Refuse a target whose settings are not restored.

        Raises JournalOpen where an earlier experiment was cut off, NotInspected where no journal can be read, and
        NotRestored where one is damaged.
        """
        for site in self.machines:
            for entry in journals.open_journals(site.host, site.engine):
                if entry.is_cut_off:
                    machine, n = machine_name(site.host.name), len(entry.changes)
                    left = f"{'1 setting' if n == 1 else f'{n} settings'} of {machine} may still be changed"
                    left = left if n else "its journal is still open"
                    raise JournalOpen(
                        f"experiment {entry.experiment} was cut off; {left} ({entry.path})",
                        f"restore the machine first: {journals.undo_command(site.host.name)}",
                    )


def data_folder(path: str, experiment: str) -> str:
    """The data folder of one experiment, below the plan's path."""
    return f"{path.rstrip('/')}/{DATA_FOLDER}/{experiment}"


def reach_load_hosts(site: Site, experiment: str, stopped: Callable[[], bool]) -> None:
    """Reach the load hosts again where one was lost; the target is restored, and nothing of a load host has to be.

    Raises Unreachable, and Interrupted where the user asks to stop.
    """
    try:
        for load_host in site.load_hosts:
            load_host.host.reconnect(stopped)
    except Unreachable as error:
        if stopped():
            message = f"stopped while the load host was lost: {error.message}"
            raise Interrupted(message, f"continue with: paribus resume {experiment}") from error
        todo = f"no setting was changed there; when it is reached again, continue with: paribus resume {experiment}"
        raise Unreachable(error.message, todo) from error
