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
    conditions: tuple[Mapping[str, str], Mapping[str, str]] = ({}, {}),
    *,
    asked: Iterable[tuple[str, str]] = (),
    alone: tuple[Sequence[Effect], Sequence[Effect]] = ((), ()),
) -> ComparedDocument:
    """What differed, and what was found; `conditions` are what no trial of an experiment set, and stayed.

    `asked` are workloads and responses in both plans, `alone` the effects that are judged in one experiment only.
    """
    notes = [*_left_out(experiments, asked, between, alone), gettext(_ONE_SITTING)]
    return ComparedDocument(
        first=experiments[0].id,
        second=experiments[1].id,
        names=(experiments[0].name, experiments[1].name),
        differences=_differences(experiments, plans, conditions if all(conditions) else ({}, {})),
        between=list(between),
        effects=list(effects),
        notes=notes,
    )


def _left_out(
    experiments: tuple[Experiment, Experiment],
    asked: Iterable[tuple[str, str]],
    between: Sequence[Between],
    alone: tuple[Sequence[Effect], Sequence[Effect]],
) -> list[str]:
    """What a reader might look for, and why it is not there."""
    compared = {(one.workload, one.response) for one in between}
    if not compared:
        notes = [gettext("no workload has three complete baseline rounds in both experiments: nothing is compared")]
    else:
        said = N_(
            "{response} under {workload} is not compared: its baseline lacks three complete rounds in both experiments"
        )
        notes = [
            gettext(said, response=verdicts.title(response), workload=workload)
            for workload, response in asked
            if (workload, response) not in compared
        ]
    said = N_("{factor}: {arm} instead of {baseline} under {workload} is judged in {experiment} alone")
    return notes + [
        gettext(said, factor=e.factor, arm=e.arm, baseline=e.baseline, workload=e.workload, experiment=experiment.id)
        for experiment, effects in zip(experiments, alone, strict=True)
        for e in effects
    ]


def _differences(
    experiments: tuple[Experiment, Experiment],
    plans: tuple[Plan, Plan],
    conditions: tuple[Mapping[str, str], Mapping[str, str]],
) -> list[ExperimentDifference]:
    """Of machine, software, settings held and found, workloads and protocol, in this order."""
    sides: list[dict[str, str]] = []
    both = {workload.name for workload in plans[0].workloads} & {workload.name for workload in plans[1].workloads}
    for experiment, plan, stayed in zip(experiments, plans, conditions, strict=True):
        facts = {gettext(name).replace("_", " "): value for name, value in experiment.fingerprint.items()}
        facts |= {gettext("version of {name}", name=name): value for name, value in experiment.versions.items()}
        facts |= {gettext(name): value for name, value in stayed.items() if name != "boot"}
        facts |= {name: str(value) for name, value in plan.baseline.items()}
        for workload in plan.workloads:
            if workload.name not in both:
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


def view(found: ComparedDocument) -> ComparedView:
    """What of it is shown, worded and rounded."""
    baseline = tuple(_row(one) for one in found.between)
    said = [
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
    ids, named = (found.first, found.second), found.names[0] != found.names[1]
    first, second = found.names if named else ids
    which = gettext(", ").join(
        gettext("{name} is {experiment}", name=n, experiment=i) for n, i in zip(found.names, ids, strict=True)
    )
    return ComparedView(
        title=gettext("{second} against {first}", second=second, first=first),
        experiments=which if named else found.names[0],
        headline=gettext("; ").join(said) or gettext("no baseline could be compared"),
        first=first,
        second=second,
        differences=tuple(
            (one.what, one.first or numbers.DASH, one.second or numbers.DASH) for one in found.differences
        ),
        baseline=baseline,
        effects=tuple(_effect_row(one) for one in found.effects),
        notes=tuple(found.notes),
    )


def _row(one: Between) -> BaselineRow:
    return BaselineRow(
        workload=one.workload,
        response=verdicts.title(one.response),
        load=gettext("all") if one.load is None else one.load.figure,
        whole=one.load is None,
        change=_change(one, one.margin, _DECIDED.get(one.verdict, "") if one.verdict else ""),
        verdict=gettext(verdicts.WORDS[one.verdict]) if one.verdict else "",
        rounds=one.rounds,
        trials=one.trials,
    )


def _effect_row(one: EffectBetween) -> EffectRow:
    said = {True: gettext("same"), False: gettext("differs"), None: gettext("undetermined")}[one.alike]
    first, second = (_change(side, one.margin, "") for side in (one.first, one.second))
    return EffectRow(
        factor=one.factor,
        arms=gettext("{arm} instead of {baseline}", arm=one.arm, baseline=one.baseline),
        workload=one.workload,
        response=verdicts.title(one.response),
        first=f"{first.effect} {first.interval}",
        second=f"{second.effect} {second.interval}",
        difference=_change(one.difference, one.margin, ""),
        said=said,
    )


def _change(found: Between | Estimate, margin: float, decided: str) -> FormattedDifference:
    estimate = found.estimate if isinstance(found, Between) else found.value
    assert found.low is not None and found.high is not None
    words = numbers.effect(estimate, found.low, found.high)
    return FormattedDifference(
        effect=words.estimate,
        interval=words.interval,
        estimate=numbers.percent_of(estimate),
        low=numbers.percent_of(found.low),
        high=numbers.percent_of(found.high),
        margin=numbers.margin(margin),
        margin_low=numbers.percent_of(-margin),
        margin_high=numbers.percent_of(margin),
        decided=decided,
    )
