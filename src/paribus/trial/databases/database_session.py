"""The database servers of an experiment, private or in use by others, as the bench and the runner need them.

In: a trial's settings. Out: the change made to each setting, and where a load connects to.
"""

import re
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from paribus.databases import ServerVariable
from paribus.engine.protocol import DatabaseServer
from paribus.errors import ParibusError
from paribus.i18n import StoredMessage, stored_message
from paribus.model import SERVER_STARTED, Change, ChangeState, Measurement, NotTaken, Settings, Trial, Value, Workload
from paribus.registry import data_of
from paribus.trial.databases.recovery import Mount
from paribus.trial.databases.workload_data import Progress, WorkloadData

_LONGEST_NAME = 30  # with a prefix of 20 and the shape a name of at most 63 letters

Named = Mapping[str, str]


class DatabaseSession(ABC):
    """The servers of an experiment.

    `readied`: measurements of making a server ready for the last `apply`. `family`: the server family whose counters
    the sampler reads.
    """

    def __init__(self, family: str) -> None:
        """No setting is in force yet."""
        self.family = family
        self.readied: tuple[Measurement, ...] = ()
        self._in_force = InForce()
        self._remarks: dict[StoredMessage, None] = {}

    @abstractmethod
    def make_data(
        self,
        trials: Iterable[Trial],
        workloads: Mapping[str, Workload],
        data: WorkloadData,
        progress: Progress,
    ) -> None:
        """Make all data that these trials work on. Raises DatabaseError, EngineError and Interrupted."""

    @abstractmethod
    def restore(self, workload: Workload, settings: Settings, data: WorkloadData) -> None:
        """Restore the workload's data where a load has changed it. Raises as `make_data`."""

    def begin_block(self, block: Sequence[Trial], workload: Workload) -> None:  # noqa: B027
        """Prepare for a block: a private server is restarted for it where that is due."""

    @property
    def pid(self) -> int | None:
        """The process of the server, where it was started by the experiment and runs."""
        return None

    @abstractmethod
    def apply(
        self,
        workload: Workload,
        trial: Trial,
        tested: Collection[str],
        data: WorkloadData,
        stop_load: Callable[[], None],
        conditions: Sequence[str] = (),
    ) -> tuple[Change, ...]:
        """Run the server with the trial's settings, each read back; those `tested` are set even when equal.

        `conditions` are options of the engine for the process of a private server. `stop_load` ends a load that still
        runs, before a restart. A setting that the server refuses is a change with the server's message. Raises
        DatabaseError, EngineError and Interrupted.
        """

    @abstractmethod
    def verify(self) -> tuple[Change, ...]:
        """The settings of the last `apply` that have changed since."""

    def crash(
        self,
        workload: Workload,  # noqa: ARG002
        settings: Settings,  # noqa: ARG002
        mount: Mount | None = None,  # noqa: ARG002
    ) -> tuple[Measurement, ...]:
        """Kill a private server and start it again; what that cost. Nothing is done to a running server of others.

        `mount` is cut off with it.
        """
        return ()

    def kill(self, workload: Workload, settings: Settings) -> None:
        """Kill a private server under its load, and start it again. A running server of others is never killed."""
        raise NotImplementedError(workload, settings)

    @abstractmethod
    def damage(self, workload: Workload, settings: Settings) -> list[str]:
        """Have the server check its tables and indexes; a text on each that is damaged. Raises DatabaseError."""

    @abstractmethod
    def server(self, workload: Workload, settings: Settings) -> DatabaseServer:
        """Return the address of a load with these settings."""

    def explained(self, error: ParibusError) -> ParibusError:
        """A load's error, with the reason why the server ended, where it has and that is known."""
        return error

    def uncounted(self, reason: str) -> None:
        """Note that the server's counters cannot be read any more."""
        self._remark(stored_message("the server's counters were read only part of the time: {why}", why=reason))

    def notes(self) -> list[StoredMessage]:
        """Return notes on the servers for readers of the report, each once, in order of occurrence."""
        return list(self._remarks)

    def _remark(self, note: StoredMessage | None) -> None:
        """Store a note, if there is one."""
        if note:
            self._remarks[note] = None

    @abstractmethod
    def close(self) -> None:
        """End the servers that were started. Raises DatabaseError where that fails."""

    @abstractmethod
    def release(self) -> None:
        """Let others use the servers again, when all is restored."""


def start_measurement(at: float) -> Measurement:
    """The start of the server that a trial worked on, in seconds since 1970."""
    return Measurement.of_value(SERVER_STARTED, "s", at, "prepare", "start")


class InForce:
    """The settings of one application: the requested and the observed value of each."""

    def __init__(self) -> None:
        self._values: dict[str, tuple[str, str]] = {}  # by name

    def clear(self) -> None:
        """Forget all settings."""
        self._values.clear()

    def record(
        self, family: str, variable: ServerVariable, requested: str, observed: str, *, before: str, refused: str
    ) -> Change:
        """Store what was observed; the change that was requested."""
        key = f"{family}.{variable.name}"
        self._values[key] = (requested, observed)
        is_taken = variable.is_same(requested, observed)
        return Change(
            knob=key,
            address=variable.name,
            before=before,
            wanted=requested,
            observed=observed,
            state=ChangeState.VERIFIED if is_taken else ChangeState.MISMATCHED,
            refused=refused,
            not_taken=None if is_taken else NotTaken.REFUSED if refused else NotTaken.CLAMPED,
        )

    def moved(self, read: Callable[[str], str]) -> tuple[Change, ...]:
        """The settings whose value differs from the recorded one."""
        changes = []
        for key, (requested, recorded) in self._values.items():
            current = read(key.partition(".")[2])
            if current != recorded:
                change = Change(
                    knob=key, address=key, before=recorded, wanted=requested, observed=current,
                    state=ChangeState.MISMATCHED, not_taken=NotTaken.RESET,
                )  # fmt: skip
                changes.append(change)
        return tuple(changes)


def database_of(workload: Workload, settings: Settings) -> str:
    """The name of a workload's database, one for each shape of its data."""
    shape = zlib.crc32(data_of(workload, settings).shape.encode())
    return f"{re.sub('[^a-z0-9]', '_', workload.plan_name.lower())[:_LONGEST_NAME]}_{shape:08x}"


def tested_variables(workload: Workload, tested: Collection[str]) -> set[str]:
    """The names of the workload's database variables among the keys."""
    return {key.partition(".")[2] for key in tested if key.startswith(f"{workload.database}.")}


def server_text(value: Value) -> str:
    """A level as the server's text."""
    if isinstance(value, bool):
        return "ON" if value else "OFF"
    return str(value)
