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
    trials: int | None = Field(description="those of a new experiment")
    duration_s: float | None = Field(description="machine time of a new experiment at most, before decisions end it")
    problem: str = Field(description="why it was refused")


class FleetCheckDocument(_Document):
    """The answer of `paribus fleet check --json`."""

    at_once: int = Field(description="machines that are measured at the same time")
    duration_s: float = Field(description="time of all new experiments together")
    machines: list[CheckedMachine]


class MeasuredMachine(_Document):
    """A machine of a fleet after its experiment."""

    machine: str
    address: str
    state: MachineState
    experiment: str | None
    problem: str = Field(description="why it is not done")


class FleetRunDocument(_Document):
    """The answer of `paribus fleet run --json`."""

    machines: list[MeasuredMachine]
    settings_left: list[str] = Field(description="machines with a setting that could not be restored: undo it there")
