"""The drives of a controller's volume in a trial: let fail and brought back by the programs of their rows.

In: the drives that the events of a plan name. Out: failures that the journal knew before. A drive fails only while its
volume is whole, and the trial is over when it is whole again.
"""

import time
from collections.abc import Callable, Iterable

from paribus.errors import HostError
from paribus.hosts.transport import Host
from paribus.knobs import health, members
from paribus.knobs.journal import Journal
from paribus.model import HealthCheck, VolumeMember
from paribus.trial.events.raid import no_failure

_POLL_S = 1.0
_FAILED = "failed"


class VolumeMembers:
    """Drives that may fail, one at a time."""

    def __init__(
        self, host: Host, journal: Journal, checks: Iterable[HealthCheck], stopped: Callable[[], bool]
    ) -> None:
        """`checks`: what is watched in every trial, and says whether a volume is whole."""
        self._host = host
        self._journal = journal
        self._checks = tuple(checks)
        self._stopped = stopped
        self._journalled: set[str] = set()
        self._lacking: VolumeMember | None = None  # failed, and not whole again

    def fail(self, member: VolumeMember) -> None:
        """Let a drive fail. Raises HostError where its volume is not whole, and JournalError."""
        self._refuse_unless_whole(member)
        if member.name not in self._journalled:
            undo = [members.returning(member)]
            address = members.address_of(member)
            self._journal.intend(member.name, address, member.whole, _FAILED, undo, persistent=True)
            self._journalled.add(member.name)
        self._lacking = member
        self._journal.make(member.name, members.failing(member))
        if (state := members.state_of(self._host, member)) == member.whole:
            raise HostError(
                f"{member.name} is {state} after it was to fail", f"correct fail in the row of {member.name}"
            )

    def replace(self) -> None:
        """Begin to rebuild the drive that failed. Raises HostError and JournalError."""
        member = self._lacking
        if member is None:
            raise no_failure()
        self._journal.make(member.name, members.returning(member))
        state = members.state_of(self._host, member)
        if state not in (member.whole, *member.rebuilding):
            todo = f"correct replace or rebuilding in the row of {member.name}; then run: paribus undo"
            raise HostError(f"{member.name} is {state} after its rebuild was to begin", todo)

    def is_whole(self) -> bool:
        """Whether no drive lacks, and every volume is whole."""
        member = self._lacking
        if member is None:
            return True
        if members.state_of(self._host, member) != member.whole or self._unsound(member):
            return False
        self._lacking = None
        return True

    def bring_back(self, on_wait: Callable[[str], None]) -> None:
        """Wait until every volume is whole, and begin the rebuild where none has; a stop ends the wait.

        `on_wait` hears what is waited for. Raises HostError and JournalError.
        """
        member = self._lacking
        if member is None:
            return
        self.replace()
        announced = False
        while not self.is_whole() and not self._stopped():
            if not announced:
                announced = True
                on_wait(f"waiting until {member.name} is {member.whole} again")
            time.sleep(_POLL_S)

    def _refuse_unless_whole(self, member: VolumeMember) -> None:
        state = members.state_of(self._host, member)
        reasons = [] if state == member.whole else [f"{member.name} is {state}, and not {member.whole}"]
        if reasons := [*reasons, *self._unsound(member)]:
            raise HostError(f"{member.name} must not fail: {'; '.join(reasons)}", "let the volume be rebuilt first")

    def _unsound(self, member: VolumeMember) -> list[str]:
        """Reasons why the volume of a drive is not whole. Raises HostError where that is unknown."""
        affected = [check for check in self._checks if check.name.partition(" ")[0] in member.affects]
        reasons: list[str] = []
        for reading in health.read_each(self._host, affected):
            if reading.state is None:
                raise HostError(f"{reading.check.name} cannot be read: {reading.refused}", "correct its row")
            if (reason := health.unsound(reading.check, reading.state)) is not None:
                reasons.append(str(reason))
        return reasons
