"""`paribus apply`: apply the settings that an experiment recommends."""

from typing import TYPE_CHECKING, Annotated

import typer

from paribus.cli.options import AsJson, Become, StoreUrl
from paribus.cli.terminal import confirmed, report_line, say, say_json

if TYPE_CHECKING:
    from paribus.lab.rollout.apply_document import ApplyDocument
    from paribus.model import Target


def apply(
    experiment: Annotated[
        str,
        typer.Argument(
            metavar="EXPERIMENT", help="An id, the start of an id, a plan's name, or last.", show_default=False
        ),
    ],
    factor: Annotated[
        str, typer.Option(metavar="KEY", help="Set only this factor. Default: all that are better.", show_default=False)
    ] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be set; change nothing.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Set without asking.")] = False,
    anyway: Annotated[
        bool, typer.Option("--anyway", help="Set them also on a machine of another kind than the measured one.")
    ] = False,
    target: Annotated[
        str,
        typer.Option(
            metavar="TARGET", help="Another machine of the same kind: ssh://[user@]host[:port].", show_default=False
        ),
    ] = "",
    path: Annotated[
        str, typer.Option(metavar="FOLDER", help="The folder with the data there. Default: that of the plan.")
    ] = "",
    device: Annotated[
        str, typer.Option(metavar="DISK", help="The disk that is set there. Default: that below the folder.")
    ] = "",
    become: Become = False,
    store: StoreUrl = None,
    as_json: AsJson = False,
) -> None:
    """Set what an experiment has shown to be better, and leave it set.

    First shows the present and the new value of each setting, and a line that makes it permanent; you install that
    line. Reads every value back. If one is refused, all are restored. paribus undo takes the settings back. A machine
    of another kind, such as with another kernel, is refused unless you add --anyway.

    Example: paribus apply last --factor block.scheduler --dry-run
    """
    from paribus.cli.console import VisibleConsole
    from paribus.cli.signals import StopRequest
    from paribus.cli.texts.applying import show, show_made
    from paribus.errors import UsageError
    from paribus.lab.rollout import applying
    from paribus.lab.rollout.other_machine import OtherMachine

    if (path or device or become) and not target:
        raise UsageError("--path, --device and --become say where on another machine", "name it with --target")
    if as_json and not (yes or dry_run):
        raise UsageError("--json cannot ask for confirmation", "add --dry-run, or --yes")
    console = VisibleConsole(highlight=False)
    stop = StopRequest()

    def show_plan(document: "ApplyDocument") -> None:
        if not as_json:
            show(document, console)

    def show_applied(document: "ApplyDocument", target: "Target") -> None:
        if not as_json:
            show_made(document, target, console)

    def confirm(document: "ApplyDocument") -> bool:
        if not (yes or _confirm_changes(document)):
            return False
        stop.listen()
        return True

    applied = applying.apply(
        experiment,
        store,
        factor=factor,
        dry_run=dry_run,
        anyway=anyway,
        on_plan=show_plan,
        confirm=confirm,
        stop_requested=stop.is_requested,
        on_applied=show_applied,
        report=report_line,
        machine=OtherMachine(target, path, device, become) if target else None,
    )
    if applied is None:
        say("nothing was set")
    elif as_json:
        say_json(applied.model_dump_json(indent=2))


def _confirm_changes(document: "ApplyDocument") -> bool:
    """Ask the user for confirmation. Raises as `confirmed`."""
    count = len(document.to_set)
    action = f"make these {count} settings" if count > 1 else "make this setting"
    how = f"on {document.target}, and leave it so"
    return confirmed(action, how, "add --yes to apply, or --dry-run to only see the steps")
