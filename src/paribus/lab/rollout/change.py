"""Change for production: what an experiment recommends, step by step, with its evidence, its risk and the way back.

In: an experiment of a store; no machine is asked. Out: the steps for `runbook.py` and `playbook.py`.
"""

from dataclasses import dataclass
from datetime import UTC, datetime

from paribus.errors import Inapplicable, UsageError
from paribus.i18n import N_, gettext
from paribus.knobs import recipe
from paribus.knobs.kinds import knob_kinds
from paribus.knobs.loss import loss_of
from paribus.lab.results.reporting import refuse_set, report_view
from paribus.lab.rollout.recommendation import (
    recommended_arms,
    recommended_settings,
    refuse_contradiction,
    untested_combination_notes,
)
from paribus.lab.store.stores import open_experiment, read
from paribus.model import LAYOUT, ExperimentState, Knob, Plan, Settings, Value, is_of_hypervisor
from paribus.report.view.view_models import Advice, ReportView

_OPEN = ("wait", "choose")  # kinds of advice
_BEGUN = (ExperimentState.PLANNED, ExperimentState.RUNNING)
_HOLDERS = ("machine", "server")  # of settings that a playbook can make


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeStep:
    """A setting to change, with the lines that do it, show it, keep it and take it back.

    `by_hand`: it is a layout, a property of a program or of a hypervisor, which no playbook sets.
    """

    knob: str
    before: Value | None
    after: Value
    set: str
    check: str = ""
    keep: str = ""
    roll_back: str = ""
    takes_effect: str = ""
    loss: str = ""
    by_hand: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedFactor:
    """A factor to change: the level, what the report says of it, each verdict on it, and its steps."""

    factor: str
    arm: str
    text: str
    verdicts: tuple[str, ...]
    steps: tuple[ChangeStep, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProductionChange:
    """The change that an experiment recommends; `notes` are warnings.

    `open_questions` are advice on factors that are not changed, `database` is the kind of server.
    """

    experiment: str
    name: str
    host: str
    system: str
    measured: str
    factors: tuple[ChangedFactor, ...]
    open_questions: tuple[str, ...]
    database: str = ""
    notes: tuple[str, ...] = ()

    @property
    def steps(self) -> list[ChangeStep]:
        """The steps of all factors, each setting once."""
        return list({step.knob: step for factor in self.factors for step in factor.steps}.values())


def change_of(experiment: str, store: str | None, factor: str = "") -> ProductionChange:
    """The change that an experiment recommends, for one factor or for all.

    Raises UsageError for an imported set, an unknown factor or factors that contradict each other, and Inapplicable
    where nothing is to be changed.
    """
    opened, recorded = open_experiment(store, experiment)
    refuse_set(recorded, "was not measured on a machine of yours", "try it first: paribus check PLAN")
    plan, report = read.plan(opened, recorded.id), report_view(opened, recorded)
    names = [each.factor for each in report.advice]
    if factor and factor not in names:
        raise UsageError(f"{recorded.id} has no factor {factor}", f"it has: {', '.join(names) or 'none'}")
    chosen = [each for each in report.advice if each.kind == "set" and factor in ("", each.factor)]
    if not chosen:
        if recorded.state is ExperimentState.DONE:
            raise Inapplicable(f"{recorded.id} recommends no change", f"see: paribus report {recorded.id}")
        todo = (
            "wait until it has ended: paribus status" if recorded.state in _BEGUN else f"paribus resume {recorded.id}"
        )
        raise Inapplicable(f"{recorded.id} recommends no change yet: it is {recorded.state}", todo)
    refuse_contradiction({each.factor: recommended_settings(plan, each) for each in chosen})
    return ProductionChange(
        experiment=recorded.id,
        name=" ".join(recorded.name.split()),
        host=recorded.fingerprint.get("host", ""),
        system=", ".join(filter(None, map(recorded.fingerprint.get, ("system", "kernel", "cpu")))),
        measured=datetime.fromtimestamp(recorded.started, UTC).strftime("%Y-%m-%d"),
        factors=tuple(_changed(plan, report, each) for each in chosen),
        open_questions=tuple(f"{each.factor}: {each.text}" for each in report.advice if each.kind in _OPEN),
        database=plan.database.kind if plan.database else "",
        notes=tuple(untested_combination_notes(plan, [each.factor for each in chosen])),
    )


def _changed(plan: Plan, report: ReportView, advice: Advice) -> ChangedFactor:
    baseline, arm, tested = recommended_arms(plan, advice)
    knobs = {knob.name: knob for knob in plan.knobs}
    rows = [row for row in report.verdicts if (row.answer.factor, row.answer.arm) == (advice.factor, advice.arm)]
    return ChangedFactor(
        factor=advice.factor,
        arm=advice.arm,
        text=advice.text,
        verdicts=tuple(f"{row.answer.sentence}, {row.confidence}" for row in rows),
        steps=tuple(
            _step(key, knobs.get(key), baseline.settings, arm.settings)
            for key in tested
            if key in arm.settings and baseline.settings.get(key) != arm.settings[key]
        ),
    )


def _step(key: str, knob: Knob | None, baseline: Settings, arm: Settings) -> ChangeStep:
    before, after = baseline.get(key), arm[key]
    if knob is None:
        text = N_("{setting} = {value}: a property of the load; your program must work so")
        return ChangeStep(
            knob=key, before=before, after=after, set=gettext(text, setting=key, value=after), by_hand=True
        )
    is_by_hand = knob_kinds.get(knob.kind).holder not in _HOLDERS or is_of_hypervisor(key)
    keep = recipe.located(knob, recipe.persist_command(knob, after))
    set_line = keep if is_by_hand and knob.name != LAYOUT else recipe.set_command(knob, after)
    return ChangeStep(
        knob=key,
        before=before,
        after=after,
        set=recipe.located(knob, set_line),
        check=recipe.check_command(knob),
        keep=keep,
        roll_back="" if before is None else recipe.located(knob, recipe.set_command(knob, before)),
        takes_effect=knob.takes_effect,
        loss=gettext(loss_of(knob, after)) if loss_of(knob, after) else "",
        by_hand=is_by_hand,
    )
