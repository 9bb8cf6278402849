"""The one tree of errors.

    ParibusError            exit 3   a tooling error stopped the work
    ├── UsageError          exit 2   the command line is wrong
    │   └── PlanError       exit 2   the plan is wrong; carries every problem found
    ├── StoreError          exit 3   the store cannot be read or written
    ├── HostError           exit 3   a file or program of the target
    │   ├── Missing                  it is not there
    │   ├── Denied                   it is there, but not for this user, or the kernel refused the value
    │   │   └── ReadOnly             its file system is read-only
    │   ├── BadReply                 it answers with what is not understood, too much, or nothing in time
    │   └── Unreachable              the connection to the target cannot be made, or was lost
    ├── JournalError        exit 3   the journal cannot be kept, so nothing is changed
    │   ├── JournalOpen     exit 4   an earlier experiment was not restored
    │   └── NotInspected    exit 4   the journals of the target cannot be read, so settings may still be changed
    ├── NotRestored         exit 4   something on the target could not be restored
    ├── JournalLost         exit 3   the journal process ended too early; all settings are restored
    ├── EngineError         exit 3   the load engine failed; carries its class
    ├── DatabaseError       exit 3   a database server, of our own or one that others use
    │   ├── DataDamaged              its data, put back, is not what was made
    │   ├── ServerWouldNotStart      not with these settings; carries its last words
    │   ├── ServerGone               it ended, or the connection to it was lost
    │   └── QueryRefused             the server said no; carries its words
    ├── DrawingFailed       exit 3   a chart could not be drawn
    ├── Inapplicable        exit 3   what an experiment showed must not be set here: not decided, or another machine
    ├── LimitReached        exit 3   the plan's own limit was reached; the machine was put back
    └── Interrupted         exit 130 the user or a signal ended the work, and the machine was restored

Each message names the thing and keeps the cause; `todo` says what to do next.
"""

from collections.abc import Sequence
from dataclasses import dataclass


class ParibusError(Exception):
    """A failure told to a person: `message` names the thing and the cause, `todo` what to do next."""

    exit_code = 3

    def __init__(self, message: str, todo: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.todo = todo

    def __str__(self) -> str:
        return f"{self.message}\n  {self.todo}" if self.todo else self.message


class UsageError(ParibusError):
    """The command line names something that is not there."""

    exit_code = 2


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with a plan: where it stands, what is wrong, what would be right."""

    location: str
    message: str
    hint: str = ""
    line: int = 0

    def __str__(self) -> str:
        return f"{self.location}: {self.message}" + (f"; {self.hint}" if self.hint else "")


class PlanError(UsageError):
    """A plan that cannot be carried out, with all its problems."""

    def __init__(self, name: str, problems: Sequence[Problem]) -> None:
        problems = sorted(problems, key=lambda problem: problem.line)
        count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
        lines = "".join(f"\n  {problem}" for problem in problems)
        super().__init__(f"{name}: {count}; nothing was touched{lines}")
        self.problems = tuple(problems)


class StoreError(ParibusError):
    """The store is missing, damaged, newer than this program, or cannot be written."""


class HostError(ParibusError):
    """A file or a program of the target did not do what was asked."""


class Missing(HostError):
    """The file or program is not there."""


class Denied(HostError):
    """The file is not for this user, or the kernel refused the value."""


class ReadOnly(Denied):
    """It is there, and on a file system that is read-only."""


class BadReply(HostError):
    """The target answers, but with what is not understood, with too much, or not in time."""


class Unreachable(HostError):
    """The target does not answer: the connection cannot be made, or was lost."""


class JournalError(ParibusError):
    """The journal cannot be kept; nothing may be changed."""


class JournalOpen(JournalError):
    """Settings of an earlier experiment were not restored."""

    exit_code = 4


class NotInspected(JournalError):
    """The journals of a target cannot be read, so nobody knows whether its settings are changed."""

    exit_code = 4


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
    """A database server of our own cannot be made, kept or removed, or one that others use cannot be worked on."""


class DataDamaged(DatabaseError):
    """The data of a server that was put back is not what was made."""


class ServerWouldNotStart(DatabaseError):
    """The server ended, or was not ready in time; `last_words` are the last lines of its log."""

    def __init__(self, message: str, todo: str = "", last_words: Sequence[str] = ()) -> None:
        super().__init__(message, todo)
        self.last_words = tuple(last_words)


class ServerGone(DatabaseError):
    """The server ended by itself, or does not answer any more."""


class QueryRefused(DatabaseError):
    """The server said no, in its own `words` and `code`; `kind` is what that means, for example `missing`."""

    def __init__(self, kind: str, code: str, words: str, asked: str = "", todo: str = "") -> None:
        told = f"{words} ({code})" if code else words
        super().__init__(f"{asked}: {told}" if asked else told, todo)
        self.kind = kind
        self.code = code
        self.words = words


class DrawingFailed(ParibusError):
    """A chart could not be drawn."""


class Inapplicable(ParibusError):
    """What an experiment showed does not say that this should be set, or not on this machine."""


class LimitReached(ParibusError):
    """The machine reached a limit that the plan sets, so the load was ended; the machine was put back."""


class Interrupted(ParibusError):
    """Ctrl-C, SIGTERM or SIGHUP ended the work; the machine was put back."""

    exit_code = 130
