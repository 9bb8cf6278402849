"""Conditions of the load, the tool and the server: options that start a process under them, and their read-back.

In: a trial's settings. Out: options of the engine, and what /proc shows of each process and its descendants. Called by
the runner in every trial.
"""

import time
from collections.abc import Mapping, Sequence

from paribus.engine.protocol import Processes
from paribus.engine.run import understand
from paribus.errors import EngineError
from paribus.hosts.transport import Host
from paribus.knobs.kinds import knob_kinds
from paribus.model import Change, ChangeState, Knob, NotTaken, ProcessState, Value
from paribus.registry import DATABASE_DEFAULT

_ATTEMPTS = 3
_PAUSE_S = 0.05

Conditions = Mapping[str, tuple[Knob, Value]]


def options(conditions: Conditions) -> tuple[str, ...]:
    """The engine's options that start a process under these conditions, each once."""
    groups = dict.fromkeys(knob_kinds.get(knob.kind).engine_options(knob, value) for knob, value in conditions.values())
    return tuple(word for group in groups for word in group)


def read_back(host: Host, engine: str, pid: int, conditions: Conditions) -> tuple[Change, ...]:
    """Return the conditions of a process and its descendants; mismatched where any of them differs.

    Raises EngineError and HostError where they cannot be read.
    """
    changes: tuple[Change, ...] = ()
    for _ in range(_ATTEMPTS if conditions else 0):
        states = _states(host, engine, pid)
        changes = tuple(_change(states, knob, value) for knob, value in conditions.values())
        if all(change.state is ChangeState.VERIFIED for change in changes):
            break
        time.sleep(_PAUSE_S)  # the kernel takes a process that ends out of its groups first
    return changes


def _states(host: Host, engine: str, pid: int) -> list[ProcessState]:
    completed = host.run([engine, "processes", str(pid)])
    event = understand(completed.stdout.strip() or completed.stderr)
    if not isinstance(event, Processes) or not event.processes:
        raise EngineError("no-data", f"process {pid} has ended, so its conditions cannot be read back")
    return [process.state() for process in event.processes]


def _change(states: Sequence[ProcessState], knob: Knob, requested: Value) -> Change:
    kind = knob_kinds.get(knob.kind)
    observed = [(process, kind.of_process(knob, requested, process)) for process in states]
    process, value = next(((p, value) for p, value in observed if value != requested), observed[0])
    is_in_force = value == requested
    return Change(
        knob=knob.name,
        address=f"/proc/{process.pid} ({process.name})",
        before=DATABASE_DEFAULT,
        wanted=requested,
        observed=value,
        state=ChangeState.VERIFIED if is_in_force else ChangeState.MISMATCHED,
        not_taken=None if is_in_force else NotTaken.IGNORED,
    )
