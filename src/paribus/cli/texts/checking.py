"""The document of `paribus check` as text."""

import math
import shlex
from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from paribus.cli.texts.server_data import lines
from paribus.lab.check_document import CheckDocument
from paribus.model import WITHOUT_LAYOUT, Purpose
from paribus.units import LoadLevel, show_duration, show_size, show_time


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
    for line in (
        *_wiped_lines(document),
        *_event_lines(document),
        *lines(document.server_data, document.on_server),
    ):
        console.print(f"  {line}", markup=False, soft_wrap=True)
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
    """The place of the data, and the machines beside the target."""
    lines = [f"data under {document.path}, device {document.device or 'none'}"]
    if document.load_hosts:
        lines.append(f"load from {', '.join(document.load_hosts)}, where no setting is changed")
    if guest := document.guest:
        hypervisor = "this machine" if guest.hypervisor == "local" else guest.hypervisor
        device = f" on {guest.device}" if guest.device not in (None, guest.image) else ""
        disk = f"; its disk is {guest.image}{device}" if guest.image else ""
        lines.append(
            f"the target is the guest {guest.name} of {hypervisor}, which has the settings host.* and guest.*{disk}"
        )
    if bound := document.bound:
        limits = f"processors {bound.cpus} and {show_size(bound.memory_bytes)} of memory"
        lines.append(f"platform = host: data under {bound.path} there, device {bound.device or 'none'}; {limits}")
    return "\n".join(f"  {line}" for line in lines)


def _obstacle_lines(document: CheckDocument) -> Iterator[str]:
    """Say what keeps `paribus run` from beginning now."""
    for experiment in document.cut_off:
        yield f"experiment {experiment} was cut off there: run refuses until the machine is restored, by paribus undo"
    if document.running:
        yield f"{', '.join(document.running)} is running there: run waits for its end with --wait, and else refuses"
    if document.cut_off or document.running:
        yield "the undo of each setting above goes back to the present value, which may be that experiment's"


def _wiped_lines(document: CheckDocument) -> Iterator[str]:
    """The devices whose content is lost, with their names and what is on them."""
    if document.wiped:
        yield "the content of these devices is lost:"
    for device in document.wiped:
        names = ", ".join([device.node.removeprefix("/dev/"), *device.ids])
        contents = ", ".join(device.contents) or "nothing is on it"
        yield f"  {device.device} ({names}), {show_size(device.size_bytes)}: {contents}"


_EVENT_WORDS = {
    "fail-member": "{disk} fails, and is out of its array",
    "offline": "the kernel refuses every operation on {disk}",
    "add": "{disk} comes back with its old content",
    "replace": "{disk}, blank, takes the place of the one that failed",
    "check": "every array is checked",
    "resync": "every array is read as a whole, and repaired where copies differ",
    "trim": "what the file system does not use is discarded",
    "delay": "each operation on {disk} completes {delay} later",
    "error": "each operation on {disk} fails",
    "run": "{program} runs beside the load",
    "kill-server": "the server is killed, and started again at once",
}


_OF_MEMBER = {"fail-member": "{disk} fails, and is out of its volume", "replace": "{disk} is rebuilt"}


def _event_lines(document: CheckDocument) -> Iterator[str]:
    """Yield a heading and a line for each event of a trial; nothing without events."""
    if document.events:
        is_built = any(event.action not in WITHOUT_LAYOUT and event.member is None for event in document.events)
        yield "in every trial" + (", for which the layout is built anew:" if is_built else ":")
    for event in document.events:
        program = shlex.join(event.argv)
        template = _EVENT_WORDS[event.action] if event.member is None else _OF_MEMBER[event.action]
        words = template.format(disk=event.disk, delay=show_time(event.delay_s), program=program)
        end = f", until {show_duration(event.until_s)}" if event.until_s is not None else ""
        where = f", if event.{event.name} is on" if event.name else ""
        moments = [show_duration(event.at_s)] if event.at_s else []
        moments += [f"{show_size(event.after_bytes)} of load"] if event.after_bytes else []
        begin = f"after {' and '.join(moments)}" if moments else "from the beginning"
        yield f"  {begin} {words}{end}{where}"


def _show_cost(document: CheckDocument, console: Console) -> None:
    """Print the duration, the effects that can be detected in it, and what keeps the run from beginning."""
    blocks = f"{document.trials} trials in {len(document.blocks)} blocks and {document.rounds} rounds"
    console.print(f"\n{blocks}, about {show_duration(document.duration_s)}")
    if changed := [key for key in document.in_flight if key not in document.toggled]:
        console.print(f"Changed while the load continues: {', '.join(changed)}.", markup=False)
    if document.toggled and document.segment_s:
        segments = f"Toggled under one load, in segments of {show_duration(document.segment_s)}"
        console.print(f"{segments}: {', '.join(document.toggled)}.", markup=False)
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
            f"{order}, in {rounds}, the baseline is compared with itself: this shows how long trials must be."
        )
    for reach in document.reach:
        noise = (
            f"With this machine's noise under {reach.workload} ({math.expm1(reach.pair_sd):.1%} between equal trials)"
        )
        margin_cost = f"{math.expm1(reach.margin):.1%} in at most {show_duration(reach.margin_takes_s)}"
        planned_reach = f"in the {show_duration(document.duration_s)} planned: {math.expm1(reach.margin_reached):.1%}"
        console.print(f"{noise}: {margin_cost}; {planned_reach}.", markup=False)
    if not document.reach:
        console.print("The noise of this machine is not known yet: the first pairs show it.")
    if document.foreseen_reach:
        noises = " / ".join(f"{math.expm1(each.pair_sd):.0%}" for each in document.foreseen_reach)
        effects = " / ".join(f"{math.expm1(each.effect):.1%}" for each in document.foreseen_reach)
        console.print(f"Where equal trials differ by {noises}, this plan finds effects of {effects}.", markup=False)
    for line in _obstacle_lines(document):
        console.print(line, markup=False, soft_wrap=True)
