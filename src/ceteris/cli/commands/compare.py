"""`ceteris compare`: two experiments beside each other."""

from typing import Annotated

import typer

from ceteris.cli.options import AsJson, Lang, StoreUrl
from ceteris.language import of_environment, speaking

Named = "An id, the start of one, a plan's name, or last."


def compare(
    first: Annotated[str, typer.Argument(metavar="FIRST", help=f"What is compared with. {Named}", show_default=False)],
    second: Annotated[str, typer.Argument(metavar="SECOND", help=f"What is compared. {Named}", show_default=False)],
    store: StoreUrl = None,
    other_store: Annotated[
        str | None,
        typer.Option("--second-store", metavar="URL", help="The store of the second experiment, where it is another."),
    ] = None,
    lang: Lang = None,
    as_json: AsJson = False,
) -> None:
    """Compare two experiments: two machines, or one before and after a change.

    What else differed is listed first: machine, versions, settings held, workloads. Then follow what the baselines do
    in each, judged by the same margins, and whether the effects are alike.

    Example: ceteris compare before-upgrade after-upgrade
    """
    from rich.console import Console

    from ceteris.cli import conclude
    from ceteris.report import compared
    from ceteris.store import read
    from ceteris.store.open import open_engine, store_url

    stores = [open_engine(store_url(url), create=False) for url in (store, other_store or store)]
    sides = [(opened, read.find(opened, name)) for opened, name in zip(stores, (first, second), strict=True)]
    if as_json:
        typer.echo(conclude.compared_document(sides[0], sides[1]).model_dump_json(indent=2))
        return
    with speaking(lang or of_environment()):
        compared.show(conclude.compared_document(sides[0], sides[1]), Console(highlight=False))
