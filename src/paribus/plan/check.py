"""Check of a parsed plan against catalogue and host: every problem at once, or the plan to carry out."""

import dataclasses
from collections.abc import Iterator

from paribus.errors import PlanError
from paribus.i18n import N_, stored_message
from paribus.knobs.catalog import Catalogue
from paribus.model import FAMILIES, OF_SECONDS, PLATFORM, Database, Facts, Plan, Platform, Target, Workload
from paribus.plan import precondition
from paribus.plan.carry_over import segment_notes, wash_out_notes, washed_out
from paribus.plan.checks import (
    capacity,
    connections,
    disk_failures,
    events,
    existing_data,
    guest,
    layouts,
    load_host,
    losses,
    members,
    platforms,
    recovery,
    responses,
    tpcc,
    verification,
)
from paribus.plan.checks.tools import ToolChecks
from paribus.plan.data import Complaint as DataComplaint
from paribus.plan.data import complaints
from paribus.plan.form.file import WorkloadTable
from paribus.plan.form.key_paths import KeyPath
from paribus.plan.form.parse import Parsed
from paribus.plan.levels import (
    baseline_of,
    label_of,
)
from paribus.plan.protocol import limits_of, protocol_of
from paribus.plan.requirements import requirements_of
from paribus.plan.schedule.comparisons import candidates, measured, screened
from paribus.plan.workloads import (
    data_in,
    has_parameter,
    kind_of,
    name_of,
    parameters_in,
    workloads_of,
    works_on_database,
)


def knob_keys(parsed: Parsed) -> list[str]:
    """Returns every key of the plan that might name a knob, so that the host can be asked about it."""
    table = parsed.table
    keys = [*table.factors, *table.hold, *(key for combination in table.combination for key in combination.settings)]
    if table.database is None:
        return keys
    family, own_prefix = FAMILIES[table.database.kind], f"{table.database.kind}."
    keys = [f"{family}.{key.removeprefix(own_prefix)}" if key.startswith(own_prefix) else key for key in keys]
    return keys + [f"{family}.{name}" for name in (*table.database.settings, *parsed.configuration.settings)]


class _Check(ToolChecks):
    """One pass over a plan that collects problems."""

    def plan(self) -> Plan:
        """Returns the plan. Raises PlanError if there is any problem."""
        for complaint in layouts.only_in_sandbox(self.parsed, self.facts):
            self.complain(*complaint)
            raise PlanError(self.parsed.name, self.problems)
        self.facts = facts = layouts.on_layouts(self.parsed, self.facts)
        self.machine()
        self.laid_out = self.workloads()
        factors = self.factors()
        hold = self.settings(self.table.hold, ("hold",)) | self.database_settings()
        combinations = self.combinations()
        self.one_owner(hold)
        plan = Plan(
            name=self.table.name,
            question=self.table.question,
            target=Target(
                address=self.table.target.host,
                path=self.facts.path,
                device=self.facts.device,
                may_destroy=tuple(self.table.target.may_destroy),
                devices=tuple(self.table.target.devices),
                device_bytes=layouts.device_bytes(self.parsed, facts),
                more_disks=facts.more_disks,
                top=facts.top,
                arrays=facts.arrays,
                become=self.table.target.become,
                mount=self.facts.mount,
                guest=facts.guest.guest if facts.guest else None,
            ),
            hold=hold,
            baseline=baseline_of(hold, factors, combinations, self.facts),
            factors=tuple(factors),
            combinations=tuple(combinations),
            workloads=tuple(self.laid_out),
            protocol=verification.with_verification(
                events.with_events(protocol_of(self.table.protocol), self.table), self.table
            ),
            events=events.events_of(self.table),
            digest=self.parsed.digest,
            knobs=tuple(offer.knob for offer in self.facts.offers.values() if not offer.refused),
            text=self.parsed.text,
            limits=limits_of(self.table.limits),
            database=self.database(),
            notes=tuple(dict.fromkeys(self.notes)),
            load_hosts=load_host.load_hosts_of(self.table, self.facts),
            bound=platforms.host_platform(self.table, self.facts),
        )
        if not self.problems and not candidates(plan) and not measured(plan):
            example = 'write for example "block.scheduler" = ["none", "bfq"]'
            self.complain(("factors",), "there is nothing to compare", "; ".join(self.notes) or example)
        if plan.protocol.design == "screen" and not any(screened(plan, workload) for workload in plan.workloads):
            message = "no workload has two factors or more that can be tried together"
            hint = "each needs two levels that differ and share their data, and the rounds must hold 64 pairs"
            self.complain(("protocol", "design"), message, hint)
        self.data(plan)
        for complaint in (
            *layouts.complaints(self.parsed, facts),
            *layouts.too_small(self.parsed, plan, facts),
            *events.complaints(self.parsed, facts),
            *disk_failures.complaints(self.parsed, facts),
            *members.complaints(self.parsed),
            *recovery.complaints(self.parsed),
            *responses.complaints(self.parsed),
            *capacity.complaints(self.parsed, facts),
            *tpcc.complaints(self.parsed),
            *verification.complaints(self.parsed),
        ):
            self.complain(*complaint)
        if self.problems:
            raise PlanError(self.parsed.name, self.problems)
        requirements, unmet = requirements_of(plan, self.catalogue, self.facts)
        protocol = dataclasses.replace(
            plan.protocol, washed_out=washed_out(plan, self.catalogue), apply_s=layouts.application_s(plan)
        )
        plan = dataclasses.replace(plan, requirements=requirements, protocol=protocol)
        notes = (
            *plan.notes,
            *losses.notes(plan),
            *precondition.notes(plan),
            *layouts.notes(self.parsed, plan),
            *existing_data.notes(plan),
            *platforms.notes(plan),
            *unmet,
            *segment_notes(plan),
            *wash_out_notes(plan),
        )
        return dataclasses.replace(plan, notes=notes)

    def machine(self) -> None:
        """Checks that the path is writable and holds the data, and that every knob can be set."""
        facts = self.facts
        if facts.path_refusal is not None:
            self.complain(("target", "path"), facts.path_refusal.message, facts.path_refusal.remedy)
        keys: list[tuple[KeyPath, str]] = [(("factors", key), key) for key in self.table.factors]
        keys += [(("hold", key), key) for key in self.table.hold]
        for number, combination in enumerate(self.table.combination):
            keys += [(("combination", number, "settings", key), key) for key in combination.settings]
        for name in self.table.database.settings if self.table.database else ():
            keys.append((("database", "settings", name), f"{self.family}.{name}"))
        refusal = facts.device_refusal
        if refusal is not None and (self.table.target.device or any(k.startswith("block.") for _, k in keys)):
            self.complain(("target", "device"), refusal.message, refusal.remedy)
        on_files = any(not data.device for table in self.table.workload for data in data_in(table))
        on_disk = any(key.startswith("block.") for _, key in keys) and on_files
        if on_disk and facts.device and facts.path_device != facts.device:
            disk = facts.path_device or stored_message("not a disk")
            note = N_(
                "{path} is on {where}: a load there may not reach {device}; name a folder on that disk as target.path"
            )
            self.notes.append(stored_message(note, path=facts.path, where=disk, device=facts.device))
        for key_path, key in keys:
            knob = self.catalogue.find(key)
            if knob is not None and knob.proved == "transcript":
                untried = N_(
                    "the row of {key} follows a manual and was never tried on a device: run `paribus knobs check`"
                )
                self.notes.append(stored_message(untried, key=key))
            if knob is not None and knob.subject and key != knob.name:
                self.notes.append(stored_message("{key} means {name} in this plan", key=key, name=knob.name))
            if self.refuse_other_machine(key, key_path):
                continue
            offer = facts.offers.get(knob.name) if knob else None
            if offer is None or not offer.refused or (refusal is not None and key.startswith("block.")):
                continue
            self.complain(key_path, offer.refused, offer.todo)
        self.running(keys)
        of_load_host = load_host.complaints(self.parsed, self.catalogue, facts, keys)
        of_platforms = platforms.complaints(self.table, facts, keys, self.machine_keys(keys))
        for complaint in (*of_load_host, *guest.complaints(self.table, facts, keys), *of_platforms):
            self.complain(*complaint)
        self.notes += [note for each in facts.load_hosts for note in each.notes]

    def machine_keys(self, keys: list[tuple[KeyPath, str]]) -> set[str]:
        """Returns the settings that belong to one machine or its control groups, and not to a process or a server."""
        elsewhere = (PLATFORM, "process.", f"{self.family}.")
        return {key for _, key in keys if self.catalogue.find(key) and not self.name_of(key).startswith(elsewhere)}

    def running(self, keys: list[tuple[KeyPath, str]]) -> None:
        """Checks that databases may be created, and variables changed, on a server that others use."""
        for message, hint in self.server.wrong:
            self.complain(("database", "dsn"), message, hint)
        server_keys = [(key_path, key) for key_path, key in keys if self.name_of(key).startswith(f"{self.family}.")]
        if self.table.database and self.table.database.dsn and server_keys and not self.table.target.allow_live:
            key_path, key = server_keys[0]
            message = f"{key} would be changed on a running server that others use"
            self.complain(
                key_path, message, "to allow changes of a running server, write under [target]: allow_live = true"
            )
        self.notes += self.server.notes

    def data(self, plan: Plan) -> None:
        """Checks that data and connections have room, and that loads which overwrite devices may do so."""
        numbers = {name: number for number, name in enumerate(self.tables)}
        facts = self.facts
        for complaint in (
            *complaints(plan, facts),
            *self.of_host(plan),
            *connections.complaints(plan, facts),
            *existing_data.complaints(plan, facts, self.table.database),
        ):
            key_path: KeyPath = (
                "workload",
                numbers.get(complaint.workload, 0),
                *([complaint.key] if complaint.key else []),
            )
            self.complain(key_path, complaint.message, complaint.hint)

    def of_host(self, plan: Plan) -> Iterator[DataComplaint]:
        """Yields the problems of the data on the hypervisor, where the workload runs there too."""
        if plan.bound is not None and self.facts.bound is not None:
            for complaint in complaints(plan.on(Platform.HOST), self.facts.bound):
                hint = complaint.hint.replace("target.path", "target.bound.path")
                yield dataclasses.replace(complaint, message=f"on the hypervisor, {complaint.message}", hint=hint)

    def workloads(self) -> list[Workload]:
        """Returns the workloads of all tables."""
        workloads: list[Workload] = []
        for number, table in enumerate(self.table.workload):
            name = name_of(table)
            key_path: KeyPath = ("workload", number)
            series = workloads_of(table, self.responses_of(name, table), self.family)
            self.database_of(table, key_path)
            taken_names = {name for workload in workloads for name in (workload.name, workload.plan_name)}
            for duplicate in taken_names.intersection([name, *(workload.name for workload in series)]):
                self.complain(
                    (*key_path, "name"), f"two workloads have the name {duplicate!r}", "give each a name of its own"
                )
            if name in self.catalogue.subsystems():
                self.complain(
                    (*key_path, "name"), f"{name!r} is a subsystem of knobs", "give the workload another name"
                )
            is_shared = self.table.database is not None and self.table.database.dsn is not None
            if works_on_database(table) and table.cache == "cold" and is_shared:
                self.complain(
                    (*key_path, "cache"),
                    'cache = "cold" needs a restart, and a shared server is not restarted',
                    'use cache = "warm"',
                )
            if works_on_database(table) and table.precondition:
                self.complain((*key_path, "precondition"), "applies to files and devices only", "remove it")
            self.tool(table, key_path)
            for response in set(self.responses_of(name, table)).intersection(OF_SECONDS):
                self.single_seconds(response, table, key_path)
            for parameter, value in parameters_in(table).items():
                if reason := self.impossible(parameter, value, [table]):
                    self.complain((*key_path, parameter), f"{label_of(value)!r} is not possible here: {reason}")
            workloads += series
        return workloads

    def responses_of(self, name: str, table: WorkloadTable) -> list[str]:
        """Returns the responses judged: not throughput but bandwidth or queries if a factor resizes operations."""
        kind = kind_of(table)
        default = "response_p95_s" if table.rate else "throughput_per_s"  # an open loop serves the rate that it offers
        responses = list(dict.fromkeys(table.response or self.table.protocol.response or [default]))
        resized = [key for key in self.table.factors if key.rpartition(".")[2] in kind.sizes_an_operation]
        resized = [key for key in resized if has_parameter(table, key)]
        if resized and "throughput_per_s" in responses:
            by_size = kind.size_response
            note = N_("{factor} changes the size of an operation, so {workload} is judged by {response}")
            self.notes.append(stored_message(note, factor=resized[0], workload=name, response=by_size))
            return list(
                dict.fromkeys(by_size if response == "throughput_per_s" else response for response in responses)
            )
        return responses

    def database(self) -> Database | None:
        """Returns the database that workloads use; None if the plan has none."""
        table = self.table.database
        if table is None:
            return None
        server = self.server
        if (refusal := server.refusal) is not None:
            self.complain(("database", *(["dsn"] if table.dsn else [])), refusal.message, refusal.remedy)
        return Database(
            kind=table.kind,
            program=table.program or "",
            ready_s=table.ready,
            restart_every=table.restart_every,
            built_in=server.built_in,
            running=server.running,
        )


def check(parsed: Parsed, catalogue: Catalogue, facts: Facts) -> Plan:
    """Checks a parsed plan against the catalogue and the host.

    Args:
        parsed: A plan as `paribus.plan.form.parse.parse` returns it, with the problems of form found there.
        catalogue: The knobs that a plan may name.
        facts: The host as found: its offers by knob, disks, devices and database server.

    Returns:
        The plan to carry out. Durations are in seconds, sizes in bytes, margins are natural-log ratios.

    Raises:
        PlanError: The plan has problems; the error carries every one of them, in the order of lines.

    Example:
        `check(parse("plan.toml", text, {}), knobs.catalog.load(), facts)`
    """
    return _Check(parsed, catalogue, facts).plan()
