"""A plan's table against the catalogue and the host: every problem at once, or the plan to carry out."""

import dataclasses
import functools
from typing import Any

from ceteris.errors import PlanError, Problem
from ceteris.knobs.catalog import Catalogue
from ceteris.model import FAMILIES, Combination, Database, DatabaseFacts, Factor, Facts, Plan, Target, Value, Workload
from ceteris.plan import precondition
from ceteris.plan.comparisons import candidates, measured, screened
from ceteris.plan.data import complaints
from ceteris.plan.file import WorkloadTable
from ceteris.plan.levels import (
    Level,
    baseline_of,
    impossible,
    knob_level,
    label_of,
    parameter_level,
    risk_of,
    unknown_key,
)
from ceteris.plan.parse import Parsed
from ceteris.plan.places import Place
from ceteris.plan.protocol import limits_of, protocol_of
from ceteris.plan.workloads import data_in, has_parameter, kind_of, name_of, parameters_in, program_of, workloads_of


def knob_keys(parsed: Parsed) -> list[str]:
    """Every key of the plan that might name a knob, for asking the host about it."""
    table = parsed.table
    keys = [*table.factors, *table.hold]
    if table.database:
        keys += [f"{FAMILIES[table.database.kind]}.{name}" for name in table.database.settings]
    return keys + [key for combination in table.combination for key in combination.settings]


class _Check:
    """One pass over a plan; what is wrong is collected."""

    def __init__(self, parsed: Parsed, catalogue: Catalogue, facts: Facts) -> None:
        self.parsed = parsed
        self.table = parsed.table
        self.server = facts.database or DatabaseFacts()
        self.catalogue = catalogue.with_rows(self.server.rows)
        self.facts = facts
        self.problems: list[Problem] = list(parsed.problems)
        self.notes: list[str] = []
        self.laid_out: list[Workload] = []
        self.tables: dict[str, WorkloadTable] = {name_of(table): table for table in self.table.workload}
        self.family = FAMILIES[self.table.database.kind] if self.table.database else ""

    def complain(self, place: Place, wrong: str, right: str = "") -> None:
        self.problems.append(self.parsed.problem(place, wrong, right))

    # --- the whole ---

    def plan(self) -> Plan:
        """The plan, unless there is any problem. Raises PlanError."""
        self.machine()
        self.laid_out = self.workloads()
        factors = self.factors()
        hold = self.settings(self.table.hold, ("hold",)) | self.database_settings()
        combinations = self.combinations()
        self.one_owner(hold)
        found = Plan(
            name=self.table.name,
            question=self.table.question,
            target=Target(
                address=self.table.target.host,
                path=self.facts.path,
                device=self.facts.device,
                may_destroy=tuple(self.table.target.may_destroy),
                become=self.table.target.become,
                mount=self.facts.mount,
            ),
            hold=hold,
            baseline=baseline_of(hold, factors, combinations, self.facts),
            factors=tuple(factors),
            combinations=tuple(combinations),
            workloads=tuple(self.laid_out),
            protocol=protocol_of(self.table.protocol),
            digest=self.parsed.digest,
            knobs=tuple(offer.knob for offer in self.facts.offers.values() if not offer.refused),
            text=self.parsed.text,
            limits=limits_of(self.table.limits),
            database=self.database(),
            notes=tuple(self.notes),
        )
        if not self.problems and not candidates(found) and not measured(found):
            example = 'write for example "block.scheduler" = ["none", "bfq"]'
            self.complain(("factors",), "there is nothing to compare", "; ".join(self.notes) or example)
        if found.protocol.design == "screen" and not any(screened(found, one) for one in found.workloads):
            wrong = "no workload has two factors or more that can be tried together"
            least = "each needs two levels that differ and share their data, and the rounds must hold 64 pairs"
            self.complain(("protocol", "design"), wrong, least)
        self.data(found)
        if self.problems:
            raise PlanError(self.parsed.name, self.problems)
        return dataclasses.replace(found, notes=(*found.notes, *precondition.notes(found)))

    def machine(self) -> None:
        """The path can be written and holds the data; every knob can be set."""
        facts = self.facts
        if facts.path_refused:
            self.complain(("target", "path"), facts.path_refused, "name a folder that you may write to")
        places: list[tuple[Place, str]] = [(("factors", key), key) for key in self.table.factors]
        places += [(("hold", key), key) for key in self.table.hold]
        for number, combination in enumerate(self.table.combination):
            places += [(("combination", number, "settings", key), key) for key in combination.settings]
        if facts.device_refused and (self.table.target.device or any(k.startswith("block.") for _, k in places)):
            wrong, _, right = facts.device_refused.partition("\n")
            self.complain(("target", "device"), wrong, right.strip())
        on_files = any(not data.device for one in self.table.workload for data in data_in(one))
        on_disk = any(key.startswith("block.") for _, key in places) and on_files
        if on_disk and facts.device and facts.path_device != facts.device:
            where = facts.path_device or "no disk"
            self.notes.append(f"{facts.path} lies on {where}: a load there may not reach {facts.device}")
        for place, key in places:
            knob = self.catalogue.find(key)
            if knob is not None and (risk := risk_of(knob)) and risk not in self.notes:
                self.notes.append(risk)
            offer = facts.offers.get(knob.name) if knob else None
            if offer is None or not offer.refused or (facts.device_refused and key.startswith("block.")):
                continue
            self.complain(place, offer.refused, offer.todo)

    def data(self, plan: Plan) -> None:
        """The disk holds the data, and a device that a load would destroy may be destroyed."""
        numbers = {name: number for number, name in enumerate(self.tables)}
        for one in complaints(plan, self.facts):
            place: Place = ("workload", numbers.get(one.workload, 0), *([one.key] if one.key else []))
            self.complain(place, one.wrong, one.right)

    # --- workloads ---

    def workloads(self) -> list[Workload]:
        found: list[Workload] = []
        for number, table in enumerate(self.table.workload):
            name = name_of(table)
            place: Place = ("workload", number)
            ones = workloads_of(table, self.responses_of(name, table), self.family)
            if kind_of(table).on_database and not self.family:
                right = 'add for example: [database] kind = "sqlite"'
                self.complain((*place, "kind"), f"{name} works on a database, and the plan has none", right)
            taken = {name for one in found for name in (one.name, one.plan_name)}
            for double in taken.intersection([name, *(one.name for one in ones)]):
                self.complain((*place, "name"), f"two workloads are called {double!r}", "give each a name of its own")
            if name in self.catalogue.subsystems():
                self.complain((*place, "name"), f"{name!r} is a subsystem of knobs", "give the workload another name")
            if kind_of(table).on_database and table.cache == "cold" and self.family != "sqlite":
                self.complain((*place, "cache"), "a server's own cache is not emptied", 'use cache = "warm"')
            if kind_of(table).on_database and table.precondition:
                self.complain((*place, "precondition"), "is for files and devices", "take it out")
            self.tool(table, place)
            for parameter, value in parameters_in(table).items():
                if why := self.impossible(parameter, value, [table]):
                    self.complain((*place, parameter), f"{label_of(value)!r} is not possible here: {why}")
            found += ones
        return found

    def tool(self, table: WorkloadTable, place: Place) -> None:
        """Where the load is a tool's: it is there, and nothing is asked of it that it tells too late."""
        tool, program, limits = kind_of(table).tool, program_of(table), self.table.limits
        if tool is None:
            return
        if program in self.facts.missing_programs:
            todo = "install it there, or give its full path"
            self.complain((*place, "kind"), f"{self.facts.hostname} has no program {program!r}", todo)
        for key in ("response_p99_s", "errors_per_s"):
            if getattr(limits, key) is not None:
                wrong = f"{name_of(table)} tells of it only when it has ended"
                self.complain(("limits", key), wrong, "take it out, or use a load of Ceteris")
        if tool.note and tool.note not in self.notes:
            self.notes.append(tool.note)

    def impossible(self, parameter: str, value: Value, owners: list[WorkloadTable]) -> str:
        """Why this machine cannot do it; what the file system of the path refuses, a device may take."""
        on_files = any(not data.device for one in owners for data in data_in(one))
        facts = self.facts if on_files else dataclasses.replace(self.facts, direct_refused="")
        return impossible(parameter, value, facts)

    def responses_of(self, name: str, table: WorkloadTable) -> list[str]:
        """The responses judged; bandwidth or queries where a factor changes what an operation is."""
        kind = kind_of(table)
        usual = "response_p95_s" if table.rate else "throughput_per_s"  # what is offered is what is served
        responses = list(dict.fromkeys(table.response or self.table.protocol.response or [usual]))
        resized = [key for key in self.table.factors if key.rpartition(".")[2] in kind.sizes_an_operation]
        resized = [key for key in resized if has_parameter(table, key)]
        if resized and "throughput_per_s" in responses:
            other = kind.size_response
            self.notes.append(f"{resized[0]} changes the size of an operation, so {name} is judged by {other}")
            return list(dict.fromkeys(other if one == "throughput_per_s" else one for one in responses))
        return responses

    # --- settings ---

    def owners(self, key: str) -> list[str]:
        """The workloads whose parameter a key is."""
        return [name for name, table in self.tables.items() if has_parameter(table, key)]

    def level(self, key: str, written: Any, place: Place) -> Level | None:
        """A level in the form it is set in, or None and a problem."""
        knob = self.catalogue.find(key)
        if knob is not None:
            return knob_level(knob, key, written, self.facts, functools.partial(self.complain, place))
        level = None
        for name in self.owners(key):
            parameter = key.partition(".")[2]
            complain = functools.partial(self.complain, place)
            level = parameter_level(self.tables[name], parameter, written, complain)
        return level

    def known(self, key: str, place: Place) -> bool:
        """Whether the key is a knob or a parameter; a problem where it is not."""
        family = key.partition(".")[0]
        if family in FAMILIES.values() and family != self.family:
            kinds = " or ".join(f'"{kind}"' for kind, own in FAMILIES.items() if own == family)
            self.complain(place, f"the plan has no {family} database", f"say so: [database] kind = {kinds}")
            return False
        if family == self.family and self.server.refused:
            return False  # a problem of its own
        if self.catalogue.find(key) is not None or self.owners(key):
            return True
        name = key.partition(".")[2]
        if family == self.family and self.server.name:
            hint = self.server.explained.get(name) or self.catalogue.suggest(key)
            self.complain(place, f"{self.server.name} has no variable {name}", hint)
            return False
        hint = unknown_key(key, self.catalogue, self.table.workload)
        self.complain(place, "is neither a knob nor a parameter of a workload of this plan", hint)
        return False

    def name_of(self, key: str) -> str:
        """The knob's own name where the key is an alias."""
        knob = self.catalogue.find(key)
        return knob.name if knob else key

    def settings(self, written: dict[str, Any], place: Place) -> dict[str, Value]:
        """Settings held or combined, by the knobs' own names."""
        found: dict[str, Value] = {}
        for key, value in written.items():
            here = (*place, key)
            if not self.known(key, here):
                continue
            if self.name_of(key) in found:
                self.complain(here, f"{self.name_of(key)} is set twice", "its names are one knob: keep one of them")
            level = self.level(key, value, here)
            if level is not None:
                found[self.name_of(key)] = level.value
        return found

    def factors(self) -> list[Factor]:
        found: dict[str, Factor] = {}
        for key, written in self.table.factors.items():
            place: Place = ("factors", key)
            if not self.known(key, place):
                continue
            name = self.name_of(key)
            if name in found:
                self.complain(
                    place, f"{name} is a factor already", "its names are one knob: put all levels under one of them"
                )
                continue
            levels = self.levels(key, written, place)
            scope = self.scope(key)
            if len(levels) >= 2:
                found[name] = Factor(
                    key=name, levels=tuple(v.value for v in levels), labels=tuple(v.label for v in levels), scope=scope
                )
        for key in self.table.factor_scope:
            if key not in self.table.factors:
                self.complain(("factor_scope", key), "is no factor of this plan")
        return list(found.values())

    def levels(self, key: str, written: list[Any], place: Place) -> list[Level]:
        """The levels that can be tried; those the machine cannot do are dropped with a note."""
        found: list[Level] = []
        dropped = False
        before = len(self.problems)
        for number, value in enumerate(written):
            level = self.level(key, value, (*place, number))
            if level is None:
                continue
            owners = [self.tables[name] for name in self.owners(key)]
            why = self.impossible(key.partition(".")[2], level.value, owners) if owners else ""
            if why:
                dropped = True
                self.notes.append(f"{key} = {level.label} is left out: {why}")
            elif level.value in [other.value for other in found] and len(written) == 2:
                self.notes.append(f"{key}: both levels are {level.label}, so that what differs is noise")
                found.append(dataclasses.replace(level, label=f"{level.label} again"))
            elif level.value in [other.value for other in found]:
                self.complain((*place, number), f"{level.label} stands twice", "name each level once")
            else:
                found.append(level)
        if len(found) < 2 and dropped:
            self.notes.append(f"{key} is left out: one level is nothing to compare")
        elif len(found) < 2 and len(self.problems) == before:
            self.complain(place, "one level is nothing to compare", "add a level, or move it to [hold]")
        return found

    def scope(self, key: str) -> tuple[str, ...]:
        """The workloads a factor is tried under."""
        applicable = list(self.tables) if self.catalogue.find(key) else self.owners(key)
        if key.partition(".")[0] in FAMILIES.values():
            applicable = [name for name in applicable if kind_of(self.tables[name]).on_database]
        chosen = self.table.factor_scope.get(key, applicable)
        if not chosen:
            self.complain(("factor_scope", key), "names no workload", f"there are: {', '.join(applicable)}")
        for name in chosen:
            if name not in applicable:
                self.complain(
                    ("factor_scope", key),
                    f"{name!r} is no workload that {key} applies to",
                    f"there are: {', '.join(applicable)}",
                )
        return tuple(one.name for one in self.laid_out if one.plan_name in applicable and one.plan_name in chosen)

    def database(self) -> Database | None:
        table = self.table.database
        if table is None:
            return None
        if self.server.refused:
            self.complain(("database",), self.server.refused, "install it, or name its program")
        return Database(kind=table.kind, program=table.program or "", built_in=self.server.built_in)

    def database_settings(self) -> dict[str, Value]:
        """Those of the database's own table, under the keys that they have elsewhere."""
        table = self.table.database
        found: dict[str, Value] = {}
        for name, value in table.settings.items() if table else ():
            place: Place = ("database", "settings", name)
            key = f"{self.family}.{name}"
            if self.known(key, place) and (level := self.level(key, value, place)) is not None:
                if key in self.table.hold:
                    self.complain(place, f"{key} is in [hold] too", "keep one of them")
                found[key] = level.value
        return found

    def combinations(self) -> list[Combination]:
        found: list[Combination] = []
        for number, table in enumerate(self.table.combination):
            place: Place = ("combination", number)
            if table.name in [other.name for other in found] or table.name == "baseline":
                self.complain((*place, "name"), f"{table.name!r} is taken", "give each combination a name of its own")
            settings = self.settings(table.settings, (*place, "settings"))
            for key, value in settings.items():
                owners = [self.tables[name] for name in self.owners(key)]
                if owners and (why := self.impossible(key.partition(".")[2], value, owners)):
                    self.complain((*place, "settings", key), f"{label_of(value)!r} is not possible here: {why}")
            found.append(Combination(name=table.name, settings=settings))
        return found

    def one_owner(self, hold: dict[str, Value]) -> None:
        """No key is both varied and fixed, and no parameter of a workload is varied under two names."""
        given_workloads = self.parsed.given.get("workload")
        taken: dict[tuple[str, str], str] = {}
        for key in [*self.table.factors, *hold]:
            for name in self.owners(key):
                other = taken.setdefault((name, key.partition(".")[2]), key)
                if other != key:
                    self.complain(("factors", key), f"{key} is {other} too under {name}", "keep one of them")
        for key in self.table.factors:
            if self.name_of(key) in hold:
                self.complain(("hold", key), f"{self.name_of(key)} is a factor too", "a knob is either varied or held")
            for number, given in enumerate(given_workloads if isinstance(given_workloads, list) else []):
                owner, _, parameter = key.partition(".")
                if isinstance(given, dict) and parameter in given and owner in (given.get("name"), given.get("kind")):
                    self.complain(
                        ("workload", number, parameter), f"{key} is a factor too", "take it out of one of them"
                    )


def check(parsed: Parsed, catalogue: Catalogue, facts: Facts) -> Plan:
    """The plan, checked against the catalogue and what the host offers. Raises PlanError with every problem."""
    return _Check(parsed, catalogue, facts).plan()
