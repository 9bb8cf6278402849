"""Parser of plans: text in, validated table out, with every problem of form."""

import copy
import hashlib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from paribus.errors import PlanError, Problem, UsageError
from paribus.files import read_text
from paribus.model import FAMILIES
from paribus.plan.form.file import PlanTable, plan_form
from paribus.plan.form.form_problems import form_problem, located
from paribus.plan.form.key_lines import lines_of
from paribus.plan.form.key_paths import KeyPath, Places, problem
from paribus.plan.form.server_configuration import ServerConfiguration, read_configuration
from paribus.plan.form.tool_addresses import with_addresses

_MOST_BYTES = 1 << 20
_MOST_PARTS = 1000
_MOST_DEPTH = 32
_MOST_PROBLEMS = 100  # listed; further ones are only mentioned


@dataclass(frozen=True, slots=True)
class Parsed:
    """A plan as read.

    `table` lacks what is wrong, so that the rest can still be checked. `document` is the TOML document with the
    overrides. `configuration` is that of the server's own file, where the plan names one.
    """

    name: str
    text: str
    overrides: Mapping[str, str]
    table: PlanTable
    document: Mapping[str, Any]
    problems: tuple[Problem, ...]
    places: Places
    configuration: ServerConfiguration = field(default_factory=ServerConfiguration)

    @property
    def digest(self) -> str:
        """SHA-256 of the intent: the text, the overrides of the command line, and the server's file."""
        whole = self.text + "\0" + json.dumps(dict(self.overrides), sort_keys=True)
        if self.configuration.settings:
            whole += "\0" + json.dumps({name: line.value for name, line in self.configuration.settings.items()})
        return hashlib.sha256(whole.encode()).hexdigest()

    def problem(self, key_path: KeyPath, message: str, hint: str = "") -> Problem:
        """Returns a problem at a key of this plan."""
        return problem(self.places, key_path, message, hint)


def read_file(path: str) -> str:
    """Returns the text of a plan file. Raises UsageError."""
    try:
        return read_text(Path(path), _MOST_BYTES)
    except OSError as error:
        raise UsageError(
            f"cannot read the plan {path}: {error.strerror}", "name a plan file, such as one of examples/"
        ) from error


def parse(name: str, text: str, overrides: Mapping[str, str], places: Places | None = None) -> Parsed:
    """Parses a plan and validates its form.

    Args:
        name: The plan's name in error messages, usually its path.
        text: The TOML document.
        overrides: Dotted keys with TOML values or plain text that replace those of the document. A number in a key is
            the index of an array element, from 0.
        places: Arguments of a command line that stand for keys, named in problems. Default: the lines of the text.

    Returns:
        The validated table, which lacks whatever is wrong, with all problems of form and the places of keys.

    Raises:
        PlanError: The text is no TOML, is nested too deeply, or an override names no key.

    Example:
        `parse("plan.toml", text, {"target.device": "/dev/sdb", "workload.0.total_size": "10GiB"}).problems`
    """
    _refuse_long_keys(name, text, overrides)
    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # no TOML, numbers of thousands of digits, deep nesting
        raise PlanError(name, [Problem("the file", f"is not TOML: {error}", "correct that line")]) from error
    override(name, document, overrides)
    if _is_deep(document):
        mistake = Problem(
            "the file", f"has tables that are nested more than {_MOST_DEPTH} deep", "see: paribus schema plan"
        )
        raise PlanError(name, [mistake])
    if places is None:
        places = lines_of(text)
    table, problems = _validate(with_addresses(document), places)
    configuration = ServerConfiguration()
    if table.database is not None and table.database.config:
        try:
            configuration = read_configuration(table.database.config, FAMILIES[table.database.kind])
        except UsageError as error:
            problems.append(problem(places, ("database", "config"), error.message, error.todo))
    return Parsed(name, text, dict(overrides), table, document, tuple(problems), places, configuration)


def override(name: str, document: dict[str, Any], overrides: Mapping[str, str]) -> None:
    """Merges the overrides into a document; arguments as for `parse`. Raises PlanError."""
    for key, value in overrides.items():
        try:
            _merge(document, _override(key, value))
        except (ValueError, RecursionError) as error:
            mistake = Problem(f"--set {key}", str(error), "write for example --set target.device=/dev/sdb")
            raise PlanError(name, [mistake]) from error


def _refuse_long_keys(name: str, text: str, overrides: Mapping[str, str]) -> None:
    """Raises PlanError for a key with so many parts that tomllib would take minutes."""
    keys = [(f"line {number}", line.partition("=")[0]) for number, line in enumerate(text.splitlines(), start=1)]
    for location, key in [*keys, *((f"--set {key[:40]}", key) for key in overrides)]:
        if key.count(".") > _MOST_PARTS:
            message = f"has a key of more than {_MOST_PARTS} parts"
            raise PlanError(name, [Problem(location, message, "see: paribus schema plan")])


def _is_deep(document: dict[str, Any]) -> bool:
    """Returns whether the document is nested deeper than any plan can be."""
    values: list[Any] = [document]
    for _ in range(_MOST_DEPTH):
        tables = [
            value.values() if isinstance(value, dict) else value for value in values if isinstance(value, dict | list)
        ]
        values = [value for table in tables for value in table]
    return any(isinstance(value, dict | list) for value in values)


def _override(key: str, value: str) -> dict[str, Any]:
    """Returns the table that an override such as `target.device=/dev/loop0` stands for. Raises ValueError."""
    if "\n" in key + value:
        raise ValueError("has a line break: an override is one line")
    for text in (value, json.dumps(value)):
        try:
            return tomllib.loads(f"{key} = {text}")
        except tomllib.TOMLDecodeError:
            continue
    raise ValueError("is not a valid TOML key")


def _merge(target: dict[str, Any], other: dict[str, Any]) -> None:
    """Merges a table into another; a number is an element's index, as in `workload.0.total_size`. Raises ValueError."""
    for key, value in other.items():
        current = target.get(key)
        if isinstance(current, list) and isinstance(value, dict):
            for number, element in value.items():
                if not (number.isdecimal() and int(number) < len(current) and isinstance(element, dict)):
                    raise ValueError(f"{key} has no element {number!r}: elements are counted from 0")
                _merge(current[int(number)], element)
        elif isinstance(value, dict) and isinstance(current, dict):
            _merge(current, value)
        else:
            target[key] = value


_Location = tuple[int | str, ...]
_UNUSABLE = "unusable"  # the type of a mistake that is not of the user


def _validate(document: dict[str, Any], places: Places) -> tuple[PlanTable, list[Problem]]:
    """Returns the valid part of a document, and all problems.

    What is wrong is removed, and the rest is validated again, so that no mistake hides another.
    """
    form = plan_form()
    remaining = copy.deepcopy(document)
    problems: dict[str, Problem] = {}
    stood_in: set[_Location] = set()
    without_kind: set[_Location] = set()  # workloads whose keys depend on a kind that is wrong or missing
    for _ in range(100):
        try:
            return form.model_validate(remaining), list(problems.values())
        except ValidationError as error:
            # Last elements first, so that the indexes of earlier elements stay valid.
            details = [located(detail) for detail in error.errors()]
            tables = {table["loc"]: table for detail in details if (table := _table_of(detail, stood_in)) is not detail}
            mistakes = [*(detail for detail in details if detail["loc"] not in stood_in), *tables.values()]
            for detail in sorted(mistakes, key=lambda d: [str(part) for part in d["loc"]], reverse=True):
                is_unknown = detail["type"] == "extra_forbidden"
                if detail["loc"][:1] == ("workload",) and detail["loc"][2:] == ("kind",) and not is_unknown:
                    without_kind.add(detail["loc"][:2])
                if detail["type"] == _UNUSABLE or (is_unknown and detail["loc"][:-1] in without_kind):
                    _cut(remaining, detail)
                    continue
                if len(problems) < _MOST_PROBLEMS:
                    described = form_problem(detail, document, places)
                else:
                    described = Problem("the file", f"has more problems than these {_MOST_PROBLEMS}")
                problems.setdefault(str(described), described)
                if _cut(remaining, detail):
                    stood_in.add(detail["loc"])
    raise AssertionError("a plan that is cut down stays wrong")


def _table_of(detail: ErrorDetails, stood_in: set[_Location]) -> ErrorDetails:
    """Returns the mistake; of a value that stood in for one, the table that it is in."""
    location = detail["loc"]
    while location and location in stood_in:
        location = location[:-1]
    return detail if location == detail["loc"] else {**detail, "loc": location, "type": _UNUSABLE}


_STATEMENTS = [{"sql": "SELECT 1"}]
_NEEDED = {
    "name": "unnamed",
    "workload": [{"kind": "fileio"}],
    "kind": "fileio",
    "transactions": [{"name": "unnamed", "statements": _STATEMENTS}],
    "statements": _STATEMENTS,
    "sql": "SELECT 1",
    "insert": "SELECT 1",
    "count": 1,
    "test": "unnamed",
    "home": "/unnamed",
    "run": ["unnamed"],
    "throughput": "(?P<value>.)",
    "at": "1s",
    "do": "trim",
}
_STAND_IN = {**_NEEDED, "settings": {"": 0}}


def _cut(remaining: dict[str, Any], detail: ErrorDetails) -> bool:
    """Removes the wrong part from the document, or inserts a value for a missing one, and returns whether it did so."""
    *path, last = detail["loc"] or ("",)
    if "arguments" in path:  # replaced, not removed: their number must stay the statement's number of parameters
        path, last = path[: path.index("arguments") + 1], detail["loc"][path.index("arguments") + 1]
    container: Any = remaining
    for part in path:
        try:
            container = container[part]
        except (KeyError, IndexError, TypeError):
            return False  # no key of the document, or removed already
    if isinstance(container, dict):
        needed = last in _NEEDED and detail["type"] != "extra_forbidden" and container.get(last) != _NEEDED[last]
        if detail["type"] == "missing" or (needed and last in container):
            container[str(last)] = copy.deepcopy(_STAND_IN.get(str(last), "unnamed"))
            return True
        if last in container:
            del container[str(last)]
        elif detail["type"] != _UNUSABLE:
            container.clear()
    elif isinstance(container, list) and isinstance(last, int) and last < len(container):
        if path[-1] == "arguments":
            container[last] = {"null": True}
        else:
            del container[last]
        if not container:
            return _cut(remaining, {**detail, "loc": tuple(path)})
    return False
