"""Simulated log throughputs of trials with realistic noise (judging procedure, "Simulations").

`paribus simulate` and the tests of the judging procedure add known effects to them.
"""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import signal

from paribus.stats.huber import Array

Drift = Literal[
    "none",
    "linear",
    "step",
    "sine",
    "saw",
    "walk",
    "settling",
    "mixed",
    "periodic 2",
    "periodic 3",
    "periodic 4",
    "bursts",
]
_MIXED: tuple[Drift, ...] = ("linear", "step", "sine", "saw", "walk", "settling")


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """Standard deviations of log throughput, outliers and drift of a simulated machine.

    Attributes:
        between_sd: Of trials.
        within_sd: Of single seconds in a trial.
        correlation: Of each second with the next.
        trial_s: Measured seconds of a trial.
        application_sd: Of applications of a setting.
        outliers: Share of trials that lose throughput.
        least_loss: Smallest loss of an outlier, a log ratio.
        most_loss: Largest loss of an outlier.
        drift: Shape of the drift.
        drift_by: Largest drift over the horizon, or the amplitude of a periodic disturbance; a log ratio.
        horizon: Length of the drift in trials.
        by_level: Factor of the noise at each load level; empty for 1 everywhere.
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
        """Standard deviation of the mean of a trial's seconds, an AR(1) series."""
        phi, n = self.correlation, self.trial_s
        inflated = (1 + phi) / (1 - phi) - 2 * phi * (1 - phi**n) / (n * (1 - phi) ** 2)
        return self.within_sd * float(np.sqrt(inflated / n))

    @property
    def pair_sd(self) -> float:
        """Standard deviation of the difference of two trials, without outliers."""
        return float(np.sqrt(2 * (self.between_sd**2 + self.trial_sd**2 + self.application_sd**2)))


def draw(
    noise: Noise, rng: np.random.Generator, level: NDArray[np.intp], application: NDArray[np.intp] | None = None
) -> Array:
    """Draw the noise of each trial's log throughput.

    Args:
        noise: The noise model.
        rng: Source of randomness.
        level: Index of the load level of each trial in run order, shape (n,).
        application: Index of the application of each trial, shape (n,); None for no application noise.

    Returns:
        Log ratios to the noise-free throughput, shape (n,).

    Example:
        >>> quiet = Noise(between_sd=0, within_sd=0, outliers=0, drift="none")
        >>> [float(value) for value in draw(quiet, np.random.default_rng(1), np.zeros(3, dtype=int))]
        [0.0, 0.0, 0.0]
    """
    slots = len(level)
    factor = np.asarray(noise.by_level)[level] if noise.by_level else np.ones(slots)
    logs = factor * (noise.between_sd * rng.standard_normal(slots) + noise.trial_sd * rng.standard_normal(slots))
    lost = rng.random(slots) < noise.outliers
    logs -= lost * rng.uniform(noise.least_loss, noise.most_loss, slots)
    if application is not None and noise.application_sd > 0:
        logs += noise.application_sd * rng.standard_normal(int(application.max()) + 1)[application]
    return logs + _drift(noise, rng, slots)


def warm_up(rng: np.random.Generator, noise: Noise, settle_s: float, tau_s: Array, depth: float = 0.30) -> Array:
    """Draw the log throughput of each measured second while trials still warm up.

    Args:
        rng: Source of randomness.
        noise: The noise model; only the noise within trials is used.
        settle_s: Discarded seconds before the measured ones.
        tau_s: Time constant of the warm-up of each trial in seconds, shape (trials,).
        depth: Log ratio by which throughput starts below its final level.

    Returns:
        Shape (trials, seconds).
    """
    seconds = int(noise.trial_s)
    shocks = rng.standard_normal((len(tau_s), seconds)) * noise.within_sd * np.sqrt(1 - noise.correlation**2)
    shocks[:, 0] = noise.within_sd * rng.standard_normal(len(tau_s))
    series = signal.lfilter([1.0], [1.0, -noise.correlation], shocks, axis=1)
    seconds_since_start = settle_s + np.arange(seconds) + 0.5
    warming: Array = series - depth * np.exp(-seconds_since_start[None, :] / tau_s[:, None])
    return warming


def _drift(noise: Noise, rng: np.random.Generator, slots: int) -> Array:
    """Return the log ratio by which the whole machine drifts at each trial, shape (slots,)."""
    time = np.arange(slots) / noise.horizon
    shape, most = noise.drift, noise.drift_by
    if shape == "mixed":
        shape, most = _MIXED[rng.integers(len(_MIXED))], most * rng.random()
    sign = rng.choice([-1.0, 1.0])
    drift: Array
    match shape:
        case "none":
            drift = np.zeros(slots)
        case "linear":
            drift = time
        case "step":
            drift = (time > rng.uniform(0.05, 0.95)).astype(float)
        case "sine":
            drift = 0.5 * np.sin(2 * np.pi * (time * rng.uniform(0.5, 3) + rng.random()))
        case "saw":
            drift = (time * rng.uniform(3, 12) + rng.random()) % 1
        case "walk":
            drift = np.cumsum(rng.standard_normal(slots)) / math.sqrt(noise.horizon)
        case "settling":
            drift = 1 - np.exp(-time / rng.uniform(0.05, 0.4))
        case "bursts":  # every fourth trial, of unlike strength
            drift = ((np.arange(slots) + rng.integers(4)) % 4 == 0) * rng.lognormal(0.0, 0.5, slots)
        case "periodic 2" | "periodic 3" | "periodic 4":
            period = int(shape[-1])
            drift = np.where((np.arange(slots) + rng.integers(period)) % period < period / 2, -1.0, 1.0)
    return drift * float(sign * most)
