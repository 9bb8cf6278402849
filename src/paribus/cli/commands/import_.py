"""`paribus import`: import of measurements by others."""

from pathlib import Path
from typing import Annotated

import typer

from paribus.cli.options import AsJson, StoreUrl
from paribus.cli.terminal import say_json


def _formats(incomplete: str) -> list[str]:
    from paribus.lab.store.importing import FORMATS

    return [name for name in FORMATS if name.startswith(incomplete)]


def _sets(incomplete: str) -> list[str]:
    from paribus.errors import ParibusError
    from paribus.lab.store.stores import imported_set_ids

    try:
        return [name for name in imported_set_ids() if name.startswith(incomplete)]
    except ParibusError:
        return []


def import_(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE…", help="Logs and tables, folders and archives.", show_default=False),
    ],
    factor: Annotated[
        str, typer.Option(metavar="NAME", help="The factor, for example scheduler.", show_default=False)
    ] = "",
    level: Annotated[
        str, typer.Option(metavar="VALUE", help="The level of the factor in these files.", show_default=False)
    ] = "",
    rules: Annotated[
        Path | None,
        typer.Option("--map", metavar="RULES", help="A TOML file: expressions over paths and options give levels."),
    ] = None,
    name: Annotated[
        str,
        typer.Option(metavar="NAME", help="Name of the set; a set of that name is extended.", show_default=False),
    ] = "",
    into: Annotated[
        str,
        typer.Option(metavar="SET", help="Add to this set: its id or name.", autocompletion=_sets, show_default=False),
    ] = "",
    baseline: Annotated[
        str,
        typer.Option(metavar="VALUE", help="The level to compare others with. Default: the first.", show_default=False),
    ] = "",
    form: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="Read files in this format. Default: recognised by content.",
            autocompletion=_formats,
            show_default=False,
        ),
    ] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be imported; store nothing.")] = False,
    store: StoreUrl = None,
    as_json: AsJson = False,
) -> None:
    """Import logs and tables of sysbench, fio and other tools.

    Formats are recognised by content. Files are kept with their hash, without passwords; the same bytes count once.
    Lines that no reader understands are listed. Each call adds a level to the set of its name.

    Example: paribus import logs/*.log --factor scheduler --level noop

    Example: paribus import logs/ --map rules.toml --dry-run
    """
    from paribus.cli.console import VisibleConsole
    from paribus.cli.import_progress import ImportProgress
    from paribus.cli.texts.importing import show
    from paribus.errors import ParibusError
    from paribus.lab.store import importing

    names = [str(path) for path in files]
    request = importing.import_request(names, factor, level, rules, name=name, baseline=baseline, file_format=form)
    with ImportProgress(VisibleConsole(stderr=True), len(request.items)) as progress:
        document = importing.import_files(
            request, store, into=into, dry_run=dry_run, every_file=as_json, on_file=progress.advance
        )
    if as_json:
        say_json(document.model_dump_json(indent=2))
    else:
        show(document, VisibleConsole(highlight=False))
    importing.refuse_empty_import(document)
    if any(file.refused and not file.walked for file in document.files):
        raise typer.Exit(ParibusError.exit_code)
