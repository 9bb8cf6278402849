"""Comparison of two experiments, and the document of `paribus compare`."""

from sqlalchemy.engine import Engine as Store

from paribus.analysis.comparison import Side, between, effects_between, judged_alone
from paribus.errors import UsageError
from paribus.lab.results.reporting import read_and_judge, refuse_set
from paribus.model import Experiment
from paribus.report import comparison_view
from paribus.report.comparison_view import ComparedDocument


def compared_document(first: tuple[Store, Experiment], second: tuple[Store, Experiment]) -> ComparedDocument:
    """Compare two experiments, with the margins of the first. Raises StoreError and UsageError."""
    if first[1].id == second[1].id:
        raise UsageError(
            f"both names stand for experiment {first[1].id}", "name two experiments; list them: paribus status"
        )
    for _, experiment in (first, second):
        refuse_set(
            experiment, "is compared with nothing", "import both into one set, as two levels: paribus import --into"
        )
    results = [read_and_judge(*opened) for opened in (first, second)]
    plan, other_plan = (evidence.plan for evidence, _ in results)
    other_responses = {
        (workload.name, response) for workload in other_plan.workloads for response in workload.responses
    }
    margins = {
        (workload.name, response): plan.protocol.margins[response]
        for workload in plan.workloads
        for response in workload.responses
        if (workload.name, response) in other_responses
    }
    sides = [Side(evidence.trials, evidence.summaries) for evidence, _ in results]
    effects = [judgement.effects for _, judgement in results]
    return comparison_view.document(
        (first[1], second[1]),
        (plan, other_plan),
        between(sides[0], sides[1], margins, plan.protocol.confidence),
        effects_between(effects[0], effects[1]),
        (results[0][1].constancy.same, results[1][1].constancy.same),
        planned_pairs=margins,
        unmatched_effects=(judged_alone(effects[0], effects[1]), judged_alone(effects[1], effects[0])),
    )
