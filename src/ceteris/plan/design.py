"""From a plan to its trials in order: blocks at one load level, orders balanced and random, from a seed.

A comparison is a factor (or the combinations) under one workload; its arms, baseline first, are tried back to
back in a block. A round is the least even number of passes over the load levels that makes eight blocks. What is
only measured is so once a round at every load level, each a block of its own. The same plan and seed give the same
schedule on any machine.
"""

import dataclasses
import hashlib
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ceteris.model import Plan, Purpose, Settings, Trial, Workload
from ceteris.plan import precondition
from ceteris.units import LoadLevel

_BLOCKS_PER_ROUND = 8
NOISE_FLOOR = "noise floor"


@dataclass(frozen=True, slots=True)
class Arm:
    """One combination of settings being compared."""

    label: str
    settings: Settings


@dataclass(frozen=True, slots=True)
class Comparison:
    """The arms of one factor, or of the combinations, under one workload; the first arm is the baseline."""

    factor: str
    workload: Workload
    arms: tuple[Arm, ...]
    tested: tuple[str, ...]


def comparisons(plan: Plan) -> list[Comparison]:
    """Every comparison of a plan. What a comparison does not vary is at its baseline, or held."""
    found = []
    for workload in plan.workloads:
        for factor in plan.factors:
            if workload.name in factor.scope:
                arms = tuple(
                    Arm(label, {**plan.baseline, factor.key: level})
                    for level, label in zip(factor.levels, factor.labels, strict=True)
                )
                found.append(Comparison(factor.key, workload, arms, (factor.key,)))
        if plan.combinations:
            combined = (Arm(c.name, {**plan.baseline, **c.settings}) for c in plan.combinations)
            tested = tuple(sorted({key for combination in plan.combinations for key in combination.settings}))
            found.append(Comparison("combination", workload, (Arm("baseline", plan.baseline), *combined), tested))
    return found


def is_in_flight(one: Comparison, plan: Plan) -> bool:
    """Whether the settings of a comparison can change while the load goes on: all of them take effect at once."""
    live = {knob.name for knob in plan.knobs if knob.takes_effect == "live"}
    return plan.protocol.in_flight and one.workload.cache == "warm" and live.issuperset(one.tested)


def noise_comparisons(plan: Plan) -> list[Comparison]:
    """The baseline against itself under each workload, everything that some comparison sets being set each time.

    What it shows is noise: of the machine, and of the way in which settings are applied.
    """
    found: dict[str, Comparison] = {}
    for one in comparisons(plan):
        before = found.get(one.workload.name)
        tested = tuple(sorted({*one.tested, *(before.tested if before else ())}))
        arms = (Arm("baseline", plan.baseline), Arm("baseline again", plan.baseline))
        found[one.workload.name] = Comparison(NOISE_FLOOR, one.workload, arms, tested)
    return list(found.values())


def measured(plan: Plan) -> list[Workload]:
    """The series of matrices that nothing is compared under: they are measured as the machine is, or held."""
    compared = {comparison.workload.name for comparison in comparisons(plan)}
    return [workload for workload in plan.workloads if workload.part_of and workload.name not in compared]


def passes_per_round(levels: int) -> int:
    """The least even number of passes over the load levels that makes at least eight blocks."""
    passes = 2
    while passes * levels < _BLOCKS_PER_ROUND:
        passes += 2
    return passes


def blocks_per_look(levels: int) -> int:
    """The blocks after which a comparison is looked at: a round, or where a single pass has eight blocks, a pass."""
    return levels if levels >= _BLOCKS_PER_ROUND else levels * passes_per_round(levels)


Order = tuple[int, ...]


def balanced_orders(arms: int) -> list[tuple[Order, Order]]:
    """The rows of a Williams square as couples of a row and its mirror (Williams 1949).

    In all rows together every arm is once at every position and after every other equally often; in a couple
    every arm is before every other once. For two arms: the one couple AB, BA.
    """
    first = [0]
    for step in range(1, arms):
        first.append((first[-1] + (step if step % 2 else -step)) % arms)
    rows = [tuple((arm + shift) % arms for arm in first) for shift in range(arms)]
    return [(row, row[::-1]) for row in rows if arms % 2 or row < row[::-1]]


def blocks(
    levels: Sequence[LoadLevel], arms: int, rounds: int, rng: random.Random
) -> Iterator[tuple[int, LoadLevel, Order]]:
    """(round, load level, order of the arms) of each block of a comparison.

    Two passes over the levels use one couple of orders at each level, half of the levels its row first. Which
    half, which couple and the sequence of levels are drawn anew, so that no disturbance of fixed period falls in
    step with them.
    """
    couples = balanced_orders(arms)
    passes = rounds * passes_per_round(len(levels))
    for number in range(passes):
        if number % (2 * len(couples)) == 0:
            rng.shuffle(couples)
            offsets = _spread(len(levels), len(couples), rng)
        if number % 2 == 0:
            sides = _spread(len(levels), 2, rng)
        sequence = list(range(len(levels)))
        rng.shuffle(sequence)
        for index in sequence:
            couple = couples[(offsets[index] + number // 2) % len(couples)]
            round_number = 1 + number // passes_per_round(len(levels))
            yield round_number, levels[index], couple[(sides[index] + number) % 2]


def _spread(places: int, values: int, rng: random.Random) -> list[int]:
    """Each of so many values at as many places as any other, to within one, in random order."""
    start = rng.randrange(values)
    spread = [(start + place) % values for place in range(places)]
    rng.shuffle(spread)
    return spread


def schedule(plan: Plan, experiment: str, rounds: int, noise_rounds: int = 0) -> tuple[Trial, ...]:
    """Every trial of an experiment in order: those that precondition data, those that compare equals, then round by
    round, what a round is made of in random order. Fewer rounds are the beginning of more."""
    stretches = [_compared(comparison, plan, rounds) for comparison in comparisons(plan)]
    if alone := measured(plan):
        stretches.append(_measured(alone, plan, rounds))
    rng = random.Random(f"{plan.protocol.seed}/rounds")
    trials: list[Trial] = []
    block = 0
    for one in (one for c in noise_comparisons(plan) for one in _compared(c, plan, noise_rounds)):
        block += 1
        for trial in one:
            as_noise = dataclasses.replace(trial, purpose=Purpose.NOISE_FLOOR, round=0)
            trials.append(dataclasses.replace(as_noise, experiment=experiment, order=len(trials) + 1, block=block))
    for number in range(1, rounds + 1):
        turn = list(range(len(stretches)))
        rng.shuffle(turn)
        for one in (one for index in turn for one in stretches[index] if one[0].round == number):
            block += 1
            for trial in one:
                trials.append(dataclasses.replace(trial, experiment=experiment, order=len(trials) + 1, block=block))
    return precondition.put_first(plan, trials)


_Block = list[Trial]  # without the experiment and numbers, which depend on what else there is


def _compared(comparison: Comparison, plan: Plan, rounds: int) -> list[_Block]:
    """Every block of a comparison, round by round."""
    rng = random.Random(f"{plan.protocol.seed}/{comparison.workload.name}/{comparison.factor}")
    return [
        [
            Trial(
                experiment="",
                order=0,
                round=number,
                block=0,
                position=position,
                attempt=1,
                factor=comparison.factor,
                arm=comparison.arms[arm].label,
                baseline=arm == 0,
                purpose=Purpose.COMPARE,
                settings=comparison.arms[arm].settings,
                workload=comparison.workload.name,
                load=load,
            )
            for position, arm in enumerate(order, start=1)
        ]
        for number, load, order in blocks(comparison.workload.levels, len(comparison.arms), rounds, rng)
    ]


def _measured(workloads: Sequence[Workload], plan: Plan, rounds: int) -> list[_Block]:
    """Every point of what is only measured, once a round, in random order; each is a block of one trial."""
    rng = random.Random(f"{plan.protocol.seed}/measured")
    points = [(workload.name, load) for workload in workloads for load in workload.levels]
    found = []
    for number in range(1, rounds + 1):
        rng.shuffle(points)
        found += [
            [
                Trial(
                    experiment="",
                    order=0,
                    round=number,
                    block=0,
                    position=1,
                    attempt=1,
                    factor="",
                    arm="",
                    baseline=True,
                    purpose=Purpose.MEASURE,
                    settings=plan.baseline,
                    workload=name,
                    load=load,
                )
            ]
            for name, load in points
        ]
    return found


def schedule_hash(trials: Sequence[Trial]) -> str:
    """What identifies a schedule, whichever experiment carries it out."""
    rows = [dataclasses.asdict(trial) | {"experiment": ""} for trial in trials]
    return hashlib.sha256(json.dumps(rows, sort_keys=True).encode()).hexdigest()
