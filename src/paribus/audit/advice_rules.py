"""Rules: published advice about settings as rows of data, with its source.

In: TOML files of `rules/`, of the system and of the user. Out: rules. Raises UsageError with the file and the row.
"""

import tomllib
from collections.abc import Iterable
from enum import StrEnum
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from paribus.audit.expression import Expression
from paribus.errors import UsageError
from paribus.user_folders import config_folder

_FOLDER = "audit"
_SYSTEM = Path("/etc/paribus") / _FOLDER
_MOST_BYTES = 1 << 20
_Identifier = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]*$")]
_Phrase = Annotated[str, Field(pattern=r"^[^\x00-\x1f]+$")]


class Evidence(StrEnum):
    """Kind of evidence of a source: measurements of its own, the documentation of the vendor, or neither."""

    MEASURED = "measured"
    DOCUMENTATION = "documentation"
    ADVICE = "advice"


class _Row(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class AdviceSource(_Row):
    """A text that gives advice; `product` is what it is about, `url` the text or its description in `examples/`."""

    title: _Phrase
    author: _Phrase
    product: str = ""
    date: Annotated[str, Field(pattern=r"^([0-9]{4}(-[0-9]{2}){0,2})?$")] = ""
    url: Annotated[str, Field(pattern=r"^(https?://|examples/)\S+$")]
    evidence: Evidence


class Outdated(_Row):
    """Versions in which a setting no longer exists or no longer has an effect, and its replacement."""

    when: str
    since: _Phrase
    instead: str = ""


class AdviceRule(_Row):
    """Advice of one source about one setting.

    Attributes:
        id: Its name, unique over all files.
        setting: A knob, a variable as `mysql.NAME` or `postgres.NAME`, or a fact of the machine.
        when: An expression that says where it applies; empty: everywhere.
        advised: The values that it advises, any of them.
        at_least: An expression for the lowest value that it advises, in the unit of the setting, sizes in bytes.
        at_most: An expression for the highest value.
        direction: The direction that it advises without a number.
        reason: The reason for it, as one sentence.
        source: The key of its source.
        figures: The numbers that the source itself prints.
        judged: The judgement of these numbers by Paribus.
        risk: The loss that following it risks: the last commits, data, or availability.
        outdated: The versions in which the setting no longer exists or has no effect.
    """

    id: _Identifier
    setting: _Phrase
    when: str = ""
    advised: tuple[bool | int | float | str, ...] = ()
    at_least: str = ""
    at_most: str = ""
    direction: Literal["", "raise", "lower"] = ""
    reason: _Phrase
    source: _Identifier
    figures: str = ""
    judged: str = ""
    risk: Literal["", "durability", "data_loss", "availability"] = ""
    outdated: tuple[Outdated, ...] = ()

    @model_validator(mode="after")
    def _is_consistent(self) -> "AdviceRule":
        forms = [bool(self.advised), bool(self.at_least or self.at_most), bool(self.direction)]
        if sum(forms) != 1:
            raise ValueError("name either advised, or at_least and at_most, or direction")
        for text in (self.when, self.at_least, self.at_most, *(row.when for row in self.outdated)):
            if text:
                Expression(text).checked()
        return self


class _RulesFile(_Row):
    sources: dict[_Identifier, AdviceSource] = {}
    rules: tuple[AdviceRule, ...] = ()


class AdviceRules(_Row):
    """Rules of several files, and the sources that they name."""

    sources: dict[str, AdviceSource]
    rules: tuple[AdviceRule, ...]

    def settings(self) -> list[str]:
        """The settings that the rules are about, each once, in the order of the rules."""
        return list(dict.fromkeys(rule.setting for rule in self.rules))

    def names(self) -> set[str]:
        """The facts and settings that their expressions name."""
        texts = [text for rule in self.rules for text in _expressions(rule)]
        return {name for text in texts for name in Expression(text).names}


def _expressions(rule: AdviceRule) -> list[str]:
    texts = (rule.when, rule.at_least, rule.at_most, *(row.when for row in rule.outdated))
    return [text for text in texts if text]


@cache
def built_in_rules() -> AdviceRules:
    """The rules of the program."""
    folder = resources.files(__package__) / "rules"
    return _joined(sorted((entry for entry in folder.iterdir() if entry.name.endswith(".toml")), key=lambda e: e.name))


def all_rules() -> AdviceRules:
    """The rules of the program, of the system and of the user. Raises UsageError where a file is wrong."""
    user = config_folder()
    folders = [_SYSTEM, user / _FOLDER] if user else [_SYSTEM]
    files = [file for folder in folders if folder.is_dir() for file in sorted(folder.glob("*.toml"))]
    return _joined(files, built_in_rules()) if files else built_in_rules()


def _joined(files: Iterable[Traversable], before: AdviceRules | None = None) -> AdviceRules:
    sources = dict(before.sources) if before else {}
    rules = {rule.id: rule for rule in before.rules} if before else {}
    for file in files:
        rows = _read(file)
        sources |= rows.sources
        for rule in rows.rules:
            if rule.id in rules:
                raise UsageError(f"{file}: the rule {rule.id} exists twice", "give one of them another id")
            if rule.source not in sources:
                message = f"{file}: the rule {rule.id} names the source {rule.source}, which is not there"
                raise UsageError(message, f"add [sources.{rule.source}]")
            rules[rule.id] = rule
    return AdviceRules(sources=sources, rules=tuple(rules.values()))


def _read(file: Traversable) -> _RulesFile:
    todo = "see docs/how-to/audit.md"
    try:
        if isinstance(file, Path) and (not file.is_file() or file.stat().st_size > _MOST_BYTES):
            raise UsageError(f"{file} is no regular file of at most 1 MiB", "remove it from the folder of rules")
        return _RulesFile.model_validate(tomllib.loads(file.read_text(encoding="utf-8")))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise UsageError(f"{file}: {place}: {first['msg'].removeprefix('Value error, ')}", todo) from error
    except (OSError, ValueError) as error:
        raise UsageError(f"{file}: {error}", todo) from error
    except RecursionError as error:
        raise UsageError(f"{file} is nested too deeply", todo) from error
