"""Records of the selection of the best level of a factor."""

from dataclasses import dataclass

from paribus.findings.estimate import Estimate
from paribus.model import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectedLevel:
    """A level of a factor against the best of the other levels.

    Attributes:
        loss: By how much the best of them is better, a log ratio of at least 0; None where too few blocks have both.
        verdict: `worse` where another level is shown to be better; `equivalent` to the best, whichever that is. None
            while trials are still made to decide it.
        behind: The level that is shown to be better by most; empty without one.
    """

    arm: str
    loss: Estimate | None
    verdict: Verdict | None
    behind: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The levels of a factor under a workload in the order of the plan, the baseline first.

    `best` has the highest estimate. Each interval holds with the stated `confidence`; `margin` is a log ratio.
    """

    factor: str
    workload: str
    response: str
    margin: float
    confidence: float
    best: str
    levels: tuple[SelectedLevel, ...]

    @property
    def plateau(self) -> tuple[str, ...]:
        """The levels that are within the margin of the best."""
        return tuple(level.arm for level in self.levels if level.verdict is Verdict.EQUIVALENT)
