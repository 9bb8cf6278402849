"""Dependent pairs: of a machine disturbed in step with the trials, and of effects that differ between server starts."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from experiments import BY_LEVEL, CLAIMS, Laboratory, Observation, Share
from screens import FACTORS, PAIRS_OF_START, differences_of, quiet, screen

from paribus.analysis.paired.finding import Finding
from paribus.model import Verdict
from paribus.stats.generator import Drift, Noise

_SPREAD = 0.03
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


def other_starts(n: int, seed: int) -> Iterator[Observation]:
    """Observe claims where an effect of nothing differs between starts: open-ended, at few levels, and in screens."""
    labs = {
        "open-ended": Laboratory(method="open-ended"),
        "1 level": Laboratory(levels=1),
        "2 levels": Laboratory(levels=2),
    }
    for is_stated in (True, False):
        said = "allowed for" if is_stated else "ignored"
        for which, (name, lab) in enumerate(labs.items()):
            claims = 0
            for number in range(n):
                rng = np.random.default_rng([seed, 36, which, number])
                pairs = lab.draw(rng, 0.0)
                start = np.arange(lab.pairs) // PAIRS_OF_START
                differs = rng.uniform(-_SPREAD, _SPREAD, start[-1] + 1)[start]
                nested = replace(pairs, difference=pairs.difference + differs, start=start if is_stated else None)
                claims += lab.judge(nested)[1].verdict in CLAIMS
            yield Observation(f"{name}, {said}: any claim", Share(n, claims), high=0.075 if is_stated else 1.0)
        false = 0
        for number in range(n):
            rng = np.random.default_rng([seed, 36, len(labs), number])
            findings, _ = screen(rng, differences_of(quiet()), np.zeros(FACTORS), _SPREAD, starts_stated=is_stated)
            false += findings[0].verdict in CLAIMS
        yield Observation(f"a factor of 20, {said}: claim", Share(n, false), high=0.01 if is_stated else 1.0)


def starts(n: int, seed: int) -> Iterator[Observation]:
    """Observe effects that differ between server starts: with four pairs in each start, and with a single start."""
    lab = Laboratory()
    cases = ((0.0, 0.0), (0.01, 0.0), (0.03, 0.0), (0.0, 0.03), (0.01, 0.03))
    for which, (spread, effect) in enumerate(cases):
        for pairs_of_start in (PAIRS_OF_START, lab.pairs):
            findings = []
            for number in range(n):
                rng = np.random.default_rng([seed, 35, which, number])
                pairs = lab.draw(rng, effect)
                start = np.arange(lab.pairs) // pairs_of_start
                differs = rng.uniform(-spread, spread, start[-1] + 1)[start]
                nested = replace(pairs, difference=pairs.difference + differs, start=start if start[-1] else None)
                findings.append(lab.judge(nested)[1])
            yield from _of_starts(findings, lab, spread, effect, is_single=pairs_of_start == lab.pairs)


def _of_starts(
    findings: Sequence[Finding], lab: Laboratory, spread: float, effect: float, *, is_single: bool
) -> Iterator[Observation]:
    """Observe claims or power, coverage and cost; a single start shows nothing of what differs between starts."""
    n, name = len(findings), f"{effect:+.0%}, ±{spread:.0%} between starts, {'one start' if is_single else 'many'}"
    is_bound = not (is_single and spread)
    verdicts = Counter(finding.verdict for finding in findings)
    if effect == 0:
        claims = Share(n, sum(verdicts[verdict] for verdict in CLAIMS))
        yield Observation(f"{name}: any claim", claims, high=0.075 if is_bound else 1.0)
    else:
        yield Observation(f"{name}: found", Share(n, verdicts[Verdict.BETTER]), 0.92 if is_bound else 0.0)
    held = sum(finding.interval.low <= effect <= finding.interval.high for finding in findings)
    yield Observation(f"{name}: the interval holds it", Share(n, held), 0.91 if is_bound else 0.0)
    used = sum(finding.looks[-1].units for finding in findings)
    yield Observation(f"{name}: share of the planned pairs used", Share(n * lab.pairs, used))
