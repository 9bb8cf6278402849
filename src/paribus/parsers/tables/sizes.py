"""What MB are in a table that does not say: 10^6 bytes, or MiB as some tools print them."""

import re
from dataclasses import replace

from paribus.parsers.log import LogReading, LogRun

_POWERS_OF_TWO = {2.0**power for power in range(9, 27)}


def in_one_size(runs: list[LogRun]) -> tuple[list[LogRun], list[str]]:
    """MB are 10^6 bytes unless the operations beside them show blocks of a power of two only where MB are MiB."""
    said = [(one, reading) for one in runs for reading in one.readings if _decimal(reading)]
    if not said:
        return runs, []
    binary = decimal = 0
    for one, reading in said:
        rate = next((other.value for other in one.readings if other.metric == "throughput_per_s"), 0.0)
        if rate > 0 and reading.metric == "bytes_per_s":
            binary += _power_of_two(reading.value * _more(reading) / rate)
            decimal += _power_of_two(reading.value / rate)
    if binary > 1 and not decimal:
        every = [replace(one, readings=tuple(_in_binary(reading) for reading in one.readings)) for one in runs]
        return every, ["MB is read as MiB: only so are the operations beside it of whole blocks"]
    return runs, [] if decimal > 1 else [
        "MB is read as 10^6 bytes (KB and GB likewise); nothing in the text shows which is meant"
    ]


def _power_of_two(size: float) -> bool:
    return any(abs(size / one - 1) < 0.002 for one in _POWERS_OF_TWO)


def _decimal(reading: LogReading) -> bool:
    return reading.unit == "B/s" and bool(re.search(r"\b[kKMG]B(?:/s(?:ec)?)?$", reading.stated))


def _more(reading: LogReading) -> float:
    """How much more bytes are meant if the unit is binary."""
    match = re.search(r"([kKMG])B(?:/s(?:ec)?)?$", reading.stated)
    return 1.024 ** " KMG".index(match[1].upper()) if match else 1.0


def _in_binary(reading: LogReading) -> LogReading:
    return replace(reading, value=reading.value * _more(reading)) if _decimal(reading) else reading
