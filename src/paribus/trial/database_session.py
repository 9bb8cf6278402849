"""What the bench and the runner need of database servers, whoever's they are, and what all of these share.

In: a trial's settings. Out: what became of each setting, and where a load connects to.
"""

import re
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping

from paribus.databases import Variable
from paribus.engine.protocol import Job, MysqlServer, PostgresServer
from paribus.errors import ParibusError
from paribus.i18n import StoredMessage, stored_message
from paribus.model import Change, ChangeState, Measurement, NotTaken, Settings, Trial, Value, Workload
from paribus.registry import data_of

_LONGEST_NAME = 30  # with a prefix of 20 and the shape a name of at most 63 letters

Work = Callable[[Job, Callable[[int, int], None]], None]  # carries out a job on data, telling how far it is
Named = Mapping[str, str]


class Served(ABC):
    """The servers of an experiment; `readied` is what making one ready for the last `apply` has taken.

    `family` is whose counters the sampler reads.
    """

    def __init__(self, family: str) -> None:
        """Nothing was said and nothing is in force yet."""
        self.family = family
        self.readied: tuple[Measurement, ...] = ()
        self._in_force = InForce()
        self._remarks: dict[StoredMessage, None] = {}

    @abstractmethod
    def make_data(
        self,
        trials: Iterable[Trial],
        workloads: Mapping[str, Workload],
        work: Work,
        progress: Callable[[int, int], None],
    ) -> None:
        """Make all data that these trials work on. Raises DatabaseError, EngineError and Interrupted."""

    @abstractmethod
    def put_back(self, workload: Workload, settings: Settings, work: Work) -> None:
        """Its data as it was made, where a load has worked on it since. Raises as `make_data`."""

    @abstractmethod
    def apply(
        self, workload: Workload, trial: Trial, tested: Collection[str], work: Work, land: Callable[[], None]
    ) -> tuple[Change, ...]:
        """Have the server run with the trial's settings, each read back; those `tested` are set even when equal.

        `land` ends a load that still goes on, before a restart. What the server refuses is a change with its words.
        Raises DatabaseError, EngineError and Interrupted.
        """

    @abstractmethod
    def verify(self) -> tuple[Change, ...]:
        """Read every setting of the last `apply` again; those that moved since."""

    @abstractmethod
    def server(self, workload: Workload, settings: Settings) -> MysqlServer | PostgresServer:
        """Where a load of these settings connects to."""

    def explained(self, error: ParibusError) -> ParibusError:
        """A load's error, and why the server ended where it has and that is known."""
        return error

    def uncounted(self, why: str) -> None:
        """The server's counters cannot be read any more."""
        self._remark(stored_message("the server's counters were not read all the time: {why}", why=why))

    def notes(self) -> list[StoredMessage]:
        """What a reader of the report must know of the servers, each once, in the order in which it came up."""
        return list(self._remarks)

    def _remark(self, words: StoredMessage | None) -> None:
        """Keep it, unless there is nothing."""
        if words:
            self._remarks[words] = None

    @abstractmethod
    def close(self) -> None:
        """End what was started. Raises DatabaseError where that cannot be."""


class InForce:
    """The settings of one application: what was wanted, and what was found."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[str, str]] = {}  # by name

    def clear(self) -> None:
        """Nothing is in force."""
        self._found.clear()

    def taken(self, family: str, variable: Variable, wanted: str, found: str, *, before: str, refused: str) -> Change:
        """Keep what was found; what became of what was wanted."""
        key = f"{family}.{variable.name}"
        self._found[key] = (wanted, found)
        taken = variable.is_same(wanted, found)
        return Change(
            knob=key,
            address=variable.name,
            before=before,
            wanted=wanted,
            observed=found,
            state=ChangeState.VERIFIED if taken else ChangeState.MISMATCHED,
            refused=refused,
            not_taken=None if taken else NotTaken.REFUSED if refused else NotTaken.CLAMPED,
        )

    def moved(self, read: Callable[[str], str]) -> tuple[Change, ...]:
        """Those that read otherwise now."""
        changes = []
        for key, (wanted, found) in self._found.items():
            now = read(key.partition(".")[2])
            if now != found:
                change = Change(
                    knob=key, address=key, before=found, wanted=wanted, observed=now,
                    state=ChangeState.MISMATCHED, not_taken=NotTaken.RESET,
                )  # fmt: skip
                changes.append(change)
        return tuple(changes)


def database_of(workload: Workload, settings: Settings) -> str:
    """The database of a workload, one for each shape of its data."""
    shape = zlib.crc32(data_of(workload, settings).shape.encode())
    return f"{re.sub('[^a-z0-9]', '_', workload.plan_name.lower())[:_LONGEST_NAME]}_{shape:08x}"


def tested_names(workload: Workload, tested: Collection[str]) -> set[str]:
    """The variables among the keys."""
    return {key.partition(".")[2] for key in tested if key.startswith(f"{workload.database}.")}


def text_of(value: Value) -> str:
    """A level as a server reads it."""
    if isinstance(value, bool):
        return "ON" if value else "OFF"
    return str(value)
