"""Simulated comparisons with faults: an effect that changes, and a baseline that differs from itself."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from experiments import BY_LEVEL, MARGIN, Laboratory
from scipy import signal

from paribus.analysis.diagnostics.noise import BaselineDifference, baseline_difference
from paribus.analysis.diagnostics.plausibility import PlausibilityResults
from paribus.analysis.paired.checks.assumptions import checks_of
from paribus.analysis.paired.checks.check_context import CheckContext, Courses, Timeline
from paribus.analysis.paired.decision import next_look
from paribus.analysis.paired.effects import Pair, PairSeries
from paribus.analysis.paired.finding import Finding, Pairs, Question
from paribus.analysis.paired.unusable import Faults
from paribus.model import DIRECTIONAL, Check, Measurement, Purpose, Trial, TrialState, Verdict
from paribus.stats.generator import Noise, warm_up
from paribus.stats.huber import Array
from paribus.units import LoadLevel, LoadUnit

_METRIC, _WORKLOAD = "throughput_per_s", "w"
_BASELINE, _COMPARED = "a", "b"
_HOLDS = "the verdict holds"  # the words of a fault that passes
USUAL = Noise(by_level=BY_LEVEL)
_REMAINS = 0.9  # of a lasting disturbance, from one pair to the next
_ARMS_WITH_PLACEBO = 4  # compared with the baseline


@dataclass(frozen=True, slots=True)
class Equals:
    """Comparisons of the baseline with itself: pairs, the systematic error, and the purpose of their trials.

    Attributes:
        error: Systematic error, log ratio; the standard deviation of the errors where these are `independent`.
        pairs: Number of pairs.
        purpose: Placebo, or noise floor.
        independent: Whether the compared arm has an error of its own.
    """

    error: float
    pairs: int = 80
    purpose: Purpose = Purpose.PLACEBO
    independent: bool = False

    def errors(self, rng: np.random.Generator) -> tuple[float, float]:
        """Return the errors of the compared arm and of the baseline against itself."""
        if not self.independent:
            return self.error, self.error
        first, second = rng.normal(0.0, self.error, 2).tolist()
        return first, second


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """A true effect with its faults; effects are log ratios.

    Attributes:
        first: Effect when the experiment begins.
        last: Effect when all planned pairs have run.
        course: Share of the change at each time, which is 1 after the planned pairs.
        within: Change of the effect from the beginning of each trial to its end.
        equals: Comparisons of the baseline with itself; None for none.
        pairs: Planned pairs.
        at_once: Whether all pairs are judged at once; else the experiment ends at its verdict.
        noise: Noise of the machine.
        lasting_sd: Standard deviation of a disturbance of the compared arm that lasts for ten pairs.
    """

    first: float
    last: float
    course: Callable[[Array], Array] = field(default=lambda time: time)
    within: float = 0.0
    equals: Equals | None = None
    pairs: int = 80
    at_once: bool = False
    noise: Noise = USUAL
    lasting_sd: float = 0.0

    @property
    def lab(self) -> Laboratory:
        """The laboratory; a placebo accompanies four arms, which share the error."""
        has_placebo = self.equals is not None and self.equals.purpose is Purpose.PLACEBO
        noise = replace(self.noise, within_sd=0.0) if self.within else self.noise
        return Laboratory(noise=noise, pairs=self.pairs, claims=_ARMS_WITH_PLACEBO if has_placebo else 1)

    @property
    def question(self) -> Question:
        """The declared question."""
        return replace(self.lab.question(), method="fixed") if self.at_once else self.lab.question()

    def effect(self, time: Array) -> Array:
        """Return the effect at times, where 1 is the end of the planned pairs."""
        return self.first + (self.last - self.first) * self.course(time)

    def mean_and_end(self, pairs: int) -> tuple[float, float]:
        """Return the mean effect over twice the time of these pairs and trials, and the effect at its end."""
        time = np.linspace(0.0, 2.0 * pairs / self.pairs, 1001)
        effect = self.effect(time)
        return float(effect.mean()) + 0.5 * self.within, float(effect[-1]) + 1.5 * self.within


def _measured(value: float, points: tuple[float, ...] = ()) -> Measurement:
    return replace(Measurement.of_value(_METRIC, "1/s", value, "measure", "engine"), points=points)


def _load(level: int) -> LoadLevel:
    return LoadLevel(level + 1, LoadUnit.OUTSTANDING)


def _equal_arms(
    rng: np.random.Generator, situation: Situation, equals: Equals, error: float
) -> BaselineDifference | None:
    """Draw the baseline against itself, and return its difference with the p value."""
    pairs = replace(situation.lab, pairs=equals.pairs).draw(rng, error)
    trials, summaries = [], {}
    for block, (difference, order, level) in enumerate(_rows(pairs)):
        for position, is_baseline in enumerate((order > 0, order < 0)):
            trial = Trial(
                experiment="e",
                order=2 * block + position,
                round=1,
                block=block,
                position=position,
                attempt=1,
                factor=str(equals.purpose),
                arm=_BASELINE if is_baseline else _COMPARED,
                baseline=is_baseline,
                purpose=equals.purpose,
                settings={},
                workload=_WORKLOAD,
                load=_load(level),
                state=TrialState.DONE,
            )
            trials.append(trial)
            summaries[trial.order] = {_METRIC: _measured(1.0 if is_baseline else float(np.exp(difference)))}
    return baseline_difference(trials, summaries, _WORKLOAD, _METRIC, equals.purpose)


def _rows(pairs: Pairs) -> list[tuple[float, float, int]]:
    return list(zip(pairs.difference.tolist(), pairs.order.tolist(), pairs.level.tolist(), strict=True))


def _series(pairs: Pairs, planned: int) -> PairSeries:
    """Return pairs as a comparison; the baseline of pair n is trial 2n, the compared arm trial 2n + 1."""
    compared = (
        Pair(n, _load(level), 1.0, float(np.exp(difference)), round(order), ((2 * n,), (2 * n + 1,)), 0)
        for n, (difference, order, level) in enumerate(_rows(pairs))
    )
    return PairSeries(
        Purpose.COMPARE, "k", _WORKLOAD, _METRIC, _BASELINE, _COMPARED, planned, tuple(compared), Faults(), split=False
    )


def _within_trials(rng: np.random.Generator, situation: Situation) -> tuple[Array, Courses]:
    """Draw the seconds of all trials; return the log ratio of each pair's means, and the time series."""
    logs = warm_up(rng, situation.noise, 0.0, np.ones(2 * situation.pairs), depth=0.0)
    logs[1::2] += situation.within * np.linspace(-0.5, 0.5, logs.shape[1])
    rates = np.exp(logs)
    means = np.log(rates.mean(axis=1))
    return means[1::2] - means[0::2], {n: _measured(1.0, tuple(row)) for n, row in enumerate(rates.tolist())}


def _lasting(rng: np.random.Generator, pairs: int) -> Array:
    """Draw a disturbance of standard deviation 1 that is correlated by 0.9 with the next pair's."""
    shocks = rng.standard_normal(pairs) * np.sqrt(1 - _REMAINS**2)
    shocks[0] = rng.standard_normal()
    disturbance: Array = signal.lfilter([1.0], [1.0, -_REMAINS], shocks)
    return disturbance


def judged(rng: np.random.Generator, situation: Situation) -> tuple[Finding, tuple[Check, ...]]:
    """Draw an experiment; return its finding and all checks behind it."""
    equals, lab, question = situation.equals, situation.lab, situation.question
    error, error_of_equals = equals.errors(rng) if equals else (0.0, 0.0)
    pairs = lab.draw(rng, error)
    difference = pairs.difference + situation.effect((np.arange(lab.pairs) + 0.5) / lab.pairs)
    if situation.lasting_sd:
        difference = difference + situation.lasting_sd * _lasting(rng, lab.pairs)
    courses: Courses = {}
    if situation.within:
        seconds, courses = _within_trials(rng, situation)
        difference = difference + seconds
    pairs = replace(pairs, difference=difference)
    finding = next_look(pairs, question, over=True) if situation.at_once else lab.judge(pairs)[1]
    pairs = pairs.first(finding.looks[-1].units)
    equal = _equal_arms(rng, situation, equals, error_of_equals) if equals else None
    is_placebo = equals is not None and equals.purpose is Purpose.PLACEBO
    context = CheckContext(
        timeline=Timeline({}, {}, {}),
        summaries={},
        courses=courses,
        noise=None if is_placebo else equal,
        placebo=equal if is_placebo else None,
        drives={},
        conditions={},
        settings={},
        plausibility=PlausibilityResults(frozenset(), {}),
    )
    return finding, checks_of(finding, question, _series(pairs, lab.pairs), pairs, context)


def outcome(rng: np.random.Generator, situation: Situation) -> str | None:
    """Return what became of a claim and of its faults; None without a claim."""
    finding, checks = judged(rng, situation)
    if finding.verdict not in DIRECTIONAL:
        return None
    sign = 1 if finding.verdict is Verdict.BETTER else -1
    mean, end = (sign * effect for effect in situation.mean_and_end(finding.looks[-1].units))
    truth = "wrong" if mean <= MARGIN else "wrong later" if end <= MARGIN else "right"
    seen = "seen" if any(check.finding.endswith(_HOLDS) for check in checks) else "unseen"
    return f"{'passes' if all(check.passed for check in checks) else 'suspect'}, {truth}, {seen}"
