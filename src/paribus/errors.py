"""The one tree of errors.

    ParibusError            exit 3   a tooling error stopped the work
    ├── UsageError          exit 2   the command line is wrong
    │   └── PlanError       exit 2   the plan is wrong; carries every problem found
    ├── StoreError          exit 3   the store cannot be read or written
    ├── HostError           exit 3   a file or program of the target
    │   ├── Missing                  it is not there
    │   ├── Denied                   it is there, but not for this user, or the kernel refused the value
    │   │   └── ReadOnly             its file system is read-only
    │   ├── BadReply                 its answer is not understood, too large or too late
    │   │   └── TimedOut             a program did not end in time
    │   └── Unreachable              the connection to the target cannot be made, or was lost
    ├── JournalError        exit 3   the journal cannot be kept, so nothing is changed
    │   ├── JournalOpen     exit 4   an earlier experiment was not restored
    │   └── NotInspected    exit 4   the journals of the target cannot be read, so settings may still be changed
    ├── TargetBusy          exit 3   another experiment runs on the target; nothing was begun
    ├── NotRestored         exit 4   something on the target could not be restored
    ├── JournalLost         exit 3   the journal process ended too early; all settings are restored
    ├── EngineError         exit 3   the load engine failed; carries its class
    ├── DatabaseError       exit 3   a database server, of our own or one that others use
    │   ├── DataDamaged              its restored data differs from the original
    │   ├── ServerWouldNotStart      not with these settings; carries its last words
    │   ├── ServerGone               it ended, or the connection to it was lost
    │   └── QueryRefused             the server said no; carries its words
    ├── SandboxError        exit 3   a virtual machine for trying layouts cannot be made or reached
    ├── DrawingFailed       exit 3   a chart could not be drawn
    ├── Inapplicable        exit 3   what an experiment showed must not be set here: not decided, or another machine
    ├── LimitReached        exit 3   a limit of the plan was reached; the machine was restored
    └── Interrupted         exit 130 the user or a signal ended the work, and the machine was restored

Each message names the thing and keeps the cause; `todo` says what to do next.
"""

from collections.abc import Sequence
from dataclasses import dataclass


class ParibusError(Exception):
    """A failure reported to the user: `message` names the object and the cause, `todo` the next step."""

    exit_code = 3

    def __init__(self, message: str, todo: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.todo = todo

    def __str__(self) -> str:
        return f"{self.message}\n  {self.todo}" if self.todo else self.message


class UsageError(ParibusError):
    """The command line is wrong."""

    exit_code = 2


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem in a plan: its location, the error and a hint."""

    location: str
    message: str
    hint: str = ""
    line: int = 0

    def __str__(self) -> str:
        return f"{self.location}: {self.message}" + (f"; {self.hint}" if self.hint else "")


class PlanError(UsageError):
    """A plan that cannot be run, with all its problems."""

    def __init__(self, name: str, problems: Sequence[Problem]) -> None:
        problems = sorted(problems, key=lambda problem: problem.line)
        count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
        lines = "".join(f"\n  {problem}" for problem in problems)
        super().__init__(f"{name}: {count}; nothing was touched{lines}")
        self.problems = tuple(problems)


class StoreError(ParibusError):
    """The store is missing, damaged, newer than this program, or cannot be written."""


class StoreLocked(StoreError):
    """The store cannot be used now: another program has locked it, or its server does not let us in."""


class HostError(ParibusError):
    """An operation on a file or a program of the target failed."""


class Missing(HostError):
    """The file or program does not exist."""


class Denied(HostError):
    """This user may not access the file, or the kernel refused the value."""


class ReadOnly(Denied):
    """The file exists on a read-only file system."""


class BadReply(HostError):
    """The target's answer is not understood, too large, or too late."""


class TimedOut(BadReply):
    """A program did not end within its time limit."""


class Unreachable(HostError):
    """The target does not answer: the connection failed or was lost."""


class JournalError(ParibusError):
    """The journal cannot be kept; nothing may be changed."""


class JournalOpen(JournalError):
    """Settings of an earlier experiment were not restored."""

    exit_code = 4


class NotInspected(JournalError):
    """The journals of a target cannot be read, so its settings may still be changed."""

    exit_code = 4


class TargetBusy(ParibusError):
    """Another experiment runs on the target, and nothing was begun."""


class NotRestored(ParibusError):
    """Some setting could not be restored."""

    exit_code = 4


class JournalLost(ParibusError):
    """The journal process ended too early, or its file could not be closed; all settings are restored."""


class EngineError(ParibusError):
    """The load engine ended with an error event; `failure` is its class, for example `disk-full`."""

    def __init__(self, failure: str, message: str, todo: str = "") -> None:
        super().__init__(message, todo)
        self.failure = failure


class DatabaseError(ParibusError):
    """A private database server cannot be created, kept or removed, or work on a shared one is impossible."""


class DataDamaged(DatabaseError):
    """The restored data of a server differs from the created data."""


class ServerWouldNotStart(DatabaseError):
    """The server ended, or was not ready in time; `last_words` are the last lines of its log."""

    def __init__(self, message: str, todo: str = "", last_words: Sequence[str] = ()) -> None:
        super().__init__(message, todo)
        self.last_words = tuple(last_words)


class ServerGone(DatabaseError):
    """The server ended by itself, or does not answer."""


class QueryRefused(DatabaseError):
    """The server refused a query, with its own `words` and `code`; `kind` classifies it, for example `missing`."""

    def __init__(self, kind: str, code: str, server_message: str, statement: str = "", todo: str = "") -> None:
        message = f"{server_message} ({code})" if code else server_message
        super().__init__(f"{statement}: {message}" if statement else message, todo)
        self.kind = kind
        self.code = code
        self.words = server_message


class SandboxError(ParibusError):
    """A virtual machine for trying layouts cannot be made, started or reached."""


class DrawingFailed(ParibusError):
    """A chart could not be drawn."""


class Inapplicable(ParibusError):
    """The experiment does not support this setting, or the machine is another one."""


class LimitReached(ParibusError):
    """A limit of the plan was reached: the load was ended and the machine restored."""


class Interrupted(ParibusError):
    """Ctrl-C, SIGTERM or SIGHUP ended the work; the machine was restored."""

    exit_code = 130
