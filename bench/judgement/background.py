"""Experiments on a machine with other work: what it takes from a load, what is discarded, and what is found.

The other work is drawn in cores of two for each trial in run order. A trial loses throughput by it, more than in
proportion. The product sees the cores with an error, discards by its own rule, and judges by its own code.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from experiments import LEVELS, LOOK_PAIRS, Laboratory, schedule

from paribus.analysis.paired.decision import decide
from paribus.analysis.paired.effects import free_log
from paribus.analysis.paired.finding import Finding, Pairs
from paribus.analysis.paired.questions import LITTLE_OTHER_LOAD
from paribus.stats.generator import draw
from paribus.trial.validity import Discards, is_unusual

CORES = 2
_LOSS_PER_CORE = 0.45  # of the throughput: one core of two is worth half, and some of it is shared
_SEEN_ERROR = 0.05  # of the cores seen, as ticks of a census and short-lived processes make it
_BURST_TRIALS = 3.0  # mean length of a burst
_PERIOD_TRIALS = 7.3
_THRESHOLD = 0.2 * CORES  # as in `validity`
_RERUNS = 3  # blocks drawn for each planned one, at most

Background = Callable[[np.random.Generator, int], np.ndarray]


def steady(cores: float) -> Background:
    """An even background, as a compiler on some cores is."""
    return lambda rng, n: np.clip(cores + 0.05 * rng.standard_normal(n), 0, None)


def bursts(cores: float) -> Background:
    """On half of the time, at twice the mean."""

    def drawn(rng: np.random.Generator, n: int) -> np.ndarray:
        switches = rng.random(n) < 1 / _BURST_TRIALS
        is_on = (np.cumsum(switches) + rng.integers(2)) % 2
        part = np.where(switches, rng.random(n), 1.0)  # a burst that begins or ends within a trial
        return np.asarray(2 * cores * np.where(is_on, part, np.where(switches, 1 - part, 0.0)))

    return drawn


def periodic(cores: float) -> Background:
    """A wave, as of a job that runs every few minutes."""
    return lambda rng, n: cores * (1 + np.sin(2 * np.pi * (np.arange(n) / _PERIOD_TRIALS + rng.random())))


def ramp(cores: float) -> Background:
    """From nothing to twice the mean."""
    return lambda _rng, n: np.linspace(0, 2 * cores, n)


def quiet(_rng: np.random.Generator, n: int) -> np.ndarray:
    """No other work."""
    return np.zeros(n)


@dataclass(frozen=True)
class Outcome:
    """The finding of an experiment, and the trials that it took, discarded ones included."""

    finding: Finding
    trials: int
    discarded: int


@dataclass(frozen=True)
class BusyLaboratory:
    """A laboratory whose machine has other work."""

    lab: Laboratory
    background: Background
    discards: bool = True

    def experiment(self, rng: np.random.Generator, effect: float) -> Outcome:
        """Simulate an experiment with a look after every eight valid pairs, from sixteen on."""
        wanted = self.lab.pairs
        drawn = _RERUNS * wanted if self.discards else wanted
        order, level = schedule(int(rng.integers(2**31)), drawn, LEVELS)
        cores = np.clip(self.background(rng, 2 * drawn), 0, 0.95 * CORES)
        noise = draw(self.lab.noise, rng, np.repeat(level, 2)) + np.log1p(-_LOSS_PER_CORE * cores)
        seen = cores * (1 + _SEEN_ERROR * rng.standard_normal(2 * drawn))
        discarded = _discarded(seen) if self.discards else np.zeros(drawn, dtype=bool)
        valid = np.flatnonzero(~discarded)[:wanted]
        first, second = noise[0::2][valid], noise[1::2][valid]
        sign = order[valid]
        free = np.array([free_log(share) for share in seen / CORES])
        other = np.where(sign > 0, 1, -1) * (free[1::2][valid] - free[0::2][valid])
        pairs = Pairs(
            np.where(sign > 0, second - first, first - second) + effect,
            sign,
            level[valid] % LEVELS,
            covariates=other[:, None] if np.std(other) > LITTLE_OTHER_LOAD else None,
        )
        counts = range(2 * LOOK_PAIRS, len(valid) + 1, LOOK_PAIRS)
        number, finding = decide(pairs, self.lab.question(), counts)
        last = int(valid[counts[number - 1] - 1])
        return Outcome(finding, 2 * (last + 1), 2 * (last + 1 - counts[number - 1]))


def _discarded(seen: np.ndarray) -> np.ndarray:
    """The blocks in which a trial has far more other load than usual, by the product's rule, shape (blocks,)."""
    discards, history = Discards(), seen.tolist()
    trials = [discards.discard(is_unusual(history[: trial + 1], _THRESHOLD)) for trial in range(len(history))]
    return np.array(trials).reshape(-1, 2).any(axis=1)


def scenarios() -> Iterator[tuple[str, Background]]:
    """The kinds of other work, at half a core and at one core of two."""
    for cores in (0.5, 1.0):
        for shape in (steady, bursts, periodic, ramp):
            yield f"{shape.__name__} {cores:g} of {CORES} cores", shape(cores)
