"""The text of a plan as the program writes it: TOML reads it as the same document."""

import datetime
import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paribus.plan.form.write import toml_text

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
SCALARS = TEXTS | st.integers() | st.booleans() | st.floats(allow_nan=False)
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3))


@settings(max_examples=200, derandomize=True, deadline=None)
@given(st.dictionaries(TEXTS, VALUES, max_size=4))
def test_a_document_is_read_as_it_was_written(document: dict[str, object]) -> None:
    assert tomllib.loads(toml_text(document, {})) == document


def test_the_text_has_tables_comments_and_columns() -> None:
    document = {
        "name": "n",
        "factors": {"vm.dirty_ratio": [20, 5], "a.b": ["on", True, 0.5]},
        "workload": [{"kind": "fileio", "threads": [1]}, {"kind": "fio"}],
        "protocol": {},
    }
    comments = {"": "whole", "factors": "levels", "workload.kind": "load", "protocol": "defaults"}
    assert toml_text(document, comments) == (
        '# whole\nname = "n"\n\n'
        '[factors]  # levels\n"vm.dirty_ratio" = [20, 5]\n"a.b"            = ["on", true, 0.5]\n\n'
        '[[workload]]\nkind    = "fileio"  # load\nthreads = [1]\n\n'
        '[[workload]]\nkind = "fio"  # load\n\n'
        "[protocol]  # defaults\n"
    )


@pytest.mark.parametrize("text", ['a"b', "a\\b", "a\nb\t\r", "\x00\x7f\x85", "\u202e", "中文", "\U000e0001", ""])
def test_text_is_quoted(text: str) -> None:
    written = toml_text({text: text}, {})
    assert tomllib.loads(written) == {text: text}
    assert written.removesuffix("\n").isprintable()


def test_dates_are_written_as_dates() -> None:
    document = {"day": datetime.date(2026, 1, 2), "time": datetime.time(7, 32)}
    assert tomllib.loads(toml_text(document, {})) == document


def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(ValueError, match="is not UTF-8 text"):
        toml_text({"path": "\udcff"}, {})
