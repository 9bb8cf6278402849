"""The table of an event in a plan file."""

from typing import Annotated

from pydantic import Field, StringConstraints

from paribus.model import EventAction
from paribus.plan.form.table import Duration, Moment, PathText, Size, StrictTable


class WorkDoneTable(StrictTable):
    """Work of the load after which an event happens."""

    bytes: Annotated[Size, Field(gt=0)] = Field(description="bytes that the load read and wrote in the measured time")


class EventTable(StrictTable):
    """Something that happens in every trial while the load runs."""

    at: Moment = Field(0.0, description="when, from the beginning of the measured time of a trial")
    after: WorkDoneTable | None = Field(
        None, description="how much work of the load comes before it; with `at` it also waits for that moment"
    )
    do: EventAction = Field(description="what happens to the layout, to its server, or beside the load")
    disk: PathText | None = Field(
        None,
        description="the disk that fails or is slow, or that replaces the failed one, as in target.devices, or a drive "
        "as in target.may_fail; default of replace and add: the failed one",
    )
    name: Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,31}$")] | None = Field(
        None, description="makes the setting event.NAME, on or off, which says whether it happens; default: always"
    )
    run: list[PathText] | None = Field(
        None,
        min_length=1,
        description="of run: the program and its arguments; no shell reads them. {socket}, {host}, {port}, {user}, "
        "{database} and {password_file} of the plan's server are filled in",
    )
    until: Duration | None = Field(
        None,
        gt=0,
        description="of delay, error, offline and run: when the disk is as before, or the program is ended; "
        "default: after the trial",
    )
    delay: Duration | None = Field(
        None, ge=0.001, le=60, description="of delay: how much later each operation on the disk completes"
    )
