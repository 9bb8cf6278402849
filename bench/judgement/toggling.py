"""Toggling: blocks of four short trials under one load, on a machine whose noise is simulated second by second."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from experiments import BY_LEVEL, CLAIMS, Laboratory, Observation, count, schedule, share_of
from first_pairs import ReplannedLaboratory
from scipy.signal import lfilter

from paribus.analysis.paired.finding import Pairs
from paribus.model import Verdict
from paribus.plan.schedule.comparisons import TRIALS_TOGGLED

SEGMENT_S, TOGGLE_S, TAKEOFF_S = 6, 2, 6
TRIALS = 2 * TRIALS_TOGGLED
BLOCK_S = TAKEOFF_S + TRIALS * SEGMENT_S + (TRIALS - 1) * TOGGLE_S
_MIRRORED = np.array([-1.0, 1.0, 1.0, -1.0]) / TRIALS_TOGGLED
_BURST_S = 20.0
_WARM_UP_S = 100
_DRIFT = 0.1
_PERIODS_S = (16.0, 36.0)  # two segments; a block


@dataclass(frozen=True)
class ToggledLaboratory(ReplannedLaboratory):
    """Experiments whose settings are toggled; the noise between trials is slow, as between neighbours on a disk.

    Attributes:
        between_sd: Standard deviation of the slow noise, log ratio.
        slow_s: Seconds in which the slow noise forgets its value.
        period_s: Of a disturbance of 2 %; 0 for none.
        carried: What a trial of the compared arm adds to the next trial, log ratio.
    """

    between_sd: float = 0.02
    slow_s: float = 60.0
    period_s: float = 0.0
    carried: float = 0.0

    def draw(self, rng: np.random.Generator, effect: float | Sequence[float]) -> Pairs:
        """Draw all pairs of an experiment, with a true effect at each level."""
        order, level = schedule(int(rng.integers(2**31)), self.pairs, self.levels)
        true_effect = np.broadcast_to(np.asarray(effect, dtype=float), (self.levels,))[level]
        return Pairs(self.differences(rng, order, level) + true_effect, order, level)

    def differences(self, rng: np.random.Generator, order: np.ndarray, level: np.ndarray) -> np.ndarray:
        """Draw the noise of each block's difference; `order` is 1 where the baseline is toggled first."""
        seconds = self._seconds(rng, len(order) * BLOCK_S).reshape(len(order), BLOCK_S)
        rates = np.exp(seconds * np.array(BY_LEVEL)[level][:, None])
        starts = [TAKEOFF_S + number * (SEGMENT_S + TOGGLE_S) for number in range(TRIALS)]
        means = np.log(np.stack([rates[:, at : at + SEGMENT_S].mean(axis=1) for at in starts], axis=1))
        compared = np.where(order[:, None] > 0, _MIRRORED > 0, _MIRRORED < 0)
        means[:, 1:] += self.carried * compared[:, :-1]
        return (means @ _MIRRORED) * order

    def _seconds(self, rng: np.random.Generator, n: int) -> np.ndarray:
        """The log throughput of each second: noise of seconds, slow noise, bursts and drift."""
        quick = _autoregressive(rng, n, self.noise.within_sd, self.noise.correlation)
        values = quick + _autoregressive(rng, n, self.between_sd, float(np.exp(-1 / self.slow_s)))
        for at in rng.integers(0, n, rng.poisson(self.noise.outliers * n / self.noise.trial_s)):
            values[at : at + 1 + int(rng.exponential(_BURST_S))] += np.log1p(-rng.uniform(0.05, 0.30))
        time = np.arange(n) / n
        if self.period_s:
            values += 0.02 * np.sign(np.sin(2 * np.pi * (np.arange(n) / self.period_s + rng.uniform())))
        shapes = [time, (time > rng.uniform()) * 1.0, np.sin(6 * np.pi * (time + rng.uniform())), np.exp(-8 * time)]
        return values + _DRIFT * rng.uniform(-1, 1) * shapes[rng.integers(len(shapes))]


def _autoregressive(rng: np.random.Generator, n: int, sd: float, correlation: float) -> np.ndarray:
    """A stationary series of this standard deviation, whose neighbours are so correlated."""
    steps = rng.normal(0, sd * np.sqrt(1 - correlation**2), n + _WARM_UP_S)
    first = np.array([correlation * rng.normal(0, sd)])
    return lfilter([1.0], [1.0, -correlation], steps, zi=first)[0][_WARM_UP_S:]


def toggling(n: int, seed: int) -> Iterator[Observation]:
    """Observe toggled experiments: claims about equal arms, also with disturbances in step, and what is found."""
    for which, slow_s in enumerate((10.0, 60.0, 300.0)):
        outcomes = count(n, (seed, 31, which), _verdict(ToggledLaboratory(slow_s=slow_s)))
        name = f"A/A, toggled, noise of {slow_s:.0f} s"
        yield Observation(f"{name}: any claim", share_of(outcomes, CLAIMS, n), high=0.075)
        yield Observation(f"{name}: equivalent", share_of(outcomes, (Verdict.EQUIVALENT,), n), 0.80)
    for which, period_s in enumerate(_PERIODS_S):
        outcomes = count(n, (seed, 31, 10 + which), _verdict(ToggledLaboratory(period_s=period_s)))
        claims = share_of(outcomes, CLAIMS, n)
        yield Observation(f"A/A, toggled, 2 % with a period of {period_s:.0f} s: any claim", claims, high=0.075)
    found = count(n, (seed, 31, 20), _verdict(ToggledLaboratory(), float(np.log(1.03))))
    yield Observation("+3 %, toggled: found", share_of(found, (Verdict.BETTER,), n), 0.92)


def _verdict(lab: Laboratory, effect: float = 0.0) -> Callable[[np.random.Generator], str]:
    return lambda rng: str(lab.experiment(rng, effect)[1].verdict)
