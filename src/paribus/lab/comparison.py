"""Comparison of two experiments, and the document of `paribus compare`."""

from sqlalchemy.engine import Engine as Store

from paribus.analysis.comparison import Side, between, effects_between, judged_alone
from paribus.errors import UsageError
from paribus.lab.reporting import judged, refuse_set
from paribus.model import Experiment
from paribus.report import comparison_view
from paribus.report.comparison_view import ComparedDocument


def compared_document(first: tuple[Store, Experiment], second: tuple[Store, Experiment]) -> ComparedDocument:
    """Two experiments beside each other; the margins are those of the first. Raises StoreError and UsageError."""
    if first[1].id == second[1].id:
        raise UsageError(f"{first[1].id} is both", "name two experiments; paribus status lists them")
    for _, one in (first, second):
        refuse_set(one, "is compared with nothing", "import both into one set, as two levels: paribus import --into")
    found = [judged(*one) for one in (first, second)]
    plan, other = (kept.plan for kept, _ in found)
    theirs = {(workload.name, response) for workload in other.workloads for response in workload.responses}
    asked = {
        (workload.name, response): plan.protocol.margins[response]
        for workload in plan.workloads
        for response in workload.responses
        if (workload.name, response) in theirs
    }
    sides = [Side(kept.trials, kept.summaries) for kept, _ in found]
    effects = [judgement.effects for _, judgement in found]
    return comparison_view.document(
        (first[1], second[1]),
        (plan, other),
        between(sides[0], sides[1], asked, plan.protocol.confidence),
        effects_between(effects[0], effects[1]),
        (found[0][1].constancy.same, found[1][1].constancy.same),
        planned_pairs=asked,
        unmatched_effects=(judged_alone(effects[0], effects[1]), judged_alone(effects[1], effects[0])),
    )
