"""Where trials are made: a machine with its engine, the folder of their data, and putting back what a cut-off left."""

import dataclasses
from collections.abc import Callable

from paribus.errors import HostError, JournalOpen, Unreachable
from paribus.hosts.transport import Host
from paribus.knobs import journal
from paribus.knobs.catalog import Catalogue

_MOST_LOSSES = 5
DATA_FOLDER = "paribus-data"


@dataclasses.dataclass(frozen=True, slots=True)
class Site:
    """Where trials are made: the host, the engine as the host finds it, and the knobs it may have."""

    host: Host
    engine: str
    catalogue: Catalogue

    def engine_version(self) -> str:
        """What the engine calls itself. Raises HostError."""
        return self.host.run([self.engine, "--version"]).stdout.strip()

    def refuse_open_journals(self) -> None:
        """Raise JournalOpen where an earlier experiment was not restored, NotInspected where no journal can be read,
        NotRestored where one is damaged."""
        for found in journal.open_journals(self.host, self.engine):
            if found.is_cut_off:
                raise JournalOpen(
                    f"experiment {found.experiment} was cut off; {len(found.changes)} settings of this machine "
                    f"may still be changed ({found.path})",
                    "restore the machine first: paribus undo",
                )


def data_folder(path: str, experiment: str) -> str:
    """Where the data of one experiment lives, below the plan's path."""
    return f"{path.rstrip('/')}/{DATA_FOLDER}/{experiment}"


def put_back(site: Site, experiment: str, stopped: Callable[[], bool]) -> None:
    """Undo what an experiment without its keeper left, on a target that may have to be reached anew.

    Raises NotRestored, and NotInspected where it cannot be reached, or is lost again and again.
    """
    for attempt in range(_MOST_LOSSES):
        try:
            site.host.reconnect(stopped)
            return journal.undo(site.host, site.engine, lambda _event: None, lost=experiment)
        except HostError as error:
            if stopped() or attempt == _MOST_LOSSES - 1 or not isinstance(error, Unreachable):
                raise journal.not_inspected(site.host.name, error.message, error.todo) from error
    return None
