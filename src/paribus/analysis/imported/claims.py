"""Claims beside the numbers they name: supported, weak, contradicted or untestable, each with its reason.

In: claims, and the trials of sets with what they measured. Out: Tested. One run of each is the rule in what others
publish, so a difference counts as shown where it is beyond both the spread over load levels and what two runs of the
same are taken to differ by; a mean that leans that way by less is weak, and one that goes the other way contradicts.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

from paribus.analysis.imported import matched_runs
from paribus.analysis.imported.magnitudes import Stated, stated
from paribus.analysis.paired.effects import Summaries
from paribus.i18n import N_, gettext
from paribus.model import Claim, ClaimEvidence, Factor, Plan, Standing, Tested, Trial, TrialState
from paribus.stats.unpaired import RUN_TO_RUN_SD, spread
from paribus.units import show_percent

_MARGIN = math.log1p(0.02)
_SMALL = math.log1p(0.05)
"""A difference that nobody would call one, of single runs."""

_CHANCE = 1.96 * math.sqrt(2) * RUN_TO_RUN_SD
_CONFIDENCE = 0.95
_MOST = 4
_NO_SPEED = re.compile(r"\((stability|safety|capacity)\)")
_LIMIT = re.compile(r"threads\s*(<=|>=|<|>|=)\s*([0-9]+)")
_COMPARES = {"<": int.__lt__, ">": int.__gt__, "<=": int.__le__, ">=": int.__ge__, "=": int.__eq__}


@dataclass(frozen=True, slots=True)
class Numbers:
    """A set: its plan, trials and summaries, the file of each trial, trials with a doubtful figure, and at a limit."""

    plan: Plan
    trials: Sequence[Trial]
    summaries: Summaries
    paths: Mapping[int, str]
    doubtful: frozenset[int] = frozenset()
    limited: frozenset[int] = frozenset()


class _Untestable(Exception):
    """Why a claim cannot be tested."""


def weigh(claims: Sequence[Claim], sets: Sequence[Numbers]) -> list[Tested]:
    """Each claim by the numbers that it names, in whichever set they are."""
    named = any(claim.tables for claim in claims)
    return [_test(claim, sets, tables_named=named) for claim in claims]


def _test(claim: Claim, sets: Sequence[Numbers], *, tables_named: bool) -> Tested:
    try:
        parts, lacking = _parts(claim, sets, tables_named=tables_named)
        found = [one for part in parts for one in _evidence(claim, part)]
        if not found:
            raise _Untestable(gettext("its tables have no two of these levels under the same load"))
        evidence = [one.evidence for one in found]
        standing, reason = _judge(claim, evidence)
    except _Untestable as why:
        return Tested(claim=claim, standing=Standing.UNTESTABLE, reason=str(why))
    if any(one.doubtful for one in found):
        reason += gettext("; some of these figures do not fit each other")
        standing = Standing.WEAK if standing is Standing.SUPPORTED else standing
    if any(one.limited for one in found) and claim.claim in ("no_difference", "recommend"):
        reason += gettext("; both come to the same limit, which hides what the setting does")
        standing = Standing.WEAK if standing is Standing.SUPPORTED else standing
    if lacking:
        reason += gettext("; {tables} not looked at", tables=", ".join(lacking))
    return Tested(claim=claim, standing=standing, reason=reason, evidence=tuple(evidence))


def _parts(claim: Claim, sets: Sequence[Numbers], *, tables_named: bool) -> tuple[list[Numbers], list[str]]:
    """What the claim is about of each set, and its tables that are nowhere."""
    if claim.claim not in ("better", "worse", "no_difference", "ratio", "recommend"):
        raise _Untestable(gettext("{claim} is nothing that numbers show", claim=claim.claim))
    if other := _NO_SPEED.search(claim.factor):
        raise _Untestable(gettext("these figures do not show {what}", what=other[1]))
    if claim.factor.casefold() == "threads":
        raise _Untestable(
            gettext("it compares load levels with each other; here settings are compared at each of them")
        )
    if tables_named and not claim.tables:
        raise _Untestable(gettext("no table is behind it"))
    found: list[Numbers] = []
    there: set[str] = set()
    for one in sets:
        mine = []
        for trial in one.trials:
            name = PurePath(one.paths.get(trial.order, "")).name.casefold()
            tables = {table for table in claim.tables if name.startswith(table.casefold())}
            there |= tables
            if tables or (not claim.tables and _factor(claim, [trial])):
                mine.append(trial)
        if mine:
            found.append(replace(one, trials=mine))
    if not found:
        said = N_("its numbers are not here: {tables}") if claim.tables else N_("nothing here has its factor")
        raise _Untestable(gettext(said, tables=", ".join(claim.tables)))
    return found, [table for table in claim.tables if table not in there]


def _plain(text: str) -> str:
    return re.sub(r"[^a-z0-9.%+]+", " ", re.sub(r"\([^)]*\)", "", text.casefold())).strip()


def _factor(claim: Claim, trials: Sequence[Trial]) -> str:
    """Which of the factors that these trials have the claim is about; empty: none."""
    keys = list(dict.fromkeys(key for trial in trials for key in trial.settings))
    wanted = _plain(claim.factor)
    exact = [key for key in keys if _plain(key) == wanted]
    part = [key for key in keys if _plain(key) and (_plain(key) in wanted or wanted in _plain(key))]
    return next(iter(exact or part), "")


def _level(claim: Claim, word: str, levels: Sequence[str]) -> str:
    """The level that a word of the claim means; empty: none, or more than one."""
    wanted = claim.aliases.get(word, word)
    exact = [level for level in levels if level == wanted] or [one for one in levels if _plain(one) == _plain(wanted)]
    if exact:
        return exact[0]
    spot = re.compile(rf"(?<![\w.%]){re.escape(_plain(wanted))}(?![\w.%])")
    near = [level for level in levels if _plain(wanted) and spot.search(_plain(level))]
    return near[0] if len(near) == 1 else ""


@dataclass(frozen=True, slots=True)
class _Found:
    """Evidence, and whether a figure behind it is doubtful, or all of them stand at a limit."""

    evidence: ClaimEvidence
    doubtful: bool
    limited: bool


def _evidence(claim: Claim, part: Numbers) -> Iterator[_Found]:
    """The level that is said to be better over every other that is named, or tried."""
    factor = _factor(claim, part.trials)
    keys = list(dict.fromkeys(key for trial in part.trials for key in trial.settings))
    if not factor and len(keys) == 1 and not claim.aliases:
        factor = keys[0]
    levels = {key: list(dict.fromkeys(str(t.settings[key]) for t in part.trials if key in t.settings)) for key in keys}
    factor = factor or next((key for key in keys if all(_level(claim, w, levels[key]) for w in claim.aliases)), "")
    if not factor:
        raise _Untestable(gettext("its tables have no factor {factor}", factor=claim.factor))
    known = levels[factor]
    for level, other in _compared(claim, known):
        wanted = [trial for trial in part.trials if _within(claim, trial)]
        yield from _of_workloads(
            part, wanted, Factor(key=factor, levels=(other, level), labels=(other, level), scope=())
        )


def _within(claim: Claim, trial: Trial) -> bool:
    limit = _LIMIT.search(claim.workload)
    return not limit or _COMPARES[limit[1]](trial.load.n, int(limit[2]))


def _compared(claim: Claim, known: Sequence[str]) -> list[tuple[str, str]]:
    """Pairs of levels, the one that is said to be better first."""
    named = {word: _level(claim, word, known) for word in claim.levels}
    said = [claim.better_level, *([claim.recommended_value] if claim.claim == "recommend" else [])]
    words = [word.strip() for text in said for word in re.split(r",| or ", text) if word.strip()]
    firsts = list(dict.fromkeys(level for level in (_level(claim, word, known) for word in words) if level))
    others = [level for level in named.values() if level] if len(claim.levels) > 1 else list(known)
    if claim.claim == "no_difference":
        return [(level, others[0]) for level in others[1:]] if len(others) > 1 else []
    if not words and claim.claim == "ratio":
        raise _Untestable(gettext("it states figures of one setting, and compares nothing"))
    if not words:
        raise _Untestable(gettext("it does not say which of two levels is better"))
    if not firsts:
        raise _Untestable(gettext("its tables do not have {level}", level=gettext(", ").join(dict.fromkeys(words))))
    return [(first, other) for first in firsts for other in others if other not in firsts]


def _of_workloads(part: Numbers, trials: Sequence[Trial], factor: Factor) -> Iterator[_Found]:
    arms = set(map(str, factor.levels))
    mine = matched_runs.views([t for t in trials if str(t.settings.get(factor.key)) in arms], [factor])
    done = [trial for trial in mine if trial.state is TrialState.DONE]
    for workload in part.plan.workloads:
        under = [trial for trial in done if trial.workload == workload.name]
        made, _ = matched_runs.comparisons(under, factor, workload.name, workload.response, part.summaries, {})
        for one in made:
            estimate, low, high = _told_by(one)
            sign = 1.0 if matched_runs.higher_is_better(workload.response) else -1.0
            orders = {order for where in one.met for side in where.trials for order in side}
            evidence = ClaimEvidence(
                workload=workload.name,
                level=str(factor.levels[1]),
                other=str(factor.levels[0]),
                estimate=sign * estimate,
                low=min(sign * low, sign * high),
                high=max(sign * low, sign * high),
                places=len(one.met),
                repeated=one.known == "repetitions",
            )
            yield _Found(evidence, bool(orders & part.doubtful), len(orders & part.limited) * 2 > len(orders))


def _told_by(one: matched_runs.Comparison) -> tuple[float, float, float]:
    """The estimate and an interval: of single runs as wide as the spread over load levels, and as chance."""
    if one.known == "repetitions":
        found = matched_runs.estimate(one)
        return (found.estimate, *found.interval(_CONFIDENCE))
    found = spread([where.place for where in one.met])
    low, high = found.interval(_CONFIDENCE) if len(one.met) > 1 else (found.estimate, found.estimate)
    return found.estimate, min(low, found.estimate - _CHANCE), max(high, found.estimate + _CHANCE)


def _judge(claim: Claim, evidence: Sequence[ClaimEvidence]) -> tuple[Standing, str]:
    figure = stated(claim.magnitude)
    if claim.claim == "ratio" or (figure and figure.share and claim.claim in ("better", "worse")):
        if figure is None:
            raise _Untestable(gettext("it states no ratio that numbers could have"))
        return _as_stated(figure, evidence)
    judged = [_of_one(claim, one) for one in evidence]
    order = (Standing.CONTRADICTED, Standing.WEAK, Standing.SUPPORTED)
    worst = min((standing for standing, _ in judged), key=order.index)
    judged.sort(key=lambda one: order.index(one[0]))
    reasons = list(dict.fromkeys(reason for _, reason in judged))
    more = gettext("; and {n} more", n=len(reasons) - _MOST) if len(reasons) > _MOST else ""
    return worst, gettext("; ").join(reasons[:_MOST]) + more


def _of_one(claim: Claim, one: ClaimEvidence) -> tuple[Standing, str]:
    """How one pair of levels under one workload stands to it."""
    where = gettext("{level} over {other} under {workload}", level=one.level, other=one.other, workload=one.workload)
    found = f"{where}: {show_percent(one.estimate)}"
    if claim.keep:
        if one.estimate < -_SMALL:
            return Standing.CONTRADICTED, gettext("{found}: the other is better", found=found)
        return Standing.SUPPORTED, gettext("{found}: nothing speaks for the other", found=found)
    if claim.claim == "no_difference":
        if one.low > 0 or one.high < 0:
            return Standing.CONTRADICTED, _beyond(found, one)
        if abs(one.estimate) <= _SMALL:
            return Standing.SUPPORTED, gettext("{found}, as little as two runs of the same differ", found=found)
        return Standing.WEAK, gettext(
            "{found}, which one run of each cannot tell from nothing, nor from much", found=found
        )
    if one.low > 0:
        return Standing.SUPPORTED, _beyond(found, one)
    if one.estimate < -_SMALL or one.high < 0:
        return Standing.CONTRADICTED, gettext("{found}: its own numbers go the other way", found=found)
    if abs(one.estimate) <= _MARGIN:
        return Standing.WEAK, gettext("{found}: no difference", found=found)
    said = N_("{found}, which chance alone may be")
    if not one.repeated and one.estimate < 0:
        said = N_("{found}, the other way, by no more than the spread or what single runs may differ by")
    elif not one.repeated:
        said = N_("{found}, no more than the spread over load levels or what single runs may differ by")
    return Standing.WEAK, gettext(said, found=found)


def _beyond(found: str, one: ClaimEvidence) -> str:
    said = N_("{found}, beyond chance")
    if not one.repeated:
        said = N_("{found}, more than the spread over load levels and than single runs may differ by")
    return gettext(said, found=found)


def _as_stated(figure: Stated, evidence: Sequence[ClaimEvidence]) -> tuple[Standing, str]:
    """Whether the ratio is as it is said to be: within the figure's own rounding, or near it."""
    ratios = [math.exp(one.estimate) for one in evidence]
    words = ", ".join(map(figure.told, ratios))
    miss = max(figure.miss(ratio) for ratio in ratios)
    found = gettext("its tables give {ratios}, it says {stated}", ratios=words, stated=figure.words)
    if miss <= figure.rounding:
        return Standing.SUPPORTED, found
    return (Standing.WEAK if miss <= 3 * figure.rounding else Standing.CONTRADICTED), found
