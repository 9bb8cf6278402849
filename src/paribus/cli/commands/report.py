"""`paribus report`: report of an experiment."""

from pathlib import Path
from typing import Annotated

import typer

from paribus.cli.options import (
    AsJson,
    ExperimentName,
    FailOn,
    Form,
    FormName,
    Lang,
    OutputFile,
    StoreUrl,
    fail_if,
    form_of,
    read_conditions,
)
from paribus.cli.terminal import say, visible, visible_json
from paribus.i18n import Language, of_environment, speaking


def report(
    experiment: ExperimentName = "last",
    form: FormName = None,
    output: OutputFile = None,
    claims: Annotated[
        Path | None,
        typer.Option(metavar="CLAIMS", help="A TOML file of claims, to check against an imported set."),
    ] = None,
    lang: Lang = None,
    store: StoreUrl = None,
    fail_on: FailOn = "",
    as_json: AsJson = False,
) -> None:
    """Show the report of an experiment or of imported results.

    A report of an unfinished experiment shows what is measured so far.

    Example: paribus report last -o report.html
    """
    from paribus.report.charts import chart_worker

    form = form_of(form, output)
    if form is Form.HTML or (form is Form.MARKDOWN and output is not None):
        chart_worker.begin()
    from paribus.cli import delivery
    from paribus.lab.results import reporting
    from paribus.lab.results.conditions import of_judgement
    from paribus.lab.results.imported_reporting import claims_of
    from paribus.lab.store.stores import open_experiment
    from paribus.report.render import junit

    conditions = read_conditions(fail_on)
    opened_store, recorded = open_experiment(store, experiment)
    read_claims = claims_of(recorded, claims)
    if as_json or form is Form.JSON:
        document = reporting.report_document(opened_store, recorded, read_claims)
        delivery.deliver(visible_json(document.model_dump_json(indent=2)) + "\n", output)
    elif form is Form.JUNIT:
        with speaking(Language.EN):
            view = reporting.report_view(opened_store, recorded, read_claims)
        delivery.deliver(visible(junit.of_report(view)), output)
    else:
        if form is Form.HTML and output is None:
            output = Path(f"paribus-{recorded.id}.html")
        # A file is kept and passed on: it does not depend on whose terminal it was written from.
        with speaking(lang or (of_environment() if output is None else Language.EN)):
            view = reporting.report_view(opened_store, recorded, read_claims)
            if form is Form.HTML and output is not None:
                say(f"report: {reporting.write_html(view, output)}")
            elif form is Form.MARKDOWN:
                delivery.deliver(delivery.markdown_text(view, output), output)
            else:
                delivery.deliver(delivery.terminal_text(view, to_file=output is not None), output)
    if conditions:
        fail_if(conditions, of_judgement(reporting.read_and_judge(opened_store, recorded)[1]))
