"""Rules that place runs: regular expressions over paths and options yield levels, workload and load."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, Field, model_validator

from paribus.errors import UsageError
from paribus.imports.toml_form import TomlTable, read_form
from paribus.parsers.log import LogRun

_RESERVED = ("workload", "load", "repetition", "format")
_PLACEHOLDER = re.compile(r"\{(\w+)\}")


def _pattern(written: object) -> re.Pattern[str]:
    if isinstance(written, re.Pattern):
        return written
    if not isinstance(written, str):
        raise ValueError("must be a regular expression, as text")
    try:
        return re.compile(written)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"is not a regular expression: {error}") from error


Pattern = Annotated[re.Pattern[str], BeforeValidator(_pattern)]
LabelName = Annotated[str, Field(min_length=1, max_length=200)]


class Rule(TomlTable):
    """A rule for runs whose file path matches `path` and whose tool options match all of `options`.

    Labels and columns of a table, and its `workload`, count as options. A label without a level removes the label. A
    named group is a level of the factor of that name, or the `workload`, `load`, `repetition` or `format`. Texts may
    contain groups in braces.
    """

    path: Pattern = Field(default=re.compile(""), description="searched in the path of the file")
    options: dict[str, Pattern] = Field(default={}, description="searched in an option of the tool, by its name")
    labels: dict[LabelName, str] = Field(default={}, description="factor = level")
    workload: str = ""
    load: str | int = ""
    repetition: str | int = ""
    format: str = ""
    skip: bool = False

    @model_validator(mode="after")
    def _has_effect(self) -> "Rule":
        groups = {name for expression in (self.path, *self.options.values()) for name in expression.groupindex}
        texts = [*self.labels.values(), *(str(getattr(self, name)) for name in _RESERVED)]
        used = {name for text in texts for name in _PLACEHOLDER.findall(text)}
        if missing := used - groups:
            raise ValueError(f"names {{{sorted(missing)[0]}}}, which is no group of its expressions")
        if not (groups or self.skip or any(texts)):
            raise ValueError("has no effect: give labels, workload, load, repetition, format or skip, or a named group")
        return self


class Rules(TomlTable):
    """A file of rules: all matching ones apply in order, and later ones override earlier ones."""

    name: str = Field(default="", description="what the set is called")
    levels: dict[str, list[str]] = Field(
        default={}, description="factor = its levels in order; the first is compared with"
    )
    rule: list[Rule] = Field(default=[])


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlacement:
    """Labels, workload, load and repetition of a run; `load` is None if unknown."""

    labels: Mapping[str, str] = field(default_factory=dict)
    workload: str = ""
    load: int | None = None
    repetition: int | None = None
    skip: bool = False


def read_rules(path: Path) -> Rules:
    """Return the rules of a file. Raises UsageError and PlanError."""
    return read_form(path, Rules, "rules")


def format_of(rules: Sequence[Rule], path: str) -> str:
    """Return the format that the rules force for a file; empty without one."""
    forced = ""
    for rule in rules:
        match = rule.path.search(path)
        if match and not rule.options:
            groups = match.groupdict()
            forced = _filled(rule.format, groups) or groups.get("format") or forced
    return forced


def place(run: LogRun, path: str, rules: Sequence[Rule], common_labels: Mapping[str, str]) -> RunPlacement:
    """Place a run by its own data, then each rule, then `common_labels`. Raises UsageError."""
    labels = dict(run.labels)
    reserved: dict[str, str] = {}
    for rule in rules:
        groups = _groups(rule, path, {**run.labels, "workload": run.workload, **run.options})
        if groups is None:
            continue
        if rule.skip:
            return RunPlacement(skip=True)
        in_texts = {name for text in _texts(rule) for name in _PLACEHOLDER.findall(text)}
        for name, level in groups.items():
            if name not in in_texts and name not in _RESERVED:
                labels[name] = level
        labels |= {factor: _filled(level, groups) for factor, level in rule.labels.items()}
        for name in _RESERVED:
            if value := _filled(str(getattr(rule, name)), groups) or groups.get(name, ""):
                reserved[name] = value
    labels |= common_labels
    return RunPlacement(
        labels={_legible(factor): _legible(level) for factor, level in labels.items() if _legible(level)},
        workload=_legible(reserved.get("workload", "") or run.workload) or run.tool,
        load=_count(reserved["load"], "load", path) if "load" in reserved else run.load,
        repetition=_count(reserved["repetition"], "repetition", path) if "repetition" in reserved else None,
    )


def _legible(text: str) -> str:
    """Return a name without unprintable characters."""
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())


def _texts(rule: Rule) -> list[str]:
    return [*rule.labels.values(), *(str(getattr(rule, name)) for name in _RESERVED)]


def _groups(rule: Rule, path: str, options: Mapping[str, str]) -> dict[str, str] | None:
    """Return the named groups of a matching rule; None if it does not match."""
    matches = [rule.path.search(path)]
    matches += [
        expression.search(options.get(name, "")) if name in options else None
        for name, expression in rule.options.items()
    ]
    if not all(matches):
        return None
    return {name: text for match in matches if match for name, text in match.groupdict().items() if text is not None}


def _filled(text: str, groups: Mapping[str, str]) -> str:
    return _PLACEHOLDER.sub(lambda match: groups.get(match[1], ""), text)


def _count(text: str, name: str, path: str) -> int:
    if not re.fullmatch("[0-9]{1,9}", text):
        raise UsageError(f"{name} {text!r} of {path} is not a whole number", "correct the rule of this value")
    return int(text)
