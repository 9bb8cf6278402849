"""Effects of a comparison, over all load levels and at each."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from paribus.analysis.diagnostics.overload import hidden_capacity
from paribus.analysis.paired.checks.check_context import Timeline
from paribus.analysis.paired.checks.stalls import stalls_of
from paribus.analysis.paired.decision import probabilities
from paribus.analysis.paired.effects import Pair, PairSeries
from paribus.analysis.paired.finding import EffectInterval, Finding, LevelFinding, Question
from paribus.analysis.paired.reasons import DecidingPairs, covered_text, method_of, pairs_needed, reasons_of, tags_of
from paribus.model import Check, Effect, EquivalenceInterval, Look, PairChange, Tag, Verdict
from paribus.units import LoadLevel


class Estimated(Protocol):
    """An estimate with its interval, log ratios, and its verdict if decided."""

    @property
    def estimate(self) -> float:
        """The estimate."""
        ...

    @property
    def interval(self) -> EffectInterval:
        """The interval of the estimate."""
        ...

    @property
    def inner(self) -> EffectInterval:
        """The interval of the two tests of equivalence."""
        ...

    @property
    def verdict(self) -> Verdict | None:
        """The verdict; None while the comparison continues."""
        ...


def effects_of(
    finding: Finding,
    question: Question,
    series: PairSeries,
    last_look: Look,
    checks: tuple[Check, ...],
    timeline: Timeline,
    *,
    finished: bool,
) -> list[Effect]:
    """The effect over all load levels with its verdict, then the effect at each level."""
    verdict = finding.verdict or Verdict.UNDECIDED
    better, within = probabilities(finding.estimate, finding.error, finding.freedom, question)
    under_way = not finished and last_look.verdict is None
    failed = tuple(check.finding for check in checks if not check.passed)
    tags = tags_of(
        verdict,
        finding.interval,
        question,
        suspect=bool(failed) and not under_way,
        stalls=stalls_of(finding, question) is not None,
        capped=bool(hidden_capacity(series)),
    )
    need = DecidingPairs("")
    if finding.verdict is Verdict.UNDECIDED:
        units = finding.looks[-1].units
        need = pairs_needed(finding.estimate, finding.scale, question, units, timeline.pair_s(series))
    whole = overall_effect(
        finding,
        question,
        series,
        last_look,
        checks,
        method=method_of(question),
        tags=tags,
        reasons=(
            *reasons_of(finding, question, series, need.text, under_way=under_way),
            *([covered] if not under_way and (covered := covered_text(series, timeline)) else []),
            *failed,
        ),
        need=need,
        probabilities=(better, within),
    )
    whole = replace(whole, pair_changes=_pair_changes(series.pairs))
    loads = sorted({pair.load for pair in series.pairs})
    return [whole, *(_at(whole, series, load, level) for load, level in zip(loads, finding.levels, strict=False))]


def overall_effect(
    finding: Estimated,
    question: Question,
    series: PairSeries,
    look: Look,
    checks: tuple[Check, ...],
    *,
    method: str,
    tags: tuple[Tag, ...],
    reasons: tuple[str, ...],
    need: DecidingPairs,
    probabilities: tuple[float, float],
) -> Effect:
    """The effect over all load levels; `probabilities` are those of being better and of being within the margin."""
    better, within = probabilities
    return Effect(
        factor=series.factor,
        baseline=series.baseline,
        arm=series.arm,
        workload=series.workload,
        response=series.response,
        load=None,
        estimate=finding.estimate,
        low=finding.interval.low,
        high=finding.interval.high,
        confidence=1 - question.alpha / question.claims,
        pairs=look.pairs,
        margin=question.margin,
        method=method,
        look=look.number,
        verdict=finding.verdict or Verdict.UNDECIDED,
        tags=tags,
        reasons=reasons,
        would_decide=need.text,
        decide_s=need.seconds,
        trials=_trials(series.pairs),
        checks=checks,
        better_probability=better,
        within_probability=within,
        alpha_spent=look.alpha_spent,
        equivalence=EquivalenceInterval(
            low=finding.inner.low, high=finding.inner.high, confidence=1 - 2 * question.alpha
        ),
    )


def _at(whole: Effect, series: PairSeries, load: LoadLevel, finding: LevelFinding) -> Effect:
    """The effect at one load level, which has no verdict."""
    pairs = [pair for pair in series.pairs if pair.load == load]
    return replace(
        whole,
        load=load,
        estimate=finding.shrunk,
        low=finding.interval.low,
        high=finding.interval.high,
        pairs=len(pairs),
        verdict=None,
        tags=(),
        reasons=(),
        would_decide="",
        decide_s=None,
        checks=(),
        better_probability=None,
        within_probability=None,
        alpha_spent=None,
        equivalence=None,
        trials=_trials(pairs),
        pair_changes=(),
    )


def _trials(pairs: Sequence[Pair]) -> tuple[int, ...]:
    return tuple(sorted(order for pair in pairs for order in pair.trials))


def _pair_changes(pairs: Sequence[Pair]) -> tuple[PairChange, ...]:
    """The change in each pair; none where a side measured nothing."""
    return tuple(
        PairChange(pair.block, pair.load, math.log(pair.compared / pair.baseline), pair.trials)
        for pair in pairs
        if pair.baseline > 0 and pair.compared > 0
    )
