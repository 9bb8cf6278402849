"""A plan carried out on a machine that is not there, to see what it can and cannot find.

The schedule, the looks, the stopping and the verdicts are those of an experiment; only what a trial measures is drawn.
Called by `paribus simulate`. Touches nothing.
"""

import dataclasses
import functools
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from paribus.analysis.paired.judge import judge
from paribus.analysis.paired.questions import ComparisonKey
from paribus.experiment.interim_analysis import decided_arms, is_due, looks_at, to_confirm, underway
from paribus.model import Look, Measurement, Plan, Purpose, Trial, TrialState, Verdict, arm_of
from paribus.plan.budget import cost_s, spent_s
from paribus.plan.comparisons import candidates, comparisons
from paribus.plan.design import schedule
from paribus.stats.generator import Noise, draw

_DRAWN = (Purpose.COMPARE, Purpose.SCREEN, Purpose.PLACEBO)
_RATE_PER_S = 10_000.0  # of the baseline, at whatever load; only ratios count


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of one arm in all simulated experiments: how often each verdict, in how many pairs on average.

    `covered`: how often the interval held the true effect.
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
    """So many experiments with a true effect (log ratio) of every arm but the baselines.

    `duration_s` is how long one takes on average, of `planned_s`; `claims`: in how many of them any arm was
    called better, worse or dependent on load.
    """

    times: int
    outcomes: tuple[Outcome, ...]
    duration_s: float
    planned_s: float
    claims: int


def simulate(
    plan: Plan, rounds: int, noise: Noise, effect: float, times: int, seed: int, progress: Callable[[int], object]
) -> Simulation:
    """Carry out the plan so often, each time with another run order and other noise; `effect` is a log ratio."""
    verdicts: dict[ComparisonKey, Counter[Verdict]] = defaultdict(Counter)
    pairs: Counter[ComparisonKey] = Counter()
    covered: Counter[ComparisonKey] = Counter()
    spent, asked_for, claims = 0.0, 0.0, 0
    for number in range(times):
        drawn = dataclasses.replace(plan, protocol=dataclasses.replace(plan.protocol, seed=seed + number))
        trials = [t for t in schedule(drawn, "", rounds) if t.purpose in _DRAWN]
        rng = np.random.default_rng([seed, number])
        ended, looks, values = _carry_out(drawn, trials, noise, functools.partial(_measure, drawn, noise, effect, rng))
        found = judge(
            ended,
            values,
            plan.workloads,
            plan.protocol,
            looks,
            baseline=plan.baseline,
            finished=True,
            factors=plan.factors,
        )
        whole = [one for one in found.effects if one.load is None and one.verdict is not None]
        for one in whole:
            place = (one.factor, one.arm, one.workload, one.response)
            verdicts[place][one.verdict or Verdict.UNDECIDED] += 1
            pairs[place] += one.pairs
            covered[place] += one.low <= effect <= one.high
        claims += any(one.verdict not in (Verdict.EQUIVALENT, Verdict.UNDECIDED) for one in whole)
        spent += spent_s(plan, ended)
        asked_for += cost_s(plan, ended)
        progress(number + 1)
    planned = {
        (factor, arm.label, one.workload.name): rounds * one.blocks_per_round
        for one in underway(plan, ())
        for factor in [f.key for f in one.screened] or [one.factor]
        for arm in next(c for c in candidates(plan) if c.factor == factor).arms
    }
    return Simulation(
        times=times,
        outcomes=tuple(
            Outcome(
                factor=place[0],
                arm=place[1],
                workload=place[2],
                response=place[3],
                verdicts=dict(verdicts[place]),
                pairs=pairs[place] / times,
                planned=planned[place[0], place[1], place[2]],
                covered=covered[place],
            )
            for place in verdicts
        ),
        duration_s=spent / times,
        planned_s=asked_for / times,
        claims=claims,
    )


Values = dict[int, dict[str, Measurement]]


def _measure(plan: Plan, noise: Noise, effect: float, rng: np.random.Generator, trials: Sequence[Trial]) -> Values:
    """What every trial would measure, whether it will be made or not."""
    loads = {place: number for number, place in enumerate(sorted({(t.workload, t.load) for t in trials}))}
    level = np.array([loads[trial.workload, trial.load] for trial in trials])
    if noise.by_level and len(noise.by_level) != len(loads):
        raise ValueError(f"noise is known at {len(noise.by_level)} load levels, and there are {len(loads)}")
    drift = dataclasses.replace(noise, horizon=len(trials))
    applications = {key: number for number, key in enumerate(dict.fromkeys((t.block, t.application) for t in trials))}
    application = np.array([applications[trial.block, trial.application] for trial in trials])
    logs = math.log(_RATE_PER_S) + draw(drift, rng, level, application)
    responses = {workload.name: workload.responses for workload in plan.workloads}
    screens = {one.workload.name: one.screened for one in comparisons(plan) if one.screened}
    found = {}
    for trial, log in zip(trials, logs.tolist(), strict=True):
        screened = screens[trial.workload] if trial.purpose is Purpose.SCREEN else ()
        changed = sum(trial.settings[f.key] == f.levels[1] for f in screened) if screened else not trial.baseline
        changed = 0 if trial.purpose is Purpose.PLACEBO else changed
        rate = math.exp(log + changed * effect)
        operations = round(_RATE_PER_S * plan.protocol.trial_s)
        found[trial.order] = {
            metric: _measured(metric, rate, operations)
            for metric in dict.fromkeys((*responses[trial.workload], "throughput_per_s"))
        }
    return found


def _measured(metric: str, value: float, operations: int) -> Measurement:
    return Measurement(
        phase="measure",
        metric=metric,
        unit="",
        source="simulated",
        n=1,
        mean=value,
        low=value,
        high=value,
        total=operations,
    )


def _carry_out(
    plan: Plan, trials: list[Trial], noise: Noise, measure: Callable[[Sequence[Trial]], Values]
) -> tuple[list[Trial], list[Look], Values]:
    """The trials in their order, but for those that looks on the way made needless, and with those that confirm."""
    values = measure(trials)
    known = {workload.name: noise.pair_sd for workload in plan.workloads}
    places = {one.key: one for one in underway(plan, trials)}
    made: Counter[tuple[str, str]] = Counter()
    looks: list[Look] = []
    number = 0
    while number < len(trials):
        trial = trials[number]
        number += 1
        if trial.state is TrialState.PLANNED:
            trials[number - 1] = dataclasses.replace(trial, state=TrialState.DONE)
        if number < len(trials) and trials[number].block == trial.block:
            continue
        place = (trial.factor, trial.workload)
        made[place] += 1
        due = [places[place]] if place in places and is_due(places[place], plan, made[place]) else []
        if due and (taken := looks_at(due, plan, trials, values, looks, over=False)):
            looks += taken
            decided = decided_arms(plan, looks)
            trials[:] = [
                dataclasses.replace(t, state=TrialState.SPARED)
                if t.state is TrialState.PLANNED and arm_of(t) in decided
                else t
                for t in trials
            ]
        if number == len(trials):
            looks += looks_at(list(places.values()), plan, trials, values, looks, over=True)
            added, _ = to_confirm(plan, trials, looks, known)
            values |= measure(added) if added else {}
            trials += added
            places = {one.key: one for one in underway(plan, trials)}
    return trials, looks, values
