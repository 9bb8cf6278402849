"""Events that are well-formed, and no measurement."""

import base64
import json
import struct
import zlib

import pytest
from hdrh.histogram import HdrHistogram

from paribus.engine import histogram
from paribus.engine.run import understand
from paribus.errors import EngineError

TIMES = dict.fromkeys(("mean_s", "min_s", "p50_s", "p95_s", "p99_s", "p999_s", "max_s", "sum_s"), 0.1)
COUNTED = dict.fromkeys(("operations", "reads", "writes", "fsyncs", "read_bytes", "written_bytes"), 1)
RESULT = COUNTED | {
    "event": "result", "errors": {}, "window": "1", "start_s": 0.0, "duration_s": 1.0, "start_unix_s": 0.0,
    "throughput_per_s": 1.0, "bytes_per_s": 1.0, "response": TIMES | {"count": 1, "histogram": ""},
    "service": TIMES | {"count": 1, "histogram": ""}, "pacing": None, "parts": None,
    "cpu": {"user_s": 0.0, "system_s": 0.0}, "cores_usable": 1, "workers": 1, "registered_buffers": False,
    "fairness": None,
}  # fmt: skip


def _sealed(content: bytes) -> str:
    packed = zlib.compress(content)
    return base64.b64encode(struct.pack(">II", 0x1C849304 | 0x10, len(packed)) + packed).decode()


def test_a_window_lasts_and_its_figures_are_finite() -> None:
    assert understand(json.dumps(RESULT))
    for wrong in ({"duration_s": 0.0}, {"duration_s": -1.0}, {"throughput_per_s": float("inf")}):
        with pytest.raises(EngineError, match="unknown event"):
            understand(json.dumps(RESULT | wrong).replace("Infinity", "1e999"))


@pytest.mark.parametrize(
    "text", ["?", "AAAA", "not base64 é", base64.b64encode(bytes(100)).decode(), _sealed(b""), _sealed(bytes(500)),
             _sealed(bytes(2**27)), _sealed(b"\xff" * 500)]
)  # fmt: skip
def test_a_histogram_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(EngineError, match="invalid histogram"):
        histogram.decode(text)


def test_a_histogram_is_taken_as_it_is() -> None:
    made = HdrHistogram(1, 2**30, 3)
    made.record_value(1000)
    text = made.encode().decode()
    assert base64.b64encode(histogram.decode(text)).decode() == text
