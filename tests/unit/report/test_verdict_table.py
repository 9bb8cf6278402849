"""The verdict table of a terminal: names stay whole, and nothing is wider than the terminal."""

import io

import pytest
import report_samples as samples
from rich.console import Console

from paribus.report.render import text


def _printed(width: int) -> list[str]:
    out = io.StringIO()
    text.conclusions(samples.typical().view(), Console(file=out, width=width))
    return out.getvalue().splitlines()


@pytest.mark.parametrize("width", [60, 80, 120])
def test_no_name_of_a_factor_or_a_workload_is_torn(width: int) -> None:
    lines = _printed(width)
    assert max(map(len, lines)) <= width
    view = samples.typical().view()
    workloads = len({answer.workload for answer in view.answers})
    responses = len({answer.response for answer in view.answers})
    assert responses > 1
    for answer in view.answers:
        response = f" {answer.response}" if answer.response else ""
        heading = f"{answer.factor}{response}" + (f" under {answer.workload}" if workloads > 1 else "")
        assert heading in [line.rstrip() for line in lines]


def test_open_questions_say_what_would_decide_them() -> None:
    whole = " ".join(" ".join(_printed(80)).split())
    view = samples.typical().view()
    still_open = [answer for answer in view.answers if answer.verdict in ("undecided", "no verdict")]
    assert still_open
    assert all(answer.sentence in whole for answer in still_open)


def test_columns_of_all_factors_are_aligned() -> None:
    figures = [line for line in _printed(100) if "[" in line]
    assert len(figures) > 2
    assert len({line.index("[") + len(line.partition("[")[2].partition("]")[0]) for line in figures}) == 1
