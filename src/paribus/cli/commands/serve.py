"""`paribus serve`: web pages of the experiments."""

from pathlib import Path
from typing import Annotated

import typer

from paribus.cli.options import StoreUrl
from paribus.cli.terminal import say
from paribus.i18n import Language


def serve(
    port: Annotated[
        int,
        typer.Option("--port", metavar="N", min=0, max=65535, help="The port; 0 takes any free port."),
    ] = 8321,
    bind: Annotated[
        str,
        typer.Option("--bind", metavar="ADDR", help="The address; one beyond the loopback lets other machines in."),
    ] = "127.0.0.1",
    token_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Use the token in this file, for /metrics; it is made if it does not exist. Default: a new token.",
            show_default=False,
        ),
    ] = None,
    open_: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
    lang: Annotated[
        Language | None,
        typer.Option("--lang", help="The language of the pages. Default: that of each browser, else en."),
    ] = None,
    store: StoreUrl = None,
) -> None:
    """Show experiments in a browser, also while they run.

    Prints a URL with a token; without the token nothing is shown. Ctrl-C ends it. Prometheus reads /metrics with the
    token as its credentials.
    From another machine: ssh -L 8321:localhost:8321 HOST.

    Example: paribus serve --open
    """
    from paribus.cli import browser
    from paribus.lab import status
    from paribus.lab.results import reporting
    from paribus.lab.store.stores import name_of, open_store, store_exists, store_url
    from paribus.web import server, tokens
    from paribus.web.archive import Archive
    from paribus.web.connections.notices import Notices

    token = tokens.of_file(token_file) if token_file else tokens.make()
    url = store_url(store)
    exists = store_exists(url)
    if exists:
        open_store(store).dispose()  # one of another release is told, or brought up to this one
    listening, notices = server.listen(bind, port), Notices()
    if not exists:
        notices.say(f"there is no store at {name_of(url)} yet; the page shows it when a plan is run")
    if listening.is_open:
        warning = (
            f"other machines reach {listening.url}: who has the URL reads all experiments, and it is not encrypted"
        )
        notices.say(f"warning: {warning}; rather use ssh -L {listening.port}:localhost:{listening.port}")
    with browser.redirect_page() as page:

        def show_address(address: str) -> None:
            say(address if token_file is None else f"{listening.url}/?token=…, with the token in {token_file}")
            if open_:
                page.open(address)

        archive = Archive(url, reporting.report_view, status.running_here)
        server.serve(archive, listening, lang, notices, show_address, token)
