"""`paribus audit`: which published advice does this machine follow?"""

from enum import StrEnum
from typing import Annotated

import typer

from paribus.cli.options import AsJson, Become, StoreUrl
from paribus.cli.terminal import report_line, say, say_as_is, say_json
from paribus.errors import UsageError


class AuditForm(StrEnum):
    """The forms of an audit."""

    TEXT = "text"
    MARKDOWN = "markdown"
    JSON = "json"


class WorkloadClass(StrEnum):
    """The kind of work that a server does, which some advice depends on."""

    OLTP = "oltp"
    ANALYTICS = "analytics"
    WEB = "web"
    MIXED = "mixed"


def audit(
    target: Annotated[
        str, typer.Argument(metavar="[TARGET]", help="local, or ssh://[user@]host[:port].", show_default=False)
    ] = "local",
    path: Annotated[str, typer.Option(help="The folder with the data, whose disk and file system are examined.")] = ".",
    database: Annotated[
        str,
        typer.Option(
            metavar="DSN",
            help="A running server, without a password: mysql://user@host/, postgres://user@host/?socket=/run/postgresql.",
        ),
    ] = "",
    workload: Annotated[
        WorkloadClass, typer.Option(help="The kind of work that the server does.")
    ] = WorkloadClass.OLTP,
    everything: Annotated[
        bool, typer.Option("--all", help="Explain also what agrees, is outdated, does not apply or was not read.")
    ] = False,
    store: StoreUrl = None,
    plan: Annotated[
        bool, typer.Option("--plan", help="Print a plan that tests what differs; all in one screen, then each alone.")
    ] = False,
    become: Become = False,
    form: Annotated[AuditForm, typer.Option("--format", help="The form of the answer.")] = AuditForm.TEXT,
    as_json: AsJson = False,
) -> None:
    """Hold the settings of a machine and of a database server against published advice; change nothing.

    For each setting it says what is in force, what is advised, by whom and on what evidence. It says whether that
    still applies to this version, what following it risks, and which command would test it here.

    Example: paribus audit --path /var/lib/mysql --database mysql://root@localhost/?socket=/run/mysqld/mysqld.sock
    """
    from paribus.cli.console import VisibleConsole
    from paribus.cli.texts.audit import markdown, show
    from paribus.lab.audit.audit_plan import plan_text
    from paribus.lab.audit.auditing import audit as audit_machine

    if plan and (as_json or form is not AuditForm.TEXT):
        raise UsageError("--plan prints a plan, which is TOML", "leave out --json and --format")
    document = audit_machine(
        target, path, database=database, workload=workload, store=store, become=become, report=report_line
    )
    if plan:
        say_as_is(plan_text(document))
    elif as_json or form is AuditForm.JSON:
        say_json(document.model_dump_json(indent=2))
    elif form is AuditForm.MARKDOWN:
        say(markdown(document).rstrip("\n"))
    else:
        show(document, VisibleConsole(highlight=False), everything=everything)
