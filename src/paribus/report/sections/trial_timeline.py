"""From the trials to their timeline: a lane for each fate, and the load of other processes.

In: the trials with their times, and what the census of processes measured in them. Out: TrialTimeline. Called by
the view.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from paribus.i18n import N_, N_plural, gettext, ngettext, translate_stored
from paribus.model import ExperimentState, Measurement, Trial, TrialState
from paribus.report.inputs import ReportInput
from paribus.report.sections.evidence import failure_text
from paribus.report.view import numbers
from paribus.report.view.timeline_models import OtherLoadLine, TrialBar, TrialLane, TrialTimeline

_OTHER_LOAD = "other_cpu_share"
_RESOLUTION = 1 / 400  # of the time: trials that begin closer together are one bar, and one point of the line
_PAUSE = 0.03  # of the time without a trial ends a line
_MOST_REASONS = 3  # of a bar
_LEAST_SHARE = 0.01  # of the processors: the height of the line where others took less
_MOST_TICKS = 6
_UNITS = ((172_800, N_("days"), 86_400), (7200, N_("hours"), 3600), (120, N_("minutes"), 60), (0, N_("seconds"), 1))
"""From so many seconds on, the unit of the axis, and its seconds."""
_STEPS = (1, 2, 5, 10, 20, 30, 50, 100, 200, 500, 1000, 2000, 5000)
_LANES = {
    "valid": N_("valid"),
    "invalid": N_("invalid"),
    "failed": N_("failed"),
    "rerun": N_("rerun with their block"),
}
_OF_TRIALS = N_plural("trial {trials}", "trials {trials}")

Span = tuple[float, float]


def timeline(report_input: ReportInput) -> TrialTimeline | None:
    """Return the timeline; None of an imported set, and of trials without times."""
    if report_input.experiment.state is ExperimentState.IMPORTED:
        return None
    spans = {
        trial.order: (trial.started, trial.ended)
        for trial in report_input.trials
        if trial.started is not None and trial.ended is not None and trial.ended >= trial.started
    }
    by_kind: dict[str, list[Trial]] = {kind: [] for kind in _LANES}
    for trial in sorted(report_input.trials, key=lambda trial: spans.get(trial.order, (0.0, 0.0))):
        if trial.order in spans and (kind := _fate(trial)):
            by_kind[kind].append(trial)
    drawn = [trial for trials in by_kind.values() for trial in trials]
    if not drawn:
        return None
    first = min(spans[trial.order][0] for trial in drawn)
    length = max(spans[trial.order][1] for trial in drawn) - first
    if length <= 0:
        return None
    places = {
        trial.order: ((spans[trial.order][0] - first) / length, (spans[trial.order][1] - first) / length)
        for trial in drawn
    }
    lanes = tuple(
        TrialLane(kind=kind, title=gettext(_LANES[kind]), count=len(trials), bars=tuple(_bars(trials, places)))
        for kind, trials in by_kind.items()
        if trials
    )
    ticks, unit = _axis(length)
    return TrialTimeline(
        summary=gettext(", ").join(gettext("{state} {n:,}", state=lane.title, n=lane.count) for lane in lanes),
        lanes=lanes,
        other_load=_other_load(places, report_input.summaries),
        ticks=ticks,
        unit=gettext("{unit} since the beginning", unit=unit),
    )


def _fate(trial: Trial) -> str:
    """The lane of a trial that has run; a superseded one keeps the reason why its block was rerun."""
    if trial.state is TrialState.DONE:
        return "valid"
    if trial.state is TrialState.FAILED or (trial.state is TrialState.SUPERSEDED and trial.failure):
        return "failed"
    if trial.state is TrialState.INVALID or (trial.state is TrialState.SUPERSEDED and trial.invalid_because):
        return "invalid"
    return "rerun" if trial.state is TrialState.SUPERSEDED else ""


def _bars(trials: Sequence[Trial], places: Mapping[int, Span]) -> Iterator[TrialBar]:
    """A bar for each trial; those that begin closer together than a picture shows are one."""
    group: list[Trial] = []
    for trial in trials:
        if group and places[trial.order][0] - places[group[0].order][0] >= _RESOLUTION:
            yield _bar(group, places)
            group = []
        group.append(trial)
    yield _bar(group, places)


def _bar(group: Sequence[Trial], places: Mapping[int, Span]) -> TrialBar:
    orders = [trial.order for trial in group]
    text = ngettext(_OF_TRIALS[0], _OF_TRIALS[1], len(orders), trials=numbers.few(orders))
    reasons = list(dict.fromkeys(reason for trial in group for reason in _reasons(trial)))
    if len(reasons) > _MOST_REASONS:
        reasons = [*reasons[:_MOST_REASONS], gettext("{n} further reasons", n=len(reasons) - _MOST_REASONS)]
    return TrialBar(
        start=places[orders[0]][0],
        end=max(places[order][1] for order in orders),
        text=": ".join(filter(None, [text, gettext("; ").join(reasons)])),
    )


def _reasons(trial: Trial) -> Iterable[str]:
    if trial.failure or trial.state is TrialState.FAILED:
        return [failure_text(trial)]
    return map(translate_stored, trial.invalid_because)


def _other_load(places: Mapping[int, Span], summaries: Mapping[int, Mapping[str, Measurement]]) -> OtherLoadLine | None:
    """The highest share of each moment that a picture shows; None where no trial has it."""
    shares = sorted(
        (sum(places[order]) / 2, summaries[order][_OTHER_LOAD].mean)
        for order in places
        if _OTHER_LOAD in summaries.get(order, {})
    )
    if not shares:
        return None
    highest: dict[int, tuple[float, float]] = {}
    for place, share in shares:
        moment = int(place / _RESOLUTION)
        highest[moment] = max(highest.get(moment, (place, share)), (place, share), key=lambda point: point[1])
    most = max(share for _, share in shares)
    points = [(place, max(share, 0.0) / max(most, _LEAST_SHARE)) for place, share in highest.values()]
    parts = [points[:1]]
    for earlier, later in pairwise(points):
        if later[0] - earlier[0] > _PAUSE and not _trial_between(earlier[0], later[0], places):
            parts.append([])
        parts[-1].append(later)
    return OtherLoadLine(
        title=gettext("other processes"),
        most=gettext("up to {share} of the processors", share=f"{most * 100:.2g} %" if most < 1 else "100 %"),
        parts=tuple(map(tuple, parts)),
    )


def _trial_between(start: float, end: float, places: Mapping[int, Span]) -> bool:
    """Whether trials fill the time between two points, so that it is no pause."""
    return sum(max(0.0, min(last, end) - max(first, start)) for first, last in places.values()) > (end - start) / 2


def _axis(length_s: float) -> tuple[tuple[tuple[float, str], ...], str]:
    """The ticks of a time of so many seconds, and their unit."""
    name, unit_s = next((name, unit_s) for least_s, name, unit_s in _UNITS if length_s >= least_s)
    length = length_s / unit_s
    step = next((step for step in _STEPS if length / step <= _MOST_TICKS), length)
    ticks = tuple((tick * step / length, f"{tick * step:g}") for tick in range(int(length / step) + 1))
    return ticks, gettext(name)
