"""Effects that differ between load levels: one level that differs from the rest, and all levels alike."""

from collections.abc import Callable, Iterator

import numpy as np
from experiments import CLAIMS, Laboratory, Observation, count, share_of

from paribus.model import Verdict
from paribus.stats.generator import Noise

_PLANNED = {3: 96, 8: 88}
"""Pairs that the planner plans for the simulated machine, by levels."""
_CALM = Noise(between_sd=0.0003, within_sd=0.0, outliers=0.15, least_loss=0.0, most_loss=0.04, drift="none")
"""As of a throttled disk: most trials are alike, and a few lose up to 4 %."""
_DEPENDS = (Verdict.DEPENDS_ON_LOAD,)


def single_level(n: int, seed: int) -> Iterator[Observation]:
    """Observe verdicts where one load level, each in turn, differs from the rest, and where none does."""
    for which, (levels, pairs) in enumerate(_PLANNED.items()):
        lab = Laboratory(levels=levels, pairs=pairs)

        def outcomes(ratio: float, others: float, key: int, lab: Laboratory = lab, which: int = which) -> dict:
            return count(n, (seed, 27, which, key), _verdict(lab, ratio, others))

        for key, ratio in enumerate((1.08, 0.92)):
            seen = share_of(outcomes(ratio, 1.0, key), _DEPENDS, n)
            yield Observation(f"{ratio - 1:+.0%} at one of {levels} levels: depends on load", seen, 0.70)
        equal = outcomes(1.0, 1.0, 2)
        yield Observation(f"A/A at {levels} levels: depends on load", share_of(equal, _DEPENDS, n), high=0.05)
        yield Observation(f"A/A at {levels} levels: any claim", share_of(equal, CLAIMS, n), high=0.08)
        alike = share_of(outcomes(1.03, 1.03, 3), _DEPENDS, n)
        yield Observation(f"+3 % at all of {levels} levels: depends on load", alike, high=0.05)
    calm = Laboratory(noise=_CALM, levels=4)
    equal = count(n, (seed, 27, len(_PLANNED)), _verdict(calm, 1.0, 1.0))
    yield Observation(
        "A/A at 4 levels, calm but for outliers: depends on load", share_of(equal, _DEPENDS, n), high=0.03
    )


def _verdict(lab: Laboratory, ratio: float, others: float) -> Callable[[np.random.Generator], str]:
    def simulate(rng: np.random.Generator) -> str:
        effects = np.full(lab.levels, np.log(others))
        effects[rng.integers(lab.levels)] = np.log(ratio)
        return str(lab.experiment(rng, effects)[1].verdict)

    return simulate
