"""Health of a machine: states that programs print, and whether a trial counts while they last. Changes nothing.

In: rows on health, and the disks under test. Out: the states now, and what is wrong with them.
"""

import dataclasses
import fnmatch
import math
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from paribus.errors import HostError, Missing, TimedOut, Unreachable
from paribus.hosts.transport import Completed, Host
from paribus.i18n import N_, StoredMessage, stored_message
from paribus.knobs.catalog.printed import DEVICE
from paribus.knobs.kinds.by_command import extract, program_in
from paribus.model import HealthCheck

_PATIENCE_S = 10.0  # for a program: the load goes on meanwhile
_NOT_FOUND = 127  # the exit code of a shell, over SSH
_BETWEEN = ", "  # the different words of a state
_WORDS = 200  # characters of a program's words in a message


@dataclass(frozen=True, slots=True)
class HealthReading:
    """A state as it is now; None where it could not be read, and then the reason, which may hold a password.

    `lacks_program`: the reason is that the program is not installed.
    """

    check: HealthCheck
    state: str | None
    refused: str = ""
    lacks_program: bool = False


def needs_disk(check: HealthCheck) -> bool:
    """Whether the state is that of a disk."""
    return any(DEVICE in word for word in check.command.get)


def placed(checks: Sequence[HealthCheck], disks: Sequence[str]) -> Iterator[HealthCheck]:
    """The rows with a disk in their argument lists: one for each of `disks` that has it. Others as they are."""
    for check in checks:
        if not needs_disk(check):
            yield check
            continue
        for disk in disks:
            name = disk.removeprefix("/dev/")
            if check.disks and not fnmatch.fnmatchcase(name, check.disks):
                continue
            argv = tuple(word.replace(DEVICE, disk) for word in check.command.get)
            command = dataclasses.replace(check.command, get=argv)
            yield dataclasses.replace(check, name=f"{check.name} {name}", command=command)


def read_each(host: Host, checks: Sequence[HealthCheck]) -> Iterator[HealthReading]:
    """The states now; each command runs once, and none of a program that did not end. Raises Unreachable."""
    printed: dict[tuple[str, ...], Completed | HostError] = {}
    stuck: dict[str, TimedOut] = {}
    for check in checks:
        argv = check.command.get
        if argv not in printed:
            outcome = printed[argv] = stuck.get(program_in(argv)) or _run(host, argv)
            if isinstance(outcome, TimedOut):
                stuck[program_in(argv)] = outcome
        done = printed[argv]
        if isinstance(done, HostError):
            yield HealthReading(check, None, done.message, lacks_program=isinstance(done, Missing))
            continue
        try:
            yield HealthReading(check, state_in(check, done.stdout))
        except ValueError as error:
            words = " ".join(f"{done.stdout} {done.stderr}".split())[:_WORDS]
            program = f"`{shlex.join(argv)}` (exit code {done.exit_code})"
            refused = f"{program} does not print it: {error}; it prints: {words}"
            yield HealthReading(check, None, refused, lacks_program=done.exit_code == _NOT_FOUND)


def state_in(check: HealthCheck, text: str) -> str:
    """The state in an output; of several matches the sum, or the different words. Raises ValueError without one."""
    first = extract(check.command, text)
    if not check.every:
        return first
    states = [match[1] for match in re.finditer(check.command.pattern, text, re.MULTILINE) if match[1] is not None]
    numbers = [value for value in map(number, states) if value is not None]
    return f"{sum(numbers):.15g}" if len(numbers) == len(states) else _BETWEEN.join(sorted(set(states)))


def _run(host: Host, argv: Sequence[str]) -> Completed | HostError:
    """Run a program whose exit code is no failure: that of smartctl describes the drive. Raises Unreachable."""
    try:
        return host.run(list(argv), timeout_s=_PATIENCE_S)
    except Unreachable:
        raise
    except HostError as error:
        return error


def number(state: str) -> float | None:
    """The number that a state is, such as 1,234; None of a word."""
    try:
        value = float(state.replace(",", ""))
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def unsound(check: HealthCheck, state: str) -> StoredMessage | None:
    """Return the reason why a trial does not count in this state; None where it does."""
    words = state.split(_BETWEEN) if check.every else [state]
    if check.sound and not set(words) <= set(map(str, check.sound)):
        text = N_("{name} is {state}, and not {sound}")
        return stored_message(text, name=check.name, state=state, sound=[str(each) for each in check.sound])
    value = number(state)
    if value is None and (check.minimum is not None or check.maximum is not None):
        return stored_message(N_("{name} is {state}, which is no number"), name=check.name, state=state)
    if value is not None and check.minimum is not None and value < check.minimum:
        text = N_("{name} is {state}, less than {bound}")
        return stored_message(text, name=check.name, state=state, bound=f"{check.minimum:g}")
    if value is not None and check.maximum is not None and value > check.maximum:
        text = N_("{name} is {state}, more than {bound}")
        return stored_message(text, name=check.name, state=state, bound=f"{check.maximum:g}")
    return None


def moved(check: HealthCheck, before: str, now: str) -> StoredMessage | None:
    """Return the reason why a trial does not count after this change; None where it does."""
    if not check.constant or before == now:
        return None
    return stored_message(N_("{name} changed from {before} to {now}"), name=check.name, before=before, now=now)
