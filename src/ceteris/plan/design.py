"""From a plan to its trials in order: blocks at one load level, orders balanced and random, from a seed.

A comparison is a factor (or the combinations) under one workload; its arms, baseline first, are tried back to
back in a block. A round is the least even number of passes over the load levels that makes eight blocks. The
same plan and seed give the same schedule on any machine.
"""

import dataclasses
import hashlib
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ceteris.model import Plan, Purpose, Settings, Trial, Workload
from ceteris.units import LoadLevel

_BLOCKS_PER_ROUND = 8


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


def passes_per_round(levels: int) -> int:
    """The least even number of passes over the load levels that makes at least eight blocks."""
    passes = 2
    while passes * levels < _BLOCKS_PER_ROUND:
        passes += 2
    return passes


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


def _blocks(
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


def schedule(plan: Plan, experiment: str, rounds: int) -> tuple[Trial, ...]:
    """Every trial of an experiment in order: round by round, the comparisons of a round in random order."""
    compared = comparisons(plan)
    series = []
    for comparison in compared:
        rng = random.Random(f"{plan.protocol.seed}/{comparison.workload.name}/{comparison.factor}")
        series.append(list(_blocks(comparison.workload.levels, len(comparison.arms), rounds, rng)))
    rng = random.Random(f"{plan.protocol.seed}/rounds")
    trials: list[Trial] = []
    block = 0
    for number in range(1, rounds + 1):
        turn = list(range(len(compared)))
        rng.shuffle(turn)
        for index in turn:
            for round_number, load, order in series[index]:
                if round_number != number:
                    continue
                block += 1
                for position, arm in enumerate(order, start=1):
                    chosen = compared[index].arms[arm]
                    trials.append(
                        Trial(
                            experiment=experiment,
                            order=len(trials) + 1,
                            round=number,
                            block=block,
                            position=position,
                            attempt=1,
                            factor=compared[index].factor,
                            arm=chosen.label,
                            baseline=arm == 0,
                            purpose=Purpose.COMPARE,
                            settings=chosen.settings,
                            workload=compared[index].workload.name,
                            load=load,
                        )
                    )
    return tuple(trials)


def schedule_hash(trials: Sequence[Trial]) -> str:
    """What identifies a schedule, whichever experiment carries it out."""
    rows = [dataclasses.asdict(trial) | {"experiment": ""} for trial in trials]
    return hashlib.sha256(json.dumps(rows, sort_keys=True).encode()).hexdigest()
