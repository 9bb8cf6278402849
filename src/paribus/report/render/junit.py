"""Verdicts as JUnit XML, which continuous integration shows as tests: a comparison is a test.

In: a view in English. Out: XML. Called by the command line. Form: that of Jenkins, which GitLab and GitHub read too.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from xml.etree import ElementTree

from paribus.model import Verdict
from paribus.report.comparison_view import ComparedDocument
from paribus.report.sections.verdicts import OPEN, WORDS
from paribus.report.view.comparison_models import ComparedView
from paribus.report.view.view_models import Answer, ReportView

_PASSED = "passed"
_NO_XML = dict.fromkeys((0xFFFE, 0xFFFF), "?")  # as control characters, which are escaped where it is printed


@dataclass(frozen=True, slots=True)
class JunitCase:
    """A comparison as a test. `outcome` is `passed`, or the name of the element that says why not."""

    group: str
    name: str
    outcome: str
    text: str


def of_report(view: ReportView) -> str:
    """The comparisons of an experiment: worse fails, without a verdict is skipped, suspect is an error."""
    answers = [*(row.answer for row in view.verdicts), *view.unanswered]
    cases = [
        JunitCase(f"{answer.factor} under {answer.workload}", answer.change, _outcome(answer), answer.conclusion)
        for answer in answers
    ]
    return _suite(view.title, {"experiment": view.experiment}, cases)


def of_comparison(document: ComparedDocument, view: ComparedView) -> str:
    """The baselines of two experiments: worse fails, without a verdict is skipped; load levels have no verdict."""
    cases = [
        JunitCase(
            f"baseline under {row.workload}",
            row.response,
            {Verdict.WORSE: "failure", Verdict.UNDECIDED: "skipped", None: "skipped"}.get(between.verdict, _PASSED),
            f"{row.change.effect} {row.change.interval}, margin {row.change.margin}: {row.verdict or 'no verdict'}",
        )
        for between, row in zip(document.between, view.baseline, strict=True)
        if row.whole
    ]
    return _suite(view.title, {"first": document.first, "second": document.second}, cases)


def _outcome(answer: Answer) -> str:
    if answer.verdict in OPEN:
        return "skipped"
    if answer.verdict in (WORDS[Verdict.BETTER], WORDS[Verdict.WORSE]) and not answer.decided:
        return "error"
    return "failure" if answer.decided == WORDS[Verdict.WORSE] else _PASSED


def _suite(name: str, properties: dict[str, str], cases: Iterable[JunitCase]) -> str:
    suite = ElementTree.Element("testsuite", name=name)
    listed = ElementTree.SubElement(suite, "properties")
    for key, value in properties.items():
        ElementTree.SubElement(listed, "property", name=key, value=value)
    counts = {"tests": 0, "failure": 0, "error": 0, "skipped": 0}
    for case in cases:
        test = ElementTree.SubElement(suite, "testcase", classname=case.group, name=case.name)
        counts["tests"] += 1
        if case.outcome == _PASSED:
            ElementTree.SubElement(test, "system-out").text = case.text
        else:
            ElementTree.SubElement(test, case.outcome, message=case.text)
            counts[case.outcome] += 1
    totals = {"tests": "tests", "failure": "failures", "error": "errors", "skipped": "skipped"}
    for key, total in totals.items():
        suite.set(total, str(counts[key]))
    suites = ElementTree.Element("testsuites")
    suites.append(suite)
    ElementTree.indent(suites)
    text = ElementTree.tostring(suites, encoding="unicode").translate(_NO_XML)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'
