"""Plans of `paribus try`: settings and a load of the command line as the text of a plan."""

import contextlib
import math
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from paribus import workloads as _workloads  # noqa: F401  registers the kinds that a plan may name
from paribus.databases.server.kind import installed_kinds
from paribus.errors import PlanError, UsageError
from paribus.hosts.local import LocalHost
from paribus.model import FAMILIES, LAYOUT, Value
from paribus.plan.form.key_paths import KeyPath
from paribus.plan.form.parse import Parsed, override, parse
from paribus.plan.form.write import toml_text
from paribus.registry import workload_kinds

__all__ = ["ShortPlan", "parsed_short_plan", "printed", "workload_kinds"]

NAME = "try"  # in errors, where a plan has the name of its file
_EXAMPLE = "vm.dirty_ratio=20,5"
_MOST_CHARACTERS = 80  # of a plan's name
_QUOTES = ("'", '"')
_BRACKETS = ("[", "{")
_AMBIGUOUS = "mysql"  # the prefix of three kinds of servers
_COMMENTS = {
    "": "Made by paribus try. Saved to a file and edited, it is run with: paribus run FILE",
    "target.path": "the folder under which data is made, in paribus-data/",
    "target.device": "the disk that block.* knobs address",
    "database": "private to the experiment, unless dsn names a running server",
    "factors": "each setting with its levels; the first is the baseline",
    "workload.threads": "load levels: operations outstanding at once",
    "protocol": "every key has a default",
    "protocol.margin": "what is too small to matter",
    "protocol.trial": "measured time of a trial",
    "protocol.budget": "machine time for the experiment",
}

_OPTIONS: dict[KeyPath, str] = {
    ("workload", 0, "kind"): "--workload",
    ("workload", 0, "threads"): "--threads",
    ("database", "kind"): "--database",
    ("target", "path"): "--path",
    ("target", "device"): "--device",
    ("protocol", "margin"): "--margin",
    ("protocol", "trial"): "--trial",
    ("protocol", "budget"): "--budget",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ShortPlan:
    """Command line of `paribus try`; an empty text leaves a key to its default.

    `settings` are texts such as `vm.dirty_ratio=20,5`, `threads` is a list with commas. Others are as in a plan.
    `workload_keys` are further keys of the workload.
    """

    settings: Sequence[str]
    workload: str = ""
    workload_keys: Mapping[str, Any] = field(default_factory=dict)
    database: str = ""
    threads: str = ""
    path: str = ""
    device: str = ""
    margin: str = ""
    budget: str = ""
    trial: str = ""


def parsed_short_plan(
    short_plan: ShortPlan,
    overrides: Mapping[str, str],
    comments: Mapping[str, str] | None = None,
    name: str = NAME,
) -> Parsed:
    """Return the plan of a command line; `overrides` become part of its text. Raises UsageError and PlanError.

    `comments` are more comments by key, or other ones, as for `toml_text`. Errors call the plan by `name`.
    """
    factors = _factors(short_plan.settings)
    document = _document(short_plan, factors, is_local="target.host" not in overrides)
    override(name, document, overrides)
    try:
        text = toml_text(document, _COMMENTS | dict(comments or {}))
    except ValueError as error:
        raise UsageError(str(error), "write settings and options as UTF-8") from error
    places: dict[KeyPath, str] = {("factors", key): key for key in factors}
    parsed = parse(name, text, {}, _OPTIONS | places)
    kind = parsed.table.workload[0].kind
    if "database" not in document and workload_kinds.get(kind).on_database:
        raise UsageError(f"{kind} works on a database, and none is named", "add for example: --database sqlite")
    return parsed


def printed(parsed: Parsed) -> str:
    """Return the text of a plan. Raises PlanError with its problems of form."""
    if parsed.problems:
        raise PlanError(parsed.name, parsed.problems)
    return parsed.text


def _document(short_plan: ShortPlan, factors: dict[str, list[Value]], *, is_local: bool) -> dict[str, Any]:
    database = short_plan.database or _database(factors, is_local=is_local)
    target = {"path": short_plan.path or ".", "device": short_plan.device}
    protocol = {"margin": short_plan.margin, "trial": short_plan.trial, "budget": short_plan.budget}
    workload = short_plan.workload or _workload(factors, on_database=bool(database))
    threads = _levels("--threads", short_plan.threads) if short_plan.threads else [1]
    return {
        "name": _name(list(factors)),
        "question": _question(list(factors)),
        "target": _without_empty(target),
        **({"database": {"kind": database}} if database else {}),
        "factors": factors,
        "workload": [{"kind": workload, "threads": threads, **short_plan.workload_keys}],
        "protocol": _without_empty(protocol),
    }


def _without_empty(table: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in table.items() if value}


def _name(keys: Sequence[str]) -> str:
    name = "+".join(keys)
    if len(name) <= _MOST_CHARACTERS:
        return name
    more = f" and {len(keys) - 1} more" if len(keys) > 1 else ""
    return keys[0][: _MOST_CHARACTERS - len(more)] + more


def _question(keys: Sequence[str]) -> str:
    *others, last = keys
    return f"Which levels of {', '.join(others)} and {last} are best?" if others else f"Which {last} is best?"


def _factors(settings: Iterable[str]) -> dict[str, list[Value]]:
    factors: dict[str, list[Value]] = {}
    for setting in settings:
        key, levels = _factor(setting)
        if key in factors:
            raise UsageError(f"{key} is there twice", f"write all its levels together, as in {_EXAMPLE}")
        factors[key] = levels
    return factors


def _factor(setting: str) -> tuple[str, list[Value]]:
    """Return a setting's key and levels. Raises UsageError."""
    key, sign, written = (part.strip() for part in setting.partition("="))
    if not sign and key.endswith(".toml"):
        raise UsageError(f"{key} is no setting", f"if it is a plan, run it with: paribus run {key}")
    if not sign or not key:
        raise UsageError(f"{setting!r} is no setting with levels", f"write for example {_EXAMPLE}")
    if not setting.isprintable():
        raise UsageError(f"{setting!r} has characters that cannot be printed", f"write for example {_EXAMPLE}")
    if key == LAYOUT:
        raise UsageError(f"the levels of {LAYOUT} are tables", "write them in a plan: paribus run PLAN")
    levels = _levels(key, written)
    if len(levels) < 2:
        raise UsageError(
            f"{key} has one level, {written!r}, and needs two levels or more",
            f"write the baseline first, as in {_EXAMPLE}",
        )
    return key, levels


def _levels(key: str, written: str) -> list[Value]:
    """Return the levels of a list with commas. Raises UsageError."""
    levels = []
    for part in written.split(","):
        text = part.strip()
        if not text:
            raise UsageError(f"{key} has an empty level in {written!r}", "write a level between every two commas")
        if text.startswith(_BRACKETS) or (text.startswith(_QUOTES) and not _is_quoted(text)):
            raise UsageError(
                f"{key} has a level with a comma or a list in {written!r}", "write it in a plan: paribus run PLAN"
            )
        levels.append(_level(text))
    return levels


def _is_quoted(text: str) -> bool:
    return len(text) > 1 and text.startswith(_QUOTES) and text.endswith(text[0])


def _level(text: str) -> Value:
    """Return a number, truth value or quoted text as TOML has it, and any other text as it is."""
    if not text.isprintable() or ("#" in text and not _is_quoted(text)):  # neither several lines nor a comment
        return text
    with contextlib.suppress(ValueError):  # no TOML, or a number of thousands of digits
        value = tomllib.loads(f"level = {text}").get("level")
        if isinstance(value, bool | int | str) or (isinstance(value, float) and math.isfinite(value)):
            return value
    return text


def _workload(factors: Iterable[str], *, on_database: bool) -> str:
    """Return the kind whose parameter is a factor; else the one for files, or for a database."""
    owners = [key.partition(".")[0] for key in factors]
    named_kinds = [owner for owner in owners if owner in workload_kinds]
    return next(iter(named_kinds), "oltp_read_write" if on_database else "fileio")


def _database(factors: Iterable[str], *, is_local: bool) -> str:
    """Return the kind of the server whose variables are factors; empty if none are. Raises UsageError."""
    owners = dict.fromkeys(key.partition(".")[0] for key in factors)
    prefixes = [owner for owner in owners if owner in FAMILIES]
    if len({FAMILIES[prefix] for prefix in prefixes}) > 1:
        raise UsageError(f"{' and '.join(prefixes)} are different servers", "try the settings of one server at a time")
    specific = [prefix for prefix in prefixes if prefix != _AMBIGUOUS]
    if specific or not prefixes:
        return next(iter(specific), "")
    return _mysql_here() if is_local else "mariadb"


def _mysql_here() -> str:
    """Return the kind of the server of MySQL's family that is installed here; MariaDB if none is."""
    family = [kind for kind, prefix in FAMILIES.items() if prefix == _AMBIGUOUS]
    return next(installed_kinds(LocalHost(), family), family[0])
