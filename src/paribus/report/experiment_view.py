"""The view of an experiment: texts and rounded numbers, from which every written form of its report is rendered."""

import shlex
from collections.abc import Sequence
from dataclasses import replace

from paribus.findings import Distribution, Drift, Matrix, ResponseMap, Scaling, Selection
from paribus.i18n import gettext
from paribus.model import Experiment, ExperimentState, TrialState
from paribus.report.contents import blocks_at
from paribus.report.inputs import Pair, ReportInput
from paribus.report.many_arms import with_fewer_arms
from paribus.report.sections import (
    advice,
    curves,
    evidence,
    heat_maps,
    io_matrix,
    pair_changes,
    tables,
    trial_timeline,
    verdicts,
)
from paribus.report.sections.recommendation import recommendation
from paribus.report.view.blocks import Place
from paribus.report.view.terms import word
from paribus.report.view.view_models import (
    Answer,
    Judged,
    MatrixSection,
    Recipe,
    ReportView,
    Section,
    SectionArm,
)
from paribus.units import show_duration

__all__ = ["Recipe", "ReportInput", "ReportView", "view"]


def _pairs(report_input: ReportInput) -> list[Pair]:
    """Return every (factor, workload) in order of appearance; trials that compare nothing have no factor."""
    pairs = [(t.factor, t.workload) for t in verdicts.comparing(report_input.trials, report_input.effects)]
    pairs += [(effect.factor, effect.workload) for effect in report_input.effects]
    pairs += [(cell.factor, cell.workload) for cell in report_input.cells]
    return [pair for pair in dict.fromkeys(pairs) if pair[0]]


def _arms(comparison: ReportInput) -> tuple[SectionArm, ...]:
    """Return the arms of a comparison, the baseline first."""
    decided, baselines = tables.decided_arms(comparison.effects), comparison.baselines
    return tuple(
        SectionArm(name=name, baseline=name in baselines, decided="" if name in baselines else decided.get(name, ""))
        for name in comparison.arms
    )


def _section(
    pair: Pair,
    comparison: ReportInput,
    anchor: str,
    answers: Sequence[Answer],
    rows: Sequence[Judged],
    most_dots: int,
    most_columns: int,
) -> Section:
    """Return the section of one factor under one workload from the input restricted to them.

    `most_dots` pairs of an arm are drawn, and in a heat map `most_columns` of its trials.
    """
    comparison, others = with_fewer_arms(comparison)
    cells, effects, names = comparison.cells, comparison.effects, comparison.arms
    effect_tables = tables.effect_tables(effects, anchor)
    table, empty = tables.level_table(cells, names), ""
    if not cells and not effects:
        empty = verdicts.why_unusable(comparison.trials) or gettext("no trial has been run yet")
    elif table is None and not effects:
        empty = gettext("none of its metrics appear in a report; the export has all of them")
    return Section(
        anchor=anchor,
        factor=pair[0],
        workload=pair[1],
        arms=_arms(comparison),
        answers=tuple(answers),
        reasons=(*others, *_reasons(rows)),
        checks=verdicts.check_lists(effects),
        table=table,
        effects=effect_tables,
        pairs=pair_changes.pair_charts(effects, effect_tables, most_dots),
        curves=tables.curves(cells, names, anchor, comparison.of(Scaling)),
        path=curves.path(cells, names, anchor),
        quantiles=curves.quantiles(comparison.of(Distribution), names, anchor),
        heat_map=heat_maps.heat_map(next(iter(comparison.of(ResponseMap)), None), names, most_columns),
        drift=tables.drift_curve(next(iter(comparison.of(Drift)), None), anchor),
        blocks=blocks_at(Place.COMPARISON, comparison),
        empty=empty,
    )


def _when(experiment: Experiment) -> str:
    if experiment.state is ExperimentState.IMPORTED:
        return gettext("imported {clock}", clock=evidence.clock(experiment.started))
    if experiment.ended is None:
        return gettext("started {clock}, not ended", clock=evidence.clock(experiment.started))
    duration = show_duration(max(experiment.ended - experiment.started, 0))
    return gettext("{clock}, took {duration}", clock=evidence.clock(experiment.started), duration=duration)


def _reasons(rows: Sequence[Judged]) -> tuple[str, ...]:
    """Return the reasons of the verdicts, prefixed by the arm if there are several arms."""
    several = len({row.answer.arm for row in rows}) > 1
    reasons = [f"{row.answer.arm}: {reason}" if several else reason for row in rows for reason in row.reasons]
    return tuple(dict.fromkeys(reasons))


def _headline(experiment: Experiment, answers: Sequence[Answer], matrices: Sequence[MatrixSection]) -> str:
    """Return the result in one line, with what restricts it: emulated processors, and a state that is not done."""
    if answers or not matrices:
        summary = verdicts.headline(answers)
    else:
        summary = gettext("; ").join(matrix.answer or matrix.empty for matrix in matrices)
    if experiment.is_emulated:
        summary = gettext("times of emulated processors mean nothing: {found}", found=summary)
    if experiment.state in (ExperimentState.DONE, ExperimentState.IMPORTED):
        return summary
    return gettext("{found}; the experiment is {state}", found=summary, state=word(experiment.state))


def _again(report_input: ReportInput) -> tuple[str, str]:
    """Return what the next command is for, and the command; empty where no question is open, or the experiment runs."""
    experiment = report_input.experiment
    store = f" --store {shlex.quote(report_input.store)}" if report_input.store else ""
    if experiment.state is ExperimentState.DONE and report_input.open_arms:
        return gettext("To ask what is open with more pairs:"), f"paribus again {experiment.id}{store}"
    if experiment.state in (ExperimentState.INTERRUPTED, ExperimentState.FAILED):
        budget = f" --budget {report_input.needed_budget}" if report_input.needed_budget else ""
        return gettext("To continue it:"), f"paribus resume {experiment.id}{budget}{store}"
    return "", ""


def _ordered(
    rows: Sequence[Judged], missing: Sequence[Answer], pairs: Sequence[Pair]
) -> tuple[list[Judged], list[Answer], list[Pair]]:
    """Return rows, answers and pairs by urgency: by the factor's most urgent verdict, then as in the plan."""

    def rank(answer: Answer) -> int:
        return verdicts.RANKS.index(answer.verdict)

    answers = [*(row.answer for row in rows), *missing]
    lowest = len(verdicts.RANKS)
    ranks: dict[str, int] = {}
    for answer in answers:
        ranks[answer.factor] = min(ranks.get(answer.factor, lowest), rank(answer))
    positions = {factor: position for position, (factor, _) in reversed(list(enumerate(pairs)))}

    def key(answer: Answer) -> tuple[int, int, int]:
        return ranks[answer.factor], positions[answer.factor], rank(answer)

    return (
        sorted(rows, key=lambda row: key(row.answer)),
        sorted(answers, key=key),
        sorted(pairs, key=lambda pair: (ranks.get(pair[0], lowest), positions[pair[0]])),
    )


def view(report_input: ReportInput) -> ReportView:
    """Return the texts, rounded numbers and their order that a report shows; computes no statistics."""
    experiment, trials = report_input.experiment, report_input.trials
    imported = experiment.state is ExperimentState.IMPORTED
    pairs = _pairs(report_input)
    anchors = {pair: f"factor-{number}" for number, pair in enumerate(pairs, 1)}
    missing = verdicts.unanswered(trials, report_input.effects, anchors, report_input.refused, imported=imported)
    rows, answers, pairs = _ordered(verdicts.judged(report_input.effects, anchors), missing, pairs)
    matrices = tuple(
        io_matrix.section(matrix, f"matrix-{number}") for number, matrix in enumerate(report_input.of(Matrix), 1)
    )
    trust = evidence.trust(report_input)
    most_dots = pair_changes.most_dots(report_input.effects)
    most_columns = heat_maps.most_columns(report_input.of(ResponseMap))
    recipes = {} if experiment.is_emulated else report_input.recipes  # nothing there is worth keeping
    advised = advice.advice(rows, missing, recipes, report_input.of(Selection))
    again_text, again = _again(report_input)
    return ReportView(
        title=experiment.name,
        question=report_input.question,
        experiment=experiment.id,
        state=str(experiment.state),
        when=_when(experiment),
        recommendation=recommendation(advised, trust.tallies, is_emulated=experiment.is_emulated),
        headline=_headline(experiment, answers, matrices),
        answers=tuple(answers),
        verdicts=tuple(rows),
        sections=tuple(
            _section(
                pair,
                comparison,
                anchors[pair],
                [answer for answer in answers if (answer.factor, answer.workload) == pair],
                [row for row in rows if row.answer.anchor == anchors[pair]],
                most_dots,
                most_columns,
            )
            for pair, comparison in report_input.comparisons(pairs).items()
        ),
        matrices=matrices,
        advice=advised,
        trust=replace(trust, timeline=trial_timeline.timeline(report_input)),
        time_series=curves.time_series(
            report_input.time_series, sum(trial.state is TrialState.DONE for trial in trials)
        ),
        recipes=report_input.recipes,
        again=again,
        again_text=again_text,
        reading="" if imported else tables.reading(report_input.effects),
        blocks={place: blocks_at(place, report_input) for place in Place if place is not Place.COMPARISON},
    )
