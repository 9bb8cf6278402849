"""`paribus fleet`: one question on several machines."""

import contextlib
import functools
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from paribus.cli.options import (
    Anyway,
    AsJson,
    Become,
    Form,
    Lang,
    Limit,
    NoReport,
    Overrides,
    PlanFile,
    Quiet,
    StoreUrl,
    Verbose,
    Wait,
    experiment_names,
    form_of,
    read_limit,
    read_overrides,
    refuse_together,
)
from paribus.cli.terminal import confirmed, report_line, say, say_json, visible, visible_json
from paribus.errors import UsageError
from paribus.i18n import Language, of_environment, speaking

if TYPE_CHECKING:
    from paribus.lab.fleet.fleet_documents import FleetCheckDocument, FleetRunDocument
    from paribus.lab.fleet.running import Fleet

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


class FleetForm(StrEnum):
    """The forms of a report on several machines."""

    TEXT = "text"
    MARKDOWN = "markdown"
    HTML = "html"
    JSON = "json"


@app.callback()
def fleet() -> None:
    """Run a plan on several machines, and take their experiments together.

    Example: paribus fleet run plan.toml --hosts hosts.toml
    """


HostsFile = Annotated[
    Path,
    typer.Option(
        "--hosts",
        metavar="FILE",
        help="The machines: TOML with a table hosts, or an inventory of Ansible.",
        show_default=False,
    ),
]
AtOnce = Annotated[
    int | None,
    typer.Option(
        "--at-once",
        min=1,
        metavar="N",
        help="Machines that are measured at the same time. Default: up to 16; never two with one load host.",
    ),
]
Anew = Annotated[
    bool, typer.Option("--anew", help="Begin again on machines that the store has an experiment of this plan for.")
]


@app.command("check")
def check(
    plan_file: PlanFile,
    hosts: HostsFile,
    overrides: Overrides = None,
    limit: Limit = None,
    at_once: AtOnce = None,
    anew: Anew = False,
    store: StoreUrl = None,
    as_json: AsJson = False,
) -> None:
    """Check a plan against every machine of a fleet; change nothing.

    Names every machine on which the plan cannot run, with the reason, and the time that all take together. Ends with
    exit code 2 where there is one.

    Example: paribus fleet check plan.toml --hosts hosts.toml
    """
    from paribus.cli.texts import fleet as fleet_text

    fleet = _fleet(plan_file, hosts, overrides, limit, at_once, store, anew=anew)
    document = fleet.check(report_line)
    if as_json:
        say_json(document.model_dump_json(indent=2))
    else:
        fleet_text.show_check(document)
    if _refused(document):
        raise typer.Exit(UsageError.exit_code)


@app.command("run")
def run(
    plan_file: PlanFile,
    hosts: HostsFile,
    overrides: Overrides = None,
    limit: Limit = None,
    at_once: AtOnce = None,
    anew: Anew = False,
    skip_refused: Annotated[
        bool,
        typer.Option("--skip-refused", help="Leave machines out that the check refuses, and run on the others."),
    ] = False,
    store: StoreUrl = None,
    no_report: NoReport = False,
    wait: Wait = False,
    anyway: Anyway = False,
    verbose: Verbose = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Run a plan on every machine of a fleet, and restore them.

    The plan is checked on all machines first. Ctrl-C stops all and restores them. The same command continues: it
    leaves out machines that are done. At the end it shows the effects over the machines.

    Example: paribus fleet run plan.toml --hosts hosts.toml --at-once 4
    """
    from paribus.cli.signals import StopRequest
    from paribus.cli.texts import fleet as fleet_text

    refuse_together({"--verbose": verbose, "--quiet": quiet})
    refuse_together({"--wait": wait, "--anyway": anyway})
    fleet = _fleet(plan_file, hosts, overrides, limit, at_once, store, anew=anew)
    checked = fleet.check(report_line, beside_others=wait or anyway)
    refused = len(_refused(checked))
    if not quiet or refused:
        fleet_text.show_check(checked, err=True)
    if refused == len(checked.machines) or (refused and not skip_refused):
        message = f"the check refused {refused} of {len(checked.machines)} machines; nothing was begun"
        raise UsageError(message, "remove the causes above, or leave these machines out with --skip-refused")
    stop = StopRequest()
    stop.listen()
    flags = {"--no-report": no_report, "--wait": wait, "--anyway": anyway, "--verbose": verbose, "--quiet": quiet}
    options = [name for name, is_given in flags.items() if is_given]
    document = fleet.run(checked, options, _report_progress, stop.is_requested)
    if as_json:
        say_json(document.model_dump_json(indent=2))
    else:
        fleet_text.show_run(document, store)
    raise typer.Exit(_exit_code(document))


def _fleet(
    plan_file: Path,
    hosts: Path,
    overrides: list[str] | None,
    limit: str | None,
    at_once: int | None,
    store: str | None,
    *,
    anew: bool,
) -> "Fleet":
    """The plan with its machines. Raises UsageError, PlanError and StoreError."""
    from paribus.lab.fleet.inventory import read_inventory
    from paribus.lab.fleet.running import Fleet

    machines = read_inventory(hosts, read_limit(limit))
    return Fleet.of(str(plan_file), read_overrides(overrides), machines, store, at_once, anew=anew)


def _report_progress(line: str) -> None:
    """Print a line of a machine on stderr; a terminal that is gone stops no work."""
    with contextlib.suppress(OSError):
        say(line, err=True)


def _refused(document: "FleetCheckDocument") -> list[str]:
    return [machine.machine for machine in document.machines if machine.state == "refused"]


def _exit_code(document: "FleetRunDocument") -> int:
    """The code of the worst end: a setting left, an error, an interruption; a used-up budget is none."""
    from paribus.errors import Interrupted, NotRestored, ParibusError

    states = {each.state for each in document.machines if not (each.state == "interrupted" and each.problem)}
    if any(machine.is_unrestored for machine in document.machines):
        return NotRestored.exit_code
    if "failed" in states:
        return ParibusError.exit_code
    return Interrupted.exit_code if states & {"interrupted", "not begun"} else 0


@app.command("apply")
def apply(
    experiment: Annotated[
        str,
        typer.Argument(
            metavar="EXPERIMENT",
            help="The one whose advice is set: an id, the start of an id, a plan's name, or last.",
            autocompletion=experiment_names,
            show_default=False,
        ),
    ],
    hosts: HostsFile,
    limit: Limit = None,
    factor: Annotated[
        str, typer.Option(metavar="KEY", help="Set only this factor. Default: all that are better.", show_default=False)
    ] = "",
    canary: Annotated[
        str, typer.Option(metavar="N", help="Machines that are set first: a number, or a share such as 5%.")
    ] = "5%",
    pause: Annotated[
        str,
        typer.Option(
            metavar="TIME",
            help="Wait so long after the first machines, such as 30min, and read them again.",
            show_default=False,
        ),
    ] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be set; change nothing.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Set without asking.")] = False,
    skip_refused: Annotated[
        bool, typer.Option("--skip-refused", help="Leave out machines that cannot be set, and set the others.")
    ] = False,
    anyway: Annotated[
        bool, typer.Option("--anyway", help="Set them also on machines of another kind than the measured one.")
    ] = False,
    at_once: Annotated[
        int, typer.Option("--at-once", min=1, metavar="N", help="Machines that are set at the same time.")
    ] = 16,
    become: Become = False,
    store: StoreUrl = None,
    as_json: AsJson = False,
) -> None:
    """Set what an experiment has shown to be better on every machine of a fleet, by stages.

    Reads all machines first. Then it sets a few, reads them back, and sets the others only where these are in force.
    The same command continues: it leaves out what is in force. paribus undo --target takes a machine back.

    Example: paribus fleet apply last --hosts hosts.toml --canary 2 --pause 30min
    """
    from paribus.cli.signals import StopRequest
    from paribus.cli.texts import rollout as rollout_text
    from paribus.errors import Interrupted, NotRestored, ParibusError
    from paribus.lab.fleet.inventory import read_inventory
    from paribus.lab.rollout.change import change_of
    from paribus.lab.rollout.fleet_rollout import Rollout, RolloutState, read_canary, read_pause
    from paribus.lab.rollout.other_machine import refuse_running_server
    from paribus.lab.store.stores import open_experiment, read

    if as_json and not (yes or dry_run):
        raise UsageError("--json cannot ask for confirmation", "add --dry-run, or --yes")
    machines, pause_s = read_inventory(hosts, read_limit(limit)), read_pause(pause)
    change = change_of(experiment, store, factor)  # refused once, and not by each machine
    opened, recorded = open_experiment(store, change.experiment)
    plan = read.plan(opened, recorded.id)
    refuse_running_server(plan, recorded.id)
    rollout = Rollout(
        experiment=recorded.id,
        hosts=machines,
        canary=read_canary(canary),
        factor=factor,
        store=store,
        at_once=at_once,
        anyway=anyway,
        become=become or plan.target.become,
    )
    checked = rollout.check()
    if not as_json or not dry_run:
        rollout_text.show_check(checked, change, err=as_json)
    refused, ready = checked.named(RolloutState.REFUSED), checked.named(RolloutState.READY)
    if dry_run or not ready:
        if as_json:
            say_json(checked.model_dump_json(indent=2))
        raise typer.Exit(UsageError.exit_code if refused and not skip_refused else 0)
    if refused and not skip_refused:
        message = f"{len(refused)} of {len(machines)} machines cannot be set; nothing was changed"
        raise UsageError(message, "remove the causes above, or leave these machines out with --skip-refused")
    how = f"on {len(ready)} machines, and leave them so"
    if not (yes or confirmed("make these settings", how, "add --yes to apply, or --dry-run to only see them")):
        say("nothing was set")
        return
    stop = StopRequest()
    stop.listen()
    document = rollout.run(checked, pause_s, _report_progress, stop.is_requested)
    if as_json:
        say_json(document.model_dump_json(indent=2))
    else:
        rollout_text.show_end(document, hosts)
    if any(machine.is_unrestored for machine in document.machines):
        raise typer.Exit(NotRestored.exit_code)
    if document.named(RolloutState.FAILED):
        raise typer.Exit(ParibusError.exit_code)
    raise typer.Exit(Interrupted.exit_code if document.named(RolloutState.NOT_BEGUN) else 0)


@app.command("undo")
def undo(
    hosts: HostsFile,
    limit: Limit = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be restored; change nothing.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Restore without asking.")] = False,
    at_once: Annotated[
        int, typer.Option("--at-once", min=1, metavar="N", help="Machines that are restored at the same time.")
    ] = 16,
    become: Become = False,
    as_json: AsJson = False,
) -> None:
    """Restore every machine of a fleet, as paribus undo does one.

    Settings that interrupted experiments changed come first; where there are none, what paribus apply has set. Reads
    all machines, shows what they get back, and asks. A machine that cannot be restored keeps no other from it; it is
    named, and the exit code is then 4.

    Example: paribus fleet undo --hosts hosts.toml --dry-run
    """
    from paribus.cli.signals import StopRequest
    from paribus.cli.texts import rollout as rollout_text
    from paribus.errors import Interrupted, NotRestored
    from paribus.lab.fleet.inventory import read_inventory
    from paribus.lab.rollout.fleet_undo import FleetUndo, UndoState

    if as_json and not (yes or dry_run):
        raise UsageError("--json cannot ask for confirmation", "add --dry-run, or --yes")
    restoration = FleetUndo(read_inventory(hosts, read_limit(limit)), at_once, become)
    document = restoration.check()
    if not as_json:
        rollout_text.show_undo(document)
    changed = [machine for machine in document.machines if machine.is_open]
    if changed and not dry_run:
        how = f"on {len(changed)} {'machine' if len(changed) == 1 else 'machines'}"
        if yes or confirmed("restore", how, "add --yes to restore, or --dry-run to only see it"):
            stop = StopRequest()
            stop.listen()
            checked, document = document, restoration.run(document, _report_progress, stop.is_requested)
            if not as_json:
                rollout_text.show_undone(checked, document)
        else:
            say("nothing was restored")
    if as_json:
        say_json(document.model_dump_json(indent=2))
    if document.named(UndoState.FAILED):
        raise typer.Exit(NotRestored.exit_code)
    raise typer.Exit(Interrupted.exit_code if document.named(UndoState.NOT_BEGUN) else 0)


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
    from paribus.lab.fleet.reporting import fleet_document
    from paribus.lab.results.reporting import write_page
    from paribus.lab.store.stores import open_store, read
    from paribus.report import fleet_view
    from paribus.report.render import fleet_html, fleet_markdown, fleet_text

    written_form = Form.JSON if as_json else form_of(Form(form) if form else None, output)
    if written_form not in map(Form, FleetForm):
        raise UsageError(f"a fleet has no report as {written_form}", f"choose one of: {', '.join(FleetForm)}")
    if written_form is Form.HTML and output is None:
        output = Path("paribus-fleet.html")
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
        elif written_form is Form.HTML and output is not None:
            say(f"report: {write_page(fleet_html.render(shown_view), output)}")
        else:
            rendered = functools.partial(fleet_text.render, shown_view)
            deliver(as_on_terminal(rendered, to_file=output is not None), output)
