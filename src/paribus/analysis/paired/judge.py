"""Verdicts of an experiment, with their intervals, margins and reasons.

`decision` decides each look. The same trials and looks always give the same judgement.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from paribus.analysis.diagnostics.bottlenecks import bounds
from paribus.analysis.diagnostics.counter_contrast import contrast
from paribus.analysis.diagnostics.drift import drifts
from paribus.analysis.diagnostics.io_matrix import matrices
from paribus.analysis.diagnostics.noise import baseline_difference
from paribus.analysis.diagnostics.overload import overloads
from paribus.analysis.diagnostics.plausibility import PlausibilityResults
from paribus.analysis.diagnostics.saturation import saturation
from paribus.analysis.diagnostics.scaling import scalings
from paribus.analysis.diagnostics.uncontrolled import constancy
from paribus.analysis.layouts import layout_uses
from paribus.analysis.paired.cells import cells
from paribus.analysis.paired.checks.assumptions import checks_of
from paribus.analysis.paired.checks.check_context import CheckContext, Courses, Timeline
from paribus.analysis.paired.checks.settle_phase import settle_phase, settle_phase_check, settle_phase_reason
from paribus.analysis.paired.decision import look, refuse
from paribus.analysis.paired.effect_records import effects_of
from paribus.analysis.paired.effects import PairSeries, Summaries
from paribus.analysis.paired.finding import Finding, Question
from paribus.analysis.paired.questions import (
    ComparisonKey,
    arrays,
    comparison_key,
    looks_by_comparison,
    questions,
    spending_looks,
)
from paribus.analysis.paired.reach import reasons_of, unreached, unreached_effect
from paribus.analysis.paired.repetition import repetition_of, repetition_text
from paribus.analysis.paired.selection import selections
from paribus.analysis.screening import screen
from paribus.analysis.screening.screen_pairs import ScreenPairs, screen_pairs_of
from paribus.findings import Bounded, Breach, Constancy, Contrast, Drift, LayoutUse, Matrix, Scaling, Selection
from paribus.i18n import N_, gettext
from paribus.model import (
    ArmKey,
    Cell,
    Effect,
    Factor,
    Look,
    Protocol,
    Purpose,
    Repetition,
    Requirement,
    Settings,
    Trial,
    Verdict,
    Workload,
)
from paribus.stats.pairs import CannotJudge, NeedsOtherTrials


@dataclass(frozen=True, slots=True)
class Judgement:
    """The results of an experiment.

    `unjudged` explains the comparisons without a verdict; `refused` holds that reason by factor, arm and workload.
    `hopeless` are arms that no number of such trials would decide. `doubts` are figures of an imported set that
    contradict others.
    """

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
    selections: tuple[Selection, ...] = ()
    layouts: tuple[LayoutUse, ...] = ()
    refused: Mapping[tuple[str, str, str], str] = field(default_factory=dict)
    hopeless: frozenset[ArmKey] = frozenset()
    doubts: tuple[Breach, ...] = ()


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
    requirements: Sequence[Requirement] = (),
    settling: Mapping[int, float] = {},
) -> Judgement:
    """Judge every compared arm by its last look, and describe the machine.

    An arm that its last look did not decide is undecided; before the experiment has finished, it is still under way.

    Args:
        trials: All trials of an experiment.
        summaries: Measurements by trial and metric.
        workloads: Workloads of the plan.
        protocol: Margins, confidence and method.
        looks: The looks so far.
        baseline: Settings at which I/O matrices are read.
        finished: Whether no trials will follow.
        factors: Factors of the plan.
        courses: Time series within each trial, by response.
        drives: Error counters of the drives at each reading, by name.
        conditions: Machine conditions that each trial recorded.
        requirements: Mechanisms that the compared arms need in order to act.
        settling: Throughput while the load settles, by trial.
    """
    means = cells(trials, summaries, protocol.confidence, factors)
    overloaded = overloads(means)
    looks_of = looks_by_comparison(looks)
    experiment = (trials, workloads, summaries, conditions)
    responses = {workload.name: workload.response for workload in workloads}
    effects: list[Effect] = []
    screen_effects: list[Effect] = []
    unjudged: list[str] = []
    refused: dict[tuple[str, str, str], str] = {}
    hopeless: set[ArmKey] = set()
    contrasts: list[Contrast] = []
    scalings_by_arm: dict[tuple[str, str, str], Scaling] = {}
    noise_floor, placebo = (
        {
            (workload.name, response): baseline_difference(trials, summaries, workload.name, response, purpose)
            for workload in workloads
            for response in workload.responses
        }
        for purpose in (Purpose.NOISE_FLOOR, Purpose.PLACEBO)
    )
    absent, settings = unreached(trials, summaries, requirements), {trial.order: trial.settings for trial in trials}
    timeline, plausibility = Timeline.of(trials), PlausibilityResults.of(trials, summaries)
    for series, question in questions(trials, summaries, workloads, protocol, factors):
        screen_pairs = screen_pairs_of(series, trials, factors) if series.purpose is Purpose.SCREEN else None
        context = CheckContext(
            timeline=timeline,
            summaries=summaries,
            courses=courses.get(series.response, {}),
            noise=noise_floor.get((series.workload, series.response)),
            placebo=placebo.get((series.workload, series.response)),
            drives=drives,
            conditions=conditions,
            settings=settings,
            plausibility=plausibility,
            washed_out=protocol.washed_out,
            wash_out_s=protocol.wash_out_s,
            trial_s=protocol.trial_s,
        )
        try:
            if screen_pairs:
                screened = screen.effects(screen_pairs, question, looks, context, finished=finished)
                spanned = repetition_of(series, *experiment)
                screen_effects += [
                    _with_repetition(_unless_unreached(effect, absent, looks_of), spanned) for effect in screened
                ]
                continue
            last = looks_of[comparison_key(series), series.purpose]
            if last and last[-1].verdict is Verdict.NO_EFFECT_POSSIBLE:
                needs = absent.get((series.factor, series.workload, series.arm), ())
                seen_pairs = _seen(series, last[-1])
                effects.append(unreached_effect(seen_pairs, question.margin, last[-1], needs, trials, summaries))
                continue
            finding, series_at_look = _look_again(series, question, last, finished=finished)
            phase = settle_phase(series_at_look, question, settling)
            checks = (
                *checks_of(finding, question, series_at_look, arrays(series_at_look), context),
                *settle_phase_check(phase),
            )
            effect, *levels = effects_of(
                finding, question, series_at_look, last[-1], checks, timeline, finished=finished
            )
        except CannotJudge as error:
            refused.setdefault((series.factor, series.arm, series.workload), gettext(str(error)))
            if isinstance(error, NeedsOtherTrials):
                hopeless.add((series.factor, series.workload, series.arm))
            unjudged.append(_not_judged(series, screen_pairs, error))
            continue
        arms = (series.baseline, series.arm)
        overload_reasons = [
            message for arm in arms for message in overloaded.get((series.factor, series.workload, arm), ())
        ]
        saturation_reasons = saturation(series_at_look, 1 - question.alpha / question.claims)
        if series.response == responses[series.workload]:
            counters = contrast(series_at_look, summaries, protocol.confidence)
            contrasts += [counters] if counters else []
        for arm_scaling in scalings(series_at_look, question.margin, protocol.confidence, scalings_by_arm):
            scalings_by_arm.setdefault((arm_scaling.factor, arm_scaling.workload, arm_scaling.arm), arm_scaling)
        further = (*settle_phase_reason(phase), *saturation_reasons, *overload_reasons)
        effect = replace(effect, reasons=(*effect.reasons, *further))
        effects += [_with_repetition(effect, repetition_of(series_at_look, *experiment)), *levels]
    return Judgement(
        effects=tuple(screen.with_confirmation(screen_effects, effects, factors)),
        cells=tuple(means),
        unjudged=tuple(unjudged),
        matrices=matrices(trials, summaries, workloads, baseline, protocol.confidence),
        drifts=drifts(trials, summaries, workloads),
        contrasts=tuple(contrasts),
        scalings=tuple(scalings_by_arm.values()),
        bounds=bounds(means, trials),
        constancy=constancy(trials, conditions),
        breaches=tuple(breach for finding in plausibility.breaches.values() for breach in finding),
        selections=selections(trials, summaries, workloads, protocol, looks, finished=finished),
        layouts=layout_uses(trials, summaries, factors),
        refused=refused,
        hopeless=frozenset(hopeless),
    )


def _not_judged(series: PairSeries, screen_pairs: ScreenPairs | None, error: CannotJudge) -> str:
    """Return the reason why a comparison has no verdict."""
    label = f"{series.factor} = {series.arm}"
    if screen_pairs is not None:
        label = gettext("the screen of {n} factors", n=len(screen_pairs.factors))
    message = N_("{what} under {workload} was not judged: {why} ({n} of {planned} planned pairs are valid)")
    return gettext(
        message,
        what=label,
        workload=series.workload,
        why=gettext(str(error)),
        n=series.units,
        planned=series.planned,
    )


def _with_repetition(effect: Effect, repetition: Repetition) -> Effect:
    text = repetition_text(repetition)
    return replace(effect, reasons=(*effect.reasons, *([text] if text else [])), repetition=repetition)


def _unless_unreached(
    effect: Effect,
    absent: Mapping[ArmKey, Sequence[Requirement]],
    looks: Mapping[tuple[ComparisonKey, Purpose], list[Look]],
) -> Effect:
    """The effect of a screened factor; with another verdict where its last look found that it cannot have acted."""
    last = looks[(effect.factor, effect.arm, effect.workload, effect.response), Purpose.SCREEN]
    if not last or last[-1].verdict is not Verdict.NO_EFFECT_POSSIBLE:
        return effect
    reasons = reasons_of(absent.get((effect.factor, effect.workload, effect.arm), ()), ())
    return replace(effect, verdict=Verdict.NO_EFFECT_POSSIBLE, tags=(), reasons=(*reasons, *effect.reasons))


def _seen(series: PairSeries, look: Look) -> PairSeries:
    """The pairs that a look saw."""
    if series.units < look.pairs:
        raise CannotJudge(N_("pairs of an earlier look are no longer valid"))
    return series.first(look.pairs)


def _look_again(
    series: PairSeries, question: Question, looks: Sequence[Look], *, finished: bool
) -> tuple[Finding, PairSeries]:
    """The finding of the last look, and the pairs that it saw."""
    if not looks:
        refuse(arrays(series), question)
        raise CannotJudge(N_("no look was taken"))
    series_at_look = _seen(series, looks[-1])
    over = finished or looks[-1].verdict is not None
    return look(arrays(series_at_look), question, spending_looks(looks, question), over=over), series_at_look
