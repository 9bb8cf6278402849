"""`paribus run`: carry out a plan."""

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from paribus.cli.options import AsJson, Overrides, PlanFile, StoreUrl, read_overrides
from paribus.cli.terminal import say_json

if TYPE_CHECKING:
    from sqlalchemy.engine import Engine as Store

    from paribus.model import Experiment, Plan
    from paribus.trial.target_session import Site

ReportFile = Annotated[
    Path | None,
    typer.Option("--report", metavar="FILE", help="Where the HTML report goes. Default: reports/ beside the store."),
]


def run(
    plan_file: PlanFile,
    overrides: Overrides = None,
    store: StoreUrl = None,
    report_file: ReportFile = None,
    as_json: AsJson = False,
) -> None:
    """Carry out a plan: try its settings in turn, put the machine back, and say what is better.

    Ctrl-C stops it at any point: the machine is put back, what was measured is kept, and resume goes on.

    Example: paribus run examples/first.toml
    """
    from paribus import __version__
    from paribus.cli import target
    from paribus.experiment import walk
    from paribus.plan.parse import parse, read_file
    from paribus.store.open import open_engine, store_url

    parsed = parse(str(plan_file), read_file(str(plan_file)), read_overrides(overrides))
    with target.site_of(parsed) as site:
        site.refuse_open_journals()  # first: what a plan calls "current" must not be what a crash left behind
        plan, facts = target.checked(site, parsed)
        url = store_url(store)
        if plan.target.is_local:
            refuse_store_in_data(url, plan)
        opened = open_engine(url, create=True)
        versions = {"paribus": __version__}
        begun = walk.begin(plan, parsed.overrides, facts.fingerprint, versions, opened)
        carry_out(begun, opened, site, report_file, as_json=as_json)


def refuse_store_in_data(url: str, plan: "Plan") -> None:
    """A store among the data under test would be part of the load. Raises UsageError."""
    from paribus.errors import UsageError
    from paribus.store.open import file_of
    from paribus.trial.target_session import DATA_FOLDER

    file = file_of(url)
    data = Path(plan.target.path) / DATA_FOLDER
    if file is not None and data in file.absolute().parents:
        raise UsageError(f"the store {file} lies in the data under test", "name another with --store")


def carry_out(begun: "Experiment", store: "Store", site: "Site", report_file: Path | None, *, as_json: bool) -> None:
    """Run or resume an experiment before a person's eyes, and end with its verdicts."""
    from paribus.cli import reporting
    from paribus.cli.console import VisibleConsole
    from paribus.cli.progress import Watch
    from paribus.cli.signals import StopRequest
    from paribus.experiment import walk
    from paribus.report.render import text
    from paribus.store import read
    from paribus.store.open import file_of

    stop = StopRequest()
    stop.listen()
    words = VisibleConsole(stderr=True, highlight=False)
    with Watch(words) as watch:
        watch.on_notes([f"experiment {begun.id} ({begun.name})", *(f"note: {note}" for note in begun.notes)])
        walk.carry_out(begun, store, site, watch, stop.asked)
    stop.release("stopped before the report was written; all is measured", f"write it with: paribus report {begun.id}")
    found = walk.judge(begun, store)
    ended = read.find(store, begun.id)
    seen = reporting.report_view(store, ended)
    file = file_of(store.url.render_as_string())
    place = report_file or (file.parent / "reports" if file else Path()) / f"{begun.id}.html"
    with contextlib.suppress(OSError):  # which writing tells of
        place.parent.mkdir(parents=True, exist_ok=True)
    written = reporting.write_html(seen, place)  # first: it is there whoever reads what follows
    if as_json:
        say_json(reporting.report_document(store, ended).model_dump_json(indent=2))
    else:
        console = VisibleConsole(highlight=False)
        console.print()
        text.conclusions(seen, console)
        console.print(f"\nreport: {written}", markup=False, soft_wrap=True)
    raise typer.Exit(reporting.exit_code(found))
