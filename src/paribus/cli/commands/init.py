"""`paribus init`: a plan to start from."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from paribus.cli.terminal import say

if TYPE_CHECKING:
    from paribus.lab.plans.new_plan import Answers

_SUBJECTS = {
    "files": "ways to read and write files",
    "machine": "settings of the kernel or of a disk; needs root",
    "database": "a variable of a database server",
    "sqlite": "settings of SQLite",
    "tool": "settings under a load of your own tool",
}


def _examples(incomplete: str) -> list[str]:
    from paribus.lab.plans.examples import example_plans

    return [example.name for example in example_plans() if example.name.startswith(incomplete)]


def init(
    plan_file: Annotated[Path, typer.Argument(metavar="[FILE]", help="The file to write.", show_default=True)] = Path(
        "plan.toml"
    ),
    example: Annotated[
        str,
        typer.Option(metavar="NAME", help="Write this example.", autocompletion=_examples, show_default=False),
    ] = "",
    list_examples: Annotated[bool, typer.Option("--list", help="List the examples; write nothing.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace files that exist.")] = False,
) -> None:
    """Write a plan to start from, with comments.

    On a terminal it asks what to compare, with which database, and in which folder. Otherwise, and without --example,
    it writes the example `first`, which needs neither root nor a server.

    Example: paribus init --example mariadb
    """
    import sys

    from paribus.lab.plans import examples, new_plan

    if list_examples:
        plans = examples.example_plans()
        width = max(len(plan.name) for plan in plans)
        say("\n".join(f"{plan.name:<{width}}  {plan.question}" for plan in plans))
        return
    if example or not sys.stdin.isatty():
        files = examples.example_files(example or examples.FIRST, plan_file)
    else:
        new_plan.refuse_existing([plan_file], force=force)  # before the questions
        files = new_plan.new_plan(_answers(), plan_file)
    new_plan.write_plan(files, force=force)
    for path in files:
        say(f"wrote {path}")
    say(f"check it with: paribus check {examples.shell_path(plan_file)}")


def _answers() -> "Answers":
    """Ask the three questions on stderr. Raises KeyboardInterrupt at Ctrl-C or Ctrl-D."""
    from paribus.lab.plans.new_plan import FILES, SERVERS, Answers, Subject, default_folder, installed_servers

    try:
        subject = Subject(_choose("What do you want to compare?", _SUBJECTS))
        database = {Subject.SQLITE: "sqlite"}.get(subject, FILES)
        if subject in (Subject.MACHINE, Subject.DATABASE):
            installed = installed_servers()
            offered = [FILES, *installed] if subject is Subject.MACHINE else installed or SERVERS
            choices = {name: "" if name in (FILES, *installed) else "not installed here" for name in offered}
            title = "Which load, on files or on a database?" if subject is Subject.MACHINE else "Which database?"
            database = _choose(title, choices)
        folder = typer.prompt("In which folder is data made?", default=default_folder(database), err=True)
    except typer.Abort as abort:  # which ends with the undocumented 1
        raise KeyboardInterrupt from abort
    return Answers(subject=subject, database=database, folder=folder)


def _choose(question: str, choices: Mapping[str, str]) -> str:
    """Ask until a choice is named, or its number; Enter is the first one."""
    names: Sequence[str] = list(choices)
    width = max(map(len, names))
    say(question, err=True)
    for number, name in enumerate(names, 1):
        say(f"  {number}  {name:<{width}}  {choices[name]}".rstrip(), err=True)
    while True:
        answer = str(typer.prompt("number or name", default="1", err=True)).strip().lower()
        if answer in choices:
            return answer
        if answer.isdecimal() and 1 <= int(answer) <= len(names):
            return names[int(answer) - 1]
        say(f"{answer!r} is none of: {', '.join(names)}", err=True)
