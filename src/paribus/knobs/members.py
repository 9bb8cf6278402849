"""Drives of a controller's volume: their states, and what lets them fail and brings them back."""

import dataclasses
import shlex
from collections.abc import Iterable

from paribus.errors import HostError, TimedOut
from paribus.hosts.programs import full_path
from paribus.hosts.transport import Host
from paribus.knobs.kinds.by_command import extract
from paribus.model import HealthCheck, SetByCommand, VolumeMember

_SHOWN = 300  # characters of a program's words in a message


def placed(host: Host, member: VolumeMember) -> VolumeMember:
    """The drive with the full paths of its programs on a host. Raises HostError where one is not there."""
    get, fail, replace = (
        (full_path(host, argv[0]), *argv[1:]) for argv in (member.command.get, member.fail, member.replace)
    )
    command = dataclasses.replace(member.command, get=get)
    return dataclasses.replace(member, command=command, fail=fail, replace=replace)


def address_of(member: VolumeMember) -> str:
    """The program that prints its state, which stands for the drive in the journal."""
    return shlex.join(member.command.get)


def checks_of(member: VolumeMember, checks: Iterable[HealthCheck]) -> list[HealthCheck]:
    """The checks of health whose states follow a drive."""
    return [check for check in checks if check.name.partition(" ")[0] in member.affects]


def claimed(member: VolumeMember, checks: Iterable[HealthCheck]) -> set[str]:
    """Addresses of one experiment alone: of the drive, and of its volume, which then lacks no second drive."""
    return {address_of(member), *(shlex.join(check.command.get) for check in checks_of(member, checks))}


def state_of(host: Host, member: VolumeMember) -> str:
    """The state of a drive now. Raises HostError where it cannot be read."""
    try:
        done = host.run(list(member.command.get))
    except TimedOut as error:
        message = f"`{address_of(member)}`: {error.message}"
        raise TimedOut(message, "run it by hand: it may ask a question, or wait for a device") from error
    try:
        return extract(member.command, done.stdout)
    except ValueError as error:
        words = " ".join(f"{done.stdout} {done.stderr}".split())[:_SHOWN]
        message = f"`{address_of(member)}` (exit code {done.exit_code}) does not print it: {error}; it prints: {words}"
        raise HostError(message, f"adapt json or pattern, in the row of {member.name}, to this version") from error


def as_health(member: VolumeMember) -> HealthCheck:
    """The row as one on health, in which a trial counts while the drive is whole."""
    command, summary = member.command, f"state of {member.name}"
    return HealthCheck(name=member.name, command=command, summary=summary, sound=(member.whole,), proved=member.proved)


def failing(member: VolumeMember) -> SetByCommand:
    """The action after which the drive has failed."""
    return _action(member, member.fail, ())


def returning(member: VolumeMember) -> SetByCommand:
    """The action after which the drive is rebuilt; none is needed where it is whole, or rebuilt already."""
    return _action(member, member.replace, member.rebuilding)


def _action(member: VolumeMember, argv: tuple[str, ...], passing: tuple[str, ...]) -> SetByCommand:
    command = member.command
    return SetByCommand(
        set=argv, get=command.get, json=command.json, pattern=command.pattern, value=member.whole, passing=passing
    )
