"""Histograms of the engine, checked: a target may send anything in their place."""

import base64
import zlib

from paribus.errors import EngineError

_HEADER_BYTES = 8
_MOST_BYTES = 64 * 2**20  # unpacked


def decode(text: str) -> bytes:
    """An HDR histogram (V2, deflated) as it is stored; empty where there is none. Raises EngineError."""
    if not text:
        return b""
    from hdrh.codec import HdrCookieException, HdrHistogramSettingsException, HdrLengthException
    from hdrh.histogram import HdrHistogram

    unfit = (HdrCookieException, HdrHistogramSettingsException, HdrLengthException, zlib.error)
    try:
        content = base64.b64decode(text, validate=True)
        unpacking = zlib.decompressobj()
        unpacking.decompress(content[_HEADER_BYTES:], _MOST_BYTES)
        if not unpacking.eof:
            raise ValueError("it is cut off, or larger than any")
        HdrHistogram.decode(text)
    except (*unfit, ValueError, ArithmeticError, LookupError, MemoryError, TypeError) as error:
        wrong = f"the engine sent an invalid histogram: {error or type(error).__name__}"
        raise EngineError("protocol-mismatch", wrong, "install engine and program from one release") from error
    return content
