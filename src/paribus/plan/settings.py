"""Settings of a plan, checked against catalogue, workloads, server and host; the base of `check`."""

import dataclasses
import functools
from typing import Any

from paribus.errors import Problem
from paribus.i18n import N_, StoredMessage, stored_message
from paribus.knobs.catalog import LOAD, SERVER, Catalogue
from paribus.model import FAMILIES, Combination, DatabaseFacts, Factor, Facts, Value, Workload
from paribus.plan.checks import held_configuration
from paribus.plan.form.file import WorkloadTable
from paribus.plan.form.key_paths import KeyPath
from paribus.plan.form.parse import Parsed
from paribus.plan.levels import Level, impossible, knob_level, label_of, parameter_level, unknown_key
from paribus.plan.workloads import data_in, has_parameter, kind_of, name_of, works_on_database
from paribus.registry import workload_kinds


class Settings:
    """One pass over a plan's settings that collects problems in `problems`."""

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

    def complain(self, key_path: KeyPath, message: str, hint: str = "") -> None:
        """Adds a problem."""
        self.problems.append(self.parsed.problem(key_path, message, hint))

    def impossible(self, parameter: str, value: Value, owners: list[WorkloadTable]) -> str:
        """Returns why this machine cannot make the load; a device may take what the path's file system refuses."""
        on_files = any(not data.device for table in owners for data in data_in(table))
        facts = self.facts if on_files else dataclasses.replace(self.facts, direct_refused="")
        return impossible(parameter, value, facts)

    def owners(self, key: str) -> list[str]:
        """Returns the names of the workloads that have this parameter."""
        return [name for name, table in self.tables.items() if has_parameter(table, key)]

    def level(self, key: str, written: Any, key_path: KeyPath) -> Level | None:
        """Returns a level in the form in which it is set; None after a problem."""
        knob = self.catalogue.find(key)
        if knob is not None:
            return knob_level(knob, key, written, self.facts, functools.partial(self.complain, key_path))
        level = None
        for name in self.owners(key):
            parameter = key.partition(".")[2]
            complain = functools.partial(self.complain, key_path)
            level = parameter_level(self.tables[name], parameter, written, complain)
        return level

    def is_known(self, key: str, key_path: KeyPath) -> bool:
        """Returns whether the key is a knob or a parameter; adds a problem if it is neither."""
        owner, _, variable = key.partition(".")
        family = FAMILIES.get(owner, owner)
        if owner in FAMILIES and family != self.family:
            kinds = " or ".join(f'"{kind}"' for kind, prefix in FAMILIES.items() if prefix == family)
            self.complain(key_path, f"the plan has no {family} database", f"add [database] with kind = {kinds}")
            return False
        if family == self.family and self.server.refusal is not None:
            return False  # the check reports why
        knob = self.catalogue.find(key)
        if knob is not None and knob.subject == SERVER and not self.starts_server():
            self.complain(key_path, *self.no_own_server(knob.name))
            return False
        if knob is not None and self.is_of_database(key) and not self.database_workloads():
            self.complain_of_unused_database(key_path)
            return False
        if knob is not None or self.owners(key):
            return True
        if family == self.family and self.server.name:
            hint = self.server.explained.get(variable) or self.catalogue.suggest(f"{family}.{variable}")
            self.complain(key_path, f"{self.server.name} has no variable {variable}", hint)
            return False
        hint = unknown_key(key, self.catalogue, self.table.workload)
        self.complain(key_path, "is neither a knob nor a parameter of a workload of this plan", hint)
        return False

    def is_of_database(self, key: str) -> bool:
        """Returns whether the key is a variable of a database or a condition of a private server's processes."""
        knob = self.catalogue.find(key)
        return key.partition(".")[0] in FAMILIES.values() or (knob is not None and knob.subject == SERVER)

    def database_workloads(self) -> list[str]:
        """Returns the names of the workloads that use the plan's database."""
        return [name for name, table in self.tables.items() if works_on_database(table)]

    def starts_server(self) -> bool:
        """Returns whether the plan's server is a private one, which is started for it."""
        return self.table.database is not None and self.family != "sqlite" and self.table.database.dsn is None

    def no_own_server(self, name: str) -> tuple[str, str]:
        """Returns why a condition of a server's process cannot be set, and what to do instead."""
        hint = f"for the process that makes the load, write {name.replace(f'.{SERVER}.', f'.{LOAD}.')}"
        if self.table.database is not None and self.table.database.dsn is not None:
            return f"{name} is set when a server starts, and the server in use by others is not restarted", hint
        return f"{name} is for a private server, and the plan has none", hint

    def refuse_other_machine(self, key: str, key_path: KeyPath) -> bool:
        """Returns whether the key is a knob of the target while the server runs elsewhere; adds that problem."""
        knob, running = self.catalogue.find(key), self.server.running
        if knob is None or running is None or not self.server.is_remote:
            return False
        if knob.subject or key.startswith(f"{self.family}."):
            return False
        message = (
            f"{knob.name} would be set on {self.facts.hostname}, and the server {running.address} runs on another "
            "machine, which the setting would not reach"
        )
        self.complain(key_path, message, "set target.host to the server's host, or remove the setting")
        return True

    def name_of(self, key: str) -> str:
        """Returns the knob's own name if the key is an alias."""
        knob = self.catalogue.find(key)
        return knob.name if knob else key

    def settings(self, written: dict[str, Any], key_path: KeyPath) -> dict[str, Value]:
        """Returns held or combined settings by the knobs' own names."""
        settings: dict[str, Value] = {}
        for key, value in written.items():
            setting_path = (*key_path, key)
            if not self.is_known(key, setting_path):
                continue
            if self.name_of(key) in settings:
                self.complain(
                    setting_path, f"{self.name_of(key)} is set twice, by two of its names", "keep one of them"
                )
            level = self.level(key, value, setting_path)
            if level is not None:
                settings[self.name_of(key)] = level.value
        return settings

    def factors(self) -> list[Factor]:
        """Returns the factors that have at least two levels."""
        factors: dict[str, Factor] = {}
        for key, written in self.table.factors.items():
            key_path: KeyPath = ("factors", key)
            if not self.is_known(key, key_path):
                continue
            name = self.name_of(key)
            if name in factors:
                self.complain(
                    key_path,
                    f"{name} is a factor already, by another of its names",
                    "put all levels under one of the names",
                )
                continue
            levels = self.levels(key, written, key_path)
            scope = self.scope(key)
            if len(levels) >= 2:
                factors[name] = Factor(
                    key=name, levels=tuple(v.value for v in levels), labels=tuple(v.label for v in levels), scope=scope
                )
        for key in self.table.factor_scope:
            if key not in self.table.factors:
                self.complain(("factor_scope", key), "is not a factor of this plan")
        return list(factors.values())

    def levels(self, key: str, written: list[Any], key_path: KeyPath) -> list[Level]:
        """Returns the levels that can be tried; levels that the machine cannot do are dropped with a note."""
        levels: list[Level] = []
        dropped = False
        for number, value in enumerate(written):
            level = self.level(key, value, (*key_path, number))
            if level is None:
                continue
            owners = [self.tables[name] for name in self.owners(key)]
            reason = self.impossible(key.partition(".")[2], level.value, owners) if owners else ""
            if reason:
                dropped = True
                self.notes.append(
                    stored_message("{key} = {level} is left out: {why}", key=key, level=level.label, why=reason)
                )
            elif level.value in [other.value for other in levels] and len(written) == 2:
                note = N_("{key}: both levels are {level}, so any difference is noise")
                self.notes.append(stored_message(note, key=key, level=level.label))
                levels.append(dataclasses.replace(level, label=f"{level.label} again"))
            elif level.value in [other.value for other in levels]:
                self.complain((*key_path, number), f"level {level.label} is listed twice", "list each level once")
            else:
                levels.append(level)
        if len(levels) < 2 and dropped:
            self.notes.append(stored_message("{key} is left out: it has only one level", key=key))
        return levels

    def scope(self, key: str) -> tuple[str, ...]:
        """Returns the names of the workloads under which a factor is tried."""
        applicable = list(self.tables) if self.catalogue.find(key) else self.owners(key)
        if self.is_of_database(key):
            applicable = self.database_workloads()
        chosen = self.table.factor_scope.get(key, applicable)
        if not chosen:
            self.complain(("factor_scope", key), "names no workload", f"there are: {', '.join(applicable)}")
        for name in chosen:
            if name not in applicable:
                self.complain(
                    ("factor_scope", key),
                    f"{key} does not apply to the workload {name!r}",
                    f"there are: {', '.join(applicable)}",
                )
        return tuple(
            workload.name
            for workload in self.laid_out
            if workload.plan_name in applicable and workload.plan_name in chosen
        )

    def complain_of_unused_database(self, key_path: KeyPath) -> None:
        """Adds the problem that no workload uses the database whose setting the plan names.

        A workload with a problem of its own may be the one that would.
        """
        if any("workload[" in problem.location for problem in self.parsed.problems):
            return
        uses = [kind for kind in workload_kinds if workload_kinds.get(kind).on_database]
        hint = f"remove the setting, or add a [[workload]] whose kind is one of {', '.join(uses)}"
        if tools := [name for name, table in self.tables.items() if kind_of(table).tool]:
            example = "{socket}, {user} and {database}"
            if self.family == "sqlite":
                hint += f"; a tool ({', '.join(tools)}) cannot use SQLite's file, which the load engine opens"
            else:
                hint += f"; to send a tool's load ({', '.join(tools)}) there, write {example} into its options"
        self.complain(key_path, f"no workload uses the plan's database; there are: {', '.join(self.tables)}", hint)

    def database_settings(self) -> dict[str, Value]:
        """Returns the settings of the database's own table, under the keys that they have elsewhere in a plan."""
        table = self.table.database
        settings: dict[str, Value] = {}
        for name, value in table.settings.items() if table else ():
            key_path: KeyPath = ("database", "settings", name)
            key = f"{self.family}.{name}"
            if self.is_known(key, key_path) and (level := self.level(key, value, key_path)) is not None:
                if key in self.table.hold:
                    self.complain(key_path, f"{key} is in [hold] too", "remove it from one of the two tables")
                settings[key] = level.value
        held, notes = held_configuration.held_lines(self.parsed, self.catalogue, self.facts)
        self.notes += notes
        return held | settings

    def combinations(self) -> list[Combination]:
        """Returns the combinations; adds a problem for each setting that is impossible here."""
        combinations: list[Combination] = []
        for number, table in enumerate(self.table.combination):
            key_path: KeyPath = ("combination", number)
            if table.name in [other.name for other in combinations] or table.name == "baseline":
                self.complain(
                    (*key_path, "name"),
                    f"{table.name!r} is the name of another arm",
                    "give each combination its own name",
                )
            settings = self.settings(table.settings, (*key_path, "settings"))
            for key, value in settings.items():
                owners = [self.tables[name] for name in self.owners(key)]
                if owners and (reason := self.impossible(key.partition(".")[2], value, owners)):
                    self.complain((*key_path, "settings", key), f"{label_of(value)!r} is not possible here: {reason}")
            combinations.append(Combination(name=table.name, settings=settings))
        return combinations

    def one_owner(self, hold: dict[str, Value]) -> None:
        """Adds a problem for each key that is both varied and fixed, and for parameters varied under two names."""
        workloads = self.parsed.document.get("workload")
        key_of_parameter: dict[tuple[str, str], str] = {}
        for key in [*self.table.factors, *hold]:
            for name in self.owners(key):
                other = key_of_parameter.setdefault((name, key.partition(".")[2]), key)
                if other != key:
                    self.complain(("factors", key), f"{key} is {other} too under {name}", "keep one of them")
        for key in self.table.factors:
            if self.name_of(key) in hold:
                self.complain(
                    ("hold", key), f"{self.name_of(key)} is a factor too", "remove it from [hold] or from [factors]"
                )
            for number, workload in enumerate(workloads if isinstance(workloads, list) else []):
                owner, _, parameter = key.partition(".")
                if (
                    isinstance(workload, dict)
                    and parameter in workload
                    and owner in (workload.get("name"), workload.get("kind"))
                ):
                    self.complain(
                        ("workload", number, parameter),
                        f"{key} is a factor too",
                        "remove it from [[workload]] or from [factors]",
                    )
