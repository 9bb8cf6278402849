"""`paribus apply`: set on the machine what an experiment has shown to be better."""

from typing import TYPE_CHECKING, Annotated

import typer

from paribus.cli.options import AsJson, StoreUrl
from paribus.cli.terminal import say, say_json

if TYPE_CHECKING:
    from paribus.cli.recommended import ApplyDocument


def apply(
    experiment: Annotated[
        str,
        typer.Argument(
            metavar="EXPERIMENT", help="An id, the start of one, a plan's name, or last.", show_default=False
        ),
    ],
    factor: Annotated[
        str, typer.Option(metavar="KEY", help="Only this factor. Default: all that are better.", show_default=False)
    ] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be set; change nothing.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    anyway: Annotated[
        bool, typer.Option("--anyway", help="Also on a machine that is not the one that was measured.")
    ] = False,
    store: StoreUrl = None,
    as_json: AsJson = False,
) -> None:
    """Set on its machine what an experiment has shown to be better, and leave it so.

    Shows first what each setting is, what it will be, and what makes it last beyond the next start, which nobody does
    for you. Read back once set; where one is not taken, all are as before. paribus undo takes them back.

    Example: paribus apply last --factor block.scheduler --dry-run
    """
    from paribus.cli import recommended, recommended_text, reporting
    from paribus.cli.console import VisibleConsole
    from paribus.cli.running_server import leave_all
    from paribus.cli.signals import StopRequest
    from paribus.cli.target import site_again
    from paribus.errors import UsageError
    from paribus.store import read
    from paribus.store.open import open_engine, store_url

    if as_json and not (yes or dry_run):
        raise UsageError("--json asks nothing", "add --dry-run, or --yes")
    opened = open_engine(store_url(store), create=False)
    found = read.find(opened, experiment)
    reporting.refuse_set(found, "sets nothing here", "try it on this machine first: paribus check PLAN")
    plan = read.plan(opened, found.id)
    advice = {one.factor: one for one in reporting.report_view(opened, found).advice}
    console = VisibleConsole(highlight=False)
    with site_again(plan) as there:
        there.refuse_open_journals()  # what a crash left is not what is set now
        document = recommended.document(plan, found, advice, there, factor)
        if not as_json:
            recommended_text.show(document, console)
        if not dry_run:
            recommended.refuse(document, factor, anyway=anyway)
        if document.to_set and not dry_run:
            if not (yes or _agreed(document)):
                say("nothing was set")
                return
            stop = StopRequest()
            stop.listen()
            left = leave_all(plan, there, found.id, document.to_set, stop.asked)
            document = recommended.done(document, left)
            if not as_json:
                recommended_text.show_made(document, plan.target, console)
    if as_json:
        say_json(document.model_dump_json(indent=2))


def _agreed(document: "ApplyDocument") -> bool:
    """Whether a person says yes. Raises UsageError where nobody is there to."""
    import sys

    from paribus.errors import UsageError

    count = len(document.to_set)
    words = f"make these {count} settings" if count > 1 else "make this setting"
    if not sys.stdin.isatty():
        raise UsageError(f"nobody can be asked whether to {words}", "add --yes, or --dry-run to see it only")
    return typer.confirm(f"{words} on {document.target}, and leave it so?", err=True)
