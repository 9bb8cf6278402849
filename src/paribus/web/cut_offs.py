"""Experiments that were cut off: they run by their state, and nothing on this machine works on them.

In: an experiment, its plan and its last activity. Out: whether it was cut off. The journals are inspected only when an
experiment is overdue, so that no trial is disturbed.
"""

import math
import socket
import threading
from collections.abc import Callable, Collection

from paribus.model import Experiment, ExperimentState, Plan
from paribus.web import pace

RunningHere = Callable[[], Collection[str] | None]
"""Return the ids of the experiments that run on this machine; None where that is unknown."""
_INSPECTED_EVERY_S = 10.0


def unknown() -> Collection[str] | None:
    """Return None: no experiment is then taken for cut off."""
    return None


class CutOffs:
    """Cut-off experiments of a store; one inspection serves all of them for some seconds."""

    def __init__(self, running_here: RunningHere) -> None:
        self._running_here = running_here
        self._inspecting = threading.Lock()
        self._inspected_s = -math.inf
        self._running: Collection[str] | None = None

    def has(self, experiment: Experiment, plan: Plan, activity: tuple[float, float], now: float) -> bool:
        """Whether an experiment was cut off; `activity` is `pace.last_activity`.

        Those on other machines have their journals there, and are never taken for cut off.
        """
        is_of_this_machine = plan.target.is_local and experiment.fingerprint.get("host") == socket.gethostname()
        if experiment.state is not ExperimentState.RUNNING or not is_of_this_machine:
            return False
        last_event_s = max(experiment.started, activity[0])
        if not pace.is_overdue(last_event_s, activity[1], plan.protocol.trial_s, now):
            return False
        running = self._inspect(now)
        return running is not None and experiment.id not in running

    def _inspect(self, now: float) -> Collection[str] | None:
        with self._inspecting:
            if now - self._inspected_s >= _INSPECTED_EVERY_S:
                self._running, self._inspected_s = self._running_here(), now
            return self._running
