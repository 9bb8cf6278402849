"""What can be said of runs that others made: the same figures as of an experiment, and what they do not show.

In: the trials of a set with what they measured. Out: a Judgement. Nobody paired these runs, and most were made once:
then nothing is better or worse, whatever the figures say. With repetitions the means of logarithms are compared
(Welch); with interval lines alone, how well each run's mean is known counts, and what single runs are taken to differ.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from paribus.analysis.diagnostics.bottlenecks import bounds
from paribus.analysis.diagnostics.scaling import described
from paribus.analysis.imported.caveats import checks_of, reasons_of
from paribus.analysis.imported.imported_matrix import imported_matrices
from paribus.analysis.imported.matched_runs import Comparison, Met, comparisons, estimate, higher_is_better, views
from paribus.analysis.paired.effects import Summaries, cells, counting
from paribus.analysis.paired.judge import Judgement
from paribus.findings import Constancy, Scaling
from paribus.model import Effect, Factor, Measurement, Protocol, Tag, Trial, TrialState, Verdict, Workload
from paribus.stats.unpaired import pooled, spread, unlike
from paribus.units import LoadUnit

Courses = Mapping[str, Mapping[int, Measurement]]
Options = Mapping[int, Mapping[str, str]]

_FEWEST_PLACES = 3  # with interval lines of single runs: one pair of them never decides
_EQUIVALENCE = 0.90  # two one-sided tests of 5 %
_UNLIKE = 0.05


def judge_set(
    trials: Sequence[Trial],
    summaries: Summaries,
    workloads: Sequence[Workload],
    protocol: Protocol,
    factors: Sequence[Factor],
    *,
    courses: Courses,
    options: Options,
) -> Judgement:
    """Judge every arm of a set; `options` are what the tool was asked in each trial."""
    seen = views(trials, factors)
    means = cells(seen, summaries, protocol.confidence)
    found: list[Comparison] = []
    unjudged: list[str] = []
    for factor in factors:
        for workload in workloads:
            for response in workload.responses:
                mine = [t for t in seen if (t.factor, t.workload) == (factor.key, workload.name)]
                made, lacking = comparisons(mine, factor, workload.name, response, summaries, courses.get(response, {}))
                found += made
                unjudged += lacking
    claims = max(1, sum(_may_decide(one) for one in found))
    firsts = {(workload.name, workload.response) for workload in workloads}
    effects = [
        effect
        for one in found
        for effect in _effects(one, protocol, claims, options, first=(one.workload, one.response) in firsts)
    ]
    return Judgement(
        effects=tuple(effects),
        cells=tuple(means),
        unjudged=tuple(unjudged),
        matrices=imported_matrices(trials, summaries, options, factors, protocol.confidence),
        drifts=(),
        contrasts=(),
        scalings=tuple(_scalings(seen, summaries, protocol)),
        bounds=bounds(means, seen),
        constancy=Constancy({}, {}, ()),
        breaches=(),
    )


def _may_decide(one: Comparison) -> bool:
    return one.known == "repetitions" or (one.known == "lines" and len(one.met) >= _FEWEST_PLACES)


def _interval(one: Comparison, confidence: float) -> tuple[float, float]:
    """The interval of the whole; of interval lines as wide as the spread over load levels too."""
    low, high = estimate(one).interval(confidence)
    if one.known != "lines" or len(one.met) < 2:
        return low, high
    others = spread([met.place for met in one.met]).interval(confidence)
    return min(low, others[0]), max(high, others[1])


def _decided(low: float, high: float, response: str) -> Verdict | None:
    if low <= 0 <= high:
        return None
    return Verdict.BETTER if (low > 0) == higher_is_better(response) else Verdict.WORSE


def _verdict(one: Comparison, margin: float, confidence: float) -> Verdict:
    """As STATS has it: equivalent where both tests hold, better or worse where the interval excludes nothing."""
    if not _may_decide(one):
        return Verdict.UNDECIDED
    places = [met.place for met in one.counted]
    alike = unlike(places) >= _UNLIKE
    low, high = _interval(one, _EQUIVALENCE)
    if alike and -margin < low and high < margin:
        return Verdict.EQUIVALENT
    if not alike and _torn(one, margin, confidence):
        return Verdict.DEPENDS_ON_LOAD
    return _decided(*_interval(one, confidence), one.response) or Verdict.UNDECIDED


def _torn(one: Comparison, margin: float, confidence: float) -> bool:
    """Whether one load level is better or worse, and another is decided otherwise."""
    each = 1 - (1 - confidence) / len(one.counted)
    verdicts: set[Verdict] = set()
    for met in one.counted:
        alone = pooled([met.place])
        low, high = alone.interval(_EQUIVALENCE)
        if -margin < low and high < margin:
            verdicts.add(Verdict.EQUIVALENT)
        elif decided := _decided(*alone.interval(each), one.response):
            verdicts.add(decided)
    return len(verdicts) > 1


def _effects(one: Comparison, protocol: Protocol, claims: int, options: Options, *, first: bool) -> list[Effect]:
    """The effect over all load levels, then the one at each; of a response that is not its workload's `first`, figures.

    Only what repetitions may decide gives those a verdict too.
    """
    margin = protocol.margins.get(one.response, math.log1p(0.02))
    confidence = 1 - (1 - protocol.confidence) / claims if _may_decide(one) else protocol.confidence
    verdict = _verdict(one, margin, confidence) if first or _may_decide(one) else None
    low, high = _interval(one, confidence)
    checks, tags = checks_of(one, options), _tags(verdict, low, high, margin)
    whole = Effect(
        factor=one.factor,
        baseline=one.baseline,
        arm=one.arm,
        workload=one.workload,
        response=one.response,
        load=None,
        estimate=estimate(one).estimate,
        low=low,
        high=high,
        confidence=confidence,
        pairs=sum(min(map(len, met.trials)) for met in one.counted),
        margin=margin,
        method={
            "repetitions": "Welch over repetitions",
            "lines": "interval lines",
            "nothing": "spread over load levels",
        }[one.known],
        look=0,
        verdict=verdict,
        tags=tags,
        reasons=(*reasons_of(one), *(check.finding for check in checks if tags and not check.passed)),
        trials=_orders(one.counted),
        checks=checks,
    )
    levels = []
    for load in dict.fromkeys(met.load for met in one.met):
        mine = [met for met in one.met if met.load == load]
        at = replace(one, met=tuple(mine))
        bounds_of = _interval(at, protocol.confidence)
        levels.append(
            replace(
                whole,
                load=load,
                estimate=estimate(at).estimate,
                low=bounds_of[0],
                high=bounds_of[1],
                confidence=protocol.confidence,
                pairs=sum(min(map(len, met.trials)) for met in mine),
                verdict=None,
                tags=(),
                reasons=(),
                checks=(),
                trials=_orders(mine),
            )
        )
    return [whole, *levels]


def _tags(verdict: Verdict | None, low: float, high: float, margin: float) -> tuple[Tag, ...]:
    """What is decided at all is suspect: nobody interleaved these runs."""
    if verdict in (None, Verdict.UNDECIDED):
        return ()
    material = verdict in (Verdict.BETTER, Verdict.WORSE) and (low > margin or high < -margin)
    negligible = verdict is Verdict.EQUIVALENT and not low <= 0 <= high
    return (*([Tag.MATERIAL] if material else []), *([Tag.NEGLIGIBLE] if negligible else []), Tag.SUSPECT)


def _orders(met: Sequence[Met]) -> tuple[int, ...]:
    return tuple(sorted({order for one in met for side in one.trials for order in side}))


def _scalings(trials: Sequence[Trial], summaries: Summaries, protocol: Protocol) -> list[Scaling]:
    """How the throughput of each arm follows its load levels, where every one is stated."""
    arms: dict[tuple[str, str, str], list[Trial]] = defaultdict(list)
    for trial in counting(trials):
        known = trial.load.unit is LoadUnit.OUTSTANDING and trial.load.n > 0
        if trial.state is TrialState.DONE and known and "throughput_per_s" in summaries.get(trial.order, {}):
            arms[trial.factor, trial.workload, trial.arm].append(trial)
    found = []
    for (factor, workload, arm), mine in arms.items():
        rounds: dict[int, dict[int, float]] = defaultdict(dict)
        nth: dict[int, int] = defaultdict(int)
        for trial in mine:
            nth[trial.load.n] += 1
            rounds[nth[trial.load.n]][trial.load.n] = summaries[trial.order]["throughput_per_s"].mean
        whole = [one for one in rounds.values() if len(one) == len(nth)]
        if len(nth) >= _FEWEST_PLACES and all(rate > 0 for one in whole for rate in one.values()):
            margin = protocol.margins.get("throughput_per_s", math.log1p(0.02))
            orders = [trial.order for trial in mine]
            made = described(factor, workload, arm, whole, orders, margin, protocol.confidence)
            found += [made] if made else []
    return found
