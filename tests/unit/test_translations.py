"""The catalogue of translations says all that the code says, and is compiled: `make catalogue` makes it so."""

import ast
import io
import string
import tomllib
from collections.abc import Iterator
from enum import StrEnum
from gettext import GNUTranslations
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

from paribus.findings import Limit
from paribus.i18n import LOCALE, Language, gettext, ngettext, of_accepted, of_environment, speaking
from paribus.model import ExperimentState, NotTaken, Purpose, TrialState
from paribus.report.sections.verdicts import RANKS

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "paribus"
MESSAGES = LOCALE / "zh_CN" / "LC_MESSAGES"
KEYWORDS = {
    "gettext": None,
    "ngettext": (1, 2),
    "N_": None,
    "N_plural": (1, 2),
    "stored_message": None,
}  # as in the Makefile

Said = str | tuple[str, ...]


@pytest.fixture(scope="module")
def catalogue() -> Catalog:
    with (MESSAGES / "paribus.po").open("rb") as file:
        return read_po(file, locale="zh_CN")


def _said() -> set[Said]:
    """The messages of the code, found as `make catalogue` finds them."""
    mappings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["babel"]["mappings"]
    methods = [(one["pattern"], one["method"]) for one in mappings]
    found = extract_from_dir(SOURCE, methods, keywords=KEYWORDS)
    return {tuple(message) if isinstance(message, list | tuple) else message for _, _, message, _, _ in found}


def _translated(catalogue: Catalog) -> list[Message]:
    return [message for message in catalogue if message.id]


def test_every_message_is_in_the_catalogue_and_no_other(catalogue: Catalog) -> None:
    assert _said() == {tuple(one.id) if one.pluralizable else one.id for one in _translated(catalogue)}


def test_every_message_is_translated(catalogue: Catalog) -> None:
    missing = [one.id for one in _translated(catalogue) if one.fuzzy or not all(_texts(one.string))]
    assert not missing


def test_translations_have_the_same_placeholders(catalogue: Catalog) -> None:
    wrong = [
        one.id
        for one in _translated(catalogue)
        for text in _texts(one.string)
        if _placeholders(text) != _placeholders(_texts(one.id)[-1])
    ]
    assert not wrong


def test_compiled_catalogue_equals_its_source(catalogue: Catalog) -> None:
    compiled = io.BytesIO()
    write_mo(compiled, catalogue)
    compiled.seek(0)
    with (MESSAGES / "paribus.mo").open("rb") as file:
        assert _texts_by_id(GNUTranslations(file)) == _texts_by_id(GNUTranslations(compiled))


def test_no_message_hides_from_the_extraction() -> None:
    """Babel sees neither a call within an f-string nor an f-string in a call."""
    said = {part for one in _said() for part in _texts(one)}
    hidden = [
        f"{path.relative_to(SOURCE)}:{call.lineno}"
        for path in SOURCE.rglob("*.py")
        for call in _calls(ast.parse(path.read_text(encoding="utf-8")))
        for argument in call.args
        if isinstance(argument, ast.JoinedStr) or (isinstance(argument, ast.Constant) and _hides(argument, said))
    ]
    assert not hidden


@pytest.mark.parametrize("words", [TrialState, ExperimentState, Purpose, Limit, NotTaken])
def test_every_value_that_is_shown_has_a_translation(words: type[StrEnum], catalogue: Catalog) -> None:
    assert {str(word) for word in words if word not in catalogue} == set()


def test_verdicts_are_what_people_say() -> None:
    with speaking(Language.ZH):
        decisions = ["更好", "更差", "取决于负载", "无法判定", "等价", "不可能有效应", "没有结论"]
        assert [gettext(word) for word in RANKS] == decisions
        assert ngettext("{n:,} trial", "{n:,} trials", 1200) == "1,200 次试验"
    assert gettext("better") == "better"


@pytest.mark.parametrize(
    ("environment", "language"),
    [
        ({}, Language.EN),
        ({"LANG": "zh_CN.UTF-8"}, Language.ZH),
        ({"LANG": "de_DE.UTF-8"}, Language.EN),
        ({"LANG": "en_US.UTF-8", "LC_MESSAGES": "zh_CN.UTF-8"}, Language.ZH),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "en_US.UTF-8"}, Language.EN),
        ({"LANG": "en_US.UTF-8", "LANGUAGE": "zh_CN:en"}, Language.ZH),
        ({"LANG": "zh_CN.UTF-8", "LANGUAGE": "en"}, Language.EN),
        ({"LC_ALL": "C", "LANGUAGE": "zh"}, Language.EN),
    ],
)
def test_the_locale_chooses_as_with_every_program(environment: dict[str, str], language: Language) -> None:
    assert of_environment(environment) is language


@pytest.mark.parametrize(
    ("accepted", "language"),
    [
        ("", Language.EN),
        ("zh-CN,zh;q=0.9,en;q=0.8", Language.ZH),
        ("en-US,en;q=0.9,zh-CN;q=0.8,zh;q=0.7", Language.EN),
        ("en;q=0.5, zh-Hans-CN;q=0.6", Language.ZH),
        ("de-DE,de;q=0.9,zh;q=0.5,en;q=0.3", Language.ZH),
        ("de-DE,de;q=0.9", Language.EN),
        ("ZH-cn", Language.ZH),
        ("zh;q=0", Language.EN),
        ("zh;q=0,en;q=0.1", Language.EN),
        ("*", Language.EN),
        ("zhuang", Language.EN),
        ("zh;q=much", Language.EN),
        (";;,=,zh-" + "x" * 9, Language.ZH),
    ],
)
def test_a_browser_chooses_by_what_it_accepts(accepted: str, language: Language) -> None:
    assert of_accepted(accepted) is language


def _texts(message: Said | list[str]) -> tuple[str, ...]:
    return (message,) if isinstance(message, str) else tuple(message)


def _placeholders(text: str) -> list[tuple[str | None, str | None]]:
    """Each with its format, in order of their names."""
    return sorted((name, spec) for _, name, spec, _ in string.Formatter().parse(text) if name is not None)


def _texts_by_id(found: GNUTranslations) -> dict[object, str]:
    catalogue: dict[object, str] = found._catalog  # type: ignore[attr-defined]
    return {name: text for name, text in catalogue.items() if name}


def _calls(tree: ast.Module) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in KEYWORDS:
            yield node


def _hides(argument: ast.Constant, said: set[str]) -> bool:
    return isinstance(argument.value, str) and argument.value not in said
