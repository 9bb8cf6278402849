"""What a plan would do, as one document and as text: cost, commands with their undo, blocks in order."""

import contextlib
import math
from collections.abc import Iterator

from pydantic import BaseModel, ConfigDict
from rich.console import Console
from rich.text import Text

from ceteris.errors import HostError, StoreError
from ceteris.knobs import recipe, survey
from ceteris.model import Facts, Plan, Purpose, Trial, Value
from ceteris.plan import data, precondition
from ceteris.plan.budget import duration_s, extent, pairs_per_round, time_for
from ceteris.plan.design import comparisons, is_in_flight, schedule
from ceteris.plan.protocol import with_usual_margin
from ceteris.stats.planner import smallest_effect, smallest_margin
from ceteris.trial.bench import Site
from ceteris.units import LoadLevel, LoadUnit, show_duration, show_size


class _Document(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Command(_Document):
    """A setting that will be made, with what takes it back."""

    setting: str
    command: str
    undo: str


class Block(_Document):
    """Trials back to back at one load level."""

    number: int
    round: int
    workload: str
    load: int
    load_unit: LoadUnit
    factor: str
    arms: list[str]


class Reach(_Document):
    """What a comparison can show by the noise measured here before; effects and margins are log ratios.

    `effect` is seen four times out of five, equivalence within `margin_reached` is shown nine times out of ten, and
    within the plan's `margin` in `margin_takes_s`.
    """

    workload: str
    pair_sd: float
    effect: float
    margin: float
    margin_reached: float
    margin_takes_s: float


class Preconditioning(_Document):
    """What overwrites a data set before the first trial; `most_s` is how long it is overwritten at random at most."""

    workload: str
    place: str
    fills: int
    least_bytes: int
    most_s: float


class CheckDocument(_Document):
    """The answer of `ceteris check --json`."""

    plan: str
    question: str
    path: str
    device: str | None
    notes: list[str]
    rounds: int
    noise_rounds: int
    trials: int
    duration_s: float
    data_bytes: int
    made_bytes: dict[str, int]
    preconditioning: list[Preconditioning]
    in_page_cache: list[str]
    memory_bytes: int
    in_flight: list[str]
    commands: list[Command]
    also_moved: list[str]
    reach: list[Reach]
    blocks: list[Block]


def document(plan: Plan, facts: Facts, site: Site, store: str | None) -> CheckDocument:
    """Everything a plan would do. Raises PlanError where the budget is too small."""
    noise = _known_noise(plan, facts, store)
    plan = with_usual_margin(plan, noise.values())
    wanted = extent(plan, noise)
    planned = schedule(plan, "", wanted.rounds, wanted.noise_rounds)
    trials = tuple(trial for trial in planned if trial.purpose is not Purpose.PRECONDITION)
    return CheckDocument(
        plan=plan.name,
        question=plan.question,
        path=plan.target.path,
        device=plan.target.device,
        notes=list(plan.notes),
        rounds=wanted.rounds,
        noise_rounds=wanted.noise_rounds,
        trials=len(trials),
        duration_s=duration_s(plan, wanted),
        data_bytes=sum(data.size_bytes(plan).values()),
        made_bytes={device or facts.path: size for device, size in data.made_bytes(plan, trials).items()},
        preconditioning=[
            Preconditioning(
                workload=one.workload,
                place=one.device or facts.path,
                fills=one.fills,
                least_bytes=one.least_bytes,
                most_s=one.most_s,
            )
            for one in precondition.costs(plan, planned)
        ],
        in_page_cache=_in_page_cache(plan, facts),
        memory_bytes=facts.memory_bytes,
        in_flight=sorted({one.factor for one in comparisons(plan) if is_in_flight(one, plan)}),
        commands=list(_commands(plan, facts)),
        also_moved=_also_moved(plan, site),
        reach=_reach(plan, noise, wanted.rounds),
        blocks=_blocks(trials),
    )


def _in_page_cache(plan: Plan, facts: Facts) -> list[str]:
    """The workloads whose data the page cache will hold, so that reading it asks no disk."""
    return [
        name
        for name, sets in data.data_sets(plan).items()
        if any(one.cached and one.size_bytes < facts.memory_bytes for one in sets)
    ]


def _commands(plan: Plan, facts: Facts) -> Iterator[Command]:
    """Every setting of the machine that some trial makes, once, factor by factor."""
    wanted: list[tuple[str, str, Value]] = [(key, str(value), value) for key, value in plan.hold.items()]
    for factor in plan.factors:
        wanted += [(factor.key, label, level) for level, label in zip(factor.levels, factor.labels, strict=True)]
    for combination in plan.combinations:
        wanted += [(key, str(value), value) for key, value in combination.settings.items()]
    for key, label, value in dict.fromkeys(wanted):
        offer = facts.offers.get(key)
        if offer is not None and offer.current is not None:
            yield Command(
                setting=f"{key} = {label}",
                command=recipe.set_command(offer.knob, value),
                undo=recipe.commands(offer.undo) or "nothing to put back",
            )


def _also_moved(plan: Plan, site: Site) -> list[str]:
    """What the kernel moves by itself when these settings are made; journalled and put back too."""
    location = plan.target.location
    found: dict[str, None] = {}
    for comparison in comparisons(plan):
        for key in comparison.arms[0].settings:
            knob = site.catalogue.find(key)
            for pattern in knob.resets if knob else ():
                for member in survey.members(site.host, site.catalogue, pattern, location):
                    with contextlib.suppress(HostError):  # not there under the scheduler in force, so not moved
                        reading = survey.read(site.host, survey.place(site.host, member, location))
                        found[f"{member.name} = {reading.value}"] = None
    return list(found)


def _known_noise(plan: Plan, facts: Facts, url: str | None) -> dict[str, float]:
    """What earlier experiments on this machine say of the noise of a pair, by workload."""
    from ceteris.experiment import noise
    from ceteris.store.open import open_engine, store_url

    try:
        return noise.known(open_engine(store_url(url), create=False), plan, facts.fingerprint)
    except StoreError:
        return {}  # no experiment was made here yet


def _reach(plan: Plan, noise: dict[str, float], rounds: int) -> list[Reach]:
    found = {}
    for one in comparisons(plan):
        name, sd = one.workload.name, noise.get(one.workload.name)
        takes_s = time_for(plan, noise, name)
        if sd is None or takes_s is None:
            continue
        pairs = rounds * pairs_per_round(len(one.workload.load_levels))
        found[name] = Reach(
            workload=name,
            pair_sd=sd,
            effect=smallest_effect(sd, pairs),
            margin=plan.protocol.margins[one.workload.response],
            margin_reached=smallest_margin(sd, pairs),
            margin_takes_s=takes_s,
        )
    return list(found.values())


def _blocks(trials: tuple[Trial, ...]) -> list[Block]:
    blocks: dict[int, list[Trial]] = {}
    for trial in trials:
        blocks.setdefault(trial.block, []).append(trial)
    return [
        Block(
            number=number,
            round=block[0].round,
            workload=block[0].workload,
            load=block[0].load.n,
            load_unit=block[0].load.unit,
            factor=block[0].factor,
            arms=[trial.arm for trial in block],
        )
        for number, block in blocks.items()
    ]


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
    if found.also_moved:
        console.print("\nThe kernel moves these by itself; they are held, and put back too:")
        console.print("  " + ", ".join(found.also_moved), markup=False)
    if every_block:
        console.print("\nBlocks in order (round, workload, load level: arms in order):")
        for block in found.blocks:
            tried = f"{block.factor}: {' → '.join(block.arms)}" if block.factor else "measured"
            place = f"round {block.round}  {block.workload} at {LoadLevel(block.load, block.load_unit)}"
            console.print(f"  {block.number:>4}  {place}:  {tried}", markup=False)
    _show_cost(found, console)


def _show_cost(found: CheckDocument, console: Console) -> None:
    """The time it takes, and what can be shown in it."""
    blocks = f"{found.trials} trials in {len(found.blocks)} blocks and {found.rounds} rounds"
    console.print(f"\n{blocks}, about {show_duration(found.duration_s)}")
    if found.in_flight:
        console.print(f"Changed while the load goes on: {', '.join(found.in_flight)}.", markup=False)
    if found.preconditioning:
        filled = show_size(sum(first.least_bytes for first in found.preconditioning))
        most = show_duration(sum(first.most_s for first in found.preconditioning))
        console.print(
            f"Before that, beside the budget: preconditioning, {filled} in order, then at most {most} at random."
        )
    if found.noise_rounds:
        rounds = "a round" if found.noise_rounds == 1 else f"{found.noise_rounds} rounds"
        console.print(
            f"First, in {rounds}, the baseline is compared with itself: this machine's noise is not known yet."
        )
    for one in found.reach:
        noise = f"With this machine's noise under {one.workload} ({math.expm1(one.pair_sd):.1%} between equal trials)"
        wanted = f"{math.expm1(one.margin):.1%} in at most {show_duration(one.margin_takes_s)}"
        given = f"in the {show_duration(found.duration_s)} planned: {math.expm1(one.margin_reached):.1%}"
        console.print(f"{noise}: {wanted}; {given}.", markup=False)
    if not found.reach and not found.noise_rounds:
        console.print("The noise of this machine is not known yet: the first experiment measures it.")
