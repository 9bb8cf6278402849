"""The report in Chinese: the same figures and names in other words."""

import dataclasses
import gettext
import io
import re
from collections import Counter
from collections.abc import Callable
from html import unescape
from itertools import cycle
from pathlib import Path

import pytest
from report_samples import RECIPES, Bench, typical
from rich.console import Console

from paribus.analysis.diagnostics.bottlenecks import bounds
from paribus.findings import Limit
from paribus.i18n import LOCALE, Language, speaking, stored_message, translate_stored
from paribus.knobs.catalog import load
from paribus.knobs.loss import loss_of
from paribus.model import Change, ChangeState, NotTaken, TrialState
from paribus.report.charts import charts
from paribus.report.experiment_view import ReportView
from paribus.report.render import html, markdown, text
from paribus.report.render.document import document
from paribus.trial.machine import Applied, step
from paribus.trial.validity import load_errors
from paribus.workloads.sysbench import SysbenchKind

GOLDEN = Path(__file__).parents[2] / "golden" / "report"
MISMATCHED = ChangeState.MISMATCHED
BOUND = stored_message(
    "the load engine was the bottleneck: {user:.0%} of its {cores} cores in user mode", user=0.85, cores=2
)
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


def _page(seen: ReportView) -> str:
    return unescape(re.sub(r"<style>.*?</style>|<script>.*?</script>", "", html.render(seen), flags=re.DOTALL))


def _terminal(seen: ReportView) -> str:
    written = io.StringIO()
    text.render(seen, Console(file=written, width=1000, highlight=False))
    return written.getvalue()


def _plain_markdown(seen: ReportView) -> str:
    return markdown.render(seen).replace("\\", "")


def _english_left(shown: str) -> list[str]:
    """The parts of messages that are shown in English."""
    translations = gettext.translation("paribus", LOCALE, ["zh_CN"])
    messages = [one for one in translations._catalog if isinstance(one, str)]  # type: ignore[attr-defined]
    pieces = {piece.strip(" ,;:.") for one in messages for piece in re.split(r"\{[^}]*\}", one)}
    return [piece for piece in pieces if piece.count(" ") > 1 and piece in shown]


def test_the_page_says_its_language_and_has_no_english_sentence() -> None:
    with speaking(Language.ZH):
        view = typical().view(RECIPES)
        assert '<html lang="zh-CN">' in html.render(view)
        assert _english_left(_page(view)) == []


def _recorded() -> Bench:
    """The typical one, with what a run keeps in words: notes, and a factor all of whose trials are invalid."""
    bench = typical()
    losses = {loss for knob in load() for value in ("off", "nobarrier") if (loss := loss_of(knob, value))}
    text = "{knob} = {level} trades safety for speed: {loss}"
    dangerous = [stored_message(text, knob="k", level="off", loss=stored_message(loss)) for loss in sorted(losses)]
    assert SysbenchKind.tool is not None
    assert SysbenchKind.tool.note is not None
    bench.experiment = dataclasses.replace(bench.experiment, notes=(SysbenchKind.tool.note, *dangerous))
    moved = tuple(
        Change(knob="vm.dirty", address="d", before="1", wanted="2", observed=found, state=MISMATCHED, not_taken=became)
        for became, found in zip(NotTaken, cycle(("1", None)), strict=False)
    )
    spoilt, _ = step(bench.trials[0], Applied(moved, 1.0))
    for reason in (load_errors({"io-error": 3}), BOUND, *spoilt.invalid_because):
        for arm in ("80", "20"):
            bench.trial(
                "vm.swappiness", arm, baseline=arm == "80", workload="mixed", load=8, state=TrialState.INVALID,
                invalid_because=(reason, "as an older program said it"),
            )  # fmt: skip
    return bench


@pytest.mark.parametrize("show", [_page, _terminal, _plain_markdown])
def test_recorded_messages_appear_in_both_languages(show: Callable[[ReportView], str]) -> None:
    bench = _recorded()
    kept = [*bench.experiment.notes, *(said for trial in bench.trials[-18:] for said in trial.invalid_because)]
    english = show(bench.view())
    with speaking(Language.ZH):
        chinese = show(bench.view())
        assert [said for said in kept if translate_stored(said) not in chinese] == []
    assert [said for said in kept if said not in english] == []
    assert _english_left(chinese) == []
    assert "vm.dirty 被取整：应为 2，实为 1" in chinese
    assert "as an older program said it" in chinese


def test_programs_are_told_what_was_recorded_in_english() -> None:
    bench = _recorded()
    told = document(bench.input()).model_dump_json()
    assert "vm.dirty was rounded: wanted 2, found 1" in told
    assert "3 io-error" in told


def test_that_the_load_engine_was_the_bound_is_said_in_chinese() -> None:
    spoilt = dataclasses.replace(typical().trials[0], invalid_because=(BOUND,))
    with speaking(Language.ZH):
        [found] = bounds([], [spoilt])
    assert (found.limit, found.evidence) == (Limit.ENGINE, "受限于压测引擎：用户态占用了 85%（可用 2 个核）")


def test_a_saturated_load_host_is_the_bound_and_is_named_in_chinese() -> None:
    busy = stored_message("the processors were the bottleneck: {busy:.0%} of {cores} were busy", busy=0.96, cores=4)
    located = stored_message("on the load host {host}: {what}", host="ssh://gen", what=busy)
    spoilt = dataclasses.replace(typical().trials[0], invalid_because=(located,))
    with speaking(Language.ZH):
        [found] = bounds([], [spoilt])
    assert (found.limit, found.evidence) == (Limit.ENGINE, "压测机 ssh://gen：受限于处理器：4 个处理器忙碌了 96%")


def test_the_terminal_is_told_in_chinese() -> None:
    with speaking(Language.ZH):
        shown = _terminal(typical().view(RECIPES))
    assert "更好 1 项，更差 1 项" in shown
    assert "block.scheduler: none 代替 mq-deadline" in shown
    assert "instead of" not in shown


@pytest.mark.parametrize("language", Language)
def test_values_for_programs_are_equal_in_all_languages(language: Language) -> None:
    with speaking(Language.EN):
        english = typical().view(RECIPES)
    with speaking(language):
        view = typical().view(RECIPES)
    for mine, theirs in zip(view.answers, english.answers, strict=True):
        assert (mine.verdict, mine.decided, mine.anchor) == (theirs.verdict, theirs.decided, theirs.anchor)
    assert [dataclasses.replace(one, text="", gain="") for one in view.advice] == [
        dataclasses.replace(one, text="", gain="") for one in english.advice
    ]
