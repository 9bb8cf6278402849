"""Assessment of a machine: rules held against its facts, setting by setting, the most urgent first."""

import math
from collections.abc import Iterable, Sequence
from enum import StrEnum

from pydantic import BaseModel, ConfigDict

from paribus.audit.advice_rules import AdviceRule, AdviceRules, Evidence
from paribus.audit.expression import Expression, Scalar
from paribus.audit.facts import BYTES, AuditFacts, SettingInForce
from paribus.i18n import N_, gettext
from paribus.model import FAMILIES, Verdict
from paribus.units import show_size

_SIZE_STEP = 2**20  # a size that an expression gives is tried in whole MiB
_DIRECTIONS = {"raise": N_("raise"), "lower": N_("lower")}
_SIZES = ("memory", "swap")


class AdviceStatus(StrEnum):
    """State of an advice on a machine, the most urgent first."""

    CONTRADICTED = "contradicted by a measurement here"
    DIFFERS = "differs"
    AGREES = "agrees"
    UNSPECIFIC = "no value"  # it names a direction, and no value
    OUTDATED = "outdated"
    NOT_APPLICABLE = "does not apply"
    NOT_READ = "not read"


class AdviceItem(BaseModel):
    """A recommendation compared with a machine: its state, the reason, and the value to try where it differs.

    `measured` are the verdicts of experiments on this machine that tried what it advises, in words.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    rule: str
    source: str
    evidence: Evidence
    status: AdviceStatus
    advised: str
    value: Scalar | None = None
    why: str = ""
    reason: str
    figures: str = ""
    judged: str = ""
    risk: str = ""
    measured: list[str] = []


class SettingAdvice(BaseModel):
    """All advice about a setting; `disagree`: what applies here does not advise one value."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    setting: str
    now: str | None
    status: AdviceStatus
    disagree: bool
    items: list[AdviceItem]


def assess(rules: AdviceRules, facts: AuditFacts) -> list[SettingAdvice]:
    """Hold each rule against the facts. The advice is grouped by setting, and what differs comes first."""
    by_setting: dict[str, list[AdviceItem]] = {}
    for rule in rules.rules:
        evidence = rules.sources[rule.source].evidence
        try:
            item = _item(rule, evidence, facts)
        except ValueError as error:  # a value of another kind than its expression compares
            item = _without_value(rule, evidence, str(error))
        by_setting.setdefault(rule.setting, []).append(item)
    grouped = [_grouped(name, items, facts) for name, items in by_setting.items()]
    return sorted(grouped, key=_urgency)


def _grouped(name: str, items: Sequence[AdviceItem], facts: AuditFacts) -> SettingAdvice:
    order = list(AdviceStatus)
    in_force = facts.setting(name)
    applying = [item for item in items if item.status in (AdviceStatus.DIFFERS, AdviceStatus.AGREES)]
    return SettingAdvice(
        setting=name,
        now=None if in_force is None else in_force.show(),
        status=min((item.status for item in items), key=order.index),
        disagree=len({item.status for item in applying} | {item.advised for item in applying}) > 2,
        items=sorted(items, key=lambda item: (order.index(item.status), _weight(item))),
    )


def _urgency(advice: SettingAdvice) -> tuple[int, int, int]:
    """The place among all: by state, by the best evidence for it, then by how many sources say so."""
    agreeing = [item for item in advice.items if item.status is advice.status]
    best = min(map(_weight, agreeing))
    return list(AdviceStatus).index(advice.status), best, -len(agreeing)


def _without_value(rule: AdviceRule, evidence: Evidence, why: str) -> AdviceItem:
    return AdviceItem(
        rule=rule.id,
        source=rule.source,
        evidence=evidence,
        status=AdviceStatus.NOT_READ,
        advised="",
        why=why,
        reason=rule.reason,
    )


def _weight(item: AdviceItem) -> int:
    """The rank of its evidence; a source of measurements without figures on this is as good as any advice."""
    has_evidence = item.evidence is not Evidence.MEASURED or item.figures
    return list(Evidence).index(item.evidence if has_evidence else Evidence.ADVICE)


def _item(rule: AdviceRule, evidence: Evidence, facts: AuditFacts) -> AdviceItem:
    status, why = _scope(rule, facts)
    in_force = facts.setting(rule.setting)
    low, high = (_bound(text, facts) for text in (rule.at_least, rule.at_most)) if status is None else (None, None)
    value: Scalar | None = None
    if status is None and in_force is not None:
        status, value = _held(rule, in_force, low, high, facts)
        if status is AdviceStatus.NOT_READ:
            why = _unknown(rule.at_least or rule.at_most, facts)
    assert status is not None
    measured = _measured(rule, low, high, facts) if status in (AdviceStatus.DIFFERS, AdviceStatus.AGREES) else {}
    if Verdict.WORSE in measured and Verdict.BETTER not in measured:
        status, value = AdviceStatus.CONTRADICTED, None
    return AdviceItem(
        rule=rule.id,
        source=rule.source,
        evidence=evidence,
        status=status,
        advised=_advised(rule, in_force, low, high, facts),
        value=value,
        why=why,
        reason=rule.reason,
        figures=rule.figures,
        judged=rule.judged,
        risk=rule.risk,
        measured=[text for texts in measured.values() for text in texts],
    )


def _scope(rule: AdviceRule, facts: AuditFacts) -> tuple[AdviceStatus | None, str]:
    """State and reason of a rule that cannot be held against the machine; None where it can be."""
    family = rule.setting.partition(".")[0]
    if family in FAMILIES.values() and family not in (facts.family, "sqlite"):
        if facts.family is None:
            return AdviceStatus.NOT_READ, gettext("no server was named")
        return AdviceStatus.NOT_APPLICABLE, gettext("the server is {server}", server=facts.facts["server"])
    for row in rule.outdated:
        if Expression(row.when).value(facts.values()):
            since = gettext("since {version}", version=row.since)
            instead = gettext("; instead: {setting}", setting=row.instead) if row.instead else ""
            return AdviceStatus.OUTDATED, since + instead
    if rule.when:
        applies = Expression(rule.when).value(facts.values())
        if applies is None:
            return AdviceStatus.NOT_READ, _unknown(rule.when, facts)
        if not applies:
            return AdviceStatus.NOT_APPLICABLE, _stated(Expression(rule.when).names, facts)
    if facts.setting(rule.setting) is None:
        lack = facts.lacks.get(rule.setting)
        if lack is None:
            return AdviceStatus.NOT_READ, gettext("{name} is not read by an audit", name=rule.setting)
        return AdviceStatus.NOT_APPLICABLE if lack.is_absent else AdviceStatus.NOT_READ, lack.why
    in_force = facts.setting(rule.setting)
    if in_force is not None and in_force.is_automatic and (rule.at_least or rule.at_most):
        return AdviceStatus.NOT_APPLICABLE, gettext("{setting} = -1 leaves it to the server", setting=rule.setting)
    return (AdviceStatus.UNSPECIFIC, "") if rule.direction else (None, "")


def _held(
    rule: AdviceRule, in_force: SettingInForce, low: float | None, high: float | None, facts: AuditFacts
) -> tuple[AdviceStatus, Scalar | None]:
    """Whether the value now is advised, and else the advised value nearest to it."""
    if rule.advised:
        if any(in_force.is_same(value) for value in rule.advised):
            return AdviceStatus.AGREES, None
        return AdviceStatus.DIFFERS, rule.advised[0]
    number = in_force.number(facts.facts.get("memory"))
    if (low is None and rule.at_least) or (high is None and rule.at_most):
        return AdviceStatus.NOT_READ, None
    if number is None:
        return AdviceStatus.DIFFERS, None
    tolerance = _SIZE_STEP if in_force.unit == BYTES and number > _SIZE_STEP else 0
    if low is not None and number < low - tolerance:
        return AdviceStatus.DIFFERS, _round(low, in_force, facts, up=True)
    if high is not None and number > high + tolerance:
        return AdviceStatus.DIFFERS, _round(high, in_force, facts, up=False)
    return AdviceStatus.AGREES, None


_REVERSED = {Verdict.BETTER: Verdict.WORSE, Verdict.WORSE: Verdict.BETTER}


def _measured(rule: AdviceRule, low: float | None, high: float | None, facts: AuditFacts) -> dict[Verdict, list[str]]:
    """Experiments here that compared an advised value with another, by the verdict on the advised one."""
    by_verdict: dict[Verdict, list[str]] = {}
    for each in facts.measurements.get(rule.setting, ()):
        states = [_held(rule, level, low, high, facts)[0] for level in (each.baseline, each.arm)]
        if set(states) == {AdviceStatus.AGREES, AdviceStatus.DIFFERS}:
            is_arm = states[1] is AdviceStatus.AGREES
            verdict = each.verdict if is_arm else _REVERSED.get(each.verdict, each.verdict)
            words = N_("{arm} instead of {baseline} is {verdict}: {change} under {workload} ({experiment})")
            names = {"change": each.change, "workload": each.workload, "experiment": each.experiment}
            arms = {"arm": each.arm.show(), "baseline": each.baseline.show()}
            verdict_text = gettext(each.verdict.value.replace("_", " "))
            by_verdict.setdefault(verdict, []).append(gettext(words, **arms, **names, verdict=verdict_text))
    return by_verdict


def _round(bound: float, in_force: SettingInForce, facts: AuditFacts, *, up: bool) -> Scalar | None:
    """A bound as a value to set: a share where it is one now, whole MiB of a size, else a whole number.

    None for a limit below nothing, such as one of memory that is promised elsewhere.
    """
    if bound < 0:
        return None
    if in_force.is_share:
        return _share(bound, facts)
    if isinstance(in_force.value, float):
        return bound
    step = _SIZE_STEP if in_force.unit == BYTES and bound >= _SIZE_STEP else 1
    return int(-(-bound // step) if up else bound // step) * step


def _bound(text: str, facts: AuditFacts) -> float | None:
    value = Expression(text).value(facts.values()) if text else None
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{text!r} has no value here: it is not finite")
    return value if isinstance(value, int | float) else None


def _advised(
    rule: AdviceRule, in_force: SettingInForce | None, low: float | None, high: float | None, facts: AuditFacts
) -> str:
    """The advice in words, with units where the setting is known."""
    if rule.direction:
        return gettext(_DIRECTIONS[rule.direction])
    form = in_force or SettingInForce(value="", unit=BYTES if _is_size(rule) else "")
    if rule.advised:
        return gettext(" or ").join(form.show(value) for value in rule.advised)
    bounds = [(text, bound) for text, bound in ((rule.at_least, low), (rule.at_most, high)) if text]
    words = [text if bound is None else _show_bound(bound, form, facts) for text, bound in bounds]
    if len(words) == 2:
        return gettext("{low} to {high}", low=words[0], high=words[1]) if words[0] != words[1] else words[0]
    return gettext("at least {bound}", bound=words[0]) if rule.at_least else gettext("at most {bound}", bound=words[0])


def _is_size(rule: AdviceRule) -> bool:
    """Whether its bounds are sizes, as those that are shares of memory are."""
    names = [name for text in (rule.at_least, rule.at_most) if text for name in Expression(text).names]
    return any(name in _SIZES for name in names)


def _share(bound: float, facts: AuditFacts) -> str:
    """A size as a share of memory, as a size where that is unknown."""
    memory = facts.facts.get("memory")
    return f"{bound / float(memory):.0%}" if memory else show_size(bound)


def _show_bound(bound: float, form: SettingInForce, facts: AuditFacts) -> str:
    """A bound with its unit; one of memory as a share where the setting is one now, else as a size."""
    if form.is_share:
        return _share(bound, facts)
    return form.show(max(bound, 0) if isinstance(form.value, float) else max(int(bound), 0))


def _unknown(text: str, facts: AuditFacts) -> str:
    """The names of an expression that have no value, with the reasons."""
    names = [name for name in Expression(text).names if name not in facts.values()]
    return "; ".join(
        f"{name}: {facts.lacks[name].why}" if name in facts.lacks else gettext("{name} is unknown", name=name)
        for name in names
    )


def _stated(names: Iterable[str], facts: AuditFacts) -> str:
    """The facts that exclude a rule, in words."""
    values = facts.values()
    return ", ".join(f"{name} = {_word(values[name])}" for name in names if name in values)


def _word(value: Scalar) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) or "none"
