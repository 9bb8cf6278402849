"""Audit of a machine and its server against published advice, and the document of `paribus audit`."""

import shlex
from enum import StrEnum

from pydantic import BaseModel, ConfigDict

from paribus.audit import (
    AdviceRules,
    AdviceSource,
    AdviceStatus,
    AuditFacts,
    Scalar,
    SettingAdvice,
    all_rules,
    assess,
)
from paribus.audit.facts import BYTES, MILLISECONDS
from paribus.engine.run import probe
from paribus.errors import UsageError
from paribus.hosts.transport import described
from paribus.knobs import recipe
from paribus.lab.audit.configuration_facts import configuration_facts
from paribus.lab.audit.local_measurements import measurements
from paribus.lab.audit.machine_facts import in_force, machine_facts, machine_settings
from paribus.lab.audit.server_facts import ServerDescription, server_facts
from paribus.lab.machine.connection import LOCAL, Report, discard, site
from paribus.lab.machine.inspection import fingerprint, location_below
from paribus.lab.machine.own_knobs import catalogue_here
from paribus.model import Knob, Offer
from paribus.trial.target_session import Site

_URGENT = (AdviceStatus.CONTRADICTED, AdviceStatus.DIFFERS)  # comes first where the setting is a dangerous one


class _Document(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class AdvisedValue(_Document):
    """An advised value that is not the one now, with the lines that set it and keep it after the next start.

    `level` is the value as a plan writes it.
    """

    value: Scalar
    level: str
    set: str
    keep: str


class AuditedSetting(_Document):
    """The advice about a setting, the danger of changing it, and how to try, set and check what is advised.

    `level` is the value now as a plan writes it. `test` and `check` are empty where there is nothing to set.
    """

    advice: SettingAdvice
    danger: str
    level: str
    values: list[AdvisedValue]
    test: str
    check: str


class AuditCondition(StrEnum):
    """Result of an audit that `--fail-on` can name."""

    CONTRADICTED = "contradicted"
    DIFFERS = "differs"


class AuditDocument(_Document):
    """The answer of `paribus audit --json`; `server` is empty where no server was asked."""

    target: str
    host: str
    kernel: str
    path: str
    server: str
    settings: list[AuditedSetting]
    sources: dict[str, AdviceSource]
    facts: AuditFacts

    def count(self, status: AdviceStatus) -> int:
        """The number of settings in a state."""
        return sum(setting.advice.status is status for setting in self.settings)

    @property
    def conditions(self) -> frozenset[AuditCondition]:
        """The conditions that hold."""
        states = {AuditCondition.CONTRADICTED: AdviceStatus.CONTRADICTED, AuditCondition.DIFFERS: AdviceStatus.DIFFERS}
        return frozenset(condition for condition, status in states.items() if self.count(status))


def audit(
    target: str,
    path: str,
    *,
    database: str = "",
    config: str = "",
    server: str = "",
    workload: str = "oltp",
    store: str | None = None,
    become: bool = False,
    report: Report = discard,
) -> AuditDocument:
    """Connect to a machine and hold its settings, and those of a server, against all rules; changes nothing.

    `database` is the address of a running server; else `config` is the file of one, and `server` its kind and version.
    Experiments of the `store` on this machine count as evidence, where there is such a store.

    Raises UsageError for a wrong rule or address, HostError, EngineError, and DatabaseError where the server does not
    answer.
    """
    if not path:
        raise UsageError("--path is empty", "name the folder with the data")
    rules = all_rules()
    of_file = configuration_facts(config, server) if config else ServerDescription()
    with site(target, become=become, report=report) as connected, described(target):
        asked_server = server_facts(connected.host, connected.engine, database) if database else of_file
        return _document(connected, path, rules, asked_server, workload, store)


def _document(
    site: Site, path: str, rules: AdviceRules, server: ServerDescription, workload: str, store: str | None
) -> AuditDocument:
    probed = probe(site.host, site.engine, path)
    if not probed.directory.exists:
        raise UsageError(f"{probed.directory.path} is no folder", "name the folder with the data: --path FOLDER")
    location = location_below(site.host, probed.directory)
    names = dict.fromkeys([*rules.settings(), *rules.names()])
    facts, fact_lacks = machine_facts(site.host, probed.directory.filesystem, location)
    machine_offers, setting_lacks = machine_settings(site.host, catalogue_here(), names, location)
    offers = machine_offers | server.offers()
    in_force_now = {name: in_force(each) for name, each in machine_offers.items()} | server.settings()
    settings = {name: in_force_now[name] for name in names if name in in_force_now}
    here = fingerprint(site, probed.directory.path, location.device)
    audited = AuditFacts(
        facts=facts | {"workload": workload} | server.facts(),
        settings=settings,
        lacks=fact_lacks | setting_lacks | server.lacks(names),
        measurements=measurements(store, here, server.kind, settings),
    )
    advice = assess(rules, audited)
    where = ["--path", probed.directory.path]
    where += [] if site.host.name == LOCAL else ["--set", f"target.host={site.host.name}"]
    return AuditDocument(
        target=site.host.name,
        host=probed.hostname,
        kernel=probed.kernel,
        path=probed.directory.path,
        server=server.name,
        settings=sorted(
            (_audited(each, offers.get(each.setting), audited, where) for each in advice),
            key=lambda each: not (each.danger and each.advice.status in _URGENT),
        ),
        sources={item.source: rules.sources[item.source] for each in advice for item in each.items},
        facts=audited,
    )


def _audited(advice: SettingAdvice, offered: Offer | None, facts: AuditFacts, where: list[str]) -> AuditedSetting:
    values = {item.value: None for item in advice.items if item.value is not None}
    if offered is None or offered.refused or not values:
        danger = offered.knob.danger if offered else ""
        return AuditedSetting(advice=advice, danger=danger, level="", values=[], test="", check="")
    knob, level = offered.knob, str(offered.current)
    is_postgres = facts.family == "postgres" and knob.name.startswith("postgres.")
    advised = [_advised(knob, value, facts.settings[knob.name].unit if is_postgres else "") for value in values]
    levels = ",".join([level, *(value.level for value in advised)])
    is_variable = facts.family is not None and knob.name.startswith(f"{facts.family}.")
    database = ["--database", str(facts.facts["server"])] if is_variable else []
    return AuditedSetting(
        advice=advice,
        danger=knob.danger,
        level=level,
        values=advised,
        test=shlex.join(["paribus", "try", f"{knob.name}={levels}", *database, *where]),
        check=recipe.check_command(knob),
    )


def _advised(knob: Knob, value: Scalar, unit: str) -> AdvisedValue:
    written = _with_unit(value, unit)
    lines = recipe.set_command(knob, written), recipe.persist_command(knob, written)
    return AdvisedValue(value=value, level=str(written), set=lines[0], keep=lines[1])


def _with_unit(value: Scalar, unit: str) -> Scalar:
    """A size or time as PostgreSQL reads it, which takes a number without a unit in a unit of its own."""
    if isinstance(value, str):
        return value
    if unit == BYTES:
        return f"{int(value) // 2**20}MB" if value % 2**20 == 0 else f"{int(value) // 2**10}kB"
    return f"{value:g}ms" if unit == MILLISECONDS else value
