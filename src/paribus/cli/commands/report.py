"""`paribus report`: what an experiment showed."""

from pathlib import Path
from typing import Annotated

import typer

from paribus.cli.options import AsJson, ExperimentName, Form, FormName, Lang, OutputFile, StoreUrl
from paribus.cli.terminal import say, visible_json
from paribus.i18n import Language, of_environment, speaking


def report(
    experiment: ExperimentName = "last",
    form: FormName = Form.TEXT,
    output: OutputFile = None,
    claims: Annotated[
        Path | None,
        typer.Option(metavar="CLAIMS", help="A TOML file of claims, set beside the numbers of an imported set."),
    ] = None,
    lang: Lang = None,
    store: StoreUrl = None,
    as_json: AsJson = False,
) -> None:
    """Show what an experiment showed, finished or not, or what was imported.

    Example: paribus report last --format html -o report.html
    """
    from paribus.report.render import chart_worker

    if form is Form.HTML or (form is Form.MARKDOWN and output is not None):
        chart_worker.begin()
    from paribus.cli import delivery
    from paribus.lab import reporting
    from paribus.lab.imported_reporting import claims_of
    from paribus.lab.stores import open_experiment

    opened, found = open_experiment(store, experiment)
    said = claims_of(found, claims)
    if as_json or form is Form.JSON:
        document = reporting.report_document(opened, found, said)
        delivery.deliver(visible_json(document.model_dump_json(indent=2)) + "\n", output)
        return
    if form is Form.HTML and output is None:
        output = Path(f"paribus-{found.id}.html")
    # A file is kept and passed on: it does not depend on whose terminal it was written from.
    with speaking(lang or (of_environment() if output is None else Language.EN)):
        seen = reporting.report_view(opened, found, said)
        if form is Form.HTML and output is not None:
            say(f"report: {reporting.write_html(seen, output)}")
        elif form is Form.MARKDOWN:
            delivery.deliver(delivery.markdown_text(seen, output), output)
        else:
            delivery.deliver(delivery.terminal_text(seen, to_file=output is not None), output)
