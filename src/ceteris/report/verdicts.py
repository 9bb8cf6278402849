"""From effects to sentences: what is answered, in which words, in which order.

In: effects as the analysis made them, and the trials (for arms that got none). Out: Answer and Judged.
Called by the view. An undecided effect is never worded as if nothing had been found to differ.
"""

from collections.abc import Iterable, Mapping, Sequence

from ceteris.model import RESPONSES, Effect, Purpose, Tag, Trial, TrialState, Verdict
from ceteris.report import numbers
from ceteris.report.shown import Answer, CheckList, Judged

NONE = "no verdict"
_WORDS = {
    Verdict.BETTER: "better",
    Verdict.WORSE: "worse",
    Verdict.DEPENDS_ON_LOAD: "depends on load",
    Verdict.UNDECIDED: "undecided",
    Verdict.EQUIVALENT: "equivalent",
}
RANKS = (*_WORDS.values(), NONE)
"""Verdict words in the order in which they are read: what calls for action first."""

_TAGS = {
    Tag.MATERIAL: "by more than the margin",
    Tag.NEGLIGIBLE: "detectable but negligible",
    Tag.SUSPECT: "suspect",
}

_ALONE = (Purpose.COMPARE, Purpose.CONFIRM)

Anchors = Mapping[tuple[str, str], str]


def title(response: str) -> str:
    """What a response is called."""
    known = RESPONSES.get(response)
    return known.title if known else response


def decided(effect: Effect) -> str:
    """`better` or `worse` where that is the verdict and nothing makes it suspect, else empty."""
    if effect.verdict in (Verdict.BETTER, Verdict.WORSE) and Tag.SUSPECT not in effect.tags:
        return _WORDS[effect.verdict]
    return ""


def verdict_text(effect: Effect) -> str:
    """The verdict with what qualifies it: `better, suspect`."""
    word = _WORDS[effect.verdict] if effect.verdict else NONE
    return ", ".join([word, *(_TAGS[tag] for tag in effect.tags)])


def _at_loads(effect: Effect, effects: Sequence[Effect]) -> str:
    levels = sorted(
        (e for e in effects if e.load is not None and _comparison(e) == _comparison(effect)),
        key=lambda e: e.load or 0,
    )
    if not levels:
        return f"{numbers.effect(effect.estimate, effect.low, effect.high)} over all load levels"
    shown = levels if len(levels) <= 4 else [levels[0], levels[len(levels) // 2], levels[-1]]
    return ", ".join(f"{numbers.effect(e.estimate, e.low, e.high)} at {e.load}" for e in shown)


def _comparison(effect: Effect) -> tuple[str, str, str, str]:
    return effect.factor, effect.arm, effect.workload, effect.response


def _conclusion(effect: Effect, effects: Sequence[Effect]) -> str:
    text = numbers.effect(effect.estimate, effect.low, effect.high)
    what = f"{title(effect.response)} under {effect.workload}"
    tags = "".join(f", {_TAGS[tag]}" for tag in effect.tags)
    if effect.verdict is Verdict.EQUIVALENT:
        within = f"equivalent within {numbers.margin(effect.margin)}"
        return f"keep {effect.baseline}: {within} {text.interval} {what}{tags}"
    if effect.verdict is Verdict.UNDECIDED:
        between = f"between {text.low} and {text.high} {what}"
        return f"undecided: {between}; more trials are needed{tags}"
    if effect.verdict is Verdict.DEPENDS_ON_LOAD:
        return f"depends on load: {what} {_at_loads(effect, effects)}{tags}"
    return f"{text} {what}, {verdict_text(effect)}"


def _judged(effect: Effect, effects: Sequence[Effect], anchors: Anchors) -> Judged:
    text = numbers.effect(effect.estimate, effect.low, effect.high)
    return Judged(
        answer=Answer(
            factor=effect.factor,
            arm=effect.arm,
            baseline=effect.baseline,
            workload=effect.workload,
            response=title(effect.response),
            verdict=_WORDS[effect.verdict] if effect.verdict else NONE,
            decided=decided(effect),
            conclusion=_conclusion(effect, effects),
            anchor=anchors[effect.factor, effect.workload],
        ),
        effect=text.estimate,
        interval=text.interval,
        estimate=numbers.percent_of(effect.estimate),
        low=numbers.percent_of(effect.low),
        high=numbers.percent_of(effect.high),
        margin=numbers.margin(effect.margin),
        margin_low=numbers.percent_of(-effect.margin),
        margin_high=numbers.percent_of(effect.margin),
        verdict=verdict_text(effect),
        pairs=effect.pairs,
        confidence=f"{effect.confidence * 100:.3g} %",
        reasons=effect.reasons,
        trials=effect.trials,
    )


def judged(effects: Sequence[Effect], anchors: Anchors) -> list[Judged]:
    """A row for every effect that has a verdict; the view orders them."""
    return [_judged(effect, effects, anchors) for effect in effects if effect.verdict is not None]


def check_lists(effects: Iterable[Effect]) -> tuple[CheckList, ...]:
    """The checks of every effect that has a verdict."""
    found = []
    for effect in effects:
        if effect.verdict is None or not effect.checks:
            continue
        failed = sum(not check.passed for check in effect.checks)
        standing = [] if effect.alpha_spent is None else [_spent(effect)]
        if effect.better_probability is not None and effect.within_probability is not None:
            better, within = (numbers.probability(p) for p in (effect.better_probability, effect.within_probability))
            within_margin = f"within {numbers.margin(effect.margin)} with {within}"
            standing.append(f"by a flat prior, for the better with {better}, {within_margin}")
        passed = f"{numbers.count(failed, 'check')} of {len(effect.checks)} failed" if failed else "all passed"
        name = f"{effect.arm}, {title(effect.response)}"
        found.append(CheckList(title=name, summary=passed, standing="; ".join(standing), checks=effect.checks))
    return tuple(found)


def _spent(effect: Effect) -> str:
    """At which look it was seen, and how much of the error that its claim may have was spent up to there."""
    spent, all_of_it = ((effect.alpha_spent or 0.0) * 100, (1 - effect.confidence) * 100)
    return f"look {effect.look}, {spent:.2g} % of {all_of_it:.2g} % error spent"


def why_unusable(trials: Iterable[Trial]) -> str:
    """What became of trials that gave no valid data, in words; empty where all are done or still planned."""
    found: dict[str, int] = {}
    for trial in trials:
        if trial.state is TrialState.FAILED:
            reason = ": ".join(filter(None, [str(trial.failure or "failed"), trial.failure_message]))
            found[f"failed ({reason})"] = found.get(f"failed ({reason})", 0) + 1
        elif trial.state is TrialState.INVALID:
            reason = f"invalid ({'; '.join(trial.invalid_because) or 'no reason recorded'})"
            found[reason] = found.get(reason, 0) + 1
    return "; ".join(f"{numbers.count(n, 'trial')} {reason}" for reason, n in found.items())


def comparing(trials: Sequence[Trial], effects: Sequence[Effect]) -> list[Trial]:
    """The trials that answer a question of the plan: of factors tried alone, and of a screen that shows nothing yet."""
    alone = [trial for trial in trials if trial.purpose in _ALONE]
    known = {(trial.factor, trial.workload) for trial in alone}
    shown = {effect.workload for effect in effects if (effect.factor, effect.workload) not in known}
    return alone + [t for t in trials if t.purpose is Purpose.SCREEN and t.workload not in shown]


def unanswered(trials: Sequence[Trial], effects: Sequence[Effect], anchors: Anchors) -> list[Answer]:
    """An answer that there is none, for every arm that was planned and got no verdict."""
    have = {(e.factor, e.arm, e.workload) for e in effects if e.verdict is not None}
    compared = comparing(trials, effects)
    baselines = {(t.factor, t.workload): t.arm for t in compared if t.baseline}
    found = []
    planned = dict.fromkeys((t.factor, t.arm, t.workload) for t in compared if not t.baseline)
    for factor, arm, workload in planned:
        if (factor, arm, workload) in have:
            continue
        reason = why_unusable(t for t in compared if (t.factor, t.workload) == (factor, workload))
        found.append(
            Answer(
                factor=factor,
                arm=arm,
                baseline=baselines.get((factor, workload), "the baseline"),
                workload=workload,
                response="",
                verdict=NONE,
                decided="",
                conclusion=f"no verdict under {workload}: {reason or 'too few valid pairs so far'}",
                anchor=anchors[factor, workload],
            )
        )
    return found


def headline(answers: Sequence[Answer]) -> str:
    """All answers counted: `1 better, 2 equivalent, 1 undecided`."""
    counts = [(sum(a.verdict == word for a in answers), word) for word in RANKS]
    return ", ".join(f"{n} {word}" for n, word in counts if n) or "nothing was compared"
