"""Reports of experiments in all forms, read from the store."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from sqlalchemy.engine import Engine as Store

from paribus import workloads as _workloads  # noqa: F401  registers every kind, of which a plan asks
from paribus.analysis.diagnostics.event_phases import arm_phases, compared_trials
from paribus.analysis.diagnostics.health import timelines
from paribus.analysis.diagnostics.preconditioning import preconditioned, preconditioning
from paribus.analysis.diagnostics.recovery import flushes, recoveries
from paribus.analysis.diagnostics.tpcc import tpcc_figures
from paribus.analysis.open_questions import open_arms
from paribus.analysis.paired.judge import Judgement
from paribus.errors import StoreError, UsageError
from paribus.experiment.budget_cap import needed_budget
from paribus.experiment.evidence import ExperimentEvidence, analyse
from paribus.experiment.evidence import evidence as read_evidence
from paribus.experiment.time_series import Series, response_series
from paribus.files import write_whole
from paribus.findings import ArmPhases, HealthTimeline, Preconditioned
from paribus.i18n import gettext
from paribus.knobs import recipe
from paribus.knobs.kinds import knob_kinds
from paribus.knobs.loss import loss_of
from paribus.lab.results import imported_reporting, series_worker
from paribus.lab.store.stores import store_to_name
from paribus.model import LAYOUT, Claim, Experiment, ExperimentState, Knob, Plan, TrialState, Value
from paribus.plan.checks import layouts
from paribus.plan.schedule.budget import cost_s
from paribus.plan.schedule.comparisons import candidates
from paribus.report.experiment_view import Recipe, ReportView, view
from paribus.report.inputs import ReportInput
from paribus.report.render.document import ReportDocument, document
from paribus.store import read

_MOST_BREACHES = 20
_TAG, _POINT = "data", "/mnt/data"  # of a layout that is advised: in its names, and where it is mounted


def _recipes(plan: Plan) -> dict[str, Recipe]:
    """Commands that set, check and persist each level of a knob, by `factor=level`; what is not written has none."""
    unwritten = ("platform", "trial")
    knobs = {knob.name: knob for knob in plan.knobs if knob_kinds.get(knob.kind).holder not in unwritten}
    recipes = {}
    for comparison in candidates(plan):
        for arm in comparison.arms:
            settings = [
                (knobs[key], arm.settings[key]) for key in comparison.tested if key in knobs and key in arm.settings
            ]
            if settings:
                lines = [_lines(plan, *setting) for setting in settings]
                recipes[f"{comparison.factor}={arm.label}"] = Recipe(
                    set=recipe.joined(
                        [(knob, set_line) for (knob, _), (set_line, _) in zip(settings, lines, strict=True)]
                    ),
                    check=recipe.check_command(*(knob for knob, _ in settings)),
                    last="\n".join(lasting for _, lasting in lines),
                    losses=tuple(filter(None, (loss_of(*setting) for setting in settings))),
                )
    return recipes


def _lines(plan: Plan, knob: Knob, value: Value) -> tuple[str, str]:
    """The commands that make a setting, and those that make it last; a layout's depend on the disks of the plan."""
    if knob.name != LAYOUT or not (commands := layouts.commands_of(plan, str(value), _TAG, _POINT)):
        return recipe.set_command(knob, value), recipe.located(knob, recipe.persist_command(knob, value))
    lasting = layouts.lasting_lines(plan, str(value), _TAG, _POINT)
    return " && \\\n".join([f"mkdir -p {_POINT}", *commands]), "\n".join(lasting)


def read_and_judge(
    store: Store, experiment: Experiment, reading: series_worker.Points | None = None
) -> tuple[ExperimentEvidence, Judgement]:
    """Evidence of an experiment and its judgement. Raises StoreError."""
    evidence = read_evidence(store, experiment.id)
    if experiment.state is ExperimentState.IMPORTED:
        return evidence, imported_reporting.judgement(store, experiment, evidence)
    series = reading.of(response_series, evidence.plan, evidence.trials) if reading else None
    return evidence, analyse(
        evidence, experiment, store, finished=experiment.state is ExperimentState.DONE, series=series
    )


def _parts_to_judge(experiment: Experiment) -> "tuple[series_worker.Part[Series], ...]":
    """Time series to read ahead for the judgement; none for an imported set, which reads its own."""
    return () if experiment.state is ExperimentState.IMPORTED else (response_series,)


def _preconditioned(store: Store, experiment: Experiment, evidence: ExperimentEvidence) -> tuple[Preconditioned, ...]:
    """Results of preconditioning, with the throughput over time."""
    orders = [trial.order for trial in preconditioning(evidence.trials, evidence.summaries)]
    response_series = read.series(store, experiment.id, "throughput_per_s", orders) if orders else {}
    return preconditioned(evidence.trials, evidence.summaries, response_series, evidence.plan.workloads)


def _health(store: Store, experiment: Experiment, evidence: ExperimentEvidence) -> tuple[HealthTimeline, ...]:
    if not evidence.plan.health:
        return ()
    conditions = read.conditions(store, experiment.id)
    return timelines(evidence.plan.health, evidence.trials, evidence.summaries, conditions)


def _event_phases(store: Store, experiment: Experiment, evidence: ExperimentEvidence) -> tuple[ArmPhases, ...]:
    """Phases of trials with events; none of a plan without events."""
    if not evidence.plan.events:
        return ()
    orders = [trial.order for trial in compared_trials(evidence.trials)]
    courses = read.series(store, experiment.id, "throughput_per_s", orders) if orders else {}
    plan = evidence.plan
    return arm_phases(evidence.trials, evidence.summaries, courses, plan.events, plan.protocol.confidence)


def _notes(experiment: Experiment, judgement: Judgement) -> tuple[str, ...]:
    """Notes for the reader: those of the experiment, unjudged responses, and broken laws of arithmetic or physics."""
    lasting = map(gettext, imported_reporting.LASTING if experiment.state is ExperimentState.IMPORTED else ())
    breach_texts = [breach.words for breach in judgement.breaches[:_MOST_BREACHES]]
    if unlisted := len(judgement.breaches) - len(breach_texts):
        breach_texts.append(gettext("and {n:,} more figures of trials that break a law", n=unlisted))
    return (*experiment.notes, *lasting, *judgement.unjudged, *breach_texts)


def report_view(store: Store, experiment: Experiment, claims: Sequence[Claim] = ()) -> ReportView:
    """View model of the written reports; `claims` are tested against an imported set."""
    imported = experiment.state is ExperimentState.IMPORTED
    with series_worker.Points(
        store, experiment, *_parts_to_judge(experiment), series_worker.read_drawn_data
    ) as reading:
        evidence, judgement = read_and_judge(store, experiment, reading)
        drawn_data = reading.of(series_worker.read_drawn_data, evidence.plan, evidence.trials)
    report_input = _report_input(store, experiment, evidence, judgement, claims)
    return view(
        dataclasses.replace(
            report_input,
            findings=(*report_input.findings, *drawn_data.distributions, *drawn_data.response_maps),
            refused=judgement.refused,
            open_arms={} if imported else open_arms(evidence.trials, judgement.effects, judgement.hopeless),
            time_series=drawn_data.series,
            question=evidence.plan.question,
            recipes={} if imported else _recipes(evidence.plan),
            store=store_to_name(store),
            needed_budget="" if imported else needed_budget(evidence.plan, evidence.trials),
        )
    )


def _report_input(
    store: Store, experiment: Experiment, evidence: ExperimentEvidence, judgement: Judgement, claims: Sequence[Claim]
) -> ReportInput:
    """The input that the written forms and the document share."""
    imported = experiment.state is ExperimentState.IMPORTED
    return ReportInput(
        experiment=dataclasses.replace(experiment, notes=_notes(experiment, judgement)),
        trials=evidence.trials,
        summaries=evidence.summaries,
        effects=judgement.effects,
        cells=judgement.cells,
        findings=(
            *judgement.matrices,
            *judgement.drifts,
            *judgement.contrasts,
            *judgement.scalings,
            *judgement.bounds,
            *judgement.selections,
            *judgement.layouts,
            judgement.constancy,
            *_preconditioned(store, experiment, evidence),
            *_event_phases(store, experiment, evidence),
            *_health(store, experiment, evidence),
            *recoveries(evidence.trials, evidence.summaries, evidence.plan.protocol.confidence),
            *flushes(evidence.trials, evidence.summaries),
            *tpcc_figures(evidence.trials, evidence.summaries, evidence.plan.protocol.confidence),
            *(imported_reporting.findings(store, experiment, claims, judgement.doubts) if imported else ()),
        ),
        planned_s=None if imported else _planned_s(evidence),
    )


def _planned_s(evidence: ExperimentEvidence) -> float:
    """Duration of all planned trials, in seconds, each counted once."""
    return cost_s(evidence.plan, [trial for trial in evidence.trials if trial.state is not TrialState.SUPERSEDED])


def report_document(store: Store, experiment: Experiment, claims: Sequence[Claim] = ()) -> ReportDocument:
    """The report as one machine-readable document; `claims` are tested against an imported set."""
    with series_worker.Points(store, experiment, *_parts_to_judge(experiment)) as reading:
        evidence, judgement = read_and_judge(store, experiment, reading)
    return document(_report_input(store, experiment, evidence, judgement, claims))


def refuse_set(experiment: Experiment, why: str, todo: str = "") -> None:
    """Raise UsageError for an imported set, which does not support the operation."""
    if experiment.state is ExperimentState.IMPORTED:
        message = f"{experiment.id} ({experiment.name}) is an imported set, and {why}"
        raise UsageError(message, todo or f"see it with: paribus report {experiment.id}")


def write_html(report: ReportView, path: Path) -> Path:
    """Write the self-contained report. Raises StoreError where the file cannot be written."""
    from paribus.report.render import html

    return write_page(html.render(report), path)


def write_page(page: str, path: Path) -> Path:
    """Write a page to a file and return its absolute path. Raises StoreError."""
    try:
        write_whole(path, page)
    except OSError as error:
        raise StoreError(
            f"cannot write the report {path}: {error.strerror}", "name another file: paribus report -o FILE"
        ) from error
    return path.absolute()
