"""The same question on several machines: the mean over them, what to expect of the next, and each machine beside.

In: experiments with what `analysis.fleet` found. Out: one document for programs, and the view that every written form
shows. Called by `fleet report`.
"""

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, Field

from paribus.findings import Estimate, FleetEffect, MachineEffect, OpenQuestion
from paribus.i18n import N_, gettext
from paribus.model import DIRECTIONAL, Verdict
from paribus.report.sections import verdicts
from paribus.report.view import numbers
from paribus.report.view.fleet_models import FleetRow, FleetView, MachineRow, PlotMark
from paribus.report.view.terms import fact

_MAX_NAMED = 8  # machines in a title

_VARIES = N_("from machine to machine the effect varies by {deviation} (standard deviation)")
_BESIDE = N_("the intervals of {n} machines do not hold this mean")
_NEXT = N_("expected of the next machine of this kind: between {low} and {high}")
_NOT_EVERYWHERE = N_("on the next machine it may be the other way round: try it there before it is set")
_DIFFER = N_("more trials do not decide this, since the machines differ: ask more machines, or find out why they do")
_OPEN = N_("more machines, or more trials on each, would decide this")
_APART = N_("{machine} answers otherwise")
_APART_ONLY = N_("{machine} answers otherwise; of all machines it alone has {facts}")
_UNJUDGED = N_("not judged on {machines}")
_LEFT_OUT = N_("not in the mean, since the setting cannot act there: {machines}")


class FleetMachine(BaseModel):
    """One machine of a fleet, with its experiment."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    machine: str
    experiment: str
    name: str = Field(description="what its plan calls itself")


class FleetDocument(BaseModel):
    """One question on several machines."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=True)

    version: int = 1
    machines: list[FleetMachine]
    effects: list[FleetEffect] = Field(description="effects that three machines or more have judged")
    notes: list[str]


def document(
    machines: Sequence[FleetMachine],
    effects: Sequence[FleetEffect],
    open_questions: Sequence[OpenQuestion],
    unfinished: Sequence[str],
) -> FleetDocument:
    """Return the fleet as a document.

    Args:
        machines: The machines with their experiments.
        effects: The effects over machines.
        open_questions: Questions that fewer than three machines have judged in the same way.
        unfinished: Machines whose experiments are not finished.
    """
    notes = [_open(question) for question in open_questions]
    if any(machine.suspect for effect in effects for machine in effect.machines):
        notes.append(gettext("a verdict marked suspect counts like the others; the report of its machine says why"))
    if unfinished:
        text = N_("experiments are not finished, and count as they are: {machines}")
        notes.append(gettext(text, machines=gettext(", ").join(unfinished)))
    return FleetDocument(machines=list(machines), effects=list(effects), notes=notes)


def _open(question: OpenQuestion) -> str:
    """A note on a question without an answer over machines, or with more than one way of asking."""
    effect = question.effect
    names = {
        "factor": effect.factor, "arm": effect.arm, "baseline": effect.baseline, "workload": effect.workload,
        "response": verdicts.title(effect.response),
    }  # fmt: skip
    groups = gettext("; ").join(gettext(", ").join(group) for group in question.machines)
    if len(question.machines) > 1:
        text = N_(
            "{factor}: {arm} instead of {baseline} under {workload}, {response}: settings, held values or the workload "
            "differ, so only these machines are taken together: {groups}"
        )
        return gettext(text, **names, groups=groups)
    judged = [machine for machine in question.machines[0] if machine not in question.inert]
    names |= {"judged": gettext(", ").join(judged), "inert": gettext(", ").join(question.inert)}
    if not judged:
        text = N_("{factor}: {arm} instead of {baseline} under {workload}, {response}: it cannot act on {inert}")
    elif question.inert:
        text = N_(
            "{factor}: {arm} instead of {baseline} under {workload}, {response}: three machines have to judge it, "
            "and only {judged} did; it cannot act on {inert}"
        )
    else:
        text = N_(
            "{factor}: {arm} instead of {baseline} under {workload}, {response}: three machines have to judge it, "
            "and only {judged} did"
        )
    return gettext(text, **names)


def view(document: FleetDocument) -> FleetView:
    """Return the part of it that is printed, worded and rounded."""
    names = gettext(", ").join(machine.machine for machine in document.machines)
    text = N_("{effects} on {machines}: {names}")
    if len(document.machines) > _MAX_NAMED:
        text = N_("{effects} on {machines}")
    effects = numbers.count(len(document.effects), "effect")
    title = gettext(text, effects=effects, machines=numbers.count(len(document.machines), "machine"), names=names)
    rows = tuple(map(_row, document.effects))
    answers = (gettext("{question}: {verdict}", question=row.question, verdict=row.verdict) for row in rows)
    return FleetView(title=title, headline=gettext("; ").join(answers), effects=rows, notes=tuple(document.notes))


def _row(effect: FleetEffect) -> FleetRow:
    assert effect.mean.low is not None and effect.mean.high is not None
    assert effect.next_machine.low is not None and effect.next_machine.high is not None
    mean = numbers.effect(effect.mean.value, effect.mean.low, effect.mean.high)
    next_machine = numbers.effect(effect.mean.value, effect.next_machine.low, effect.next_machine.high)
    question = gettext("{arm} instead of {baseline}", arm=effect.arm, baseline=effect.baseline)
    verdict = verdicts.WORDS[effect.verdict]
    return FleetRow(
        question=f"{effect.factor}: {question}",
        under=f"{effect.workload}, {verdicts.title(effect.response)}",
        mean=mean.estimate,
        interval=mean.interval,
        next_machine=next_machine.interval,
        mean_mark=_mark(effect.mean, effect.margin),
        next_mark=_mark(effect.next_machine, effect.margin),
        margin=gettext("margin {margin}", margin=numbers.margin(effect.margin)),
        confidence=gettext("confidence {confidence}", confidence=f"{effect.confidence * 100:.4g} %"),
        verdict=gettext(verdict),
        decided=verdict if effect.verdict in DIRECTIONAL else "",
        sentences=tuple(_sentences(effect)),
        machines=tuple(_machine_row(machine, effect.margin) for machine in effect.machines),
    )


def _mark(estimate: Estimate, margin: float) -> PlotMark:
    """Return an effect and its margin, both log ratios, in percent."""
    assert estimate.low is not None and estimate.high is not None
    value, low, high = map(numbers.percent_of, (estimate.value, estimate.low, estimate.high))
    margins = numbers.percent_of(-margin), numbers.percent_of(margin)
    return PlotMark(estimate=value, low=low, high=high, margin_low=margins[0], margin_high=margins[1])


def _sentences(effect: FleetEffect) -> list[str]:
    """Sentences on how machines differ, on the next one, and on those that answer otherwise or do not count."""
    next_low, next_high = effect.next_machine.low, effect.next_machine.high
    assert next_low is not None and next_high is not None
    expected = numbers.effect(effect.mean.value, next_low, next_high)
    deviation = f"{numbers.percent_of(effect.deviation):.2g} %"
    sentences = [
        gettext(_VARIES, deviation=deviation),
        *([gettext(_BESIDE, n=effect.beside)] if effect.beside else []),
        gettext(_NEXT, low=expected.low, high=expected.high),
    ]
    against = next_low < -effect.margin if effect.mean.value > 0 else next_high > effect.margin
    if effect.verdict in DIRECTIONAL and against:
        sentences.append(gettext(_NOT_EVERYWHERE))
    if effect.verdict is Verdict.UNDECIDED:
        sentences.append(gettext(_DIFFER if effect.beside else _OPEN))
    for machine in effect.machines:
        if machine.apart and machine.only_here:
            facts = gettext(", ").join(f"{fact(name)} {value}" for name, value in machine.only_here)
            sentences.append(gettext(_APART_ONLY, machine=machine.machine, facts=facts))
        elif machine.apart:
            sentences.append(gettext(_APART, machine=machine.machine))
    left_out = [machine.machine for machine in effect.machines if not machine.counted]
    for text, names in ((_LEFT_OUT, left_out), (_UNJUDGED, effect.unjudged)):
        if names:
            sentences.append(gettext(text, machines=gettext(", ").join(names)))
    return sentences


def _machine_row(machine: MachineEffect, margin: float) -> MachineRow:
    assert machine.effect.low is not None and machine.effect.high is not None
    text = numbers.effect(machine.effect.value, machine.effect.low, machine.effect.high)
    words = [gettext(verdicts.WORDS[machine.verdict]), *([gettext("suspect")] if machine.suspect else [])]
    return MachineRow(
        machine=machine.machine,
        experiment=machine.experiment,
        effect=text.estimate,
        interval=text.interval,
        verdict=gettext(", ").join(words),
        decided=verdicts.WORDS[machine.verdict] if machine.verdict in DIRECTIONAL else "",
        mark=_mark(machine.effect, margin),
    )
