"""Options and arguments that several verbs share."""

import re
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from paribus.cli.store_hints import keep_store
from paribus.cli.terminal import say
from paribus.errors import ParibusError, UsageError
from paribus.i18n import Language
from paribus.registry import nearest

if TYPE_CHECKING:
    from paribus.lab.admission import Admission
    from paribus.lab.results.conditions import FailCondition

FailOnCondition = TypeVar("FailOnCondition", bound=StrEnum)


class Form(StrEnum):
    """The forms of a report."""

    HTML = "html"
    MARKDOWN = "markdown"
    TEXT = "text"
    JSON = "json"
    JUNIT = "junit"


_FORMS = {".html": Form.HTML, ".htm": Form.HTML, ".md": Form.MARKDOWN, ".json": Form.JSON, ".xml": Form.JUNIT}


def form_of(form: Form | None, output: Path | None) -> Form:
    """The form that was chosen, else the one that the name of the file asks for."""
    return form or _FORMS.get(output.suffix.lower() if output else "", Form.TEXT)


PlanFile = Annotated[Path, typer.Argument(help="The plan, a TOML file.", metavar="PLAN", show_default=False)]
Overrides = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="Set a key of the plan, for example target.device=/dev/sdb. Repeatable."
    ),
]


def refuse_password(url: str | None) -> str | None:
    """Refuse a password in an argument, which every user of the machine can read. Raises UsageError."""
    if url and re.search(r"://[^@]*:[^@]+@|[?&](?:ssl)?password=", url):
        advice = "put the password into ~/.pgpass, or the whole URL into the variable PARIBUS_STORE"
        raise UsageError("the store holds a password, which others can read in the list of processes", advice)
    return keep_store(url)


StoreUrl = Annotated[
    str | None,
    typer.Option(
        "--store",
        callback=refuse_password,
        metavar="URL",
        help="The store: a file, or a database's URL. Default: $PARIBUS_STORE, else the user's.",
    ),
]


def experiment_names(incomplete: str) -> list[str]:
    """The experiments of the default store that complete a word: ids, the newest first, then plan names."""
    from paribus.lab.store import stores

    try:
        return [name for name in ("last", *stores.experiment_names()) if name.startswith(incomplete)]
    except ParibusError:
        return []


ExperimentName = Annotated[
    str,
    typer.Argument(
        metavar="[EXPERIMENT]",
        help="An id, the start of an id, a plan's name, or last.",
        autocompletion=experiment_names,
        show_default=False,
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
FormName = Annotated[
    Form | None, typer.Option("--format", help="The form of the report. Default: by the name of FILE, else text.")
]
OutputFile = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", metavar="FILE", help="The file to write. Default: stdout; for html a file in this folder."
    ),
]
FailOn = Annotated[
    str,
    typer.Option(
        "--fail-on",
        metavar="LIST",
        help="End with exit code 1 if a verdict is one of these: worse, suspect, undecided. Several with commas.",
        show_default=False,
    ),
]
ReportFile = Annotated[
    Path | None,
    typer.Option(
        "--report", metavar="FILE", help="The file of the HTML report. Default: in reports/ beside the store."
    ),
]
NoReport = Annotated[
    bool, typer.Option("--no-report", help="Write no HTML report. Later, paribus report --format html writes it.")
]
Strict = Annotated[
    bool,
    typer.Option("--strict", help="End with exit code 3 if a comparison has too few usable trials to be judged."),
]
Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="Print a line for each finished trial instead of one per minute.")
]
Quiet = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="Print no progress, only warnings, results and errors."),
]
LogFile = Annotated[
    Path | None,
    typer.Option(
        "--log",
        metavar="FILE",
        help="Append the progress to this file: a line with the time for each finished trial, note and decision.",
    ),
]
Wait = Annotated[
    bool, typer.Option("--wait", help="Begin when no other experiment runs on the target. Default: refuse then.")
]
Anyway = Annotated[
    bool, typer.Option("--anyway", help="Begin although another experiment runs on the target, which disturbs both.")
]
Limit = Annotated[
    str | None, typer.Option(metavar="NAME,NAME…", help="Only these machines, or groups of an inventory. Default: all.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout.")]


def knob_names(incomplete: str) -> list[str]:
    """The knobs that complete a word."""
    from paribus.lab.machine.knob_queries import catalogue

    return [knob.name for knob in catalogue() if knob.name.startswith(incomplete)]


def workload_names(incomplete: str) -> list[str]:
    """The kinds of workload that complete a word."""
    from paribus.lab.plans.short_plan import workload_kinds

    return [kind for kind in workload_kinds if kind.startswith(incomplete)]


def read_overrides(pairs: list[str] | None) -> dict[str, str]:
    """`KEY=VALUE` pairs as a dictionary. Raises UsageError."""
    overrides = {}
    for pair in pairs or []:
        key, sign, value = pair.partition("=")
        if not sign or not key.strip():
            raise UsageError(f"--set {pair!r} has no value", "write for example --set target.device=/dev/sdb")
        overrides[key.strip()] = value.strip()
    return overrides


def refuse_together(options: Mapping[str, bool]) -> None:
    """Refuse two options that exclude each other, by name, where both are given. Raises UsageError."""
    if all(options.values()):
        raise UsageError(f"{' and '.join(options)} exclude each other", "give one of them")


def read_admission(*, wait: bool, anyway: bool) -> "Admission":
    """The reaction to another experiment on the target. Raises UsageError for both options."""
    from paribus.lab.admission import Admission

    refuse_together({"--wait": wait, "--anyway": anyway})
    return Admission.WAIT if wait else Admission.ANYWAY if anyway else Admission.ALONE


def read_conditions(text: str) -> "frozenset[FailCondition]":
    """The conditions of a list with commas. Raises UsageError."""
    from paribus.lab.results.conditions import FailCondition

    return read_names(text, FailCondition)


def read_list(text: str) -> list[str]:
    """The parts of a list with commas, without empty ones."""
    return [part.strip() for part in text.split(",") if part.strip()]


def read_limit(limit: str | None) -> list[str]:
    """The names of a limit, none where it is not given. Raises UsageError where it is empty."""
    names = read_list(limit or "")
    if limit is not None and not names:
        raise UsageError("--limit names no machine", "name one, or leave the option out for all")
    return names


def read_names(text: str, conditions: type[FailOnCondition]) -> frozenset[FailOnCondition]:
    """The conditions of a list with commas, of those that a command has. Raises UsageError."""
    names = read_list(text)
    names_of_conditions = [condition.value for condition in conditions]
    for name in names:
        if name not in names_of_conditions:
            hint = nearest(name, names_of_conditions) or f"known: {', '.join(names_of_conditions)}"
            raise UsageError(f"--fail-on {name!r} is no condition", hint)
    return frozenset(map(conditions, names))


def fail_if(requested: frozenset[FailOnCondition], holding: frozenset[FailOnCondition]) -> None:
    """End with exit code 1 if a requested condition holds, and name it on stderr."""
    if failed := sorted(requested & holding):
        say(f"--fail-on: the result is {', '.join(failed)}", err=True)
        raise typer.Exit(1)
