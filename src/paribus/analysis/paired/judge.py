"""From pairs to verdicts: better, worse, equivalent, depends on load or undecided, with interval, margin and reasons.

In: trials with what they measured, and the looks taken so far. Out: a Judgement. How a look decides stands in
`decision`; the same trials and looks give the same judgement whenever it is asked for.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from paribus.analysis.diagnostics.bottlenecks import bounds
from paribus.analysis.diagnostics.counter_contrast import contrast
from paribus.analysis.diagnostics.drift import drifts
from paribus.analysis.diagnostics.io_matrix import matrices
from paribus.analysis.diagnostics.noise import unlike_itself
from paribus.analysis.diagnostics.overload import overloads
from paribus.analysis.diagnostics.plausibility import Lawful
from paribus.analysis.diagnostics.saturation import saturation
from paribus.analysis.diagnostics.scaling import scalings
from paribus.analysis.diagnostics.uncontrolled import constancy
from paribus.analysis.paired.checks import Circumstances, Courses, Timeline, checks_of
from paribus.analysis.paired.decision import Finding, LevelFinding, Question, look, next_look, probabilities, refuse
from paribus.analysis.paired.effects import Pair, Series, Summaries, cells
from paribus.analysis.paired.questions import arrays, looked, looks_at, place_of, questions
from paribus.analysis.paired.reasons import method_of, reasons_of, tags_of
from paribus.analysis.screening import screen
from paribus.findings import Bounded, Breach, Constancy, Contrast, Drift, Matrix, Scaling
from paribus.i18n import N_, gettext
from paribus.model import (
    Cell,
    Check,
    Effect,
    Factor,
    Look,
    Protocol,
    Purpose,
    Settings,
    Trial,
    Verdict,
    Workload,
)
from paribus.stats.pairs import CannotJudge
from paribus.units import LoadLevel


@dataclass(frozen=True, slots=True)
class Judgement:
    """What an experiment showed: effects with verdicts, cell means, matrices, how the machine drifted, which counters
    moved, how arms scale and what bounds them, what of the machine did not stay, which trials break a law; in words,
    what could not be judged, and why by factor, arm and workload."""

    effects: tuple[Effect, ...]
    cells: tuple[Cell, ...]
    unjudged: tuple[str, ...]
    matrices: tuple[Matrix, ...]
    drifts: tuple[Drift, ...]
    contrasts: tuple[Contrast, ...]
    scalings: tuple[Scaling, ...]
    bounds: tuple[Bounded, ...]
    constancy: Constancy
    breaches: tuple[Breach, ...]
    refused: Mapping[tuple[str, str, str], str] = field(default_factory=dict)


def judge(
    trials: Sequence[Trial],
    summaries: Summaries,
    workloads: Sequence[Workload],
    protocol: Protocol,
    looks: Sequence[Look],
    *,
    baseline: Settings,
    finished: bool,
    factors: Sequence[Factor] = (),
    courses: Mapping[str, Courses] = {},
    drives: Mapping[str, Sequence[int]] = {},
    conditions: Mapping[int, Mapping[str, str]] = {},
) -> Judgement:
    """Judge every compared arm by its last look; read the matrices at `baseline`.

    `factors` are those of the plan, `courses`, of some responses, the course within each trial, `drives` the drives'
    counters of errors, each time they were read, and `conditions` what each trial found of the machine. An arm whose
    last look did not decide it is undecided, and before the experiment is `finished` still under way.
    """
    means = cells(trials, summaries, protocol.confidence, factors)
    overloaded = overloads(means)
    taken = looks_at(looks)
    responses = {workload.name: workload.response for workload in workloads}
    effects: list[Effect] = []
    screened: list[Effect] = []
    unjudged: list[str] = []
    refused: dict[tuple[str, str, str], str] = {}
    contrasts: list[Contrast] = []
    described: dict[tuple[str, str, str], Scaling] = {}
    before, meanwhile = (
        {workload.name: unlike_itself(trials, summaries, workload, purpose) for workload in workloads}
        for purpose in (Purpose.NOISE_FLOOR, Purpose.PLACEBO)
    )
    timeline, lawful = Timeline.of(trials), Lawful.of(trials, summaries)
    for one, question in questions(trials, summaries, workloads, protocol, factors):
        mine = screen.of(one, trials, factors) if one.purpose is Purpose.SCREEN else None
        known = Circumstances(
            timeline=timeline,
            summaries=summaries,
            courses=courses.get(one.response, {}),
            noise=before[one.workload],
            placebo=meanwhile[one.workload],
            drives=drives,
            conditions=conditions,
            lawful=lawful,
        )
        try:
            if mine:
                screened += screen.effects(mine, question, looks, known, finished=finished)
                continue
            last = taken[place_of(one), one.purpose]
            found, seen = _look_again(one, question, last, finished=finished)
            checks = checks_of(found, question, seen, arrays(seen), known)
            whole, *levels = _effects_of(found, question, seen, last[-1], checks, timeline, finished=finished)
        except CannotJudge as why:
            refused.setdefault((one.factor, one.arm, one.workload), gettext(str(why)))
            what = f"{one.factor} = {one.arm}"
            if mine is not None:
                what = gettext("the screen of {n} factors", n=len(mine.factors))
            said = N_("{what} under {workload} was not judged: {why} ({n} of {planned} planned pairs are valid)")
            unjudged.append(
                gettext(said, what=what, workload=one.workload, why=gettext(str(why)), n=one.units, planned=one.planned)
            )
            continue
        arms = (one.baseline, one.arm)
        behind = [said for arm in arms for said in overloaded.get((one.factor, one.workload, arm), ())]
        beside = saturation(seen, 1 - question.alpha / question.claims)
        if one.response == responses[one.workload]:
            told = contrast(seen, summaries, protocol.confidence)
            contrasts += [told] if told else []
        for each in scalings(seen, question.margin, protocol.confidence, described):
            described.setdefault((each.factor, each.workload, each.arm), each)
        effects += [replace(whole, reasons=(*whole.reasons, *beside, *behind)), *levels]
    return Judgement(
        effects=tuple(screen.with_confirmation(screened, effects)),
        cells=tuple(means),
        unjudged=tuple(unjudged),
        matrices=matrices(trials, summaries, workloads, baseline, protocol.confidence),
        drifts=drifts(trials, summaries, workloads),
        contrasts=tuple(contrasts),
        scalings=tuple(described.values()),
        bounds=bounds(means, trials),
        constancy=constancy(trials, conditions),
        breaches=tuple(breach for found in lawful.breaches.values() for breach in found),
        refused=refused,
    )


def take_looks(
    trials: Sequence[Trial],
    summaries: Summaries,
    workloads: Sequence[Workload],
    protocol: Protocol,
    looks: Sequence[Look],
    due: Collection[tuple[str, str]],
    *,
    factors: Sequence[Factor] = (),
    over: bool = False,
) -> list[Look]:
    """A look at every comparison in `due` (factor and workload) that is not decided yet and has pairs not looked at.

    `over`: no more will be made. What allows no conclusion gets no look; the report says why.
    """
    taken = looks_at(looks)
    found: list[Look] = []
    for one, question in questions(trials, summaries, workloads, protocol, factors):
        if (one.factor, one.workload) not in due:
            continue
        before = taken[place_of(one), one.purpose]
        try:
            if one.purpose is Purpose.SCREEN:
                found += screen.take_looks(screen.of(one, trials, factors), question, looks, over=over)
                continue
            if before and (before[-1].verdict is not None or before[-1].pairs >= one.units):
                continue
            seen = next_look(arrays(one), question, looked(before, question), over=over)
        except CannotJudge:
            continue
        found.append(
            Look(
                factor=one.factor,
                arm=one.arm,
                workload=one.workload,
                response=one.response,
                number=len(before) + 1,
                pairs=one.units,
                alpha_spent=seen.looks[-1].spent,
                low=seen.interval.low,
                high=seen.interval.high,
                estimate=seen.estimate,
                verdict=seen.verdict,
                purpose=one.purpose,
            )
        )
    return found


def _look_again(one: Series, question: Question, looks: Sequence[Look], *, finished: bool) -> tuple[Finding, Series]:
    """What the last look saw, and the comparison as it was then."""
    if not looks:
        refuse(arrays(one), question)
        raise CannotJudge(N_("it was not looked at"))
    if one.units < looks[-1].pairs:
        raise CannotJudge(N_("pairs that were looked at are not valid any more"))
    seen = one.first(looks[-1].pairs)
    over = finished or looks[-1].verdict is not None
    return look(arrays(seen), question, looked(looks, question), over=over), seen


def _effects_of(
    found: Finding,
    question: Question,
    one: Series,
    last: Look,
    checks: tuple[Check, ...],
    timeline: Timeline,
    *,
    finished: bool,
) -> list[Effect]:
    """The effect over all load levels with its verdict, then the one at each level."""
    verdict = found.verdict or Verdict.UNDECIDED
    better, within = probabilities(found.estimate, found.fitted.error, found.fitted.freedom, question)
    under_way = not finished and last.verdict is None
    failed = tuple(check.finding for check in checks if not check.passed)
    tags = tags_of(verdict, found.interval, question, suspect=bool(failed) and not under_way)
    pair_s = timeline.pair_s(one)
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
        method=method_of(question),
        look=last.number,
        verdict=verdict,
        tags=tags,
        reasons=(*reasons_of(found, question, one, pair_s, under_way=under_way), *failed),
        trials=_trials(one.pairs),
        checks=checks,
        better_probability=better,
        within_probability=within,
        alpha_spent=last.alpha_spent,
    )
    loads = sorted({pair.load for pair in one.pairs})
    return [whole, *(_at(whole, one, load, level) for load, level in zip(loads, found.levels, strict=False))]


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
        alpha_spent=None,
        trials=_trials(pairs),
    )


def _trials(pairs: Sequence[Pair]) -> tuple[int, ...]:
    return tuple(sorted(order for pair in pairs for order in pair.trials))
