"""Standing of a claim by its evidence: the differences of pairs of levels, each with its interval. Pure.

The rules are the same for all claims, so that equal numbers have equal standings: what is shown has an interval that
excludes the contrary.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

from paribus.analysis.imported.magnitudes import ClaimedRatio, claimed_ratio
from paribus.i18n import N_, gettext
from paribus.model import Claim, ClaimEvidence, Standing
from paribus.stats.location import Located, mean_of
from paribus.units import show_percent

_VISIBLE = math.log1p(0.02)
_EQUIVALENT = math.log1p(0.05)
"""Largest difference of settings that count as equal."""

_MOST_REASONS = 4
_FROM_WEAK = (Standing.NO_EFFECT, Standing.CONSISTENT, Standing.SUPPORTED)
Judged = tuple[Standing, str]


class NoRatio(Exception):
    """A claim about a ratio states none."""


def standing_of(claim: Claim, evidence: Sequence[ClaimEvidence]) -> Judged:
    """Return the standing of a claim, and why. Raises NoRatio.

    Tables and workloads that show the same pair of levels count together, and pairs of levels each by itself.
    """
    figure = claimed_ratio(claim.magnitude)
    has_percentage = figure is not None and figure.is_percentage
    if claim.claim == "ratio" or (has_percentage and claim.claim in ("better", "worse")):
        if figure is None:
            raise NoRatio
        return _as_stated(claim, figure, evidence)
    pairs = dict.fromkeys((item.level, item.other) for item in evidence)
    judged = [_of_pair(claim, [item for item in evidence if (item.level, item.other) == pair]) for pair in pairs]
    reasons = list(dict.fromkeys(reason for _, reasons in judged for reason in reasons))
    remainder = gettext("; and {n} more", n=len(reasons) - _MOST_REASONS) if len(reasons) > _MOST_REASONS else ""
    return _joined([standing for standing, _ in judged]), gettext("; ").join(reasons[:_MOST_REASONS]) + remainder


def _of_pair(claim: Claim, evidence: Sequence[ClaimEvidence]) -> tuple[Standing, list[str]]:
    """The standing by one pair of levels under all workloads."""
    each = [_of_one(claim, item) for item in evidence]
    standings, reasons = [standing for standing, _ in each], [reason for _, reason in each]
    signs = {math.copysign(1, item.estimate) for item in evidence if abs(item.estimate) > _VISIBLE}
    if len(evidence) == 1 or len(signs) > 1 or Standing.MIXED in standings:
        return _joined(standings), reasons
    mean = mean_of([Located(item.estimate, item.low, item.high) for item in evidence])
    together = replace(evidence[0], estimate=mean.estimate, low=mean.low, high=mean.high)
    standing, _ = _of_one(claim, together)
    if standing not in standings:
        text = gettext("{n} workloads together: {effect}", n=len(evidence), effect=show_percent(mean.estimate))
        reasons.append(text)
    return standing, reasons


def _joined(standings: Sequence[Standing]) -> Standing:
    """The standing of a claim that has several: the weakest of those that agree, else mixed."""
    distinct = set(standings)
    if len(distinct) == 1:
        return standings[0]
    if distinct <= {Standing.CONSISTENT, Standing.SUPPORTED} or distinct <= {Standing.CONSISTENT, Standing.NO_EFFECT}:
        return min(distinct, key=_FROM_WEAK.index)
    if distinct == {Standing.CONTRADICTED, Standing.NO_EFFECT}:
        return Standing.CONTRADICTED
    return Standing.MIXED


def _of_one(claim: Claim, evidence: ClaimEvidence) -> Judged:
    """The standing by one pair of levels under one workload."""
    text = gettext(
        "{level} over {other} under {workload}: {effect}",
        level=evidence.level,
        other=evidence.other,
        workload=evidence.workload,
        effect=show_percent(evidence.estimate),
    )
    is_equal = max(-evidence.low, evidence.high) < _EQUIVALENT
    if is_equal and (claim.keep or claim.claim == "no_difference"):
        return Standing.SUPPORTED, gettext("{found}, equal within 5 %", found=text)
    if claim.claim == "no_difference":
        if evidence.low > 0 or evidence.high < 0:
            return Standing.CONTRADICTED, _beyond(text, evidence)
        is_visible = abs(evidence.estimate) > _EQUIVALENT
    else:
        if evidence.low > 0:
            return Standing.SUPPORTED, _beyond(text, evidence)
        if evidence.high < 0:
            return Standing.CONTRADICTED, _beyond(text, evidence)
        is_visible = evidence.estimate > _VISIBLE
    if evidence.better_at and evidence.worse_at:
        message = N_("{found}; load levels better: {n}, worse: {m}")
        return Standing.MIXED, gettext(message, found=text, n=evidence.better_at, m=evidence.worse_at)
    if is_visible:
        return Standing.CONSISTENT, gettext("{found}, within the variation of equal runs", found=text)
    if evidence.estimate < -_VISIBLE:
        message = N_("{found}, in the other direction, within the variation of equal runs")
        return Standing.NO_EFFECT, gettext(message, found=text)
    return Standing.NO_EFFECT, gettext("{found}: no effect seen", found=text)


def _beyond(text: str, evidence: ClaimEvidence) -> str:
    message = N_("{found}, beyond chance") if evidence.repeated else N_("{found}, beyond the variation of equal runs")
    return gettext(message, found=text)


def _as_stated(claim: Claim, figure: ClaimedRatio, evidence: Sequence[ClaimEvidence]) -> Judged:
    """Whether the tables show the ratio: the interval includes it, and excludes half of the difference."""
    ratios = gettext(", ").join(figure.show(math.exp(item.estimate)) for item in evidence)
    text = gettext("the tables give {ratios}, the claim states {stated}", ratios=ratios, stated=figure.text)
    return _joined([_with_ratio(claim, figure, item) for item in evidence]), text


def _with_ratio(claim: Claim, figure: ClaimedRatio, evidence: ClaimEvidence) -> Standing:
    slack = math.log1p(figure.rounding)
    is_bound = not figure.low
    low, high = (-math.inf if is_bound else math.log(figure.low) - slack), math.log(figure.high) + slack
    if evidence.low > high or evidence.high < low:
        return Standing.CONTRADICTED
    half = math.log(figure.high if is_bound else figure.low) / 2
    excludes_half = evidence.low > half if half > 0 else evidence.high < half
    if evidence.high <= high if is_bound else excludes_half:
        return Standing.SUPPORTED
    standing, _ = _of_one(claim, evidence) if claim.claim in ("better", "worse") else (Standing.CONSISTENT, "")
    return standing if standing in (Standing.MIXED, Standing.NO_EFFECT) else Standing.CONSISTENT
