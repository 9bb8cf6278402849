"""Translation of messages: English in the code, other languages in `locale/`.

Only displayed text is translated. The store, JSON documents and decisions stay English, because nothing of theirs is
made within `speaking`. A text that is stored now and displayed later is a `stored_message`: it keeps its message and
values for `translate_stored`. A message and its translation have the same `{placeholders}` with the same formats.
"""

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from enum import StrEnum
from functools import cache
from gettext import NullTranslations, translation
from operator import itemgetter
from pathlib import Path

LOCALE = Path(__file__).parent / "locale"


class Language(StrEnum):
    """The languages of reports and pages."""

    EN = "en"
    ZH = "zh"


_LOCALES = {Language.ZH: "zh_CN"}
_TAGS = {Language.EN: "en", Language.ZH: "zh-CN"}
_ACCEPTED = re.compile(rf"\s*({'|'.join(Language)})(?:-[\w-]*)?\s*(?:;\s*q=([01](?:\.\d*)?)\s*)?", re.IGNORECASE)
_current: ContextVar[Language] = ContextVar("language", default=Language.EN)


@contextmanager
def speaking(language: Language) -> Iterator[None]:
    """Make this the current language of the context."""
    before = _current.set(language)
    try:
        yield
    finally:
        _current.reset(before)


def tag() -> str:
    """The current language as a tag of the web: `en`, `zh-CN`."""
    return _TAGS[_current.get()]


def of_environment(environment: Mapping[str, str] = os.environ) -> Language:
    """The language of the user's locale, by the rules of gettext; English where there is no translation."""
    locale = next(filter(None, map(environment.get, ("LC_ALL", "LC_MESSAGES", "LANG"))), "")
    language = locale if locale in ("C", "POSIX") else environment.get("LANGUAGE") or locale
    return Language.ZH if language.startswith("zh") else Language.EN


def of_accepted(accepted: str) -> Language:
    """The language with the highest weight in an Accept-Language header; English where none is supported."""
    matches = map(_ACCEPTED.fullmatch, accepted.split(","))
    supported = [(float(match[2] or 1), Language(match[1].lower())) for match in matches if match]
    weight, language = max(supported, key=itemgetter(0), default=(0.0, Language.EN))
    return language if weight else Language.EN


def gettext(message: str, /, **values: object) -> str:
    """A message in the current language, with its placeholders filled."""
    translated = _translation(_current.get()).gettext(message)
    return translated.format(**values) if values else translated


def ngettext(singular: str, plural: str, n: int, /, **values: object) -> str:
    """The message for a number `n`, which is also the placeholder `{n}`."""
    return _translation(_current.get()).ngettext(singular, plural, n).format(n=n, **values)


class StoredMessage(str):
    """An English sentence that keeps its message and values; a slice or a join of it is a plain `str`."""

    __slots__ = ("message", "values")
    message: str
    values: Mapping[str, object]


def stored_message(message: str, /, **values: object) -> StoredMessage:
    """A message for the store: English in every language, and translated by `translate_stored` where it is shown.

    Values are JSON values. Stored messages among them are translated too; a list of strings is joined with commas.
    """
    texts = {name: ", ".join(value) if isinstance(value, list) else value for name, value in values.items()}
    stored = StoredMessage(message.format(**texts) if values else message)
    stored.message, stored.values = message, values
    return stored


def translate_stored(text: str) -> str:
    """A stored message in the current language; any other text unchanged."""
    if not isinstance(text, StoredMessage):
        return text
    return gettext(text.message, **{name: _translated_value(value) for name, value in text.values.items()})


def _translated_value(value: object) -> object:
    if isinstance(value, list):
        return gettext(", ").join(map(translate_stored, value))
    return translate_stored(value) if isinstance(value, str) else value


def N_(message: str) -> str:  # noqa: N802  (gettext's own name)
    """Mark a message that `gettext` translates where it is shown."""
    return message


def N_plural(singular: str, plural: str) -> tuple[str, str]:  # noqa: N802  (as `N_`)
    """Mark a message with its plural, for `ngettext`."""
    return singular, plural


@cache
def _translation(language: Language) -> NullTranslations:
    if language not in _LOCALES:
        return NullTranslations()
    return translation("paribus", LOCALE, [_LOCALES[language]])
