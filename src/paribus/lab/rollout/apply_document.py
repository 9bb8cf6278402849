"""The document of `paribus apply`."""

from pydantic import BaseModel, ConfigDict

from paribus.model import Value


class _Document(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Difference(_Document):
    """Something by which the machine is not the one that was measured."""

    name: str
    measured: str
    found: str


class Advised(_Document):
    """Advice of the report on a factor: set, keep, choose or wait."""

    factor: str
    kind: str
    text: str


class Step(_Document):
    """A setting to be made; `by_hand` where it is none of the machine, `refused` where it cannot be made."""

    factor: str
    knob: str
    now: Value | None
    wanted: Value
    set: str
    check: str
    persist: str
    by_hand: bool
    danger: str
    refused: str


class Made(_Document):
    """A setting after it was made or moved, as read back."""

    knob: str
    before: Value
    wanted: Value
    now: Value | None


class ApplyDocument(_Document):
    """The answer of `paribus apply --json`; `journal` is empty where nothing was set."""

    experiment: str
    target: str
    differences: list[Difference]
    advice: list[Advised]
    steps: list[Step]
    notes: list[str]
    made: list[Made]
    journal: str

    @property
    def to_set(self) -> dict[str, Value]:
        """Settings of the machine or server whose current value differs from the recommended one."""
        return {step.knob: step.wanted for step in self.steps if not step.by_hand and step.now != step.wanted}
