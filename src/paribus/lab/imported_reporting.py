"""From the store to what a report says of a set: its judgement, what does not fit, claims, and sources."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sqlalchemy.engine import Engine as Store

from paribus.analysis.imported.claims import ImportedSet, judge_claims
from paribus.analysis.imported.consistency import SAMPLED, inconsistencies, is_published
from paribus.analysis.imported.judgement import judge_set
from paribus.analysis.imported.matched_runs import unrepeated
from paribus.analysis.paired.judge import Judgement
from paribus.errors import UsageError
from paribus.experiment.evidence import ExperimentEvidence
from paribus.findings import Breach
from paribus.i18n import N_
from paribus.imports.claims import read_claims
from paribus.model import Claim, Experiment, ExperimentState, Tested
from paribus.plausibility.ceiling import CEILING
from paribus.store import read, sources

LASTING = (
    N_("these numbers come from other people's machines: paribus run tests whether a difference holds on yours"),
    N_("runs were not interleaved as far as the files tell: a drift of the machine would look like a setting"),
)


def judgement(store: Store, experiment: Experiment, found: ExperimentEvidence) -> Judgement:
    """What the trials of a set show, and what they do not."""
    plan, own = found.plan, experiment.id
    judged = sorted({response for workload in plan.workloads for response in workload.responses})
    return judge_set(
        found.trials,
        found.summaries,
        plan.workloads,
        plan.protocol,
        plan.factors,
        courses={
            response: read.series(store, own, response, unrepeated(found.trials, response, found.summaries))
            for response in judged
        },
        options={trial: origin.said["options"] for trial, origin in sources.origins(store, own).items()},
    )


def numbers(store: Store, experiment: Experiment, wrong: Sequence[Breach]) -> ImportedSet:
    """A set as claims are tested by."""
    own = experiment.id
    paths = {source.number: source.path for source in sources.sources(store, own)}
    return ImportedSet(
        plan=read.plan(store, own),
        trials=read.trials(store, own),
        summaries=read.summaries(store, own),
        paths={trial: paths[origin.source] for trial, origin in sources.origins(store, own).items()},
        doubtful=frozenset(order for one in wrong if one.grave for order in one.cells),
        limited=frozenset(order for one in wrong if one.law == CEILING for order in one.cells),
    )


def claims_of(experiment: Experiment, path: Path | None) -> list[Claim]:
    """The claims of a file, which are set beside a set's numbers alone. Raises UsageError and PlanError."""
    if path is None:
        return []
    if experiment.state is not ExperimentState.IMPORTED:
        said = f"{experiment.id} ({experiment.name}) was measured by Paribus, and judged already"
        raise UsageError(said, "--claims is for a set that was imported")
    return read_claims(path)


def claimed(store: Store, experiment: Experiment, claims: Sequence[Claim], wrong: Sequence[Breach]) -> list[Tested]:
    """The claims beside the set's numbers, of which some may not fit each other."""
    return judge_claims(claims, [numbers(store, experiment, wrong)]) if claims else []


def breaches(store: Store, experiment: Experiment, claims: Sequence[Claim]) -> list[Breach]:
    """What the set and its author state that cannot be; the cells are orders of trials."""
    trials, own = read.trials(store, experiment.id), experiment.id
    paths = {source.number: source.path for source in sources.sources(store, own)}
    origins = sources.origins(store, own)
    published = [order for order, origin in origins.items() if is_published(origin)]
    courses = {metric: read.series(store, own, metric, published) for metric in SAMPLED}
    return inconsistencies(trials, origins, paths, courses, claims)


def records(store: Store, experiment: Experiment, claims: Sequence[Claim]) -> dict[str, Any]:
    """The fields of a ReportInput that only imported sets have."""
    wrong = breaches(store, experiment, claims)
    return {
        "breaches": wrong,
        "sources": sources.sources(store, experiment.id),
        "origins": sources.origins(store, experiment.id),
        "claims": claimed(store, experiment, claims, wrong),
    }
