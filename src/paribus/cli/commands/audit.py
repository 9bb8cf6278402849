"""`paribus audit`: comparison of a machine with published advice."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from paribus.cli.options import AsJson, Become, Lang, OutputFile, StoreUrl, fail_if, form_of, read_names
from paribus.cli.terminal import report_line, say, visible, visible_json
from paribus.errors import UsageError
from paribus.i18n import Language


class AuditForm(StrEnum):
    """The forms of an audit."""

    TEXT = "text"
    HTML = "html"
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
    path: Annotated[str, typer.Option(metavar="FOLDER", help="The folder with the data: its disk is examined.")] = ".",
    database: Annotated[
        str,
        typer.Option(
            metavar="DSN",
            help="A running server, without a password: mysql://user@host/, postgres://user@host/?socket=/run/postgresql.",
        ),
    ] = "",
    config: Annotated[
        str,
        typer.Option(metavar="FILE", help="Instead of a server: its file here, my.cnf or postgresql.conf."),
    ] = "",
    server: Annotated[
        str, typer.Option(metavar="KIND-VERSION", help="With --config: the server, such as mariadb-10.11.")
    ] = "",
    workload: Annotated[
        WorkloadClass, typer.Option(help="The kind of work that the server does.")
    ] = WorkloadClass.OLTP,
    everything: Annotated[
        bool, typer.Option("--all", help="Explain also what agrees, is outdated, does not apply or was not read.")
    ] = False,
    store: StoreUrl = None,
    plan: Annotated[
        bool,
        typer.Option("--plan", help="Print a plan that tests what differs; four or more are screened together."),
    ] = False,
    like: Annotated[
        str,
        typer.Option(
            metavar="FILE",
            help="With --plan and --database: make its workload of the statements in this slow query log, or in this "
            "export of pg_stat_statements or of events_statements_summary_by_digest.",
            show_default=False,
        ),
    ] = "",
    become: Become = False,
    fail_on: Annotated[
        str,
        typer.Option(
            metavar="LIST",
            help="End with exit code 1 if a setting is in one of these states: differs, contradicted.",
            show_default=False,
        ),
    ] = "",
    form: Annotated[
        AuditForm | None, typer.Option("--format", help="The form. Default: by the name of FILE, else text.")
    ] = None,
    output: OutputFile = None,
    lang: Lang = None,
    as_json: AsJson = False,
) -> None:
    """Compare the settings of a machine and of a database server with published advice; change nothing.

    For each setting it says what is in force, what is advised, by whom and on what evidence. It says whether that
    still applies to this version, what following it risks, and which command would test it here.

    Example: paribus audit --path /var/lib/mysql --database mysql://root@localhost/?socket=/run/mysqld/mysqld.sock
    """
    from paribus.cli.delivery import as_on_terminal, deliver
    from paribus.cli.texts.audit import markdown, show
    from paribus.i18n import of_environment, speaking
    from paribus.lab.audit.audit_plan import plan_text
    from paribus.lab.audit.audit_view import audit_view
    from paribus.lab.audit.auditing import AuditCondition
    from paribus.lab.audit.auditing import audit as audit_machine
    from paribus.report.render import audit_html

    form = AuditForm.JSON if as_json else form or AuditForm(form_of(None, output))
    if plan and form is not AuditForm.TEXT:
        raise UsageError("--plan prints a plan, which is TOML", "leave out --json and --format")
    if bool(config) != bool(server) or (config and database):
        raise UsageError("--config needs --server, and no --database", "add for example: --server mariadb-10.11")
    if like and not (plan and database):
        raise UsageError(
            f"--like {like} needs --plan and --database",
            "name the running server: the tables, and the ranges of their values, are read there",
        )
    record = None
    if like:
        from paribus.lab.statement_mix.like import statements_of, workload_like

        record = statements_of(like)
    conditions = read_names(fail_on, AuditCondition)
    language = Language.EN if plan or form is AuditForm.JSON else lang or (Language.EN if output else of_environment())
    with speaking(language):
        document = audit_machine(
            target,
            path,
            database=database,
            config=config,
            server=server,
            workload=workload,
            store=store,
            become=become,
            report=report_line,
        )
        if plan:
            mix = None
            if record:
                mix = workload_like(record, like, target=target, database=database, become=become, report=report_line)
                for note in mix.notes:
                    report_line(note)
            deliver(plan_text(document, mix), output)
            return
        view = audit_view(document, everything=everything)
        match form:
            case AuditForm.JSON:
                deliver(visible_json(document.model_dump_json(indent=2)) + "\n", output)
            case AuditForm.MARKDOWN:
                deliver(visible(markdown(view)), output)
            case AuditForm.HTML:
                file = output or Path(f"paribus-audit-{document.host}.html")
                deliver(audit_html.render(view), file)
                say(f"audit: {file}")
            case _:
                deliver(as_on_terminal(lambda console: show(view, console), to_file=output is not None), output)
    fail_if(conditions, document.conditions)
