"""What is asked of an experiment's pairs: every comparison with its margin, its share of the error, and its looks.

In: trials with what they measured, the protocol, the looks taken. Out: Series with Questions. All claims of an
experiment share one error: those of factors tried alone, and those of a screen, whose confirmation shares it anew.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from paribus.analysis.paired.alpha_spending import Looked
from paribus.analysis.paired.decision import Pairs, Question
from paribus.analysis.paired.effects import Series, Summaries, factors_of_screen, series
from paribus.model import COMPARING, RESPONSES, Factor, Look, Protocol, Purpose, Trial, Workload
from paribus.stats.pairs import log_ratios

Place = tuple[str, str, str, str]
_COUNTED = ("throughput_per_s", "bytes_per_s", "queries_per_s")  # responses that are counts over a time
_HISTOGRAM_STEP = 0.001  # of response times: the engine keeps three digits


def questions(
    trials: Sequence[Trial],
    summaries: Summaries,
    workloads: Sequence[Workload],
    protocol: Protocol,
    factors: Sequence[Factor],
) -> list[tuple[Series, Question]]:
    """Every comparison of two arms and what is asked of it, and every screen of `factors` and what of each of them."""
    listed = [
        one
        for workload in workloads
        for response in workload.responses
        for one in series(trials, summaries, {workload.name: response}, COMPARING)
    ]
    screened = {workload.name: len(factors_of_screen(trials, workload.name, factors)) for workload in workloads}
    confirmed = sum(one.purpose is Purpose.CONFIRM for one in listed)
    first = sum(
        screened[one.workload] if one.purpose is Purpose.SCREEN else one.purpose is Purpose.COMPARE for one in listed
    )
    return [
        (
            one,
            Question(
                margin=protocol.margins[one.response],
                planned=one.planned,
                alpha=1 - protocol.confidence,
                claims=confirmed if one.purpose is Purpose.CONFIRM else first,
                method=protocol.method,
                unit="application" if one.split else "pair",
                level_sd=_level_sd(one, protocol),
                higher_is_better=RESPONSES[one.response].higher_is_better,
            ),
        )
        for one in listed
    ]


def _level_sd(one: Series, protocol: Protocol) -> tuple[float, ...] | None:
    """The noise at each load level, where that is unlike and there are pairs of all of them."""
    known = protocol.level_sd.get(one.workload, ())
    return known if len(known) == len({pair.load for pair in one.pairs}) else None


def arrays(one: Series) -> Pairs:
    """The pairs of a comparison in the order in which they were made. Raises CannotJudge for what is no number."""
    loads = {load: number for number, load in enumerate(sorted({pair.load for pair in one.pairs}))}
    counts = [pair.count for pair in one.pairs]
    count = min(counts, default=0)
    by_count = one.response in _COUNTED
    return Pairs(
        difference=np.array(log_ratios([p.compared for p in one.pairs], [p.baseline for p in one.pairs])),
        order=np.array([float(pair.later) for pair in one.pairs]),
        level=np.array([loads[pair.load] for pair in one.pairs], dtype=np.intp),
        application=np.array([pair.block for pair in one.pairs], dtype=np.intp) if one.split else None,
        resolution=(1 / count if count else 0.0) if by_count else _HISTOGRAM_STEP,
        count=count,
    )


def place_of(one: Series) -> Place:
    """What tells a comparison from others."""
    return one.factor, one.arm, one.workload, one.response


def looks_at(looks: Iterable[Look]) -> Mapping[tuple[Place, Purpose], list[Look]]:
    """The looks at each comparison in order, by its place and the purpose of its trials."""
    found: dict[tuple[Place, Purpose], list[Look]] = defaultdict(list)
    for taken in sorted(looks, key=lambda look: look.number):
        place = (taken.factor, taken.arm, taken.workload, taken.response)
        found[place, taken.purpose].append(taken)
    return found


def looked(looks: Sequence[Look], question: Question) -> list[Looked]:
    """The looks that count for the error spent: where each is a look by itself, the last one."""
    counting = looks if question.method == "adaptive" else looks[-1:]
    return [Looked(taken.pairs, taken.alpha_spent) for taken in counting]
