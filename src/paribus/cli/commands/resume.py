"""`paribus resume`: go on with an experiment that was cut off."""

from pathlib import Path
from typing import Annotated

import typer

from paribus.cli.commands.run import ReportFile, carry_out
from paribus.cli.options import AsJson, ExperimentName, StoreUrl


def resume(
    experiment: ExperimentName = "last",
    plan_file: Annotated[
        Path | None,
        typer.Option("--plan", metavar="FILE", help="Refuse unless this is the plan the experiment began with."),
    ] = None,
    store: StoreUrl = None,
    report_file: ReportFile = None,
    as_json: AsJson = False,
) -> None:
    """Go on with an experiment that was cut off, from the first block that is not whole.

    The plan is the one stored when it began; a changed file is a new experiment.

    Example: paribus resume last
    """
    from paribus.cli import reporting, target
    from paribus.errors import UsageError
    from paribus.hosts.transport import described
    from paribus.i18n import N_, stored_message
    from paribus.model import ExperimentState
    from paribus.plan.parse import parse, read_file
    from paribus.store import read, write
    from paribus.store.open import open_engine, store_url

    opened = open_engine(store_url(store), create=False)
    found = read.find(opened, experiment)
    if (
        plan_file is not None
        and parse(str(plan_file), read_file(str(plan_file)), found.overrides).digest != found.plan_digest
    ):
        raise UsageError(
            f"{plan_file} is not the plan of {found.id}", "run it as a new experiment, or resume without --plan"
        )
    reporting.refuse_set(found, "nothing of it can be run")
    if found.state is ExperimentState.DONE:
        raise UsageError(f"experiment {found.id} is done", f"see it with: paribus report {found.id}")
    plan = read.plan(opened, found.id)
    with target.site_again(plan) as site:
        site.refuse_open_journals()
        with described(site.host.name):
            now = target.fingerprint(site, plan.target.path, plan.target.device)
        for name, before in found.fingerprint.items():
            if now.get(name) != before:
                said = N_("resumed with another {name}: {now!r}, before {before!r}")
                write.add_note(
                    opened, found.id, stored_message(said, name=stored_message(name), now=now.get(name), before=before)
                )
        carry_out(found, opened, site, report_file, as_json=as_json)
