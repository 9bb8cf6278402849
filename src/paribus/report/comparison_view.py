"""Two experiments beside each other: first what differed beside what is asked, then what came out.

In: two experiments with their plans, and what `analysis.between` found. Out: one document for programs, and the view of
it that every written form shows. Called by `compare`.
"""

from collections.abc import Iterable, Mapping, Sequence

from pydantic import BaseModel, ConfigDict, Field

from paribus.findings import Between, EffectBetween, Estimate
from paribus.i18n import N_, gettext
from paribus.model import Effect, Experiment, Plan, Verdict
from paribus.report.sections import verdicts
from paribus.report.view import numbers
from paribus.report.view.comparison_models import BaselineRow, ComparedView, EffectRow, FormattedDifference
from paribus.report.view.terms import fact

_ONE_SITTING = N_(
    "each experiment is one session: variation between sessions on the same machine is not "
    "part of these intervals, so repeat both experiments before a purchase"
)
_DECIDED = {Verdict.BETTER: "better", Verdict.WORSE: "worse"}


class ExperimentDifference(BaseModel):
    """Something that is not the same in both experiments; empty where one of them has it not."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    what: str
    first: str
    second: str


class ComparedDocument(BaseModel):
    """Two experiments beside each other."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=True)

    version: int = 1
    first: str = Field(description="id of the first experiment")
    second: str
    names: tuple[str, str] = Field(description="what the plans of the two call themselves")
    differences: list[ExperimentDifference]
    between: list[Between] = Field(description="the baseline's responses, second over first, as log ratios")
    effects: list[EffectBetween] = Field(description="effects judged in both")
    notes: list[str]


def document(
    experiments: tuple[Experiment, Experiment],
    plans: tuple[Plan, Plan],
    between: Sequence[Between],
    effects: Sequence[EffectBetween],
    constant_conditions: tuple[Mapping[str, str], Mapping[str, str]] = ({}, {}),
    *,
    planned_pairs: Iterable[tuple[str, str]] = (),
    unmatched_effects: tuple[Sequence[Effect], Sequence[Effect]] = ((), ()),
) -> ComparedDocument:
    """Return the comparison as a document; `constant_conditions` are settings that no trial set, and that stayed.

    `planned_pairs`: workloads and responses in both plans. `unmatched_effects`: effects judged in one experiment only.
    """
    notes = [*_left_out(experiments, planned_pairs, between, unmatched_effects), gettext(_ONE_SITTING)]
    return ComparedDocument(
        first=experiments[0].id,
        second=experiments[1].id,
        names=(experiments[0].name, experiments[1].name),
        differences=_differences(experiments, plans, constant_conditions if all(constant_conditions) else ({}, {})),
        between=list(between),
        effects=list(effects),
        notes=notes,
    )


def _left_out(
    experiments: tuple[Experiment, Experiment],
    planned_pairs: Iterable[tuple[str, str]],
    between: Sequence[Between],
    unmatched_effects: tuple[Sequence[Effect], Sequence[Effect]],
) -> list[str]:
    """Return notes on comparisons that a reader might look for, with the reason why each is not there."""
    compared = {(comparison.workload, comparison.response) for comparison in between}
    if not compared:
        notes = [gettext("no workload has three complete baseline rounds in both experiments: nothing is compared")]
    else:
        message = N_(
            "{response} under {workload} is not compared: its baseline lacks three complete rounds in both experiments"
        )
        notes = [
            gettext(message, response=verdicts.title(response), workload=workload)
            for workload, response in planned_pairs
            if (workload, response) not in compared
        ]
    message = N_("{factor}: {arm} instead of {baseline} under {workload} is judged in {experiment} alone")
    return notes + [
        gettext(message, factor=e.factor, arm=e.arm, baseline=e.baseline, workload=e.workload, experiment=experiment.id)
        for experiment, effects in zip(experiments, unmatched_effects, strict=True)
        for e in effects
    ]


def _differences(
    experiments: tuple[Experiment, Experiment],
    plans: tuple[Plan, Plan],
    conditions: tuple[Mapping[str, str], Mapping[str, str]],
) -> list[ExperimentDifference]:
    """Of machine, software, settings held and found, workloads and protocol, in this order."""
    sides: list[dict[str, str]] = []
    shared_workloads = {workload.name for workload in plans[0].workloads} & {
        workload.name for workload in plans[1].workloads
    }
    for experiment, plan, constant in zip(experiments, plans, conditions, strict=True):
        facts = {fact(name): value for name, value in experiment.fingerprint.items()}
        facts |= {gettext("version of {name}", name=name): value for name, value in experiment.versions.items()}
        facts |= {gettext(name): value for name, value in constant.items() if name != "boot"}
        facts |= {name: str(value) for name, value in plan.baseline.items()}
        for workload in plan.workloads:
            if workload.name not in shared_workloads:
                facts[gettext("workload {name}", name=workload.name)] = workload.kind
                continue
            facts |= {f"{workload.name}.{name}": str(value) for name, value in workload.parameters.items()}
            facts[f"{workload.name}." + gettext("load levels")] = ", ".join(map(str, workload.load_levels))
        facts[gettext("seconds of a trial")] = f"{plan.protocol.trial_s:g}"
        facts[gettext("path")] = plan.target.path
        sides.append(facts)
    first, second = sides
    return [
        ExperimentDifference(what=what, first=first.get(what, ""), second=second.get(what, ""))
        for what in dict.fromkeys([*first, *second])
        if first.get(what) != second.get(what)
    ]


def view(document: ComparedDocument) -> ComparedView:
    """Return the part of it that is printed, worded and rounded."""
    baseline = tuple(_row(baseline_change) for baseline_change in document.between)
    sentences = [
        gettext(
            "{workload}: {effect} {what}, {verdict}",
            workload=row.workload,
            effect=f"{row.change.effect} {row.change.interval}",
            what=row.response,
            verdict=row.verdict,
        )
        for row in baseline
        if row.whole
    ]
    ids, differently_named = (document.first, document.second), document.names[0] != document.names[1]
    first, second = document.names if differently_named else ids
    identities = gettext(", ").join(
        gettext("{name} is {experiment}", name=n, experiment=i) for n, i in zip(document.names, ids, strict=True)
    )
    return ComparedView(
        title=gettext("{second} against {first}", second=second, first=first),
        experiments=identities if differently_named else document.names[0],
        headline=gettext("; ").join(sentences) or gettext("no baseline could be compared"),
        first=first,
        second=second,
        differences=tuple(
            (difference.what, difference.first or numbers.DASH, difference.second or numbers.DASH)
            for difference in document.differences
        ),
        baseline=baseline,
        effects=tuple(_effect_row(effect) for effect in document.effects),
        notes=tuple(document.notes),
    )


def _row(between: Between) -> BaselineRow:
    return BaselineRow(
        workload=between.workload,
        response=verdicts.title(between.response),
        load=gettext("all") if between.load is None else between.load.figure,
        whole=between.load is None,
        change=_change(between, between.margin, _DECIDED.get(between.verdict, "") if between.verdict else ""),
        verdict=gettext(verdicts.WORDS[between.verdict]) if between.verdict else "",
        rounds=between.rounds,
        trials=between.trials,
    )


def _effect_row(effect: EffectBetween) -> EffectRow:
    agreement = {True: gettext("same"), False: gettext("differs"), None: gettext("undetermined")}[effect.alike]
    first, second = (_change(side, effect.margin, "") for side in (effect.first, effect.second))
    return EffectRow(
        factor=effect.factor,
        arms=gettext("{arm} instead of {baseline}", arm=effect.arm, baseline=effect.baseline),
        workload=effect.workload,
        response=verdicts.title(effect.response),
        first=f"{first.effect} {first.interval}",
        second=f"{second.effect} {second.interval}",
        difference=_change(effect.difference, effect.margin, ""),
        conclusion=agreement,
    )


def _change(difference: Between | Estimate, margin: float, decided: str) -> FormattedDifference:
    estimate = difference.estimate if isinstance(difference, Between) else difference.value
    assert difference.low is not None and difference.high is not None
    text = numbers.effect(estimate, difference.low, difference.high)
    return FormattedDifference(
        effect=text.estimate,
        interval=text.interval,
        estimate=numbers.percent_of(estimate),
        low=numbers.percent_of(difference.low),
        high=numbers.percent_of(difference.high),
        margin=numbers.margin(margin),
        margin_low=numbers.percent_of(-margin),
        margin_high=numbers.percent_of(margin),
        decided=decided,
    )
