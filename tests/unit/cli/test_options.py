"""The form of a report, by option and by the name of its file."""

from pathlib import Path

import pytest

from paribus.cli.options import Form, form_of


@pytest.mark.parametrize(
    ("form", "name", "chosen"),
    [
        (None, "", Form.TEXT),
        (None, "report.html", Form.HTML),
        (None, "REPORT.HTM", Form.HTML),
        (None, "report.md", Form.MARKDOWN),
        (None, "report.json", Form.JSON),
        (None, "report.txt", Form.TEXT),
        (Form.TEXT, "report.html", Form.TEXT),
    ],
)
def test_the_name_of_a_file_says_its_form_unless_one_is_chosen(form: Form | None, name: str, chosen: Form) -> None:
    assert form_of(form, Path(name) if name else None) is chosen
