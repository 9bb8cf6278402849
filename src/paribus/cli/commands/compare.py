"""`paribus compare`: comparison of two experiments."""

from pathlib import Path
from typing import Annotated

import typer

from paribus.cli.options import (
    AsJson,
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

_NAME_HELP = "An id, the start of one, a plan's name, or last."


def compare(
    first: Annotated[
        str, typer.Argument(metavar="FIRST", help=f"What is compared with. {_NAME_HELP}", show_default=False)
    ],
    second: Annotated[
        str, typer.Argument(metavar="SECOND", help=f"What is compared. {_NAME_HELP}", show_default=False)
    ],
    store: StoreUrl = None,
    other_store: Annotated[
        str | None,
        typer.Option("--second-store", metavar="URL", help="The store of the second experiment. Default: --store."),
    ] = None,
    form: FormName = None,
    output: OutputFile = None,
    lang: Lang = None,
    fail_on: FailOn = "",
    as_json: AsJson = False,
) -> None:
    """Compare two experiments: two machines, or before and after.

    Lists first what else differs: machine, versions, held settings, workloads. Then compares the baselines by the
    margins of the first experiment, and says whether the effects agree.

    Example: paribus compare before-upgrade after-upgrade -o upgrade.html
    """
    from paribus.cli.delivery import deliver
    from paribus.cli.texts.comparison import deliver_page, deliver_text
    from paribus.lab.results import comparison
    from paribus.lab.results.conditions import of_comparison
    from paribus.lab.store.stores import open_store, read
    from paribus.report import comparison_view
    from paribus.report.render import junit

    form = form_of(form, output)
    conditions = read_conditions(fail_on)
    stores = [open_store(location) for location in (store, other_store or store)]
    sides = [(opened, read.find(opened, name)) for opened, name in zip(stores, (first, second), strict=True)]
    if as_json or form is Form.JSON:
        document = comparison.compared_document(sides[0], sides[1])
        deliver(visible_json(document.model_dump_json(indent=2)) + "\n", output)
    elif form is Form.JUNIT:
        with speaking(Language.EN):
            document = comparison.compared_document(sides[0], sides[1])
            deliver(visible(junit.of_comparison(document, comparison_view.view(document))), output)
    else:
        if form is Form.HTML and output is None:
            output = Path(f"paribus-{sides[0][1].id}-{sides[1][1].id}.html")
        with speaking(lang or (of_environment() if output is None else Language.EN)):
            document = comparison.compared_document(sides[0], sides[1])
            if form is Form.HTML and output is not None:
                say(f"report: {deliver_page(document, output)}")
            else:
                deliver_text(document, form, output)
    fail_if(conditions, of_comparison(document))
