"""The looks of an experiment: every comparison that is due, judged by its pairs so far."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from paribus.analysis.paired.decision import next_look
from paribus.analysis.paired.effects import Summaries
from paribus.analysis.paired.questions import (
    arrays,
    comparison_key,
    looks_by_comparison,
    questions,
    spending_looks,
)
from paribus.analysis.paired.reach import prevails
from paribus.analysis.screening import screen
from paribus.analysis.screening.screen_pairs import screen_pairs_of
from paribus.model import ArmKey, Factor, Look, Protocol, Purpose, Trial, Verdict, Workload
from paribus.stats.pairs import CannotJudge


def take_looks(
    trials: Sequence[Trial],
    summaries: Summaries,
    workloads: Sequence[Workload],
    protocol: Protocol,
    looks: Sequence[Look],
    due: Collection[tuple[str, str]],
    *,
    factors: Sequence[Factor] = (),
    over: bool = False,
    absent: Collection[ArmKey] = (),
) -> list[Look]:
    """Look at the comparisons in `due` that are undecided and have new pairs.

    Comparisons whose data allow no conclusion get no look; `judge` reports why.

    Args:
        trials: All trials so far.
        summaries: Measurements by trial and metric.
        workloads: Workloads of the plan.
        protocol: Margins, confidence and method.
        looks: The looks so far.
        due: (factor, workload) of the comparisons to look at.
        factors: Factors of the plan.
        over: Whether no trials will follow.
        absent: The arms that cannot have acted.

    Returns:
        The new looks.
    """
    looks_of = looks_by_comparison(looks)
    new_looks: list[Look] = []
    for series, question in questions(trials, summaries, workloads, protocol, factors):
        if (series.factor, series.workload) not in due:
            continue
        previous = looks_of[comparison_key(series), series.purpose]
        try:
            if series.purpose is Purpose.SCREEN:
                screen_looks = screen.take_looks(screen_pairs_of(series, trials, factors), question, looks, over=over)
                new_looks += [replace(look, verdict=_verdict(look, absent)) for look in screen_looks]
                continue
            if previous and (previous[-1].verdict is not None or previous[-1].pairs >= series.units):
                continue
            finding = next_look(arrays(series), question, spending_looks(previous, question), over=over)
        except CannotJudge:
            continue
        new_look = Look(
            factor=series.factor,
            arm=series.arm,
            workload=series.workload,
            response=series.response,
            number=len(previous) + 1,
            pairs=series.units,
            alpha_spent=finding.looks[-1].spent,
            low=finding.interval.low,
            high=finding.interval.high,
            estimate=finding.estimate,
            verdict=finding.verdict,
            purpose=series.purpose,
        )
        new_looks.append(replace(new_look, verdict=_verdict(new_look, absent)))
    return new_looks


def _verdict(look: Look, absent: Collection[ArmKey]) -> Verdict | None:
    """The verdict of a look; evidence of an effect prevails over a failed reach test."""
    is_absent = (look.factor, look.workload, look.arm) in absent
    return Verdict.NO_EFFECT_POSSIBLE if is_absent and not prevails(look.verdict) else look.verdict
