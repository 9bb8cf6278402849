"""The same question on several machines: each effect as a mean over machines, with what to expect of the next one.

A machine is a unit: its many trials tell its own effect more precisely, and nothing of other machines.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from paribus.analysis.paired.finding import EffectInterval, Question, verdict_of
from paribus.findings import Estimate, FleetEffect, MachineEffect, OpenQuestion
from paribus.model import RESPONSES, Effect, Tag, Verdict
from paribus.stats.unit_means import FEWEST, deviation, mean_interval, next_interval, standing_apart

_ALPHA_APART = 0.05
_MOST_FACTS = 5


@dataclass(frozen=True, slots=True)
class MachineResult:
    """An experiment on one machine: its id, the machine's name and facts, and its effects.

    `questions` says by factor, arm and workload what was asked: effects with unequal texts are not taken together.
    """

    experiment: str
    machine: str
    facts: Mapping[str, str]
    effects: Sequence[Effect]
    questions: Mapping[tuple[str, str, str], str]

    def question(self, effect: Effect) -> tuple[str, ...]:
        """The question that an effect answers: effects are taken together where all its parts are equal."""
        text = self.questions.get((effect.factor, effect.arm, effect.workload), "")
        on_average = "on average" if Tag.AVERAGE in effect.tags else ""
        return (*_label(effect), text, on_average)


_Pairs = list[tuple[MachineResult, Effect]]


def fleet_effects(machines: Sequence[MachineResult], confidence: float) -> list[FleetEffect]:
    """Return every effect that three machines or more have judged; all share the error of claims.

    Args:
        machines: An experiment of each machine.
        confidence: 1 minus the error that all verdicts share.
    """
    answered = [pairs for pairs in _by_question(machines).values() if _is_answered(pairs)]
    each_confidence = 1 - (1 - confidence) / max(1, len(answered))
    return [_fleet_effect(pairs, machines, confidence, each_confidence) for pairs in answered]


def open_questions(machines: Sequence[MachineResult]) -> list[OpenQuestion]:
    """Return the questions that fewer than three machines have judged in the same way."""
    by_label: dict[tuple[str, ...], list[_Pairs]] = defaultdict(list)
    for pairs in _by_question(machines).values():
        by_label[_label(pairs[0][1])].append(pairs)
    return [
        OpenQuestion(
            groups[0][0][1],
            tuple(tuple(machine.machine for machine, _ in pairs) for pairs in groups),
            tuple(machine.machine for pairs in groups for machine, effect in pairs if not _counts(effect)),
        )
        for groups in by_label.values()
        if not any(map(_is_answered, groups)) or len(groups) > 1
    ]


def _label(effect: Effect) -> tuple[str, ...]:
    """The question in the words of the plans."""
    return effect.factor, effect.baseline, effect.arm, effect.workload, effect.response


def _by_question(machines: Sequence[MachineResult]) -> dict[tuple[str, ...], _Pairs]:
    by_question: dict[tuple[str, ...], _Pairs] = defaultdict(list)
    for machine in machines:
        for effect in machine.effects:
            if effect.load is None and effect.verdict is not None and effect.high - effect.low < float("inf"):
                by_question[machine.question(effect)].append((machine, effect))
    return by_question


def _is_answered(pairs: _Pairs) -> bool:
    return sum(_counts(effect) for _, effect in pairs) >= FEWEST


def _counts(effect: Effect) -> bool:
    """Whether the mean includes this machine's effect: not where the setting cannot act."""
    return effect.verdict is not Verdict.NO_EFFECT_POSSIBLE


def _fleet_effect(
    pairs: _Pairs, machines: Sequence[MachineResult], confidence: float, each_confidence: float
) -> FleetEffect:
    counted = [(machine, effect) for machine, effect in pairs if _counts(effect)]
    values = [effect.estimate for _, effect in counted]
    mean, margin = sum(values) / len(values), min(effect.margin for _, effect in counted)
    half_widths = [(effect.high - effect.low) / 2 for _, effect in counted]
    outer, inner = (
        EffectInterval(*mean_interval(values, half_widths, level))
        for level in (each_confidence, 2 * each_confidence - 1)
    )
    apart = {counted[number][0].experiment for number in standing_apart(values, half_widths, _ALPHA_APART)}
    higher_is_better = RESPONSES[pairs[0][1].response].higher_is_better
    question = Question(margin=margin, planned=len(values), higher_is_better=higher_is_better)
    first, judged = pairs[0][1], {machine.experiment for machine, _ in pairs}
    candidates = [
        each for each in machines if each.questions.get((first.factor, first.arm, first.workload)) is not None
    ]
    return FleetEffect(
        factor=first.factor,
        baseline=first.baseline,
        arm=first.arm,
        workload=first.workload,
        response=first.response,
        margin=margin,
        confidence=each_confidence,
        mean=Estimate(mean, outer.low, outer.high),
        next_machine=Estimate(mean, *next_interval(values, half_widths, confidence)),
        deviation=deviation(values),
        beside=sum(_beside(effect, mean) for _, effect in counted),
        verdict=verdict_of(outer, inner, question) or Verdict.UNDECIDED,
        machines=tuple(_machine_effect(pairs, number, apart) for number in range(len(pairs))),
        unjudged=tuple(
            each.machine
            for each in candidates
            if each.experiment not in judged and each.question(first) == pairs[0][0].question(first)
        ),
    )


def _beside(effect: Effect, mean: float) -> bool:
    """Whether a machine's own interval does not contain the mean."""
    return not effect.low <= mean <= effect.high


def _machine_effect(pairs: _Pairs, number: int, apart: set[str]) -> MachineEffect:
    machine, effect = pairs[number]
    assert effect.verdict is not None
    others = [other.facts for other, _ in pairs if other is not machine]
    is_apart = machine.experiment in apart
    return MachineEffect(
        experiment=machine.experiment,
        machine=machine.machine,
        effect=Estimate(effect.estimate, *effect.deciding[:2]),
        verdict=effect.verdict,
        suspect=Tag.SUSPECT in effect.tags,
        counted=_counts(effect),
        apart=is_apart,
        only_here=_only_here(machine.facts, others) if is_apart else (),
    )


def _only_here(facts: Mapping[str, str], others: Sequence[Mapping[str, str]]) -> tuple[tuple[str, str], ...]:
    """The facts of a machine that all others have with one other value."""
    different = []
    for name, value in facts.items():
        other_values = {other.get(name, "") for other in others}
        if len(other_values) == 1 and value not in other_values:
            different.append((name, value))
    return tuple(different[:_MOST_FACTS])
