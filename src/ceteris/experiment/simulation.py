"""A plan carried out on a machine that is not there, to see what it can and cannot find.

The schedule, the looks, the stopping and the verdicts are those of an experiment; only what a trial measures is drawn.
Called by `ceteris simulate`. Touches nothing.
"""

import dataclasses
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ceteris.analysis.judge import Place, judge, take_looks
from ceteris.experiment.looks import decided_arms
from ceteris.model import Look, Measurement, Plan, Purpose, Trial, TrialState, Verdict
from ceteris.plan.budget import Extent, duration_s
from ceteris.plan.design import Comparison, blocks_per_look, comparisons, schedule
from ceteris.stats.generator import Noise, draw
from ceteris.trial.blocks import arm_of

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

    `duration_s` is how long one takes on average, of at most `planned_s`; `claims`: in how many of them any arm was
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
    verdicts: dict[Place, Counter[Verdict]] = defaultdict(Counter)
    pairs: Counter[Place] = Counter()
    covered: Counter[Place] = Counter()
    made, claims = 0, 0
    compared = comparisons(plan)
    for number in range(times):
        drawn = dataclasses.replace(plan, protocol=dataclasses.replace(plan.protocol, seed=seed + number))
        trials = [t for t in schedule(drawn, "", rounds) if t.purpose is Purpose.COMPARE]
        values = _measure(drawn, trials, noise, effect, np.random.default_rng([seed, number]))
        ended, looks = _carry_out(drawn, compared, trials, values)
        found = judge(ended, values, plan.workloads, plan.protocol, looks, baseline=plan.baseline, finished=True)
        whole = [one for one in found.effects if one.load is None and one.verdict is not None]
        for one in whole:
            place = (one.factor, one.arm, one.workload, one.response)
            verdicts[place][one.verdict or Verdict.UNDECIDED] += 1
            pairs[place] += one.pairs
            covered[place] += one.low <= effect <= one.high
        claims += any(one.verdict not in (Verdict.EQUIVALENT, Verdict.UNDECIDED) for one in whole)
        made += sum(trial.state is TrialState.DONE for trial in ended)
        progress(number + 1)
    planned_s = duration_s(plan, Extent(0, rounds))
    planned = Counter((t.factor, t.arm, t.workload) for t in trials)
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
        duration_s=made / times / len(trials) * planned_s,
        planned_s=planned_s,
        claims=claims,
    )


def _measure(
    plan: Plan, trials: Sequence[Trial], noise: Noise, effect: float, rng: np.random.Generator
) -> dict[int, dict[str, Measurement]]:
    """What every trial would measure, whether it will be made or not."""
    loads = {place: number for number, place in enumerate(sorted({(t.workload, t.load) for t in trials}))}
    level = np.array([loads[trial.workload, trial.load] for trial in trials])
    if noise.by_level and len(noise.by_level) != len(loads):
        raise ValueError(f"noise is known at {len(noise.by_level)} load levels, and there are {len(loads)}")
    drift = dataclasses.replace(noise, horizon=len(trials))
    logs = math.log(_RATE_PER_S) + draw(drift, rng, level)
    responses = {workload.name: workload.responses for workload in plan.workloads}
    found = {}
    for trial, log in zip(trials, logs.tolist(), strict=True):
        rate = math.exp(log + (0.0 if trial.baseline else effect))
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
    plan: Plan, compared: Sequence[Comparison], trials: list[Trial], values: Mapping[int, Mapping[str, Measurement]]
) -> tuple[list[Trial], list[Look]]:
    """The trials in their order, but for those that looks on the way made needless."""
    per_look = {(c.factor, c.workload.name): blocks_per_look(len(c.workload.load_levels)) for c in compared}
    made: Counter[tuple[str, str]] = Counter()
    looks: list[Look] = []
    for number, trial in enumerate(trials):
        if trial.state is TrialState.PLANNED:
            trials[number] = dataclasses.replace(trial, state=TrialState.DONE)
        if number + 1 < len(trials) and trials[number + 1].block == trial.block:
            continue
        place = (trial.factor, trial.workload)
        made[place] += 1
        due = plan.protocol.method != "fixed" and made[place] % per_look[place] == 0
        if due and (taken := take_looks(trials, values, plan.workloads, plan.protocol, looks, [place])):
            looks += taken
            decided = decided_arms(compared, looks)
            trials[:] = [
                dataclasses.replace(t, state=TrialState.SPARED)
                if t.state is TrialState.PLANNED and arm_of(t) in decided
                else t
                for t in trials
            ]
    looks += take_looks(trials, values, plan.workloads, plan.protocol, looks, list(per_look), over=True)
    return trials, looks
