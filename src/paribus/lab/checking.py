"""Preview of a plan: cost, commands with their undo, blocks in order."""

import contextlib
import math
import shlex
from collections.abc import Iterator, Mapping

from paribus.errors import HostError
from paribus.knobs import discovery, journals, recipe
from paribus.knobs.catalog import is_above_disks
from paribus.lab.check_document import (
    Block,
    BoundHost,
    CheckDocument,
    Command,
    ForeseenReach,
    GuestTarget,
    Preconditioning,
    Reach,
    Screen,
    SplitPlot,
    ToolRun,
    WipedDevice,
)
from paribus.lab.machine.connection import Report, discard
from paribus.lab.machine.inspection import checked, site_of
from paribus.lab.machine.server_data import on_server, server_data
from paribus.lab.results.prior_runs import with_prior_runs
from paribus.model import LAYOUT, PLATFORM, Facts, Plan, Purpose, Trial, Value
from paribus.plan import data, precondition
from paribus.plan.checks import layouts
from paribus.plan.form.parse import parse, read_file
from paribus.plan.schedule.budget import Extent, confirming_s, duration_s, extent, time_for
from paribus.plan.schedule.comparisons import candidates, comparisons, is_in_flight
from paribus.plan.schedule.design import schedule
from paribus.registry import parameters_of
from paribus.stats.planner import smallest_effect, smallest_margin
from paribus.trial.target_session import Site, data_folder
from paribus.workloads.tools import request_of, tool_of

_FORESEEN_NOISE = (0.01, 0.03, 0.1)  # a quiet disk, a usual server, a shared virtual machine


def check_plan(
    plan_file: str, overrides: Mapping[str, str], store: str | None, report: Report = discard
) -> CheckDocument:
    """Check a plan file against its machine, and preview it; changes nothing. Raises PlanError with every problem."""
    parsed = parse(plan_file, read_file(plan_file), dict(overrides))
    with site_of(parsed, report) as site:
        plan, facts = checked(site, parsed)
        return document(plan, facts, site, store)


def document(plan: Plan, facts: Facts, site: Site, store: str | None) -> CheckDocument:
    """Preview of a plan. Raises PlanError if the budget is too small, and NotInspected."""
    plan, noise = with_prior_runs(plan, facts, store)
    planned_extent = extent(plan, noise)
    planned = schedule(plan, "", planned_extent.rounds, planned_extent.noise_rounds)
    trials = tuple(trial for trial in planned if trial.purpose is not Purpose.PRECONDITION)
    made_bytes = data.creation_bytes(plan, trials)
    inspections = [journals.inspect(machine.host, machine.engine) for machine in site.machines]
    return CheckDocument(
        plan=plan.name,
        question=plan.question,
        path=plan.target.path,
        device=plan.target.device,
        fingerprint=dict(facts.fingerprint),
        running=list(dict.fromkeys(name for each in inspections for name in each.running)),
        cut_off=[each.experiment for inspected in inspections for each in inspected.journals if each.is_cut_off],
        load_hosts=[each.address for each in plan.load_hosts],
        guest=_guest(plan),
        bound=_bound(plan),
        notes=list(plan.notes),
        rounds=planned_extent.rounds,
        settle_runs=plan.protocol.settle_runs,
        noise_rounds=planned_extent.noise_rounds,
        trials=len(trials),
        duration_s=duration_s(plan, planned_extent),
        data_bytes=sum(data.size_bytes(plan).values()),
        made_bytes={device or facts.path: size for device, size in made_bytes.items()},
        wiped=[
            _wiped(device, facts)
            for device in dict.fromkeys([*plan.target.devices, *made_bytes])
            if device in facts.block_devices  # others are folders and servers
        ],
        events=list(plan.events),
        server_data=server_data(plan, facts, trials),
        on_server=on_server(plan),
        preconditioning=[
            Preconditioning(
                workload=cost.workload,
                place=cost.device or facts.path,
                fills=cost.fills,
                least_bytes=cost.least_bytes,
                most_s=cost.most_s,
            )
            for cost in precondition.costs(plan, planned)
        ],
        in_page_cache=_in_page_cache(plan, facts),
        memory_bytes=facts.memory_bytes,
        in_flight=sorted(
            {key for comparison in comparisons(plan) if is_in_flight(comparison, plan) for key in comparison.tested}
        ),
        toggled=sorted({key for comparison in comparisons(plan) if comparison.toggled for key in comparison.tested}),
        segment_s=plan.protocol.segment_s,
        screens=_screens(plan, planned_extent),
        split_plots=[
            SplitPlot(
                workload=comparison.workload.name,
                factor=comparison.factor,
                apply_s=comparison.apply_s,
                trials=comparison.sub_trials,
            )
            for comparison in comparisons(plan)
            if comparison.sub_trials > 1
        ],
        commands=list(_commands(plan, facts)),
        tools=_tools(plan),
        also_moved=_also_moved(plan, site),
        reach=_reach(plan, noise, planned_extent.rounds),
        foreseen_reach=_foreseen_reach(plan, noise, planned_extent.rounds),
        blocks=_blocks(trials),
    )


def _guest(plan: Plan) -> GuestTarget | None:
    guest = plan.target.guest
    if guest is None:
        return None
    device = guest.location.top or guest.location.device
    return GuestTarget(name=guest.name, hypervisor=guest.machine, uri=guest.uri, image=guest.disk, device=device)


def _bound(plan: Plan) -> BoundHost | None:
    if plan.bound is None:
        return None
    target = plan.bound.target
    return BoundHost(path=target.path, device=target.device, cpus=plan.bound.cpus, memory_bytes=plan.bound.memory_bytes)


def _wiped(device: str, facts: Facts) -> WipedDevice:
    inspected = facts.block_devices[device]
    contents = [*inspected.claims, *inspected.signatures]
    return WipedDevice(
        device=device,
        node=inspected.path,
        ids=[name for name in inspected.ids if not device.endswith(f"/{name}")],
        size_bytes=inspected.size_bytes,
        contents=contents,
    )


def _in_page_cache(plan: Plan, facts: Facts) -> list[str]:
    """Workloads whose data fits in the page cache, so that reads do not reach the disk."""
    return [
        name
        for name, sets in data.data_sets(plan).items()
        if any(data_set.cached and data_set.size_bytes < facts.memory_bytes for data_set in sets)
    ]


def _commands(plan: Plan, facts: Facts) -> Iterator[Command]:
    """Every machine setting that a trial applies, once, in the order of the factors."""
    settings: list[tuple[str, str, Value]] = [(key, str(value), value) for key, value in plan.hold.items()]
    for factor in plan.factors:
        settings += [(factor.key, label, level) for level, label in zip(factor.levels, factor.labels, strict=True)]
    for combination in plan.combinations:
        settings += [(key, str(value), value) for key, value in combination.settings.items()]
    for key, label, value in dict.fromkeys(settings):
        offer = facts.offers.get(key)
        if key == LAYOUT:
            yield Command(
                setting=f"{key} = {label}",
                command="\n          ".join(layouts.commands_of(plan, str(value))),
                undo="take apart and wipe " + ", ".join(plan.target.devices),
            )
        elif offer is not None and plan.target.location.is_layout and is_above_disks(offer.knob):
            command = recipe.set_command(offer.knob, value)
            yield Command(setting=f"{key} = {label}", command=command, undo="goes with the layout")
        elif offer is not None and offer.current is not None and key != PLATFORM:
            yield Command(
                setting=f"{key} = {label}",
                command=recipe.located(offer.knob, recipe.set_command(offer.knob, value)),
                undo=recipe.undo_command(offer) or "nothing to restore",
            )


def _tools(plan: Plan) -> list[ToolRun]:
    """The commands of each workload's tool, in execution order."""
    tool_runs = []
    for workload in plan.workloads:
        if tool := tool_of(workload):
            parameters = parameters_of(workload, plan.baseline)
            directory = f"{data_folder(plan.target.path, 'EXPERIMENT')}/{workload.plan_name}"
            level, protocol = workload.levels[0], plan.protocol
            request = request_of(workload, directory, level, protocol.settle_s, protocol.trial_s)
            argvs = [
                tool.prepare_command(parameters, request),
                *(run.argv for run in tool.runs(parameters, request)),
            ]
            argvs.append(tool.cleanup_command(parameters, request))
            tool_runs.append(
                ToolRun(
                    workload=workload.name, commands=[shlex.join(tool.command_line(argv)) for argv in argvs if argv]
                )
            )
    return tool_runs


def _also_moved(plan: Plan, site: Site) -> list[str]:
    """Settings that the kernel resets when the planned ones are applied; they are journalled and restored too."""
    moved_settings: dict[str, None] = {}
    for comparison in candidates(plan):
        for key in comparison.arms[0].settings:
            knob, host, location = site.catalogue.find(key), site.machine_of(key).host, plan.target.location_of(key)
            for pattern in knob.resets if knob else ():
                for member in discovery.members(host, site.catalogue, pattern, location):
                    with contextlib.suppress(HostError):  # not there under the scheduler in force, so not moved
                        reading = discovery.read(host, discovery.place(host, member, location))
                        moved_settings[f"{member.name} = {reading.value}"] = None
    return list(moved_settings)


def _reach(plan: Plan, noise: dict[str, float], rounds: int) -> list[Reach]:
    reach_by_workload = {}
    for comparison in comparisons(plan):
        name, sd = comparison.workload.name, noise.get(comparison.workload.name)
        takes_s = time_for(plan, noise, name)
        if sd is None or takes_s is None:
            continue
        pairs = rounds * comparison.blocks_per_round
        reach_by_workload[name] = Reach(
            workload=name,
            pair_sd=sd,
            effect=smallest_effect(sd, pairs),
            margin=plan.protocol.margins[comparison.workload.response],
            margin_reached=smallest_margin(sd, pairs),
            margin_takes_s=takes_s,
        )
    return list(reach_by_workload.values())


def _foreseen_reach(plan: Plan, noise: dict[str, float], rounds: int) -> list[ForeseenReach]:
    """Power at several noises of the comparisons that have the fewest pairs, among those whose noise is not known."""
    unknown = [each for each in comparisons(plan) if each.workload.name not in noise]
    if not unknown:
        return []
    pairs = rounds * min(each.blocks_per_round for each in unknown)
    sds = map(math.log1p, _FORESEEN_NOISE)
    return [ForeseenReach(pair_sd=sd, effect=smallest_effect(sd, pairs)) for sd in sds]


def _screens(plan: Plan, planned_extent: Extent) -> list[Screen]:
    left_s = max(plan.protocol.budget_s - duration_s(plan, planned_extent), 0.0)
    return [
        Screen(
            workload=comparison.workload.name,
            factors=list(comparison.tested),
            pairs=planned_extent.rounds * comparison.blocks_per_round,
            confirming_s=confirming_s(plan),
            left_s=left_s,
        )
        for comparison in comparisons(plan)
        if comparison.screened
    ]


def _blocks(trials: tuple[Trial, ...]) -> list[Block]:
    blocks: dict[int, list[Trial]] = {}
    for trial in trials:
        blocks.setdefault(trial.block, []).append(trial)
    return [
        Block(
            number=number,
            round=block[0].round,
            workload=block[0].workload,
            loads=[trial.load.n for trial in block if trial.application == block[0].application],
            load_unit=block[0].load.unit,
            purpose=block[0].purpose,
            factor=block[0].factor,
            arms=[arm for _, arm in dict.fromkeys((trial.application, trial.arm) for trial in block)],
        )
        for number, block in blocks.items()
    ]
