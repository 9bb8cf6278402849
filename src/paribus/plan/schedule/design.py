"""Schedule of a plan: its trials in order, in blocks at one load level, in balanced and random orders from a seed.

A comparison is a factor (or the combinations) under one workload. Its arms, baseline first, are tried back to back in
a block. A round is the least even number of passes over the load levels that makes eight blocks. A workload that is
only measured has one block of one trial per round and load level. In a screen a block is a setting of many factors and
its mirror image. If applying is costly, each arm of a block has several trials (split-plot). If settings are toggled,
each has two, the second ones in mirrored order.
The same plan and seed give the same schedule on any machine.
"""

import dataclasses
import hashlib
import itertools
import json
import random
from collections.abc import Collection, Iterator, Sequence

from paribus.model import Plan, Purpose, Settings, Trial, Workload
from paribus.plan import precondition
from paribus.plan.schedule import settling
from paribus.plan.schedule.comparisons import Comparison, comparisons, measured, noise_comparisons
from paribus.plan.schedule.rounds import SPLIT_BLOCKS_PER_ROUND, passes_per_round
from paribus.plan.schedule.screened_alone import confirming, each_alone
from paribus.stats.foldover import replicate
from paribus.units import LoadLevel

Order = tuple[int, ...]
_PERMUTED = 8  # blocks of a level within which orders are permuted, at least


def balanced_orders(arms: int) -> list[tuple[Order, Order]]:
    """Returns the rows of a Williams square as pairs of a row and its mirror (Williams 1949).

    Over all rows every arm stands at every position equally often, and after every other arm equally often. Within a
    pair every arm stands before every other once. Two arms have one pair: AB, BA.
    """
    first = [0]
    for step in range(1, arms):
        first.append((first[-1] + (step if step % 2 else -step)) % arms)
    rows = [tuple((arm + shift) % arms for arm in first) for shift in range(arms)]
    return [(row, row[::-1]) for row in rows if arms % 2 or row < row[::-1]]


def blocks(
    levels: Sequence[LoadLevel], arms: int, rounds: int, rng: random.Random
) -> Iterator[tuple[int, LoadLevel, Order]]:
    """Yields (round, load level, order of the arms) of each block of a comparison; levels in random sequence."""
    per_round = passes_per_round(len(levels))
    orders = [_orders(arms, rng) for _ in levels]
    for number in range(rounds * per_round):
        for index in rng.sample(range(len(levels)), len(levels)):
            yield 1 + number // per_round, levels[index], next(orders[index])


def plots(
    levels: Sequence[LoadLevel], arms: int, rounds: int, size: int, rng: random.Random
) -> Iterator[tuple[int, tuple[LoadLevel, ...], Order]]:
    """Yields (round, load levels, order of the arms) of each block whose applications hold for `size` trials each.

    All arms of a block have the same levels in the same sequence, taken from passes in random order.
    """
    coming = _passes(levels, rng)
    for number, order in enumerate(itertools.islice(_orders(arms, rng), rounds * SPLIT_BLOCKS_PER_ROUND)):
        yield 1 + number // SPLIT_BLOCKS_PER_ROUND, tuple(itertools.islice(coming, size)), order


def _passes(levels: Sequence[LoadLevel], rng: random.Random) -> Iterator[LoadLevel]:
    while True:
        yield from rng.sample(levels, len(levels))


def _orders(arms: int, rng: random.Random) -> Iterator[Order]:
    """Yields the orders of the arms at one load level, block after block, without end.

    In at least eight blocks (two arms: eight) every order occurs equally often, in random sequence. Blocks that mirror
    the one before would give a disturbance with a period of three or four trials the same sign in both pairs.
    """
    rows = [row for couple in balanced_orders(arms) for row in couple]
    repeats = -(-_PERMUTED // len(rows))
    while True:
        yield from rng.sample(rows * repeats, repeats * len(rows))


def schedule(plan: Plan, experiment: str, rounds: int, noise_rounds: int = 0) -> tuple[Trial, ...]:
    """Returns every trial of an experiment in order.

    Trials that precondition data come first, then settle runs and comparisons of equal arms, then the rounds. Within a
    round the order of comparisons is random. A schedule of fewer rounds is the beginning of a longer one.
    """
    compared_blocks = [_compared(comparison, plan, rounds) for comparison in comparisons(plan)]
    if alone := measured(plan):
        compared_blocks.append(_measured(alone, plan, rounds))
    noise_blocks = [_compared(comparison, plan, noise_rounds) for comparison in noise_comparisons(plan)]
    blocks_in_order = [[run] for run in settling.trials(plan, plan.protocol.settle_runs)]
    blocks_in_order += [
        [dataclasses.replace(trial, round=0) for trial in block]
        for comparison_blocks in noise_blocks
        for block in comparison_blocks
    ]
    blocks_in_order += _in_rounds(compared_blocks, rounds, random.Random(f"{plan.protocol.seed}/rounds"))
    return precondition.put_first(plan, _numbered(blocks_in_order, experiment, ()))


def confirmation(
    plan: Plan, survivors: Collection[tuple[str, str]], rounds: int, earlier: Sequence[Trial]
) -> tuple[Trial, ...]:
    """Returns the trials that confirm the result of a screen, numbered after those of `earlier`.

    The run order of the survivors (factor and workload) is another one than before.
    """
    return _after_screen(confirming(plan, survivors), plan, rounds, earlier)


def trials_alone(
    plan: Plan, keys: Collection[tuple[str, str]], rounds: int, earlier: Sequence[Trial]
) -> tuple[Trial, ...]:
    """Returns the trials that try factors alone under workloads (`keys`), numbered after those of `earlier`."""
    return _after_screen(each_alone(plan, keys), plan, rounds, earlier)


def _after_screen(
    compared: Sequence[Comparison], plan: Plan, rounds: int, earlier: Sequence[Trial]
) -> tuple[Trial, ...]:
    """Returns the trials of comparisons of one purpose that follow a screen."""
    compared_blocks = [_compared(comparison, plan, rounds) for comparison in compared]
    rng = random.Random(f"{plan.protocol.seed}/rounds/{compared[0].purpose}")
    ordered = _in_rounds(compared_blocks, rounds, rng)
    last_round = max(trial.round for trial in earlier)
    renumbered = [[dataclasses.replace(trial, round=last_round + trial.round) for trial in block] for block in ordered]
    return tuple(_numbered(renumbered, earlier[0].experiment, earlier))


_OF_SCHEDULE = ("order", "round", "block", "position", "factor", "arm", "purpose", "settings", "workload", "load")
_Block = list[Trial]  # the experiment, order and block numbers are not set yet


def _in_rounds(compared_blocks: Sequence[Sequence[_Block]], rounds: int, rng: random.Random) -> list[_Block]:
    """Returns all blocks round by round; within a round the comparisons follow in random order."""
    ordered = []
    for number in range(1, rounds + 1):
        sequence = list(range(len(compared_blocks)))
        rng.shuffle(sequence)
        ordered += [block for index in sequence for block in compared_blocks[index] if block[0].round == number]
    return ordered


def _numbered(blocks: Sequence[_Block], experiment: str, earlier: Sequence[Trial]) -> list[Trial]:
    """Returns the trials of the blocks, numbered after those of `earlier`."""
    order = max((trial.order for trial in earlier), default=0)
    first = max((trial.block for trial in earlier), default=0) + 1
    trials = [(number, trial) for number, block in enumerate(blocks, start=first) for trial in block]
    return [
        dataclasses.replace(trial, experiment=experiment, order=order + position, block=number)
        for position, (number, trial) in enumerate(trials, start=1)
    ]


def _compared(comparison: Comparison, plan: Plan, rounds: int) -> list[_Block]:
    """Returns every block of a comparison, round by round."""
    suffix = "/confirm" if comparison.purpose is Purpose.CONFIRM else ""
    rng = random.Random(f"{plan.protocol.seed}/{comparison.workload.name}/{comparison.factor}{suffix}")
    settings = _screen_settings(comparison, plan) if comparison.screened else itertools.repeat(comparison.settings)
    levels, arms, size = comparison.workload.levels, len(comparison.arms), comparison.sub_trials
    single_blocks = ((number, (load,), order) for number, load, order in blocks(levels, arms, rounds, rng))
    drawn = plots(levels, arms, rounds, size, rng) if size > 1 else single_blocks
    if comparison.toggled:
        drawn = ((number, loads, order + order[::-1]) for number, loads, order in drawn)
    return [
        [
            Trial(
                experiment="",
                order=0,
                round=number,
                block=0,
                position=position * len(loads) + repetition + 1,
                attempt=1,
                factor=comparison.factor,
                arm=comparison.arms[arm].label,
                baseline=arm == 0,
                purpose=comparison.purpose,
                settings=arm_settings[arm],
                workload=comparison.workload.name,
                load=load,
                application=position + 1,
            )
            for position, arm in enumerate(order)
            for repetition, load in enumerate(loads)
        ]
        for (number, loads, order), arm_settings in zip(drawn, settings, strict=False)
    ]


def _screen_settings(comparison: Comparison, plan: Plan) -> Iterator[tuple[Settings, ...]]:
    """Yields the settings of a screen's blocks without end: the mirror image, then the setting of all factors."""
    rng = random.Random(f"{plan.protocol.seed}/{comparison.workload.name}/{comparison.factor}/settings")
    while True:
        for row in replicate(len(comparison.screened), rng):
            high = {factor.key: factor.levels[sign > 0] for factor, sign in zip(comparison.screened, row, strict=True)}
            low = {factor.key: factor.levels[sign < 0] for factor, sign in zip(comparison.screened, row, strict=True)}
            yield {**plan.baseline, **low}, {**plan.baseline, **high}


def _measured(workloads: Sequence[Workload], plan: Plan, rounds: int) -> list[_Block]:
    """Returns one block of one trial for each load level of these workloads per round, in random order."""
    rng = random.Random(f"{plan.protocol.seed}/measured")
    points = [(workload.name, load) for workload in workloads for load in workload.levels]
    ordered = []
    for number in range(1, rounds + 1):
        rng.shuffle(points)
        ordered += [
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
    return ordered


def schedule_hash(trials: Sequence[Trial]) -> str:
    """Returns a digest of the order of trials, whatever the experiment's id, and whatever became of them."""
    rows = [[getattr(trial, name) for name in _OF_SCHEDULE] for trial in trials if trial.attempt == 1]
    return hashlib.sha256(json.dumps(rows, sort_keys=True, default=str).encode()).hexdigest()
