"""From the store to something read: the report of an experiment in its forms."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from sqlalchemy.engine import Engine as Store

from paribus import workloads as _workloads  # noqa: F401  registers every kind, of which a plan asks
from paribus.analysis.diagnostics.preconditioning import preconditioned, preconditioning
from paribus.analysis.paired.judge import Judgement
from paribus.errors import ParibusError, StoreError, UsageError
from paribus.experiment.evidence import ExperimentEvidence, analyse, evidence
from paribus.experiment.time_series import Series, response_series
from paribus.files import write_whole
from paribus.findings import Preconditioned
from paribus.i18n import gettext
from paribus.knobs import recipe
from paribus.lab import imported_reporting, series_worker
from paribus.model import Claim, Experiment, ExperimentState, Plan, TrialState
from paribus.plan.budget import cost_s
from paribus.plan.comparisons import candidates
from paribus.report.experiment_view import Recipe, ReportView, view
from paribus.report.inputs import ReportInput
from paribus.report.render.document import ReportDocument, document
from paribus.report.sections.server_notes import server_notes
from paribus.store import read

_MOST_BREACHES = 20


def _recipes(plan: Plan) -> dict[str, Recipe]:
    """For each level of a knob, the commands that set and show it, and what makes it last."""
    placed = {knob.name: knob for knob in plan.knobs}
    found = {}
    for comparison in candidates(plan):
        for arm in comparison.arms:
            known = [
                (placed[key], arm.settings[key]) for key in comparison.tested if key in placed and key in arm.settings
            ]
            if known:
                found[f"{comparison.factor}={arm.label}"] = Recipe(
                    set=" && ".join(recipe.set_command(*one) for one in known),
                    check=" && ".join(recipe.check_command(knob) for knob, _ in known),
                    last="\n".join(recipe.persist_command(*one) for one in known),
                )
    return found


def judged(
    store: Store, experiment: Experiment, reading: series_worker.Points | None = None
) -> tuple[ExperimentEvidence, Judgement]:
    """What the store holds of an experiment, and what that shows. Raises StoreError."""
    found = evidence(store, experiment.id)
    if experiment.state is ExperimentState.IMPORTED:
        return found, imported_reporting.judgement(store, experiment, found)
    seen = reading.of(response_series, found.plan, found.trials) if reading else None
    return found, analyse(found, experiment, store, finished=experiment.state is ExperimentState.DONE, series=seen)


def _judged_by(experiment: Experiment) -> "tuple[series_worker.Part[Series], ...]":
    """What of its points is read ahead to judge it; a set reads its own."""
    return () if experiment.state is ExperimentState.IMPORTED else (response_series,)


def _preconditioned(store: Store, experiment: Experiment, found: ExperimentEvidence) -> tuple[Preconditioned, ...]:
    """What preconditioning came to, with its course."""
    orders = [trial.order for trial in preconditioning(found.trials, found.summaries)]
    response_series = read.series(store, experiment.id, "throughput_per_s", orders) if orders else {}
    return preconditioned(found.trials, found.summaries, response_series, found.plan.workloads)


def _notes(experiment: Experiment, found: Judgement) -> tuple[str, ...]:
    """What a reader must know, with what could not be judged, and what breaks a law of arithmetic or physics."""
    lasting = map(gettext, imported_reporting.LASTING if experiment.state is ExperimentState.IMPORTED else ())
    unlawful = [breach.words for breach in found.breaches[:_MOST_BREACHES]]
    if more := len(found.breaches) - len(unlawful):
        unlawful.append(gettext("and {n:,} more figures of trials that break a law", n=more))
    return (*experiment.notes, *lasting, *found.unjudged, *unlawful)


def report_view(store: Store, experiment: Experiment, claims: Sequence[Claim] = ()) -> ReportView:
    """What every written form of the report shows; `claims` are set beside the numbers of a set."""
    imported = experiment.state is ExperimentState.IMPORTED
    with series_worker.Points(store, experiment, *_judged_by(experiment), series_worker.drawn) as reading:
        kept, found = judged(store, experiment, reading)
        drawn = reading.of(series_worker.drawn, kept.plan, kept.trials)
    return view(
        dataclasses.replace(
            _report_input(store, experiment, kept, found, claims),
            drifts=found.drifts,
            refused=found.refused,
            distributions=drawn.distributions,
            time_series=drawn.series,
            question=kept.plan.question,
            recipes={} if imported else _recipes(kept.plan),
        )
    )


def _report_input(
    store: Store, experiment: Experiment, kept: ExperimentEvidence, found: Judgement, claims: Sequence[Claim]
) -> ReportInput:
    """The input that the written forms and the document have in common."""
    imported = experiment.state is ExperimentState.IMPORTED
    return ReportInput(
        experiment=dataclasses.replace(experiment, notes=_notes(experiment, found)),
        trials=kept.trials,
        summaries=kept.summaries,
        effects=found.effects,
        cells=found.cells,
        matrices=found.matrices,
        preconditioned=_preconditioned(store, experiment, kept),
        contrasts=found.contrasts,
        scalings=found.scalings,
        bounds=found.bounds,
        constancy=found.constancy,
        planned_s=None if imported else _planned_s(kept),
        **imported_reporting.records(store, experiment, claims) if imported else {},
    )


def _planned_s(kept: ExperimentEvidence) -> float:
    """Seconds of all trials that were planned, each counted once."""
    return cost_s(kept.plan, [t for t in kept.trials if t.state is not TrialState.SUPERSEDED])


def report_document(store: Store, experiment: Experiment, claims: Sequence[Claim] = ()) -> ReportDocument:
    """The report as one document for programs; `claims` are set beside the numbers of a set."""
    with series_worker.Points(store, experiment, *_judged_by(experiment)) as reading:
        kept, found = judged(store, experiment, reading)
    report_input = _report_input(store, experiment, kept, found, claims)
    notes = (*report_input.experiment.notes, *server_notes(kept.trials, kept.summaries))
    return document(dataclasses.replace(report_input, experiment=dataclasses.replace(experiment, notes=notes)))


def refuse_set(experiment: Experiment, why: str, todo: str = "") -> None:
    """Raise UsageError for what others measured, where that makes no sense."""
    if experiment.state is ExperimentState.IMPORTED:
        said = f"{experiment.id} ({experiment.name}) is what others measured, and {why}"
        raise UsageError(said, todo or f"see it with: paribus report {experiment.id}")


def write_html(seen: ReportView, path: Path) -> Path:
    """Write the self-contained report. Raises StoreError where the file cannot be written."""
    from paribus.report.render import html

    return write_page(html.render(seen), path)


def write_page(page: str, path: Path) -> Path:
    """Write a page to a file; where that is. Raises StoreError where it cannot be written."""
    try:
        write_whole(path, page)
    except OSError as error:
        raise StoreError(f"cannot write the report {path}: {error.strerror}", "try: paribus report -o FILE") from error
    return path.absolute()


def exit_code(found: Judgement) -> int:
    """0, or 3 where something could not be judged for want of valid pairs, or a series of a matrix has no point."""
    empty = any(not series.points for matrix in found.matrices for series in matrix.series)
    return ParibusError.exit_code if found.unjudged or empty else 0
