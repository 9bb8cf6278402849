"""`paribus verify`: verification that recommended settings are in force."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from paribus.cli.options import AsJson, Become, ExperimentName, Limit, StoreUrl, read_limit
from paribus.cli.terminal import report_line, say, say_json

if TYPE_CHECKING:
    from paribus.lab.rollout.verifying import VerifiedSetting


def verify(
    experiment: ExperimentName = "last",
    targets: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TARGET]…",
            help="local, or ssh://[user@]host[:port]. Default: that of the plan.",
            show_default=False,
        ),
    ] = None,
    hosts: Annotated[
        Path | None,
        typer.Option("--hosts", metavar="FILE", help="The machines of a file, as paribus fleet run has it."),
    ] = None,
    limit: Limit = None,
    path: Annotated[
        str, typer.Option(metavar="FOLDER", help="The folder with the data. Default: that of the plan.")
    ] = "",
    database: Annotated[
        str, typer.Option(metavar="DSN", help="A running server, without a password, as each machine sees it.")
    ] = "",
    become: Become = False,
    store: StoreUrl = None,
    as_json: AsJson = False,
) -> None:
    """Read on machines whether the settings that an experiment recommends are in force; change nothing.

    It ends with exit code 1 where one is not, or was not read, so that cron can tell.

    Example: paribus verify last ssh://dba@db1 ssh://dba@db2 --path /var/lib/mysql
    """
    from paribus.errors import UsageError
    from paribus.lab.fleet.inventory import FleetHost, read_inventory
    from paribus.lab.rollout.verifying import verify as verify_machines

    if limit is not None and hosts is None:
        raise UsageError("--limit chooses from a file of machines, and none is named", "name one with --hosts")
    machines = [FleetHost(target, target) for target in targets or []]
    if hosts is not None:
        machines += read_inventory(hosts, read_limit(limit))
    document = verify_machines(
        experiment, store, machines, path=path, database=database, become=become, report=report_line
    )
    if as_json:
        say_json(document.model_dump_json(indent=2))
    else:
        for machine in document.machines:
            name = machine.target if machine.machine == machine.target else f"{machine.machine} ({machine.target})"
            say(f"{name}: {machine.problem}" if machine.problem else name)
            for setting in machine.settings:
                say(f"  {setting.setting}: {_state(setting)}")
    if not document.in_force:
        raise typer.Exit(1)


def _state(setting: "VerifiedSetting") -> str:
    if setting.now is None:
        return f"not read ({setting.why}); it should be {setting.recommended}"
    return (
        f"{setting.now}: in force"
        if setting.in_force
        else f"{setting.now}: not in force, it should be {setting.recommended}"
    )
