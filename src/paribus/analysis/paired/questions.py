"""The questions of an experiment: each comparison with its margin, its share of the error, and its looks.

All claims of an experiment share one error. A screen's confirmation shares a new one. So do the trials alone of what it
found equivalent.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from paribus.analysis.paired.alpha_spending import SpendingLook
from paribus.analysis.paired.checks.carry_over import with_carry_over
from paribus.analysis.paired.checks.check_context import Timeline
from paribus.analysis.paired.effects import SAME_START_S, PairSeries, Summaries, factors_of_screen, pair_series
from paribus.analysis.paired.finding import LEAST_STARTS, Pairs, Question
from paribus.model import COMPARING, RATES, RESPONSES, SLOW_SECONDS, Factor, Look, Protocol, Purpose, Trial, Workload
from paribus.stats.pairs import log_ratios, step_between
from paribus.units import LoadLevel

ComparisonKey = tuple[str, str, str, str]
LITTLE_OTHER_LOAD = 0.02  # standard deviation over pairs: less explains nothing
_HISTOGRAM_STEP = 0.001  # of response times: the engine keeps three digits


def questions(
    trials: Sequence[Trial],
    summaries: Summaries,
    workloads: Sequence[Workload],
    protocol: Protocol,
    factors: Sequence[Factor],
) -> list[tuple[PairSeries, Question]]:
    """Return every comparison of two arms, and every screen, with its question.

    Args:
        trials: All trials of an experiment.
        summaries: Measurements by trial and metric.
        workloads: Workloads of the plan.
        protocol: Margins, confidence and method.
        factors: Factors of the plan.
    """
    all_series = [
        series
        for workload in workloads
        for response in workload.responses
        for series in pair_series(trials, summaries, {workload.name: response}, COMPARING)
    ]
    all_series = _with_carry_over(all_series, trials, protocol)
    screened_factors = {workload.name: len(factors_of_screen(trials, workload.name, factors)) for workload in workloads}
    alone_claims = {
        purpose: sum(series.purpose is purpose for series in all_series) for purpose in (Purpose.CONFIRM, Purpose.ALONE)
    }
    first_claims = sum(
        screened_factors[series.workload] if series.purpose is Purpose.SCREEN else series.purpose is Purpose.COMPARE
        for series in all_series
    )
    return [
        (
            series,
            Question(
                margin=protocol.margins[series.response],
                planned=series.planned,
                alpha=1 - protocol.confidence,
                claims=alone_claims.get(series.purpose, first_claims),
                method=protocol.method,
                unit="application" if series.split else "pair",
                level_sd=_level_sd(series, protocol),
                higher_is_better=RESPONSES[series.response].higher_is_better,
            ),
        )
        for series in all_series
    ]


def _with_carry_over(all_series: Sequence[PairSeries], trials: Sequence[Trial], protocol: Protocol) -> list[PairSeries]:
    """The series, of which those adjust for carry-over that may have some and do not wash it out."""
    arms = Counter((series.factor, series.workload, series.response, series.purpose) for series in all_series)
    before = Timeline.of(trials).before
    return [
        with_carry_over(series, before)
        if series.factor in protocol.washed_out
        and not series.split
        and arms[series.factor, series.workload, series.response, series.purpose] > 1
        else series
        for series in all_series
    ]


def _level_sd(series: PairSeries, protocol: Protocol) -> tuple[float, ...] | None:
    """Noise at each load level, where it was calibrated and all levels have pairs."""
    level_sd = protocol.level_sd.get(series.workload, ())
    return level_sd if len(level_sd) == len({pair.load for pair in series.pairs}) else None


def arrays(series: PairSeries) -> Pairs:
    """Return the pairs of a comparison as arrays in run order.

    Raises:
        CannotJudge: A value is not a positive number.
    """
    loads = {load: number for number, load in enumerate(sorted({pair.load for pair in series.pairs}))}
    counts = [pair.count for pair in series.pairs]
    usual_count = float(np.median(counts)) if counts and all(counts) else 0.0  # one starved trial makes nothing coarse
    by_count = series.response in RATES
    slowest = [min(pair.baseline, pair.compared) for pair in series.pairs] if series.response == SLOW_SECONDS else []
    stated = (
        (1 / usual_count if usual_count else 0.0)
        if by_count
        else 1 / float(np.median(slowest))  # an operation in a second
        if slowest and min(slowest) > 0
        else _HISTOGRAM_STEP
    )
    other_load = np.array([pair.other_load for pair in series.pairs])
    after = np.array([float(pair.after) for pair in series.pairs])
    lost = [pair.lost for pair in series.pairs]
    covariates = [after] if after.any() else []
    covariates += [other_load] if counts and np.std(other_load) > LITTLE_OTHER_LOAD else []
    return Pairs(
        difference=np.array(
            log_ratios([pair.compared for pair in series.pairs], [pair.baseline for pair in series.pairs])
        ),
        order=np.array([float(pair.later) for pair in series.pairs]),
        level=np.array([loads[pair.load] for pair in series.pairs], dtype=np.intp),
        application=np.array([pair.block for pair in series.pairs], dtype=np.intp) if series.split else None,
        resolution=max(stated, _step(series)),
        count=min(counts, default=0),
        covariates=np.column_stack(covariates) if covariates else None,
        start=_start_of_pairs(series),
        lost=np.array(lost, dtype=np.intp) if any(map(any, lost)) else None,
    )


def start_numbers(series: PairSeries) -> NDArray[np.intp]:
    """Return the number of each pair's server start, from 0, shape (n,); pairs of unknown starts count as of one."""
    distinct, index = np.unique([pair.start for pair in series.pairs], return_inverse=True)
    number = np.cumsum(np.diff(distinct, prepend=distinct[:1]) > SAME_START_S)
    return np.asarray(number[index], dtype=np.intp)


def _start_of_pairs(series: PairSeries) -> NDArray[np.intp] | None:
    """The number of each pair's start; None where each application has its own, or there are too few."""
    number = start_numbers(series)
    return None if series.split or len(number) == 0 or number.max() + 1 < LEAST_STARTS else number


def _step(series: PairSeries) -> float:
    """The step of a response that comes in steps, such as a tool's rounding; a log ratio, 0 where there is none."""
    levels: dict[LoadLevel, tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
    for pair in series.pairs:
        levels[pair.load][0].append(pair.baseline)
        levels[pair.load][1].append(pair.compared)
    return step_between(levels.values())


def comparison_key(series: PairSeries) -> ComparisonKey:
    """Return the key of a comparison: factor, arm, workload and response."""
    return series.factor, series.arm, series.workload, series.response


def looks_by_comparison(looks: Iterable[Look]) -> Mapping[tuple[ComparisonKey, Purpose], list[Look]]:
    """Return the looks at each comparison in order, by comparison and purpose."""
    looks_by_key: dict[tuple[ComparisonKey, Purpose], list[Look]] = defaultdict(list)
    for look in sorted(looks, key=lambda entry: entry.number):
        key = (look.factor, look.arm, look.workload, look.response)
        looks_by_key[key, look.purpose].append(look)
    return looks_by_key


def spending_looks(looks: Sequence[Look], question: Question) -> list[SpendingLook]:
    """Return the looks that count for the error spent; only the last one unless looks are adaptive."""
    counted = looks if question.method == "adaptive" else looks[-1:]
    return [SpendingLook(look.pairs, look.alpha_spent) for look in counted]
