"""Simulation of a plan: which effects it can find, at what cost.

Schedule, looks, stopping and verdicts are those of an experiment; only the measurements are drawn. Touches nothing.
"""

import dataclasses
import functools
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from paribus.analysis.paired.judge import Judgement, judge
from paribus.analysis.paired.questions import ComparisonKey
from paribus.experiment.after_screen import following
from paribus.experiment.interim_analysis import decided_arms, is_due, looks_at, underway
from paribus.model import Look, Measurement, Plan, Purpose, Trial, TrialState, Verdict, arm_of
from paribus.plan.schedule.budget import cost_s, spent_s
from paribus.plan.schedule.comparisons import candidates, comparisons
from paribus.plan.schedule.design import schedule
from paribus.stats.generator import Noise, draw

_DRAWN = (Purpose.COMPARE, Purpose.SCREEN, Purpose.PLACEBO)
_RATE_PER_S = 10_000.0  # of the baseline, at whatever load; only ratios count


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedOutcome:
    """Verdicts of one arm over all simulated experiments, with the mean number of pairs.

    `covered`: in how many experiments the interval held the true effect.
    """

    factor: str
    arm: str
    workload: str
    response: str
    verdicts: Mapping[Verdict, int]
    pairs: float
    planned: int
    covered: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulation:
    """Simulated experiments in which every arm but the baselines has one true effect (log ratio).

    `duration_s` is the mean duration of an experiment, of `planned_s`; `claims` counts the experiments in which any arm
    was called better, worse or dependent on load.
    """

    times: int
    outcomes: tuple[SimulatedOutcome, ...]
    duration_s: float
    planned_s: float
    claims: int


def simulate(
    plan: Plan, rounds: int, noise: Noise, effect: float, times: int, seed: int, progress: Callable[[int], object]
) -> Simulation:
    """Simulate the plan `times` times, each with its own run order and noise; `effect` is a log ratio."""
    verdicts: dict[ComparisonKey, Counter[Verdict]] = defaultdict(Counter)
    pairs: Counter[ComparisonKey] = Counter()
    covered: Counter[ComparisonKey] = Counter()
    spent, planned_s, claims = 0.0, 0.0, 0
    for number in range(times):
        ended, judgement = simulate_once(plan, rounds, noise, effect, (seed, number))
        pooled = [result for result in judgement.effects if result.load is None and result.verdict is not None]
        for result in pooled:
            key = (result.factor, result.arm, result.workload, result.response)
            verdicts[key][result.verdict or Verdict.UNDECIDED] += 1
            pairs[key] += result.pairs
            covered[key] += result.low <= effect <= result.high
        claims += any(result.verdict in (Verdict.BETTER, Verdict.WORSE, Verdict.DEPENDS_ON_LOAD) for result in pooled)
        spent += spent_s(plan, ended)
        planned_s += cost_s(plan, ended)
        progress(number + 1)
    planned = {
        (factor, arm.label, comparison.workload.name): rounds * comparison.blocks_per_round
        for comparison in underway(plan, ())
        for factor in [f.key for f in comparison.screened] or [comparison.factor]
        for arm in next(c for c in candidates(plan) if c.factor == factor).arms
    }
    return Simulation(
        times=times,
        outcomes=tuple(
            SimulatedOutcome(
                factor=key[0],
                arm=key[1],
                workload=key[2],
                response=key[3],
                verdicts=dict(verdicts[key]),
                pairs=pairs[key] / times,
                planned=planned[key[0], key[1], key[2]],
                covered=covered[key],
            )
            for key in verdicts
        ),
        duration_s=spent / times,
        planned_s=planned_s / times,
        claims=claims,
    )


def simulate_once(
    plan: Plan, rounds: int, noise: Noise, effect: float | Mapping[str, float], seed: tuple[int, int]
) -> tuple[list[Trial], Judgement]:
    """Simulate one experiment with a run order and noise of its own.

    Args:
        plan: The plan.
        rounds: Rounds of each comparison.
        noise: The noise of trials.
        effect: Log ratio of every arm but the baseline, or that of each arm by its name.
        seed: The seed of the plan, and the number of the experiment.

    Returns:
        The trials that were made or spared, and their judgement.
    """
    drawn = dataclasses.replace(plan, protocol=dataclasses.replace(plan.protocol, seed=sum(seed)))
    trials = [t for t in schedule(drawn, "", rounds) if t.purpose in _DRAWN]
    measure = functools.partial(_measure, drawn, noise, effect, np.random.default_rng(seed))
    ended, looks, values = _carry_out(drawn, trials, noise, measure)
    judgement = judge(
        ended,
        values,
        plan.workloads,
        plan.protocol,
        looks,
        baseline=plan.baseline,
        finished=True,
        factors=plan.factors,
    )
    return ended, judgement


Values = dict[int, dict[str, Measurement]]


def _measure(
    plan: Plan,
    noise: Noise,
    effect: float | Mapping[str, float],
    rng: np.random.Generator,
    trials: Sequence[Trial],
) -> Values:
    """The drawn measurements of every trial, run or not."""
    loads = {place: number for number, place in enumerate(sorted({(t.workload, t.load) for t in trials}))}
    level = np.array([loads[trial.workload, trial.load] for trial in trials])
    if noise.by_level and len(noise.by_level) != len(loads):
        raise ValueError(f"noise is known at {len(noise.by_level)} load levels, and there are {len(loads)}")
    drift = dataclasses.replace(noise, horizon=len(trials))
    applications = {key: number for number, key in enumerate(dict.fromkeys((t.block, t.application) for t in trials))}
    application = np.array([applications[trial.block, trial.application] for trial in trials])
    logs = math.log(_RATE_PER_S) + draw(drift, rng, level, application)
    responses = {workload.name: workload.responses for workload in plan.workloads}
    screens = {comparison.workload.name: comparison.screened for comparison in comparisons(plan) if comparison.screened}
    measurements = {}
    for trial, log in zip(trials, logs.tolist(), strict=True):
        screened = screens[trial.workload] if trial.purpose is Purpose.SCREEN else ()
        changed = sum(trial.settings[f.key] == f.levels[1] for f in screened) if screened else not trial.baseline
        changed = 0 if trial.purpose is Purpose.PLACEBO else changed
        rate = math.exp(log + changed * (effect if isinstance(effect, float) else effect.get(trial.arm, 0.0)))
        operations = round(_RATE_PER_S * plan.protocol.trial_s)
        measurements[trial.order] = {
            metric: _measured(metric, rate, operations)
            for metric in dict.fromkeys((*responses[trial.workload], "throughput_per_s"))
        }
    return measurements


def _measured(metric: str, value: float, operations: int) -> Measurement:
    return Measurement.of_series(metric, "", [value], "measure", "simulated", total=operations)


def _carry_out(
    plan: Plan, trials: list[Trial], noise: Noise, measure: Callable[[Sequence[Trial]], Values]
) -> tuple[list[Trial], list[Look], Values]:
    """The trials in run order, with those that looks spared and those that confirm; the looks and the values."""
    values = measure(trials)
    pair_sds = {workload.name: noise.pair_sd for workload in plan.workloads}
    by_key = {comparison.key: comparison for comparison in underway(plan, trials)}
    completed: Counter[tuple[str, str]] = Counter()
    looks: list[Look] = []
    number = 0
    while number < len(trials):
        trial = trials[number]
        number += 1
        if trial.state is TrialState.PLANNED:
            trials[number - 1] = dataclasses.replace(trial, state=TrialState.DONE)
        if number < len(trials) and trials[number].block == trial.block:
            continue
        key = (trial.factor, trial.workload)
        completed[key] += 1
        due = [by_key[key]] if key in by_key and is_due(by_key[key], plan, completed[key], trials, looks) else []
        if due and (new_looks := looks_at(due, plan, trials, values, looks, over=False)):
            looks += new_looks
            decided = decided_arms(plan, looks)
            trials[:] = [
                dataclasses.replace(t, state=TrialState.SPARED)
                if t.state is TrialState.PLANNED and arm_of(t) in decided
                else t
                for t in trials
            ]
        if number == len(trials):
            looks += looks_at(list(by_key.values()), plan, trials, values, looks, over=True)
            added, _ = following(plan, trials, looks, pair_sds)
            values |= measure(added) if added else {}
            trials += added
            by_key = {comparison.key: comparison for comparison in underway(plan, trials)}
    return trials, looks, values
