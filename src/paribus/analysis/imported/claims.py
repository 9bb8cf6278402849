"""Claims tested by the numbers that they name: supported, weak, contradicted or untestable, with the reason.

Published results are mostly single runs. A difference counts as shown where it exceeds both the spread over load levels
and the usual difference of two runs. A smaller one in the claimed direction is weak; the opposite direction
contradicts.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath

from paribus.analysis.imported import matched_runs
from paribus.analysis.imported.caveats import Conditions, differences_of
from paribus.analysis.imported.magnitudes import ClaimedRatio, claimed_ratio
from paribus.analysis.paired.effects import Summaries
from paribus.i18n import N_, gettext
from paribus.model import Claim, ClaimEvidence, Factor, Plan, Standing, Tested, Trial, TrialState
from paribus.stats.unpaired import RUN_TO_RUN_SD, pool_by_spread
from paribus.units import show_percent

_MARGIN = math.log1p(0.02)
_SMALL = math.log1p(0.05)
"""A difference too small to count as one between single runs."""

_CHANCE = 1.96 * math.sqrt(2) * RUN_TO_RUN_SD
_CONFIDENCE = 0.95
_MAX_REASONS = 4
_NO_SPEED = re.compile(r"\((stability|safety|capacity)\)")
_LIMIT = re.compile(r"threads\s*(<=|>=|<|>|=)\s*([0-9]+)")
_COMPARES = {"<": int.__lt__, ">": int.__gt__, "<=": int.__le__, ">=": int.__ge__, "=": int.__eq__}


@dataclass(frozen=True, slots=True)
class ImportedSet:
    """An imported set: its plan, trials, summaries and files.

    `conditions` are those of each trial. `doubtful` are trials whose figures violate a law, `limited` those that ran at
    a limit.
    """

    plan: Plan
    trials: Sequence[Trial]
    summaries: Summaries
    paths: Mapping[int, str]
    doubtful: frozenset[int] = frozenset()
    limited: frozenset[int] = frozenset()
    conditions: Conditions = field(default_factory=dict)


class _Untestable(Exception):
    """A claim cannot be tested; the message states the reason."""


def judge_claims(claims: Sequence[Claim], sets: Sequence[ImportedSet]) -> list[Tested]:
    """Return each claim with its standing, from the numbers of whichever set has them."""
    tables_named = any(claim.tables for claim in claims)
    return [_test(claim, sets, tables_named=tables_named) for claim in claims]


def _test(claim: Claim, sets: Sequence[ImportedSet], *, tables_named: bool) -> Tested:
    try:
        parts, missing = _parts(claim, sets, tables_named=tables_named)
        results = [result for part in parts for result in _evidence(claim, part)]
        if not results:
            raise _Untestable(gettext("the tables of the claim have no two of these levels under the same load"))
        evidence = [result.evidence for result in results]
        standing, reason = _judge(claim, evidence)
    except _Untestable as error:
        return Tested(claim=claim, standing=Standing.UNTESTABLE, reason=str(error))
    if any(result.doubtful for result in results):
        reason += gettext("; some of these figures are inconsistent")
        standing = Standing.WEAK if standing is Standing.SUPPORTED else standing
    if any(result.limited for result in results) and claim.claim in ("no_difference", "recommend"):
        reason += gettext("; both reach the same limit, which hides the effect of the setting")
        standing = Standing.WEAK if standing is Standing.SUPPORTED else standing
    if missing:
        reason += gettext("; {tables} not examined", tables=", ".join(missing))
    return Tested(claim=claim, standing=standing, reason=reason, evidence=tuple(evidence))


def _parts(claim: Claim, sets: Sequence[ImportedSet], *, tables_named: bool) -> tuple[list[ImportedSet], list[str]]:
    """The trials of each set that the claim is about, and its tables that no set has."""
    if claim.claim not in ("better", "worse", "no_difference", "ratio", "recommend"):
        raise _Untestable(gettext("{claim} cannot be tested with numbers", claim=claim.claim))
    if no_speed := _NO_SPEED.search(claim.factor):
        raise _Untestable(gettext("these figures do not show {what}", what=no_speed[1]))
    if claim.factor.casefold() == "threads":
        raise _Untestable(gettext("the claim compares load levels; here settings are compared at each load level"))
    if tables_named and not claim.tables:
        raise _Untestable(gettext("no table supports the claim"))
    parts: list[ImportedSet] = []
    found_tables: set[str] = set()
    for imported_set in sets:
        part_trials = []
        for trial in imported_set.trials:
            name = PurePath(imported_set.paths.get(trial.order, "")).name.casefold()
            tables = {table for table in claim.tables if name.startswith(table.casefold())}
            found_tables |= tables
            if tables or (not claim.tables and _factor(claim, [trial])):
                part_trials.append(trial)
        if part_trials:
            parts.append(replace(imported_set, trials=part_trials))
    if not parts:
        message = (
            N_("the numbers behind the claim are missing: {tables}")
            if claim.tables
            else N_("no data here has the factor of the claim")
        )
        raise _Untestable(gettext(message, tables=", ".join(claim.tables)))
    return parts, [table for table in claim.tables if table not in found_tables]


def _plain(text: str) -> str:
    return re.sub(r"[^a-z0-9.%+]+", " ", re.sub(r"\([^)]*\)", "", text.casefold())).strip()


def _factor(claim: Claim, trials: Sequence[Trial]) -> str:
    """The factor of these trials that the claim is about; empty for none."""
    keys = list(dict.fromkeys(key for trial in trials for key in trial.settings))
    name = _plain(claim.factor)
    exact = [key for key in keys if _plain(key) == name]
    partial = [key for key in keys if _plain(key) and (_plain(key) in name or name in _plain(key))]
    return next(iter(exact or partial), "")


def _level(claim: Claim, word: str, levels: Sequence[str]) -> str:
    """The level that a word of the claim means; empty for none or several."""
    name = claim.aliases.get(word, word)
    exact = [level for level in levels if level == name] or [level for level in levels if _plain(level) == _plain(name)]
    if exact:
        return exact[0]
    pattern = re.compile(rf"(?<![\w.%]){re.escape(_plain(name))}(?![\w.%])")
    matches = [level for level in levels if _plain(name) and pattern.search(_plain(level))]
    return matches[0] if len(matches) == 1 else ""


@dataclass(frozen=True, slots=True)
class _LevelEvidence:
    """Evidence, whether one of its figures is doubtful, and whether most of them are at a limit."""

    evidence: ClaimEvidence
    doubtful: bool
    limited: bool


def _evidence(claim: Claim, part: ImportedSet) -> Iterator[_LevelEvidence]:
    """The claimed better level against every other level that the claim names, or the set has."""
    factor = _factor(claim, part.trials)
    keys = list(dict.fromkeys(key for trial in part.trials for key in trial.settings))
    if not factor and len(keys) == 1 and not claim.aliases:
        factor = keys[0]
    levels = {
        key: list(dict.fromkeys(str(trial.settings[key]) for trial in part.trials if key in trial.settings))
        for key in keys
    }
    factor = factor or next(
        (key for key in keys if all(_level(claim, word, levels[key]) for word in claim.aliases)), ""
    )
    if not factor:
        raise _Untestable(gettext("the tables of the claim have no factor {factor}", factor=claim.factor))
    factor_levels = levels[factor]
    for level, other in _compared(claim, factor_levels):
        matching_trials = [trial for trial in part.trials if _within(claim, trial)]
        yield from _of_workloads(
            part, matching_trials, Factor(key=factor, levels=(other, level), labels=(other, level), scope=())
        )


def _within(claim: Claim, trial: Trial) -> bool:
    limit = _LIMIT.search(claim.workload)
    return not limit or _COMPARES[limit[1]](trial.load.n, int(limit[2]))


def _compared(claim: Claim, factor_levels: Sequence[str]) -> list[tuple[str, str]]:
    """Pairs of levels, the claimed better one first."""
    named = {word: _level(claim, word, factor_levels) for word in claim.levels}
    stated_levels = [claim.better_level, *([claim.recommended_value] if claim.claim == "recommend" else [])]
    level_words = [word.strip() for text in stated_levels for word in re.split(r",| or ", text) if word.strip()]
    firsts = list(
        dict.fromkeys(level for level in (_level(claim, word, factor_levels) for word in level_words) if level)
    )
    others = [level for level in named.values() if level] if len(claim.levels) > 1 else list(factor_levels)
    if claim.claim == "no_difference":
        return [(level, others[0]) for level in others[1:]] if len(others) > 1 else []
    if not level_words and claim.claim == "ratio":
        raise _Untestable(gettext("the claim states figures of one setting and compares nothing"))
    if not level_words:
        raise _Untestable(gettext("the claim does not say which of two levels is better"))
    if not firsts:
        raise _Untestable(
            gettext(
                "the tables of the claim have no level {level}", level=gettext(", ").join(dict.fromkeys(level_words))
            )
        )
    return [(first, other) for first in firsts for other in others if other not in firsts]


def _of_workloads(part: ImportedSet, trials: Sequence[Trial], factor: Factor) -> Iterator[_LevelEvidence]:
    arms = set(map(str, factor.levels))
    factor_trials = matched_runs.trials_per_factor(
        [trial for trial in trials if str(trial.settings.get(factor.key)) in arms], [factor]
    )
    done = [trial for trial in factor_trials if trial.state is TrialState.DONE]
    for workload in part.plan.workloads:
        workload_trials = [trial for trial in done if trial.workload == workload.name]
        compared, _ = matched_runs.comparisons(
            workload_trials, factor, workload.name, workload.response, part.summaries, {}
        )
        for comparison in compared:
            if differences_of(comparison, part.conditions):
                continue  # two different tests
            estimate, low, high = _estimate(comparison)
            sign = 1.0 if matched_runs.higher_is_better(workload.response) else -1.0
            orders = {order for level in comparison.matched for side in level.trials for order in side}
            evidence = ClaimEvidence(
                workload=workload.name,
                level=str(factor.levels[1]),
                other=str(factor.levels[0]),
                estimate=sign * estimate,
                low=min(sign * low, sign * high),
                high=max(sign * low, sign * high),
                places=len(comparison.matched),
                repeated=comparison.variance_source == "repetitions",
            )
            yield _LevelEvidence(evidence, bool(orders & part.doubtful), len(orders & part.limited) * 2 > len(orders))


def _estimate(comparison: matched_runs.RunComparison) -> tuple[float, float, float]:
    """The estimate and its interval; for single runs at least as wide as the spread over levels and as chance."""
    if comparison.variance_source == "repetitions":
        mean = matched_runs.estimate(comparison)
        return (mean.estimate, *mean.interval(_CONFIDENCE))
    mean = pool_by_spread([level.ratio for level in comparison.matched])
    low, high = mean.interval(_CONFIDENCE) if len(comparison.matched) > 1 else (mean.estimate, mean.estimate)
    return mean.estimate, min(low, mean.estimate - _CHANCE), max(high, mean.estimate + _CHANCE)


def _judge(claim: Claim, evidence: Sequence[ClaimEvidence]) -> tuple[Standing, str]:
    figure = claimed_ratio(claim.magnitude)
    if claim.claim == "ratio" or (figure and figure.is_percentage and claim.claim in ("better", "worse")):
        if figure is None:
            raise _Untestable(gettext("the claim states no ratio that numbers could show"))
        return _as_stated(figure, evidence)
    judged = [_of_one(claim, item) for item in evidence]
    order = (Standing.CONTRADICTED, Standing.WEAK, Standing.SUPPORTED)
    worst = min((standing for standing, _ in judged), key=order.index)
    judged.sort(key=lambda item: order.index(item[0]))
    reasons = list(dict.fromkeys(reason for _, reason in judged))
    remainder = gettext("; and {n} more", n=len(reasons) - _MAX_REASONS) if len(reasons) > _MAX_REASONS else ""
    return worst, gettext("; ").join(reasons[:_MAX_REASONS]) + remainder


def _of_one(claim: Claim, evidence: ClaimEvidence) -> tuple[Standing, str]:
    """The standing of a claim by one pair of levels under one workload."""
    subject = gettext(
        "{level} over {other} under {workload}", level=evidence.level, other=evidence.other, workload=evidence.workload
    )
    text = f"{subject}: {show_percent(evidence.estimate)}"
    if claim.keep:
        if evidence.estimate < -_SMALL:
            return Standing.CONTRADICTED, gettext("{found}: the other is better", found=text)
        return Standing.SUPPORTED, gettext("{found}: no evidence for the other", found=text)
    if claim.claim == "no_difference":
        if evidence.low > 0 or evidence.high < 0:
            return Standing.CONTRADICTED, _beyond(text, evidence)
        if abs(evidence.estimate) <= _SMALL:
            return Standing.SUPPORTED, gettext("{found}, no more than two identical runs differ", found=text)
        return Standing.WEAK, gettext(
            "{found}; one run of each can exclude neither zero nor a large effect", found=text
        )
    if evidence.low > 0:
        return Standing.SUPPORTED, _beyond(text, evidence)
    if evidence.estimate < -_SMALL or evidence.high < 0:
        return Standing.CONTRADICTED, gettext("{found}: its own numbers show the opposite", found=text)
    if abs(evidence.estimate) <= _MARGIN:
        return Standing.WEAK, gettext("{found}: no difference", found=text)
    message = N_("{found}, possibly by chance")
    if not evidence.repeated and evidence.estimate < 0:
        message = N_("{found}, in the other direction, by no more than the spread or the variation of single runs")
    elif not evidence.repeated:
        message = N_("{found}, no more than the spread over load levels or the variation of single runs")
    return Standing.WEAK, gettext(message, found=text)


def _beyond(text: str, evidence: ClaimEvidence) -> str:
    message = N_("{found}, beyond chance")
    if not evidence.repeated:
        message = N_("{found}, more than the spread over load levels and the variation of single runs")
    return gettext(message, found=text)


def _as_stated(figure: ClaimedRatio, evidence: Sequence[ClaimEvidence]) -> tuple[Standing, str]:
    """Whether the ratio equals the claimed one, within the rounding of the claim or near it."""
    ratios = [math.exp(item.estimate) for item in evidence]
    formatted = ", ".join(map(figure.show, ratios))
    relative_error = max(figure.relative_error(ratio) for ratio in ratios)
    text = gettext("the tables give {ratios}, the claim states {stated}", ratios=formatted, stated=figure.text)
    if relative_error <= figure.rounding:
        return Standing.SUPPORTED, text
    return (Standing.WEAK if relative_error <= 3 * figure.rounding else Standing.CONTRADICTED), text
