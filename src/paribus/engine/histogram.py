"""Histograms of the engine, checked: a target may send anything in their place."""

import base64

from paribus.errors import EngineError


def decode(text: str) -> bytes:
    """An HDR histogram (V2, deflated) as it is stored; empty where there is none. Raises EngineError."""
    from paribus.histogram import HdrHistogram

    try:
        content = base64.b64decode(text, validate=True)
        if content:
            HdrHistogram.decode(content)
    except (ValueError, MemoryError) as error:
        wrong = f"the engine sent an invalid histogram: {error or type(error).__name__}"
        raise EngineError("protocol-mismatch", wrong, "install engine and program from one release") from error
    return content
