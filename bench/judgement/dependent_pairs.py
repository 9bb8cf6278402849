"""Dependent pairs: of a machine disturbed in step with the trials, and of effects that differ between server starts."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from experiments import BY_LEVEL, CLAIMS, Laboratory, Observation, Share

from paribus.model import Verdict
from paribus.stats.generator import Drift, Noise

_PAIRS_OF_START = 4
_IN_STEP: tuple[Drift, ...] = ("periodic 2", "periodic 3", "periodic 4", "bursts")


def disturbances(n: int, seed: int) -> Iterator[Observation]:
    """Observe claims without an effect where the machine is disturbed in step with the trials."""
    for levels in (1, 2, 3, 8):
        for which, drift in enumerate(_IN_STEP):
            lab = Laboratory(Noise(by_level=BY_LEVEL, drift=drift, drift_by=0.04), levels=levels)
            verdicts = Counter(
                lab.experiment(np.random.default_rng([seed, 34, levels, which, number]), 0.0)[1].verdict
                for number in range(n)
            )
            claims = Share(n, sum(verdicts[verdict] for verdict in CLAIMS))
            many = "levels" if levels > 1 else "level"
            yield Observation(f"A/A, {drift}, {levels} {many}: any claim", claims, high=0.075 if levels < 8 else 0.095)


def starts(n: int, seed: int) -> Iterator[Observation]:
    """Observe effects that differ between starts of a server, of which each has four pairs."""
    lab = Laboratory()
    for which, (spread, effect) in enumerate(((0.0, 0.0), (0.01, 0.0), (0.03, 0.0), (0.0, 0.03), (0.01, 0.03))):
        findings = []
        for number in range(n):
            rng = np.random.default_rng([seed, 35, which, number])
            pairs = lab.draw(rng, effect)
            start = np.arange(len(pairs.difference)) // _PAIRS_OF_START
            differs = rng.uniform(-spread, spread, start[-1] + 1)[start]
            findings.append(lab.judge(replace(pairs, difference=pairs.difference + differs, start=start))[1])
        name = f"{effect:+.0%}, ±{spread:.0%} between starts"
        verdicts = Counter(finding.verdict for finding in findings)
        if effect == 0:
            claims = sum(verdicts[verdict] for verdict in CLAIMS)
            yield Observation(f"{name}: any claim", Share(n, claims), high=0.075 if spread < 0.03 else 0.095)
        else:
            yield Observation(f"{name}: found", Share(n, verdicts[Verdict.BETTER]), 0.92)
        held = sum(finding.interval.low <= effect <= finding.interval.high for finding in findings)
        yield Observation(f"{name}: the interval holds it", Share(n, held), 0.91)
        used = sum(finding.looks[-1].units for finding in findings)
        yield Observation(f"{name}: share of the planned pairs used", Share(n * lab.pairs, used))
