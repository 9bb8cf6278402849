"""Parts of documents for programs."""

import math

from pydantic import BaseModel, ConfigDict


class StrictDocument(BaseModel):
    """A table of a document; a number that is not finite is none."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class IntervalDocument(StrictDocument):
    """An estimate and its bounds; null where a number is beyond measure."""

    estimate: float | None
    low: float | None
    high: float | None


def finite(value: float | None) -> float | None:
    """A number, or none where it is beyond measure."""
    return value if value is not None and math.isfinite(value) else None
