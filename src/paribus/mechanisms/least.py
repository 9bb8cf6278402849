"""Least that a trial must write or last for a setting to act: as a message, and as seconds at a measured rate."""

from collections.abc import Iterable, Mapping

from paribus.i18n import N_, StoredMessage, stored_message
from paribus.mechanisms.vocabulary import MECHANISMS
from paribus.model import Measurement, Requirement
from paribus.units import show_duration, show_size

_WRITE = N_("a trial must write at least {size} to show an effect of {constant}")
_LAST = N_("a trial must last at least {duration} to show an effect of {constant}")
_EITHER = N_("a trial must write at least {size}, or last {duration}, to show an effect of {constant}")


def has_least(requirement: Requirement) -> bool:
    """Return whether a requirement states what a trial must write or last."""
    return requirement.least_bytes > 0 or requirement.least_s > 0


def least_message(requirement: Requirement) -> StoredMessage:
    """Return what a trial must write or last, as a sentence without a full stop."""
    size, duration = show_size(requirement.least_bytes), show_duration(requirement.least_s)
    if not requirement.least_s:
        return stored_message(_WRITE, size=size, constant=requirement.constant)
    if not requirement.least_bytes:
        return stored_message(_LAST, duration=duration, constant=requirement.constant)
    return stored_message(_EITHER, size=size, duration=duration, constant=requirement.constant)


def least_duration_s(requirement: Requirement, measured: Iterable[Mapping[str, Measurement]]) -> float | None:
    """Return the seconds that a trial must last at the mean rate of trials; None where they show no such rate.

    Args:
        requirement: One that states what a trial must write or last.
        measured: Measurements of trials by metric.
    """
    metric = MECHANISMS[requirement.mechanism].written
    rates = [measurements[metric].mean for measurements in measured if metric in measurements]
    durations_s = [requirement.least_s] if requirement.least_s else []
    if requirement.least_bytes and sum(rates) > 0:
        durations_s.append(requirement.least_bytes * len(rates) / sum(rates))
    return min(durations_s, default=None)
