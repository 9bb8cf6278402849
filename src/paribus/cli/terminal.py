"""Text on the terminal, with control characters made visible: some of it was said by machines that are not trusted.

Everything that a command prints goes through `say`, `say_json` or `console.VisibleConsole`.
"""

import re

import typer

# Control characters but tab and newline, halves of surrogate pairs, ends of lines and directions of Unicode.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def visible(text: str) -> str:
    """The text with each control character as its escape sequence: `\\x1b`."""
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def say(text: str, *, err: bool = False) -> None:
    """Print text and a newline."""
    typer.echo(visible(text), err=err)


def report_line(text: str) -> None:
    """Print a line about the program's work on stderr."""
    say(f"paribus: {text}", err=True)


def visible_json(document: str) -> str:
    """A JSON document in which what JSON lets stand as it is, is escaped as JSON does."""
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", document)


def say_json(document: str) -> None:
    """Print a JSON document and a newline."""
    typer.echo(visible_json(document))


def say_as_is(content: str) -> None:
    """Print a document that was made visible before it got its colours."""
    typer.echo(content, nl=False)
