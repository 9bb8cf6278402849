"""Page of the published advice that `paribus audit` knows, by setting, and its sources."""

from generator.markdown import code, literal, page, sentence, table
from generator.texts import introduction
from paribus.audit import AdviceRule, AdviceRules, AdviceSource, built_in_rules


def render() -> str:
    """Returns the page."""
    rules = built_in_rules()
    settings = "\n\n".join(_setting(name, rules) for name in sorted(rules.settings()))
    sources = table(
        ("source", "author", "about", "evidence"), [_source(key, rules.sources[key]) for key in rules.sources]
    )
    return page("Published advice", introduction("advice"), settings, "## Sources", sources)


def advice_link(setting: str) -> str:
    """Returns a link to the advice about a setting, empty where there is none."""
    count = sum(rule.setting == setting for rule in built_in_rules().rules)
    return f"[{count} {'rule' if count == 1 else 'rules'}](advice.md#{_anchor(setting)})" if count else ""


def _anchor(setting: str) -> str:
    return "".join(letter for letter in setting.casefold().replace(" ", "-") if letter.isalnum() or letter in "-_")


def _setting(name: str, rules: AdviceRules) -> str:
    rows = [_row(rule, rules.sources[rule.source]) for rule in rules.rules if rule.setting == name]
    return f"## {literal(name)}\n\n" + table(("advised", "where", "reason", "source", "evidence", "risk"), rows)


def _row(rule: AdviceRule, source: AdviceSource) -> tuple[str, ...]:
    outdated = "; ".join(f"outdated since {row.since}" for row in rule.outdated)
    where = "; ".join(filter(None, (code(rule.when), outdated)))
    judged = f"; {literal(rule.judged)}" if rule.judged else ""
    evidence = f"{source.evidence}{f': {literal(rule.figures)}' if rule.figures else ''}{judged}"
    return _advised(rule), where, sentence(literal(rule.reason)), f"`{rule.source}`", evidence, rule.risk


def _advised(rule: AdviceRule) -> str:
    if rule.advised:
        return " or ".join(code(value) for value in rule.advised)
    bounds = (("at least", rule.at_least), ("at most", rule.at_most))
    return ", ".join(f"{word} {code(bound)}" for word, bound in bounds if bound) or rule.direction


def _source(key: str, source: AdviceSource) -> tuple[str, ...]:
    target = source.url if "://" in source.url else f"../../{source.url}"
    about = ", ".join(filter(None, (source.product, source.date)))
    return f"`{key}`: [{literal(source.title)}]({target})", literal(source.author), literal(about), source.evidence
