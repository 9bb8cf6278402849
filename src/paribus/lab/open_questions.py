"""Plans of `paribus again`: the questions that an experiment left open, to be asked in a new one.

In: an experiment of the store. Out: its plan without what is decided, with a budget that would decide the remainder.
The pairs of the two experiments are not pooled, since the first has spent its error.
"""

import math
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy.engine import Engine as Store

from paribus import workloads as _workloads  # noqa: F401  registers the kinds that a plan may name
from paribus.errors import UsageError
from paribus.lab.results.reporting import read_and_judge
from paribus.model import SINGLE, Effect, Experiment, ExperimentState, Plan, Trial, Verdict
from paribus.plan.form.parse import Parsed, override, parse
from paribus.plan.form.write import toml_text
from paribus.store import read

_COMBINATION = "combination"  # the factor of combinations, in trials
_ROOM = 1.5  # times the machine time that would decide: an effect is seldom as estimated
_MIN_BUDGET_S = 120.0

ArmsByFactor = dict[str, set[str]]


def parsed_again(store: Store, name: str, budget: str) -> Parsed:
    """Return the plan of the open questions of an experiment. Raises UsageError, PlanError and StoreError.

    Args:
        store: The store.
        name: The experiment, as elsewhere.
        budget: Machine time as in a plan; empty for what would decide every open question.
    """
    experiment = read.find(store, name)
    if experiment.state is not ExperimentState.DONE:
        raise UsageError(
            f"experiment {experiment.id} is {experiment.state}", f"let it end first: paribus resume {experiment.id}"
        )
    evidence, judgement = read_and_judge(store, experiment)
    plan = evidence.plan
    open_arms = _open_arms(evidence.trials, judgement.effects)
    if not open_arms:
        raise UsageError(
            f"experiment {experiment.id} has no open question", f"see its report: paribus report {experiment.id}"
        )
    document = _document(plan, experiment)
    _prune(document, plan, open_arms)
    protocol = document.setdefault("protocol", {})
    for key in ("rounds", "seed"):  # new pairs, in an order of their own
        protocol.pop(key, None)
    protocol["budget"] = budget or _minutes(_needed_s(evidence.trials, judgement.effects, open_arms))
    if len(document.get("factors", {})) < 2:
        protocol.pop("design", None)
    comment = f"The open questions of experiment {experiment.id}. Saved to a file, it is run with: paribus run FILE"
    return parse(experiment.name, toml_text(document, {"": comment}), {})


def _minutes(seconds: float) -> str:
    return f"{math.ceil(seconds / 60)}min"


def _document(plan: Plan, experiment: Experiment) -> dict[str, Any]:
    """The plan as it was started, with the overrides of its command line."""
    document = tomllib.loads(plan.text)
    override(experiment.name, document, experiment.overrides)
    return document


def _open_arms(trials: Sequence[Trial], effects: Sequence[Effect]) -> ArmsByFactor:
    """The arms without a verdict, by factor: undecided under some workload, or never judged."""
    verdicts = {(e.factor, e.arm, e.workload): e.verdict for e in effects if e.load is None}
    arms: ArmsByFactor = {}
    compared = {(t.factor, t.arm, t.workload) for t in trials if t.purpose in SINGLE and not t.baseline}
    for factor, arm, workload in compared | set(verdicts):
        if verdicts.get((factor, arm, workload), Verdict.UNDECIDED) in (Verdict.UNDECIDED, None):
            arms.setdefault(factor, set()).add(arm)
    return arms


def _prune(document: dict[str, Any], plan: Plan, open_arms: Mapping[str, set[str]]) -> None:
    """Remove what is decided: factors, levels and combinations; the baseline stays."""
    factors = document.get("factors", {})
    canonical = dict(zip(factors, plan.factors, strict=False)) if len(factors) == len(plan.factors) else {}
    for key in list(factors):
        factor = canonical.get(key)
        if factor is None:
            continue
        arms = open_arms.get(factor.key, set())
        levels = zip(factors[key], factor.labels, strict=True)
        remaining_levels = [level for number, (level, label) in enumerate(levels) if number == 0 or label in arms]
        if len(remaining_levels) < 2:
            del factors[key]
        else:
            factors[key] = remaining_levels
    remaining = open_arms.get(_COMBINATION, set())
    combinations = [each for each in document.get("combination", []) if each.get("name") in remaining]
    document.pop("combination", None)
    if combinations:
        document["combination"] = combinations
    scope = {key: names for key, names in document.get("factor_scope", {}).items() if key in factors}
    document.pop("factor_scope", None)
    if scope:
        document["factor_scope"] = scope
    if not factors:
        document.pop("factors", None)


def _needed_s(trials: Sequence[Trial], effects: Sequence[Effect], open_arms: Mapping[str, set[str]]) -> float:
    """Machine time that would decide; of an arm without figures, that which it had."""
    needed_s = 0.0
    for factor, arms in open_arms.items():
        for arm in arms:
            estimates = [e.decide_s for e in effects if (e.factor, e.arm) == (factor, arm) and e.decide_s]
            of_arm = [t for t in trials if (t.factor, t.arm) == (factor, arm) and t.started and t.ended]
            needed_s += sum(estimates) or 2 * sum((t.ended or 0.0) - (t.started or 0.0) for t in of_arm)
    return max(_MIN_BUDGET_S, _ROOM * needed_s)
