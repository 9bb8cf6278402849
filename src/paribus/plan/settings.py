"""A plan's settings against catalogue, workloads, server and host: keys that are known, levels that can be set.

In: a plan's tables. Out: records of settings, factors and combinations; what is wrong is collected. The base of
`check`.
"""

import dataclasses
import functools
from typing import Any

from paribus.errors import Problem
from paribus.i18n import N_, StoredMessage, stored_message
from paribus.knobs.catalog import Catalogue
from paribus.model import FAMILIES, Combination, DatabaseFacts, Factor, Facts, Value, Workload
from paribus.plan.file import WorkloadTable
from paribus.plan.key_paths import KeyPath
from paribus.plan.levels import Level, impossible, knob_level, label_of, parameter_level, unknown_key
from paribus.plan.parse import Parsed
from paribus.plan.workloads import data_in, has_parameter, kind_of, name_of
from paribus.registry import workload_kinds


class Settings:
    """One pass over a plan's settings; what is wrong is collected in `problems`."""

    def __init__(self, parsed: Parsed, catalogue: Catalogue, facts: Facts) -> None:
        self.parsed = parsed
        self.table = parsed.table
        self.server = facts.database or DatabaseFacts()
        self.catalogue = catalogue.with_rows(self.server.rows)
        self.facts = facts
        self.problems: list[Problem] = list(parsed.problems)
        self.notes: list[StoredMessage] = []
        self.laid_out: list[Workload] = []
        self.tables: dict[str, WorkloadTable] = {name_of(table): table for table in self.table.workload}
        self.family = FAMILIES[self.table.database.kind] if self.table.database else ""

    def complain(self, place: KeyPath, wrong: str, right: str = "") -> None:
        self.problems.append(self.parsed.problem(place, wrong, right))

    def impossible(self, parameter: str, value: Value, owners: list[WorkloadTable]) -> str:
        """Why this machine cannot do it; what the file system of the path refuses, a device may take."""
        on_files = any(not data.device for one in owners for data in data_in(one))
        facts = self.facts if on_files else dataclasses.replace(self.facts, direct_refused="")
        return impossible(parameter, value, facts)

    def owners(self, key: str) -> list[str]:
        """The workloads whose parameter a key is."""
        return [name for name, table in self.tables.items() if has_parameter(table, key)]

    def level(self, key: str, written: Any, place: KeyPath) -> Level | None:
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

    def known(self, key: str, place: KeyPath) -> bool:
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

    def settings(self, written: dict[str, Any], place: KeyPath) -> dict[str, Value]:
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
            place: KeyPath = ("factors", key)
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

    def levels(self, key: str, written: list[Any], place: KeyPath) -> list[Level]:
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
                self.notes.append(
                    stored_message("{key} = {level} is left out: {why}", key=key, level=level.label, why=why)
                )
            elif level.value in [other.value for other in found] and len(written) == 2:
                said = N_("{key}: both levels are {level}, so that what differs is noise")
                self.notes.append(stored_message(said, key=key, level=level.label))
                found.append(dataclasses.replace(level, label=f"{level.label} again"))
            elif level.value in [other.value for other in found]:
                self.complain((*place, number), f"{level.label} stands twice", "name each level once")
            else:
                found.append(level)
        if len(found) < 2 and dropped:
            self.notes.append(stored_message("{key} is left out: one level is nothing to compare", key=key))
        elif len(found) < 2 and len(self.problems) == before:
            self.complain(place, "one level is nothing to compare", "add a level, or move it to [hold]")
        return found

    def scope(self, key: str) -> tuple[str, ...]:
        """The workloads a factor is tried under."""
        applicable = list(self.tables) if self.catalogue.find(key) else self.owners(key)
        if key.partition(".")[0] in FAMILIES.values():
            applicable = [name for name in applicable if kind_of(self.tables[name]).on_database]
        if not applicable:
            self.complain_of_unused_database(("factors", key))
            return ()
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

    def complain_of_unused_database(self, place: KeyPath) -> None:
        """Add the problem that a setting of the database can be tried under no workload."""
        uses = [kind for kind in workload_kinds if workload_kinds.get(kind).on_database]
        todo = f"add a [[workload]] whose kind is one of {', '.join(uses)}"
        if tools := [name for name, table in self.tables.items() if kind_of(table).tool]:
            todo += f"; a tool's load ({', '.join(tools)}) goes where its own options send it, not to that database"
        self.complain(place, f"no workload uses the plan's database; there are: {', '.join(self.tables)}", todo)

    def database_settings(self) -> dict[str, Value]:
        """Those of the database's own table, under the keys that they have elsewhere."""
        table = self.table.database
        found: dict[str, Value] = {}
        for name, value in table.settings.items() if table else ():
            place: KeyPath = ("database", "settings", name)
            key = f"{self.family}.{name}"
            if self.known(key, place) and (level := self.level(key, value, place)) is not None:
                if key in self.table.hold:
                    self.complain(place, f"{key} is in [hold] too", "keep one of them")
                found[key] = level.value
        return found

    def combinations(self) -> list[Combination]:
        found: list[Combination] = []
        for number, table in enumerate(self.table.combination):
            place: KeyPath = ("combination", number)
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
