"""Selection of the best level of a factor with three levels or more, and of all levels that are as good.

A level is *worse* where one of the others is shown to be better. It is *equivalent* where each of those that may be the
best is shown to be equivalent or worse. These are multiple comparisons with the best (Hsu, Annals of Statistics 9,
1981). Bonferroni's inequality takes the place of a joint distribution, so that each comparison may stop by itself. The
levels that may be the best share the error, so that none of several equally good ones is called worse.

While two levels that may be the best are undecided against each other, they remain in the experiment; others leave it.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from paribus.analysis.paired.effects import Summaries
from paribus.analysis.paired.leads import Candidates, Lead, Leads, LevelsKey, candidates_of, leads_of
from paribus.findings import Estimate, SelectedLevel, Selection
from paribus.model import ArmKey, Look, Protocol, Purpose, Trial, TrialState, Verdict, Workload


def take_selection_looks(
    trials: Sequence[Trial],
    summaries: Summaries,
    workloads: Sequence[Workload],
    protocol: Protocol,
    looks: Sequence[Look],
    due: Collection[tuple[str, str]],
    *,
    over: bool,
) -> list[Look]:
    """Look at the levels of the comparisons in `due` that have new blocks: one look for each level.

    A level has no verdict while it may be the best and more trials are needed to tell.

    Args:
        trials: All trials so far.
        summaries: Measurements by trial and metric.
        workloads: Workloads of the plan.
        protocol: Margins, confidence and method.
        looks: The looks so far, with those of this moment against the baseline.
        due: (factor, workload) of the comparisons to look at.
        over: Whether no trials will follow.

    Returns:
        The new looks; their estimates are losses against the best of the other levels.
    """
    new_looks: list[Look] = []
    for candidates in candidates_of(trials, workloads, due):
        earlier = _looks_at(looks, candidates.key)
        counts = [*_counts(earlier), len(candidates.blocks)]
        if len(counts) > 1 and counts[-1] <= counts[-2]:
            continue
        leads, levels = _select(candidates, trials, summaries, protocol, counts, earlier, over=over)
        behind = {level.arm for level in levels if level.verdict is Verdict.WORSE}
        possible = _possible(candidates.key, looks) - behind
        to_come = {trial.arm for trial in trials if trial.state is TrialState.PLANNED and _is_of(trial, candidates)}
        for level in levels:
            if level.loss is None:
                continue
            rivals = [leads.get((other, level.arm)) for other in possible & to_come]
            unknown = any(lead is not None and lead.verdict is None for lead in rivals)
            is_open = unknown and not over and level.arm in possible & to_come
            new_looks.append(
                Look(
                    factor=candidates.factor,
                    arm=level.arm,
                    workload=candidates.workload,
                    response=candidates.response,
                    number=len(counts),
                    pairs=counts[-1],
                    alpha_spent=0.0,
                    low=level.loss.low or 0.0,
                    high=level.loss.high or 0.0,
                    estimate=level.loss.value,
                    verdict=None if is_open else level.verdict or Verdict.UNDECIDED,
                    purpose=Purpose.SELECT,
                )
            )
    return new_looks


def undecided_levels(looks: Iterable[Look]) -> set[ArmKey]:
    """Return the levels that may be the best and need more trials to tell, by their last looks."""
    last = {
        (look.factor, look.workload, look.arm, look.response): look
        for look in sorted(looks, key=lambda look: look.number)
        if look.purpose is Purpose.SELECT
    }
    return {(factor, workload, arm) for (factor, workload, arm, _), look in last.items() if look.verdict is None}


def selections(
    trials: Sequence[Trial],
    summaries: Summaries,
    workloads: Sequence[Workload],
    protocol: Protocol,
    looks: Sequence[Look],
    *,
    finished: bool,
) -> tuple[Selection, ...]:
    """Return the selection of every factor whose levels were looked at, as of the last look.

    Args:
        trials: All trials of an experiment.
        summaries: Measurements by trial and metric.
        workloads: Workloads of the plan.
        protocol: Margins, confidence and method.
        looks: The looks so far.
        finished: Whether no trials will follow; what is not decided is then undecided.
    """
    results = []
    for candidates in candidates_of(trials, workloads):
        earlier = _looks_at(looks, candidates.key)
        counts = _counts(earlier)
        if not counts or counts[-1] > len(candidates.blocks):
            continue
        leads, levels = _select(candidates, trials, summaries, protocol, counts, earlier, over=finished)
        if not leads:
            continue
        undecided = Verdict.UNDECIDED if finished else None
        losses = {level.arm: level.loss.value for level in levels if level.loss is not None}
        results.append(
            Selection(
                factor=candidates.factor,
                workload=candidates.workload,
                response=candidates.response,
                margin=protocol.margins[candidates.response],
                confidence=protocol.confidence,
                best=min(losses, key=lambda arm: losses[arm]),
                levels=tuple(replace(level, verdict=level.verdict or undecided) for level in levels),
            )
        )
    return tuple(results)


def _select(
    candidates: Candidates,
    trials: Sequence[Trial],
    summaries: Summaries,
    protocol: Protocol,
    counts: Sequence[int],
    earlier: Sequence[Look],
    *,
    over: bool,
) -> tuple[Leads, list[SelectedLevel]]:
    """The leads and the levels at the last look: each level that is behind leaves its error to the others."""
    behind = {look.arm for look in earlier if look.verdict is Verdict.WORSE}
    while True:
        remaining = len(candidates.levels) - len(behind)
        leads = leads_of(candidates, trials, summaries, protocol, counts, remaining=remaining, over=over)
        levels = _selected(candidates, leads, behind)
        worse = {level.arm for level in levels if level.verdict is Verdict.WORSE}
        if worse == behind:
            return leads, levels
        behind = worse


def _selected(candidates: Candidates, leads: Leads, behind: Collection[str]) -> list[SelectedLevel]:
    """The levels with their losses and verdicts; those that are `behind` already remain so, and are no rivals."""
    better: dict[str, list[tuple[float, str]]] = {arm: [] for arm in behind}
    for (other, level), lead in leads.items():
        if lead.verdict is Verdict.BETTER and other not in behind:
            better.setdefault(level, []).append((lead.estimate, other))
    levels = []
    for level in candidates.levels:
        others = {other: lead for (other, loser), lead in leads.items() if loser == level}
        rivals = [lead for other, lead in others.items() if other not in better] or list(others.values())
        ahead = better.get(level)
        levels.append(
            SelectedLevel(
                arm=level,
                loss=_loss(rivals),
                verdict=_verdict(rivals) if ahead is None else Verdict.WORSE,
                behind=max(ahead)[1] if ahead else "",
            )
        )
    return levels


def _verdict(leads: Collection[Lead]) -> Verdict | None:
    """The verdict of a level from the leads of the others, of which none is shown to be better."""
    verdicts = {lead.verdict for lead in leads}
    if Verdict.DEPENDS_ON_LOAD in verdicts:
        return Verdict.DEPENDS_ON_LOAD
    return Verdict.EQUIVALENT if verdicts and verdicts <= {Verdict.EQUIVALENT, Verdict.WORSE} else None


def _loss(leads: Collection[Lead]) -> Estimate | None:
    """By how much the best of the other levels is better; at least 0, as in comparisons with the best."""
    if not leads:
        return None
    return Estimate(
        max(0.0, *(lead.estimate for lead in leads)),
        max(0.0, *(lead.interval.low for lead in leads)),
        max(0.0, *(lead.interval.high for lead in leads)),
    )


def _possible(key: LevelsKey, looks: Sequence[Look]) -> set[str]:
    """The levels that are better than the baseline, or may be.

    Where none is better, the baseline is kept, and the order of the others is of no use.
    """
    verdicts = {
        look.arm: look.verdict
        for look in sorted(looks, key=lambda look: look.number)
        if (look.factor, look.workload, look.response, look.purpose) == (*key, Purpose.COMPARE)
    }
    return {arm for arm, verdict in verdicts.items() if verdict in (Verdict.BETTER, None)}


def _is_of(trial: Trial, candidates: Candidates) -> bool:
    return (trial.factor, trial.workload) == (candidates.factor, candidates.workload)


def _looks_at(looks: Sequence[Look], key: LevelsKey) -> list[Look]:
    """The looks at the levels of a factor, in order."""
    own_looks = [
        look for look in looks if look.purpose is Purpose.SELECT and (look.factor, look.workload, look.response) == key
    ]
    return sorted(own_looks, key=lambda look: look.number)


def _counts(looks: Sequence[Look]) -> list[int]:
    """The number of blocks at each look."""
    return list({look.number: look.pairs for look in looks}.values())
