"""The terminal: output with control characters escaped, since some text comes from untrusted machines, and questions.

Everything that a command prints goes through `say`, `say_json` or `console.VisibleConsole`.
"""

import contextlib
import re

import typer

# Control characters but tab and newline, halves of surrogate pairs, ends of lines and directions of Unicode.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def visible(text: str) -> str:
    """The text with each control character as its escape sequence: `\\x1b`."""
    return _CONTROL.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def say(text: str, *, err: bool = False) -> None:
    """Print text and a newline."""
    typer.echo(visible(text), err=err)


def report_line(text: str) -> None:
    """Print a line about the program's work on stderr; a terminal that is gone stops no work."""
    with contextlib.suppress(OSError):
        say(f"paribus: {text}", err=True)


def visible_json(document: str) -> str:
    """A JSON document with control characters escaped that JSON allows unescaped."""
    return _CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", document)


def say_json(document: str) -> None:
    """Print a JSON document and a newline."""
    typer.echo(visible_json(document))


def say_as_is(content: str) -> None:
    """Print a document whose control characters are already escaped."""
    typer.echo(content, nl=False)


def confirmed(action: str, how: str, without_terminal: str) -> bool:
    """Ask the user whether to do something.

    Args:
        action: What would be done, as in `delete this experiment`.
        how: The end of the question.
        without_terminal: What to do where nobody can be asked.

    Raises:
        UsageError: Standard input is no terminal.
        KeyboardInterrupt: Ctrl-C or Ctrl-D.
    """
    import sys

    from paribus.errors import UsageError

    if not sys.stdin.isatty():
        raise UsageError(f"cannot ask whether to {action}: standard input is not a terminal", without_terminal)
    try:
        return typer.confirm(f"{action} {how}?", err=True)
    except typer.Abort as abort:  # which ends with the undocumented 1
        raise KeyboardInterrupt from abort
