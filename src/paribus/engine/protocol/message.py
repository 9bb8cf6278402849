"""Base of the messages between controller and engine."""

from pydantic import BaseModel, ConfigDict

VERSION = 2


class Message(BaseModel):
    """Message between controller and engine; a field that is not listed is a mistake of one of the two sides."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
