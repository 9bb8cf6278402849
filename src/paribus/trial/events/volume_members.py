"""The drives of a controller's volume in a trial: let fail and brought back by the programs of their rows.

In: the drives that the events of a plan name. Out: failures that the journal knew before. A drive fails only while its
volume is whole, and the trial is over when it is whole again.
"""

import math
import time
from collections.abc import Callable, Iterable

from paribus.errors import HostError
from paribus.hosts.transport import Host
from paribus.i18n import N_, StoredMessage, stored_message
from paribus.knobs import health, members
from paribus.knobs.journal import Journal
from paribus.model import HealthCheck, VolumeMember
from paribus.trial.events.raid import no_failure

_POLL_S = 1.0
_LOOKS_SHARE = 10  # times as long as a look takes is until the next: a controller's program takes a processor
_BEGINS_S = 10.0  # in which a controller shows that a rebuild has begun
_SETTLES_S = 60.0  # in which a volume is told to be whole after its drive is
_FAILED = "failed"
_NOT_WHOLE = N_("{drive} was not whole again when the trial ended")


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
        self._begun_s = -math.inf  # when its rebuild did
        self._next_look_s = 0.0
        self._drive_whole_s: float | None = None  # since when the drive is whole and its volume is not

    def fail(self, member: VolumeMember) -> float:
        """Let a drive fail, and return when it had, on the monotonic clock.

        Raises HostError where its volume is not whole, and JournalError.
        """
        self._refuse_unless_whole(member)
        if member.name not in self._journalled:
            undo = [members.returning(member)]
            address = members.address_of(member)
            self._journal.intend(member.name, address, member.whole, _FAILED, undo, persistent=True)
            self._journalled.add(member.name)
        self._lacking, self._begun_s = member, -math.inf
        self._journal.make(member.name, members.failing(member))
        failed_s = time.monotonic()
        if (state := members.state_of(self._host, member)) == member.whole:
            raise HostError(
                f"{member.name} is {state} after it was to fail", f"correct fail in the row of {member.name}"
            )
        return failed_s

    def replace(self) -> float:
        """Begin to rebuild the drive that failed, and return when, on the monotonic clock.

        Raises HostError and JournalError.
        """
        member = self._lacking
        if member is None:
            raise no_failure()
        self._journal.make(member.name, members.returning(member))
        self._begun_s = time.monotonic()
        self._next_look_s, self._drive_whole_s = 0.0, None
        return self._begun_s

    def is_whole(self) -> bool:
        """Whether no drive lacks, and every volume is whole; looked at now and then.

        Raises HostError where a drive is not rebuilt any more, or its volume does not become whole.
        """
        member = self._lacking
        if member is None:
            return True
        began_s = time.monotonic()
        if began_s < self._next_look_s:
            return False
        reasons = self._unsound(member) if self._state_on_the_way(member) == member.whole else None
        now_s = time.monotonic()
        self._next_look_s = now_s + max(_POLL_S, _LOOKS_SHARE * (now_s - began_s))
        if reasons is None:
            return False
        if reasons:
            self._drive_whole_s = self._drive_whole_s or now_s
            if now_s - self._drive_whole_s > _SETTLES_S:
                raise HostError(f"{member.name} is {member.whole}, and yet {'; '.join(reasons)}", "mend that first")
            return False
        self._lacking = None
        return True

    def bring_back(self, on_wait: Callable[[str], None], *, wait: bool = True) -> None:
        """Begin the rebuild of a drive that lacks, where none has begun, and wait until its volume is whole.

        A stop ends the wait, and `wait` leaves it out. `on_wait` hears what is waited for. Raises HostError and
        JournalError.
        """
        member = self._lacking
        if member is None:
            return
        if time.monotonic() - self._begun_s > _BEGINS_S:
            self.replace()
        announced = False
        while wait and not self.is_whole() and not self._stopped():
            if not announced:
                announced = True
                on_wait(f"waiting until {member.name} is {member.whole} again")
            time.sleep(_POLL_S)

    def reasons(self) -> list[StoredMessage]:
        """Return the reason not to use a trial after which a drive lacks."""
        return [stored_message(_NOT_WHOLE, drive=self._lacking.name)] if self._lacking is not None else []

    def _state_on_the_way(self, member: VolumeMember) -> str:
        """Return the state of a drive that is rebuilt. Raises HostError where it is not, some time after that began."""
        state = members.state_of(self._host, member)
        has_begun = time.monotonic() - self._begun_s > _BEGINS_S
        if has_begun and state not in (member.whole, *member.rebuilding):
            todo = f"bring it back by hand, or correct replace and rebuilding in the row of {member.name}"
            raise HostError(f"{member.name} is {state}, and not rebuilt", f"{todo}; then run: paribus undo")
        return state

    def _refuse_unless_whole(self, member: VolumeMember) -> None:
        state = members.state_of(self._host, member)
        reasons = [] if state == member.whole else [f"{member.name} is {state}, and not {member.whole}"]
        if reasons := [*reasons, *self._unsound(member)]:
            raise HostError(f"{member.name} must not fail: {'; '.join(reasons)}", "let the volume be rebuilt first")

    def _unsound(self, member: VolumeMember) -> list[str]:
        """Reasons why the volume of a drive is not whole. Raises HostError where that is unknown."""
        reasons: list[str] = []
        for reading in health.read_each(self._host, members.checks_of(member, self._checks)):
            if reading.state is None:
                raise HostError(f"{reading.check.name} cannot be read: {reading.refused}", "correct its row")
            if (reason := health.unsound(reading.check, reading.state)) is not None:
                reasons.append(str(reason))
        return reasons
