"""The report in Chinese: the same figures and names in other words."""

import dataclasses
import gettext
import io
import re
from collections import Counter
from html import unescape
from pathlib import Path

import pytest
from report_samples import RECIPES, typical
from rich.console import Console

from ceteris.language import LOCALE, Language, speaking
from ceteris.report import charts, html, markdown, text

GOLDEN = Path(__file__).parents[2] / "golden" / "report"
NUMBER = re.compile(r"[+−]?\d[\d.,]*")


def _markdown(language: Language) -> str:
    with speaking(language):
        view = typical().view(RECIPES)
        pictures = {key: f"{key}.svg" for section in view.sections for key in charts.of_section(section)}
        return markdown.render(view, pictures)


def test_markdown_in_chinese_is_as_it_was_agreed() -> None:
    assert _markdown(Language.ZH) == (GOLDEN / "typical.zh.md").read_text(encoding="utf-8")


def test_every_number_is_in_both_languages() -> None:
    english, chinese = (Counter(one.rstrip(".,") for one in NUMBER.findall(_markdown(one))) for one in Language)
    assert english == chinese


def test_the_page_says_its_language_and_has_no_english_sentence() -> None:
    with speaking(Language.ZH):
        page = html.render(typical().view(RECIPES))
    assert '<html lang="zh-CN">' in page
    body = unescape(re.sub(r"<style>.*?</style>|<script>.*?</script>", "", page, flags=re.DOTALL))
    translations = gettext.translation("ceteris", LOCALE, ["zh_CN"])
    messages = [one for one in translations._catalog if isinstance(one, str)]  # type: ignore[attr-defined]
    pieces = {piece.strip(" ,;:.") for one in messages for piece in re.split(r"\{[^}]*\}", one)}
    assert [piece for piece in pieces if piece.count(" ") > 1 and piece in body] == []


def test_the_terminal_is_told_in_chinese() -> None:
    written = io.StringIO()
    with speaking(Language.ZH):
        text.render(typical().view(RECIPES), Console(file=written, width=120, highlight=False))
    shown = written.getvalue()
    assert "更好 1 项，更差 1 项" in shown
    assert "block.scheduler: none 代替 mq-deadline" in shown
    assert "instead of" not in shown


@pytest.mark.parametrize("language", Language)
def test_what_programs_read_and_decide_by_is_the_same(language: Language) -> None:
    with speaking(Language.EN):
        english = typical().view(RECIPES)
    with speaking(language):
        view = typical().view(RECIPES)
    for mine, theirs in zip(view.answers, english.answers, strict=True):
        assert (mine.verdict, mine.decided, mine.anchor) == (theirs.verdict, theirs.decided, theirs.anchor)
    assert [dataclasses.replace(one, text="") for one in view.advice] == [
        dataclasses.replace(one, text="") for one in english.advice
    ]
