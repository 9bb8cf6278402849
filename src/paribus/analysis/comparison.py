"""Two experiments beside each other: what the baseline does in both, and whether effects are the same.

In: trials and what they measured, or effects, of two experiments. Out: Between and EffectBetween. Nothing here is
paired: a machine, an upgrade or a week lies between the two, so that the units are rounds and the test is Welch's.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from paribus.analysis.paired.effects import Summaries, whole_blocks
from paribus.findings import Between, EffectBetween, Estimate
from paribus.model import RESPONSES, Effect, Trial, Verdict
from paribus.stats.pairs import welch
from paribus.units import LoadLevel

_FEWEST_ROUNDS = 3

Asked = tuple[str, str]  # workload and response
_Rounds = Mapping[LoadLevel, Mapping[int, float]]


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two experiments."""

    trials: Sequence[Trial]
    summaries: Summaries


def between(first: Side, second: Side, asked: Mapping[Asked, float], confidence: float) -> list[Between]:
    """Of every workload and response in both, with its margin (a log ratio); all verdicts share one error."""
    found = []
    for (workload, response), margin in asked.items():
        sides = [_rounds(side, workload, response) for side in (first, second)]
        loads = sorted(sides[0].keys() & sides[1].keys())
        share = 1 - (1 - confidence) / len(asked)
        whole = [_over(side, loads) for side in sides]
        if not loads or min(map(len, whole)) < _FEWEST_ROUNDS:
            continue
        trials = tuple(_trials(side, workload, loads) for side in (first, second))
        levels = [
            _between(
                [list(side[load].values()) for side in sides], workload, response, load, margin,
                1 - (1 - share) / len(loads), trials,
            )
            for load in loads
        ]  # fmt: skip
        all_levels = _between(whole, workload, response, None, margin, share, trials)
        found += [_judged(all_levels, whole, levels, 1 - share), *(levels if len(loads) > 1 else [])]
    return found


def _rounds(side: Side, workload: str, response: str) -> _Rounds:
    """The mean logarithm of the baseline's response in each round, by load level."""
    values: dict[LoadLevel, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for block in whole_blocks(side.trials).values():
        for trial in block:
            measured = side.summaries.get(trial.order, {}).get(response)
            if trial.baseline and trial.workload == workload and measured is not None and measured.mean > 0:
                values[trial.load][trial.round].append(math.log(measured.mean))
    return {load: {n: float(np.mean(logs)) for n, logs in rounds.items()} for load, rounds in values.items()}


def _over(rounds: _Rounds, loads: Sequence[LoadLevel]) -> list[float]:
    """Each round that has all these load levels, as their mean."""
    whole = set.intersection(*(set(rounds[load]) for load in loads)) if loads else set()
    return [float(np.mean([rounds[load][number] for load in loads])) for number in sorted(whole)]


def _trials(side: Side, workload: str, loads: Sequence[LoadLevel]) -> tuple[int, ...]:
    blocks = whole_blocks(side.trials).values()
    mine = (t for block in blocks for t in block if t.baseline and t.workload == workload and t.load in loads)
    return tuple(sorted(trial.order for trial in mine))


def _between(
    sides: Sequence[Sequence[float]],
    workload: str,
    response: str,
    load: LoadLevel | None,
    margin: float,
    confidence: float,
    trials: tuple[tuple[int, ...], ...],
) -> Between:
    estimate, low, high = welch(sides, confidence)
    return Between(
        workload=workload,
        response=response,
        load=load,
        estimate=estimate,
        low=low,
        high=high,
        confidence=confidence,
        margin=margin,
        rounds=(len(sides[0]), len(sides[1])),
        verdict=None,
        trials=(trials[0], trials[1]),
    )


def _judged(found: Between, sides: Sequence[Sequence[float]], levels: Sequence[Between], alpha: float) -> Between:
    """With its verdict: levels that go apart first, then the interval, then both one-sided tests at the margin."""
    if any(one.low > 0 for one in levels) and any(one.high < 0 for one in levels):
        return replace(found, verdict=Verdict.DEPENDS_ON_LOAD)
    _, low, high = welch(sides, 1 - 2 * alpha)
    inside = -found.margin < low and high < found.margin
    if inside:
        return replace(found, verdict=Verdict.EQUIVALENT)
    if found.low > 0 or found.high < 0:
        gains = found.low > 0
        better = gains == RESPONSES[found.response].higher_is_better
        return replace(found, verdict=Verdict.BETTER if better else Verdict.WORSE)
    return replace(found, verdict=Verdict.UNDECIDED)


def effects_between(first: Sequence[Effect], second: Sequence[Effect]) -> list[EffectBetween]:
    """Every effect that was judged in both. Half-widths add up as those of independent estimates."""
    theirs = {_place(effect): effect for effect in second if effect.load is None}
    found = []
    for mine in first:
        other = theirs.get(_place(mine)) if mine.load is None else None
        if other is None or mine.verdict is None or other.verdict is None:
            continue
        half = math.hypot((mine.high - mine.low) / 2, (other.high - other.low) / 2)
        difference = other.estimate - mine.estimate
        within = abs(difference) + half < mine.margin
        found.append(
            EffectBetween(
                factor=mine.factor,
                baseline=mine.baseline,
                arm=mine.arm,
                workload=mine.workload,
                response=mine.response,
                first=Estimate(mine.estimate, mine.low, mine.high),
                second=Estimate(other.estimate, other.low, other.high),
                difference=Estimate(difference, difference - half, difference + half),
                margin=mine.margin,
                alike=True if within else False if abs(difference) > half else None,
            )
        )
    return found


def judged_alone(effects: Sequence[Effect], others: Sequence[Effect]) -> list[Effect]:
    """The effects over all load levels that are judged, and are not among the others."""
    theirs = {_place(effect) for effect in others if effect.load is None and effect.verdict is not None}
    mine = (effect for effect in effects if effect.load is None and effect.verdict is not None)
    return [effect for effect in mine if _place(effect) not in theirs]


def _place(effect: Effect) -> tuple[str, str, str, str, str]:
    return effect.factor, effect.baseline, effect.arm, effect.workload, effect.response
