"""`ceteris status`: the experiments of the store, and what is changed on this machine right now."""

import typer

from ceteris.cli.options import AsJson, StoreUrl


def status(store: StoreUrl = None, as_json: AsJson = False) -> None:
    """List the experiments, and the settings that are changed right now.

    Example: ceteris status
    """
    from rich.console import Console

    from ceteris.cli import overview

    document = overview.document(store)
    if as_json:
        typer.echo(document.model_dump_json(indent=2))
    else:
        overview.show(document, Console(highlight=False))
