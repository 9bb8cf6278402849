"""The assumptions behind a verdict, each looked at by name: what fails makes the verdict suspect.

In: a Finding with its pairs, the trials in the order of time, and the course of the response within each trial. Out:
Checks, every one with what was found, in words. Called by `judge`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from paribus.analysis.diagnostics.plausibility import Lawful
from paribus.analysis.diagnostics.uncontrolled import Facts, unlike
from paribus.analysis.paired.decision import LEAST_UNITS, Finding, Pairs, Question
from paribus.analysis.paired.effects import Pair, Series, Summaries
from paribus.i18n import N_, gettext
from paribus.model import Check, Measurement, Trial
from paribus.stats import diagnostics
from paribus.stats.diagnostics import Coefficient
from paribus.stats.huber import Array, Regression
from paribus.units import show_percent

_SUSPICIOUS = 0.01  # of checks that look at every experiment: what is true of good data once in a hundred
_UNSETTLED = 0.05
_UNLIKE = 0.01  # of the processors' clock or time
_CHANCE = 0.05
_FEWEST_POINTS = 3
_HOUR_S = 3600.0
_LEAST_COMPLETIONS = {"response_p99_s": 10_000}

Courses = Mapping[int, Measurement]


@dataclass(frozen=True, slots=True)
class Timeline:
    """The trials of an experiment as they were made: when each began, which came before it, and how long it took."""

    started: Mapping[int, float]
    before: Mapping[int, Trial]
    took_s: Mapping[int, float]

    @classmethod
    def of(cls, trials: Sequence[Trial]) -> "Timeline":
        """From the trials in any order."""
        made = sorted((t for t in trials if t.started is not None), key=lambda t: t.started or 0.0)
        before = {now.order: earlier for earlier, now in pairwise(made)}
        return cls({t.order: t.started or 0.0 for t in made}, before, {t.order: t.took_s for t in made})

    def pair_s(self, one: Series) -> float:
        """Seconds that a pair, or a pair of applications, takes on average; 0 where none is known."""
        return sum(self.took_s.get(order, 0.0) for pair in one.pairs for order in pair.trials) / max(one.units, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """What else is known of the trials of a comparison.

    `noise` and `placebo` say how the baseline differed from itself before and meanwhile (log ratio, p value), `courses`
    what the response did within each trial, `drives` what the drives had counted of their errors, whenever it was read,
    `conditions` what each trial found of the machine that should be the same in all, `lawful` which trials break a law
    of arithmetic or physics.
    """

    timeline: Timeline
    summaries: Summaries
    courses: Courses
    noise: tuple[float, float] | None
    placebo: tuple[float, float] | None
    drives: Mapping[str, Sequence[int]]
    conditions: Facts
    lawful: Lawful


def checks_of(found: Finding, question: Question, one: Series, pairs: Pairs, known: Circumstances) -> tuple[Check, ...]:
    """Every check of one comparison that its data allow; `one` and `pairs` are those of the look."""
    looked = [
        _order(found.order_effect, question),
        None if one.split else _carry_over(one, pairs, question, known.timeline),
        _settled(one, question, known.courses),
        _outliers(found, one),
        _faults(one),
        *_of_the_machine(one, known),
        known.lawful.check(one),
        _completions(one, pairs),
        _neighbours(found.fitted),
        _drift(one, known.timeline),
    ]
    return tuple(check for check in looked if check is not None)


def checks_of_screen(
    fitted: Regression, question: Question, one: Series, pairs: Pairs, known: Circumstances
) -> tuple[Check, ...]:
    """The checks that all factors of a screen share; the last coefficient of its fit is that of the order."""
    looked = [
        _order(diagnostics.coefficient(fitted, len(fitted.coefficients) - 1), question),
        *_of_the_machine(one, known),
        known.lawful.check(one),
        _completions(one, pairs),
        _neighbours(fitted),
        _drift(one, known.timeline),
    ]
    return tuple(check for check in looked if check is not None)


def _fails(seen: Coefficient, margin: float, chance: float = _SUSPICIOUS) -> bool:
    """Whether something is there, and large enough to matter."""
    return abs(seen.estimate) > margin / 2 and seen.p < chance


def _order(seen: Coefficient | None, question: Question) -> Check | None:
    if seen is None:
        return None
    failed = _fails(seen, question.margin)
    words = gettext("whoever runs later gains {effect}", effect=show_percent(seen.estimate))
    return Check(gettext("order"), not failed, words + (gettext(": settle longer") if failed else ""))


def _carry_over(one: Series, pairs: Pairs, question: Question, timeline: Timeline) -> Check | None:
    after = [[_comes_after(order, one, timeline) for order in reversed(pair.trials)] for pair in one.pairs]
    seen = diagnostics.carry_over(pairs.difference, pairs.order, np.array(after, dtype=bool).reshape(-1, 2))
    if seen is None:
        return None
    failed = _fails(seen, question.margin)
    todo = gettext(": settle longer, or make the data anew for each application") if failed else ""
    words = gettext("a trial after one of {arm} gains {effect}", arm=one.arm, effect=show_percent(seen.estimate))
    return Check(gettext("carry-over"), not failed, words + todo)


def _comes_after(order: int, one: Series, timeline: Timeline) -> bool:
    """Whether the trial came after one of the compared arm."""
    before = timeline.before.get(order)
    return before is not None and (before.factor, before.workload, before.arm) == (one.factor, one.workload, one.arm)


def _settled(one: Series, question: Question, courses: Courses) -> Check | None:
    known = [points for pair in one.pairs if (points := _points(pair, courses)) is not None]
    seen = diagnostics.trend_in_trials(*diagnostics.end_log_ratios(known)) if known else None
    if seen is None:
        return None
    failed = _fails(seen, question.margin, _UNSETTLED)
    said = N_("from the first third of the trials to the last the effect changes by {change}")
    words = gettext(said, change=show_percent(seen.estimate))
    return Check(gettext("settled"), not failed, words + (gettext(": settle longer") if failed else ""))


def _points(pair: Pair, courses: Courses) -> tuple[np.ndarray, np.ndarray] | None:
    found = [courses[order].points for order in reversed(pair.trials) if order in courses]
    usable = len(found) == 2 and all(len(points) >= _FEWEST_POINTS and min(points) > 0 for points in found)
    return (np.array(found[0]), np.array(found[1])) if usable else None


def _outliers(found: Finding, one: Series) -> Check:
    slow, base = found.slow
    failed = diagnostics.equal_counts_p(slow, base) < _CHANCE
    said = N_("{n} trials of {arm} and {others} of {baseline} lie far off")
    return Check(
        gettext("outliers"), not failed, gettext(said, n=slow, arm=one.arm, others=base, baseline=one.baseline)
    )


def _faults(one: Series) -> Check:
    base, arm = one.faults
    failed = diagnostics.equal_counts_p(base, arm) < _CHANCE
    said = N_("in {n} blocks a trial of {arm} could not be used, and in {others} one of {baseline}")
    return Check(gettext("reruns"), not failed, gettext(said, n=arm, arm=one.arm, others=base, baseline=one.baseline))


def _of_the_machine(one: Series, known: Circumstances) -> list[Check | None]:
    """Whether the machine was the same for both arms."""
    return [
        _equals(N_("noise floor"), known.noise, N_("before anything was compared")),
        _equals(N_("placebo"), known.placebo, N_("meanwhile")),
        _clock(one, known.summaries),
        _never(N_("throttling"), "cpu_throttled", one, known.summaries, N_("heat slowed the processors")),
        _never(N_("disk errors"), "device_errors", one, known.summaries, N_("requests to the disk failed")),
        _drives(known.drives),
        _conditions(one, known.conditions),
        _stolen(one, known.summaries),
    ]


def _equals(name: str, seen: tuple[float, float] | None, when: str) -> Check | None:
    if seen is None:
        return None
    said = N_("{when} the baseline differed from itself by {difference}")
    words = gettext(said, when=gettext(when), difference=show_percent(seen[0]))
    return Check(gettext(name), seen[1] >= _SUSPICIOUS, words)


def _both(metric: str, one: Series, summaries: Summaries) -> Array:
    """A metric of the machine in the baseline's and the compared trial of each pair, (n, 2), where both have it."""
    found = [[summaries.get(order, {}).get(metric) for order in pair.trials] for pair in one.pairs]
    known = [[base.mean, compared.mean] for base, compared in found if base is not None and compared is not None]
    return np.array(known, dtype=float).reshape(-1, 2)


def _clock(one: Series, summaries: Summaries) -> Check | None:
    both = _both("cpu_clock_hz", one, summaries)
    if len(both) < LEAST_UNITS["application"] or both.min() <= 0:
        return None
    seen = diagnostics.mean_difference(np.log(both[:, 1] / both[:, 0]))
    said = N_("with {arm} the processors ran {difference} faster than with {baseline}")
    words = gettext(said, arm=one.arm, difference=show_percent(seen.estimate), baseline=one.baseline)
    meant = one.factor.startswith("cpu.")  # then it is how the factor works
    return Check(gettext("clock"), meant or abs(seen.estimate) < _UNLIKE or seen.p >= _SUSPICIOUS, words)


def _never(name: str, metric: str, one: Series, summaries: Summaries, words: str) -> Check | None:
    """Whether something that the machine counts happened in no trial; `words` name it."""
    seen = [summaries.get(order, {}).get(metric) for pair in one.pairs for order in pair.trials]
    known = [trial for trial in seen if trial is not None]
    struck = sum(trial.high > 0 for trial in known)
    found = gettext("{what} in {n} of {all} trials", what=gettext(words), n=struck, all=len(known))
    return Check(gettext(name), struck == 0, found) if known else None


def _drives(counters: Mapping[str, Sequence[int]]) -> Check | None:
    """Whether the drives' own counters of errors stood still, from the first trial to the last."""
    if not counters:
        return None
    grown = [
        gettext("{name} from {before} to {now}", name=name, before=min(seen), now=max(seen))
        for name, seen in counters.items()
        if len(set(seen)) > 1
    ]
    failing = [
        gettext("{drive} says that it is failing", drive=name.partition(" ")[0])
        for name, seen in counters.items()
        if name.endswith(" failing") and any(seen)
    ]
    words = gettext("; ").join([*grown, *failing])
    words = words or gettext("none of the drives' {n} counters of errors moved", n=len(counters))
    return Check("SMART", not grown and not failing, words)


def _conditions(one: Series, conditions: Facts) -> Check | None:
    """Whether all that no trial sets was the same in both trials of each pair."""
    if not any(order in conditions for pair in one.pairs for order in pair.trials):
        return None
    seen = [unlike(pair.trials, conditions) for pair in one.pairs]
    names = sorted({name for found in seen for name in found})
    if not names:
        return Check(gettext("conditions"), True, gettext("what no trial sets was alike in both trials of every pair"))
    said = N_("{names} differed within {n} of {all} pairs, and no trial sets that")
    words = gettext(said, names=gettext(", ").join(map(gettext, names)), n=sum(map(bool, seen)), all=len(seen))
    return Check(gettext("conditions"), False, words)


def _stolen(one: Series, summaries: Summaries) -> Check | None:
    both = _both("cpu_steal_share", one, summaries)
    if len(both) < LEAST_UNITS["application"] or not both.any():
        return None
    seen = diagnostics.mean_difference(both[:, 1] - both[:, 0])
    base, compared = both.mean(axis=0)
    said = N_("other guests took {share:.1%} of the processors with {arm}, {usual:.1%} with {baseline}")
    words = gettext(said, share=compared, arm=one.arm, usual=base, baseline=one.baseline)
    return Check(gettext("steal"), abs(seen.estimate) < _UNLIKE or seen.p >= _SUSPICIOUS, words)


def _completions(one: Series, pairs: Pairs) -> Check | None:
    """A percentile of too few response times is the luck of single ones."""
    least = _LEAST_COMPLETIONS.get(one.response)
    if least is None or pairs.count == 0:
        return None
    failed = pairs.count < least
    words = gettext("the shortest trial completed {n:,} operations", n=pairs.count)
    todo = gettext(", and {n:,} are needed: lengthen trial", n=least) if failed else ""
    return Check(gettext("completions"), not failed, words + todo)


def _neighbours(fitted: Regression) -> Check:
    r = diagnostics.lag_one(fitted.residuals)
    failed = abs(r) > 2.58 / np.sqrt(len(fitted.residuals))
    words = gettext("a pair and the next correlate by {r}", r=f"{r:+.2f}".replace("-", "−"))
    return Check(
        gettext("independence"), not failed, words + (gettext(": what disturbs outlasts a block") if failed else "")
    )


def _drift(one: Series, timeline: Timeline) -> Check | None:
    """Told and never corrected: both arms of a block have the same."""
    if not all(order in timeline.started for pair in one.pairs for order in pair.trials):
        return None
    at = np.array([timeline.started[pair.trials[0]] for pair in one.pairs]) / _HOUR_S
    level = {pair.load: 0.0 for pair in one.pairs}
    for load in level:
        mine = [np.log(pair.baseline * pair.compared) / 2 for pair in one.pairs if pair.load == load]
        level[load] = float(np.median(mine))
    values = np.array([np.log(pair.baseline * pair.compared) / 2 - level[pair.load] for pair in one.pairs])
    slope, low, high = diagnostics.drift(at, values)
    hours = float(np.ptp(at))
    slopes = f"[{show_percent(low * hours)}, {show_percent(high * hours)}]"
    said = N_("the machine itself changed by {change} {interval} meanwhile; pairs are made side by side")
    return Check(gettext("drift"), True, gettext(said, change=show_percent(slope * hours), interval=slopes))
