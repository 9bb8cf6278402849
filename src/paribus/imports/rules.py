"""Rules that say what a run is a run of: regular expressions over paths and options give levels, workload and load."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, Field, model_validator

from paribus.errors import UsageError
from paribus.imports.toml_form import TomlTable, read_form
from paribus.parsers.log import LogRun

_OWN = ("workload", "load", "repetition", "format")
_PLACE = re.compile(r"\{(\w+)\}")


def _pattern(written: object) -> re.Pattern[str]:
    if isinstance(written, re.Pattern):
        return written
    if not isinstance(written, str):
        raise ValueError("must be a regular expression, as text")
    try:
        return re.compile(written)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"is no regular expression: {error}") from error


Pattern = Annotated[re.Pattern[str], BeforeValidator(_pattern)]
Words = Annotated[str, Field(min_length=1, max_length=200)]


class Rule(TomlTable):
    """Where `path` is found in a file's path and every one of `options` in what the tool was asked, it says the rest.

    Labels and columns of a table, and its `workload`, are options too. A label with no level takes a label away.
    A named group is a level of the factor of its name, or the `workload`, `load`, `repetition` or `format`. Texts may
    hold groups in braces.
    """

    path: Pattern = Field(default=re.compile(""), description="searched in the path of the file")
    options: dict[str, Pattern] = Field(default={}, description="searched in an option of the tool, by its name")
    labels: dict[Words, str] = Field(default={}, description="factor = level")
    workload: str = ""
    load: str | int = ""
    repetition: str | int = ""
    format: str = ""
    skip: bool = False

    @model_validator(mode="after")
    def _says_something(self) -> "Rule":
        groups = {name for one in (self.path, *self.options.values()) for name in one.groupindex}
        texts = [*self.labels.values(), *(str(getattr(self, name)) for name in _OWN)]
        used = {name for text in texts for name in _PLACE.findall(text)}
        if missing := used - groups:
            raise ValueError(f"names {{{sorted(missing)[0]}}}, which is no group of its expressions")
        if not (groups or self.skip or any(texts)):
            raise ValueError("says nothing: give labels, workload, load, repetition, format or skip, or a named group")
        return self


class Rules(TomlTable):
    """A file of rules: all that match apply in order, and what a later one says counts."""

    name: str = Field(default="", description="what the set is called")
    levels: dict[str, list[str]] = Field(
        default={}, description="factor = its levels in order; the first is compared with"
    )
    rule: list[Rule] = Field(default=[])


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """What a run is a run of; `load` None where nobody says."""

    labels: Mapping[str, str] = field(default_factory=dict)
    workload: str = ""
    load: int | None = None
    repetition: int | None = None
    skip: bool = False


def read_rules(path: Path) -> Rules:
    """The rules of a file. Raises UsageError and PlanError."""
    return read_form(path, Rules, "rules")


def format_of(rules: Sequence[Rule], path: str) -> str:
    """The format that the rules force for a file; empty: none."""
    found = ""
    for rule in rules:
        match = rule.path.search(path)
        if match and not rule.options:
            said = match.groupdict()
            found = _filled(rule.format, said) or said.get("format") or found
    return found


def place(run: LogRun, path: str, rules: Sequence[Rule], given: Mapping[str, str]) -> Placed:
    """What the run is of: as the run says, then as each rule, then as `given` for all. Raises UsageError."""
    labels = dict(run.labels)
    own: dict[str, str] = {}
    for rule in rules:
        groups = _groups(rule, path, {**run.labels, "workload": run.workload, **run.options})
        if groups is None:
            continue
        if rule.skip:
            return Placed(skip=True)
        in_texts = {name for text in _texts(rule) for name in _PLACE.findall(text)}
        for name, found in groups.items():
            if name not in in_texts and name not in _OWN:
                labels[name] = found
        labels |= {factor: _filled(level, groups) for factor, level in rule.labels.items()}
        for name in _OWN:
            if said := _filled(str(getattr(rule, name)), groups) or groups.get(name, ""):
                own[name] = said
    labels |= given
    return Placed(
        labels={_legible(factor): _legible(level) for factor, level in labels.items() if _legible(level)},
        workload=_legible(own.get("workload", "") or run.workload) or run.tool,
        load=_count(own["load"], "load", path) if "load" in own else run.load,
        repetition=_count(own["repetition"], "repetition", path) if "repetition" in own else None,
    )


def _legible(text: str) -> str:
    """A name without what no picture and no terminal can show."""
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())


def _texts(rule: Rule) -> list[str]:
    return [*rule.labels.values(), *(str(getattr(rule, name)) for name in _OWN)]


def _groups(rule: Rule, path: str, options: Mapping[str, str]) -> dict[str, str] | None:
    """The named groups of a rule that matches, None of another."""
    matches = [rule.path.search(path)]
    matches += [
        expression.search(options.get(name, "")) if name in options else None
        for name, expression in rule.options.items()
    ]
    if not all(matches):
        return None
    return {name: text for match in matches if match for name, text in match.groupdict().items() if text is not None}


def _filled(text: str, groups: Mapping[str, str]) -> str:
    return _PLACE.sub(lambda match: groups.get(match[1], ""), text)


def _count(text: str, what: str, path: str) -> int:
    if not re.fullmatch("[0-9]{1,9}", text):
        raise UsageError(f"{what} {text!r} of {path} is no whole number", "correct the rule that gives it")
    return int(text)
