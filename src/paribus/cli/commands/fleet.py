"""`paribus fleet`: one question on several machines."""

import functools
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from paribus.cli.options import AsJson, Form, Lang, StoreUrl, experiment_names, form_of
from paribus.cli.terminal import visible, visible_json
from paribus.errors import UsageError
from paribus.i18n import Language, of_environment, speaking

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


class FleetForm(StrEnum):
    """The forms of a report on several machines."""

    TEXT = "text"
    MARKDOWN = "markdown"
    JSON = "json"


@app.callback()
def fleet() -> None:
    """Take experiments on several machines together.

    Example: paribus fleet report db1 db2 db3 db4
    """


@app.command("report")
def report(
    experiments: Annotated[
        list[str],
        typer.Argument(
            metavar="EXPERIMENT...",
            help="One of each machine: an id, the start of an id, or a plan's name.",
            autocompletion=experiment_names,
            show_default=False,
        ),
    ],
    store: StoreUrl = None,
    form: Annotated[
        FleetForm | None,
        typer.Option("--format", help="The form of the report. Default: by the name of FILE, else text."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="The file to write. Default: stdout.")
    ] = None,
    lang: Lang = None,
    as_json: AsJson = False,
) -> None:
    """Show each effect as a mean over machines, and what to expect of the next machine.

    A machine counts once, however many trials it made. The interval allows for differences between machines. Three
    machines or more must have judged an effect.

    Example: paribus fleet report db1 db2 db3 db4 --json
    """
    from paribus.cli.delivery import as_on_terminal, deliver
    from paribus.lab.results.fleet import fleet_document
    from paribus.lab.store.stores import open_store, read
    from paribus.report import fleet_view
    from paribus.report.render import fleet_markdown, fleet_text

    written_form = Form.JSON if as_json else form_of(Form(form) if form else None, output)
    if written_form not in (Form.TEXT, Form.MARKDOWN, Form.JSON):
        raise UsageError(f"a fleet has no report as {written_form}", "choose text, markdown or json")
    opened = open_store(store)
    found_experiments = [read.find(opened, name) for name in experiments]
    language = Language.EN if written_form is Form.JSON or output is not None else of_environment()
    with speaking(lang or language):
        document = fleet_document(opened, found_experiments)
        if written_form is Form.JSON:
            deliver(visible_json(document.model_dump_json(indent=2)) + "\n", output)
            return
        shown_view = fleet_view.view(document)
        if written_form is Form.MARKDOWN:
            deliver(visible(fleet_markdown.render(shown_view)), output)
        else:
            rendered = functools.partial(fleet_text.render, shown_view)
            deliver(as_on_terminal(rendered, to_file=output is not None), output)
