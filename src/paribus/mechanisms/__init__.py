"""Mechanisms that settings act through: what they need of a plan and a machine, and the counters that show them."""

from paribus.mechanisms.least import has_least, least_duration_s, least_message
from paribus.mechanisms.mechanism import Case, Least, Mechanism, Obstacle, Occurred
from paribus.mechanisms.storage import FREE_BLOCKS
from paribus.mechanisms.vocabulary import MECHANISMS

__all__ = [
    "FREE_BLOCKS",
    "MECHANISMS",
    "Case",
    "Least",
    "Mechanism",
    "Obstacle",
    "Occurred",
    "has_least",
    "least_duration_s",
    "least_message",
]
