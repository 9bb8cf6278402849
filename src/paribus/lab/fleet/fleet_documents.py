"""Documents of `paribus fleet check` and `paribus fleet run`."""

from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field


class _Document(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class MachineState(StrEnum):
    """State of a plan on one machine of a fleet."""

    READY = "ready"
    REFUSED = "refused"
    NOT_BEGUN = "not begun"
    INTERRUPTED = "interrupted"
    FAILED = "failed"
    DONE = "done"


class CheckedMachine(_Document):
    """A machine of a fleet before its experiment."""

    machine: str
    address: str
    state: MachineState
    experiment: str | None = Field(description="the one that the store has of this plan: done, or to be continued")
    other_experiment: str | None = Field(description="an unfinished one of an earlier text of the plan, or other keys")
    trials: int | None = Field(description="those of the whole experiment")
    duration_s: float | None = Field(description="the most machine time of the whole experiment")
    problem: str = Field(description="why it was refused")


class FleetCheckDocument(_Document):
    """The answer of `paribus fleet check --json`."""

    at_once: int = Field(description="machines that are measured at the same time")
    duration_s: float = Field(description="about the time of all experiments that are not done, if none ends early")
    machines: list[CheckedMachine]


class MeasuredMachine(_Document):
    """A machine of a fleet after its experiment."""

    machine: str
    address: str
    state: MachineState
    experiment: str | None
    exit_code: int | None = Field(description="that of its controller, below 0 for a signal; null where none was begun")
    problem: str = Field(description="why it is not done")
    is_unrestored: bool = Field(
        description="whether a setting may still be changed there: it could not be restored, or its state not be read"
    )


class FleetRunDocument(_Document):
    """The answer of `paribus fleet run --json`."""

    machines: list[MeasuredMachine]
