"""Events of the journal's keeper and of `paribus-engine undo`, validated, since a target may send anything."""

import contextlib
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from paribus.errors import JournalError
from paribus.model import Value


class _Event(BaseModel):
    model_config = ConfigDict(extra="allow")


class _Opened(_Event):
    event: Literal["opened"]
    path: str
    without_copy: str | None


class _Refused(_Event):
    event: Literal["refused"]
    errno: int
    reason: str


class _Failure(_Event):
    event: Literal["error"]
    failure: str = Field(alias="class")
    message: str
    hint: str


class _Restored(_Event):
    event: Literal["restored"]
    knob: str
    address: str
    value: str


class _Stuck(_Event):
    event: Literal["stuck"]
    knob: str
    address: str
    wanted: str
    found: str | None
    reason: str


class _Expired(_Event):
    event: Literal["expired"]
    knob: str
    address: str


class _OfJournal(_Event):
    event: Literal["kept", "busy"]
    experiment: str
    path: str
    trouble: str | None = None


class _Closed(_Event):
    event: Literal["closed"]
    experiment: str
    path: str
    deleted: bool


class _Looked(_Event):
    event: Literal["looked"]
    directory: str
    others: str | None
    elsewhere: list[str]
    running_elsewhere: list[str]


class _Change(_Event):
    knob: str
    address: str
    before: Value
    wanted: Value
    expired: bool


class _OpenJournal(_Event):
    event: Literal["open-journal"]
    experiment: str
    path: str
    owned: bool
    kept: bool
    time: str
    trouble: str | None
    changes: list[_Change]


class _AtBoot(_Event):
    event: Literal["at-boot"]
    files: list[str]


class _Acknowledged(_Event):
    event: Literal["journalled", "made", "alive"]


_EVENT: TypeAdapter[_Event] = TypeAdapter(
    Annotated[
        _Opened
        | _Refused
        | _Failure
        | _Restored
        | _Stuck
        | _Expired
        | _OfJournal
        | _Closed
        | _Looked
        | _OpenJournal
        | _AtBoot
        | _Acknowledged,
        Field(discriminator="event"),
    ]
)


def parse_event(line: str, *kinds: str) -> dict[str, Any]:
    """One line of the engine as an event, of one of `kinds` where any are given. Raises JournalError for any other."""
    with contextlib.suppress(ValidationError):
        event = _EVENT.validate_json(line).model_dump(by_alias=True)
        if not kinds or event["event"] in kinds:
            return event
    message = f"the engine sent an unknown event: {line.strip()[:200]}"
    raise JournalError(message, "install engine and program from one release")
