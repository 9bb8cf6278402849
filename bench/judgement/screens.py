"""Simulated screens of twenty factors, and their confirmation."""

import random
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from experiments import BY_LEVEL, LEVELS, MARGIN, Laboratory

from paribus.analysis.paired.alpha_spending import SpendingLook
from paribus.analysis.paired.finding import LEAST_UNITS, Pairs, Question
from paribus.analysis.screening.screen_look import FactorFinding, next_look_at_screen
from paribus.model import Verdict
from paribus.stats.foldover import replicate
from paribus.stats.generator import Noise, draw
from paribus.stats.planner import MOST_PAIRS, pairs_planned
from paribus.stats.screen import fit

FACTORS = 20
REAL = tuple(float(np.log(ratio)) for ratio in (1.03, 0.96, 1.05, 1.025))
CLAIMS = (Verdict.BETTER, Verdict.WORSE)


PAIRS_OF_START = 4
_REPLICATE = 32
_FIRST = 2 * _REPLICATE


Differences = Callable[[np.random.Generator, np.ndarray, np.ndarray], np.ndarray]
"""Draws the noise of each pair's difference, given its order and its load level."""


def differences_of(noise: Noise) -> Differences:
    """Return the function for pairs of trials on a machine with this noise."""

    def drawn(rng: np.random.Generator, order: np.ndarray, level: np.ndarray) -> np.ndarray:
        trials = draw(replace(noise, horizon=2 * len(order)), rng, np.repeat(level, 2))
        return np.where(order < 0, trials[0::2] - trials[1::2], trials[1::2] - trials[0::2])

    return drawn


def screen(
    rng: np.random.Generator,
    differences: Differences,
    effects: np.ndarray,
    start_spread: float = 0.0,
    *,
    starts_stated: bool = True,
) -> tuple[list[FactorFinding], int]:
    """Simulate a screen: each factor's finding at its deciding look, and the pairs used.

    As in the product, the variation of the first two replicates says how many are worthwhile. The first factor's effect
    differs between server starts of four pairs by up to `start_spread`.
    """
    pairs = MOST_PAIRS
    python_rng = random.Random(int(rng.integers(2**32)))
    replicates = range(pairs // _REPLICATE)
    settings = np.array([row for _ in replicates for row in replicate(len(effects), python_rng)], dtype=float)
    level = np.concatenate([rng.permutation(np.arange(_REPLICATE) % LEVELS) for _ in replicates])
    order = np.concatenate([rng.permutation(np.arange(_REPLICATE) % 2 * 2.0 - 1) for _ in replicates])
    d = differences(rng, order, level) + settings @ effects
    start = np.arange(pairs) // PAIRS_OF_START
    if start_spread:
        d += settings[:, 0] * rng.uniform(-start_spread, start_spread, start[-1] + 1)[start]
    first = fit(d[:_FIRST], settings[:_FIRST], order[:_FIRST])
    pairs = _REPLICATE * max(2, -(-pairs_planned(MARGIN, first.residual_sd) // _REPLICATE))
    question = Question(margin=MARGIN, planned=pairs, claims=len(effects))
    findings: list[FactorFinding | None] = [None] * len(effects)
    all_pairs = Pairs(d, order, level, start=start if start_spread and starts_stated else None)
    looks: tuple[SpendingLook, ...] = ()
    for n in range(_FIRST, pairs + 1, _REPLICATE):
        screen_finding = next_look_at_screen(all_pairs.first(n), settings[:n], question, looks, over=n == pairs)
        looks = screen_finding.looks
        findings = [
            decided or (current if current.verdict else None)
            for decided, current in zip(findings, screen_finding.factors, strict=True)
        ]
        if all(findings):
            break
    return [finding for finding in findings if finding is not None], n


def confirm(
    rng: np.random.Generator, lab: Laboratory, effects: np.ndarray, findings: list[FactorFinding]
) -> tuple[list[int], list[int]]:
    """Return the factors that a fresh experiment confirms with the screen's verdict, and the pairs of each claim."""
    pairs = []
    survivors = [index for index, finding in enumerate(findings) if finding.verdict in CLAIMS]
    confirmed = []
    for index in survivors:
        _, confirming = replace(lab, claims=len(survivors)).experiment(rng, float(effects[index]))
        pairs.append(confirming.looks[-1].units)
        if confirming.verdict == findings[index].verdict:
            confirmed.append(index)
    return confirmed, pairs


def alone(
    rng: np.random.Generator, lab: Laboratory, effects: np.ndarray, findings: list[FactorFinding]
) -> tuple[int, bool]:
    """Return how many factors are equivalent and tried alone, and whether that claims what is not so."""
    equal = [index for index, finding in enumerate(findings) if finding.verdict is Verdict.EQUIVALENT]
    short = replace(lab, pairs=LEAST_UNITS["pair"], claims=max(len(equal), 1))
    is_false = False
    for index in equal:
        _, tried = short.experiment(rng, float(effects[index]))
        claimed = {Verdict.BETTER: 1, Verdict.WORSE: -1}.get(tried.verdict or Verdict.UNDECIDED)
        depends = tried.verdict is Verdict.DEPENDS_ON_LOAD
        is_false = is_false or depends or (claimed is not None and claimed != np.sign(effects[index]))
    return len(equal), is_false


def quiet(sd: float = 0.02) -> Noise:
    """Return the default noise."""
    return Noise(by_level=BY_LEVEL, between_sd=sd)
