"""Simulated screens of twenty factors, and their confirmation."""

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
    """Return the pairs of a screen, in whole replicates."""
    return 32 * max(2, -(-pairs_for(MARGIN, 1.08 * noise.pair_sd) // 32))


def screen(rng: np.random.Generator, noise: Noise, effects: np.ndarray) -> tuple[list[FactorFinding], int]:
    """Simulate a screen: each factor's finding at its deciding look, and the pairs used."""
    pairs = planned(noise)
    python_rng = random.Random(int(rng.integers(2**32)))
    settings = np.array([row for _ in range(pairs // 32) for row in replicate(len(effects), python_rng)], dtype=float)
    level = np.concatenate([rng.permutation(np.arange(32) % LEVELS) for _ in range(pairs // 32)])
    order = np.concatenate([rng.permutation(np.arange(32) % 2 * 2.0 - 1) for _ in range(pairs // 32)])
    noise_of_trials = draw(replace(noise, horizon=2 * pairs), rng, np.repeat(level, 2))
    d = (
        np.where(
            order < 0, noise_of_trials[0::2] - noise_of_trials[1::2], noise_of_trials[1::2] - noise_of_trials[0::2]
        )
        + settings @ effects
    )
    question = Question(margin=MARGIN, planned=pairs, claims=len(effects))
    findings: list[FactorFinding | None] = [None] * len(effects)
    all_pairs = Pairs(d, order, level)
    looks: tuple[SpendingLook, ...] = ()
    for n in range(64, pairs + 1, 32):
        screen_finding = next_look_at_screen(all_pairs.first(n), settings[:n], question, looks, over=n == pairs)
        looks = screen_finding.looks
        findings = [
            decided or (current if current.verdict else None)
            for decided, current in zip(findings, screen_finding.factors, strict=True)
        ]
        if all(findings):
            break
    return [finding for finding in findings if finding is not None], n


def confirm(rng: np.random.Generator, noise: Noise, effects: np.ndarray, findings: list[FactorFinding]) -> list[int]:
    """Return the factors that a fresh experiment confirms with the screen's verdict."""
    survivors = [index for index, finding in enumerate(findings) if finding.verdict in CLAIMS]
    confirmed = []
    for index in survivors:
        lab = Laboratory(noise=noise, claims=len(survivors))
        _, confirming = lab.experiment(rng, float(effects[index]))
        if confirming.verdict == findings[index].verdict:
            confirmed.append(index)
    return confirmed


def quiet(sd: float = 0.02) -> Noise:
    """Return the default noise."""
    return Noise(by_level=BY_LEVEL, between_sd=sd)
