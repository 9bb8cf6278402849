"""The document of `paribus check` as text."""

import math

from rich.console import Console
from rich.text import Text

from paribus.cli import server_data_text
from paribus.lab.checking import CheckDocument
from paribus.model import Purpose
from paribus.units import LoadLevel, show_duration, show_size


def show(found: CheckDocument, console: Console, *, every_block: bool) -> None:
    """Print the document for a person."""
    console.print(Text(found.plan, "bold") + Text(f": {found.question}" if found.question else ""))
    console.print(f"  data under {found.path}, device {found.device or 'none'}", markup=False)
    size = show_size(found.data_bytes)
    fits = "fits into" if found.data_bytes < found.memory_bytes else "exceeds"
    console.print(f"  data of {size}, which {fits} memory ({show_size(found.memory_bytes)})", markup=False)
    for place, made in found.made_bytes.items():
        console.print(
            f"  making the data writes {show_size(made)} to {place}; the load's own writes come on top", markup=False
        )
    for line in server_data_text.lines(found.server_data, found.on_server):
        console.print(f"  {line}", markup=False)
    for first in found.preconditioning:
        fills = "1 fill" if first.fills == 1 else f"{first.fills} fills"
        writes = f"preconditioning {first.workload} writes at least {show_size(first.least_bytes)} to {first.place}"
        console.print(f"  {writes}: {fills}, then at random", markup=False)
    if found.in_page_cache:
        names = ", ".join(found.in_page_cache)
        console.print(
            f"  without direct, the page cache will hold the data of {names}: a disk is not measured", markup=False
        )
    for note in found.notes:
        console.print(f"  note: {note}", markup=False)
    if found.commands:
        console.print("\nSettings, each with its undo:")
        for command in found.commands:
            console.print(
                f"  {command.setting}\n    set:  {command.command}\n    undo: {command.undo}",
                markup=False,
                soft_wrap=True,
            )
    for tool in found.tools:
        console.print(f"\nThe load of {tool.workload} is made by:", markup=False)
        for argv in tool.commands:
            console.print(f"  {argv}", markup=False, soft_wrap=True)
    if found.also_moved:
        console.print("\nThe kernel moves these by itself; they are held, and put back too:")
        console.print("  " + ", ".join(found.also_moved), markup=False)
    if every_block:
        console.print("\nBlocks in order (round, workload, load level: arms in order):")
        for block in found.blocks:
            tried = f"{block.factor}: {' → '.join(block.arms)}" if block.factor else "the baseline"
            tried = f"{tried}, how it settles" if block.purpose is Purpose.CALIBRATE else tried
            loads = ", ".join(str(LoadLevel(load, block.load_unit)) for load in block.loads)
            place = f"round {block.round}  {block.workload} at {loads}"
            console.print(f"  {block.number:>4}  {place}:  {tried}", markup=False)
    _show_cost(found, console)


def _show_cost(found: CheckDocument, console: Console) -> None:
    """The time it takes, and what can be shown in it."""
    blocks = f"{found.trials} trials in {len(found.blocks)} blocks and {found.rounds} rounds"
    console.print(f"\n{blocks}, about {show_duration(found.duration_s)}")
    if found.in_flight:
        console.print(f"Changed while the load goes on: {', '.join(found.in_flight)}.", markup=False)
    for plot in found.split_plots:
        takes = f"Applying {plot.factor} takes about {show_duration(plot.apply_s)}"
        console.print(f"{takes}: each application holds for {plot.trials} trials, which count as one.", markup=False)
    for screen in found.screens:
        tried = f"Under {screen.workload}, {len(screen.factors)} factors are tried in the same trials"
        then = f"What shows an effect is then tried alone, at least {show_duration(screen.confirming_s)} each"
        room = f"{show_duration(screen.left_s)} are left for that"
        short = ": raise the budget, or what it shows stays suspect" if screen.left_s < screen.confirming_s else ""
        console.print(f"{tried}: {', '.join(screen.factors)}.\n  {then}; {room}{short}.", markup=False)
    if found.preconditioning:
        filled = show_size(sum(first.least_bytes for first in found.preconditioning))
        most = show_duration(sum(first.most_s for first in found.preconditioning))
        console.print(
            f"Before that, beside the budget: preconditioning, {filled} in order, then at most {most} at random."
        )
    if found.settle_runs:
        console.print(f"First, {found.settle_runs} long runs show how long the load takes to settle.")
    if found.noise_rounds:
        rounds = "a round" if found.noise_rounds == 1 else f"{found.noise_rounds} rounds"
        first = "Then" if found.settle_runs else "First"
        console.print(
            f"{first}, in {rounds}, the baseline is compared with itself: this machine's noise is not known yet."
        )
    for one in found.reach:
        noise = f"With this machine's noise under {one.workload} ({math.expm1(one.pair_sd):.1%} between equal trials)"
        wanted = f"{math.expm1(one.margin):.1%} in at most {show_duration(one.margin_takes_s)}"
        given = f"in the {show_duration(found.duration_s)} planned: {math.expm1(one.margin_reached):.1%}"
        console.print(f"{noise}: {wanted}; {given}.", markup=False)
    if not found.reach and not found.noise_rounds:
        console.print("The noise of this machine is not known yet: the first experiment measures it.")
