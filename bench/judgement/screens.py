"""Screens that are drawn instead of made: twenty factors at once, then a confirmation of what they showed."""

import random
from dataclasses import replace

import numpy as np
from experiments import BY_LEVEL, LEVELS, MARGIN, Laboratory

from paribus.analysis.paired.alpha_spending import SpendingLook
from paribus.analysis.paired.finding import Pairs, Question
from paribus.analysis.screening.screen_look import FactorFinding, next_look_at_screen
from paribus.model import Verdict
from paribus.stats.foldover import replicate
from paribus.stats.generator import Noise, draw
from paribus.stats.planner import pairs_for

FACTORS = 20
REAL = tuple(float(np.log(ratio)) for ratio in (1.03, 0.96, 1.05, 1.025))
CLAIMS = (Verdict.BETTER, Verdict.WORSE)


def planned(noise: Noise) -> int:
    """Pairs of a screen, in whole replicates."""
    return 32 * max(2, -(-pairs_for(MARGIN, 1.08 * noise.pair_sd) // 32))


def screen(rng: np.random.Generator, noise: Noise, effects: np.ndarray) -> tuple[list[FactorFinding], int]:
    """A whole screen: what was found of each factor at the look that decided it, and the pairs it took."""
    pairs = planned(noise)
    drawn = random.Random(int(rng.integers(2**32)))
    settings = np.array([row for _ in range(pairs // 32) for row in replicate(len(effects), drawn)], dtype=float)
    level = np.concatenate([rng.permutation(np.arange(32) % LEVELS) for _ in range(pairs // 32)])
    order = np.concatenate([rng.permutation(np.arange(32) % 2 * 2.0 - 1) for _ in range(pairs // 32)])
    noisy = draw(replace(noise, horizon=2 * pairs), rng, np.repeat(level, 2))
    d = np.where(order < 0, noisy[0::2] - noisy[1::2], noisy[1::2] - noisy[0::2]) + settings @ effects
    question = Question(margin=MARGIN, planned=pairs, claims=len(effects))
    found: list[FactorFinding | None] = [None] * len(effects)
    made = Pairs(d, order, level)
    before: tuple[SpendingLook, ...] = ()
    for n in range(64, pairs + 1, 32):
        seen = next_look_at_screen(made.first(n), settings[:n], question, before, over=n == pairs)
        before = seen.looks
        found = [old or (new if new.verdict else None) for old, new in zip(found, seen.factors, strict=True)]
        if all(found):
            break
    return [one for one in found if one is not None], n


def confirm(rng: np.random.Generator, noise: Noise, effects: np.ndarray, found: list[FactorFinding]) -> list[int]:
    """The factors whose effect a fresh experiment confirms, with the sign that the screen saw."""
    survivors = [number for number, one in enumerate(found) if one.verdict in CLAIMS]
    confirmed = []
    for number in survivors:
        lab = Laboratory(noise=noise, claims=len(survivors))
        _, seen = lab.experiment(rng, float(effects[number]))
        if seen.verdict == found[number].verdict:
            confirmed.append(number)
    return confirmed


def quiet(sd: float = 0.02) -> Noise:
    """The usual noise."""
    return Noise(by_level=BY_LEVEL, between_sd=sd)
