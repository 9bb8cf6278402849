"""TOML files of an import, validated into models with the location of every mistake."""

import tomllib
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from paribus.errors import PlanError, Problem, UsageError

M = TypeVar("M", bound=BaseModel)
_WORDS = {"extra_forbidden": "is no key here", "missing": "is missing"}


class TomlTable(BaseModel):
    """A table of such a file; unknown keys are mistakes."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


def read_form(path: Path, form: type[M], contents: str) -> M:
    """Return the validated file. Raises UsageError if it is unreadable, PlanError with all its mistakes."""
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise UsageError(f"cannot read the {contents} {path}: {error.strerror}", "name a TOML file") from error
    except (ValueError, RecursionError) as error:
        raise PlanError(str(path), [Problem("the file", f"is not TOML: {error}", "correct the line named")]) from error
    try:
        return form.model_validate(raw)
    except ValidationError as error:
        keys = ", ".join(form.model_fields)
        raise PlanError(str(path), [_problem(detail, keys) for detail in error.errors()]) from error


def _problem(detail: Any, keys: str) -> Problem:
    location = ".".join(str(part + 1) if isinstance(part, int) else str(part) for part in detail["loc"]) or "the file"
    message = _WORDS.get(detail["type"]) or str(detail.get("ctx", {}).get("error", detail["msg"]))
    hint = f"known: {keys}" if detail["type"] == "extra_forbidden" and len(detail["loc"]) == 1 else ""
    return Problem(location, message[0].lower() + message[1:], hint)
