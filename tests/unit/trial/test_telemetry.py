"""Counters of a window as measurements."""

import pytest

from paribus.engine.protocol import DeviceLoad
from paribus.trial.telemetry import _together


def _disk(**fields: float | None) -> DeviceLoad:
    idle: dict[str, float | None] = {
        "reads_per_s": 0.0,
        "writes_per_s": 0.0,
        "read_bytes_per_s": 0.0,
        "written_bytes_per_s": 0.0,
        "read_await_s": None,
        "write_await_s": None,
        "queue": 0.0,
        "utilisation": 0.0,
    }
    return DeviceLoad.model_validate(idle | fields)


def test_several_disks_are_counted_together() -> None:
    busy = _disk(writes_per_s=30.0, written_bytes_per_s=3e6, write_await_s=0.001, queue=0.5, utilisation=0.4)
    slow = _disk(writes_per_s=10.0, written_bytes_per_s=1e6, write_await_s=0.005, queue=1.0, utilisation=0.9)
    both = _together([busy, slow, _disk()])
    assert both.written_bytes_per_s == 4e6
    assert both.write_await_s == pytest.approx(0.002)  # over all writes
    assert both.read_await_s is None
    assert (both.queue, both.utilisation) == (1.5, 0.9)
    assert _together([busy]) == busy
