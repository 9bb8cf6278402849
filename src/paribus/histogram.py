"""HDR histograms: counts by value with a constant relative precision, as bytes of their exchange format.

Format: V2 of HdrHistogram (Gil Tene), compressed with zlib; hdrhistogram.org and the Java implementation describe it.
"""

import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

_COMPRESSED, _PLAIN = 0x1C849304 | 0x10, 0x1C849303 | 0x10
_OUTER, _INNER = struct.Struct(">ii"), struct.Struct(">iiiiqqd")
_MOST_BYTES = 2**20  # unpacked: a target may send anything in its place, and the longest has half of that
_MOST_VARINT_BYTES = 8  # counts under 2**55
_MOST_COUNT = 2**48  # some ten thousand of which can be added
_MOST_DIGITS = 3

Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class HdrHistogram:
    """Counts of values from 1 to `highest` in units of `lowest`, to `digits` significant decimal digits."""

    lowest: int
    highest: int
    digits: int
    counts: Counts

    @classmethod
    def of(cls, values: Counts, counts: Counts, highest: int, digits: int = 3) -> Self:
        """The histogram of positive values at most `highest`, each `counts` times; 2**48 are the most of one value."""
        made = cls(1, highest, digits, np.zeros(_length(1, highest, digits), np.int64))
        np.add.at(made.counts, made._indices(values), np.minimum(counts, _MOST_COUNT))
        np.minimum(made.counts, _MOST_COUNT, out=made.counts)
        return made

    @classmethod
    def total(cls, parts: Sequence[Self]) -> Self:
        """The counts of all parts, of which there is at least one. Raises ValueError where their precision differs."""
        widest = max(parts, key=lambda part: len(part.counts))
        counts = np.zeros_like(widest.counts)
        for part in parts:
            if (part.lowest, part.digits) != (widest.lowest, widest.digits):
                raise ValueError("histograms of different precision cannot be added")
            counts[: len(part.counts)] += part.counts  # smaller ranges share their first counts
        return replace(widest, counts=counts)

    @classmethod
    def decode(cls, content: bytes) -> Self:
        """The histogram in these bytes. Raises ValueError for anything else."""
        try:
            cookie, length = _OUTER.unpack_from(content)
            unpacking = zlib.decompressobj()
            inner = unpacking.decompress(content[_OUTER.size :], _MOST_BYTES)
            kind, size, offset, digits, lowest, highest, _ = _INNER.unpack_from(inner)
        except (struct.error, zlib.error) as error:
            raise ValueError(f"it is no histogram: {error}") from error
        if (cookie, kind, offset) != (_COMPRESSED, _PLAIN, 0) or length != len(content) - _OUTER.size:
            raise ValueError("it is no histogram of a form that is understood")
        if not unpacking.eof or size != len(inner) - _INNER.size:
            raise ValueError(f"it is cut off, or has over {_MOST_BYTES} bytes")
        if not (1 <= digits <= _MOST_DIGITS and 1 <= lowest <= highest // 2):
            raise ValueError(f"it has {digits} digits from {lowest} to {highest}, and at most {_MOST_DIGITS} are read")
        counts = _unpacked(inner[_INNER.size :], _length(lowest, highest, digits))
        return cls(lowest, highest, digits, counts)

    def encode(self) -> bytes:
        """The histogram as bytes, which `decode` takes."""
        payload = _packed(self.counts)
        header = _INNER.pack(_PLAIN, len(payload), 0, self.digits, self.lowest, self.highest, 1.0)
        content = zlib.compress(header + payload)
        return _OUTER.pack(_COMPRESSED, len(content)) + content

    def quantiles(self, shares: Sequence[float]) -> Counts:
        """The values that these shares of all counts do not exceed; there is at least one count."""
        cumulative = self.counts.cumsum()
        ranks = np.maximum(np.ceil(np.array(shares) * cumulative[-1]), 1)
        return self.highest_values(np.searchsorted(cumulative, ranks))

    def highest_values(self, indices: Counts) -> Counts:
        """The highest values that are counted at these indices."""
        half = _magnitude(self.digits) - 1
        bucket = np.maximum((indices >> half) - 1, 0)
        within = indices - (bucket << half)
        shift = bucket + (self.lowest.bit_length() - 1)
        highest: Counts = ((within + 1) << shift) - 1
        return highest

    def _indices(self, values: Counts) -> Counts:
        """The index at which each value is counted; `lowest` is 1."""
        magnitude = _magnitude(self.digits)
        bucket = np.maximum(_bit_lengths(values) - magnitude, 0)
        return (bucket << (magnitude - 1)) + (values >> bucket)


def _magnitude(digits: int) -> int:
    """The binary logarithm of the number of parts that a bucket is divided into."""
    return int(2 * 10**digits - 1).bit_length()


def _length(lowest: int, highest: int, digits: int) -> int:
    """The number of counts: a bucket holds twice the range of the last, and shares its lower half with that."""
    magnitude = _magnitude(digits)
    unit = lowest.bit_length() - 1
    buckets = max(highest.bit_length() - magnitude - unit, 0) + 1
    return (buckets + 1) << (magnitude - 1)


def _bit_lengths(values: Counts) -> Counts:
    """The number of bits of each positive value; exact below 2**53."""
    return np.frexp(values.astype(np.float64))[1].astype(np.int64)


def _unpacked(payload: bytes, length: int) -> Counts:
    """The counts in ZigZag LEB128, where a negative number stands for as many zeros. Raises ValueError."""
    counts = np.zeros(length, np.int64)
    parts = np.frombuffer(payload, np.uint8)
    ends = np.flatnonzero(parts < 0x80)
    if len(ends) > length:
        raise ValueError("it has more counts than its range")
    if not len(ends):
        if len(parts):
            raise ValueError("its last count is cut off")
        return counts
    starts = np.concatenate(([0], ends[:-1] + 1))
    if ends[-1] != len(parts) - 1 or (ends - starts).max() >= _MOST_VARINT_BYTES:
        raise ValueError(f"a count is cut off, or has over {_MOST_VARINT_BYTES} bytes")
    places = np.arange(len(parts)) - np.repeat(starts, ends - starts + 1)
    zigzag = np.add.reduceat((parts & 0x7F).astype(np.int64) << (7 * places), starts)
    numbers = (zigzag >> 1) ^ -(zigzag & 1)
    steps = np.where(numbers < 0, -numbers, 1)
    after = steps.astype(np.float64).cumsum()  # cannot overflow
    if after[-1] > length:
        raise ValueError("it has more counts than its range")
    counts[(after - steps).astype(np.int64)[numbers > 0]] = numbers[numbers > 0]
    return counts


def _packed(counts: Counts) -> bytes:
    """The counts up to the last that is not zero, as `_unpacked` reads them."""
    packed = bytearray()
    next_index = 0
    for index in np.flatnonzero(counts):
        zeros = int(index) - next_index
        if zeros:
            packed += _varint(-zeros if zeros > 1 else 0)
        packed += _varint(int(counts[index]))
        next_index = int(index) + 1
    return bytes(packed)


def _varint(number: int) -> bytes:
    bits = (number << 1) ^ (number >> 63)
    parts = bytearray()
    while bits >= 0x80:
        parts.append(bits & 0x7F | 0x80)
        bits >>= 7
    return bytes([*parts, bits])
