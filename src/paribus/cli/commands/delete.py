"""`paribus delete`: deletion of experiments from the store."""

from typing import TYPE_CHECKING, Annotated

import typer

from paribus.cli.options import AsJson, StoreUrl, experiment_names
from paribus.cli.terminal import confirmed, report_line, say, say_json

if TYPE_CHECKING:
    from paribus.lab.store.deleting import DeleteDocument


def delete(
    experiments: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="EXPERIMENT",
            help="Ids, starts of ids, or names of plans that have one experiment.",
            autocompletion=experiment_names,
            show_default=False,
        ),
    ] = None,
    all_of: Annotated[
        str, typer.Option("--all-of", metavar="NAME", help="All experiments of the plan with this name.")
    ] = "",
    older: Annotated[
        str,
        typer.Option(
            metavar="TIME", help="All that ended longer ago than this, such as 90d. With --all-of: of that plan."
        ),
    ] = "",
    keep: Annotated[
        int | None,
        typer.Option(metavar="N", min=0, help="Keep the newest N of those that --older or --all-of selects."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be deleted; change nothing.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Delete without asking.")] = False,
    anyway: Annotated[
        bool, typer.Option("--anyway", help="Delete also what may be running on a machine that was not inspected.")
    ] = False,
    store: StoreUrl = None,
    as_json: AsJson = False,
) -> None:
    """Delete experiments and imported sets from the store.

    First lists them, and asks. Deletes their trials, measurements, looks and notes, and their HTML reports in reports/
    beside the store. Then makes the store smaller. One wrong name deletes nothing.

    Refuses an experiment that is running or not restored. Data on the target is removed by paribus clean.

    Example: paribus delete --older 90d --keep 10
    """
    from paribus.cli.console import VisibleConsole
    from paribus.cli.texts.deleting import show_deleted, show_selected
    from paribus.errors import UsageError
    from paribus.lab.store import deleting

    if as_json and not (yes or dry_run):
        raise UsageError("--json cannot ask for confirmation", "add --dry-run, or --yes")
    console = VisibleConsole(highlight=False)

    def show(document: "DeleteDocument") -> None:
        if not as_json:
            show_selected(document, console)

    request = deleting.DeleteRequest(
        names=experiments or (), all_of=all_of, older_s=deleting.age(older), keep=keep, anyway=anyway
    )
    document = deleting.delete(
        request,
        store,
        dry_run=dry_run,
        on_selected=show,
        confirm=lambda document: yes or _confirm_deletion(document),
        report=report_line,
    )
    if document is None:
        say("nothing was deleted")
    elif as_json:
        say_json(document.model_dump_json(indent=2))
    elif document.deleted:
        show_deleted(document, console)


def _confirm_deletion(document: "DeleteDocument") -> bool:
    """Ask the user for confirmation. Raises as `confirmed`."""
    count = len(document.experiments)
    action = f"delete these {count} experiments" if count > 1 else "delete this experiment"
    return confirmed(action, "for good", "add --yes to delete, or --dry-run to only see them")
