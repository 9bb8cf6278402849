"""`paribus ticket`: what an experiment recommends, as a change for production."""

from pathlib import Path
from typing import Annotated

import typer

from paribus.cli.options import ExperimentName, Lang, StoreUrl
from paribus.cli.terminal import say, visible


def ticket(
    experiment: ExperimentName = "last",
    factor: Annotated[
        str,
        typer.Option(metavar="KEY", help="Change only this factor. Default: all that are better.", show_default=False),
    ] = "",
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FOLDER",
            help="The folder for runbook.md, apply.yml and rollback.yml. Default: the runbook on stdout.",
        ),
    ] = None,
    lang: Lang = None,
    store: StoreUrl = None,
) -> None:
    """Write what an experiment recommends as a change for production; change nothing.

    The runbook has the evidence, the risk, and each step: look, set, check, keep, take back. The playbooks of Ansible
    make the change and take it back. A database server is restarted only with -e restart_database=true.

    Example: paribus ticket last -o change/
    """
    from paribus.cli.delivery import deliver
    from paribus.files import make_folder
    from paribus.i18n import Language, of_environment, speaking
    from paribus.lab.rollout.change import change_of
    from paribus.lab.rollout.playbook import playbook, rollback
    from paribus.lab.rollout.runbook import runbook

    with speaking(lang or (of_environment() if output is None else Language.EN)):
        change = change_of(experiment, store, factor)
        text = visible(runbook(change))
    if output is None:
        deliver(text, None)
        return
    make_folder(output)
    for name, content in (
        ("runbook.md", text),
        ("apply.yml", visible(playbook(change))),
        ("rollback.yml", visible(rollback(change))),
    ):
        deliver(content, output / name)
        say(f"wrote {output / name}")
