"""Running and resuming an experiment, without a terminal."""

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy.engine import Engine as Store

from paribus import __version__
from paribus.analysis.paired.judge import Judgement
from paribus.errors import UsageError
from paribus.experiment import walk
from paribus.experiment.budget_cap import needed_budget
from paribus.experiment.walk import ExperimentListener
from paribus.hosts.transport import described
from paribus.i18n import N_, stored_message
from paribus.lab.admission import Admission, turn, warn
from paribus.lab.machine.connection import Report, discard
from paribus.lab.machine.inspection import checked, fingerprint, site_of, site_of_plan
from paribus.lab.results.reporting import refuse_set
from paribus.lab.store.stores import open_store
from paribus.model import Experiment, ExperimentState, Plan, Platform
from paribus.plan.form.parse import Parsed, parse, read_file
from paribus.stats.steady import Steadiness
from paribus.store import read, write
from paribus.store.open import file_of, store_url
from paribus.trial.target_session import DATA_FOLDER, Site
from paribus.units import parse_duration, show_duration

__all__ = ["Admission", "ExperimentListener", "Session", "Steadiness", "resumed", "started", "started_as_parsed"]


@dataclass(frozen=True, slots=True)
class Session:
    """An experiment that is ready to run, its store and the machine under test."""

    experiment: Experiment
    store: Store
    site: Site

    def carry_out(self, listener: ExperimentListener, stop_requested: Callable[[], bool]) -> None:
        """Run the remaining trials and restore the machine. Raises as `walk.carry_out`."""
        walk.carry_out(self.experiment, self.store, self.site, listener, stop_requested)

    def judge(self) -> Judgement:
        """Judge what was measured, and record the end of the experiment. Raises StoreError."""
        return walk.judge_experiment(self.experiment, self.store)

    def ended(self) -> Experiment:
        """Read the experiment from the store again. Raises StoreError."""
        return read.find(self.store, self.experiment.id)


@contextlib.contextmanager
def started(
    plan_file: str,
    overrides: Mapping[str, str],
    store: str | None,
    report: Report = discard,
    admission: Admission = Admission.ALONE,
    digest: str = "",
) -> Iterator[Session]:
    """Check a plan file, and begin a new experiment with it in the store.

    Raises as `started_as_parsed`, and UsageError where a `digest` is given and the plan has another one.
    """
    parsed = parse(plan_file, read_file(plan_file), dict(overrides))
    if digest and parsed.digest != digest:
        raise UsageError(f"{plan_file} was changed since the fleet began", "run the fleet again, with one plan for all")
    with started_as_parsed(parsed, store, report, admission) as session:
        yield session


@contextlib.contextmanager
def started_as_parsed(
    parsed: Parsed, store: str | None, report: Report = discard, admission: Admission = Admission.ALONE
) -> Iterator[Session]:
    """Check a parsed plan, and begin a new experiment with it in the store.

    `report` receives what would spoil the measurement. Raises TargetBusy where another experiment runs on the target,
    JournalOpen where one was cut off; PlanError, UsageError, StoreError and HostError.
    """
    with site_of(parsed, report) as site:
        site.refuse_open_journals()  # first: what a plan calls "current" must not be what a crash left behind
        plan, facts = checked(site, parsed)
        with turn(site, admission, report) as has_waited:
            if has_waited:
                plan, facts = checked(site, parsed)
            warn(site, plan, report)
            url = store_url(store)
            refuse_store_in_data(url, plan)
            opened = open_store(store, create=True)
            experiment = walk.begin(plan, parsed.overrides, facts.fingerprint, {"paribus": __version__}, opened)
            yield Session(experiment, opened, site)


@contextlib.contextmanager
def resumed(
    name: str,
    plan_file: str | None,
    store: str | None,
    report: Report = discard,
    admission: Admission = Admission.ALONE,
    budget: str = "",
) -> Iterator[Session]:
    """Prepare to continue an experiment that was cut off; a changed fingerprint becomes a note.

    `last` is the newest that is not done, whatever was imported since. `budget` replaces that of the plan. With a
    `plan_file`, raises UsageError where the experiment began with another plan; raises it also where the budget is used
    up. Raises as `started_as_parsed`.
    """
    opened = open_store(store)
    experiment = _last_open(opened) if name == "last" else read.find(opened, name)
    if plan_file is not None:
        digest = parse(plan_file, read_file(plan_file), experiment.overrides).digest
        if digest != experiment.plan_digest:
            raise UsageError(
                f"{plan_file} is not the plan of {experiment.id}",
                "run it as a new experiment, or resume the stored plan without --plan",
            )
    refuse_set(experiment, "nothing of it can be run")
    if experiment.state is ExperimentState.DONE:
        raise UsageError(f"experiment {experiment.id} is done", f"see its report: paribus report {experiment.id}")
    plan = _with_budget(read.plan(opened, experiment.id), budget, experiment, opened)
    with site_of_plan(plan, report, loads=True) as site:
        site.refuse_open_journals()
        with turn(site, admission, report):
            warn(site, plan, report)
            with described(site.host.name):
                now = fingerprint(site, plan.target.path, plan.target.device)
            _note_changes(opened, experiment, now)
            if budget:
                texts = [show_duration(each.protocol.budget_s) for each in (plan, read.plan(opened, experiment.id))]
                note = N_("resumed with a budget of {budget}, before {before}")
                write.add_note(opened, experiment.id, stored_message(note, budget=texts[0], before=texts[1]))
                write.set_plan(opened, experiment.id, plan)
            yield Session(experiment, opened, site)


def _with_budget(plan: Plan, budget: str, experiment: Experiment, store: Store) -> Plan:
    """The plan with this budget, if one is named. Raises UsageError where it is none, or is used up."""
    if budget:
        try:
            protocol = dataclasses.replace(plan.protocol, budget_s=parse_duration(budget))
        except ValueError as error:
            raise UsageError(f"--budget {budget}: {error}", "write a time such as 20min") from error
        plan = dataclasses.replace(plan, protocol=protocol)
    if needed := needed_budget(plan, read.trials(store, experiment.id)):
        message = f"the budget of experiment {experiment.id}, {show_duration(plan.protocol.budget_s)}, is used up"
        raise UsageError(message, f"continue with more: paribus resume {experiment.id} --budget {needed}")
    return plan


def _last_open(store: Store) -> Experiment:
    """The newest experiment that is not done, or else the newest of all. Raises UsageError for an empty store."""
    ended = (ExperimentState.DONE, ExperimentState.IMPORTED)
    unended = (experiment for experiment in read.experiments(store) if experiment.state not in ended)
    return next(unended, None) or read.find(store, "last")


def _note_changes(store: Store, experiment: Experiment, now: Mapping[str, str]) -> None:
    """Add a note for each part of the fingerprint that differs from the one the experiment began with."""
    for name, before in experiment.fingerprint.items():
        if now.get(name) != before:
            message = N_("resumed with another {name}: {now!r}, before {before!r}")
            note = stored_message(message, name=stored_message(name), now=now.get(name), before=before)
            write.add_note(store, experiment.id, note)


def refuse_store_in_data(url: str, plan: Plan) -> None:
    """Raise UsageError where the store lies in the data under test, and would be part of the load."""
    file = file_of(url)
    for target in {plan.on(platform).target for platform in Platform}:
        data = Path(target.path) / DATA_FOLDER
        if file is not None and target.is_local and data in file.absolute().parents:
            raise UsageError(
                f"the store {file} lies in {data}, where its writes would be part of the load",
                "name a store outside with --store",
            )
