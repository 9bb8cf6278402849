"""`paribus sandbox`: virtual machines to try storage layouts in."""

from typing import Annotated

import typer

from paribus.cli.carrying_out import CourseOptions, carry_out, with_course_options
from paribus.cli.options import AsJson, Overrides, PlanFile, read_overrides
from paribus.cli.terminal import report_line, say, say_json

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


def _names(incomplete: str) -> list[str]:
    from paribus.lab.sandboxing import status

    return [each.name for each in status().sandboxes if each.name.startswith(incomplete)]


Name = Annotated[str, typer.Argument(metavar="[NAME]", help="The sandbox.", autocompletion=_names, show_default=True)]


@app.callback()
def sandbox() -> None:
    """Try layouts and settings in a virtual machine with disks made of files.

    Nothing of this machine is at risk, and no root is needed. Times measured in a sandbox are not those of a machine.

    Example: paribus sandbox up --disk ssd:2GiB:count=4,iops=8000
    """


@app.command("up")
def up(
    name: Name = "lab",
    disk: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME:SIZE[:KEY=VALUE,…]",
            help="Disks, with count, bus (virtio, scsi, nvme), iops, bandwidth and latency. Repeatable. "
            "Default: ssd:1GiB:count=4, or those it has.",
        ),
    ] = None,
    cores: Annotated[int, typer.Option(help="Processors.", min=1, max=64)] = 2,
    nodes: Annotated[int, typer.Option(help="NUMA nodes.", min=1, max=8)] = 1,
    memory: Annotated[str, typer.Option(metavar="SIZE", help="Memory.")] = "1GiB",
    package: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PACKAGE",
            help="Also installed there: mariadb-server, postgresql, sysbench or fio. Repeatable.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make a sandbox and switch it on; one that exists keeps its disks.

    The first one takes some minutes: its system is made from Debian's packages.

    Example: paribus sandbox up --disk ssd:2GiB:count=4,iops=8000 --disk sas:4GiB:count=2,bus=scsi,latency=5ms
    """
    from paribus.lab import sandboxing

    ordered = None
    if disk or package or not sandboxing.exists(name):
        ordered = sandboxing.specification(disk or (), cores=cores, nodes=nodes, memory=memory, packages=package or ())
    document = sandboxing.up(name, ordered, report_line)
    if as_json:
        say_json(document.model_dump_json(indent=2))
        return
    for each in document.sandboxes:
        say(f"{each.name} is on; name it in a plan or with --target: {each.address}")
        if each.emulated:
            say("KVM does not work here, so its processors are emulated: times measured there mean nothing")


@app.command("run")
@with_course_options
def run_in_sandbox(
    plan_file: PlanFile,
    overrides: Overrides = None,
    keep: Annotated[bool, typer.Option("--keep", help="Do not remove the sandbox at the end.")] = False,
    *,
    options: CourseOptions,
) -> None:
    """Make the sandbox of a plan's [sandbox] table, run the plan in it, and remove it.

    It stays where the experiment was interrupted or failed.

    Example: paribus sandbox run examples/layouts.toml
    """
    from paribus.lab import sandboxing
    from paribus.lab.running import started

    settings = read_overrides(overrides)
    name, ordered = sandboxing.of_plan(plan_file, settings)
    [made] = sandboxing.up(name, ordered, report_line).sandboxes
    in_sandbox = settings | {"target.host": made.address}
    try:
        with started(str(plan_file), in_sandbox, options.store, report_line, options.admission) as session:
            carry_out(session, options)
    except typer.Exit:  # the experiment ended, and a condition of the command line holds
        _remove(name, made.address, keep=keep)
        raise
    _remove(name, made.address, keep=keep)


def _remove(name: str, address: str, *, keep: bool) -> None:
    """Remove the sandbox of an experiment that has ended, or print how to."""
    from paribus.lab import sandboxing

    if keep:
        report_line(f"{name} is still on: {address}; remove it: paribus sandbox down {name}")
    else:
        sandboxing.down(name)


@app.command("status")
def status(as_json: AsJson = False) -> None:
    """List the sandboxes and their disks.

    Example: paribus sandbox status
    """
    from paribus.cli.console import VisibleConsole
    from paribus.cli.texts.sandbox import show
    from paribus.lab import sandboxing

    document = sandboxing.status()
    if as_json:
        say_json(document.model_dump_json(indent=2))
    else:
        show(document, VisibleConsole(highlight=False))


@app.command("power-cut")
def power_cut(name: Name = "lab") -> None:
    """End a sandbox as a power cut does; `up` switches it on again.

    Example: paribus sandbox power-cut
    """
    from paribus.lab import sandboxing

    sandboxing.cut_power(name)
    say(f"{name} is off; switch it on again: paribus sandbox up {name}")


@app.command("fail-disk")
def fail_disk(
    serial: Annotated[str, typer.Argument(help="The serial of the disk, such as ssd-1.", show_default=False)],
    name: Name = "lab",
) -> None:
    """Take a disk away from a running sandbox; it is back when the sandbox is switched on the next time.

    Example: paribus sandbox fail-disk ssd-1
    """
    from paribus.lab import sandboxing

    sandboxing.fail_disk(name, serial)
    say(f"{serial} is gone from {name} until its next start")


@app.command("down")
def down(name: Name = "lab") -> None:
    """Switch a sandbox off, and remove it with all that is on its disks.

    Example: paribus sandbox down
    """
    from paribus.lab import sandboxing

    sandboxing.down(name)
    say(f"{name} is removed")
