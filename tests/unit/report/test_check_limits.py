"""Limits of checks in every form of a report."""

import io
from dataclasses import replace

from report_samples import Bench, many
from rich.console import Console

from paribus.model import Check
from paribus.report.render import html, markdown, text
from paribus.report.render.document import document

FOUND = "a trial that follows 1 changes by +0.3 %; 1.4 % would be seen"
LIMIT = "limit 1.0 % with p below 1 %; p is 34 %"


def _bench() -> Bench:
    bench = many(1)
    checks = (Check("carry-over", True, FOUND, LIMIT), Check("drift", True, "the machine itself drifted"))
    bench.effects = [replace(effect, checks=checks if effect.verdict else ()) for effect in bench.effects]
    return bench


def test_every_written_form_has_the_limit_after_the_finding() -> None:
    view, console = _bench().view(), Console(file=io.StringIO(), width=200)
    text.render(view, console)
    assert isinstance(console.file, io.StringIO)
    for written in (console.file.getvalue(), markdown.render(view), html.render(view)):
        assert f"carry-over: {FOUND} ({LIMIT})" in written
        assert "drift: the machine itself drifted\n" in written.replace("</li>", "")


def test_the_document_has_it_as_a_field_of_its_own() -> None:
    checks = document(_bench().input()).effects[0].checks
    assert [(check.found, check.limit) for check in checks] == [(FOUND, LIMIT), ("the machine itself drifted", "")]
