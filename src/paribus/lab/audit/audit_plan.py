"""Plan that tests what an audit found to differ: each setting as it is, against the advised value."""

from typing import TYPE_CHECKING

from paribus.errors import UsageError
from paribus.lab.audit.auditing import AuditDocument, AuditedSetting
from paribus.lab.machine.connection import LOCAL
from paribus.lab.plans.short_plan import ShortPlan, parsed_short_plan, printed
from paribus.model import FAMILIES

if TYPE_CHECKING:  # it reads SQL by a library that takes half a second to import
    from paribus.lab.statement_mix.mix import StatementMix

_NAME = "audit"
_TITLE = "Made by paribus audit: settings that differ from published advice. Edit it, then: paribus check FILE"
_THREADS = "4,16"


def plan_text(document: AuditDocument, mix: "StatementMix | None" = None) -> str:
    """A plan with all settings that differ and can be set, as TOML. Raises UsageError where there are none.

    Where sources advise different values, it has the one of the best evidence. Its workload is `mix`, where there is
    one.
    """
    levels = {
        each.advice.setting: (each.level, each.values[0].level)
        for each in document.settings
        if each.values and "," not in each.level + each.values[0].level  # which a short plan cannot write
    }
    if not levels:
        raise UsageError(f"no setting of {document.host} that can be set differs from the advice", "see it with --all")
    notes = ["The workload:", *(f"- {note}" for note in mix.notes)] if mix else []
    comments = {
        "": "\n".join([_TITLE, *notes]),
        **{f"factors.{each.advice.setting}": _comment(each, document) for each in document.settings},
    }
    has_variables = any(name.partition(".")[0] in FAMILIES.values() for name in levels)
    short_plan = ShortPlan(
        settings=[f"{name}={now},{advised}" for name, (now, advised) in levels.items()],
        workload="sqlmix" if mix else "",
        workload_keys=mix.workload if mix else {},
        database=str(document.facts.facts["server"]) if has_variables or mix else "",
        threads=_THREADS,
        path=document.path,
    )
    overrides = {"name": _NAME, "question": "Which published advice helps on this machine?"}
    overrides |= {} if document.target == LOCAL else {"target.host": document.target}
    return printed(parsed_short_plan(short_plan, overrides, comments, name=_NAME))


def _comment(setting: AuditedSetting, document: AuditDocument) -> str:
    """The sources that advise the second level."""
    advising = [item for item in setting.advice.items if setting.values and item.value == setting.values[0].value]
    return "; ".join(dict.fromkeys(document.sources[item.source].title for item in advising))
