"""From verdicts to what to do: set, keep, choose or wait, one advice per factor.

In: the rows of the verdict table, the answers that are missing, recipes by `factor=arm`, and which levels are best.
Called by the view.
Nothing is recommended that a workload of the same experiment speaks against.
"""

from collections.abc import Mapping, Sequence

from paribus.findings import SelectedLevel, Selection
from paribus.i18n import N_, gettext
from paribus.model import Verdict
from paribus.report.sections.verdicts import NOT_POSSIBLE
from paribus.report.view.view_models import Advice, Answer, Judged, Recipe

_DEPENDS = "depends on load"
_MOST_NAMED = 4  # arms in a sentence about several
_ADJECTIVES = {NOT_POSSIBLE: N_("without a possible effect"), _DEPENDS: N_("shown to be better at no load level")}


def _under(rows: Sequence[Judged], word: str) -> str:
    return ", ".join(dict.fromkeys(row.answer.workload for row in rows if row.answer.verdict == word))


def _gain(rows: Sequence[Judged]) -> float:
    """The bound of the interval nearest to nothing, over the workloads where the arm is better."""
    return min(min(abs(r.low), abs(r.high)) for r in rows if r.answer.verdict == "better")


def _set(
    factor: str, arms: Mapping[str, list[Judged]], recipes: Mapping[str, Recipe], selections: Sequence[Selection]
) -> Advice:
    levels = {level.arm: level for selection in selections for level in selection.levels}
    behind = {
        level.arm
        for selection in selections
        for level in selection.levels
        if level.verdict is Verdict.WORSE and level.behind in arms
    }
    by_gain = sorted(arms, key=lambda name: (name in behind, _loss(levels.get(name)), -_gain(arms[name])))
    suspect = [
        name for name in by_gain if any(r.answer.verdict == "better" and not r.answer.decided for r in arms[name])
    ]
    arm, *alternatives = [name for name in by_gain if name not in suspect] or by_gain
    rows = arms[arm]
    if arm in suspect:
        pattern = N_("{arm} seems better under {workloads}, but the verdict is suspect: repeat it first")
        text = gettext(pattern, arm=arm, workloads=_under(rows, "better")) + _doubt(rows)
        return Advice(factor=factor, kind="wait", text=text, recipe=None)
    pattern = N_("set {arm}: better than {baseline} under {workloads}")
    text = gettext(pattern, arm=arm, baseline=rows[0].answer.baseline, workloads=_under(rows, "better"))
    if undecided := _under(rows, "undecided"):
        text += gettext("; undecided under {workloads}", workloads=undecided)
    as_good = [name for name in alternatives if name in levels and levels[name].verdict is Verdict.EQUIVALENT]
    if as_good and arm not in behind:
        text += gettext("; {others}, as good: equivalent to the best", others=gettext(" and ").join(as_good))
    if others := [name for name in alternatives if name in behind]:
        text += gettext("; better too, but behind the best: {others}", others=", ".join(others))
    if others := [name for name in alternatives if name not in behind and name not in as_good]:
        undecided_text = N_("; also better, and undecided against {arm}: {others}")
        uncompared_text = N_("; also better, but not compared with {arm}: {others}")
        pattern = undecided_text if levels else uncompared_text
        text += gettext(pattern, arm=arm, others=", ".join(others))
    if suspect:
        pattern = N_("; {others} seems better too, but the verdict is suspect")
        text += gettext(pattern, others=", ".join(suspect)) + _doubt([row for name in suspect for row in arms[name]])
    recipe = recipes.get(f"{factor}={arm}")
    losses = gettext("; ").join(map(gettext, recipe.losses)) if recipe else ""
    if losses:
        text += gettext("; its price: {losses}", losses=losses)
    [gain] = {(row.effect, row.answer.response) for row in rows} if len(rows) == 1 else [("", "")]
    return Advice(
        factor=factor, kind="set", text=text, recipe=recipe, arm=arm, gain=" ".join(filter(None, gain)), losses=losses
    )


def _doubt(rows: Sequence[Judged]) -> str:
    """Return the first finding that makes a verdict suspect, in parentheses; empty where no check failed."""
    is_doubted = [row for row in rows if row.answer.verdict == "better" and not row.answer.decided]
    finding = next((doubt for row in is_doubted for doubt in row.doubts), "")
    return gettext(N_(" ({finding})"), finding=finding) if finding else ""


def _mixed(arm: str, rows: Sequence[Judged]) -> str:
    pattern = N_("{verdict} under {workload}")
    verdicts = [gettext(pattern, verdict=gettext(row.answer.verdict), workload=row.answer.workload) for row in rows]
    return f"{arm} " + gettext(", ").join(verdicts)


def _first_need(rows: Sequence[Judged]) -> str:
    return next(row.would_decide for row in rows if row.would_decide)


def _loss(level: SelectedLevel | None) -> float:
    return level.loss.value if level is not None and level.loss is not None else 0.0


def _factor(
    factor: str,
    rows: Sequence[Judged],
    missing: Sequence[Answer],
    recipes: Mapping[str, Recipe],
    selections: Sequence[Selection],
) -> Advice:
    arms: dict[str, list[Judged]] = {}
    for row in rows:
        arms.setdefault(row.answer.arm, []).append(row)
    verdicts = {arm: {row.answer.verdict for row in arm_rows} for arm, arm_rows in arms.items()}
    against = {"worse", _DEPENDS}
    clear = {
        arm: arms[arm]
        for arm, arm_verdicts in verdicts.items()
        if "better" in arm_verdicts and not arm_verdicts & against
    }
    if clear:
        return _set(factor, clear, recipes, selections)
    mixed = [
        arm
        for arm, arm_rows in arms.items()
        if any(row.gains and row.answer.verdict in ("better", _DEPENDS) for row in arm_rows)
    ]
    if mixed:
        text = gettext("; ").join(_mixed(arm, arms[arm]) for arm in mixed)
        return Advice(factor=factor, kind="choose", text=gettext("choose by your load: {arms}", arms=text), recipe=None)
    open_arms = [arm for arm, arm_verdicts in verdicts.items() if "undecided" in arm_verdicts]
    by_load = [arm for arm, arm_rows in arms.items() if any(row.is_open for row in arm_rows)]
    worse = [arm for arm, arm_verdicts in verdicts.items() if "worse" in arm_verdicts]
    parts = [gettext("do not set {arm}: worse", arm=gettext(", ").join(worse))] if worse else []
    parts += _undecided({arm: _first_need(arms[arm]) for arm in open_arms})
    pattern = N_("{arm} depends on load, and at no load level is it decided: more pairs are needed")
    parts += [gettext(pattern, arm=arm) for arm in by_load if arm not in open_arms]
    unknown = _by_text({answer.arm: answer.conclusion for answer in missing})
    parts += [f"{_several(of_text)}: {conclusion}" for conclusion, of_text in unknown.items()]
    if open_arms or by_load or unknown:
        return Advice(factor=factor, kind="wait", text=gettext("; ").join(parts), recipe=None)
    baseline = rows[0].answer.baseline
    verdict_texts = {
        arm: gettext(" and ").join(gettext(_ADJECTIVES.get(word, word)) for word in sorted(arm_verdicts))
        for arm, arm_verdicts in verdicts.items()
    }
    summary = gettext(", ").join(
        gettext("{arm} is {verdicts}", arm=arm, verdicts=text) for arm, text in verdict_texts.items()
    )
    text = gettext("keep {baseline}: {found}", baseline=baseline, found=summary)
    if averaged := list(dict.fromkeys(row.answer.arm for row in rows if row.is_average)):
        pattern = N_("; {arms} was tried with other settings changed too, not alone: design = {design} does that")
        text += gettext(pattern, arms=gettext(", ").join(averaged), design='"one-at-a-time"')
    recipe = recipes.get(f"{factor}={baseline}")
    return Advice(factor=factor, kind="keep", text=text, recipe=recipe, arm=baseline)


def _undecided(needs: Mapping[str, str]) -> list[str]:
    """Return the open arms, those that need the same together."""
    patterns = (N_("{arms} are undecided: {would_decide}"), N_("{arms} is undecided: {would_decide}"))
    return [
        gettext(patterns[len(arms) == 1], arms=_several(arms), would_decide=need)
        for need, arms in _by_text(needs).items()
    ]


def _by_text(texts: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the arms that each text is about."""
    arms: dict[str, list[str]] = {}
    for arm, text in texts.items():
        arms.setdefault(text, []).append(arm)
    return arms


def _several(arms: Sequence[str]) -> str:
    """Return the names of arms; of many, the first ones and their number."""
    if len(arms) <= _MOST_NAMED:
        return gettext(", ").join(arms)
    return gettext("{arms}, … ({n})", arms=gettext(", ").join(arms[: _MOST_NAMED - 1]), n=len(arms))


def advice(
    rows: Sequence[Judged],
    missing: Sequence[Answer],
    recipes: Mapping[str, Recipe],
    selections: Sequence[Selection] = (),
) -> tuple[Advice, ...]:
    """Return advice on every factor, in the order in which the rows and then the missing name them."""
    factors = dict.fromkeys([*(row.answer.factor for row in rows), *(answer.factor for answer in missing)])
    return tuple(
        _factor(
            factor,
            [row for row in rows if row.answer.factor == factor],
            [answer for answer in missing if answer.factor == factor],
            recipes,
            [selection for selection in selections if selection.factor == factor],
        )
        for factor in factors
    )
