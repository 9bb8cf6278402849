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
from paribus.analysis.open_questions import open_arms
from paribus.errors import PlanError, UsageError
from paribus.lab.machine.connection import Report, discard
from paribus.lab.results.reporting import read_and_judge
from paribus.model import COMBINATION, EVENT, Effect, Experiment, ExperimentState, Plan, Trial
from paribus.plan.form.parse import Parsed, override, parse
from paribus.plan.form.write import toml_text
from paribus.store import read
from paribus.units import parse_duration, show_duration

_ROOM = 1.5  # times the machine time that would decide: an effect is seldom as estimated
_MIN_BUDGET_S = 120.0


def parsed_follow_up_plan(store: Store, name: str, budget: str, report: Report = discard) -> Parsed:
    """Return the plan of the open questions of an experiment. Raises UsageError, PlanError and StoreError.

    Args:
        store: The store.
        name: The experiment, as elsewhere.
        budget: Machine time as in a plan; empty for what would decide every open question.
        report: Receiver of a line where the budget is too small for that.
    """
    experiment = _last_done(store) if name == "last" else read.find(store, name)
    _refuse_unended(experiment)
    evidence, judgement = read_and_judge(store, experiment)
    arms = open_arms(evidence.trials, judgement.effects, judgement.hopeless)
    if not arms:
        raise UsageError(
            f"experiment {experiment.id} has no question that more pairs would answer",
            f"see its report: paribus report {experiment.id}",
        )
    document = _document(evidence.plan, experiment)
    _prune(document, evidence.plan, arms)
    protocol = document.setdefault("protocol", {})
    for key in ("rounds", "seed"):  # new pairs, in an order of their own
        protocol.pop(key, None)
    needed_s = _needed_s(evidence.trials, judgement.effects, arms)
    protocol["budget"] = budget or _minutes(max(_MIN_BUDGET_S, _ROOM * needed_s))
    if len(document.get("factors", {})) < 2:
        protocol.pop("design", None)
    comment = f"The open questions of experiment {experiment.id}. Saved to a file, it is run with: paribus run FILE"
    parsed = parse(experiment.name, toml_text(document, {"": comment}), {}, {("protocol", "budget"): "--budget"})
    if parsed.problems:
        raise PlanError(f"again {experiment.id}", parsed.problems)
    if budget and parse_duration(budget) < needed_s:
        would_decide = f"about {show_duration(needed_s)} would decide every open question, if effects are as estimated"
        report(f"a budget of {budget} will hardly answer more than before: {would_decide}")
    return parsed


def _last_done(store: Store) -> Experiment:
    """The newest experiment that is done; where none is, the newest of all. Raises UsageError for an empty store."""
    done = (experiment for experiment in read.experiments(store) if experiment.state is ExperimentState.DONE)
    return next(done, None) or read.find(store, "last")


def _refuse_unended(experiment: Experiment) -> None:
    """Raise UsageError for an experiment whose questions are not open yet, or are no questions of a plan."""
    match experiment.state:
        case ExperimentState.DONE:
            return
        case ExperimentState.IMPORTED:
            message, todo = "is an imported set, and nothing of it can be run", "write a plan for it: paribus init"
        case ExperimentState.RUNNING:
            message, todo = "is running", "wait until it has ended: paribus status"
        case _:
            message, todo = f"is {experiment.state}", f"let it end first: paribus resume {experiment.id}"
    raise UsageError(f"experiment {experiment.id} {message}", todo)


def _minutes(seconds: float) -> str:
    return f"{math.ceil(seconds / 60)}min"


def _document(plan: Plan, experiment: Experiment) -> dict[str, Any]:
    """The plan as it was started: with the overrides of its command line, and the lines held of a server's file."""
    document = tomllib.loads(plan.text)
    override(experiment.name, document, experiment.overrides)
    database = document.get("database", {})
    if plan.database is not None and database.pop("config", None):
        prefix = f"{plan.database.family}."
        elsewhere = {key.partition(".")[2] for key in document.get("hold", {})}
        held = {key.removeprefix(prefix): value for key, value in plan.hold.items() if key.startswith(prefix)}
        of_file = {name: value for name, value in held.items() if name not in elsewhere}
        database["settings"] = of_file | database.get("settings", {})
    return document


def _prune(document: dict[str, Any], plan: Plan, arms: Mapping[str, set[str]]) -> None:
    """Remove what is decided: levels, combinations, and factors, whose baseline is held from now on."""
    factors = document.get("factors", {})
    for key, factor in zip(list(factors), plan.factors, strict=True):
        levels = zip(factors[key], factor.labels, strict=True)
        open_labels = arms.get(factor.key, set())
        remaining = [level for number, (level, label) in enumerate(levels) if number == 0 or label in open_labels]
        if len(remaining) > 1:
            factors[key] = remaining
        else:
            _hold(document, key, factors.pop(key)[0])
    combinations = [each for each in document.pop("combination", []) if each.get("name") in arms.get(COMBINATION, ())]
    scope = {key: names for key, names in document.pop("factor_scope", {}).items() if key in factors}
    document |= {name: value for name, value in (("combination", combinations), ("factor_scope", scope)) if value}
    if not factors:
        document.pop("factors", None)


def _hold(document: dict[str, Any], key: str, level: Any) -> None:
    """Keep a level in every trial: of a knob in [hold], of a load in its table, of an event by its presence."""
    owner, _, parameter = key.partition(".")
    tables = [table for table in document["workload"] if owner in (table.get("name", table["kind"]), table["kind"])]
    if owner == EVENT:
        events = document["event"]
        document["event"] = [each for each in events if each.get("name") != parameter or level not in ("off", False)]
        for each in document["event"]:
            if each.get("name") == parameter:
                del each["name"]
    elif tables:
        for table in tables:
            table[parameter] = level
    else:
        document.setdefault("hold", {})[key] = level


def _needed_s(trials: Sequence[Trial], effects: Sequence[Effect], arms: Mapping[str, set[str]]) -> float:
    """Machine time that would decide; of an arm without figures, that which it had."""
    needed_s = 0.0
    for factor, names in arms.items():
        for arm in names:
            estimates = [e.decide_s for e in effects if (e.factor, e.arm) == (factor, arm) and e.decide_s]
            of_arm = [t for t in trials if (t.factor, t.arm) == (factor, arm) and t.started and t.ended]
            needed_s += sum(estimates) or 2 * sum((t.ended or 0.0) - (t.started or 0.0) for t in of_arm)
    return needed_s
