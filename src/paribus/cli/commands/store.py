"""`paribus store`: stores as a whole."""

from typing import TYPE_CHECKING, Annotated

import typer

from paribus.cli.options import StoreUrl, refuse_password
from paribus.cli.terminal import confirmed, report_line, say

if TYPE_CHECKING:
    from paribus.lab.store.pruning import Pruned

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def store() -> None:
    """Copy experiments between stores, and remove the time series of old ones.

    Example: paribus store copy paribus.db postgresql://lab@db0/lab
    """


@app.command("copy")
def copy(
    source: Annotated[
        str,
        typer.Argument(
            metavar="FROM", help="A store: a file, or a database's URL.", callback=refuse_password, show_default=False
        ),
    ],
    target: Annotated[
        str,
        typer.Argument(
            metavar="TO",
            help="A store, which is made where it is missing.",
            callback=refuse_password,
            show_default=False,
        ),
    ],
) -> None:
    """Copy every finished experiment and imported set that the other store lacks.

    What is there already stays as it is. Each experiment is copied as a whole or not at all. One that is not finished
    is left out: copy again when it is.

    Example: paribus store copy /var/lib/paribus/paribus.db postgresql://lab@db0/lab
    """
    from paribus.lab.store.stores import copy_store

    counts = copy_store(source, target, report_line)
    unfinished = f"; not finished, and left out: {counts.unfinished}" if counts.unfinished else ""
    say(f"copied: {counts.copied}; there already: {counts.present}{unfinished}")


@app.command("prune")
def prune(
    series_older_than: Annotated[
        str,
        typer.Option("--series-older-than", metavar="TIME", help="Of experiments that ended so long ago, such as 90d."),
    ],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be removed; change nothing.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Remove without asking.")] = False,
    store: StoreUrl = None,
) -> None:
    """Remove the time series of the system's counters of old experiments, and make the store smaller.

    Verdicts, checks and summaries stay as they are, with the courses of the load. Reports lose the courses of counters,
    and say so. Imported sets keep all.

    Example: paribus store prune --series-older-than 90d
    """
    from paribus.errors import UsageError
    from paribus.lab.store.deleting import age
    from paribus.lab.store.pruning import prune_series

    older_s = age(series_older_than, "--series-older-than")
    if older_s is None or series_older_than.strip().isdecimal():
        message = (
            f"--series-older-than {series_older_than!r} has no unit" if older_s else "--series-older-than is empty"
        )
        raise UsageError(message, "write for example --series-older-than 90d")
    pruned = prune_series(
        store, older_s, dry_run=dry_run, confirm=lambda each: yes or _confirm_removal(each), report=report_line
    )
    if pruned is None:
        say("nothing was removed")
        return
    say(_sentence(pruned, is_done=not dry_run and pruned.series > 0))
    for note in pruned.notes:
        say(f"note: {note}")


def _confirm_removal(pruned: "Pruned") -> bool:
    """Ask the user for confirmation. Raises as `confirmed`."""
    say(_sentence(pruned, is_done=False))
    return confirmed("remove these time series", "for good", "add --yes to remove them, or --dry-run to only see them")


def _sentence(pruned: "Pruned", *, is_done: bool) -> str:
    from paribus.units import show_size

    plural = "" if pruned.experiments == 1 else "s"
    series = f"{pruned.series:,} time series of {pruned.experiments:,} experiment{plural}"
    if not pruned.series:
        return f"{pruned.store}: no experiment that old has time series of counters"
    if not is_done:
        size = "" if pruned.size_bytes is None else f" ({show_size(pruned.size_bytes)})"
        return f"{pruned.store}{size}: {series} can be removed"
    sizes = ""
    if pruned.size_bytes is not None and pruned.size_after_bytes is not None:
        sizes = f"; the store had {show_size(pruned.size_bytes)}, and has {show_size(pruned.size_after_bytes)}"
    return f"removed {series}{sizes}"
