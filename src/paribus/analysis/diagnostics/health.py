"""The health of the machine over the trials: when a state changed, and which trials it voided."""

from collections.abc import Mapping, Sequence
from itertools import groupby

from paribus.analysis.paired.effects import Summaries
from paribus.findings import HealthSpan, HealthTimeline
from paribus.i18n import StoredMessage
from paribus.model import HEALTH, HealthCheck, Trial


def timelines(
    checks: Sequence[HealthCheck],
    trials: Sequence[Trial],
    summaries: Summaries,
    conditions: Mapping[int, Mapping[str, str]],
) -> tuple[HealthTimeline, ...]:
    """Return the course of every state that was watched."""
    return tuple(_timeline(check, trials, summaries, conditions) for check in checks)


def _timeline(
    check: HealthCheck,
    trials: Sequence[Trial],
    summaries: Summaries,
    conditions: Mapping[int, Mapping[str, str]],
) -> HealthTimeline:
    metric = HEALTH + check.name
    numbers = [summaries[t.order][metric] for t in trials if metric in summaries.get(t.order, {})]
    words = [(conditions[t.order][check.name], t.order) for t in trials if check.name in conditions.get(t.order, {})]
    spans = []
    for state, group in groupby(sorted(words, key=lambda word: word[1]), key=lambda word: word[0]):
        orders = [order for _, order in group]
        spans.append(HealthSpan(state=state, first=orders[0], last=orders[-1]))
    return HealthTimeline(
        name=check.name,
        unit=check.unit,
        spans=tuple(spans),
        lowest=min((number.low for number in numbers), default=None),
        highest=max((number.high for number in numbers), default=None),
        course=tuple(number.mean for number in numbers),
        voided=tuple(trial.order for trial in trials if any(_is_of(check, why) for why in trial.invalid_because)),
    )


def _is_of(check: HealthCheck, reason: str) -> bool:
    return isinstance(reason, StoredMessage) and reason.values.get("name") == check.name
