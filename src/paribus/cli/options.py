"""Options and arguments that several verbs share."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from paribus.errors import UsageError
from paribus.i18n import Language


class Form(StrEnum):
    """The forms of a report."""

    HTML = "html"
    MARKDOWN = "markdown"
    TEXT = "text"
    JSON = "json"


PlanFile = Annotated[Path, typer.Argument(help="The plan, a TOML file.", metavar="PLAN", show_default=False)]
Overrides = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="Set a key of the plan, for example target.device=/dev/sdb. Repeatable."
    ),
]
StoreUrl = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="URL",
        help="The store: a file, or a database's URL. Default: $PARIBUS_STORE, else the user's.",
    ),
]
ExperimentName = Annotated[
    str,
    typer.Argument(
        metavar="[EXPERIMENT]", help="An id, the start of an id, a plan's name, or last.", show_default=False
    ),
]
TargetName = Annotated[
    str, typer.Option("--target", metavar="TARGET", help="The machine: local, or ssh://[user@]host[:port].")
]
Become = Annotated[bool, typer.Option("--become", help="Act as root on the target, by sudo without a question.")]
Lang = Annotated[
    Language | None,
    typer.Option("--lang", help="The language; JSON is always in English. Default: on stdout the locale's, else en."),
]
FormName = Annotated[Form, typer.Option("--format", help="The form of the report.")]
OutputFile = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", metavar="FILE", help="The file to write. Default: stdout; for html a file in this folder."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout.")]


def read_overrides(pairs: list[str] | None) -> dict[str, str]:
    """`KEY=VALUE` pairs as a dictionary. Raises UsageError."""
    overrides = {}
    for pair in pairs or []:
        key, sign, value = pair.partition("=")
        if not sign or not key.strip():
            raise UsageError(f"--set {pair!r} has no value", "write for example --set target.device=/dev/sdb")
        overrides[key.strip()] = value.strip()
    return overrides
