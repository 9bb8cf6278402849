"""The document of `paribus check` as text."""

import math

from rich.console import Console
from rich.text import Text

from paribus.cli import server_data_text
from paribus.lab.check_document import CheckDocument
from paribus.model import Purpose
from paribus.units import LoadLevel, show_duration, show_size


def show(document: CheckDocument, console: Console, *, every_block: bool) -> None:
    """Print the document for a person."""
    console.print(Text(document.plan, "bold") + Text(f": {document.question}" if document.question else ""))
    console.print(_place(document), markup=False)
    size = show_size(document.data_bytes)
    fits = "fits into" if document.data_bytes < document.memory_bytes else "exceeds"
    console.print(f"  data of {size}, which {fits} memory ({show_size(document.memory_bytes)})", markup=False)
    for path, size_bytes in document.made_bytes.items():
        console.print(
            f"  making the data writes {show_size(size_bytes)} to {path}; the load's own writes come on top",
            markup=False,
        )
    for line in server_data_text.lines(document.server_data, document.on_server):
        console.print(f"  {line}", markup=False)
    for cost in document.preconditioning:
        fills = "1 fill" if cost.fills == 1 else f"{cost.fills} fills"
        writes = f"preconditioning {cost.workload} writes at least {show_size(cost.least_bytes)} to {cost.place}"
        console.print(f"  {writes}: {fills}, then at random", markup=False)
    if document.in_page_cache:
        names = ", ".join(document.in_page_cache)
        console.print(
            f"  without direct, the page cache will hold the data of {names}: a disk is not measured", markup=False
        )
    for note in document.notes:
        console.print(f"  note: {note}", markup=False)
    if document.commands:
        console.print("\nSettings, each with its undo:")
        for command in document.commands:
            console.print(
                f"  {command.setting}\n    set:  {command.command}\n    undo: {command.undo}",
                markup=False,
                soft_wrap=True,
            )
    for tool in document.tools:
        console.print(f"\nThe load of {tool.workload} is made by:", markup=False)
        for argv in tool.commands:
            console.print(f"  {argv}", markup=False, soft_wrap=True)
    if document.also_moved:
        console.print("\nThe kernel changes these too; they are held and restored as well:")
        console.print("  " + ", ".join(document.also_moved), markup=False)
    if every_block:
        console.print("\nBlocks in order (round, workload, load level: arms in order):")
        for block in document.blocks:
            arms = f"{block.factor}: {' → '.join(block.arms)}" if block.factor else "the baseline"
            arms = f"{arms}, settle run" if block.purpose is Purpose.CALIBRATE else arms
            loads = ", ".join(str(LoadLevel(load, block.load_unit)) for load in block.loads)
            position = f"round {block.round}  {block.workload} at {loads}"
            console.print(f"  {block.number:>4}  {position}:  {arms}", markup=False)
    _show_cost(document, console)


def _place(document: CheckDocument) -> str:
    """Where the data is made, and where the load comes from if not from the target."""
    data = f"  data under {document.path}, device {document.device or 'none'}"
    return f"{data}\n  load from {document.load_host}, where no setting is changed" if document.load_host else data


def _show_cost(document: CheckDocument, console: Console) -> None:
    """Print the duration, and the effects that can be detected in it."""
    blocks = f"{document.trials} trials in {len(document.blocks)} blocks and {document.rounds} rounds"
    console.print(f"\n{blocks}, about {show_duration(document.duration_s)}")
    if document.in_flight:
        console.print(f"Changed while the load continues: {', '.join(document.in_flight)}.", markup=False)
    for plot in document.split_plots:
        cost = f"Applying {plot.factor} takes about {show_duration(plot.apply_s)}"
        console.print(f"{cost}: each application holds for {plot.trials} trials, which count as one.", markup=False)
    for screen in document.screens:
        factors = f"Under {screen.workload}, {len(screen.factors)} factors are tried in the same trials"
        confirmation = (
            f"Factors that show an effect are then tried alone, at least {show_duration(screen.confirming_s)} each"
        )
        remaining = f"{show_duration(screen.left_s)} are left for that"
        warning = ": raise the budget, or its claims stay suspect" if screen.left_s < screen.confirming_s else ""
        console.print(f"{factors}: {', '.join(screen.factors)}.\n  {confirmation}; {remaining}{warning}.", markup=False)
    if document.preconditioning:
        filled = show_size(sum(order.least_bytes for order in document.preconditioning))
        longest = show_duration(sum(order.most_s for order in document.preconditioning))
        console.print(
            f"Before that, outside the budget: preconditioning, {filled} in order, then at most {longest} at random."
        )
    if document.settle_runs:
        console.print(f"First, {document.settle_runs} long runs show how long the load takes to settle.")
    if document.noise_rounds:
        rounds = "a round" if document.noise_rounds == 1 else f"{document.noise_rounds} rounds"
        order = "Then" if document.settle_runs else "First"
        console.print(
            f"{order}, in {rounds}, the baseline is compared with itself: this machine's noise is not known yet."
        )
    for reach in document.reach:
        noise = (
            f"With this machine's noise under {reach.workload} ({math.expm1(reach.pair_sd):.1%} between equal trials)"
        )
        margin_cost = f"{math.expm1(reach.margin):.1%} in at most {show_duration(reach.margin_takes_s)}"
        planned_reach = f"in the {show_duration(document.duration_s)} planned: {math.expm1(reach.margin_reached):.1%}"
        console.print(f"{noise}: {margin_cost}; {planned_reach}.", markup=False)
    if not document.reach and not document.noise_rounds:
        console.print("The noise of this machine is not known yet: the first experiment measures it.")
