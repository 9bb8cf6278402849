"""Verdicts of imported runs.

Nobody paired these runs, and most were made once: then no verdict is given. With repetitions, the means of logarithms
are compared (Welch); with interval lines alone, by the error of each run's mean and the usual difference of two runs.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from paribus.analysis.diagnostics.bottlenecks import bounds
from paribus.analysis.diagnostics.scaling import described
from paribus.analysis.imported.caveats import Conditions, checks_of, reasons_of
from paribus.analysis.imported.imported_matrix import imported_matrices
from paribus.analysis.imported.matched_runs import (
    MatchedLevel,
    RunComparison,
    comparisons,
    estimate,
    higher_is_better,
    trials_per_factor,
)
from paribus.analysis.paired.cells import cells
from paribus.analysis.paired.effects import Summaries, counting
from paribus.analysis.paired.judge import Judgement
from paribus.findings import Constancy, Scaling
from paribus.i18n import gettext
from paribus.model import DIRECTIONAL, Effect, Factor, Measurement, Protocol, Tag, Trial, TrialState, Verdict, Workload
from paribus.stats.unpaired import equality_p, pool, pool_by_spread
from paribus.units import LoadUnit

Courses = Mapping[str, Mapping[int, Measurement]]
Options = Mapping[int, Mapping[str, str]]

_FEWEST_LEVELS = 3  # with single runs' interval lines, fewer never decide
_EQUIVALENCE = 0.90  # two one-sided tests at 5 %
_LEAST_P = 0.05


def judge_set(
    trials: Sequence[Trial],
    summaries: Summaries,
    workloads: Sequence[Workload],
    protocol: Protocol,
    factors: Sequence[Factor],
    *,
    courses: Courses,
    options: Options,
    conditions: Conditions,
) -> Judgement:
    """Judge every arm of an imported set.

    Args:
        trials: Trials of the set.
        summaries: Measurements by trial and metric.
        workloads: Workloads of the set.
        protocol: Margins and confidence.
        factors: Factors of the set.
        courses: Time series by response and trial.
        options: Options of the tool, by trial.
        conditions: What the tool was asked, and what the figures imply, by trial.
    """
    factor_trials = trials_per_factor(trials, factors)
    means = cells(factor_trials, summaries, protocol.confidence)
    run_comparisons: list[RunComparison] = []
    unjudged: list[str] = []
    for factor in factors:
        for workload in workloads:
            for response in workload.responses:
                workload_trials = [
                    trial for trial in factor_trials if (trial.factor, trial.workload) == (factor.key, workload.name)
                ]
                compared, messages = comparisons(
                    workload_trials, factor, workload.name, response, summaries, courses.get(response, {})
                )
                run_comparisons += compared
                unjudged += messages
    claims = max(1, sum(_may_decide(comparison) for comparison in run_comparisons))
    first_responses = {(workload.name, workload.response) for workload in workloads}
    effects = [
        effect
        for comparison in run_comparisons
        for effect in _effects(
            comparison,
            protocol,
            claims,
            conditions,
            first=(comparison.workload, comparison.response) in first_responses,
        )
    ]
    return Judgement(
        effects=tuple(effects),
        cells=tuple(means),
        unjudged=tuple(unjudged),
        matrices=imported_matrices(trials, summaries, options, factors, protocol.confidence),
        drifts=(),
        contrasts=(),
        scalings=tuple(_scalings(factor_trials, summaries, protocol)),
        bounds=bounds(means, factor_trials),
        constancy=Constancy({}, {}, ()),
        breaches=(),
    )


def _may_decide(comparison: RunComparison) -> bool:
    return comparison.variance_source == "repetitions" or (
        comparison.variance_source == "lines" and len(comparison.matched) >= _FEWEST_LEVELS
    )


def _interval(comparison: RunComparison, confidence: float) -> tuple[float, float]:
    """The interval over all levels; with interval lines at least as wide as the spread over levels."""
    low, high = estimate(comparison).interval(confidence)
    if comparison.variance_source != "lines" or len(comparison.matched) < 2:
        return low, high
    spread_interval = pool_by_spread([level.ratio for level in comparison.matched]).interval(confidence)
    return min(low, spread_interval[0]), max(high, spread_interval[1])


def _decided(low: float, high: float, response: str) -> Verdict | None:
    if low <= 0 <= high:
        return None
    return Verdict.BETTER if (low > 0) == higher_is_better(response) else Verdict.WORSE


def _verdict(comparison: RunComparison, margin: float, confidence: float) -> Verdict:
    """Equivalent where both tests hold, better or worse where the interval excludes zero."""
    if not _may_decide(comparison):
        return Verdict.UNDECIDED
    ratios = [level.ratio for level in comparison.judged]
    equal_ratios = equality_p(ratios) >= _LEAST_P
    low, high = _interval(comparison, _EQUIVALENCE)
    if equal_ratios and -margin < low and high < margin:
        return Verdict.EQUIVALENT
    if not equal_ratios and _conflicting(comparison, margin, confidence):
        return Verdict.DEPENDS_ON_LOAD
    return _decided(*_interval(comparison, confidence), comparison.response) or Verdict.UNDECIDED


def _conflicting(comparison: RunComparison, margin: float, confidence: float) -> bool:
    """Whether two load levels have different verdicts."""
    level_confidence = 1 - (1 - confidence) / len(comparison.judged)
    verdicts: set[Verdict] = set()
    for level in comparison.judged:
        level_mean = pool([level.ratio])
        low, high = level_mean.interval(_EQUIVALENCE)
        if -margin < low and high < margin:
            verdicts.add(Verdict.EQUIVALENT)
        elif decided := _decided(*level_mean.interval(level_confidence), comparison.response):
            verdicts.add(decided)
    return len(verdicts) > 1


def _effects(
    comparison: RunComparison, protocol: Protocol, claims: int, conditions: Conditions, *, first: bool
) -> list[Effect]:
    """The effect over all load levels, then the effect at each.

    Responses other than the workload's `first` get a verdict only where repetitions may decide. Two different tests get
    no other verdict than undecided.
    """
    margin = protocol.margins.get(comparison.response, math.log1p(0.02))
    confidence = 1 - (1 - protocol.confidence) / claims if _may_decide(comparison) else protocol.confidence
    verdict = _verdict(comparison, margin, confidence) if first or _may_decide(comparison) else None
    checks = checks_of(comparison, conditions)
    other_test = checks[-1].passed is False
    if other_test and verdict is not None:
        verdict = Verdict.UNDECIDED
    low, high = _interval(comparison, confidence)
    tags = _tags(verdict, low, high, margin)
    reasons = [checks[-1].finding] if other_test else []
    reasons += [*reasons_of(comparison), *(check.finding for check in checks if tags and not check.passed)]
    effect = Effect(
        factor=comparison.factor,
        baseline=comparison.baseline,
        arm=comparison.arm,
        workload=comparison.workload,
        response=comparison.response,
        load=None,
        estimate=estimate(comparison).estimate,
        low=low,
        high=high,
        confidence=confidence,
        pairs=sum(min(map(len, level.trials)) for level in comparison.judged),
        margin=margin,
        method={
            "repetitions": "Welch over repetitions",
            "lines": "interval lines",
            "nothing": "spread over load levels",
        }[comparison.variance_source],
        look=0,
        verdict=verdict,
        tags=tags,
        reasons=tuple(reasons),
        would_decide=_would_decide(comparison, other_test=other_test),
        trials=_orders(comparison.judged),
        checks=checks,
    )
    level_effects = []
    for load in dict.fromkeys(level.load for level in comparison.matched):
        levels_at = [level for level in comparison.matched if level.load == load]
        comparison_at = replace(comparison, matched=tuple(levels_at))
        interval_at = _interval(comparison_at, protocol.confidence)
        level_effects.append(
            replace(
                effect,
                load=load,
                estimate=estimate(comparison_at).estimate,
                low=interval_at[0],
                high=interval_at[1],
                confidence=protocol.confidence,
                pairs=sum(min(map(len, level.trials)) for level in levels_at),
                verdict=None,
                tags=(),
                reasons=(),
                would_decide="",
                checks=(),
                trials=_orders(levels_at),
            )
        )
    return [effect, *level_effects]


def _would_decide(comparison: RunComparison, *, other_test: bool) -> str:
    """Return the obstacle to a verdict; empty where more runs of the same kind would decide."""
    if other_test:
        return gettext("two different tests cannot be compared")
    return "" if _may_decide(comparison) else gettext("single runs cannot decide")


def _tags(verdict: Verdict | None, low: float, high: float, margin: float) -> tuple[Tag, ...]:
    """Any decision is suspect: the runs were not interleaved."""
    if verdict in (None, Verdict.UNDECIDED):
        return ()
    material = verdict in DIRECTIONAL and (low > margin or high < -margin)
    negligible = verdict is Verdict.EQUIVALENT and not low <= 0 <= high
    return (*([Tag.MATERIAL] if material else []), *([Tag.NEGLIGIBLE] if negligible else []), Tag.SUSPECT)


def _orders(levels: Sequence[MatchedLevel]) -> tuple[int, ...]:
    return tuple(sorted({order for level in levels for side in level.trials for order in side}))


def _scalings(trials: Sequence[Trial], summaries: Summaries, protocol: Protocol) -> list[Scaling]:
    """Scaling of each arm whose trials all state their load level."""
    arms: dict[tuple[str, str, str], list[Trial]] = defaultdict(list)
    for trial in counting(trials):
        is_closed_loop = trial.load.unit is LoadUnit.OUTSTANDING and trial.load.n > 0
        if trial.state is TrialState.DONE and is_closed_loop and "throughput_per_s" in summaries.get(trial.order, {}):
            arms[trial.factor, trial.workload, trial.arm].append(trial)
    result = []
    for (factor, workload, arm), arm_trials in arms.items():
        rounds: dict[int, dict[int, float]] = defaultdict(dict)
        repetition: dict[int, int] = defaultdict(int)
        for trial in arm_trials:
            repetition[trial.load.n] += 1
            rounds[repetition[trial.load.n]][trial.load.n] = summaries[trial.order]["throughput_per_s"].mean
        complete = [rates for rates in rounds.values() if len(rates) == len(repetition)]
        if len(repetition) >= _FEWEST_LEVELS and all(rate > 0 for rates in complete for rate in rates.values()):
            margin = protocol.margins.get("throughput_per_s", math.log1p(0.02))
            orders = [trial.order for trial in arm_trials]
            scaling = described(factor, workload, arm, complete, orders, margin, protocol.confidence)
            result += [scaling] if scaling else []
    return result
