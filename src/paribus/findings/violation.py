"""Record of a violation of a plausibility law."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Breach:
    """Stated figures that violate a plausibility law, by the law's English name; `words` explains it to a person.

    `cells` are positions in the examined sequence. If one figure contradicts all others, `metric` names it,
    `stated` is its value and `implied` the value that the others imply, in its base unit. `tolerance` is the law's
    allowance besides rounding, as a share. `grave`: the figures contradict each other; else they may be right, but show
    less than they seem to.
    """

    law: str
    where: str
    cells: tuple[int, ...]
    words: str
    metric: str = ""
    stated: float | None = None
    implied: float | None = None
    tolerance: float = 0.0
    grave: bool = True
