"""`paribus undo`: restoration of settings that an experiment left changed."""

from enum import StrEnum
from typing import Annotated, Any

import typer

from paribus.cli.options import AsJson, Become, TargetName
from paribus.cli.terminal import report_line, say, say_json


class AtBoot(StrEnum):
    """Actions on the restoration at boot."""

    INSTALL = "install"
    REMOVE = "remove"
    SHOW = "show"


def undo(
    target: TargetName = "local",
    become: Become = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be restored; change nothing.")] = False,
    at_boot: Annotated[
        AtBoot | None, typer.Option(help="Install, remove or show a service that does this at every start.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Restore every setting that an interrupted experiment changed.

    If there is none, undoes what paribus apply has set, the newest first.

    Needs neither the plan nor the store: the journal on the machine is enough. Ends with exit code 4 if a setting
    cannot be restored or inspected, and names it.

    Example: paribus undo --dry-run
    """
    import json

    if at_boot is not None:
        return _at_boot(target, at_boot, become=become, as_json=as_json)

    from paribus.cli.signals import StopRequest
    from paribus.cli.texts.status import nothing_changed
    from paribus.lab.undoing import undo as undo_changes

    StopRequest().listen()  # half a restoration is worse than a whole one
    events: list[dict[str, Any]] = []
    try:
        folders = undo_changes(target, become=become, dry_run=dry_run, tell=events.append, report=report_line)
        if not as_json and not any(event["event"] in _EVENT_TEXTS for event in events):
            say(nothing_changed(*folders))
    finally:  # the error for what could not be restored follows what could
        if as_json:
            say_json(json.dumps({"dry_run": dry_run, "events": events}, indent=2))
        else:
            for event in events:
                if event["event"] in _EVENT_TEXTS:
                    say(_EVENT_TEXTS[event["event"]].format(**event))


def _at_boot(target: str, action: AtBoot, *, become: bool, as_json: bool) -> None:
    import json

    from paribus.lab.undoing import at_boot

    files = at_boot(target, action, become=become, report=report_line)
    if as_json:
        say_json(json.dumps({"at_boot": bool(files), "files": files}, indent=2))
    elif files:
        say("\n".join(["journals are undone when this machine starts, by", *(f"  {file}" for file in files)]))
    else:
        say("nothing is undone when this machine starts; see: paribus undo --at-boot install")


_EVENT_TEXTS = {
    "would-restore": "{knob}: back to {before}  ({path})",
    "would-close": "{experiment}: nothing to restore; its journal would be closed  ({path})",
    "restored": "{knob}: restored, now {value}  ({address})",
    "expired": "{knob}: gone with the last start, nothing to restore  ({address})",
    "kept": "{experiment}: what was applied from it stays, while there is anything else to restore  ({path})",
    "busy": "{experiment} is still running and was left alone  ({path})",
    "stuck": "{knob}: STUCK, wanted {wanted}, found {found}  ({address})",
}
