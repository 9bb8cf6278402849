"""Problems of form in a plan, from the errors of pydantic."""

from typing import Any

from pydantic_core import ErrorDetails

from paribus.errors import Problem
from paribus.plan.form.file import plan_form
from paribus.plan.form.key_paths import KeyPath, Places, problem
from paribus.registry import nearest, workload_kinds

_ARRAYS_OF_TABLES: tuple[KeyPath, ...] = (("workload",), ("combination",), ("event",))
_MISSING = {
    "name": 'write for example name = "ssd-scheduler"',
    "workload": 'add a [[workload]] with kind = "fileio"',
    "kind": 'write for example kind = "fileio"',
    "transactions": "add a [[workload.transactions]]",
    "statements": 'write for example statements = [{sql = "SELECT 1"}]',
    "settings": 'write for example settings = { "block.scheduler" = "none" }',
}


def located(detail: ErrorDetails) -> ErrorDetails:
    """Returns an error of pydantic with its path in the document, without the workload kind that pydantic inserts."""
    key_path = detail["loc"]
    if detail["type"] == "union_tag_not_found":
        return {**detail, "loc": (*key_path, "kind"), "type": "missing"}
    if detail["type"] == "union_tag_invalid":
        named = {"loc": (*key_path, "kind"), "input": detail["input"]["kind"]}
        return {**detail, **named, "type": "literal_error", "ctx": {"expected": detail["ctx"]["expected_tags"]}}  # type: ignore[typeddict-item]
    if len(key_path) > 2 and key_path[0] == "workload" and key_path[2] in workload_kinds:
        return {**detail, "loc": (*key_path[:2], *key_path[3:])}
    return detail


def form_problem(detail: ErrorDetails, document: dict[str, Any], places: Places) -> Problem:
    """Returns an error of pydantic as a problem."""
    key_path = tuple(detail["loc"])
    context = detail.get("ctx", {})
    kind = detail["type"]
    message, hint = detail["msg"].replace("Input should be", "should be").replace("valid tuple", "list"), ""
    if kind == "extra_forbidden":
        candidates = _keys_at(key_path[:-1], document)
        message, hint = "unknown key", nearest(str(key_path[-1]), candidates) or f"known: {', '.join(candidates)}"
    elif kind == "missing":
        message, hint = "is missing", _MISSING.get(str(key_path[-1]), "")
    elif kind == "literal_error":
        candidates = context["expected"].replace("'", "").replace(" or ", ", ").split(", ")
        message, hint = _not_one_of(str(detail["input"]), candidates)
    elif kind == "list_type" and key_path in _ARRAYS_OF_TABLES:
        is_table = isinstance(detail["input"], dict)
        message = "is one table, and there may be several" if is_table else "should be an array of tables"
        hint = f"write [[{key_path[0]}]] with double brackets"
    elif kind in ("model_type", "model_attributes_type") and key_path[:-1] in _ARRAYS_OF_TABLES:
        message, hint = "should be a table", f"write [[{key_path[0]}]] with double brackets"
    elif kind in ("model_type", "dict_type") and isinstance(detail["input"], list) and len(key_path) == 1:
        message, hint = "is a list of tables, and there is only one", f"write [{key_path[0]}] with single brackets"
    elif kind == "too_short" and key_path[0] == "factors":
        message = f"has {len(detail['input']) or 'no'} level, and a comparison needs at least two"
        hint = "add a level, or hold it in every trial: a knob in [hold], a workload parameter in [[workload]]"
    elif kind == "model_type":
        message, hint = "should be a table", f"write for example {key_path[-1]} = {{}}"
    elif "error" in context:
        message = str(context["error"])
    elif not isinstance(detail["input"], dict | list):
        message += f" (it is {detail['input']!r})"
    return problem(places, key_path, message, hint)


def _not_one_of(text: str, candidates: list[str]) -> tuple[str, str]:
    """Returns a message and a hint on a word that is none of those; where some begin with it, with these alone."""
    beginning = [each for each in candidates if text and each.startswith(text)]
    if len(beginning) > 1:
        return f"{text!r} is only the beginning of a name", f"write one of {', '.join(beginning)}"
    return f"{text!r} is not one of {', '.join(candidates)}", nearest(text, candidates)


def _keys_at(key_path: KeyPath, document: dict[str, Any]) -> list[str]:
    """Returns the keys that a table of the plan may have."""
    definition = plan_form().model_json_schema()
    definitions = definition["$defs"]
    if key_path[:1] == ("workload",):
        table = document["workload"][key_path[1]]
        kind = table.get("kind") if table.get("kind") in workload_kinds else next(iter(workload_kinds))
        definition = definitions[f"{str(kind).title()}Workload"]
        key_path = key_path[2:]
    for part in key_path:
        of_table = definition.get("properties", {}).get(part) or definition.get("additionalProperties")
        definition = (of_table if isinstance(part, str) else definition.get("items")) or {}
        definition = next(
            (option for option in definition.get("anyOf", ()) if option.get("type") != "null"), definition
        )
        definition = definitions[definition["$ref"].rpartition("/")[2]] if "$ref" in definition else definition
    return list(definition.get("properties", ()))
