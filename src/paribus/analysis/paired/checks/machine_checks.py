"""Checks that the machine was the same for both arms of a comparison."""

from collections.abc import Mapping, Sequence

import numpy as np

from paribus.analysis.diagnostics.noise import BaselineDifference
from paribus.analysis.diagnostics.uncontrolled import differing_conditions
from paribus.analysis.paired.checks.bounded_faults import BoundedFault
from paribus.analysis.paired.checks.check_context import CheckContext
from paribus.analysis.paired.checks.limits import p_limit, plain_limit, sized_limit
from paribus.analysis.paired.effects import PairSeries, Summaries
from paribus.analysis.paired.finding import LEAST_UNITS
from paribus.i18n import N_, gettext
from paribus.model import Check
from paribus.stats import diagnostics
from paribus.stats.diagnostics import SUSPICIOUS
from paribus.stats.huber import Array
from paribus.units import show_percent

_UNCERTAIN = 2.0  # a difference that is no chance is at most twice what was found
_LEAST_DIFFERENCE = 0.01  # of the processors' clock or time, as a share


def machine_checks(series: PairSeries, context: CheckContext) -> list[Check | BoundedFault | None]:
    """Checks that the machine was the same for both arms, unless these are machines."""
    of_one_machine = (
        []
        if context.spans_platforms(series)
        else [_clock(series, context.summaries), _conditions(series, context), _steal(series, context.summaries)]
    )
    return [
        _baseline_difference(N_("noise floor"), context.noise, N_("before anything was compared")),
        _baseline_difference(N_("placebo"), context.placebo, N_("meanwhile")),
        _no_event(N_("throttling"), "cpu_throttled", series, context.summaries, N_("heat slowed the processors")),
        _no_event(N_("disk errors"), "device_errors", series, context.summaries, N_("requests to the disk failed")),
        _drives(context.drives),
        *of_one_machine,
    ]


def _baseline_difference(name: str, difference: BaselineDifference | None, when: str) -> Check | BoundedFault | None:
    if difference is None:
        return None
    message = N_("{when} the baseline differed from itself by {difference}; {visible} would have been seen")
    text = gettext(
        message,
        when=gettext(when),
        difference=show_percent(difference.size),
        visible=show_percent(difference.visible).lstrip("+"),
    )
    check = Check(gettext(name), difference.p >= SUSPICIOUS, text, p_limit(difference.p, SUSPICIOUS))
    return check if check.passed else BoundedFault(check, "", _UNCERTAIN * abs(difference.size))


def _paired_values(metric: str, series: PairSeries, summaries: Summaries) -> Array:
    """A metric of the baseline and the compared side of each pair, shape (n, 2), where all trials have it."""
    values = [
        [np.mean([summaries[order][metric].mean for order in side]) for side in pair.sides]
        for pair in series.pairs
        if all(metric in summaries.get(order, {}) for order in pair.trials)
    ]
    return np.array(values, dtype=float).reshape(-1, 2)


def _clock(series: PairSeries, summaries: Summaries) -> Check | None:
    clocks = _paired_values("cpu_clock_hz", series, summaries)
    if len(clocks) < LEAST_UNITS["application"] or clocks.min() <= 0:
        return None
    difference = diagnostics.mean_difference(np.log(clocks[:, 1] / clocks[:, 0]))
    message = N_("with {arm} the processors ran {difference} faster than with {baseline}")
    text = gettext(message, arm=series.arm, difference=show_percent(difference.estimate), baseline=series.baseline)
    is_factor = series.factor.startswith("cpu.")  # the factor is meant to change the clock
    passed = is_factor or abs(difference.estimate) < _LEAST_DIFFERENCE or difference.p >= SUSPICIOUS
    return Check(
        gettext("clock"),
        passed,
        text,
        "" if is_factor else sized_limit(f"{_LEAST_DIFFERENCE * 100:g} %", "", difference.p, SUSPICIOUS),
    )


def _no_event(name: str, metric: str, series: PairSeries, summaries: Summaries, event: str) -> Check | None:
    """Whether a counted event happened in no trial; `event` is its message."""
    measurements = [summaries.get(order, {}).get(metric) for pair in series.pairs for order in pair.trials]
    measured = [value for value in measurements if value is not None]
    affected = sum(value.high > 0 for value in measured)
    text = gettext("{what} in {n} of {all} trials", what=gettext(event), n=affected, all=len(measured))
    return Check(gettext(name), affected == 0, text, plain_limit("0")) if measured else None


def _drives(counters: Mapping[str, Sequence[int]]) -> Check | None:
    """Whether the drives' error counters stayed constant from the first trial to the last."""
    if not counters:
        return None
    increased = [
        gettext("{name} from {before} to {now}", name=name, before=min(readings), now=max(readings))
        for name, readings in counters.items()
        if len(set(readings)) > 1
    ]
    failing = [
        gettext("{drive} reports that it is failing", drive=name.partition(" ")[0])
        for name, readings in counters.items()
        if name.endswith(" failing") and any(readings)
    ]
    text = gettext("; ").join([*increased, *failing])
    text = text or gettext("none of the drives' {n} error counters moved", n=len(counters))
    return Check("SMART", not increased and not failing, text)


def _conditions(series: PairSeries, context: CheckContext) -> Check | None:
    """Whether all uncontrolled conditions were equal in both trials of each pair."""
    if not any(order in context.conditions for pair in series.pairs for order in pair.trials):
        return None
    differences = [differing_conditions(pair.trials, context.conditions, context.settings) for pair in series.pairs]
    names = sorted({name for names_of_pair in differences for name in names_of_pair})
    if not names:
        return Check(
            gettext("conditions"),
            True,
            gettext("conditions outside the plan were the same in both trials of every pair"),
        )
    message = N_("{names} differed within {n} of {all} pairs; the plan does not control this")
    text = gettext(
        message, names=gettext(", ").join(map(gettext, names)), n=sum(map(bool, differences)), all=len(differences)
    )
    return Check(gettext("conditions"), False, text, plain_limit("0"))


def _steal(series: PairSeries, summaries: Summaries) -> Check | None:
    shares = _paired_values("cpu_steal_share", series, summaries)
    if len(shares) < LEAST_UNITS["application"] or not shares.any():
        return None
    difference = diagnostics.mean_difference(shares[:, 1] - shares[:, 0])
    baseline_share, compared_share = shares.mean(axis=0)
    message = N_("other guests took {share:.1%} of the processors with {arm}, {usual:.1%} with {baseline}")
    text = gettext(message, share=compared_share, arm=series.arm, usual=baseline_share, baseline=series.baseline)
    passed = abs(difference.estimate) < _LEAST_DIFFERENCE or difference.p >= SUSPICIOUS
    limit = gettext("{n} point", n=f"{_LEAST_DIFFERENCE * 100:g}")
    points = gettext("{n} points", n=f"{difference.estimate * 100:+.2g}".replace("-", "−"))
    return Check(gettext("steal"), passed, text, sized_limit(limit, points, difference.p, SUSPICIOUS))
