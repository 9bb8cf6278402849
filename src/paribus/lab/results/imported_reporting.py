"""Report contents of imported sets: judgement, inconsistencies, claims and sources."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from sqlalchemy.engine import Engine as Store

from paribus.analysis.imported.claims import ImportedSet, judge_claims
from paribus.analysis.imported.consistency import SAMPLED, inconsistencies, is_published
from paribus.analysis.imported.corrections import corrected, implied_figures, marked
from paribus.analysis.imported.judgement import judge_set
from paribus.analysis.imported.matched_runs import unrepeated
from paribus.analysis.paired.effects import Summaries
from paribus.analysis.paired.judge import Judgement
from paribus.errors import UsageError
from paribus.experiment.evidence import ExperimentEvidence
from paribus.findings import Breach
from paribus.i18n import N_
from paribus.imports.claims import read_claims
from paribus.model import Claim, Experiment, ExperimentState, Origin, Source, Tested
from paribus.plausibility.ceiling import CEILING
from paribus.store import read, sources

LASTING = (
    N_("these numbers come from other people's machines: paribus run tests whether a difference holds on yours"),
    N_("runs were not interleaved as far as the files tell: a drift of the machine would look like a setting"),
)


def judgement(store: Store, experiment: Experiment, evidence: ExperimentEvidence) -> Judgement:
    """Judge an imported set, and its effects again where the other figures imply another one than is stated."""
    doubts = breaches(store, experiment, ())
    judged = _judged(store, experiment, evidence, evidence.summaries)
    if implied := implied_figures(doubts, evidence.summaries):
        again = _judged(store, experiment, evidence, corrected(evidence.summaries, implied))
        judged = replace(judged, effects=marked(judged.effects, again.effects, implied))
    return replace(judged, doubts=tuple(doubts))


def _judged(store: Store, experiment: Experiment, evidence: ExperimentEvidence, summaries: Summaries) -> Judgement:
    plan, experiment_id = evidence.plan, experiment.id
    origins = sources.origins(store, experiment_id)
    responses = sorted({response for workload in plan.workloads for response in workload.responses})
    return judge_set(
        evidence.trials,
        summaries,
        plan.workloads,
        plan.protocol,
        plan.factors,
        courses={
            response: read.series(store, experiment_id, response, unrepeated(evidence.trials, response, summaries))
            for response in responses
        },
        options={trial: origin.said["options"] for trial, origin in origins.items()},
        conditions=_conditions(origins),
    )


def _conditions(origins: Mapping[int, Origin]) -> dict[int, Mapping[str, str]]:
    """Return the conditions of each trial; sets of earlier builds have none."""
    return {trial: origin.said.get("conditions", {}) for trial, origin in origins.items()}


def imported_set(store: Store, experiment: Experiment, breaches: Sequence[Breach]) -> ImportedSet:
    """The figures of a set in the form that claims are tested against."""
    experiment_id = experiment.id
    paths = {source.number: source.path for source in sources.sources(store, experiment_id)}
    origins = sources.origins(store, experiment_id)
    return ImportedSet(
        plan=read.plan(store, experiment_id),
        trials=read.trials(store, experiment_id),
        summaries=read.summaries(store, experiment_id),
        paths={trial: paths[origin.source] for trial, origin in origins.items()},
        conditions=_conditions(origins),
        doubtful=frozenset(order for breach in breaches if breach.grave for order in breach.cells),
        limited=frozenset(order for breach in breaches if breach.law == CEILING for order in breach.cells),
    )


def claims_of(experiment: Experiment, path: Path | None) -> list[Claim]:
    """Read the claims of a file, which must be about an imported set. Raises UsageError and PlanError."""
    if path is None:
        return []
    if experiment.state is not ExperimentState.IMPORTED:
        message = f"{experiment.id} ({experiment.name}) was measured by Paribus, and judged already"
        raise UsageError(message, "use --claims only with an imported set")
    return read_claims(path)


def judged_claims(
    store: Store, experiment: Experiment, claims: Sequence[Claim], breaches: Sequence[Breach]
) -> list[Tested]:
    """Test the claims against the figures of the set; `breaches` mark doubtful figures."""
    return judge_claims(claims, [imported_set(store, experiment, breaches)]) if claims else []


def breaches(store: Store, experiment: Experiment, claims: Sequence[Claim]) -> list[Breach]:
    """Impossible or contradictory figures in the set and in its author's claims; the cells are orders of trials."""
    trials, experiment_id = read.trials(store, experiment.id), experiment.id
    paths = {source.number: source.path for source in sources.sources(store, experiment_id)}
    origins = sources.origins(store, experiment_id)
    published = [order for order, origin in origins.items() if is_published(origin)]
    series = {metric: read.series(store, experiment_id, metric, published) for metric in SAMPLED}
    return inconsistencies(trials, origins, paths, series, claims)


def findings(
    store: Store, experiment: Experiment, claims: Sequence[Claim], doubts: Sequence[Breach]
) -> list[Breach | Source | Origin | Tested]:
    """The findings that only imported sets have: violations, files, origins of trials, and tested claims.

    `doubts` are the violations that need no claims.
    """
    set_breaches = breaches(store, experiment, claims) if claims else doubts
    return [
        *set_breaches,
        *sources.sources(store, experiment.id),
        *sources.origins(store, experiment.id).values(),
        *judged_claims(store, experiment, claims, set_breaches),
    ]
