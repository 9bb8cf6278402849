"""Histograms of the engine, checked: a target may send anything in their place."""

import base64
from typing import TYPE_CHECKING

from paribus.errors import EngineError

if TYPE_CHECKING:
    from paribus.histogram import HdrHistogram


def decode(text: str) -> bytes:
    """An HDR histogram (V2, deflated) as it is stored; empty where there is none. Raises EngineError."""
    return _decode(text)[0]


def histogram_of(text: str) -> "HdrHistogram | None":
    """The histogram in base64 as the engine sends it; None where there is none. Raises EngineError."""
    return _decode(text)[1]


def _decode(text: str) -> "tuple[bytes, HdrHistogram | None]":
    from paribus.histogram import HdrHistogram

    try:
        content = base64.b64decode(text, validate=True)
        return content, HdrHistogram.decode(content) if content else None
    except (ValueError, MemoryError) as error:
        wrong = f"the engine sent an invalid histogram: {error or type(error).__name__}"
        raise EngineError("protocol-mismatch", wrong, "install engine and program from one release") from error
