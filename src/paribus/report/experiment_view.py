"""The one view of an experiment from which every report is rendered.

In: the records of an experiment, and the effects and cells that the analysis made of them. Out: ReportView:
what is shown, worded and rounded. Called by the command line; no statistics are computed here.
"""

from collections.abc import Mapping, Sequence
from typing import TypeVar

from paribus.findings import (
    Bounded,
    Constancy,
    Contrast,
    Distribution,
    Drift,
    Matrix,
    Preconditioned,
    Scaling,
)
from paribus.i18n import gettext
from paribus.model import Cell, Effect, Experiment, ExperimentState, Measurement, Trial, TrialState
from paribus.report.sections import advice, curves, evidence, explanation, io_matrix, tables, verdicts
from paribus.report.sections.uncontrolled import NOT_TOLD
from paribus.report.view.explanation_models import WordTable
from paribus.report.view.terms import word
from paribus.report.view.view_models import Answer, Judged, Recipe, ReportView, Section, SectionArm
from paribus.units import show_duration

__all__ = ["Recipe", "ReportView", "view"]

_Pair = tuple[str, str]
_Located = TypeVar("_Located", Answer, Trial, Effect, Cell, Drift, Contrast, Scaling, Bounded, Distribution)


def _pairs(trials: Sequence[Trial], effects: Sequence[Effect], cells: Sequence[Cell]) -> list[_Pair]:
    """Every (factor, workload), in order of appearance; trials that compare nothing have no factor."""
    found = [(t.factor, t.workload) for t in verdicts.comparing(trials, effects)]
    found += [(e.factor, e.workload) for e in effects]
    found += [(c.factor, c.workload) for c in cells]
    return [pair for pair in dict.fromkeys(found) if pair[0]]


def _arms(trials: Sequence[Trial], effects: Sequence[Effect], cells: Sequence[Cell]) -> tuple[SectionArm, ...]:
    """The arms of one section, the baseline first."""
    baselines = dict.fromkeys([*(e.baseline for e in effects), *(t.arm for t in trials if t.baseline)])
    others = dict.fromkeys([*(t.arm for t in trials), *(e.arm for e in effects), *(c.arm for c in cells)])
    decided = tables.decided_arms(effects)
    return (
        *(SectionArm(name=name, baseline=True, decided="") for name in baselines),
        *(SectionArm(name=n, baseline=False, decided=decided.get(n, "")) for n in others if n not in baselines),
    )


def _of(records: Sequence[_Located], pair: _Pair) -> list[_Located]:
    return [record for record in records if (record.factor, record.workload) == pair]


def _section(
    pair: _Pair,
    anchor: str,
    *,
    answers: Sequence[Answer],
    rows: Sequence[Judged],
    trials: Sequence[Trial],
    effects: Sequence[Effect],
    cells: Sequence[Cell],
    drift: Drift | None,
    contrasts: Sequence[Contrast],
    bounds: Sequence[Bounded],
    scalings: Sequence[Scaling],
    distributions: Sequence[Distribution],
) -> Section:
    arms = _arms(trials, effects, cells)
    names = [arm.name for arm in arms]
    table, empty = tables.level_table(cells, names), ""
    if not cells and not effects:
        empty = verdicts.why_unusable(trials) or gettext("no trial has been made yet")
    elif table is None and not effects:
        empty = gettext("nothing was measured of it that a report shows; all that was is in the export")
    return Section(
        anchor=anchor,
        factor=pair[0],
        workload=pair[1],
        arms=arms,
        answers=tuple(answers),
        reasons=_reasons(rows),
        checks=verdicts.check_lists(effects),
        table=table,
        effects=tables.effect_tables(effects, anchor),
        curves=tables.curves(cells, names, anchor),
        path=curves.path(cells, names, anchor),
        quantiles=curves.quantiles(distributions, names, anchor),
        drift=tables.drift_curve(drift, anchor),
        why=tuple(explanation.tables(contrasts, bounds, scalings, cells, names)),
        empty=empty,
    )


def _when(experiment: Experiment) -> str:
    if experiment.state is ExperimentState.IMPORTED:
        return gettext("imported {clock}", clock=evidence.clock(experiment.started))
    if experiment.ended is None:
        return gettext("started {clock}, not ended", clock=evidence.clock(experiment.started))
    took = show_duration(max(experiment.ended - experiment.started, 0))
    return gettext("{clock}, took {duration}", clock=evidence.clock(experiment.started), duration=took)


def _reasons(rows: Sequence[Judged]) -> tuple[str, ...]:
    """Why the verdicts are what they are; where there are several arms, of which."""
    several = len({row.answer.arm for row in rows}) > 1
    said = [f"{row.answer.arm}: {why}" if several else why for row in rows for why in row.reasons]
    return tuple(dict.fromkeys(said))


def view(
    experiment: Experiment,
    trials: Sequence[Trial],
    summaries: Mapping[int, Mapping[str, Measurement]],
    effects: Sequence[Effect],
    cells: Sequence[Cell],
    *,
    matrices: Sequence[Matrix] = (),
    drifts: Sequence[Drift] = (),
    contrasts: Sequence[Contrast] = (),
    bounds: Sequence[Bounded] = (),
    scalings: Sequence[Scaling] = (),
    distributions: Sequence[Distribution] = (),
    series: Mapping[str, Mapping[int, Measurement]] = {},
    preconditioned: Sequence[Preconditioned] = (),
    constancy: Constancy = NOT_TOLD,
    refused: Mapping[tuple[str, str, str], str] = {},
    question: str = "",
    recipes: Mapping[str, Recipe] | None = None,
    planned_s: float | None = None,
    field: Sequence[WordTable] = (),
    files: Sequence[WordTable] = (),
) -> ReportView:
    """Word, round and order everything a report shows.

    `question` is the plan's, in words; `recipes` by `factor=arm` say how to set and check; `planned_s` is what all
    trials would have taken, where that is known; `series` are the courses of trials, by metric and trial; `field` are
    tables of what does not fit and of claims, `files` those of where figures come from; `refused` is why there is no
    verdict, by factor, arm and workload.
    """
    recipes = recipes or {}
    pairs = _pairs(trials, effects, cells)
    anchors = {pair: f"factor-{number}" for number, pair in enumerate(pairs, 1)}
    rows = verdicts.judged(effects, anchors)
    missing = verdicts.unanswered(trials, effects, anchors, refused)

    def rank(answer: Answer) -> int:
        return verdicts.RANKS.index(answer.verdict)

    ranks: dict[str, int] = {}
    for answer in [*(row.answer for row in rows), *missing]:
        ranks[answer.factor] = min(ranks.get(answer.factor, len(verdicts.RANKS)), rank(answer))
    places = {factor: place for place, (factor, _) in reversed(list(enumerate(pairs)))}

    def key(answer: Answer) -> tuple[int, int, int]:
        return ranks[answer.factor], places[answer.factor], rank(answer)

    rows.sort(key=lambda row: key(row.answer))
    answers = sorted([*(row.answer for row in rows), *missing], key=key)
    shown = tuple(io_matrix.section(one, f"matrix-{number}") for number, one in enumerate(matrices, 1))
    found = (
        verdicts.headline(answers)
        if answers or not shown
        else gettext("; ").join(one.answer or one.empty for one in shown)
    )
    order = sorted(pairs, key=lambda p: (ranks.get(p[0], len(verdicts.RANKS)), places[p[0]]))

    return ReportView(
        title=experiment.name,
        question=question,
        experiment=experiment.id,
        state=str(experiment.state),
        when=_when(experiment),
        headline=found
        if experiment.state in (ExperimentState.DONE, ExperimentState.IMPORTED)
        else gettext("{found}; the experiment is {state}", found=found, state=word(experiment.state)),
        answers=tuple(answers),
        verdicts=tuple(rows),
        sections=tuple(
            _section(
                pair,
                anchors[pair],
                answers=_of(answers, pair),
                rows=[row for row in rows if row.answer.anchor == anchors[pair]],
                trials=_of(trials, pair),
                effects=_of(effects, pair),
                cells=_of(cells, pair),
                drift=next(iter(_of(drifts, pair)), None),
                contrasts=_of(contrasts, pair),
                bounds=_of(bounds, pair),
                scalings=_of(scalings, pair),
                distributions=_of(distributions, pair),
            )
            for pair in order
        ),
        matrices=shown,
        advice=advice.advice(rows, missing, recipes),
        trust=evidence.trust(experiment, trials, summaries, preconditioned, planned_s, constancy),
        courses=curves.courses(series, sum(trial.state is TrialState.DONE for trial in trials)),
        recipes=recipes,
        reading="" if experiment.state is ExperimentState.IMPORTED else tables.reading(effects),
        field=tuple(field),
        files=tuple(files),
    )
