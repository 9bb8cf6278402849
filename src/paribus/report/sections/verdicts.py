"""From effects to sentences: what is answered, in which words, in which order.

In: effects as the analysis made them, and the trials (for arms that got none). Out: Answer and Judged.
Called by the view. An undecided effect is never worded as if nothing had been found to differ.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from paribus.i18n import N_, gettext
from paribus.model import RESPONSES, Check, Effect, Purpose, Tag, Trial, TrialState, Verdict
from paribus.report.sections.evidence import failure_text
from paribus.report.view import numbers
from paribus.report.view.view_models import Answer, CheckList, Judged

NONE = N_("no verdict")
WORDS = {
    Verdict.BETTER: N_("better"),
    Verdict.WORSE: N_("worse"),
    Verdict.DEPENDS_ON_LOAD: N_("depends on load"),
    Verdict.UNDECIDED: N_("undecided"),
    Verdict.EQUIVALENT: N_("equivalent"),
    Verdict.NO_EFFECT_POSSIBLE: N_("no effect possible"),
}
NOT_POSSIBLE = WORDS[Verdict.NO_EFFECT_POSSIBLE]
RANKS = (*WORDS.values(), NONE)
"""Verdict words, not translated, in the order in which they are read: what calls for action first."""
OPEN = (WORDS[Verdict.UNDECIDED], NONE)
"""The words for a question without an answer."""

_TAGS = {
    Tag.MATERIAL: N_("by more than the margin"),
    Tag.NEGLIGIBLE: N_("detectable but negligible"),
    Tag.AVERAGE: N_("on average"),
    Tag.CAPPED: N_("at the rate asked for"),
    Tag.STALLS: N_("with stalls"),
    Tag.SUSPECT: N_("suspect"),
    Tag.DOUBTFUL: N_("with a doubtful figure"),
}

Anchors = Mapping[tuple[str, str], str]


def title(response: str) -> str:
    """Return the title of a response."""
    definition = RESPONSES.get(response)
    return gettext(definition.title) if definition else response


def decided(effect: Effect) -> str:
    """`better` or `worse` where that is the verdict and nothing makes it suspect, else empty."""
    if effect.verdict in (Verdict.BETTER, Verdict.WORSE) and Tag.SUSPECT not in effect.tags:
        return WORDS[effect.verdict]
    return ""


def verdict_text(effect: Effect) -> str:
    """The verdict with what qualifies it: `better, suspect`."""
    word = WORDS[effect.verdict] if effect.verdict else NONE
    return gettext(", ").join(map(gettext, [word, *(_TAGS[tag] for tag in effect.tags)]))


def _at_loads(effect: Effect, effects: Sequence[Effect]) -> str:
    levels = sorted(
        (e for e in effects if e.load is not None and _comparison(e) == _comparison(effect)),
        key=lambda e: e.load or 0,
    )
    if not levels:
        return gettext("{effect} over all load levels", effect=numbers.effect(effect.estimate, effect.low, effect.high))
    selected = levels if len(levels) <= 4 else [levels[0], levels[len(levels) // 2], levels[-1]]
    return gettext(", ").join(
        gettext("{effect} at {load}", effect=numbers.effect(e.estimate, e.low, e.high), load=e.load) for e in selected
    )


def _comparison(effect: Effect) -> tuple[str, str, str, str]:
    return effect.factor, effect.arm, effect.workload, effect.response


def _conclusion(effect: Effect, effects: Sequence[Effect]) -> str:
    low, high, _ = effect.deciding
    text = numbers.effect(effect.estimate, low, high)
    subject = gettext("{response} under {workload}", response=title(effect.response), workload=effect.workload)
    tags = "".join(gettext(", ") + _tag_text(tag, effect) for tag in effect.tags)
    if effect.verdict is Verdict.EQUIVALENT:
        sentence = gettext(
            "keep {baseline}: equivalent within {margin}, between {low} and {high} {what}",
            baseline=effect.baseline,
            margin=numbers.margin(effect.margin),
            low=text.low,
            high=text.high,
            what=subject,
        )
        return sentence + tags
    if effect.verdict is Verdict.NO_EFFECT_POSSIBLE:
        reason = effect.reasons[0] if effect.reasons else ""
        return gettext("no effect possible here: {why}; {effect} {what}", why=reason, effect=text, what=subject)
    if effect.verdict is Verdict.UNDECIDED and not effect.look:
        reason = effect.reasons[0] if effect.reasons else ""
        return gettext("undecided{tags}: {effect} {what}; {why}", tags=tags, effect=text, what=subject, why=reason)
    if effect.verdict is Verdict.UNDECIDED:
        return gettext(
            "undecided{tags}: between {low} and {high} {what}; {would_decide}",
            tags=tags,
            low=text.low,
            high=text.high,
            what=subject,
            would_decide=_would_decide(effect),
        )
    if effect.verdict is Verdict.DEPENDS_ON_LOAD:
        return gettext("depends on load: {what} {levels}", what=subject, levels=_at_loads(effect, effects)) + tags
    return gettext("{effect} {what}, {verdict}", effect=text, what=subject, verdict=verdict_text(effect))


def _tag_text(tag: Tag, effect: Effect) -> str:
    """A qualification in words; of a suspect verdict with the first finding that makes it so."""
    finding = next((check.finding for check in effect.checks if check.passed is False), "")
    if tag is Tag.SUSPECT and finding:
        return gettext("suspect ({finding})", finding=finding)
    return gettext(_TAGS[tag])


def _would_decide(effect: Effect) -> str:
    return effect.would_decide or gettext("more trials are needed")


def _gains(effect: Effect, effects: Sequence[Effect]) -> bool:
    """Whether an effect is for the better over all load levels, or its whole interval at one of them."""
    if effect.verdict is Verdict.BETTER:
        return True
    definition = RESPONSES.get(effect.response)
    higher = definition is None or definition.higher_is_better
    at_levels = (e for e in effects if e.load is not None and _comparison(e) == _comparison(effect))
    return any(e.low > 0 if higher else e.high < 0 for e in at_levels)


def _may_gain(effect: Effect, effects: Sequence[Effect]) -> bool:
    """Whether an effect that depends on load may be for the better at a level, by an interval beyond the margin."""
    definition = RESPONSES.get(effect.response)
    sign = 1 if definition is None or definition.higher_is_better else -1
    at_levels = (e for e in effects if e.load is not None and _comparison(e) == _comparison(effect))
    return any(max(sign * e.low, sign * e.high) > effect.margin for e in at_levels)


def _judged(effect: Effect, effects: Sequence[Effect], anchors: Anchors) -> Judged:
    low, high, confidence = effect.deciding
    text = numbers.effect(effect.estimate, low, high)
    return Judged(
        answer=Answer(
            factor=effect.factor,
            arm=effect.arm,
            baseline=effect.baseline,
            workload=effect.workload,
            response=title(effect.response),
            verdict=WORDS[effect.verdict] if effect.verdict else NONE,
            decided=decided(effect),
            conclusion=_conclusion(effect, effects),
            anchor=anchors[effect.factor, effect.workload],
        ),
        effect=text.estimate,
        interval=text.interval,
        estimate=numbers.percent_of(effect.estimate),
        low=numbers.percent_of(low),
        high=numbers.percent_of(high),
        margin=numbers.margin(effect.margin),
        margin_low=numbers.percent_of(-effect.margin),
        margin_high=numbers.percent_of(effect.margin),
        verdict=verdict_text(effect),
        is_average=Tag.AVERAGE in effect.tags,
        gains=(gains := _gains(effect, effects)),
        is_open=effect.verdict is Verdict.DEPENDS_ON_LOAD and not gains and _may_gain(effect, effects),
        would_decide=_would_decide(effect) if effect.verdict is Verdict.UNDECIDED else "",
        pairs=effect.pairs,
        confidence=f"{confidence * 100:.3g} %",
        reasons=effect.reasons,
        doubts=tuple(check.finding for state in (False, None) for check in effect.checks if check.passed is state),
        trials=effect.trials,
    )


def judged(effects: Sequence[Effect], anchors: Anchors) -> list[Judged]:
    """A row for every effect that has a verdict; the view orders them."""
    return [_judged(effect, effects, anchors) for effect in effects if effect.verdict is not None]


def check_lists(effects: Iterable[Effect]) -> tuple[CheckList, ...]:
    """The checks of every effect that has a verdict."""
    lists = []
    for effect in effects:
        if effect.verdict is None or not effect.checks:
            continue
        failed = sum(check.passed is False for check in effect.checks)
        unknown = sum(check.passed is None for check in effect.checks)
        notes = [] if effect.alpha_spent is None else [_spent(effect)]
        if effect.better_probability is not None and effect.within_probability is not None:
            better, within = (numbers.probability(p) for p in (effect.better_probability, effect.within_probability))
            pattern = N_(
                "with a flat prior: probability of an improvement {better}, of an effect within {margin} {within}"
            )
            notes.append(gettext(pattern, better=better, margin=numbers.margin(effect.margin), within=within))
        passed = gettext("all passed")
        if failed:
            passed = gettext("{failed} of {all} failed", failed=numbers.count(failed, "check"), all=len(effect.checks))
        elif unknown:
            passed = gettext(
                "{unknown} of {all} unknown", unknown=numbers.count(unknown, "check"), all=len(effect.checks)
            )
        name = gettext(", ").join((effect.arm, title(effect.response)))
        checks = tuple(map(_with_limit, effect.checks))
        lists.append(CheckList(title=name, summary=passed, standing=gettext("; ").join(notes), checks=checks))
    return tuple(lists)


def _with_limit(check: Check) -> Check:
    """The check whose finding names the limit too."""
    if not check.limit:
        return check
    return replace(check, finding=gettext("{finding} ({limit})", finding=check.finding, limit=check.limit))


def _spent(effect: Effect) -> str:
    """At which look it was seen, and how much of the error that its claim may have was spent up to there."""
    spent, whole = ((effect.alpha_spent or 0.0) * 100, (1 - effect.confidence) * 100)
    pattern = N_("look {look}, {spent} of {whole} error spent")
    return gettext(pattern, look=effect.look, spent=f"{spent:.2g} %", whole=f"{whole:.2g} %")


def why_unusable(trials: Iterable[Trial]) -> str:
    """Return the fate of trials without valid data, in words; empty where all are done or still planned.

    What made trials invalid is told where trust is: there may be many reasons.
    """
    counts: dict[str, int] = {}
    for trial in trials:
        if trial.state is TrialState.FAILED:
            reason = failure_text(trial)
            outcome = gettext("failed ({reason})", reason=reason)
            counts[outcome] = counts.get(outcome, 0) + 1
        elif trial.state is TrialState.INVALID:
            outcome = gettext("invalid")
            counts[outcome] = counts.get(outcome, 0) + 1
    return gettext("; ").join(
        gettext("{trials} {why}", trials=numbers.count(n, "trial"), why=outcome) for outcome, n in counts.items()
    )


def comparing(trials: Sequence[Trial], effects: Sequence[Effect]) -> list[Trial]:
    """The trials that answer a question of the plan: of factors tried alone, and of a screen that shows nothing yet."""
    alone = [trial for trial in trials if trial.purpose in (Purpose.COMPARE, Purpose.CONFIRM)]
    compared_alone = {(trial.factor, trial.workload) for trial in alone}
    judged_workloads = {effect.workload for effect in effects if (effect.factor, effect.workload) not in compared_alone}
    return alone + [t for t in trials if t.purpose is Purpose.SCREEN and t.workload not in judged_workloads]


def unanswered(
    trials: Sequence[Trial],
    effects: Sequence[Effect],
    anchors: Anchors,
    refused: Mapping[tuple[str, str, str], str],
    *,
    imported: bool = False,
) -> list[Answer]:
    """An answer that there is none, for every arm that was planned and got no verdict, with the reason where one is."""
    judged_arms = {(e.factor, e.arm, e.workload) for e in effects if e.verdict is not None}
    compared = comparing(trials, effects)
    baselines = {(t.factor, t.workload): t.arm for t in compared if t.baseline}
    by_pair: defaultdict[tuple[str, str], list[Trial]] = defaultdict(list)
    for trial in compared:
        by_pair[trial.factor, trial.workload].append(trial)
    unusable = {pair: why_unusable(of_pair) for pair, of_pair in by_pair.items()}
    answers = []
    planned = dict.fromkeys((t.factor, t.arm, t.workload) for t in compared if not t.baseline)
    for factor, arm, workload in planned:
        if (factor, arm, workload) in judged_arms:
            continue
        lacking = gettext("too few valid pairs so far")
        if imported:
            lacking = _unmatched([t for t in by_pair[factor, workload] if t.arm == arm or t.baseline])
        reasons = [refused.get((factor, arm, workload), ""), unusable[factor, workload]]
        answers.append(
            Answer(
                factor=factor,
                arm=arm,
                baseline=baselines.get((factor, workload), gettext("the baseline")),
                workload=workload,
                response="",
                verdict=NONE,
                decided="",
                conclusion=gettext(
                    "no verdict under {workload}: {reason}",
                    workload=workload,
                    reason=gettext("; ").join(filter(None, reasons)) or lacking,
                ),
                anchor=anchors[factor, workload],
            )
        )
    return answers


def _unmatched(trials: Sequence[Trial]) -> str:
    """Return the reason why runs of an arm and of the baseline, of one factor and workload, cannot be compared."""
    if not any(trial.baseline for trial in trials):
        return gettext("no run of the baseline has this workload")
    factor = trials[0].factor
    levels: defaultdict[str, tuple[set[str], set[str]]] = defaultdict(lambda: (set(), set()))
    for trial in trials:
        for key in trial.settings.keys() - {factor}:
            levels[key][trial.baseline].add(str(trial.settings[key]))
    if different := [key for key, (of_arm, of_baseline) in sorted(levels.items()) if not of_arm & of_baseline]:
        message = N_("its runs and those of the baseline have no level of {factors} in common")
        return gettext(message, factors=gettext(", ").join(different))
    contexts: tuple[set[object], set[object]] = (set(), set())
    for t in trials:
        contexts[t.baseline].add((t.load, *sorted((k, str(v)) for k, v in t.settings.items() if k != factor)))
    if not {t.load for t in trials if t.baseline} & {t.load for t in trials if not t.baseline}:
        return gettext("its runs and those of the baseline have no load level in common")
    if not contexts[False] & contexts[True]:
        message = N_("its runs and those of the baseline have no combination of {factors} and load level in common")
        return gettext(message, factors=gettext(", ").join(sorted(levels)))
    return gettext("no measure is named that runs of both have")


def headline(answers: Sequence[Answer]) -> str:
    """All answers counted: `1 better, 2 equivalent, 1 undecided`."""
    counts = [(sum(a.verdict == verdict for a in answers), verdict) for verdict in RANKS]
    texts = [gettext("{n} {verdict}", n=n, verdict=gettext(verdict)) for n, verdict in counts if n]
    return gettext(", ").join(texts) or gettext("nothing was compared")
