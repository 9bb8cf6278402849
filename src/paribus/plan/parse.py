"""A plan's text in, its table out, with every problem of form and what could be read in spite of them."""

import copy
import hashlib
import json
import os
import stat
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from paribus.errors import PlanError, Problem, UsageError
from paribus.plan.file import PlanTable, plan_form
from paribus.plan.key_lines import lines_of
from paribus.plan.key_paths import KeyPath, problem
from paribus.registry import nearest, workload_kinds
from paribus.units import show_size

_MOST_BYTES = 1 << 20
_MOST_PARTS = 1000
_MOST_DEPTH = 32
_MOST_PROBLEMS = 100  # described; more tell a person nothing


@dataclass(frozen=True, slots=True)
class Parsed:
    """A plan as read: `table` leaves out what is wrong, so that the rest can be checked all the same."""

    name: str
    text: str
    overrides: Mapping[str, str]
    table: PlanTable
    document: Mapping[str, Any]
    problems: tuple[Problem, ...]
    lines: Mapping[KeyPath, int]

    @property
    def digest(self) -> str:
        """What identifies the intent: the text and what was set on the command line."""
        whole = self.text + "\0" + json.dumps(dict(self.overrides), sort_keys=True)
        return hashlib.sha256(whole.encode()).hexdigest()

    def problem(self, key_path: KeyPath, message: str, hint: str = "") -> Problem:
        """A problem at a place of this plan."""
        return problem(self.lines, key_path, message, hint)


def read_file(path: str) -> str:
    """The text of a plan file. Raises UsageError."""
    try:
        # A pipe that nobody writes to must not be waited for, and a device has no end.
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise OSError(0, "it is no regular file")
            content = file.read(_MOST_BYTES + 1)
            if len(content) > _MOST_BYTES:
                raise OSError(0, f"it is larger than {show_size(_MOST_BYTES)}")
        return content.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        cause = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise UsageError(f"cannot read the plan {path}: {cause}", "name a plan file; examples/ has some") from error


def parse(name: str, text: str, overrides: Mapping[str, str]) -> Parsed:
    """Read a plan. `overrides` are dotted keys with TOML values or plain text, set over the file's.

    Raises PlanError only where the text is no TOML at all or an override names no key.
    """
    _refuse_long_keys(name, text, overrides)
    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # tomllib's own error, numbers of thousands of digits, deep nests
        raise PlanError(name, [Problem("the file", f"is not TOML: {error}", "correct the line named")]) from error
    for key, value in overrides.items():
        try:
            _merge(document, _override(key, value))
        except (ValueError, RecursionError) as error:
            mistake = Problem(f"--set {key}", str(error), "write for example --set target.device=/dev/sdb")
            raise PlanError(name, [mistake]) from error
    if _is_deep(document):
        mistake = Problem(
            "the file", f"has tables that are nested more than {_MOST_DEPTH} deep", "see: paribus schema plan"
        )
        raise PlanError(name, [mistake])
    lines = lines_of(text)
    table, problems = _validate(document, lines)
    return Parsed(name, text, dict(overrides), table, document, tuple(problems), lines)


def _refuse_long_keys(name: str, text: str, overrides: Mapping[str, str]) -> None:
    """Raise PlanError for a key of so many parts that reading it would take minutes."""
    keys = [(f"line {number}", line.partition("=")[0]) for number, line in enumerate(text.splitlines(), start=1)]
    for location, key in [*keys, *((f"--set {key[:40]}", key) for key in overrides)]:
        if key.count(".") > _MOST_PARTS:
            message = f"has a key of more than {_MOST_PARTS} parts"
            raise PlanError(name, [Problem(location, message, "see: paribus schema plan")])


def _is_deep(document: dict[str, Any]) -> bool:
    """Whether it is nested deeper than any plan can be."""
    values: list[Any] = [document]
    for _ in range(_MOST_DEPTH):
        tables = [
            value.values() if isinstance(value, dict) else value for value in values if isinstance(value, dict | list)
        ]
        values = [value for table in tables for value in table]
    return any(isinstance(value, dict | list) for value in values)


def _override(key: str, value: str) -> dict[str, Any]:
    """`target.device=/dev/loop0` as the table it stands for. Raises ValueError."""
    if "\n" in key + value:
        raise ValueError("is more than one line")
    for text in (value, json.dumps(value)):
        try:
            return tomllib.loads(f"{key} = {text}")
        except tomllib.TOMLDecodeError:
            continue
    raise ValueError("is no key of a plan")


def _merge(target: dict[str, Any], other: dict[str, Any]) -> None:
    """Put one table over another; a number names an element, as in `workload.0.total_size`. Raises ValueError."""
    for key, value in other.items():
        current = target.get(key)
        if isinstance(current, list) and isinstance(value, dict):
            for number, element in value.items():
                if not (number.isdecimal() and int(number) < len(current) and isinstance(element, dict)):
                    raise ValueError(f"{key} has no element {number!r} to set a key of; they are counted from 0")
                _merge(current[int(number)], element)
        elif isinstance(value, dict) and isinstance(current, dict):
            _merge(current, value)
        else:
            target[key] = value


def _validate(document: dict[str, Any], lines: dict[KeyPath, int]) -> tuple[PlanTable, list[Problem]]:
    """Validate; cut out what is wrong and validate again, so that one mistake does not hide another."""
    form = plan_form()
    remaining = copy.deepcopy(document)
    problems: dict[str, Problem] = {}
    for _ in range(100):
        try:
            return form.model_validate(remaining), list(problems.values())
        except ValidationError as error:
            # The last element of a list first, so that the places of the others still hold.
            details = [_placed(detail) for detail in error.errors()]
            for detail in sorted(details, key=lambda d: [str(part) for part in d["loc"]], reverse=True):
                if len(problems) < _MOST_PROBLEMS:
                    described = _problem(detail, document, lines)
                else:
                    described = Problem("the file", f"has more problems than these {_MOST_PROBLEMS}")
                problems.setdefault(str(described), described)
                _cut(remaining, detail)
    raise AssertionError("a plan that is cut down stays wrong")


def _placed(detail: ErrorDetails) -> ErrorDetails:
    """One of pydantic's errors at its place in the file: where there are several kinds of workload, it adds one."""
    key_path = detail["loc"]
    if detail["type"] == "union_tag_not_found":
        return {**detail, "loc": (*key_path, "kind"), "type": "missing"}
    if detail["type"] == "union_tag_invalid":
        named = {"loc": (*key_path, "kind"), "input": detail["input"]["kind"]}
        return {**detail, **named, "type": "literal_error", "ctx": {"expected": detail["ctx"]["expected_tags"]}}  # type: ignore[typeddict-item]
    if len(key_path) > 2 and key_path[0] == "workload" and key_path[2] in workload_kinds:
        return {**detail, "loc": (*key_path[:2], *key_path[3:])}
    return detail


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
    "run": ["unnamed"],
    "throughput": "(?P<value>.)",
}
_STAND_IN = {**_NEEDED, "settings": {"": 0}}


def _cut(remaining: dict[str, Any], detail: ErrorDetails) -> None:
    """Take the wrong part out, or put something in the place of what is missing."""
    *path, last = detail["loc"] or ("",)
    if "arguments" in path:  # something in its place: as many stay as the statement has parameters
        path, last = path[: path.index("arguments") + 1], detail["loc"][path.index("arguments") + 1]
    container: Any = remaining
    for part in path:
        try:
            container = container[part]
        except (KeyError, IndexError, TypeError):
            return  # a word of pydantic's, or cut already
    if isinstance(container, dict):
        needed = last in _NEEDED and detail["type"] != "extra_forbidden"
        if detail["type"] == "missing" or (needed and last in container):
            container[str(last)] = copy.deepcopy(_STAND_IN.get(str(last), "unnamed"))
        elif last in container:
            del container[str(last)]
        else:
            container.clear()
    elif isinstance(container, list) and isinstance(last, int) and last < len(container):
        if path[-1] == "arguments":
            container[last] = {"null": True}
        else:
            del container[last]
        if not container:
            _cut(remaining, {**detail, "loc": tuple(path)})


def _problem(detail: ErrorDetails, document: dict[str, Any], lines: dict[KeyPath, int]) -> Problem:
    """One of pydantic's errors in our words."""
    key_path = tuple(detail["loc"])
    context = detail.get("ctx", {})
    kind = detail["type"]
    message, hint = detail["msg"].replace("Input should be", "should be"), ""
    if kind == "extra_forbidden":
        candidates = _keys_at(key_path[:-1], document)
        message, hint = "unknown key", nearest(str(key_path[-1]), candidates) or f"known: {', '.join(candidates)}"
    elif kind == "missing":
        message, hint = "is missing", _MISSING.get(str(key_path[-1]), "")
    elif kind == "literal_error":
        candidates = context["expected"].replace("'", "").replace(" or ", ", ").split(", ")
        message, hint = (
            f"{detail['input']!r} is not one of {', '.join(candidates)}",
            nearest(str(detail["input"]), candidates),
        )
    elif kind == "list_type" and key_path in _ARRAYS_OF_TABLES:
        is_table = isinstance(detail["input"], dict)
        message = "is one table, and there may be several" if is_table else "should be an array of tables"
        hint = f"write [[{key_path[0]}]] with double brackets"
    elif kind in ("model_type", "model_attributes_type") and key_path[:-1] in _ARRAYS_OF_TABLES:
        message, hint = "should be a table", f"write [[{key_path[0]}]] with double brackets"
    elif kind in ("model_type", "dict_type") and isinstance(detail["input"], list) and len(key_path) == 1:
        message, hint = "is a list of tables, and there is only one", f"write [{key_path[0]}] with single brackets"
    elif kind == "model_type":
        message, hint = "should be a table", f"write for example {key_path[-1]} = {{}}"
    elif "error" in context:
        message = str(context["error"])
    elif not isinstance(detail["input"], dict | list):
        message += f" (it is {detail['input']!r})"
    return problem(lines, key_path, message, hint)


_ARRAYS_OF_TABLES: tuple[KeyPath, ...] = (("workload",), ("combination",))
_MISSING = {
    "name": 'write for example name = "ssd-scheduler"',
    "workload": 'add a [[workload]] with kind = "fileio"',
    "kind": 'write for example kind = "fileio"',
    "transactions": "add a [[workload.transactions]]",
    "statements": 'write for example statements = [{sql = "SELECT 1"}]',
    "settings": 'write for example settings = { "block.scheduler" = "none" }',
}


def _keys_at(key_path: KeyPath, document: dict[str, Any]) -> list[str]:
    """The keys a table of the plan may have."""
    fields = plan_form().model_fields
    if not key_path:
        return list(fields)
    if key_path[0] == "workload":
        table = document["workload"][key_path[1]]
        kind = table.get("kind") if table.get("kind") in workload_kinds else next(iter(workload_kinds))
        definitions = plan_form().model_json_schema()["$defs"]
        definition = definitions[f"{str(kind).title()}Workload"]
        for part in key_path[2:]:
            definition = definition["properties"][part] if isinstance(part, str) else definition["items"]
            definition = next(
                (option for option in definition.get("anyOf", ()) if option.get("type") != "null"), definition
            )
            definition = definitions[definition["$ref"].rpartition("/")[2]] if "$ref" in definition else definition
        return list(definition["properties"])
    annotation = fields[str(key_path[0])].annotation
    if key_path[0] == "combination":
        return ["name", "settings"]
    return list(getattr(annotation, "model_fields", {}))
