"""Settings that an experiment recommends for its machine: present and wanted value, commands, and refusals."""

from collections.abc import Callable, Iterator, Mapping

from pydantic import BaseModel, ConfigDict

from paribus.errors import HostError, Inapplicable, UsageError
from paribus.knobs import recipe
from paribus.knobs.discovery import offer
from paribus.knobs.kinds import knob_kinds
from paribus.knobs.persistent_apply import AppliedForGood
from paribus.knobs.recipe import DANGERS
from paribus.lab.inspection import Report, discard, fingerprint, site_of_plan
from paribus.lab.reporting import refuse_set, report_view
from paribus.lab.running_server import Asked, leave_all, variables_of
from paribus.lab.stores import open_experiment, read
from paribus.model import Experiment, Knob, Plan, Settings, Target, Value
from paribus.plan.comparisons import candidates, screened
from paribus.report.view.view_models import Advice
from paribus.trial.target_session import Site

__all__ = ["DANGERS", "ApplyDocument", "Step", "apply", "document", "done", "refuse"]

_OWN_GOVERNOR = (
    "cpu.governor"  # the fingerprint has the governor; where it is a factor it is no sign of another machine
)


class _Document(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Difference(_Document):
    """Something by which the machine is not the one that was measured."""

    name: str
    measured: str
    found: str


class Advised(_Document):
    """What the report says to do about a factor: set, keep, choose or wait."""

    factor: str
    kind: str
    text: str


class Step(_Document):
    """A setting to be made; `by_hand` where it is none of the machine, `refused` where it cannot be made."""

    factor: str
    knob: str
    now: Value | None
    wanted: Value
    set: str
    check: str
    persist: str
    by_hand: bool
    danger: str
    refused: str


class Made(_Document):
    """A setting after it was made or moved, as read back."""

    knob: str
    before: Value
    wanted: Value
    now: Value | None


class ApplyDocument(_Document):
    """The answer of `paribus apply --json`; `journal` is empty where nothing was set."""

    experiment: str
    target: str
    differences: list[Difference]
    advice: list[Advised]
    steps: list[Step]
    notes: list[str]
    made: list[Made]
    journal: str

    @property
    def to_set(self) -> dict[str, Value]:
        """The settings that are to be made and are not in force."""
        return {one.knob: one.wanted for one in self.steps if not one.by_hand and one.now != one.wanted}


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
) -> ApplyDocument | None:
    """Set on its machine what an experiment recommends, and leave it set; None where `confirm` refused.

    Calls `on_plan` before anything is set, `confirm` where there is something to set, and `on_applied` after it was.
    Raises UsageError, Inapplicable for another machine (unless `anyway`), and HostError where a value is refused.
    """
    opened, recorded = open_experiment(store, experiment)
    refuse_set(recorded, "sets nothing here", "try it on this machine first: paribus check PLAN")
    plan = read.plan(opened, recorded.id)
    advice = {each.factor: each for each in report_view(opened, recorded).advice}
    with site_of_plan(plan, report) as connected:
        connected.refuse_open_journals()  # values that a crash left behind are not the present settings
        recommended = document(plan, recorded, advice, connected, factor)
        on_plan(recommended)
        if not dry_run:
            refuse(recommended, factor, anyway=anyway)
        if recommended.to_set and not dry_run:
            if not confirm(recommended):
                return None
            left = leave_all(plan, connected, recorded.id, recommended.to_set, stop_requested)
            recommended = done(recommended, left)
            on_applied(recommended, plan.target)
    return recommended


def document(plan: Plan, found: Experiment, advice: Mapping[str, Advice], site: Site, factor: str) -> ApplyDocument:
    """What is to be set, of one factor or of all; nothing is changed.

    Raises UsageError for a factor that is none, or where two want different values of one knob.
    """
    if factor and factor not in advice:
        raise UsageError(f"{found.id} has no factor {factor}", f"it has: {', '.join(advice) or 'none'}")
    chosen = [one for one in advice.values() if not factor or one.factor == factor]
    wanted = {one.factor: _arm(plan, one) for one in chosen if one.kind == "set"}
    _refuse_contradiction(wanted)
    root = site.host.run(["id", "-u"]).stdout.strip() == "0"
    with variables_of(plan, site) as asked:
        steps = [_step(plan, site, name, key, arm, root, asked) for name, arm in wanted.items() for key in arm]
    return ApplyDocument(
        experiment=found.id,
        target=plan.target.address,
        differences=_differences(plan, found, site),
        advice=[Advised(factor=one.factor, kind=one.kind, text=one.text) for one in chosen],
        steps=list({step.knob: step for step in steps}.values()),
        notes=[*_untried(plan, list(wanted)), *_otherwise(plan, site, {step.knob for step in steps}, root)],
        made=[],
        journal="",
    )


def _arm(plan: Plan, advised: Advice) -> Settings:
    """The settings of what is advised."""
    for comparison in candidates(plan):
        for arm in comparison.arms:
            if (comparison.factor, arm.label) == (advised.factor, advised.arm):
                return {key: arm.settings[key] for key in comparison.tested if key in arm.settings}
    raise Inapplicable(f"the plan does not say what {advised.factor} = {advised.arm} is")


def _refuse_contradiction(wanted: Mapping[str, Settings]) -> None:
    said: dict[str, tuple[str, Value]] = {}
    for factor, arm in wanted.items():
        for key, value in arm.items():
            other, known = said.setdefault(key, (factor, value))
            if known != value:
                raise UsageError(f"{other} wants {key} = {known}, {factor} wants {value}", "choose one with --factor")


def _step(plan: Plan, site: Site, factor: str, key: str, arm: Settings, root: bool, asked: Asked | None) -> Step:
    value = arm[key]
    placed = next((knob for knob in plan.knobs if knob.name == key), None)
    if placed is None:
        words = f"{key} = {value}  # a property of the load: your program must work so"
        return _by_hand(factor, key, value, words, "", "")
    if knob_kinds.get(placed.kind).holder == "server" and asked is not None:
        now, refused = asked(placed.name.partition(".")[2], value)
        return Step(
            factor=factor,
            knob=key,
            now=now,
            wanted=value,
            set=recipe.set_command(placed, value),
            check=recipe.check_command(placed),
            persist=recipe.persist_command(placed, value),
            by_hand=False,
            danger=placed.danger,
            refused=refused,
        )
    if not _is_of_the_machine(placed):
        commands = recipe.set_command(placed, value), recipe.check_command(placed)
        if knob_kinds.get(placed.kind).holder == "group":  # the group of the experiment is gone with it
            commands = recipe.persist_command(placed, value), ""
        return _by_hand(factor, key, value, *commands, recipe.persist_command(placed, value))
    here = offer(site.host, site.catalogue, key, plan.target.location, root=root)
    knob = here.knob if here.current is not None else placed
    comes_with_another = here.current is None and knob.exists_under in arm
    refused = "" if comes_with_another else "; ".join(filter(None, (here.refused, here.todo)))
    return Step(
        factor=factor,
        knob=key,
        now=here.current,
        wanted=value,
        set=recipe.set_command(knob, value),
        check=recipe.check_command(knob),
        persist=recipe.persist_command(knob, value),
        by_hand=False,
        danger=knob.danger,
        refused=refused,
    )


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
    """Whether it lies in the machine itself, not in a process, a server or a group that were the experiment's own."""
    return knob_kinds.get(knob.kind).holder == "machine"


def _differences(plan: Plan, found: Experiment, site: Site) -> list[Difference]:
    """By what this is another machine than the one that was measured."""
    now = fingerprint(site, plan.target.path, plan.target.device)
    ours = {"governor"} if _OWN_GOVERNOR in plan.baseline else set()
    return [
        Difference(name=name, measured=found.fingerprint.get(name, "nothing"), found=now.get(name, "nothing"))
        for name in dict.fromkeys([*found.fingerprint, *now])
        if found.fingerprint.get(name) != now.get(name) and name not in ours
    ]


def _untried(plan: Plan, factors: list[str]) -> list[str]:
    """That settings were not tried together, where that is so."""
    together = {factor.key for workload in plan.workloads for factor in screened(plan, workload)}
    alone = [factor for factor in factors if factor not in together]
    if len(factors) < 2 or not alone:
        return []
    return [f"{', '.join(factors)} were not measured together: each was compared with the baseline alone"]


def _otherwise(plan: Plan, site: Site, own: set[str], root: bool) -> Iterator[str]:
    """What else the experiment had set, and is something else now."""
    for knob in plan.knobs:
        if knob.name in own or knob.name not in plan.baseline or not _is_of_the_machine(knob):
            continue
        now = offer(site.host, site.catalogue, knob.name, plan.target.location, root=root).current
        if now != plan.baseline[knob.name]:
            here = "which cannot be read here" if now is None else f"which is {now} here now"
            yield f"measured with {knob.name} = {plan.baseline[knob.name]}, {here}"


def done(found: ApplyDocument, left: AppliedForGood) -> ApplyDocument:
    """With what was set and moved."""
    made = [
        Made(knob=one.knob, before=one.before, wanted=one.wanted, now=one.observed)
        for one in left.changes
        if one.before != one.observed
    ]
    return found.model_copy(update={"made": made, "journal": left.journal})


def refuse(found: ApplyDocument, factor: str, *, anyway: bool) -> None:
    """Raise Inapplicable where nothing may be set by what was found, HostError where it cannot be."""
    if found.differences and not anyway:
        told = "".join(f"\n  {one.name}: measured {one.measured}, here {one.found}" for one in found.differences)
        raise Inapplicable(f"this is not the machine that was measured:{told}", "set it all the same with --anyway")
    for one in found.advice:
        if factor and one.kind in ("choose", "wait"):
            raise Inapplicable(f"{one.factor}: {one.text}", f"see: paribus report {found.experiment}")
    wrong = [f"{one.knob}: {one.refused}" for one in found.steps if one.refused and one.now != one.wanted]
    if wrong:
        raise HostError("cannot be set here: " + "\n  ".join(wrong))
