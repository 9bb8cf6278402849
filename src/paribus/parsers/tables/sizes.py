"""Meaning of MB in tables that do not define it: 10^6 bytes, or MiB as some tools print."""

import re
from dataclasses import replace

from paribus.parsers.log import LogReading, LogRun

_POWERS_OF_TWO = {2.0**power for power in range(9, 27)}


def in_one_size(runs: list[LogRun]) -> tuple[list[LogRun], list[str]]:
    """Read MB as MiB only if the operations then have power-of-two block sizes; else as 10^6 bytes."""
    decimal_readings = [(run, reading) for run in runs for reading in run.readings if _decimal(reading)]
    if not decimal_readings:
        return runs, []
    binary = decimal = 0
    for run, reading in decimal_readings:
        rate = next((other.value for other in run.readings if other.metric == "throughput_per_s"), 0.0)
        if rate > 0 and reading.metric == "bytes_per_s":
            binary += _power_of_two(reading.value * _binary_factor(reading) / rate)
            decimal += _power_of_two(reading.value / rate)
    if binary > 1 and not decimal:
        binary_runs = [replace(run, readings=tuple(_in_binary(reading) for reading in run.readings)) for run in runs]
        return binary_runs, ["MB is read as MiB: only so are the operations beside it of whole blocks"]
    return runs, [] if decimal > 1 else [
        "MB is read as 10^6 bytes (KB and GB likewise); nothing in the text shows which is meant"
    ]


def _power_of_two(size: float) -> bool:
    return any(abs(size / power - 1) < 0.002 for power in _POWERS_OF_TWO)


def _decimal(reading: LogReading) -> bool:
    return reading.unit == "B/s" and bool(re.search(r"\b[kKMG]B(?:/s(?:ec)?)?$", reading.stated))


def _binary_factor(reading: LogReading) -> float:
    """Return the ratio of the binary unit to the decimal one."""
    match = re.search(r"([kKMG])B(?:/s(?:ec)?)?$", reading.stated)
    return 1.024 ** " KMG".index(match[1].upper()) if match else 1.0


def _in_binary(reading: LogReading) -> LogReading:
    return replace(reading, value=reading.value * _binary_factor(reading)) if _decimal(reading) else reading
