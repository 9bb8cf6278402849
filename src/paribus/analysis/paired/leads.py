"""The leads of the levels of a factor over each other: any two are compared as an arm and its baseline are.

The pairs are those of the blocks that have both levels. A level may leave the experiment at any look.
"""

import itertools
import math
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from paribus.analysis.paired.alpha_spending import SpendingLook
from paribus.analysis.paired.checks.carry_over import with_carry_over
from paribus.analysis.paired.checks.check_context import Timeline
from paribus.analysis.paired.decision import look
from paribus.analysis.paired.effects import PairSeries, Summaries, pair_series, whole_blocks
from paribus.analysis.paired.finding import LEAST_UNITS, EffectInterval, Question
from paribus.analysis.paired.questions import arrays
from paribus.model import RESPONSES, Protocol, Purpose, Trial, Verdict, Workload
from paribus.stats.pairs import CannotJudge

LevelsKey = tuple[str, str, str]
"""Factor, workload and response."""

_FEWEST_LEVELS = 3
_REVERSED = {Verdict.BETTER: Verdict.WORSE, Verdict.WORSE: Verdict.BETTER}


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """The levels of a factor under a workload, the baseline first, judged by one response.

    `trials` are those of whole blocks, and `blocks` their numbers in the order of time; `planned` blocks are the most.
    `families` is the number of such selections in the experiment, which share its error.
    """

    factor: str
    workload: str
    response: str
    levels: tuple[str, ...]
    trials: tuple[Trial, ...]
    blocks: tuple[int, ...]
    planned: int
    families: int

    @property
    def key(self) -> LevelsKey:
        """Factor, workload and response."""
        return self.factor, self.workload, self.response


@dataclass(frozen=True, slots=True)
class Lead:
    """By how much one level is better than another, a log ratio, and the verdict of the first; None while undecided.

    `interval` is the one that decided. A lead within the margin excludes no level: it is undecided until there are
    enough pairs for *equivalent*.
    """

    estimate: float
    interval: EffectInterval
    verdict: Verdict | None

    def reversed(self) -> "Lead":
        """Return the lead of the second level over the first."""
        verdict = _REVERSED.get(self.verdict, self.verdict) if self.verdict else None
        return Lead(-self.estimate, EffectInterval(-self.interval.high, -self.interval.low), verdict)


Leads = Mapping[tuple[str, str], Lead]
"""The lead of the first level over the second; none of two levels with too few pairs."""


def candidates_of(
    trials: Sequence[Trial], workloads: Sequence[Workload], due: Collection[tuple[str, str]] | None = None
) -> list[Candidates]:
    """Return the levels of each factor with three levels or more, by workload and response.

    Args:
        trials: All trials of an experiment.
        workloads: Workloads of the plan.
        due: (factor, workload) of the comparisons to return; None for all.
    """
    levels_of: dict[tuple[str, str], dict[str, None]] = defaultdict(dict)
    planned: dict[tuple[str, str], set[int]] = defaultdict(set)
    for trial in sorted((t for t in trials if t.purpose is Purpose.COMPARE), key=lambda trial: not trial.baseline):
        levels_of[trial.factor, trial.workload].setdefault(trial.arm)
        planned[trial.factor, trial.workload].add(trial.block)
    blocks_of: dict[tuple[str, str], list[list[Trial]]] = defaultdict(list)
    for block in whole_blocks(trials, (Purpose.COMPARE,)).values():
        blocks_of[block[0].factor, block[0].workload].append(block)
    several = {key: tuple(levels) for key, levels in levels_of.items() if len(levels) >= _FEWEST_LEVELS}
    responses = {workload.name: workload.responses for workload in workloads}
    families = sum(len(responses[workload]) for _, workload in several)
    result = []
    for (factor, workload), levels in several.items():
        if due is None or (factor, workload) in due:
            blocks = sorted(blocks_of[factor, workload], key=lambda block: max(t.started or 0.0 for t in block))
            result += [
                Candidates(
                    factor=factor,
                    workload=workload,
                    response=response,
                    levels=levels,
                    trials=tuple(itertools.chain(*blocks)),
                    blocks=tuple(block[0].block for block in blocks),
                    planned=len(planned[factor, workload]),
                    families=families,
                )
                for response in responses[workload]
            ]
    return result


def leads_of(
    candidates: Candidates,
    trials: Sequence[Trial],
    summaries: Summaries,
    protocol: Protocol,
    counts: Sequence[int],
    *,
    remaining: int,
    over: bool,
) -> Leads:
    """Return the leads of all levels over each other.

    Any two of the levels that may be the best may be equally good, and each such comparison may err. They share the
    error. Of levels that are shown to be behind no error is possible any more (Holm, Scandinavian Journal of Statistics
    6, 1979).

    Args:
        candidates: The levels.
        trials: All trials of the experiment.
        summaries: Measurements by trial and metric.
        protocol: Margins, confidence and method.
        counts: Number of blocks at each look; the last look decides.
        remaining: Number of levels that may be the best.
        over: Whether no trials will follow.
    """
    before = Timeline.of(trials).before if candidates.factor in protocol.washed_out else None
    leads: dict[tuple[str, str], Lead] = {}
    as_baseline, as_compared = _by_level(candidates, baseline=True), _by_level(candidates, baseline=False)
    responses = {candidates.workload: candidates.response}
    for first, second in itertools.combinations(candidates.levels, 2):
        if first not in as_baseline or second not in as_compared:
            continue
        (series,) = pair_series([*as_baseline[first], *as_compared[second]], summaries, responses, (Purpose.COMPARE,))
        if before is not None and not series.split:
            series = with_carry_over(series, before)
        question = Question(
            margin=protocol.margins[candidates.response],
            planned=candidates.planned,
            alpha=1 - protocol.confidence,
            claims=max(1, math.comb(remaining, 2)) * candidates.families,
            method=protocol.method,
            unit="application" if series.split else "pair",
            higher_is_better=RESPONSES[candidates.response].higher_is_better,
        )
        lead = _lead(series, question, candidates.blocks, counts, over=over)
        if lead is not None:
            leads[second, first], leads[first, second] = lead, lead.reversed()
    return leads


def _by_level(candidates: Candidates, *, baseline: bool) -> dict[str, list[Trial]]:
    """The trials of each level, as if it were the baseline, or were compared with it."""
    by_level: dict[str, list[Trial]] = defaultdict(list)
    for trial in candidates.trials:
        by_level[trial.arm].append(trial if trial.baseline is baseline else replace(trial, baseline=baseline))
    return dict(by_level)


def _lead(
    series: PairSeries, question: Question, blocks: Sequence[int], counts: Sequence[int], *, over: bool
) -> Lead | None:
    """The lead of the compared level at the last look that had new pairs; None where no look can be taken."""
    looks: tuple[SpendingLook, ...] = ()
    for number, count in enumerate(counts, start=1):
        seen = set(blocks[:count])
        units = replace(series, pairs=tuple(pair for pair in series.pairs if pair.block in seen)).units
        if units >= LEAST_UNITS[question.unit]:
            looks = question.spending.next(looks, units, over=over and number == len(counts))
    if not looks:
        return None
    try:
        finding = look(arrays(series.first(looks[-1].units)), question, looks, over=over)
    except CannotJudge:
        return None
    interval = finding.inner if finding.verdict is Verdict.EQUIVALENT else finding.interval
    is_small = finding.verdict in _REVERSED and interval.within(question.margin)
    is_open = is_small or finding.verdict is Verdict.UNDECIDED
    lead = Lead(finding.estimate, interval, None if is_open else finding.verdict)
    if question.higher_is_better:
        return lead
    return replace(lead, estimate=-lead.estimate, interval=EffectInterval(-interval.high, -interval.low))
