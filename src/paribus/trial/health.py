"""The health of the machine around one trial: looked at before it, every few seconds while it is measured, and after.

In: the rows on health that the plan watches. Out: the states, and the reasons not to use the trial.
"""

import math
import time
from collections.abc import Callable, Collection, Sequence

from paribus.errors import Interrupted, LimitReached
from paribus.hosts.transport import Host
from paribus.i18n import N_, StoredMessage, stored_message
from paribus.knobs import health
from paribus.model import HEALTH, HealthCheck, Measurement
from paribus.parsers.redact import redact

_EVERY_S = 10.0  # a controller's program takes up to a second of a processor
_FRESH_S = 5.0  # short trials follow each other closely: the last look of one is then the first of the next
_PATIENCE_S = 3600.0  # a learn cycle of a battery is shorter


class HealthWatch:
    """The states of one trial after the other."""

    def __init__(self, host: Host, checks: Sequence[HealthCheck], stopped: Callable[[], bool]) -> None:
        """Prepare the watch; `begin` reads the first states."""
        self._host = host
        self._checks = checks
        self._stopped = stopped
        self._states: dict[str, list[str]] = {}
        self._reasons: list[StoredMessage] = []
        self._last_s = 0.0
        self._looked_s = -math.inf
        self._expected: Collection[str] = ()

    def begin(self, on_wait: Callable[[str], None], expected: Collection[str] = ()) -> dict[str, str]:
        """Wait until trials count, and begin one; the states that are words, as conditions of the trial.

        `on_wait` hears what is waited for. The rows of the names `expected` void no trial once it has begun. Raises
        LimitReached where that takes an hour, Interrupted and Unreachable.
        """
        deadline = time.monotonic() + _PATIENCE_S
        announced = ""
        self._last_s = 0.0
        self._states = {name: states[-1:] for name, states in self._states.items()}
        is_fresh = not self._reasons and not expected and time.monotonic() - self._looked_s < _FRESH_S
        self._expected = ()
        while True:
            if not is_fresh:
                self._states, self._reasons = {}, []
                self._look()
            if not self._reasons:
                self._expected = expected
                return {name: states[0] for name, states in self._states.items() if health.number(states[0]) is None}
            reason = "; ".join(map(str, self._reasons))
            if time.monotonic() > deadline:
                todo = "remove the cause, then continue with: paribus resume last"
                raise LimitReached(f"no trial would count for an hour: {reason}", todo)
            if reason != announced:
                announced = reason
                on_wait(f"waiting until trials count again: {reason}")
            self._sleep()

    def pass_time(self, elapsed_s: float) -> None:
        """Look again where the last time is long ago; `elapsed_s` after the measured time began."""
        if elapsed_s - self._last_s >= _EVERY_S:
            self._last_s = elapsed_s
            self._look()

    def end(self) -> list[StoredMessage]:
        """Look for the last time; the reasons not to use the trial."""
        self._look()
        return list(dict.fromkeys(self._reasons))

    def measurements(self) -> tuple[Measurement, ...]:
        """The states that are numbers, over the trial."""
        by_name = {name: [health.number(state) for state in states] for name, states in self._states.items()}
        units = {check.name: check.unit for check in self._checks}
        return tuple(
            _measured(name, units[name], [value for value in values if value is not None])
            for name, values in by_name.items()
            if values and None not in values
        )

    def _look(self) -> None:
        for reading in health.read_each(self._host, self._checks):
            check, state = reading.check, reading.state
            if state is None:
                text = N_("{name} could not be read: {why}")
                self._reasons.append(stored_message(text, name=check.name, why=redact(reading.refused)))
                continue
            states = self._states.setdefault(check.name, [])
            before = states[-1] if states else state
            states.append(state)
            if check.name.partition(" ")[0] in self._expected:
                continue
            self._reasons += filter(None, (health.unsound(check, state), health.moved(check, before, state)))
        self._looked_s = time.monotonic()

    def _sleep(self) -> None:
        until = time.monotonic() + _EVERY_S
        while time.monotonic() < until:
            if self._stopped():
                raise Interrupted("stopped while the machine was not fit for a trial")
            time.sleep(0.1)


def _measured(name: str, unit: str, values: Sequence[float]) -> Measurement:
    return Measurement.of_series(HEALTH + name, unit, values, "measure", "health", total=values[-1])
