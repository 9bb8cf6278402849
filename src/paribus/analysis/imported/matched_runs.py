"""Where settings that others ran met each other: at one load level, with the same other labels.

In: the trials of a set with what they measured. Out: Comparisons, which `imported` judges and claims are tested by.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from paribus.analysis.paired.effects import Summaries, counting
from paribus.i18n import N_, gettext
from paribus.model import RESPONSES, Factor, Measurement, Trial, TrialState
from paribus.stats.pairs import CannotJudge
from paribus.stats.unpaired import LevelRatio, Pooled, VarianceSource, compared, pooled, spread
from paribus.units import LoadLevel

Context = tuple[tuple[str, str], ...]
"""Labels by what they are of."""

_LOWER_IS_BETTER = "response_"


@dataclass(frozen=True, slots=True)
class Met:
    """Where an arm met its baseline: a load level, with the other labels that both have."""

    load: LoadLevel
    context: Context
    place: LevelRatio
    trials: tuple[tuple[int, ...], tuple[int, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """An arm against its baseline under a workload, by one response.

    `lone` are load levels that only one of them has, `worthless` those with a figure that is no positive number.
    """

    factor: str
    baseline: str
    arm: str
    workload: str
    response: str
    met: tuple[Met, ...]
    lone: tuple[LoadLevel, ...]
    worthless: tuple[LoadLevel, ...]

    @property
    def known(self) -> VarianceSource:
        """What the error of its estimate is known from: of the best that some place has."""
        kinds = {met.place.variance_source for met in self.met}
        return "repetitions" if "repetitions" in kinds else "lines" if kinds == {"lines"} else "nothing"

    @property
    def counted(self) -> tuple[Met, ...]:
        """The places that its verdict is from: the repeated ones where there are any."""
        return tuple(met for met in self.met if self.known in (met.place.variance_source, "nothing"))


def views(trials: Sequence[Trial], factors: Sequence[Factor]) -> list[Trial]:
    """Every trial once for each factor that varies, of the level that it has; once at all where none varies."""
    varied = [factor.key for factor in factors if len(factor.levels) > 1]
    firsts = {factor.key: str(factor.levels[0]) for factor in factors}
    found = []
    for trial in trials:
        for key in [key for key in varied if key in trial.settings] or [trial.factor]:
            arm = str(trial.settings.get(key, trial.arm))
            found.append(replace(trial, factor=key, arm=arm, baseline=arm == firsts.get(key)))
    return found


def comparisons(
    trials: Sequence[Trial],
    factor: Factor,
    workload: str,
    response: str,
    summaries: Summaries,
    courses: Mapping[int, Measurement],
) -> tuple[list[Comparison], list[str]]:
    """Every arm that has trials here, against the factor's first level; in words, those that met it nowhere."""
    places: dict[tuple[LoadLevel, Context], dict[str, list[Trial]]] = defaultdict(dict)
    for trial in counting(trials):
        if trial.state is TrialState.DONE and response in summaries.get(trial.order, {}):
            places[trial.load, _context(trial, without=factor.key)].setdefault(trial.arm, []).append(trial)
    baseline = str(factor.levels[0])
    found, lacking = [], []
    for arm in [str(level) for level in factor.levels[1:] if any(str(level) in mine for mine in places.values())]:
        met, worthless = [], []
        for (load, context), arms in sorted(places.items(), key=lambda item: (item[0][0], item[0][1])):
            if baseline not in arms or arm not in arms:
                continue
            sides = (arms[baseline], arms[arm])
            try:
                place = _place(sides, response, summaries, courses)
            except CannotJudge:
                worthless.append(load)
                continue
            orders = tuple(tuple(trial.order for trial in side) for side in sides)
            met.append(Met(load, context, place, (orders[0], orders[1])))
        either = {load for (load, _), arms in places.items() if baseline in arms or arm in arms}
        lone = sorted(either - {one.load for one in met} - set(worthless))
        if not met:
            said = N_("{factor} = {arm} under {workload} was not judged: there is no figure of {baseline} beside it")
            lacking.append(gettext(said, factor=factor.key, arm=arm, workload=workload, baseline=baseline))
            continue
        found.append(
            Comparison(
                factor=factor.key,
                baseline=baseline,
                arm=arm,
                workload=workload,
                response=response,
                met=tuple(met),
                lone=tuple(lone),
                worthless=tuple(worthless),
            )
        )
    return found, lacking


def lone(trials: Sequence[Trial], response: str, summaries: Summaries) -> list[int]:
    """The trials that measured a response and that nobody repeated: of their noise their courses alone tell."""
    alike: dict[tuple[str, LoadLevel, str, Context], list[int]] = defaultdict(list)
    for trial in counting(trials):
        if trial.state is TrialState.DONE and response in summaries.get(trial.order, {}):
            alike[trial.workload, trial.load, trial.arm, _context(trial)].append(trial.order)
    return [orders[0] for orders in alike.values() if len(orders) == 1]


def _context(trial: Trial, without: str = "") -> Context:
    """The labels that it was run under."""
    return tuple(sorted((key, str(level)) for key, level in trial.settings.items() if key != without))


def _place(
    sides: tuple[list[Trial], list[Trial]], response: str, summaries: Summaries, courses: Mapping[int, Measurement]
) -> LevelRatio:
    values = [[summaries[trial.order][response].mean for trial in side] for side in sides]
    lines = [courses[side[0].order].points if len(side) == 1 and side[0].order in courses else () for side in sides]
    arrays = [np.asarray(one, dtype=float) if one else None for one in lines]
    return compared((values[0], values[1]), (arrays[0], arrays[1]))


def estimate(one: Comparison) -> Pooled:
    """The mean over its places with all that is known of its error; of single figures their spread alone."""
    places = [met.place for met in one.counted]
    return spread(places) if one.known == "nothing" else pooled(places)


def higher_is_better(response: str) -> bool:
    """Whether more of a response is better."""
    known = RESPONSES.get(response)
    return known.higher_is_better if known else not response.startswith(_LOWER_IS_BETTER)
