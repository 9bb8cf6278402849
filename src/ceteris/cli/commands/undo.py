"""`ceteris undo`: put back what an experiment left changed."""

from typing import Annotated

import typer

from ceteris.cli.options import AsJson


def undo(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be put back; change nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Put back every setting that an experiment left changed when it was cut off.

    Needs neither the plan nor the store: the journal on this machine is enough. Ends with exit code 4 where
    something cannot be put back, naming it.

    Example: ceteris undo --dry-run
    """
    import json

    from ceteris.cli.target import local_site
    from ceteris.knobs import journal

    site = local_site()
    if dry_run:
        found = journal.open_journals(site.host, site.engine, site.journals)
        orphans = [one for one in found if not one.owned]
        events = [{"experiment": o.experiment, "path": o.path, "changes": list(o.changes)} for o in orphans]
        lines = [f"{c['knob']}: back to {c['before']}  ({o.path})" for o in orphans for c in o.changes]
        error = None
    else:
        events, changes = journal.undo(site.host, site.engine, site.journals)
        lines = [f"{c.knob}: {c.state.value}, now {c.observed}  ({c.address})" for c in changes]
        lines += [f"{e['experiment']} is still running and was left alone" for e in events if e["event"] == "busy"]
        lines += [
            f"{e['experiment']}: this machine was booted since, so nothing is left of it"
            for e in events
            if e["event"] == "expired"
        ]
        error = journal.not_restored(changes, "set them by hand, then run: ceteris undo")
    if as_json:
        typer.echo(json.dumps({"dry_run": dry_run, "events": events}, indent=2))
    else:
        for line in lines or ["nothing to put back"]:
            typer.echo(line)
    if error is not None:
        raise error
