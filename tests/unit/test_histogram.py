"""Histograms in their exchange format, held against a reference implementation."""

import base64
import struct
import zlib

import numpy as np
import pytest
from hdrh.histogram import HdrHistogram as Reference
from hypothesis import given
from hypothesis import strategies as st

from paribus.histogram import HdrHistogram

RANGES = [(2**30, 3), (3600 * 10**9, 3), (2047, 3), (2048, 3), (2**20, 2), (10**6, 1)]


@pytest.mark.parametrize(("highest", "digits"), RANGES)
@given(logs=st.lists(st.floats(0, 1), max_size=40))
def test_histograms_agree_with_the_reference(highest: int, digits: int, logs: list[float]) -> None:
    values = np.array([min(highest, max(1, round(highest**each))) for each in logs], np.int64)
    reference = Reference(1, highest, digits)
    for value in values:
        reference.record_value(int(value))
    decoded = HdrHistogram.decode(base64.b64decode(reference.encode()))
    made = HdrHistogram.of(values, np.ones(len(values), np.int64), highest, digits)
    assert decoded.counts.tolist() == made.counts.tolist() == list(reference.counts)[: reference.counts_len]
    again = Reference.decode(base64.b64encode(made.encode()))
    assert list(again.counts)[: again.counts_len] == made.counts.tolist()
    indices = np.flatnonzero(made.counts)
    expected = [reference.get_highest_equivalent_value(reference.get_value_from_index(int(each))) for each in indices]
    assert made.highest_values(indices).tolist() == expected


def _sealed(header: tuple[object, ...], payload: bytes) -> bytes:
    content = zlib.compress(struct.pack(">iiiiqqd", *header) + payload)
    return struct.pack(">ii", 0x1C849314, len(content)) + content


@pytest.mark.parametrize(
    ("header", "payload"),
    [
        ((0x1C849313, 1, 0, 3, 1, 2**30, 1.0), b"\x80"),  # a count that does not end
        ((0x1C849313, 9, 0, 3, 1, 2**30, 1.0), b"\xff" * 8 + b"\x7f"),  # a count beyond all
        ((0x1C849313, 4, 0, 3, 1, 2**30, 1.0), b"\xff\xff\xff\x7f"),  # more zeros than the range
        ((0x1C849313, 2, 0, 3, 1, 2**30, 1.0), b"\x02"),  # another length
        ((0x1C849313, 0, 0, 9, 1, 2**30, 1.0), b""),
        ((0x1C849313, 0, 0, 3, 0, 2**30, 1.0), b""),
        ((0x1C849313, 0, 0, 3, 2, 3, 1.0), b""),
        ((0x1C849313, 0, 7, 3, 1, 2**30, 1.0), b""),
        ((0x1C849303, 0, 0, 3, 1, 2**30, 1.0), b""),
    ],
)
def test_damaged_histograms_are_refused(header: tuple[object, ...], payload: bytes) -> None:
    with pytest.raises(ValueError, match=r"it|count|range"):
        HdrHistogram.decode(_sealed(header, payload))


@given(st.binary(max_size=200))
def test_other_bytes_are_refused(content: bytes) -> None:
    with pytest.raises(ValueError, match="it is"):
        HdrHistogram.decode(content)


def test_counts_beyond_all_are_bounded_and_can_be_read() -> None:
    values, counts = np.array([5, 5, 7], np.int64), np.array([2**62, 2**62, 1], np.int64)
    made = HdrHistogram.of(values, counts, 2**20)
    assert made.counts[[5, 7]].tolist() == [2**48, 1]
    assert HdrHistogram.decode(made.encode()).counts.tolist() == made.counts.tolist()


def test_many_bytes_are_refused_before_they_take_memory() -> None:
    with pytest.raises(ValueError, match="over 1048576 bytes"):
        HdrHistogram.decode(_sealed((0x1C849313, 2**24, 0, 3, 1, 2**30, 1.0), bytes(2**24)))
