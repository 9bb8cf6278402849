"""What is shown to a person, in that person's language: messages stand in the code, translations in `locale/`.

Only what is shown is translated, and where it is made: the store, JSON documents and decisions have English words,
since nothing of theirs is made within `speaking`. Words that are kept and shown later are `recorded`: English that
remembers its message and values, so that it can be `spoken` where it is shown. A message and its translation have the
same `{placeholders}` with the same formats, so that numbers are the same in every language.
"""

import gettext
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from enum import StrEnum
from functools import cache
from operator import itemgetter
from pathlib import Path

LOCALE = Path(__file__).parent / "locale"


class Language(StrEnum):
    """The languages that reports and pages are made in."""

    EN = "en"
    ZH = "zh"


_LOCALES = {Language.ZH: "zh_CN"}
_TAGS = {Language.EN: "en", Language.ZH: "zh-CN"}
_ACCEPTED = re.compile(rf"\s*({'|'.join(Language)})(?:-[\w-]*)?\s*(?:;\s*q=([01](?:\.\d*)?)\s*)?", re.IGNORECASE)
_spoken: ContextVar[Language] = ContextVar("language", default=Language.EN)


@contextmanager
def speaking(language: Language) -> Iterator[None]:
    """Within it, what is shown is made in this language."""
    before = _spoken.set(language)
    try:
        yield
    finally:
        _spoken.reset(before)


def tag() -> str:
    """The language that is spoken, as the web names it: `en`, `zh-CN`."""
    return _TAGS[_spoken.get()]


def of_environment(environment: Mapping[str, str] = os.environ) -> Language:
    """The language that the user's locale asks for, by the rules of gettext; English where there is no translation."""
    locale = next(filter(None, map(environment.get, ("LC_ALL", "LC_MESSAGES", "LANG"))), "")
    wanted = locale if locale in ("C", "POSIX") else environment.get("LANGUAGE") or locale
    return Language.ZH if wanted.startswith("zh") else Language.EN


def of_accepted(accepted: str) -> Language:
    """The language that a browser asks for most in its Accept-Language header; English where it asks for none here."""
    known = [
        (float(one[2] or 1), Language(one[1].lower())) for one in map(_ACCEPTED.fullmatch, accepted.split(",")) if one
    ]
    weight, language = max(known, key=itemgetter(0), default=(0.0, Language.EN))
    return language if weight else Language.EN


def tr(message: str, /, **values: object) -> str:
    """A message in the language that is spoken, with its placeholders filled."""
    said = _translation(_spoken.get()).gettext(message)
    return said.format(**values) if values else said


def trn(one: str, many: str, n: int, /, **values: object) -> str:
    """The message for so many; `{n}` in it is their number."""
    return _translation(_spoken.get()).ngettext(one, many, n).format(n=n, **values)


class Recorded(str):
    """An English sentence with the message and the values that it was made of; joined or cut it is a mere `str`."""

    __slots__ = ("message", "values")
    message: str
    values: Mapping[str, object]


def recorded(message: str, /, **values: object) -> Recorded:
    """Words to be kept: in English whatever is spoken, and `spoken` where they are shown.

    Values are what JSON has; those that are recorded words are spoken too, and a list of words is set with commas.
    """
    told = {name: ", ".join(value) if isinstance(value, list) else value for name, value in values.items()}
    words = Recorded(message.format(**told) if values else message)
    words.message, words.values = message, values
    return words


def spoken(words: str) -> str:
    """Recorded words in the language that is spoken; others as they are."""
    if not isinstance(words, Recorded):
        return words
    return tr(words.message, **{name: _spoken_value(value) for name, value in words.values.items()})


def _spoken_value(value: object) -> object:
    if isinstance(value, list):
        return tr(", ").join(map(spoken, value))
    return spoken(value) if isinstance(value, str) else value


def later(message: str) -> str:
    """Mark a message that `tr` translates where it is shown."""
    return message


def laters(one: str, many: str) -> tuple[str, str]:
    """Mark a message for one and for many, for `trn`."""
    return one, many


@cache
def _translation(language: Language) -> gettext.NullTranslations:
    if language not in _LOCALES:
        return gettext.NullTranslations()
    return gettext.translation("paribus", LOCALE, [_LOCALES[language]])
