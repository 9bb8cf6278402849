"""`paribus knobs`: knobs, their definitions and their values."""

from pathlib import Path
from typing import Annotated

import typer

from paribus.cli.options import AsJson, knob_names
from paribus.cli.terminal import say, say_json

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


Name = Annotated[
    str, typer.Argument(help="A knob, such as block.scheduler.", autocompletion=knob_names, show_default=False)
]


@app.callback()
def knobs() -> None:
    """List, explain and read the knobs of this machine.

    Example: paribus knobs get block.scheduler --device /dev/sda
    """


@app.command("list")
def list_knobs(as_json: AsJson = False) -> None:
    """List every knob.

    The variables of a database are not listed: paribus knobs show mysql.NAME asks a server for one.

    Example: paribus knobs list
    """
    import dataclasses
    import json

    from paribus.lab.machine.knob_queries import VARIABLE_FAMILIES, catalogue

    if as_json:
        say_json(json.dumps([dataclasses.asdict(knob) for knob in catalogue()], indent=2))
        return
    width = max(len(knob.name) for knob in catalogue())
    for knob in catalogue():
        say(f"{knob.name:<{width}}  {knob.summary}")
    for family, members in VARIABLE_FAMILIES.items():
        say(f"{family:<{width}}  {members}")


@app.command("show")
def show(
    name: Name,
    kind: Annotated[
        str, typer.Option(help="The server asked for mysql.* and postgres.*: mariadb, mysql, percona, postgres.")
    ] = "",
    path: Annotated[str, typer.Option(help="The folder for that server, which its user must be able to enter.")] = (
        "/var/tmp"  # noqa: S108  in a folder of its own
    ),
) -> None:
    """Explain one knob.

    Example: paribus knobs show mysql.innodb_io_capacity
    """
    from paribus.lab.machine.knob_queries import DANGERS, PROVED, find, kernels_of

    knob = find(name, kind, path)
    say(f"{knob.name}: {knob.summary}\n\n  {knob.documentation}\n")
    bounds = [f"{word} {bound}" for word, bound in (("from", knob.minimum), ("to", knob.maximum)) if bound is not None]
    levels = ", ".join(str(value) for value in knob.allowed) or " ".join(bounds) or "asked from the machine"
    unit = f" {knob.unit}" if knob.unit else ""
    rows = {
        "values": levels + unit,
        "lies at": ", ".join([*knob.addresses, *knob.elsewhere]),
        "takes effect": knob.takes_effect,
        "file systems": ", ".join(knob.filesystems).replace("*", "all"),
        "unmounts": ", ".join(knob.unmounts),
        "gone": "; ".join(knob.gone.values()),
        "danger": DANGERS.get(knob.danger, knob.danger),
        "proved on": PROVED.get(knob.proved, knob.proved),
        "kernels": kernels_of(knob).removeprefix("kernels "),
        "also moves": ", ".join(knob.resets),
        "acts through": ", ".join(knob.needs),
        "other names": ", ".join(knob.aliases),
        "modules": ", ".join(f"{value} needs {module}" for value, module in knob.modules.items()),
        "old values": ", ".join(f"{old} is now {new}" for old, new in knob.renamed.items()),
    }
    for title, value in rows.items():
        if value:
            say(f"  {title:<13} {value}")


@app.command("get")
def get(
    name: Name,
    device: Annotated[
        str | None, typer.Option(help="The disk of a block.* knob. Default: the one under this folder.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print the value of a knob, and the values that this machine offers.

    Example: paribus knobs get block.scheduler --device /dev/sda
    """
    import json

    from paribus.lab.machine.knob_queries import read_here

    reading = read_here(name, device)
    if as_json:
        say_json(
            json.dumps(
                {
                    "knob": reading.knob,
                    "device": reading.device,
                    "value": reading.value,
                    "allowed": list(reading.allowed),
                }
            )
        )
    else:
        offered = f"  (offered: {', '.join(map(str, reading.allowed))})" if reading.allowed else ""
        say(f"{reading.knob} = {reading.value}{offered}")


@app.command("check")
def check(
    file: Annotated[Path, typer.Argument(help="A TOML file with knobs of your own.", show_default=False)],
    device: Annotated[
        str | None, typer.Option(help="The disk that {device} stands for. Default: the one under this folder.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Try rows of your own: read each, set another level of a knob, read it back, restore it.

    Every change is journalled. It ends with exit code 1 where a row is wrong.

    Example: sudo paribus knobs check knobs/raid.toml
    """
    from paribus.lab.machine.own_knobs_check import try_rows

    document = try_rows(file, device)
    if as_json:
        say_json(document.model_dump_json(indent=2))
    else:
        for trial in document.knobs:
            steps = " → ".join(step for step in (trial.before, trial.observed, trial.after) if step is not None)
            say(f"{trial.knob}: {steps or 'not read'}: {trial.problem or 'is read, set and restored'}")
        if not document.knobs and not document.health:
            say(f"{file}: no row is of a disk that is here")
        for row in document.health:
            say(f"{row.name}: {row.state or 'not read'}: {row.problem or 'a trial would count now'}")
    if any(trial.problem for trial in document.knobs) or any(row.state is None for row in document.health):
        raise typer.Exit(1)
