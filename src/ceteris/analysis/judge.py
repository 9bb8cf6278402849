"""From pairs to verdicts: better, worse, equivalent, depends on load or undecided, with interval, margin and reasons.

In: trials with what they measured, and the looks taken so far. Out: a Judgement. How a look decides stands in
`decision`; the same trials and looks give the same judgement whenever it is asked for.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ceteris.analysis.checks import Courses, Timeline, checks_of
from ceteris.analysis.decision import (
    LEAST_UNITS,
    Finding,
    LevelFinding,
    Pairs,
    Question,
    look,
    next_look,
    probabilities,
)
from ceteris.analysis.effects import Pair, Series, Summaries, cells, series
from ceteris.analysis.matrix import matrices
from ceteris.analysis.noise import unlike_itself
from ceteris.analysis.overload import overloads
from ceteris.analysis.reasons import METHODS, reasons_of
from ceteris.analysis.spending import Looked
from ceteris.findings import Matrix
from ceteris.model import RESPONSES, Cell, Check, Effect, Look, Protocol, Settings, Tag, Trial, Verdict, Workload
from ceteris.stats.pairs import CannotJudge, log_ratios
from ceteris.units import LoadLevel

Place = tuple[str, str, str, str]
_COUNTED = ("throughput_per_s", "bytes_per_s")  # responses that are counts over a time
_HISTOGRAM_STEP = 0.001  # of response times: the engine keeps three digits


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
    looks: Sequence[Look],
    *,
    baseline: Settings,
    finished: bool,
    courses: Mapping[str, Courses] = {},
) -> Judgement:
    """Judge every compared arm by its last look; read the matrices at `baseline`.

    `courses`: of some responses, the course within each trial. An arm whose last look did not decide it is undecided,
    and before the experiment is `finished` still under way.
    """
    means = cells(trials, summaries, protocol.confidence)
    overloaded = overloads(means)
    taken = _by_place(looks)
    effects: list[Effect] = []
    unjudged: list[str] = []
    noise = {workload.name: unlike_itself(trials, summaries, workload) for workload in workloads}
    timeline = Timeline.of(trials)
    for one, question in questions(trials, summaries, workloads, protocol):
        try:
            found, looked = _look_again(one, question, taken[place_of(one)], finished=finished)
            seen = arrays(looked)
            course = courses.get(one.response, {})
            checks = checks_of(found, question, looked, seen, timeline, course, noise[one.workload])
            whole, *levels = _effects_of(found, question, looked, taken[place_of(one)][-1], checks, finished=finished)
        except CannotJudge as why:
            what = f"{one.factor} = {one.arm} under {one.workload}"
            unjudged.append(f"{what} was not judged: {why} ({len(one.pairs)} of {one.planned} planned pairs are valid)")
            continue
        arms = (one.baseline, one.arm)
        behind = [said for arm in arms for said in overloaded.get((one.factor, one.workload, arm), ())]
        effects += [replace(whole, reasons=(*whole.reasons, *behind)), *levels]
    read = matrices(trials, summaries, workloads, baseline, protocol.confidence)
    return Judgement(tuple(effects), tuple(means), tuple(unjudged), read)


def take_looks(
    trials: Sequence[Trial],
    summaries: Summaries,
    workloads: Sequence[Workload],
    protocol: Protocol,
    looks: Sequence[Look],
    due: Collection[tuple[str, str]],
    *,
    over: bool = False,
) -> list[Look]:
    """A look at every comparison in `due` (factor and workload) that is not decided yet and has pairs not looked at.

    `over`: no more will be made. What allows no conclusion gets no look; the report says why.
    """
    taken = _by_place(looks)
    found = []
    for one, question in questions(trials, summaries, workloads, protocol):
        before = taken[place_of(one)]
        settled = before and (before[-1].verdict is not None or before[-1].pairs == len(one.pairs))
        if settled or (one.factor, one.workload) not in due:
            continue
        try:
            seen = next_look(arrays(one), question, _looked(before, question), over=over)
        except CannotJudge:
            continue
        found.append(
            Look(
                factor=one.factor,
                arm=one.arm,
                workload=one.workload,
                response=one.response,
                number=len(before) + 1,
                pairs=len(one.pairs),
                alpha_spent=seen.looks[-1].spent,
                low=seen.interval.low,
                high=seen.interval.high,
                estimate=seen.estimate,
                verdict=seen.verdict,
            )
        )
    return found


def questions(
    trials: Sequence[Trial], summaries: Summaries, workloads: Sequence[Workload], protocol: Protocol
) -> list[tuple[Series, Question]]:
    """Every comparison and what is asked of it; all claims of an experiment share one error."""
    listed = [
        one
        for workload in workloads
        for response in workload.responses
        for one in series(trials, summaries, {workload.name: response})
    ]
    return [
        (
            one,
            Question(
                margin=protocol.margins[one.response],
                planned=one.planned,
                alpha=1 - protocol.confidence,
                claims=len(listed),
                method=protocol.method,
                higher_is_better=RESPONSES[one.response].higher_is_better,
            ),
        )
        for one in listed
    ]


def arrays(one: Series) -> Pairs:
    """The pairs of a comparison in the order in which they were made. Raises CannotJudge for what is no number."""
    loads = {load: number for number, load in enumerate(sorted({pair.load for pair in one.pairs}))}
    counts = [pair.count for pair in one.pairs]
    count = min(counts, default=0)
    by_count = one.response in _COUNTED
    return Pairs(
        difference=np.array(log_ratios([p.compared for p in one.pairs], [p.baseline for p in one.pairs])),
        order=np.array([float(pair.later) for pair in one.pairs]),
        level=np.array([loads[pair.load] for pair in one.pairs], dtype=np.intp),
        resolution=(1 / count if count else 0.0) if by_count else _HISTOGRAM_STEP,
        count=count,
    )


def place_of(one: Series) -> Place:
    """What tells a comparison from others."""
    return one.factor, one.arm, one.workload, one.response


def _by_place(looks: Sequence[Look]) -> Mapping[Place, list[Look]]:
    found: dict[Place, list[Look]] = defaultdict(list)
    for taken in sorted(looks, key=lambda look: look.number):
        found[taken.factor, taken.arm, taken.workload, taken.response].append(taken)
    return found


def _looked(looks: Sequence[Look], question: Question) -> list[Looked]:
    """The looks that count for the error spent: where each is a look by itself, the last one."""
    counting = looks if question.method == "adaptive" else looks[-1:]
    return [Looked(taken.pairs, taken.alpha_spent) for taken in counting]


def _look_again(one: Series, question: Question, looks: Sequence[Look], *, finished: bool) -> tuple[Finding, Series]:
    """What the last look saw, and the comparison as it was then."""
    if not looks:
        arrays(one)  # raises where values are no numbers
        raise CannotJudge(f"{LEAST_UNITS[question.unit]} valid pairs are needed")
    looked = replace(one, pairs=one.pairs[: looks[-1].pairs])
    over = finished or looks[-1].verdict is not None
    return look(arrays(looked), question, _looked(looks, question), over=over), looked


def _effects_of(
    found: Finding, question: Question, one: Series, last: Look, checks: tuple[Check, ...], *, finished: bool
) -> list[Effect]:
    """The effect over all load levels with its verdict, then the one at each level."""
    verdict = found.verdict or Verdict.UNDECIDED
    better, within = probabilities(found, question)
    under_way = not finished and last.verdict is None
    failed = tuple(check.found for check in checks if not check.passed)
    tags = [
        *([Tag.MATERIAL] if _is_claim(verdict) and found.interval.beyond(question.margin) else []),
        *([Tag.NEGLIGIBLE] if verdict is Verdict.EQUIVALENT and not found.interval.holds(0.0) else []),
        *([Tag.SUSPECT] if failed and not under_way else []),
    ]
    whole = Effect(
        factor=one.factor,
        baseline=one.baseline,
        arm=one.arm,
        workload=one.workload,
        response=one.response,
        load=None,
        estimate=found.estimate,
        low=found.interval.low,
        high=found.interval.high,
        confidence=1 - question.alpha / question.claims,
        pairs=last.pairs,
        margin=question.margin,
        method=METHODS[question.method],
        look=last.number,
        verdict=verdict,
        tags=tuple(tags),
        reasons=(*reasons_of(found, question, one, under_way=under_way), *failed),
        trials=_trials(one.pairs),
        checks=checks,
        better_probability=better,
        within_probability=within,
    )
    loads = sorted({pair.load for pair in one.pairs})
    return [whole, *(_at(whole, one, load, level) for load, level in zip(loads, found.levels, strict=False))]


def _is_claim(verdict: Verdict) -> bool:
    return verdict in (Verdict.BETTER, Verdict.WORSE)


def _at(whole: Effect, one: Series, load: LoadLevel, found: LevelFinding) -> Effect:
    """The effect at one load level, which has no verdict of its own."""
    pairs = [pair for pair in one.pairs if pair.load == load]
    return replace(
        whole,
        load=load,
        estimate=found.shrunk,
        low=found.interval.low,
        high=found.interval.high,
        pairs=len(pairs),
        verdict=None,
        tags=(),
        reasons=(),
        checks=(),
        better_probability=None,
        within_probability=None,
        trials=_trials(pairs),
    )


def _trials(pairs: Sequence[Pair]) -> tuple[int, ...]:
    return tuple(sorted(order for pair in pairs for order in pair.trials))
