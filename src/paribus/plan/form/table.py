"""Base of every table of a plan, and the types of its values."""

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, StringConstraints, WithJsonSchema

from paribus.units import parse_duration, parse_size


def _exact_value(value: Any) -> Any:
    """Returns a TOML value unchanged; `true` stays a truth value and is no number. Raises ValueError."""
    if not isinstance(value, bool | int | float | str | dict):
        raise ValueError("a level is a number, text, true or false, and of layout a table")
    return value


Level = Annotated[
    Any, BeforeValidator(_exact_value), WithJsonSchema({"type": ["string", "number", "integer", "boolean", "object"]})
]
Duration = Annotated[
    float,
    BeforeValidator(parse_duration),
    WithJsonSchema({"type": ["string", "number"], "examples": ["60s", "4h"]}),
]


def _switch_or_duration(written: object) -> bool | float:
    """Reads true, false or a duration. Raises ValueError."""
    if isinstance(written, bool):
        return written
    try:
        return parse_duration(written)
    except ValueError as error:
        raise ValueError(f"{error}; true and false are allowed too") from error


SwitchOrDuration = Annotated[
    bool | float,
    BeforeValidator(_switch_or_duration),
    WithJsonSchema({"type": ["boolean", "string", "number"], "examples": [True, "3min"]}),
]


def _moment(written: object) -> float:
    """Reads a duration, also none. Raises ValueError."""
    return 0.0 if str(written) in ("0", "0.0", "0s") else parse_duration(written)


Moment = Annotated[
    float,
    BeforeValidator(_moment),
    WithJsonSchema({"type": ["string", "number"], "examples": ["0s", "60s"]}),
]
Size = Annotated[
    int,
    BeforeValidator(parse_size),
    WithJsonSchema({"type": ["string", "integer"], "examples": ["10GiB"]}),
]
PathText = Annotated[str, StringConstraints(min_length=1, max_length=4000, pattern=r"^[^\x00-\x1f\x7f]+$")]


class StrictTable(BaseModel):
    """A table of the plan; a key that is not listed is a mistake."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)
