"""Application of recommended settings to their machine: the steps, the differences and the refusals."""

from collections.abc import Callable, Iterator, Mapping

from paribus.errors import HostError, Inapplicable, UsageError
from paribus.hosts.facts import LOAD_HOST
from paribus.knobs import recipe
from paribus.knobs.apply import is_same_value
from paribus.knobs.catalog import SERVER
from paribus.knobs.discovery import offer
from paribus.knobs.kinds import knob_kinds
from paribus.knobs.persistent_apply import AppliedForGood
from paribus.knobs.recipe import DANGERS
from paribus.lab.machine.connection import Report, discard
from paribus.lab.machine.inspection import fingerprint, site_of_plan
from paribus.lab.machine.running_server import ServerQuery, apply_all_for_good, server_variables
from paribus.lab.results.reporting import refuse_set, report_view
from paribus.lab.rollout.apply_document import Advised, ApplyDocument, Difference, Made, Step
from paribus.lab.rollout.other_machine import (
    OtherMachine,
    is_own_fact,
    located,
    moved,
    refuse_running_server,
    storage_kind,
    with_stated_device,
)
from paribus.lab.rollout.recommendation import recommended_settings, refuse_contradiction, untested_combination_notes
from paribus.lab.store.stores import open_experiment, read
from paribus.model import Experiment, Knob, Location, Plan, Settings, Target, Value, is_of_hypervisor
from paribus.report.view.view_models import Advice
from paribus.trial.target_session import Site

__all__ = ["DANGERS", "apply", "document", "refuse", "with_applied_changes"]

# Facts of the fingerprint that are settings too; where one is a factor it is no sign of another machine.
_SETTING_OF_FACT = {"governor": "cpu.governor", "hypervisor_governor": "host.cpu.governor"}


def apply(
    experiment: str,
    store: str | None,
    *,
    factor: str = "",
    dry_run: bool = False,
    anyway: bool = False,
    on_plan: Callable[[ApplyDocument], None] = lambda _document: None,
    confirm: Callable[[ApplyDocument], bool] = lambda _document: True,
    stop_requested: Callable[[], bool] = lambda: False,
    on_applied: Callable[[ApplyDocument, Target], None] = lambda _document, _target: None,
    report: Report = discard,
    machine: OtherMachine | None = None,
) -> ApplyDocument | None:
    """Apply the settings that an experiment recommends, to its machine or another; None if `confirm` refused.

    Calls `on_plan` before any change, `confirm` if there is something to set, and `on_applied` after the change. Raises
    UsageError, Inapplicable for another kind of machine (unless `anyway`), and HostError if a value is refused.
    """
    opened, recorded = open_experiment(store, experiment)
    refuse_set(recorded, "sets nothing here", "try it on this machine first: paribus check PLAN")
    plan = read.plan(opened, recorded.id)
    measured = plan.target
    if machine is not None and (machine.address, machine.path, machine.device) == (measured.address, "", ""):
        machine = None
    if machine is not None:
        refuse_running_server(plan, recorded.id)
        machine = with_stated_device(machine, recorded)
        plan = moved(plan, machine)
    advice = {each.factor: each for each in report_view(opened, recorded).advice}
    with site_of_plan(plan, report) as connected:
        connected.refuse_open_journals()  # values that a crash left behind are not the present settings
        if machine is not None:
            plan = located(plan, machine, connected)
        recommended = document(plan, recorded, advice, connected, factor, elsewhere=machine is not None)
        recommended = _with_storage_difference(recommended, measured.location, plan.target.location)
        on_plan(recommended)
        if not dry_run:
            refuse(recommended, factor, anyway=anyway)
        if recommended.to_set and not dry_run:
            if not confirm(recommended):
                return None
            result = apply_all_for_good(plan, connected, recorded.id, recommended.to_set, stop_requested)
            recommended = with_applied_changes(recommended, result)
            on_applied(recommended, plan.target)
    return recommended


def document(
    plan: Plan,
    experiment: Experiment,
    advice: Mapping[str, Advice],
    site: Site,
    factor: str,
    *,
    elsewhere: bool = False,
) -> ApplyDocument:
    """The steps for one factor, or for all if `factor` is empty; changes nothing.

    `elsewhere`: another machine than the measured one is meant, so that it may have another name and other disks.
    Raises UsageError for an unknown factor, or if two factors require different values of one knob.
    """
    if factor and factor not in advice:
        raise UsageError(f"{experiment.id} has no factor {factor}", f"it has: {', '.join(advice) or 'none'}")
    chosen = [advised for advised in advice.values() if not factor or advised.factor == factor]
    settings_by_factor = {
        advised.factor: recommended_settings(plan, advised) for advised in chosen if advised.kind == "set"
    }
    refuse_contradiction(settings_by_factor)
    is_root = site.host.run(["id", "-u"]).stdout.strip() == "0"
    with server_variables(plan, site) as query_variable:
        steps = [
            _step(plan, site, name, key, arm, is_root, query_variable)
            for name, arm in settings_by_factor.items()
            for key in arm
        ]
    return ApplyDocument(
        experiment=experiment.id,
        target=plan.target.address,
        differences=[
            difference
            for difference in _differences(plan, experiment, site)
            if not (elsewhere and is_own_fact(difference.name, difference.measured, difference.found))
        ],
        advice=[Advised(factor=advised.factor, kind=advised.kind, text=advised.text) for advised in chosen],
        steps=list({step.knob: step for step in steps}.values()),
        notes=[
            *untested_combination_notes(plan, list(settings_by_factor)),
            *_held_setting_notes(plan, site, {step.knob for step in steps}, is_root),
        ],
        made=[],
        journal="",
    )


def _step(
    plan: Plan, site: Site, factor: str, key: str, arm: Settings, is_root: bool, query_variable: ServerQuery | None
) -> Step:
    value = arm[key]
    plan_knob = next((knob for knob in plan.knobs if knob.name == key), None)
    if plan_knob is None:
        remark = f"{key} = {value}  # a property of the load: your program must work so"
        return _by_hand(factor, key, value, remark, "", "")
    if knob_kinds.get(plan_knob.kind).holder == "server" and query_variable is not None:
        now, refused = query_variable(plan_knob.name.partition(".")[2], value)
        return Step(
            factor=factor,
            knob=key,
            now=now,
            wanted=value,
            set=recipe.set_command(plan_knob, value),
            check=recipe.check_command(plan_knob),
            persist=recipe.persist_command(plan_knob, value),
            by_hand=False,
            danger=plan_knob.danger,
            refused=refused,
        )
    if is_of_hypervisor(key):
        how, persist = (
            recipe.located(plan_knob, line)
            for line in (recipe.set_command(plan_knob, value), recipe.persist_command(plan_knob, value))
        )
        return _by_hand(factor, key, value, how, recipe.check_command(plan_knob), persist)
    if not _is_of_the_machine(plan_knob):
        commands = recipe.set_command(plan_knob, value), recipe.check_command(plan_knob)
        if plan_knob.subject == SERVER or knob_kinds.get(plan_knob.kind).holder == "group":  # gone with the experiment
            commands = recipe.persist_command(plan_knob, value), ""
        return _by_hand(factor, key, value, *commands, recipe.persist_command(plan_knob, value))
    offered = offer(site.host, site.catalogue, key, plan.target.location, root=is_root)
    knob = offered.knob if offered.current is not None else plan_knob
    now = value if is_same_value(knob, value, offered.current) else offered.current  # as exactly as it reads back
    comes_with_another = offered.current is None and knob.exists_under in arm
    refused = "" if comes_with_another else "; ".join(filter(None, (offered.refused, offered.todo)))
    return Step(
        factor=factor,
        knob=key,
        now=now,
        wanted=value,
        set=recipe.set_command(knob, value),
        check=recipe.check_command(knob),
        persist=recipe.persist_command(knob, value),
        by_hand=False,
        danger=knob.danger,
        refused=refused,
    )


def _with_storage_difference(recommended: ApplyDocument, measured: Location, here: Location) -> ApplyDocument:
    """The document with a difference where the data lies on another kind of storage."""
    kinds = storage_kind(measured), storage_kind(here)
    if kinds[0] == kinds[1]:
        return recommended
    difference = Difference(name="storage", measured=kinds[0], found=kinds[1])
    return recommended.model_copy(update={"differences": [*recommended.differences, difference]})


def _by_hand(factor: str, key: str, value: Value, how: str, check: str, persist: str) -> Step:
    return Step(
        factor=factor,
        knob=key,
        now=None,
        wanted=value,
        set=how,
        check=check,
        persist=persist,
        by_hand=True,
        danger="",
        refused="",
    )


def _is_of_the_machine(knob: Knob) -> bool:
    """Whether the knob belongs to the machine, not to a process, server or group of the experiment."""
    return knob_kinds.get(knob.kind).holder == "machine"


def _differences(plan: Plan, experiment: Experiment, site: Site) -> list[Difference]:
    """Fingerprint entries in which this machine differs from the measured one."""
    now = fingerprint(site, plan.target.path, plan.target.device)
    ignored_names = {name for name in experiment.fingerprint if name.startswith(LOAD_HOST)}  # nothing is set there
    ignored_names |= {name for name, setting in _SETTING_OF_FACT.items() if setting in plan.baseline}
    return [
        Difference(name=name, measured=experiment.fingerprint.get(name, "nothing"), found=now.get(name, "nothing"))
        for name in dict.fromkeys([*experiment.fingerprint, *now])
        if experiment.fingerprint.get(name) != now.get(name) and name not in ignored_names
    ]


def _held_setting_notes(plan: Plan, site: Site, applied_knobs: set[str], is_root: bool) -> Iterator[str]:
    """Notes on settings that the experiment held and whose current value differs."""
    for knob in plan.knobs:
        if knob.name in applied_knobs or knob.name not in plan.baseline or not _is_of_the_machine(knob):
            continue
        machine, location = site.machine_of(knob.name), plan.target.location_of(knob.name)
        now = offer(machine.host, machine.catalogue, knob.name, location, root=is_root).current
        if now != plan.baseline[knob.name]:
            here = "which cannot be read here" if now is None else f"which is {now} here now"
            yield f"measured with {knob.name} = {plan.baseline[knob.name]}, {here}"


def with_applied_changes(recommended: ApplyDocument, result: AppliedForGood) -> ApplyDocument:
    """The document with the settings that were changed, and the journal."""
    made = [
        Made(knob=change.knob, before=change.before, wanted=change.wanted, now=change.observed)
        for change in result.changes
        if change.before != change.observed
    ]
    return recommended.model_copy(update={"made": made, "journal": result.journal})


def refuse(recommended: ApplyDocument, factor: str, *, anyway: bool) -> None:
    """Raise Inapplicable if the recommendation is not for this machine, HostError if a setting is refused here."""
    if recommended.differences and not anyway:
        differences = "".join(
            f"\n  {difference.name}: measured {difference.measured}, here {difference.found}"
            for difference in recommended.differences
        )
        raise Inapplicable(
            f"this is not the machine that was measured:{differences}", "to set it on this machine too, add --anyway"
        )
    for advised in recommended.advice:
        if factor and advised.kind in ("choose", "wait"):
            raise Inapplicable(f"{advised.factor}: {advised.text}", f"see: paribus report {recommended.experiment}")
    refusals = [
        f"{step.knob}: {step.refused}" for step in recommended.steps if step.refused and step.now != step.wanted
    ]
    if refusals:
        raise HostError(
            "this machine refuses settings:\n  " + "\n  ".join(refusals), "set another factor with --factor"
        )
