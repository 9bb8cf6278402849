"""Claims tested by the numbers that they name, with the reason.

Published results are mostly single runs. A difference counts as shown where its interval excludes zero: that of the
spread over load levels, widened by the variation of equal runs, which all cells of a run share. The same interval says
whether there is no difference, and whether a stated ratio holds.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath

from paribus.analysis.imported import matched_runs
from paribus.analysis.imported.caveats import Conditions, differences_of
from paribus.analysis.imported.run_to_run import ASSUMED, RunToRun, run_to_run
from paribus.analysis.imported.standing import NoRatio, standing_of
from paribus.analysis.paired.effects import Summaries
from paribus.i18n import N_, gettext
from paribus.model import Claim, ClaimEvidence, Factor, Plan, Standing, Tested, Trial, TrialState
from paribus.stats.location import Located, locate, widened

_CONFIDENCE = 0.95
_NO_SPEED = re.compile(r"\((stability|safety|capacity)\)")
_LIMIT = re.compile(r"threads\s*(<=|>=|<|>|=)\s*([0-9]+)")
_COMPARES = {"<": int.__lt__, ">": int.__gt__, "<=": int.__le__, ">=": int.__ge__, "=": int.__eq__}


@dataclass(frozen=True, slots=True)
class ImportedSet:
    """An imported set: its plan, trials, summaries and files.

    `conditions` are those of each trial. `doubtful` are trials whose figures violate a law, `limited` those that ran at
    a limit. `variation` is that of its equal runs.
    """

    plan: Plan
    trials: Sequence[Trial]
    summaries: Summaries
    paths: Mapping[int, str]
    doubtful: frozenset[int] = frozenset()
    limited: frozenset[int] = frozenset()
    conditions: Conditions = field(default_factory=dict)
    variation: RunToRun = ASSUMED


class _Untestable(Exception):
    """A claim cannot be tested; the message states the reason."""


def judge_claims(claims: Sequence[Claim], sets: Sequence[ImportedSet]) -> list[Tested]:
    """Return each claim with its standing, from the numbers of whichever set has them."""
    tables_named = any(claim.tables for claim in claims)
    varying = [
        replace(each, variation=run_to_run(each.plan, each.trials, each.summaries, each.limited)) for each in sets
    ]
    return [_test(claim, varying, tables_named=tables_named) for claim in claims]


def _test(claim: Claim, sets: Sequence[ImportedSet], *, tables_named: bool) -> Tested:
    try:
        parts, missing = _parts(claim, sets, tables_named=tables_named)
        results = [result for part in parts for result in _evidence(claim, part)]
        if not results:
            raise _Untestable(gettext("the tables of the claim have no two of these levels under the same load"))
        evidence = [result.evidence for result in results]
        standing, reason = standing_of(claim, evidence)
    except _Untestable as error:
        return Tested(claim=claim, standing=Standing.UNTESTABLE, reason=str(error))
    except NoRatio:
        reason = gettext("the claim states no ratio that numbers could show")
        return Tested(claim=claim, standing=Standing.UNTESTABLE, reason=reason)
    if left_out := sum(result.left_out for result in results):
        reason += gettext("; without {n} inconsistent figures", n=left_out)
    if any(result.doubtful for result in results):
        reason += gettext("; some of these figures are inconsistent")
        standing = Standing.CONSISTENT if standing is Standing.SUPPORTED else standing
    if any(result.limited for result in results) and claim.claim in ("no_difference", "recommend"):
        reason += gettext("; both reach the same limit, which hides the effect of the setting")
        standing = Standing.NO_EFFECT if standing is Standing.SUPPORTED else standing
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
    """Evidence, whether one of its figures is doubtful, and whether most of them are at a limit.

    `left_out` load levels have a doubtful figure, and enough others have none.
    """

    evidence: ClaimEvidence
    doubtful: bool
    limited: bool
    left_out: int


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
        for whole in compared:
            comparison, left_out = _without_doubtful(whole, part.doubtful)
            if differences_of(comparison, part.conditions):
                continue  # two different tests
            estimate, low, high = _estimate(comparison, part.variation)
            sign = 1.0 if matched_runs.higher_is_better(workload.response) else -1.0
            beyond = 1.96 * math.sqrt(2) * part.variation.deviation
            cells = [sign * level.ratio.estimate for level in comparison.matched]
            orders = {order for level in comparison.matched for order in _orders(level)}
            evidence = ClaimEvidence(
                workload=workload.name,
                level=str(factor.levels[1]),
                other=str(factor.levels[0]),
                estimate=sign * estimate,
                low=min(sign * low, sign * high),
                high=max(sign * low, sign * high),
                places=len(comparison.matched),
                better_at=sum(cell > beyond for cell in cells),
                worse_at=sum(cell < -beyond for cell in cells),
                repeated=comparison.variance_source == "repetitions",
                variation=part.variation.deviation,
                variation_source=part.variation.source,
            )
            is_limited = len(orders & part.limited) * 2 > len(orders)
            yield _LevelEvidence(evidence, bool(orders & part.doubtful), is_limited, left_out)


def _without_doubtful(
    comparison: matched_runs.RunComparison, doubtful: frozenset[int]
) -> tuple[matched_runs.RunComparison, int]:
    """The comparison by its sound load levels, where these are half or more, and how many others there are."""
    sound = tuple(level for level in comparison.matched if not doubtful & _orders(level))
    left_out = len(comparison.matched) - len(sound)
    if not left_out or left_out > len(sound):
        return comparison, 0
    return replace(comparison, matched=sound, whole_runs=None), left_out


def _orders(level: matched_runs.MatchedLevel) -> frozenset[int]:
    return frozenset(order for side in level.trials for order in side)


def _estimate(comparison: matched_runs.RunComparison, variation: RunToRun) -> Located:
    """The estimate and its interval; that of single runs is widened by the variation that all their cells share."""
    if comparison.variance_source == "repetitions" and 2 * len(comparison.judged) > len(comparison.matched):
        mean = matched_runs.estimate(comparison)
        return Located(mean.estimate, *mean.interval(_CONFIDENCE))
    cells = [level.ratio.estimate for level in comparison.matched]
    located = locate(cells) if len(cells) > 1 else Located(cells[0], cells[0], cells[0])
    return widened(located, math.sqrt(2) * variation.deviation)
