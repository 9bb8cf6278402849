"""From pairs to verdicts: better, worse, equivalent or undecided, each with interval, margin and reasons."""

import contextlib
import dataclasses
import hashlib
import json
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ceteris.analysis.effects import Pair, Series, Summaries, cells, series
from ceteris.analysis.matrix import matrices
from ceteris.analysis.overload import overloads
from ceteris.findings import Matrix
from ceteris.model import (
    RESPONSES,
    Calibration,
    Cell,
    Effect,
    Look,
    Protocol,
    Response,
    Settings,
    Tag,
    Trial,
    Verdict,
    Workload,
)
from ceteris.stats.pairs import LEAST_PAIRS, CannotJudge, Fit, differ_between, fit, interval, log_ratios, unequal_faults
from ceteris.units import LoadLevel, show_percent

METHOD = "fixed: log ratios of pairs, least squares with order, t interval"
_NOISE_KEEPS_S = 7 * 86400.0


@dataclass(frozen=True, slots=True)
class Judgement:
    """What an experiment showed: effects with verdicts, cell means, matrices; in words, what could not be judged."""

    effects: tuple[Effect, ...]
    cells: tuple[Cell, ...]
    unjudged: tuple[str, ...]
    matrices: tuple[Matrix, ...]


def judge(
    trials: Sequence[Trial],
    summaries: Summaries,
    workloads: Sequence[Workload],
    protocol: Protocol,
    *,
    baseline: Settings,
    finished: bool,
) -> Judgement:
    """Judge every compared arm against its baseline by its workload's response; read the matrices at `baseline`.

    Before the experiment is `finished` nothing is decided: who looks until it suits decides by chance.
    """
    responses = {workload.name: workload.response for workload in workloads}
    means = cells(trials, summaries, protocol.confidence)
    overloaded = overloads(means)
    effects: list[Effect] = []
    unjudged: list[str] = []
    for one in series(trials, summaries, responses):
        response = RESPONSES[responses[one.workload]]
        try:
            whole, *levels = _effects_of(one, response, protocol, finished=finished)
            arms = (one.baseline, one.arm)
            behind = [said for arm in arms for said in overloaded.get((one.factor, one.workload, arm), ())]
            effects += [dataclasses.replace(whole, reasons=(*whole.reasons, *behind)), *levels]
        except CannotJudge as why:
            what = f"{one.factor} = {one.arm} under {one.workload}"
            unjudged.append(f"{what} was not judged: {why} ({len(one.pairs)} of {one.planned} planned pairs are valid)")
    read = matrices(trials, summaries, workloads, baseline, protocol.confidence)
    return Judgement(tuple(effects), tuple(means), tuple(unjudged), read)


def _differences(pairs: Sequence[Pair]) -> list[float]:
    return log_ratios([pair.compared for pair in pairs], [pair.baseline for pair in pairs])


def _effects_of(one: Series, response: Response, protocol: Protocol, *, finished: bool) -> list[Effect]:
    """The effect over all load levels with its verdict, then the one at each level."""
    if len(one.pairs) < LEAST_PAIRS:
        raise CannotJudge(f"{LEAST_PAIRS} valid pairs are needed")
    by_load: dict[LoadLevel, list[Pair]] = defaultdict(list)
    for pair in one.pairs:
        by_load[pair.load].append(pair)
    pooled = fit(_differences(one.pairs), [pair.later for pair in one.pairs])
    level_confidence = 1 - (1 - protocol.confidence) / len(by_load)
    levels = []
    for load, pairs in sorted(by_load.items()):
        with contextlib.suppress(CannotJudge):  # a level that lost its blocks says nothing by itself
            fitted = fit(_differences(pairs), [pair.later for pair in pairs])
            levels.append(_effect(one, response, protocol, load, fitted, level_confidence, pairs))
    p_loads = differ_between(_differences(pairs) for pairs in by_load.values())
    whole = _effect(one, response, protocol, None, pooled, protocol.confidence, one.pairs)
    verdict, tags, reasons = _decide(whole, pooled, response, p_loads, levels)
    if unequal_faults(*one.faults):
        tags = tuple(dict.fromkeys((*tags, Tag.SUSPECT)))
        reasons += (f"{one.faults[1]} trials of {one.arm} could not be used, and {one.faults[0]} of {one.baseline}",)
    if not finished:
        verdict, tags = Verdict.UNDECIDED, ()
        reasons = (f"{len(one.pairs)} of {one.planned} planned pairs so far: judged when all are made",)
    return [_with_verdict(whole, verdict, tags, reasons), *(levels if len(levels) > 1 else [])]


def _effect(
    one: Series,
    response: Response,
    protocol: Protocol,
    load: LoadLevel | None,
    fitted: Fit,
    confidence: float,
    pairs: Sequence[Pair],
) -> Effect:
    low, high = interval(fitted, confidence)
    return Effect(
        factor=one.factor,
        baseline=one.baseline,
        arm=one.arm,
        workload=one.workload,
        response=response.name,
        load=load,
        estimate=fitted.estimate,
        low=low,
        high=high,
        confidence=confidence,
        pairs=fitted.pairs,
        margin=protocol.margins[response.name],
        method=METHOD,
        look=1,
        verdict=None,
        tags=(),
        reasons=(),
        trials=tuple(sorted(order for pair in pairs for order in pair.trials)),
    )


def _decide(
    effect: Effect, fitted: Fit, response: Response, p_loads: float, levels: Sequence[Effect]
) -> tuple[Verdict, tuple[Tag, ...], tuple[str, ...]]:
    """The verdict in the order of the procedure: equivalent, then better or worse, then undecided."""
    tags: list[Tag] = []
    reasons: list[str] = []
    alpha = 1 - effect.confidence
    inner_low, inner_high = interval(fitted, 1 - 2 * alpha)
    margin = effect.margin
    differs = effect.low > 0 or effect.high < 0
    within = -margin < inner_low and inner_high < margin
    if within and p_loads >= alpha:
        verdict = Verdict.EQUIVALENT
        reasons.append(f"the {1 - 2 * alpha:.0%} interval lies within ±{math.expm1(margin):.1%}")
        if differs:
            tags.append(Tag.NEGLIGIBLE)
            reasons.append("the effect can be detected, and is too small to matter")
    elif differs:
        verdict = Verdict.BETTER if (effect.estimate > 0) == response.higher_is_better else Verdict.WORSE
        beyond = effect.low > margin or effect.high < -margin
        where = "lies beyond the margin" if beyond else "excludes zero"
        reasons.append(f"the {effect.confidence:.0%} interval {where}")
        if beyond:
            tags.append(Tag.MATERIAL)
    else:
        verdict = Verdict.UNDECIDED
        more = "" if within else ", and an effect beyond the margin is not excluded"
        reasons.append(f"the interval holds zero{more}")
    if p_loads < alpha:
        apart = "; ".join(f"{show_percent(level.estimate)} at {level.load}" for level in levels)
        reasons.append(f"the effect is not one for all load levels: {apart}")
    if abs(fitted.order_effect) > margin / 2:
        tags.append(Tag.SUSPECT)
        reasons.append(f"whoever runs later gains {show_percent(fitted.order_effect)}: settle longer")
    return verdict, tuple(tags), tuple(reasons)


def _with_verdict(effect: Effect, verdict: Verdict, tags: tuple[Tag, ...], reasons: tuple[str, ...]) -> Effect:
    return dataclasses.replace(effect, verdict=verdict, tags=tags, reasons=reasons)


def looks(effects: Sequence[Effect]) -> list[Look]:
    """The one look of a fixed design at each compared arm."""
    return [
        Look(
            factor=effect.factor,
            arm=effect.arm,
            workload=effect.workload,
            response=effect.response,
            number=effect.look,
            pairs=effect.pairs,
            alpha_spent=1 - effect.confidence,
            low=effect.low,
            high=effect.high,
            estimate=effect.estimate,
        )
        for effect in effects
        if effect.verdict is not None
    ]


def stack_of(workload: Workload, protocol: Protocol) -> str:
    """What a workload's noise belongs to: its kind, parameters, response and length of trial, as a digest."""
    parts = [workload.kind, dict(workload.parameters), workload.cache, workload.response, protocol.trial_s]
    if workload.precondition:
        parts.append(dataclasses.asdict(workload.precondition))
    if workload.open_loop:
        parts += [workload.open_loop.arrivals, workload.open_loop.outstanding]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]


def fingerprint_digest(fingerprint: Mapping[str, str]) -> str:
    """What a machine's noise belongs to: all that identifies machine, software and disk, as a digest."""
    return hashlib.sha256(json.dumps(dict(fingerprint), sort_keys=True).encode()).hexdigest()[:16]


def calibrations(
    trials: Sequence[Trial],
    summaries: Summaries,
    workloads: Sequence[Workload],
    protocol: Protocol,
    host: str,
    now: float,
) -> list[Calibration]:
    """The noise of a pair at each workload and load level, for planning the next experiment on this host."""
    responses = {workload.name: workload.response for workload in workloads}
    stacks = {workload.name: stack_of(workload, protocol) for workload in workloads}
    pooled: dict[tuple[str, LoadLevel], list[tuple[float, int]]] = defaultdict(list)
    for one in series(trials, summaries, responses):
        by_load: dict[LoadLevel, list[Pair]] = defaultdict(list)
        for pair in one.pairs:
            by_load[pair.load].append(pair)
        for load, pairs in by_load.items():
            try:
                fitted = fit(_differences(pairs), [pair.later for pair in pairs])
            except CannotJudge:
                continue
            pooled[one.workload, load].append((fitted.residual_sd, fitted.freedom))
    return [
        Calibration(
            host=host,
            workload=stacks[workload],
            load=load,
            settle_s=protocol.settle_s,
            pair_sd=math.sqrt(sum(sd * sd * n for sd, n in fits) / sum(n for _, n in fits)),
            made=now,
            expires=now + _NOISE_KEEPS_S,
        )
        for (workload, load), fits in pooled.items()
    ]
