"""Imported measurements: their files, the origin of each trial of a set, and the claims about them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A file that was imported, by its `number` in the set; `sha256` is of its bytes as they were found.

    `format` is what it was read as, empty where nothing was recognised. `not_understood` are lines with their numbers.
    """

    number: int
    path: str
    sha256: str
    size_bytes: int
    format: str
    runs: int
    not_understood: tuple[tuple[int, str], ...]
    remarks: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Origin of a trial: the number of its source, the lines there, and all that these state.

    `said` is the run as its reader made it, without courses and histogram; `missing` says what a text that was cut off
    lacks.
    """

    trial: int
    source: int
    lines: tuple[int, int]
    missing: str
    said: Mapping[str, Any]


VariationSource = Literal["repetitions", "comparisons", "assumed"]
"""Source of the variation of equal runs: those of a set, most of its comparisons, or none."""


class Standing(StrEnum):
    """Standing of a claim against the numbers that it names."""

    SUPPORTED = "supported"
    CONSISTENT = "consistent"
    NO_EFFECT = "no_effect"
    MIXED = "mixed"
    CONTRADICTED = "contradicted"
    UNTESTABLE = "untestable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Percentage:
    """A magnitude as data: from one level to another, both as the tables have them, so many `percent`, as written.

    `over` the load levels it is the mean, the most, the least, some of them or each; at `load` where it names one.
    """

    start: str
    end: str
    percent: str
    factor: str = ""
    over: str = "mean"
    load: float | None = None
    about: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """Claim of an author about numbers.

    `claim` is better, worse, no_difference, ratio, recommend or a word that nothing can test. `tables` are what the
    names of files begin with; without any, all of a set are meant. `aliases` give levels as the tables have them.
    `changes` are its percentages, which are held against the tables; their factor is the claim's unless they name one.
    `keep`: a recommendation to leave things as they are.
    """

    id: str
    factor: str
    claim: str
    statement: str
    levels: tuple[str, ...] = ()
    workload: str = ""
    tables: tuple[str, ...] = ()
    better_level: str = ""
    magnitude: str = ""
    recommended_value: str = ""
    aliases: Mapping[str, str] = field(default_factory=dict)
    keep: bool = False
    changes: tuple[Percentage, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimEvidence:
    """A level over another as the claim's tables have it: a log ratio with its interval, from so many places.

    `variation` is the standard deviation of the log of equal runs. The level is `better_at` and `worse_at` so many
    places by more than that explains.
    """

    workload: str
    level: str
    other: str
    estimate: float
    low: float
    high: float
    places: int
    repeated: bool
    better_at: int = 0
    worse_at: int = 0
    variation: float = 0.0
    variation_source: VariationSource = "assumed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tested:
    """A claim beside the numbers: how it stands, why, and by which figures."""

    claim: Claim
    standing: Standing
    reason: str
    evidence: tuple[ClaimEvidence, ...] = ()
