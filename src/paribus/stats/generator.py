"""A machine that is not there: log throughputs of trials with the noise of real machines, of known effects.

In: which load level, and how much true effect, each trial of a schedule has. Called by `paribus simulate` and by the
tests of the judging procedure.
"""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import signal

from paribus.stats.huber import Array

Drift = Literal["none", "linear", "step", "sine", "saw", "walk", "settling", "mixed", "periodic 2", "periodic 4"]
_MIXED: tuple[Drift, ...] = ("linear", "step", "sine", "saw", "walk", "settling")
_PERIODIC = 0.02  # half the height of a disturbance with a fixed period


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """Standard deviations of log throughput, and what else disturbs a trial.

    `between_sd` is that of trials, `within_sd` and `correlation` those of single seconds, of which a trial has
    `trial_s`; `application_sd` that of applications of a setting. A share `outliers` of the trials loses between
    `least_loss` and `most_loss`. `drift` moves all by at most `drift_by` over the `horizon`, in trials. `by_level`
    multiplies the noise at each load level.
    """

    between_sd: float = 0.02
    within_sd: float = 0.06
    correlation: float = 0.8
    trial_s: float = 60.0
    application_sd: float = 0.0
    outliers: float = 0.02
    least_loss: float = 0.05
    most_loss: float = 0.30
    drift: Drift = "mixed"
    drift_by: float = 0.10
    horizon: int = 160
    by_level: tuple[float, ...] = ()

    @property
    def trial_sd(self) -> float:
        """Of the mean of a trial's seconds, which are a series with correlation from each to the next."""
        phi, n = self.correlation, self.trial_s
        inflated = (1 + phi) / (1 - phi) - 2 * phi * (1 - phi**n) / (n * (1 - phi) ** 2)
        return self.within_sd * float(np.sqrt(inflated / n))

    @property
    def pair_sd(self) -> float:
        """Of the difference of two trials, without outliers."""
        return float(np.sqrt(2 * (self.between_sd**2 + self.trial_sd**2 + self.application_sd**2)))


def draw(
    noise: Noise, rng: np.random.Generator, level: NDArray[np.intp], application: NDArray[np.intp] | None = None
) -> Array:
    """The noise of each trial's log throughput, for trials in order at these levels, in these applications."""
    slots = len(level)
    factor = np.asarray(noise.by_level)[level] if noise.by_level else np.ones(slots)
    found = factor * (noise.between_sd * rng.standard_normal(slots) + noise.trial_sd * rng.standard_normal(slots))
    lost = rng.random(slots) < noise.outliers
    found -= lost * rng.uniform(noise.least_loss, noise.most_loss, slots)
    if application is not None and noise.application_sd > 0:
        found += noise.application_sd * rng.standard_normal(int(application.max()) + 1)[application]
    return found + _drift(noise, rng, slots)


def warm_up(rng: np.random.Generator, noise: Noise, settle_s: float, tau_s: Array, depth: float = 0.30) -> Array:
    """Log throughput of each measured second (trials, seconds), still warming up with these time constants."""
    seconds = int(noise.trial_s)
    shocks = rng.standard_normal((len(tau_s), seconds)) * noise.within_sd * np.sqrt(1 - noise.correlation**2)
    shocks[:, 0] = noise.within_sd * rng.standard_normal(len(tau_s))
    series = signal.lfilter([1.0], [1.0, -noise.correlation], shocks, axis=1)
    at = settle_s + np.arange(seconds) + 0.5
    found: Array = series - depth * np.exp(-at[None, :] / tau_s[:, None])
    return found


def _drift(noise: Noise, rng: np.random.Generator, slots: int) -> Array:
    """What moves the whole machine with time, at each trial."""
    at = np.arange(slots) / noise.horizon
    shape, most = noise.drift, noise.drift_by
    if shape == "mixed":
        shape, most = _MIXED[rng.integers(len(_MIXED))], most * rng.random()
    sign = rng.choice([-1.0, 1.0])
    course: Array
    match shape:
        case "none":
            course = np.zeros(slots)
        case "linear":
            course = at
        case "step":
            course = (at > rng.uniform(0.05, 0.95)).astype(float)
        case "sine":
            course = 0.5 * np.sin(2 * np.pi * (at * rng.uniform(0.5, 3) + rng.random()))
        case "saw":
            course = (at * rng.uniform(3, 12) + rng.random()) % 1
        case "walk":
            course = np.cumsum(rng.standard_normal(slots)) / math.sqrt(noise.horizon)
        case "settling":
            course = 1 - np.exp(-at / rng.uniform(0.05, 0.4))
        case "periodic 2" | "periodic 4":
            period = int(shape[-1])
            course = np.where((np.arange(slots) + rng.integers(period)) % period < period / 2, -1.0, 1.0)
            most = _PERIODIC
    return course * float(sign * most)
