"""One question on several machines, and the document of `paribus fleet report`."""

from collections import Counter
from collections.abc import Mapping, Sequence

from sqlalchemy.engine import Engine as Store

from paribus.analysis.fleet import MachineResult, fleet_effects, open_questions
from paribus.errors import UsageError
from paribus.lab.results.reporting import read_and_judge, refuse_set
from paribus.model import Experiment, ExperimentState, Plan
from paribus.plan.schedule.comparisons import candidates
from paribus.report import fleet_view
from paribus.report.fleet_view import FleetDocument, FleetMachine
from paribus.stats.unit_means import FEWEST
from paribus.store import read

__all__ = ["FEWEST", "fleet_document", "identity"]

_IDENTITY = ("host", "machine", "cpu", "processors", "memory", "device_serial")


def fleet_document(store: Store, experiments: Sequence[Experiment]) -> FleetDocument:
    """Take the effects of experiments on several machines together. Raises StoreError and UsageError."""
    _refuse(experiments)
    plans = {experiment.id: read.plan(store, experiment.id) for experiment in experiments}
    names = _machine_names(experiments, plans)
    machines = []
    for experiment in experiments:
        _, judgement = read_and_judge(store, experiment)
        facts = {name: value for name, value in experiment.fingerprint.items() if name != "host"}
        questions = _questions(plans[experiment.id])
        machines.append(MachineResult(experiment.id, names[experiment.id], facts, judgement.effects, questions))
    confidence = max(plan.protocol.confidence for plan in plans.values())
    rows = [FleetMachine(machine=names[each.id], experiment=each.id, name=each.name) for each in experiments]
    unfinished = [names[each.id] for each in experiments if each.state is not ExperimentState.DONE]
    return fleet_view.document(rows, fleet_effects(machines, confidence), open_questions(machines), unfinished)


def _refuse(experiments: Sequence[Experiment]) -> None:
    """Raise UsageError for experiments that are too few, named twice, or imported."""
    for experiment in experiments:
        refuse_set(experiment, "has no machine of its own")
    counts = Counter(experiment.id for experiment in experiments)
    if repeated := next((name for name, count in counts.items() if count > 1), None):
        raise UsageError(f"experiment {repeated} is named twice", "name one experiment of each machine")
    if len(experiments) < FEWEST:
        message = f"fewer than {FEWEST} machines do not tell how much machines differ"
        raise UsageError(message, f"name {FEWEST} experiments or more, each of another machine")


def identity(fingerprint: Mapping[str, str]) -> tuple[str, ...]:
    """Return what an upgrade leaves of a machine's fingerprint; the host name comes first."""
    return tuple(fingerprint.get(name, "") for name in _IDENTITY)


def _machine_names(experiments: Sequence[Experiment], plans: dict[str, Plan]) -> dict[str, str]:
    """The name of each experiment's machine: its host's, with the address where hosts share a name.

    Raises UsageError where two experiments were made on one machine.
    """
    by_machine: dict[tuple[str, ...], Experiment] = {}
    for experiment in experiments:
        key = identity(experiment.fingerprint)
        earlier = by_machine.setdefault(key, experiment)
        if earlier is not experiment:
            message = f"experiments {earlier.id} and {experiment.id} were made on one machine, {key[0]}"
            todo = "name one of them, or give the machines different host names; paribus compare shows two experiments"
            raise UsageError(message, todo)
    hosts = Counter(key[0] for key in by_machine)
    return {
        experiment.id: f"{host} ({plans[experiment.id].target.address}, {experiment.id})" if hosts[host] > 1 else host
        for (host, *_), experiment in by_machine.items()
    }


def _questions(plan: Plan) -> dict[tuple[str, str, str], str]:
    """By factor, arm and workload the settings that are compared, and everything that is the same in both."""
    database = plan.database
    shared = (sorted(plan.hold.items()), plan.events, database and (database.kind, database.running is None))
    questions = {}
    for comparison in candidates(plan):
        workload = comparison.workload
        load = (
            workload.kind, sorted(workload.parameters.items()), workload.load_levels, workload.open_loop, workload.data,
            workload.cache, workload.precondition, workload.database,
        )  # fmt: skip
        baseline, *arms = ([(key, arm.settings.get(key)) for key in comparison.tested] for arm in comparison.arms)
        for arm, settings in zip(comparison.arms[1:], arms, strict=True):
            questions[comparison.factor, arm.label, workload.name] = repr((baseline, settings, shared, load))
    return questions
