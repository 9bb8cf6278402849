"""Printed text: control characters are visible, whatever their source."""

import io
import json
import re
from pathlib import Path

import pytest
from rich.table import Table
from rich.text import Text

import paribus
from paribus.cli import terminal
from paribus.cli.console import VisibleConsole

HOSTILE = "a\x1b[2J\x9b1m\x07\u202eb\x7f\r"
UNSEEN = set("\x1b\x9b\x07\u202e\x7f\r")


def test_control_characters_are_escaped_and_text_is_not() -> None:
    assert terminal.visible(HOSTILE) == r"a\x1b[2J\x9b1m\x07\u202eb\x7f\x0d".replace(r"\x0d", r"\r")
    assert terminal.visible("ein\tWort, 两个\n−1 …") == "ein\tWort, 两个\n−1 …"


def test_json_says_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.say_json(json.dumps({"a": HOSTILE}, ensure_ascii=False))
    out = capsys.readouterr().out
    assert not UNSEEN & set(out)
    assert json.loads(out) == {"a": HOSTILE}


@pytest.mark.parametrize("is_terminal", [False, True])
def test_a_console_shows_them_wherever_they_stand(is_terminal: bool) -> None:
    buffer = io.StringIO()
    console = VisibleConsole(file=buffer, force_terminal=is_terminal, width=200, color_system=None)
    table = Table(title=HOSTILE)
    table.add_column(HOSTILE)
    table.add_row(Text(HOSTILE))
    for shown in (HOSTILE, Text(HOSTILE, "bold"), table):
        console.print(shown, markup=False, highlight=False)
    shown = re.sub("\x1b\\[[0-9;]*m", "", buffer.getvalue())
    assert not UNSEEN & set(shown)
    assert shown.count(r"\x1b[2") == 5


def test_all_output_passes_the_escaping() -> None:
    """One place makes text visible; each way around it would need its own care."""
    source = Path(paribus.__file__).parent
    ways = re.compile(
        r"typer\.echo\(|click\.echo\(|(?<!Visible)Console\((?!Console)|sys\.stdout\.write|(?<![.\w])print\("
    )
    found = {
        f"{path.relative_to(source)}: {line.strip()}"
        for path in source.rglob("*.py")
        for line in path.read_text(encoding="utf-8").splitlines()
        if ways.search(line)
    }
    assert {line.partition(":")[0] for line in found} <= {"cli/terminal.py", "cli/console.py"}, found
