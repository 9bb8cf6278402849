"""Comparison of two experiments: their baselines, and the effects that both have.

Nothing is paired, since a machine, an upgrade or time lies between them: the units are rounds, the test is Welch's.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from paribus.analysis.paired.effects import Summaries, whole_blocks
from paribus.analysis.paired.finding import EffectInterval, Question, verdict_of
from paribus.findings import Between, EffectBetween, Estimate
from paribus.model import RESPONSES, Effect, Trial, Verdict
from paribus.stats.pairs import welch
from paribus.units import LoadLevel

_FEWEST_ROUNDS = 3

Response = tuple[str, str]  # workload and response
_Rounds = Mapping[LoadLevel, Mapping[int, float]]


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two experiments."""

    trials: Sequence[Trial]
    summaries: Summaries


def between(first: Side, second: Side, margins: Mapping[Response, float], confidence: float) -> list[Between]:
    """Compare the baselines of two experiments, for every workload and response that both have.

    Args:
        first: The experiment compared against.
        second: The experiment compared.
        margins: Margin (a log ratio) by workload and response.
        confidence: 1 minus the error that all verdicts share.
    """
    result = []
    for (workload, response), margin in margins.items():
        sides = [_rounds(side, workload, response) for side in (first, second)]
        loads = sorted(sides[0].keys() & sides[1].keys())
        each_confidence = 1 - (1 - confidence) / len(margins)
        complete = [_over(side, loads) for side in sides]
        if not loads or min(map(len, complete)) < _FEWEST_ROUNDS:
            continue
        trials = tuple(_trials(side, workload, loads) for side in (first, second))
        levels = [
            _between(
                [list(side[load].values()) for side in sides], workload, response, load, margin,
                1 - (1 - each_confidence) / len(loads), trials,
            )
            for load in loads
        ]  # fmt: skip
        all_levels = _between(complete, workload, response, None, margin, each_confidence, trials)
        result += [_judged(all_levels, complete, levels, 1 - each_confidence), *(levels if len(loads) > 1 else [])]
    return result


def _rounds(side: Side, workload: str, response: str) -> _Rounds:
    """The mean logarithm of the baseline's response in each round, by load level."""
    values: dict[LoadLevel, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for block in whole_blocks(side.trials).values():
        for trial in block:
            measured = side.summaries.get(trial.order, {}).get(response)
            if trial.baseline and trial.workload == workload and measured is not None and measured.mean > 0:
                values[trial.load][trial.round].append(math.log(measured.mean))
    return {load: {number: float(np.mean(logs)) for number, logs in rounds.items()} for load, rounds in values.items()}


def _over(rounds: _Rounds, loads: Sequence[LoadLevel]) -> list[float]:
    """The mean of each round that has all these load levels."""
    complete = set.intersection(*(set(rounds[load]) for load in loads)) if loads else set()
    return [float(np.mean([rounds[load][number] for load in loads])) for number in sorted(complete)]


def _trials(side: Side, workload: str, loads: Sequence[LoadLevel]) -> tuple[int, ...]:
    blocks = whole_blocks(side.trials).values()
    baseline_trials = (
        trial
        for block in blocks
        for trial in block
        if trial.baseline and trial.workload == workload and trial.load in loads
    )
    return tuple(sorted(trial.order for trial in baseline_trials))


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


def _judged(comparison: Between, sides: Sequence[Sequence[float]], levels: Sequence[Between], alpha: float) -> Between:
    """The comparison with its verdict: opposite levels first, then equivalence at the margin, then the interval."""
    if any(level.low > 0 for level in levels) and any(level.high < 0 for level in levels):
        return replace(comparison, verdict=Verdict.DEPENDS_ON_LOAD)
    _, low, high = welch(sides, 1 - 2 * alpha)
    higher_is_better = RESPONSES[comparison.response].higher_is_better
    question = Question(margin=comparison.margin, planned=len(sides[0]), higher_is_better=higher_is_better)
    verdict = verdict_of(EffectInterval(comparison.low, comparison.high), EffectInterval(low, high), question)
    return replace(comparison, verdict=verdict or Verdict.UNDECIDED)


def effects_between(first: Sequence[Effect], second: Sequence[Effect]) -> list[EffectBetween]:
    """Return every effect that was judged in both experiments; half widths add up as for independent estimates."""
    second_by_key = {_key(effect): effect for effect in second if effect.load is None}
    result = []
    for effect in first:
        second_effect = second_by_key.get(_key(effect)) if effect.load is None else None
        if second_effect is None or effect.verdict is None or second_effect.verdict is None:
            continue
        half_width = math.hypot((effect.high - effect.low) / 2, (second_effect.high - second_effect.low) / 2)
        difference = second_effect.estimate - effect.estimate
        within = abs(difference) + half_width < effect.margin
        result.append(
            EffectBetween(
                factor=effect.factor,
                baseline=effect.baseline,
                arm=effect.arm,
                workload=effect.workload,
                response=effect.response,
                first=Estimate(effect.estimate, effect.low, effect.high),
                second=Estimate(second_effect.estimate, second_effect.low, second_effect.high),
                difference=Estimate(difference, difference - half_width, difference + half_width),
                margin=effect.margin,
                alike=True if within else False if abs(difference) > half_width else None,
            )
        )
    return result


def judged_alone(effects: Sequence[Effect], others: Sequence[Effect]) -> list[Effect]:
    """Return the judged effects over all load levels that `others` lacks."""
    other_keys = {_key(effect) for effect in others if effect.load is None and effect.verdict is not None}
    judged = (effect for effect in effects if effect.load is None and effect.verdict is not None)
    return [effect for effect in judged if _key(effect) not in other_keys]


def _key(effect: Effect) -> tuple[str, str, str, str, str]:
    """Key of an effect."""
    return effect.factor, effect.baseline, effect.arm, effect.workload, effect.response
