"""Verdicts as tests for continuous integration."""

import dataclasses
from xml.etree import ElementTree

import report_samples as samples

from paribus.report.render import junit

OUTCOMES = {"failure", "error", "skipped"}


def _cases(xml: str) -> list[tuple[str, str]]:
    root = ElementTree.fromstring(xml)  # noqa: S314  made here
    [suite] = root
    cases = []
    for case in suite.iterfind("testcase"):
        outcomes = [child.tag for child in case if child.tag in OUTCOMES]
        cases.append((case.get("name", ""), outcomes[0] if outcomes else "passed"))
    for outcome, total in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        assert suite.get(total) == str([each for _, each in cases].count(outcome))
    assert suite.get("tests") == str(len(cases))
    return cases


def test_each_comparison_is_a_test() -> None:
    view = samples.typical().view()
    cases = _cases(junit.of_report(view))
    assert sorted(name for name, _ in cases) == sorted(answer.change for answer in view.answers)
    expected = []
    for answer in (*(row.answer for row in view.verdicts), *view.unanswered):
        if answer.verdict in ("undecided", "no verdict"):
            expected.append("skipped")
        elif answer.verdict in ("better", "worse") and not answer.decided:
            expected.append("error")
        else:
            expected.append("failure" if answer.verdict == "worse" else "passed")
    assert [outcome for _, outcome in cases] == expected
    assert {"failure", "skipped", "passed"} <= set(expected)


def test_hostile_names_cannot_become_elements() -> None:
    view = dataclasses.replace(samples.hostile().view(), title="\ufffe <&\uffff")
    assert len(_cases(junit.of_report(view))) == len(view.answers)
